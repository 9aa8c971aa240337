//! The ladder of a small run.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

fn keiko(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keiko")).args(arguments).output().unwrap()
}

#[track_caller]
fn expect_output(arguments: &[&str]) -> String {
    let output = keiko(arguments);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    String::from_utf8(output.stdout).unwrap()
}

/// The games of a ladder without what a clock changes.
fn games(run: &Path) -> Vec<serde_json::Value> {
    let lines = std::fs::read_to_string(run.join("ladder.jsonl")).unwrap();
    let read = |line: &str| {
        let mut game: serde_json::Value = serde_json::from_str(line).unwrap();
        game.as_object_mut().unwrap().remove("milliseconds");
        game
    };
    lines.lines().map(read).collect()
}

#[test]
fn a_ladder_grows_with_each_call_and_goes_on_as_if_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    let dir = run.to_str().unwrap();
    let train = ["train", smoke.to_str().unwrap(), "--run", dir];
    expect_output(&[&train[..], &["--set", "training.generations=2"]].concat());
    let table = expect_output(&["ladder", dir, "--games", "64"]);
    for player in ["untrained", "random", "mate1", "material:2", "material:4"] {
        assert!(table.contains(player), "{player}: {table}");
    }
    assert!(table.lines().any(|line| line.starts_with("untrained") && line.contains("+0")));
    // The run's own games count: those of its arena against random play alone are 40.
    let random = table.lines().find(|line| line.starts_with("random")).unwrap();
    let played: u64 = random.split_whitespace().last().unwrap().parse().unwrap();
    assert!(played >= 40, "{table}");
    let at_once = games(&run);
    assert_eq!(at_once.len(), 64);
    // Nothing more is played, and the ratings are the same.
    assert_eq!(expect_output(&["ladder", dir, "--games", "0"]), table);
    let ratings = std::fs::read_to_string(run.join("ladder.json")).unwrap();
    assert!(ratings.contains("\"player\": \"material:4\""), "{ratings}");
    // What a crash leaves: two meetings, a part of the third, and a line cut short.
    let text = std::fs::read_to_string(run.join("ladder.jsonl")).unwrap();
    let kept: Vec<&str> = text.lines().take(40).collect();
    std::fs::write(run.join("ladder.jsonl"), kept.join("\n") + "\n{\"num").unwrap();
    assert_eq!(expect_output(&["ladder", dir, "--games", "32"]), table);
    assert_eq!(games(&run), at_once);
    let nobody = keiko(&["ladder", dir, "--anchor", "nobody"]);
    assert_eq!(nobody.status.code(), Some(2));
    let none = keiko(&["ladder", folder.path().to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("no run"));
}
