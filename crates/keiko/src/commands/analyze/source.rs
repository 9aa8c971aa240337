//! What is to be analysed: a position, or a game from a file or a run.

use super::super::games::whole;
use super::super::show::{ending_words, is_position};
use crate::Failure;
use keiko_rules::{Game, Move, Rules};
use keiko_trainer::Records;
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// A position with the moves that led to it, or a whole game.
pub(crate) enum Source {
    Position(Game),
    Game { title: String, game: Game },
}

impl Source {
    /// Of a game, the position after so many plies, if one is asked for.
    pub(crate) fn at_ply(self, ply: Option<usize>) -> Result<Source, Failure> {
        match (self, ply) {
            (source, None) => Ok(source),
            (Source::Position(_), Some(_)) => {
                Err(Failure::usage("--ply goes with a game, and this is a position"))
            }
            (Source::Game { title, game }, Some(ply)) if ply > game.ply() => {
                let plies = game.ply();
                Err(Failure::usage(format!("--ply {ply}: {title} has {plies} plies")))
            }
            (Source::Game { mut game, .. }, Some(ply)) => {
                while game.ply() > ply {
                    game.undo();
                }
                Ok(Source::Position(game))
            }
        }
    }
}

/// Reads a position as `startpos`, an SFEN, or what a USI engine is told; else the game that a
/// file or a run holds.
pub(crate) fn read(what: &[String], rules: &Arc<Rules>) -> Result<Source, Failure> {
    let text = what.join(" ");
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_usi = ["position", "startpos", "sfen"].contains(&first) && !Path::new(first).exists();
    if is_usi || is_position(&text) {
        return read_line(rules, &text).map(Source::Position).map_err(Failure::usage);
    }
    let (path, number) = split_number(&text);
    let path = Path::new(path);
    if path.is_dir() {
        return read_run(path, number, rules);
    }
    if path.exists() {
        return read_file(path, number, rules);
    }
    Err(Failure::usage(format!(
        "`{text}` is no position (startpos or an SFEN), no file, and no game of a run (RUN#NUMBER)"
    )))
}

/// What is named, and the number behind a `#`, unless a file is called so.
fn split_number(text: &str) -> (&str, Option<u64>) {
    let parts = text.rsplit_once('#').filter(|_| !Path::new(text).exists());
    let number = parts.and_then(|(path, number)| Some((path, number.parse().ok()?)));
    number.map_or((text, None), |(path, number)| (path, Some(number)))
}

/// `startpos` or an SFEN, perhaps with moves, as USI engines are told.
fn read_line(rules: &Arc<Rules>, line: &str) -> Result<Game, String> {
    let words: Vec<&str> = line.split_whitespace().skip_while(|&word| word == "position").collect();
    let moves_at = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let game = match words[..moves_at] {
        ["startpos"] => Ok(Game::new(Arc::clone(rules))),
        ["sfen", ref sfen @ ..] | ref sfen => Game::from_sfen(Arc::clone(rules), &sfen.join(" ")),
    };
    let mut game = game.map_err(|error| error.to_string())?;
    play(&mut game, words.into_iter().skip(moves_at + 1))?;
    Ok(game)
}

fn play<'a>(game: &mut Game, moves: impl Iterator<Item = &'a str>) -> Result<(), String> {
    for text in moves {
        if let Some(ending) = game.ending() {
            return Err(format!("`{text}`: the game is over: {}", ending_words(ending)));
        }
        let mv = Move::from_usi(game.rules(), game.position(), text);
        game.play(mv.map_err(|error| format!("move {}: {error}", game.ply() + 1))?);
    }
    Ok(())
}

fn read_run(run: &Path, number: Option<u64>, rules: &Arc<Rules>) -> Result<Source, Failure> {
    let name = run.display();
    let Some(number) = number else {
        let message =
            format!("{name} is a folder: a run's game is {name}#NUMBER; keiko games lists them");
        return Err(Failure::usage(message));
    };
    let records = Records::open(run)?;
    if records.rules.hash() != rules.hash() {
        return Err(other_game(&name.to_string(), records.rules.name(), rules));
    }
    for block in records.listing.read(number..number + 1) {
        if let Some(record) = block?.iter().find(|record| record.number == number) {
            let game = whole(record, &records)?;
            return Ok(Source::Game { title: format!("{name}#{number}"), game });
        }
    }
    Err(Failure::usage(format!("{name} has no game {number}; keiko games lists those it has")))
}

fn other_game(name: &str, game: &str, rules: &Rules) -> Failure {
    let plays = rules.name();
    let message = match game == plays {
        true => format!("{name} is by other rules of {game} than the network's"),
        false => format!("{name} is of {game}, and the network plays {plays}"),
    };
    Failure::data(message)
}

fn read_file(path: &Path, number: Option<u64>, rules: &Arc<Rules>) -> Result<Source, Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::data(format!("{name}: cannot be read: {error}")))?;
    if text.contains("手合割") || text.contains("手数") {
        let message = format!("{name}: KIF is written here, not read: use --as usi or --as json");
        return Err(Failure::data(message));
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let index = match (lines.len(), number) {
        (0, _) => return Err(Failure::data(format!("{name}: holds no game"))),
        (1, None) => 0,
        (count, None) => {
            let message =
                format!("{name} holds {count} games: choose one, {name}#1 to {name}#{count}");
            return Err(Failure::usage(message));
        }
        (count, Some(number)) => match usize::try_from(number) {
            Ok(number) if (1..=count).contains(&number) => number - 1,
            _ => return Err(Failure::usage(format!("{name}#{number}: it holds {count} games"))),
        },
    };
    let title = if lines.len() == 1 { name.to_string() } else { format!("{name}#{}", index + 1) };
    let line = lines[index].trim();
    let game = match line.starts_with('{') {
        true => read_record(&title, line, rules)?,
        false => {
            read_line(rules, line).map_err(|error| Failure::data(format!("{title}: {error}")))?
        }
    };
    if game.ply() == 0 {
        return Err(Failure::data(format!("{title}: a game without a move")));
    }
    Ok(Source::Game { title, game })
}

/// A game as `keiko games --as json` writes it.
#[derive(Deserialize)]
struct Record {
    game: String,
    rules: String,
    sfen: String,
    opening: Vec<String>,
    plies: Vec<Played>,
}

#[derive(Deserialize)]
struct Played {
    r#move: String,
}

fn read_record(title: &str, line: &str, rules: &Arc<Rules>) -> Result<Game, Failure> {
    let failure = |error: String| Failure::data(format!("{title}: {error}"));
    let record: Record = serde_json::from_str(line).map_err(|error| failure(error.to_string()))?;
    if record.rules != format!("{:016x}", rules.hash()) {
        return Err(other_game(title, &record.game, rules));
    }
    let game = Game::from_sfen(Arc::clone(rules), &record.sfen);
    let mut game = game.map_err(|error| failure(error.to_string()))?;
    let moves = record.opening.iter().chain(record.plies.iter().map(|ply| &ply.r#move));
    play(&mut game, moves.map(String::as_str)).map_err(failure)?;
    Ok(game)
}
