//! What an XBoard or WinBoard GUI says (CECP, version 2). Nothing here knows a game.

/// A line of a GUI.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// The protocol's version.
    Version(u32),
    /// A game of this name.
    Variant(String),
    /// A new game, the engine to move second.
    New,
    /// A position as FEN.
    SetBoard(String),
    /// A move of the other side, or of either where nobody plays.
    Move(String),
    /// Play for nobody.
    Force,
    /// Play for the side to move.
    Go,
    /// Play for the other side.
    PlayOther,
    /// What is left to the engine, in hundredths of a second.
    Time(u64),
    /// What is left to its opponent.
    OpponentTime(u64),
    /// Moves of a session (0: all), its milliseconds, milliseconds added after each move.
    Level { moves: u64, base: u64, increment: u64 },
    /// Exactly so many milliseconds a move.
    MoveTime(u64),
    /// Plies at which to end a search.
    Depth(u64),
    /// Answer with the same number when all before is done.
    Ping(u64),
    /// Show what is thought, or do not.
    Post(bool),
    /// Think while the other side does, or do not.
    Ponder(bool),
    /// Think until told otherwise.
    Analyze,
    /// Leave analysis.
    Exit,
    /// How far analysis is.
    Status,
    /// Move now.
    MoveNow,
    /// Take a move back.
    Undo,
    /// Take a move of both sides back.
    Remove,
    /// Suggest a move.
    Hint,
    /// The game is over.
    Result,
    /// Memory for the tree, in mebibytes.
    Memory(String),
    /// Threads.
    Cores(String),
    /// One of the engine's own options.
    SetOption { name: String, value: String },
    /// Leave.
    Quit,
    /// Nothing that needs an answer.
    Nothing,
}

/// Why a line is not understood: the kind of error, in XBoard's words.
pub(crate) type Problem = String;

/// Reads a line.
pub(crate) fn parse(line: &str) -> Result<Command, Problem> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    Ok(match word {
        "protover" => Command::Version(number(rest)? as u32),
        "variant" if !rest.is_empty() => Command::Variant(rest.to_owned()),
        "new" => Command::New,
        "setboard" => Command::SetBoard(rest.to_owned()),
        "usermove" => Command::Move(rest.to_owned()),
        "force" => Command::Force,
        "go" => Command::Go,
        "playother" => Command::PlayOther,
        "time" => Command::Time(number(rest)?),
        "otim" => Command::OpponentTime(number(rest)?),
        "level" => level(rest)?,
        "st" => Command::MoveTime(milliseconds(rest)?),
        "sd" => Command::Depth(number(rest)?),
        "ping" => Command::Ping(number(rest)?),
        "post" => Command::Post(true),
        "nopost" => Command::Post(false),
        "hard" => Command::Ponder(true),
        "easy" => Command::Ponder(false),
        "analyze" => Command::Analyze,
        "exit" => Command::Exit,
        "." => Command::Status,
        "?" => Command::MoveNow,
        "undo" => Command::Undo,
        "remove" => Command::Remove,
        "hint" => Command::Hint,
        "result" => Command::Result,
        "memory" => Command::Memory(rest.to_owned()),
        "cores" => Command::Cores(rest.to_owned()),
        "option" => {
            let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
            Command::SetOption { name: name.trim().to_owned(), value: value.trim().to_owned() }
        }
        "quit" => Command::Quit,
        "" | "xboard" | "accepted" | "rejected" | "random" | "computer" | "name" | "rating"
        | "ics" | "draw" | "bk" | "book" | "white" | "black" | "egtpath" | "pause" | "resume" => {
            Command::Nothing
        }
        _ if looks_like_a_move(word) && rest.is_empty() => Command::Move(word.to_owned()),
        _ => return Err("unknown command".to_owned()),
    })
}

/// Whether a bare word is meant as a move: two squares, or a drop.
fn looks_like_a_move(word: &str) -> bool {
    let mut bytes = word.bytes();
    match word.split_once('@') {
        Some((piece, _)) => !piece.is_empty(),
        None => {
            bytes.next().is_some_and(|it| it.is_ascii_lowercase())
                && bytes.next().is_some_and(|it| it.is_ascii_digit())
                && word.len() >= 4
        }
    }
}

/// A whole number; what is below zero is zero.
fn number(text: &str) -> Result<u64, Problem> {
    let number = text.parse::<i64>().map_err(|_| "not a number".to_owned())?;
    Ok(number.max(0).unsigned_abs())
}

/// `MOVES BASE INCREMENT`, where the base is minutes or `MINUTES:SECONDS` and the increment is
/// seconds, perhaps with a fraction.
fn level(text: &str) -> Result<Command, Problem> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [moves, base, increment] = words[..] else {
        return Err("level has three parameters".to_owned());
    };
    let (minutes, seconds) = base.split_once(':').unwrap_or((base, "0"));
    let base = number(minutes)?.saturating_mul(60).saturating_add(number(seconds)?);
    Ok(Command::Level {
        moves: number(moves)?,
        base: base.saturating_mul(1000),
        increment: milliseconds(increment)?,
    })
}

/// Seconds, perhaps with a fraction, as milliseconds.
fn milliseconds(text: &str) -> Result<u64, Problem> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if seconds.is_nan() { Err("not a number".to_owned()) } else { Ok((seconds * 1000.0) as u64) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        assert_eq!(parse("protover 2"), Ok(Command::Version(2)));
        assert_eq!(parse("variant minishogi"), Ok(Command::Variant("minishogi".into())));
        assert_eq!(parse("usermove P@c3"), Ok(Command::Move("P@c3".into())));
        assert_eq!(parse("a1b2+"), Ok(Command::Move("a1b2+".into())));
        assert_eq!(parse("P@c3"), Ok(Command::Move("P@c3".into())));
        let level = |moves, base, increment| Ok(Command::Level { moves, base, increment });
        assert_eq!(parse("level 40 5 0"), level(40, 300_000, 0));
        assert_eq!(parse("level 0 2:30 1.5"), level(0, 150_000, 1500));
        assert_eq!(parse("st 0.1"), Ok(Command::MoveTime(100)));
        assert_eq!(parse("time -5"), Ok(Command::Time(0)));
        let option = Command::SetOption { name: "Strength".into(), value: "3".into() };
        assert_eq!(parse("option Strength=3"), Ok(option));
        assert_eq!(parse(""), Ok(Command::Nothing));
        for (wrong, part) in [
            ("frobnicate", "unknown command"),
            ("variant", "unknown command"),
            ("level 1 2", "three parameters"),
            ("level 1 x 2", "not a number"),
            ("st nan", "not a number"),
            ("time soon", "not a number"),
        ] {
            assert!(parse(wrong).unwrap_err().contains(part), "{wrong}");
        }
        assert_eq!(parse("st 1e300"), Ok(Command::MoveTime(u64::MAX)));
    }
}
