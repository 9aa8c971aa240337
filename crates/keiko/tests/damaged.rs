//! Who reads a run that goes on, or one that is damaged: what is damaged is named, the rest is used.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What a slow machine may take for what is soon done.
const PATIENCE: Duration = Duration::from_secs(120);

fn keiko(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// What a command that works says on standard output, and on standard error.
#[track_caller]
fn output(arguments: &[&str]) -> (String, String) {
    let output = keiko(arguments);
    let [said, told] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    assert!(!told.contains("panicked"), "{told}");
    (said, told)
}

/// The smoke experiment, smaller still, of so many generations of 20 games.
fn train(dir: &Path, generations: u64) -> Command {
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    let generations = format!("training.generations={generations}");
    let smaller = [
        generations.as_str(),
        "training.games_per_generation=20",
        "network.channels=8",
        "arena.random_pairs=2",
        "arena.rival_pairs=3",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.arg("train").arg(smoke).arg("--run").arg(dir).stdin(Stdio::null());
    command.stderr(Stdio::null()).args(smaller.iter().flat_map(|set| ["--set", set]));
    command
}

#[track_caller]
fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what} for too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What lies in a folder, by name.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Flips bits of a byte of a file, in place.
fn flip(path: &Path, at: usize) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at as u64).unwrap();
    file.write_all_at(&[byte[0] ^ 0xa5], at as u64).unwrap();
}

/// A run that goes on, and is killed when a test is over, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_run_that_goes_on_can_be_looked_at_and_its_damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let mut running = Running(train(&dir, 100_000).spawn().unwrap());
    let networks = dir.join("networks");
    wait_for("no network", || networks.is_dir() && !entries(&networks).is_empty());
    let games = dir.join("games/games-000000.seg");
    let length = || games.metadata().unwrap().len();
    let first = length();
    let path = |name: String| folder.path().join(name).display().to_string();
    let run = dir.to_str().unwrap();
    for round in 0..12 {
        // What is damaged meanwhile is no concern of the run, which has its games in memory.
        if round == 6 {
            wait_for("there is one block of games only", || length() > first + 200);
            flip(&games, 100);
        }
        let page = path("page.html".to_owned());
        let listed = output(&["games", run, "--as", "json"]);
        let reported = output(&["report", run, "--out", &page]);
        let table = path(format!("{round}.parquet"));
        let exported = output(&["export", run, "--parquet", &table]);
        for (name, told) in [("games", &listed.1), ("report", &reported.1), ("export", &exported.1)]
        {
            let is_told = told.contains("skipped damaged games") && told.contains("games 0 to 19");
            assert_eq!(is_told, round >= 6, "{name}, round {round}: {told}");
        }
        assert_eq!(listed.0.contains("\"number\":0,"), round < 6);
        let (status, told) = output(&["status", run, "--json"]);
        assert!(told.is_empty() && status.contains("\"going_on\": true"), "{told}{status}");
        output(&["fork", run, "--out", &path(format!("fork-{round}"))]);
    }
    assert!(running.0.try_wait().unwrap().is_none(), "the run has ended");
}

#[test]
fn damage_is_named_and_the_rest_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    assert!(train(&dir, 2).status().unwrap().success());
    let run = dir.to_str().unwrap();
    let newest = |name: &str| entries(&dir.join(name)).pop().unwrap();
    flip(&dir.join("games/games-000000.seg"), 100);
    std::fs::write(dir.join("games/games-000000.idx"), "no index").unwrap();
    flip(&dir.join("metrics.jsonl"), 3);
    flip(&newest("state").join("state.json"), 50);
    flip(&newest("networks").join("card.toml"), 20);

    let (listed, told) = output(&["games", run]);
    assert_eq!(listed.lines().skip(1).count(), 20);
    assert!(told.contains("games 0 to 19"), "{told}");
    let (status, told) = output(&["status", run]);
    assert!(status.contains("generation  1 of 2"), "{status}");
    assert!(told.contains("metrics.jsonl, line 1") && told.contains("state.json"), "{told}");
    let page = folder.path().join("page.html");
    let (_, told) = output(&["report", run, "--out", page.to_str().unwrap()]);
    for words in ["games 0 to 19", "metrics.jsonl, line 1", "card.toml: truncated or changed"] {
        assert!(told.contains(words), "no {words} in {told}");
    }
    assert!(std::fs::read_to_string(page).unwrap().contains("<h3>Policy loss</h3>"));
    let network = newest("networks").display().to_string();
    for arguments in [&["inspect", &network][..], &["export", &network, "--out", "nowhere"]] {
        let failed = keiko(arguments);
        let told = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert_eq!(failed.status.code(), Some(4), "{arguments:?}: {told}");
        assert!(told.contains("card.toml: truncated or changed"), "{told}");
    }
    let fork = folder.path().join("fork").display().to_string();
    let (_, told) = output(&["fork", run, "--out", &fork]);
    assert!(told.contains("state.json") && told.contains("forked at generation 1"), "{told}");
}
