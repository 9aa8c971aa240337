//! Every fact of the oracle: random games ply by ply, and move counts.
//!
//! `KEIKO_ORACLE_DIR` selects another folder than the one beside this test.

#![allow(clippy::unwrap_used)]

use keiko_rules::{Color, Ending, Game, Move, Outcome, Position, Rules, perft};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;

fn folder() -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle");
    std::env::var_os("KEIKO_ORACLE_DIR").map_or(beside.into(), PathBuf::from)
}

/// Runs a check for every variant on its own thread.
fn for_every_variant(check: impl Fn(Arc<Rules>) + Sync) {
    std::thread::scope(|scope| {
        for name in Rules::variants() {
            let check = &check;
            scope.spawn(move || check(Arc::new(Rules::load(name).unwrap())));
        }
    });
}

fn fnv(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
    format!("{:016x}", text.bytes().fold(14_695_981_039_346_656_037, step))
}

/// The oracle's words for an ending.
fn words(ending: Ending) -> (&'static str, String) {
    let result = match ending.outcome {
        Outcome::Win(Color::Black) => "black",
        Outcome::Win(Color::White) => "white",
        Outcome::Draw => "draw",
    };
    let reason = match ending.reason.to_string().as_str() {
        "royal_captured" => "lion_captured".to_owned(),
        "ply_limit" => "maxply".to_owned(),
        reason => reason.to_owned(),
    };
    (result, reason)
}

/// Checks a position against `[sfen, n, hash, check, move]`.
fn check_ply(game: &Game, ply: &Value, place: &str) {
    let rules = game.rules();
    assert_eq!(game.position().to_sfen(rules), ply[0].as_str().unwrap(), "{place}");
    let read = Position::from_sfen(rules, ply[0].as_str().unwrap()).unwrap();
    assert_eq!(read, *game.position(), "{place}: play and SFEN agree");
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let mut texts: Vec<String> = moves.iter().map(|mv| mv.to_usi(rules)).collect();
    texts.sort_unstable();
    assert_eq!(texts.len() as u64, ply[1].as_u64().unwrap(), "{place}: {texts:?}");
    assert_eq!(fnv(&texts.join("\n")), ply[2].as_str().unwrap(), "{place}: {texts:?}");
    assert_eq!(game.in_check(), ply[3] == 1, "{place}: check");
}

fn check_game(rules: &Arc<Rules>, line: &Value) {
    let id = line["id"].as_str().unwrap();
    let mut game = Game::from_sfen(rules.clone(), line["start"].as_str().unwrap()).unwrap();
    let plies = line["plies"].as_array().unwrap();
    if line["reason"] == "maxply" {
        game.set_ply_limit(Some(plies.len() as u32 - 1));
    }
    for (number, ply) in plies.iter().enumerate() {
        let place = format!("{} {id} ply {number}", rules.name());
        check_ply(&game, ply, &place);
        let text = ply[4].as_str().unwrap();
        if text.is_empty() {
            let ending = game.ending().map(words);
            let (result, reason) = (&line["result"], &line["reason"]);
            let expected = (result.as_str().unwrap(), reason.as_str().unwrap().to_owned());
            assert_eq!(ending, Some(expected), "{place}");
        } else {
            assert_eq!(game.ending(), None, "{place}: nothing ends the game here");
            game.play(Move::from_usi(rules, game.position(), text).unwrap());
        }
    }
}

#[test]
fn every_ply_of_every_game() {
    for_every_variant(|rules| {
        let path = folder().join(format!("games_{}.jsonl.gz", rules.name()));
        let file = std::fs::File::open(&path).unwrap();
        let mut games = 0;
        for line in BufReader::new(flate2::read::GzDecoder::new(file)).lines() {
            check_game(&rules, &serde_json::from_str(&line.unwrap()).unwrap());
            games += 1;
        }
        assert!(games > 0, "{} has games", path.display());
    });
}

#[test]
fn every_move_count() {
    for_every_variant(|rules| {
        let path = folder().join(format!("perft_{}.json", rules.name()));
        let entries: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert!(!entries.is_empty(), "{} has entries", path.display());
        for entry in entries {
            let (name, sfen) = (&entry["name"], entry["sfen"].as_str().unwrap());
            let position = Position::from_sfen(&rules, sfen).unwrap();
            for (index, leaves) in entry["perft"].as_array().unwrap().iter().enumerate() {
                let depth = index as u32 + 1;
                let counted = perft(&rules, &position, depth);
                assert_eq!(counted, leaves.as_u64().unwrap(), "{} {name} {depth}", rules.name());
            }
        }
    });
}

/// The handicaps of the definitions are those of the oracle.
#[test]
fn handicap_starts() {
    for_every_variant(|rules| {
        let path = folder().join(format!("perft_{}.json", rules.name()));
        let entries: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for entry in entries {
            let Some(name) = entry["name"].as_str().unwrap().strip_prefix("handicap-") else {
                continue;
            };
            let found = rules.handicaps().find(|(it, _)| *it == name);
            assert_eq!(found.map(|(_, sfen)| sfen), entry["sfen"].as_str(), "{name}");
        }
    });
}
