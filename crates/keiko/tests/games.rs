//! A run's games as people and other programs get them.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Move, Rules};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

const DONE: i32 = 0;
const USAGE: i32 = 2;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keiko")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a command that works says on standard output, and on standard error.
#[track_caller]
fn output(arguments: &[&str]) -> (String, String) {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(DONE), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn expect_failure(arguments: &[&str], words: &[&str]) {
    let output = run(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(USAGE), "{message}");
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
    assert!(output.stdout.is_empty() && !message.contains("panicked"), "{message}");
}

/// A run of the smoke experiment: two generations of a hundred games of doubutsu.
fn train(folder: &Path) -> PathBuf {
    let dir = folder.join("run");
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    output(&["train", smoke.to_str().unwrap(), "--run", dir.to_str().unwrap()]);
    dir
}

/// Every file of a folder with its bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => _ = all.insert(path.clone(), std::fs::read(&path).unwrap()),
        }
    }
    all
}

#[test]
fn games_are_listed_chosen_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let dir = train(folder.path());
    let name = dir.to_str().unwrap();
    let before = contents(&dir);
    // As if the run went on in another process.
    let lock = std::fs::File::open(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let games = |options: &[&str]| output(&[&["games", name], options].concat()).0;
    let count = |options: &[&str]| games(options).lines().skip(1).count();
    assert_eq!(count(&[]), 200);
    assert_eq!(count(&["--generation", "1"]), 100);
    assert_eq!(count(&["--generation", "1..", "--numbers", "..109"]), 10);
    assert_eq!(
        ["black", "white", "draw"].map(|it| count(&["--result", it])).iter().sum::<usize>(),
        200
    );
    assert!(games(&["--last", "1"]).lines().nth(1).unwrap().trim_start().starts_with("199 "));
    assert!(games(&["--generation", "0", "--last", "3"]).contains("        97 "));
    let proven = count(&["--reason", "proven"]);
    assert!(proven > 0 && proven < 200, "{proven}");

    let json = games(&["--as", "json"]);
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 200);
    let usi = games(&["--as", "usi"]);
    for (line, json) in usi.lines().zip(&lines) {
        replay(line, json);
    }
    let kif = games(&["--as", "kif", "--last", "2"]);
    assert_eq!((kif.matches("手数----").count(), kif.matches("\nまで").count()), (2, 2), "{kif}");
    let print = games(&["--numbers", "7", "--print"]);
    assert!(print.starts_with("game 7, generation 0,") && print.contains(" plies: "), "{print}");
    for ply in lines[7]["plies"].as_array().unwrap() {
        assert!(print.contains(ply["move"].as_str().unwrap()), "{print}");
    }

    let (none, told) = output(&["games", name, "--generation", "7"]);
    assert!(none.is_empty() && told.contains("no game is like that"), "{told}");
    expect_failure(&["games", name, "--generation", "7..3"], &["7..3", "both are included"]);
    expect_failure(&["games", name, "--numbers", "many"], &["many", "expected A..B"]);
    expect_failure(&["games", name, "--reason", "mat"], &["did you mean `mate`", "proven"]);
    expect_failure(&["games", name, "--last", "0"], &["--last"]);
    let nobody = folder.path().join("nobody");
    expect_failure(&["games", nobody.to_str().unwrap()], &["nobody", "no run"]);
    positions_are_a_table(folder.path(), name, &lines);
    assert!(contents(&dir) == before, "who reads has written");
}

/// Plays what an engine would be told, and holds it against what is recorded.
fn replay(usi: &str, json: &Value) {
    let rules = Arc::new(Rules::load("doubutsu").unwrap());
    let (start, moves) = usi.strip_prefix("position ").unwrap().split_once(" moves ").unwrap();
    let start = start.strip_prefix("sfen ").unwrap_or(rules.start_sfen());
    let mut game = Game::from_sfen(Arc::clone(&rules), start).unwrap();
    assert_eq!(json["sfen"], start);
    let moves: Vec<&str> = moves.split(' ').collect();
    let opening = json["opening"].as_array().unwrap().len();
    let plies = json["plies"].as_array().unwrap();
    assert_eq!(moves.len(), opening + plies.len());
    for (index, text) in moves.into_iter().enumerate() {
        if let Some(ply) = index.checked_sub(opening).map(|index| &plies[index]) {
            assert_eq!((&ply["move"], &ply["side"]), (&text.into(), &side(&game).into()));
            let policy = ply["policy"].as_array().unwrap();
            let sum: f64 = policy.iter().map(|pair| pair[1].as_f64().unwrap()).sum();
            assert!(policy.is_empty() || (sum - 1.0).abs() < 1e-4, "{sum}");
        }
        game.play(Move::from_usi(&rules, game.position(), text).unwrap());
    }
}

fn side(game: &Game) -> String {
    game.side_to_move().to_string().to_lowercase()
}

fn positions_are_a_table(folder: &Path, run: &str, games: &[Value]) {
    let file = folder.join("positions.parquet");
    let path = file.to_str().unwrap();
    let told = output(&["export", run, "--parquet", path]).0;
    let rows = SerializedFileReader::new(std::fs::File::open(&file).unwrap()).unwrap();
    let rows: Vec<Row> = rows.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let plies = |game: &Value| game["plies"].as_array().unwrap().clone();
    let expected: usize = games.iter().map(|game| plies(game).len()).sum();
    assert!(told.contains(&format!("{expected} positions of 200 games")), "{told}");
    assert_eq!(rows.len(), expected);
    let of_rows = games.iter().flat_map(|game| plies(game).into_iter().map(move |ply| (game, ply)));
    for (row, (game, ply)) in rows.iter().zip(of_rows) {
        agree(row, game, &ply);
    }
    expect_failure(&["export", run, "--parquet", path], &["positions.parquet", "already"]);
    expect_failure(&["export", run], &["--out"]);
    let some = folder.join("some.parquet");
    let told = output(&["export", run, "--parquet", some.to_str().unwrap(), "--last", "3"]).0;
    assert!(told.contains("of 3 games"), "{told}");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 3);
}

/// Whether a row says what is recorded of a ply.
fn agree(row: &Row, game: &Value, ply: &Value) {
    let columns: Vec<&String> = row.get_column_iter().map(|(name, _)| name).collect();
    let at = |name: &str| columns.iter().position(|it| *it == name).unwrap();
    assert_eq!(row.get_long(at("game")).unwrap(), game["number"].as_i64().unwrap());
    for (column, found) in
        [("side", &ply["side"]), ("move", &ply["move"]), ("reason", &game["reason"])]
    {
        assert_eq!(row.get_string(at(column)).unwrap(), found.as_str().unwrap());
    }
    let chances = [("root_win", "root", 0), ("root_loss", "root", 2), ("raw_draw", "raw", 1)];
    for (column, of, place) in chances {
        let number = ply[of][place].as_f64().unwrap() as f32;
        assert_eq!(row.get_float(at(column)).unwrap(), number);
    }
    let policy = ply["policy"].as_array().unwrap();
    let (moves, weights) = (at("policy_moves"), at("policy_weights"));
    assert_eq!(row.get_list(moves).unwrap().len(), policy.len());
    assert_eq!(row.get_list(weights).unwrap().len(), policy.len());
    assert_eq!(row.get_bool(at("full")).unwrap(), ply["full"].as_bool().unwrap());
    let result = match (game["result"].as_str().unwrap(), ply["side"].as_str().unwrap()) {
        ("draw", _) => 0,
        (winner, side) if winner == side => 1,
        _ => -1,
    };
    assert_eq!(row.get_int(at("result")).unwrap(), result);
    let rules = Arc::new(Rules::load("doubutsu").unwrap());
    let position = Game::from_sfen(rules, row.get_string(at("sfen")).unwrap()).unwrap();
    assert_eq!(side(&position), ply["side"].as_str().unwrap());
}

#[test]
fn damaged_games_are_skipped_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let dir = train(folder.path());
    let name = dir.to_str().unwrap();
    let path = dir.join("games/games-000000.seg");
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[100] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    let (listed, told) = output(&["games", name]);
    assert_eq!(listed.lines().skip(1).count(), 100);
    assert!(told.contains("skipped damaged games") && told.contains("games 0 to 99"), "{told}");
    // As it looks in the middle of a write.
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let (listed, told) = output(&["games", name]);
    assert_eq!(listed.lines().skip(1).count(), 100);
    assert!(told.contains("left out: a write that is going on"), "{told}");
    assert_eq!(std::fs::read(&path).unwrap(), whole[..whole.len() - 1]);
    std::fs::write(&path, &whole[..10]).unwrap();
    let (listed, told) = output(&["games", name]);
    assert!(listed.is_empty() && told.contains("the run has no games yet"), "{told}");
}
