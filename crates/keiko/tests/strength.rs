//! `keiko strength` on experiments that learn for seconds.
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn keiko(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.args(arguments);
    command
}

fn smoke() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    path.to_string_lossy().into_owned()
}

fn strength(out: &Path, more: &[&str]) -> Output {
    let smoke = smoke();
    let usual = ["strength", &smoke, "--out", out.to_str().unwrap(), "--simulations", "4"];
    keiko(&[&usual[..], more].concat()).output().unwrap()
}

#[track_caller]
fn expect(output: &Output, code: i32, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    for word in words {
        assert!(said.contains(word), "no `{word}` in: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every file of games, and how many games are in it.
fn games(out: &Path) -> Vec<(PathBuf, usize)> {
    let files = std::fs::read_dir(out.join("games")).unwrap().map(|it| it.unwrap().path());
    let lines = |path: &PathBuf| std::fs::read_to_string(path).unwrap().lines().count();
    let mut games: Vec<_> = files.map(|path| (path.clone(), lines(&path))).collect();
    games.sort();
    games
}

#[test]
fn contenders_learn_alike_and_more_is_added_to_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let asked = ["--minutes", "0.03", "--vary", "search.kind=gumbel,puct", "--games", "4"];
    let output = strength(&out, &[&asked[..], &["--against", "material:1"]].concat());
    expect(&output, 0, &["search.kind=puct, seed 1: 0.0 of 0.03 minutes"]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(std::fs::read_to_string(out.join("table.md")).unwrap().trim(), table.trim());
    assert!(table.contains("| against material:1 "), "{table}");
    let report = json(&out.join("strength.json"));
    let contenders = report["contenders"].as_array().unwrap();
    for contender in contenders {
        let seconds = contender["used"]["seconds"].as_f64().unwrap();
        assert!((1.79..30.0).contains(&seconds), "{contender}");
        assert!(contender["used"]["evaluations"].as_u64().unwrap() > 100, "{contender}");
        assert_eq!(contender["against"][1]["games"], 4, "{contender}");
    }
    assert_eq!(contenders[0]["direct"], Value::Null);
    assert_eq!(contenders[1]["direct"]["opponent"], "search.kind=gumbel, seed 1");
    // The same again learns and plays nothing.
    let played = games(&out);
    assert_eq!(played.len(), 5);
    let again = strength(&out, &[&asked[..], &["--against", "material:1"]].concat());
    expect(&again, 0, &[]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), table);
    assert_eq!(games(&out), played);
    // More games, and another seed: what is there counts.
    let more = ["--minutes", "0.03", "--vary", "search.kind=gumbel,puct", "--games", "6"];
    let output = strength(&out, &[&more[..], &["--seeds", "2", "--direct", "0"]].concat());
    expect(&output, 0, &[]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("seed 1: 0.0"));
    let lines: Vec<usize> = games(&out).into_iter().map(|(_, lines)| lines).collect();
    assert_eq!(lines.iter().sum::<usize>(), 3 * 4 + 4 * 6);
    // More time: those networks stay.
    let longer = ["--minutes", "0.06", "--games", "2", "--vary", "search.kind=puct"];
    expect(&strength(&out, &longer), 0, &["seed 1: 0.1 of 0.06 minutes"]);
    let puct = out.join("search.kind-puct-seed1/networks");
    assert!(puct.join("0.03-minutes").is_dir() && puct.join("0.06-minutes").is_dir());
    let refused = ["--minutes", "0.05", "--vary", "search.kind=puct"];
    expect(&strength(&out, &refused), 2, &["after 0.05 of them", "0.03, 0.06 minutes"]);
    let other = ["--minutes", "0.06", "--vary", "search.kind=puct", "--set", "learner.beta1=0.8"];
    expect(&strength(&out, &other), 2, &["another experiment", "learner.beta1", "--out DIR"]);
}

#[test]
fn a_stop_saves_what_was_learned() {
    let folder = tempfile::tempdir().unwrap();
    let (out, smoke) = (folder.path().join("out"), smoke());
    let arguments =
        ["strength", &smoke, "--out", out.to_str().unwrap(), "--minutes", "1000", "--games", "2"];
    let mut child = keiko(&arguments).spawn().unwrap();
    let used = out.join("as-it-is-seed1/used.json");
    let began = Instant::now();
    while !used.exists() {
        assert!(began.elapsed() < PATIENCE, "no generation for too long");
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(10));
    let before = json(&used);
    let seconds = before["seconds"].as_f64().unwrap();
    assert!(seconds > 0.0 && before["generations"].as_u64().unwrap() > 0, "{before}");
    // It goes on from there.
    let minutes = format!("{:.3}", seconds / 60.0 + 0.02);
    expect(&strength(&out, &["--minutes", &minutes, "--games", "2"]), 0, &[]);
    let after = json(&used);
    assert!(after["seconds"].as_f64().unwrap() >= 60.0 * minutes.parse::<f64>().unwrap());
    assert!(after["generations"].as_u64() >= before["generations"].as_u64());
    assert!(after["evaluations"].as_u64() > before["evaluations"].as_u64(), "{before} {after}");
}

#[test]
fn networks_of_other_sizes_have_equal_time() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let sizes = "network.channels=16 network.blocks=1, network.channels=64 network.blocks=4";
    let asked = ["--minutes", "0.02", "--games", "2", "--equal-time", "--vary", sizes];
    let smoke = smoke();
    let start = ["strength", &smoke, "--out", out.to_str().unwrap(), "--simulations", "300"];
    let output = keiko(&[&start[..], &asked[..]].concat()).output().unwrap();
    expect(&output, 0, &[]);
    let report = json(&out.join("strength.json"));
    let simulations = [0, 1].map(|it| report["contenders"][it]["simulations"].as_u64().unwrap());
    assert_eq!(simulations[0], 300);
    assert!((1..250).contains(&simulations[1]), "{simulations:?}");
    let paces = json(&out.join("paces.json"));
    assert_eq!(paces.as_object().unwrap().len(), 2, "{paces}");
}

#[test]
fn what_cannot_be_meant_is_said_before_anybody_learns() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["--vary", "search.knid=puct"], &["--vary search.knid", "did you mean `search.kind`"]),
        (&["--vary", "search.kind=gumble"], &["--vary search.kind=gumble", "gumbel"]),
        (&["--vary", "search.kind=puct,puct"], &["are the same experiment"]),
        (&["--against", "random"], &["everybody plays it already"]),
        (&["--against", "nobody"], &["`nobody` is no player"]),
        (&["--against", "usi:fairy@few"], &["expected nodes behind the @"]),
        (&["--option", "Threads"], &["expected NAME=VALUE"]),
    ];
    for (more, words) in cases {
        let output = strength(&out, &[&["--minutes", "1"][..], more].concat());
        expect(&output, 2, words);
    }
    let missing = strength(&out, &["--minutes", "1", "--against", "usi:no-such-engine@100"]);
    expect(&missing, 3, &["no-such-engine", "cannot be started"]);
    expect(&strength(&out, &["--minutes", "0"]), 2, &["minutes above 0"]);
    assert!(!out.exists());
}
