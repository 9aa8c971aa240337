//! A position or a game in a line, as engines are told it: `startpos` or a position, and perhaps
//! `moves` and moves behind it. The one reader of such lines.

use keiko_rules::{Game, Move, Position, Rules};
use std::sync::Arc;

/// How a line writes positions and moves.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Notation {
    /// USI's: `sfen`, squares from Black's right.
    Usi,
    /// UCI's, as Fairy-Stockfish has it: `fen`, squares from the left.
    Uci,
}

/// Such a line, its words apart. Nothing says that they are a position and moves.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct PositionLine {
    /// A start, `None` for the usual one.
    pub(crate) start: Option<String>,
    /// The moves since.
    pub(crate) moves: Vec<String>,
}

impl Notation {
    /// What introduces a position as text.
    pub(crate) fn start_word(self) -> &'static str {
        match self {
            Notation::Usi => "sfen",
            Notation::Uci => "fen",
        }
    }
}

impl PositionLine {
    /// Reads `startpos`, the start word and a position, or a position alone, perhaps with moves.
    /// `position` may stand before it.
    ///
    /// # Errors
    /// When the line begins with anything else; the text says what it should.
    pub(crate) fn read(line: &str, notation: Notation) -> Result<PositionLine, String> {
        let start_word = notation.start_word();
        let words: Vec<&str> = line.split_whitespace().collect();
        let words = words.strip_prefix(&["position"]).unwrap_or(&words);
        let at = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
        let start = match words[..at] {
            ["startpos"] => None,
            [first, ref text @ ..] if first == start_word && !text.is_empty() => {
                Some(text.join(" "))
            }
            // Ranks divided by slashes.
            [first, ..] if first.contains('/') => Some(words[..at].join(" ")),
            _ => {
                return Err(format!(
                    "expected `startpos`, or `{start_word}` and a position, then perhaps `moves` \
                     and moves"
                ));
            }
        };
        let moves = words.iter().skip(at + 1).map(|&word| word.to_owned()).collect();
        Ok(PositionLine { start, moves })
    }

    /// The game, of legal moves; whoever plays may go on after a repetition.
    ///
    /// # Errors
    /// When the start is no position of the game, or a move is none; the text says why.
    pub(crate) fn game(&self, rules: &Arc<Rules>, notation: Notation) -> Result<Game, String> {
        let mut game = self.begin(rules, notation)?;
        self.moves.iter().try_for_each(|text| play(&mut game, text, notation))?;
        Ok(game)
    }

    /// The same of a record, which ends with the game.
    ///
    /// # Errors
    /// Also when a move follows after the game's end.
    pub(crate) fn record(&self, rules: &Arc<Rules>) -> Result<Game, String> {
        let mut game = self.begin(rules, Notation::Usi)?;
        for text in &self.moves {
            play_record(&mut game, text)?;
        }
        Ok(game)
    }

    fn begin(&self, rules: &Arc<Rules>, notation: Notation) -> Result<Game, String> {
        let start = match (notation, &self.start) {
            (_, None) => Ok(*rules.start()),
            (Notation::Usi, Some(sfen)) => {
                Position::from_sfen(rules, sfen).map_err(|error| error.to_string())
            }
            (Notation::Uci, Some(fen)) => {
                Position::from_fen(rules, fen).map_err(|error| error.to_string())
            }
        };
        Ok(Game::from_position(Arc::clone(rules), start?))
    }
}

/// Plays one more move of a record, in USI.
///
/// # Errors
/// When it is none, or the game is over; the text says why.
pub(crate) fn play_record(game: &mut Game, text: &str) -> Result<(), String> {
    if let Some(ending) = game.ending() {
        return Err(format!("`{text}`: the game is over before it: {}", ending.reason));
    }
    play(game, text, Notation::Usi)
}

fn play(game: &mut Game, text: &str, notation: Notation) -> Result<(), String> {
    let mv = match notation {
        Notation::Usi => Move::from_usi(game.rules(), game.position(), text),
        Notation::Uci => Move::from_uci(game.rules(), game.position(), text),
    };
    game.play(mv.map_err(|error| format!("move {}: {error}", game.ply() + 1))?);
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn line(start: Option<&str>, moves: &[&str]) -> Result<PositionLine, String> {
        let moves = moves.iter().map(|&mv| mv.to_owned()).collect();
        Ok(PositionLine { start: start.map(str::to_owned), moves })
    }

    #[test]
    fn lines_come_apart() {
        let usi = |text| PositionLine::read(text, Notation::Usi);
        assert_eq!(usi("startpos"), line(None, &[]));
        assert_eq!(usi("position  startpos moves 1a1b P*2c"), line(None, &["1a1b", "P*2c"]));
        assert_eq!(usi("sfen a b c 1 moves x"), line(Some("a b c 1"), &["x"]));
        assert_eq!(usi("4k/5/5 b -"), line(Some("4k/5/5 b -"), &[]));
        assert_eq!(PositionLine::read("fen a", Notation::Uci), line(Some("a"), &[]));
        for wrong in ["", "position", "fen a", "sfen", "moves 1a1b", "startpos 1a1b", "5d5c"] {
            let problem = usi(wrong).unwrap_err();
            assert!(problem.contains("`startpos`, or `sfen`"), "{wrong}: {problem}");
        }
    }

    #[test]
    fn games_are_read_in_both_notations() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        let read = |text, notation| PositionLine::read(text, notation)?.game(&rules, notation);
        let usi = read("startpos moves 5d5c 5a5b", Notation::Usi).unwrap();
        let uci = read("startpos moves a2a3 a5a4", Notation::Uci).unwrap();
        assert_eq!(usi.position(), uci.position());
        for (text, words) in [
            ("startpos moves 5d5c 9z9z", "move 2: `9z9z`"),
            ("startpos moves 5d5b", "illegal"),
            ("sfen 4k/5 b - 1", "rank"),
        ] {
            let problem = read(text, Notation::Usi).unwrap_err();
            assert!(problem.contains(words), "{text}: {problem}");
        }
    }

    #[test]
    fn a_record_ends_with_its_game() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        let read = |times| {
            let moves = " 1e1d 5a5b 1d1e 5b5a".repeat(times);
            PositionLine::read(&format!("startpos moves{moves}"), Notation::Usi).unwrap()
        };
        assert!(read(3).record(&rules).is_ok());
        let read = read(4);
        assert!(read.game(&rules, Notation::Usi).is_ok());
        let problem = read.record(&rules).unwrap_err();
        assert!(problem.contains("is over before it: repetition"), "{problem}");
    }
}
