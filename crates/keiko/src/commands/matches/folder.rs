//! A match on disk: what was played so far, and what came of it.

use super::standings::Standings;
use super::table;
use crate::Failure;
use crate::game_file::{GameFile, cannot, write_whole};
use keiko_rules::{Ending, Game, Reason, Rules, kif_record, pgn_record};
use keiko_trainer::scoresheet::Scoresheet;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SETTINGS: &str = "match.toml";
const GAMES: &str = "games.jsonl";

/// The folder of a match. Only one process writes in it at a time.
pub(super) struct Folder {
    dir: PathBuf,
    games: GameFile,
}

impl Folder {
    /// Opens or makes the folder of a match with these settings; the games played in it so far.
    pub(super) fn open(
        dir: &Path,
        settings: &BTreeMap<String, String>,
    ) -> Result<(Folder, Vec<Scoresheet>), Failure> {
        std::fs::create_dir_all(dir).map_err(cannot(dir))?;
        check_settings(dir, settings)?;
        let (games, played) = GameFile::open(&dir.join(GAMES), 1)?;
        Ok((Folder { dir: dir.to_owned(), games }, played))
    }

    /// Writes a game that has ended.
    pub(super) fn add(&self, game: &Scoresheet) -> Result<(), Failure> {
        self.games.add(std::slice::from_ref(game))
    }

    /// Writes the result and all games as USI, PGN and KIF.
    pub(super) fn write_results(
        &self,
        standings: &Standings,
        rules: &Arc<Rules>,
    ) -> Result<(), Failure> {
        self.games.sync()?;
        let result = serde_json::to_string_pretty(&table::json(standings));
        let result = result.expect("a result is plain data") + "\n";
        self.write("result.json", &result)?;
        let (mut usi, mut pgn) = (String::new(), String::new());
        let kif = self.dir.join("kif");
        std::fs::create_dir_all(&kif).map_err(cannot(&kif))?;
        for sheet in standings.games() {
            let read = sheet.game(rules);
            let game = read.map_err(|error| damaged(&self.dir.join(GAMES), sheet.number, error))?;
            usi += &usi_line(sheet, rules);
            pgn += &(pgn_text(sheet, &game) + "\n");
            self.write(&format!("kif/{:06}.kif", sheet.number), &kif_text(sheet, &game))?;
        }
        self.write("games.usi", &usi)?;
        self.write("games.pgn", &pgn)
    }

    /// Writes a file as a whole.
    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        write_whole(&self.dir.join(name), text)
    }
}

fn damaged(path: &Path, game: impl std::fmt::Display, why: impl std::fmt::Display) -> Failure {
    Failure::data(format!("{}, game {game}: {why}", path.display()))
}

/// Compares the settings with those of the match there, or writes them where there is none.
fn check_settings(dir: &Path, settings: &BTreeMap<String, String>) -> Result<(), Failure> {
    let path = dir.join(SETTINGS);
    let place = dir.display();
    if !path.exists() {
        if std::fs::read_dir(dir).map_err(cannot(dir))?.next().is_some() {
            let message = format!("{place} holds something else than a match: give another folder");
            return Err(Failure::usage(message));
        }
        let text = toml::to_string(settings).expect("settings are plain data");
        return write_whole(&path, &text);
    }
    let text = std::fs::read_to_string(&path).map_err(cannot(&path))?;
    let found: BTreeMap<String, String> = toml::from_str(&text)
        .map_err(|error| Failure::data(format!("{}: {error}", path.display())))?;
    let none = String::new();
    let other = settings.iter().find(|(name, value)| found.get(*name).unwrap_or(&none) != *value);
    let Some((name, value)) = other else {
        return Ok(());
    };
    let theirs = found.get(name).unwrap_or(&none);
    Err(Failure::usage(format!(
        "{place} holds another match ({name}: `{theirs}` there, `{value}` now): give another folder"
    )))
}

fn usi_line(sheet: &Scoresheet, rules: &Rules) -> String {
    let start = match sheet.sfen.as_str() {
        sfen if sfen == rules.start_sfen() => "startpos".to_owned(),
        sfen => format!("sfen {sfen}"),
    };
    format!("position {start} moves {}\n", sheet.moves.join(" "))
}

fn pgn_text(sheet: &Scoresheet, game: &Game) -> String {
    pgn_record(game, [&sheet.black, &sheet.white], Some(sheet.outcome()), &sheet.reason)
}

fn kif_text(sheet: &Scoresheet, game: &Game) -> String {
    // KIF has no words for what programs lose by: the game counts as given up.
    let reason = Reason::ALL.into_iter().find(|reason| reason.to_string() == sheet.reason);
    let reason = reason.unwrap_or(Reason::Resignation);
    let ending = Ending { outcome: sheet.outcome(), reason };
    kif_record(game, [&sheet.black, &sheet.white], Some(ending))
}
