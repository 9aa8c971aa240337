//! What the games of a match begin with: the start, a handicap, or a book.

use crate::Failure;
use crate::position_line::{Notation, PositionLine};
use keiko_rules::{Game, Rules, nearest};
use std::path::Path;
use std::sync::Arc;

/// The starts that pairs take in turns.
pub(super) fn starts(
    rules: &Arc<Rules>,
    book: Option<&Path>,
    handicap: Option<&str>,
) -> Result<Vec<Game>, Failure> {
    match (book, handicap) {
        (Some(path), _) => read_book(rules, path),
        (None, Some(name)) => Ok(vec![handicap_start(rules, name)?]),
        (None, None) => Ok(vec![Game::new(Arc::clone(rules))]),
    }
}

fn handicap_start(rules: &Arc<Rules>, name: &str) -> Result<Game, Failure> {
    let known: Vec<&str> = rules.handicaps().map(|(name, _)| name).collect();
    let Some((_, sfen)) = rules.handicaps().find(|(known, _)| *known == name) else {
        let game = rules.name();
        let meant = nearest(name, known.iter().copied());
        let meant = meant.map_or(String::new(), |meant| format!(" (did you mean `{meant}`?)"));
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::usage(format!(
            "--handicap {name}: {game} has no such handicap{meant}; it has: {known}"
        )));
    };
    Ok(Game::from_sfen(Arc::clone(rules), sfen)?)
}

fn read_book(rules: &Arc<Rules>, path: &Path) -> Result<Vec<Game>, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::environment(format!("--book {place}: {error}")))?;
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(number, line)| {
        read_line(rules, line)
            .map_err(|reason| Failure::usage(format!("--book {place}, line {number}: {reason}")))
    };
    let games = lines.map(read).collect::<Result<Vec<Game>, Failure>>()?;
    match games.is_empty() {
        true => Err(Failure::usage(format!("--book {place}: there is no opening in it"))),
        false => Ok(games),
    }
}

/// A line such as `startpos moves 5d5c`, perhaps with `position` before it.
fn read_line(rules: &Arc<Rules>, line: &str) -> Result<Game, String> {
    let game = PositionLine::read(line, Notation::Usi)?.record(rules)?;
    match game.conclusion() {
        Some(ending) => Err(format!("the game is over after it: {}", ending.reason)),
        None => Ok(game),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn books_are_read_line_by_line() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        let read = |line: &str| read_line(&rules, line).map(|game| game.ply());
        assert_eq!(read("startpos"), Ok(0));
        assert_eq!(read("position startpos moves 5d5c 5a5b"), Ok(2));
        assert_eq!(read("sfen 4k/5/3KP/5/5 b G 1 moves 2c3c"), Ok(1));
        for (line, words) in [
            ("5d5c", "expected `startpos`"),
            ("startpos moves 9z9z", "9z9z"),
            ("startpos moves 5d5b", "illegal"),
            ("sfen 4k/5/3KP/5/5 b G 1 moves G*1b", "over after it: mate"),
            ("sfen 4k/5 b - 1", "rank"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
