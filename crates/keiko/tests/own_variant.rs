//! A user's own game, from a table of ten lines to an engine that plays it.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// 4x4: kings, golds, rooks and pawns.
const TINY: &str = r#"name = "tiny"
board = { files = 4, ranks = 4 }
start = "rg1k/3p/P3/K1GR b - 1"
pieces.K = { moves = "K", royal = true }
pieces.R = { moves = "R" }
pieces.G = { moves = "WfF" }
pieces.P = { moves = "fW", promotes = "WfF" }
promotion = { when = "zone", zone = 1 }
drops = { faces = "front", no_mate_by = ["P"] }
invariants = { royal_safe = true, movable = true }
goals = { no_moves = "loses", repetition = { count = 4, result = "draw" } }
"#;

fn keiko(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn output(arguments: &[&str]) -> String {
    let output = keiko(arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

/// Trains the smoke experiment with this variant; the run's last network.
fn train(folder: &Path, variant: &str) -> String {
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    let smoke = std::fs::read_to_string(smoke).unwrap();
    let experiment = smoke.replace("rules = \"doubutsu\"", &format!("rules = {variant:?}"));
    let experiment = write(folder, "experiment.toml", &experiment);
    let run = folder.join("run").to_string_lossy().into_owned();
    output(&["train", &experiment, "--run", &run]);
    let networks = std::fs::read_dir(folder.join("run/networks")).unwrap();
    let mut networks: Vec<PathBuf> = networks.map(|entry| entry.unwrap().path()).collect();
    networks.sort();
    networks.pop().unwrap().to_string_lossy().into_owned()
}

/// What an engine says to these lines.
fn engine(network: &str, lines: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_keiko"))
        .args(["engine", "--network", network])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn from_ten_lines_to_an_engine() {
    let folder = tempfile::tempdir().unwrap();
    let variant = write(folder.path(), "tiny.toml", TINY);

    let explained = output(&["check", &variant]);
    for words in ["tiny on 4x4", "K is royal", "the last rank", "Occurrence 4", "  - - @ - -"] {
        assert!(explained.contains(words), "{words}: {explained}");
    }

    let divided = output(&["perft", &variant, "3", "--divide"]);
    let total: u64 = divided.lines().last().unwrap().parse().unwrap();
    let parts = divided.lines().filter_map(|line| line.split_once(' '));
    assert_eq!(parts.map(|(_, count)| count.parse::<u64>().unwrap()).sum::<u64>(), total);
    assert_eq!(output(&["perft", &variant, "3"]).trim(), total.to_string());

    let network = train(folder.path(), &variant);
    let table = output(&["match", &network, "random", "--games", "4", "--simulations", "8"]);
    assert!(table.contains("4 games"), "{table}");

    let said = engine(&network, "usi\nisready\nposition startpos\ngo nodes 16\nquit\n");
    let best = said.lines().find_map(|line| line.strip_prefix("bestmove ")).unwrap();
    let first_moves = output(&["perft", &variant, "1", "--divide"]);
    assert!(first_moves.lines().any(|line| line.split(' ').next() == Some(best)), "{said}");
}

#[test]
fn contradictions_are_found_with_their_line() {
    let rows: [(&str, &str, &str); 9] = [
        // A piece that can never move on this board.
        ("\"R\"", "\"\"", "tiny.toml:5: pieces.R.moves: \"\" is empty; a piece that never moves"),
        // The side that has just moved could be taken.
        ("rg1k/3p", "rg1k/4", "tiny.toml:3: start"),
        // No royal piece, in the table or on the board.
        (", royal = true", "", "tiny.toml:4: pieces: none has `royal = true`"),
        ("rg1k", "rg1g", "White has 0 pieces `k`"),
        // A letter used twice.
        ("pieces.G", "pieces.R", "tiny.toml:6: duplicate key"),
        // Goals that can never be met.
        (
            "goals = { ",
            "goals = { royal_captured = \"loses\", ",
            "tiny.toml:11: goals.royal_captured",
        ),
        ("goals = { ", "goals = { declaration = \"27\", ", "tiny.toml:11: goals.declaration"),
        // What means nothing, and a key's neighbour.
        ("zone = 1", "zone = 5", "tiny.toml:8: promotion.zone: is 5"),
        ("royal_safe", "royal_save", "did you mean `royal_safe`?"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (old, new, message) in rows {
        assert!(TINY.contains(old), "{old}");
        let variant = write(folder.path(), "tiny.toml", &TINY.replacen(old, new, 1));
        let failed = keiko(&["check", &variant]);
        let complaint = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert_eq!(failed.status.code(), Some(2), "{new}: {complaint}");
        assert!(complaint.contains(message), "{new}: {complaint}");
    }
}
