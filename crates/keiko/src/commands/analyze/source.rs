//! What is to be analysed: a position, or a game from a file or a run.

use super::super::games::whole;
use super::super::show::is_position;
use crate::Failure;
use crate::position_line::{Notation, PositionLine, play_record};
use keiko_rules::{Game, Rules, kif_game};
use keiko_trainer::Records;
use serde::Deserialize;
use std::fmt::Display;
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
    PositionLine::read(line, Notation::Usi)?.record(rules)
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
    if is_kif(&text) {
        return read_kif(path, number, &text, rules);
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let index = chosen(&name, lines.len(), number)?;
    let title = title(&name, lines.len(), index);
    let line = lines[index].trim();
    let game = match line.starts_with('{') {
        true => read_record(&title, line, rules)?,
        false => {
            read_line(rules, line).map_err(|error| Failure::data(format!("{title}: {error}")))?
        }
    };
    with_moves(title, game)
}

/// Whether a text is a KIF record.
fn is_kif(text: &str) -> bool {
    ["手合割", "手数", "の持駒"].iter().any(|word| text.contains(word))
}

fn read_kif(
    path: &Path,
    number: Option<u64>,
    text: &str,
    rules: &Arc<Rules>,
) -> Result<Source, Failure> {
    let name = path.display();
    let records = kif_records(text);
    let index = chosen(&name, records.len(), number)?;
    let title = title(&name, records.len(), index);
    let game = kif_game(rules, &records[index]);
    let game = game.map_err(|error| Failure::data(format!("{title}: {error}")))?;
    with_moves(title, game)
}

/// The records of a text: each has a line that names its handicap.
fn kif_records(text: &str) -> Vec<String> {
    let mut records = vec![String::new()];
    let mut has_head = false;
    for line in text.lines() {
        if line.starts_with("手合割") && std::mem::replace(&mut has_head, true) {
            records.push(String::new());
        }
        let record = records.last_mut().expect("there is one from the beginning");
        record.push_str(line);
        record.push('\n');
    }
    records
}

/// The place of the game that is meant among so many, counted from 1.
fn chosen(name: &impl Display, count: usize, number: Option<u64>) -> Result<usize, Failure> {
    match (count, number) {
        (0, _) => Err(Failure::data(format!("{name}: holds no game"))),
        (1, None) => Ok(0),
        (count, None) => {
            let message =
                format!("{name} holds {count} games: choose one, {name}#1 to {name}#{count}");
            Err(Failure::usage(message))
        }
        (count, Some(number)) => match usize::try_from(number) {
            Ok(number) if (1..=count).contains(&number) => Ok(number - 1),
            _ => Err(Failure::usage(format!("{name}#{number}: it holds {count} games"))),
        },
    }
}

fn title(name: &impl Display, count: usize, index: usize) -> String {
    if count == 1 { name.to_string() } else { format!("{name}#{}", index + 1) }
}

fn with_moves(title: String, game: Game) -> Result<Source, Failure> {
    match game.ply() {
        0 => Err(Failure::data(format!("{title}: a game without a move"))),
        _ => Ok(Source::Game { title, game }),
    }
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
    for text in moves {
        play_record(&mut game, text).map_err(failure)?;
    }
    Ok(game)
}
