//! `keiko report`: the page people are sent.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn keiko(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Trains a tiny run: as many generations.
fn train(dir: &Path, rules: &str, generations: u64) {
    let experiment = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    let (rules, generations) =
        (format!("rules={rules}"), format!("training.generations={generations}"));
    let smaller = [
        rules.as_str(),
        generations.as_str(),
        "training.games_per_generation=20",
        "network.channels=8",
        "arena.random_pairs=2",
        "arena.rival_pairs=2",
    ];
    let set = smaller.iter().flat_map(|&one| ["--set", one]);
    let mut arguments = vec!["train", experiment.to_str().unwrap(), "--run", dir.to_str().unwrap()];
    arguments.extend(set);
    let output = keiko(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn report(run: &Path, out: &Path) -> String {
    let output = keiko(&["report", run.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(out).unwrap()
}

/// What the page's board gets to play.
fn games(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"games\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Every file of a folder with its bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(contents(&entry.path())),
            false => drop(files.insert(entry.path(), std::fs::read(entry.path()).unwrap())),
        }
    }
    files
}

#[test]
fn a_run_becomes_one_page_and_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (run, out) = (folder.path().join("run"), folder.path().join("page.html"));
    train(&run, "minishogi", 2);
    // Another process may be in the middle of a write.
    let segment = std::fs::read_dir(run.join("games")).unwrap().next().unwrap().unwrap().path();
    for path in [segment, run.join("metrics.jsonl")] {
        std::fs::File::options().append(true).open(path).unwrap().write_all(b"half").unwrap();
    }
    let before = contents(&run);
    let page = report(&run, &out);
    assert_eq!(contents(&run), before);
    let headings = [
        "How strong it is",
        "What it learns",
        "How it plays",
        "Games",
        "The machine",
        "Configuration",
    ];
    for heading in headings {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "no {heading}");
    }
    assert!(page.contains(" on cpu. Along the bottom"), "no machine");
    for chart in ["Elo", "Policy loss", "How games end"] {
        assert!(page.contains(&format!("<h3>{chart}</h3>")), "no {chart}");
    }
    // Nothing but the name of SVG is an address, and nothing is loaded.
    let addresses: Vec<&str> =
        page.match_indices("http").map(|(at, _)| &page[at..at + 26]).collect();
    assert!(
        addresses
            .iter()
            .all(|it| it.starts_with("http://www.w3.org/2000/svg") || it.starts_with("http-equiv")),
        "{addresses:?}"
    );
    assert!(!page.contains(" src=") && !page.contains("@import") && !page.contains("<link"));
}

#[test]
fn sample_games_can_be_played_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let (run, out) = (folder.path().join("run"), folder.path().join("page.html"));
    train(&run, "doubutsu", 1);
    let data = games(&report(&run, &out));
    assert_eq!((&data["files"], &data["ranks"]), (&3.into(), &4.into()));
    let samples = data["samples"].as_array().unwrap();
    assert!(samples.len() > 3, "{} samples", samples.len());
    // The first is the start as the newest network sees it.
    assert_eq!(samples[0]["positions"].as_array().unwrap().len(), 1);
    assert!(!samples[0]["plies"][0]["policy"].as_array().unwrap().is_empty());
    let rules = std::sync::Arc::new(keiko_rules::Rules::load("doubutsu").unwrap());
    for sample in &samples[1..] {
        let positions: Vec<&str> =
            sample["positions"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let plies = sample["plies"].as_array().unwrap();
        assert_eq!(positions.len(), plies.len() + 1);
        let mut game = keiko_rules::Game::from_sfen(rules.clone(), positions[0]).unwrap();
        for (ply, after) in plies.iter().zip(&positions[1..]) {
            let text = ply["move"].as_str().unwrap();
            let mv = keiko_rules::Move::from_usi(&rules, game.position(), text).unwrap();
            game.play(mv);
            assert_eq!(game.position().to_sfen(&rules), *after);
        }
        assert!(!sample["ending"].as_str().unwrap().is_empty());
    }
}

#[test]
fn ratings_are_a_picture_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (run, out) = (folder.path().join("run"), folder.path().join("elo.svg"));
    let draw = || keiko(&["report", run.to_str().unwrap(), "--elo", out.to_str().unwrap()]);
    train(&run, "doubutsu", 2);
    let output = draw();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let picture = std::fs::read_to_string(&out).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    for part in ["by minutes of work", ">network<", ">material:4<", "class=\"band s0\""] {
        assert!(picture.contains(part), "no {part} in {picture}");
    }
    std::fs::write(run.join("metrics.jsonl"), "").unwrap();
    let output = draw();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing is rated yet"));
}

#[test]
fn what_is_no_run_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let output = keiko(&["report", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no run"));
}
