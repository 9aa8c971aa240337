//! What a USI or UCI GUI says, word by word. Nothing here knows a game.

use crate::position_line::{Notation, PositionLine};
use std::str::SplitWhitespace;

/// A line of a GUI.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// `usi` or `uci`: who are you?
    Hello,
    /// Answer when you are.
    IsReady,
    /// A name and a value, both of which may have spaces.
    SetOption { name: String, value: String },
    /// Another game begins.
    NewGame,
    /// A start and the moves since.
    Position(PositionLine),
    /// Think.
    Go(Go),
    /// Look for a forced win alone, for so many milliseconds if it is said how long.
    Mate { milliseconds: Option<u64> },
    /// Answer now.
    Stop,
    /// What was expected has been played.
    PonderHit,
    /// The game is over.
    GameOver,
    /// Show the position.
    Show,
    /// Leave.
    Quit,
    /// Nothing was said.
    Nothing,
}

/// The words behind `go`. Times are milliseconds, first for who moves first in the game.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Go {
    /// What both have left.
    pub(crate) left: [Option<u64>; 2],
    /// What both get after each move.
    pub(crate) increments: [u64; 2],
    /// What a move may take when nothing is left.
    pub(crate) byoyomi: u64,
    /// Moves to the next time control.
    pub(crate) moves_to_go: Option<u64>,
    /// For this move.
    pub(crate) movetime: Option<u64>,
    /// Simulations for this move.
    pub(crate) nodes: Option<u64>,
    /// Plies of the main line at which to end.
    pub(crate) depth: Option<u64>,
    /// Until told to stop.
    pub(crate) infinite: bool,
    /// While the other side thinks.
    pub(crate) ponder: bool,
    /// These moves alone; empty: all.
    pub(crate) searchmoves: Vec<String>,
    /// What was not understood, and is passed over: a move has to be answered all the same.
    pub(crate) problems: Vec<Problem>,
}

/// Why a line is not understood, for people.
pub(crate) type Problem = String;

/// Reads a line.
pub(crate) fn parse(line: &str, notation: Notation) -> Result<Command, Problem> {
    let mut words = line.split_whitespace();
    Ok(match words.next() {
        None => Command::Nothing,
        Some("usi" | "uci") => Command::Hello,
        Some("isready") => Command::IsReady,
        Some("setoption") => set_option(words)?,
        Some("usinewgame" | "ucinewgame") => Command::NewGame,
        Some("position") => {
            let line = PositionLine::read(line, notation);
            Command::Position(line.map_err(|problem| format!("`position`: {problem}"))?)
        }
        Some("go") => go(words),
        Some("stop") => Command::Stop,
        Some("ponderhit") => Command::PonderHit,
        Some("gameover") => Command::GameOver,
        Some("d") => Command::Show,
        Some("quit") => Command::Quit,
        // Nothing is asked by these.
        Some("debug" | "register") => Command::Nothing,
        Some(other) => return Err(format!("`{}` is not known here", shortened(other))),
    })
}

/// A word as it can be shown.
fn shortened(word: &str) -> String {
    const SHOWN: usize = 40;
    match word.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

fn set_option(words: SplitWhitespace<'_>) -> Result<Command, Problem> {
    let words: Vec<&str> = words.collect();
    let ["name", rest @ ..] = &words[..] else {
        return Err("`setoption` is followed by `name NAME value VALUE`".to_owned());
    };
    let at = rest.iter().position(|&word| word == "value").unwrap_or(rest.len());
    let value = rest.get(at + 1..).unwrap_or_default().join(" ");
    if at == 0 {
        return Err("`setoption name` is followed by a name".to_owned());
    }
    Ok(Command::SetOption { name: rest[..at].join(" "), value })
}

/// Words that begin something else than one more move.
const GO_WORDS: [&str; 13] = [
    "btime",
    "wtime",
    "binc",
    "winc",
    "byoyomi",
    "movestogo",
    "movetime",
    "nodes",
    "depth",
    "mate",
    "infinite",
    "ponder",
    "searchmoves",
];

fn go(mut words: SplitWhitespace<'_>) -> Command {
    let (mut go, mut mate) = (Go::default(), None);
    let mut next = words.next();
    while let Some(word) = next {
        let mut number = || {
            let text = words.next();
            let number = text.and_then(number_of);
            if number.is_none() {
                let found = text.map_or("nothing".to_owned(), shortened);
                go.problems.push(format!("`{word}` is followed by a number, not by {found}"));
            }
            number
        };
        match word {
            "btime" => go.left[0] = number(),
            "wtime" => go.left[1] = number(),
            "binc" => go.increments[0] = number().unwrap_or(0),
            "winc" => go.increments[1] = number().unwrap_or(0),
            "byoyomi" => go.byoyomi = number().unwrap_or(0),
            "movestogo" => go.moves_to_go = number(),
            "movetime" => go.movetime = number(),
            "nodes" => go.nodes = number(),
            "depth" => go.depth = number(),
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "mate" => mate = Some(words.next().and_then(number_of)),
            "searchmoves" => {
                next = words.next();
                while let Some(mv) = next.filter(|word| !GO_WORDS.contains(word)) {
                    go.searchmoves.push(mv.to_owned());
                    next = words.next();
                }
                continue;
            }
            other => go.problems.push(format!("`go {}` is not known here", shortened(other))),
        }
        next = words.next();
    }
    mate.map_or(Command::Go(go), |milliseconds| Command::Mate { milliseconds })
}

/// A number of milliseconds or nodes. GUIs write a clock that ran out below zero.
fn number_of(text: &str) -> Option<u64> {
    text.parse::<i64>().ok().map(|number| number.max(0).unsigned_abs())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn usi(line: &str) -> Result<Command, Problem> {
        parse(line, Notation::Usi)
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(usi("usi"), Ok(Command::Hello));
        assert_eq!(usi("   "), Ok(Command::Nothing));
        let option = |name: &str, value: &str| {
            Ok(Command::SetOption { name: name.to_owned(), value: value.to_owned() })
        };
        assert_eq!(usi("setoption name USI_Hash value 256"), option("USI_Hash", "256"));
        assert_eq!(usi("setoption name Two words value a b"), option("Two words", "a b"));
        assert_eq!(usi("setoption name Button"), option("Button", ""));
        let line = PositionLine::read("startpos moves 1a1b", Notation::Usi);
        assert_eq!(usi("position startpos moves 1a1b"), line.map(Command::Position));
        for wrong in ["position", "position fen a", "position sfen", "position moves"] {
            assert!(usi(wrong).unwrap_err().starts_with("`position`: expected"), "{wrong}");
        }
    }

    #[test]
    fn go_is_read_word_by_word() {
        let go = |line| match usi(line).unwrap() {
            Command::Go(go) => go,
            other => panic!("{other:?}"),
        };
        let all = go("go btime 1 wtime -2 binc 3 winc 4 byoyomi 5 movestogo 6");
        assert_eq!((all.left, all.increments), ([Some(1), Some(0)], [3, 4]));
        assert_eq!((all.byoyomi, all.moves_to_go), (5, Some(6)));
        let all = go("go searchmoves 1a1b P*2c nodes 7 depth 8 movetime 9 ponder infinite");
        assert_eq!((all.nodes, all.depth, all.movetime), (Some(7), Some(8), Some(9)));
        assert!(all.ponder && all.infinite);
        assert_eq!(all.searchmoves, ["1a1b", "P*2c"]);
        assert_eq!(usi("go mate infinite"), Ok(Command::Mate { milliseconds: None }));
        assert_eq!(usi("go mate 500"), Ok(Command::Mate { milliseconds: Some(500) }));
        assert_eq!(usi("go"), Ok(Command::Go(Go::default())));
        for (wrong, part) in [
            ("go nodes", "not by nothing"),
            ("go nodes x depth 3", "not by x"),
            ("go fast depth 3", "not known"),
        ] {
            let go = go(wrong);
            assert!(go.problems[0].contains(part), "{wrong}");
            assert_eq!((go.problems.len(), go.nodes), (1, None));
            assert_eq!(go.depth, wrong.contains("depth").then_some(3));
        }
        assert!(usi(&"x".repeat(1000)).unwrap_err().len() < 100);
    }
}
