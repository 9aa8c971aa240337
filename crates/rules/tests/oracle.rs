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

/// The folder's file of a kind for each game it knows, each checked on its own thread.
fn for_every_file(kind: &str, extension: &str, check: impl Fn(Arc<Rules>, PathBuf) + Sync) {
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    let variants: Vec<&str> =
        names.iter().filter_map(|name| name.strip_prefix(kind)?.strip_suffix(extension)).collect();
    assert!(variants.len() >= 8, "{variants:?}");
    std::thread::scope(|scope| {
        for variant in variants {
            let path = folder().join(format!("{kind}{variant}{extension}"));
            let check = &check;
            scope.spawn(move || check(Arc::new(Rules::load(variant).unwrap()), path));
        }
    });
}

/// The lines of a file of the folder, as JSON.
fn lines(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
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
            // The data's own limit is always a draw; the entering king's count is tested below.
            if line["reason"] == "maxply" && rules.adjudicate(game.position()).is_some() {
                assert_eq!(ending.map(|(_, reason)| reason), Some("maxply".to_owned()), "{place}");
                continue;
            }
            let (result, reason) = (&line["result"], &line["reason"]);
            let expected = (result.as_str().unwrap(), reason.as_str().unwrap().to_owned());
            assert_eq!(ending, Some(expected), "{place}");
        } else {
            assert_eq!(game.ending(), None, "{place}: nothing ends the game here");
            game.play(Move::from_usi(rules, game.position(), text).unwrap());
        }
    }
}

/// The data that comes with the program leaves no game out.
#[test]
fn every_variant_has_games_and_move_counts() {
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle"));
    for name in Rules::variants() {
        assert!(beside.join(format!("games_{name}.jsonl.gz")).exists(), "{name}");
        assert!(beside.join(format!("perft_{name}.json")).exists(), "{name}");
    }
}

#[test]
fn every_ply_of_every_game() {
    for_every_file("games_", ".jsonl.gz", |rules, path| {
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
    for_every_file("perft_", ".json", |rules, path| {
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
    for_every_file("perft_", ".json", |rules, path| {
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

/// How a search sees a position: who wins in how many plies, if it sees that.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Seen {
    Win(u32),
    Loss(u32),
    Nothing,
}

/// The value for the side to move, looked at `depth` plies deep, every move tried.
fn look(rules: &Rules, position: &Position, depth: u32) -> Seen {
    if let Some(ending) = rules.ending(position) {
        return match ending.outcome {
            Outcome::Win(winner) if winner == position.side_to_move() => Seen::Win(0),
            Outcome::Win(_) => Seen::Loss(0),
            Outcome::Draw => Seen::Nothing,
        };
    }
    if depth == 0 {
        return Seen::Nothing;
    }
    let replies = look_at_moves(rules, position, depth);
    let wins = replies.iter().filter_map(|(_, seen)| match seen {
        Seen::Loss(plies) => Some(plies + 1),
        _ => None,
    });
    if let Some(plies) = wins.min() {
        return Seen::Win(plies);
    }
    let losses = replies.iter().map(|(_, seen)| match seen {
        Seen::Win(plies) => Some(plies + 1),
        _ => None,
    });
    losses.collect::<Option<Vec<u32>>>().map_or(Seen::Nothing, |plies| {
        Seen::Loss(plies.into_iter().max().expect("the game is not over"))
    })
}

/// What the other side sees after each move.
fn look_at_moves(rules: &Rules, position: &Position, depth: u32) -> Vec<(Move, Seen)> {
    let mut moves = Vec::new();
    rules.legal_moves(position, &mut moves);
    let after = |mv| {
        let mut next = *position;
        rules.play(&mut next, mv);
        (mv, look(rules, &next, depth - 1))
    };
    moves.into_iter().map(after).collect()
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    let mut texts: Vec<String> = list.map(|text| text.as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

#[test]
fn doubutsu_values_that_five_plies_show() {
    let rules = Rules::load("doubutsu").unwrap();
    let mut proven = 0;
    for line in lines("doubutsu_values.jsonl") {
        let sfen = line["sfen"].as_str().unwrap();
        let position = Position::from_sfen(&rules, sfen).unwrap();
        let plies = line["plies"].as_u64().unwrap() as u32;
        let (value, replies) = (look(&rules, &position, 5), look_at_moves(&rules, &position, 5));
        let (expected, kept) = match line["value"].as_str().unwrap() {
            "win" if plies <= 5 => (Seen::Win(plies), Seen::Loss(plies - 1)),
            "loss" if plies <= 5 => (Seen::Loss(plies), Seen::Win(plies - 1)),
            _ => (Seen::Nothing, Seen::Nothing),
        };
        assert_eq!(value, expected, "{sfen}");
        if expected == Seen::Nothing {
            continue;
        }
        let best = replies.into_iter().filter(|&(_, seen)| seen == kept);
        let mut best: Vec<String> = best.map(|(mv, _)| mv.to_usi(&rules)).collect();
        best.sort();
        assert_eq!(best, texts(&line["best"]), "{sfen}");
        proven += 1;
    }
    assert!(proven >= 70, "{proven}");
}

/// Forced mates by checks alone; failures are remembered by position and plies.
struct MateSearch {
    rules: Rules,
    failed: std::collections::HashSet<(u64, u32)>,
}

impl MateSearch {
    /// Whether the side to move mates in at most so many plies, checking with every move.
    fn mates(&mut self, position: &Position, plies: u32) -> bool {
        if self.failed.contains(&(position.key(), plies)) {
            return false;
        }
        let mut checks = Vec::new();
        self.rules.checks(position, &mut checks);
        let found = checks.iter().any(|&mv| self.mates_by(position, mv, plies));
        if !found {
            self.failed.insert((position.key(), plies));
        }
        found
    }

    fn mates_by(&mut self, position: &Position, mv: Move, plies: u32) -> bool {
        let mut next = *position;
        self.rules.play(&mut next, mv);
        let mut evasions = Vec::new();
        self.rules.evasions(&next, &mut evasions);
        if evasions.is_empty() {
            return true;
        }
        plies > 2
            && evasions.into_iter().all(|evasion| {
                let mut after = next;
                self.rules.play(&mut after, evasion);
                self.mates(&after, plies - 2)
            })
    }
}

#[test]
fn every_mate_problem() {
    let rules = Rules::load("minishogi").unwrap();
    let mut search = MateSearch { rules, failed: Default::default() };
    for line in lines("mates_minishogi.jsonl") {
        search.failed.clear();
        let sfen = line["sfen"].as_str().unwrap();
        let position = Position::from_sfen(&search.rules, sfen).unwrap();
        let searched = line["searched_checks_only"].as_u64().unwrap() as u32;
        let shortest = (1..=searched).step_by(2).find(|&plies| search.mates(&position, plies));
        assert_eq!(u64::from(shortest.unwrap_or(0)), line["mate"].as_u64().unwrap(), "{sfen}");
        let mut checks = Vec::new();
        search.rules.checks(&position, &mut checks);
        let Some(shortest) = shortest else {
            continue;
        };
        checks.retain(|&mv| search.mates_by(&position, mv, shortest));
        let mut solutions: Vec<String> = checks.iter().map(|mv| mv.to_usi(&search.rules)).collect();
        solutions.sort();
        assert_eq!(solutions, texts(&line["solutions"]), "{sfen}");
        for drop in texts(&line["pawn_drop_mates_forbidden"]) {
            assert!(Move::from_usi(&search.rules, &position, &drop).is_err(), "{sfen} {drop}");
        }
    }
}

#[test]
fn every_entering_king() {
    let by_27 = Rules::load("shogi").unwrap();
    let with = |rule: &str| {
        let text = by_27.source().replace("declaration = \"27\"", rule);
        Rules::from_toml(&text, "test").unwrap()
    };
    let (by_24, without) = (with("declaration = \"24\""), with("declaration = \"none\""));
    for line in lines("shogi_entering_king.jsonl") {
        let sfen = line["sfen"].as_str().unwrap();
        let position = Position::from_sfen(&by_27, sfen).unwrap();
        let side = position.side_to_move();
        let king = by_27.entering_king(&position, side);
        assert_eq!(king.in_camp, line["king_in_camp"].as_bool().unwrap(), "{sfen}");
        assert_eq!(king.pieces as u64, line["camp_pieces"].as_u64().unwrap(), "{sfen}");
        assert_eq!(u64::from(king.points), line["declare_points"].as_u64().unwrap(), "{sfen}");
        assert_eq!(by_27.in_check(&position), line["in_check"].as_bool().unwrap(), "{sfen}");
        let declared = |rules: &Rules| rules.declaration(&position).map(|ending| ending.outcome);
        let won = Some(Outcome::Win(side));
        assert_eq!(declared(&by_27) == won, line["declare27"].as_bool().unwrap(), "{sfen}");
        let expected = match line["declare24"].as_str().unwrap() {
            "win" => won,
            "draw" => Some(Outcome::Draw),
            _ => None,
        };
        assert_eq!(declared(&by_24), expected, "{sfen}");
        assert_eq!(declared(&without), None);
        for (color, points) in Color::BOTH.into_iter().zip(["points_black", "points_white"]) {
            let counted = u64::from(by_27.count_points(&position, color));
            assert_eq!(counted, line[points].as_u64().unwrap(), "{sfen}");
        }
        let both = line["both_kings_in_camp"].as_bool().unwrap();
        for (rules, count) in [(&by_24, "count24"), (&by_27, "count27")] {
            let expected = match line[count].as_str().unwrap() {
                "black" => Outcome::Win(Color::Black),
                "white" => Outcome::Win(Color::White),
                _ => Outcome::Draw,
            };
            assert_eq!(rules.adjudicate(&position), both.then_some(expected), "{sfen} {count}");
        }
        assert_eq!(without.adjudicate(&position), None);
    }
}
