//! What a person does before a run and beside it: init, check, schema, doctor, status, the log.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str]) -> Output {
    let keiko = env!("CARGO_BIN_EXE_keiko");
    Command::new(keiko).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn expect_output(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn configs() -> String {
    format!("{}/../../configs", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn an_experiment_is_made_for_a_game_and_never_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let file = file.to_str().unwrap();
    expect_output(&["init", "microshogi", "--out", file]);
    let checked = expect_output(&["check", file]);
    assert!(checked.contains("microshogi on 4x5"), "{checked}");
    let again = run(&["init", "doubutsu", "--out", file]);
    assert_eq!(again.status.code(), Some(3));
    assert!(text(&again.stderr).contains("exists"), "{}", text(&again.stderr));
    let variant = format!("{}/../rules/variants/tori.toml", env!("CARGO_MANIFEST_DIR"));
    let made = expect_output(&["init", &variant, "--cores", "3"]);
    assert!(made.contains("workers = 3") && made.contains("variants/tori.toml\""), "{made}");
    let unknown = run(&["init", "minishoji"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("did you mean `minishogi`"));
}

#[test]
fn check_tells_each_value_with_its_origin_and_its_meaning() {
    let smoke = format!("{}/smoke.toml", configs());
    let told = expect_output(&["check", &smoke, "--set", "network.blocks=2"]);
    for words in ["network.blocks = 2   (--set)", "Residual blocks of two", "1 to 64", "(line "] {
        assert!(told.contains(words), "no {words:?} in {told}");
    }
}

#[test]
fn the_schema_is_printed_as_it_is_kept() {
    let kept = std::fs::read_to_string(format!("{}/experiment.schema.json", configs())).unwrap();
    assert_eq!(expect_output(&["schema"]), kept);
}

#[test]
fn shells_get_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = expect_output(&["completions", shell]);
        assert!(script.contains("keiko") && script.contains("doctor"), "{script}");
    }
}

#[test]
fn the_doctor_measures_an_experiment() {
    let smoke = format!("{}/smoke.toml", configs());
    let told = expect_output(&["doctor", &smoke]);
    for words in ["cores", "memory", "disk", "precision", "games an hour", "steps a second"] {
        assert!(told.contains(words), "no {words:?} in {told}");
    }
}

#[test]
fn a_run_is_watched_by_its_log_and_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let (dir, smoke) = (dir.to_str().unwrap(), format!("{}/smoke.toml", configs()));
    assert_eq!(run(&["status", dir]).status.code(), Some(2));

    let first = run(&["train", &smoke, "--run", dir, "--quiet", "--set", "training.generations=1"]);
    let said = text(&first.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("done: 1 generations"), "{said}");
    let log = || std::fs::read_to_string(Path::new(dir).join("log.txt")).unwrap();
    let quiet = log();
    assert!(quiet.contains("generation 0 done") && quiet.contains("begins in"), "{quiet}");
    assert!(!quiet.contains("loss/"), "{quiet}");
    for line in quiet.lines() {
        assert!(line.starts_with("20") && line[..21].ends_with("Z "), "{line}");
    }

    let second = run(&["train", &smoke, "--run", dir, "--verbose"]);
    let said = text(&second.stderr);
    assert!(said.contains("generation 1, loss/policy: "), "{said}");
    assert!(log().starts_with(&quiet) && log().contains("goes on in"), "{}", log());

    let told = expect_output(&["status", dir]);
    for words in ["smoke in", "complete", "2 of 2", "200 games", "games an hour", "Elo", "ago"] {
        assert!(told.contains(words), "no {words:?} in {told}");
    }
    let json = expect_output(&["status", dir, "--json"]);
    let status: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(status["complete"], true);
    assert_eq!(status["going_on"], false);
    assert_eq!(status["games"], 200);
    assert!(status["disk_bytes"].as_u64().unwrap() > 10_000);
    assert!(status["games_per_hour"].as_f64().unwrap() > 0.0);
    assert!(status["elo_low"].as_f64().unwrap() < status["elo_high"].as_f64().unwrap());
}
