//! Laws of a run: threads, batches and interruptions change not a bit of it.
#![allow(clippy::unwrap_used)]

use keiko_selfplay::GameRecord;
use keiko_trainer::metrics::{Line, comparable};
use keiko_trainer::store::Store;
use keiko_trainer::{Event, Experiment, Finish, Run, RunError, Watcher, train};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The smoke experiment, smaller still, in a game with handicaps.
fn tiny(overrides: &[&str]) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    let smaller = [
        "rules=minishogi",
        "selfplay.handicap_share=0.2",
        "training.games_per_generation=20",
        "network.channels=8",
        "arena.random_pairs=2",
        "arena.rival_pairs=3",
        "training.generations=3",
    ];
    let all: Vec<String> = smaller.iter().chain(overrides).map(|&text| text.to_owned()).collect();
    Experiment::load(&path, &all).unwrap()
}

/// Sets `stop` at the nth event of a kind.
struct StopAt<'a> {
    stop: &'a AtomicBool,
    wanted: fn(&Event<'_>) -> bool,
    left: AtomicU32,
}

impl Watcher for StopAt<'_> {
    fn tell(&self, event: &Event<'_>) {
        if (self.wanted)(event) && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn go_on(dir: &Path, experiment: &Experiment, wanted: fn(&Event<'_>) -> bool, nth: u32) -> Finish {
    let (mut run, _) = Run::open(dir, experiment).unwrap();
    let stop = AtomicBool::new(false);
    let watcher = StopAt { stop: &stop, wanted, left: AtomicU32::new(nth) };
    train(&mut run, &watcher, &stop).unwrap()
}

fn finish(dir: &Path, experiment: &Experiment) {
    assert_eq!(go_on(dir, experiment, |_| false, 0), Finish::Done);
}

/// Everything a run leaves behind that must not depend on the machine.
struct Remains {
    games: Vec<GameRecord>,
    metrics: Vec<Line>,
    networks: BTreeMap<String, Vec<u8>>,
    learner: Vec<u8>,
}

fn remains(dir: &Path) -> Remains {
    let (store, report) = Store::open(&dir.join("games")).unwrap();
    assert!(report.is_clean());
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(dir.join(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let weights = |name: &String| {
        std::fs::read(dir.join("networks").join(name).join("weights.safetensors")).unwrap()
    };
    let newest = names("state").pop().unwrap();
    Remains {
        games: store.games_from(0).unwrap(),
        metrics: comparable(dir).unwrap(),
        networks: names("networks")
            .into_iter()
            .map(|name| (name.clone(), weights(&name)))
            .collect(),
        learner: std::fs::read(dir.join("state").join(newest).join("learner.safetensors")).unwrap(),
    }
}

/// Compares part by part: a whole run is too much to print.
fn assert_same(left: &Remains, right: &Remains, name: &str) {
    assert!(left.games == right.games, "{name}: other games");
    assert_eq!(left.metrics, right.metrics, "{name}");
    assert!(left.networks == right.networks, "{name}: other networks");
    assert!(left.learner == right.learner, "{name}: another learner");
}

#[test]
fn workers_and_batches_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, overrides: &[&str]| {
        let dir = folder.path().join(name);
        finish(&dir, &tiny(overrides));
        remains(&dir)
    };
    let one = run("one", &["machine.workers=1"]);
    assert_eq!(one.games.len(), 60);
    assert_eq!(one.networks.len(), 3);
    assert!(one.metrics.iter().any(|line| line.scalars.contains_key("arena/elo")));
    assert!(one.metrics.iter().any(|line| line.scalars.contains_key("loss_holdout/policy_kl")));
    for kind in ["normal", "handicap", "sampled", "random", "archive"] {
        let tag = format!("selfplay/starts_{kind}");
        assert!(one.metrics.iter().any(|line| line.scalars[&tag] > Some(0.0)), "{kind}");
    }
    for reason in ["proven", "resignation"] {
        let tag = format!("selfplay/ends_{reason}");
        assert!(one.metrics.iter().any(|line| line.scalars[&tag] > Some(0.0)), "{reason}");
    }
    let simulations = |line: &Line| line.scalars["selfplay/full_simulations"];
    assert_eq!(
        one.metrics.iter().map(simulations).collect::<Vec<_>>(),
        [12.0, 16.0, 16.0].map(Some)
    );
    assert_same(&one, &run("two", &["machine.workers=2", "machine.cache=0"]), "two workers");
    assert_same(
        &one,
        &run("three", &["machine.workers=3", "machine.batch=5", "machine.cache=37"]),
        "three workers",
    );
    assert!(one.games != run("another", &["seed=2"]).games);
}

#[test]
fn interruptions_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = tiny(&[]);
    let unbroken = folder.path().join("unbroken");
    finish(&unbroken, &experiment);
    let unbroken = remains(&unbroken);
    type Wanted = fn(&Event<'_>) -> bool;
    let places: [(&str, Wanted, u32); 5] = [
        ("playing", |event| matches!(event, Event::Playing { .. }), 7),
        ("playing-later", |event| matches!(event, Event::Playing { .. }), 33),
        ("learning", |event| matches!(event, Event::Learning { generation: 1, .. }), 2),
        ("measuring", |event| matches!(event, Event::Measuring { .. }), 3),
        ("between", |event| matches!(event, Event::Generation { .. }), 2),
    ];
    for (name, wanted, nth) in places {
        let dir = folder.path().join(name);
        assert_eq!(go_on(&dir, &experiment, wanted, nth), Finish::Stopped, "{name}");
        // And once more, soon after.
        assert_eq!(go_on(&dir, &experiment, |_| true, 1), Finish::Stopped, "{name}");
        finish(&dir, &experiment);
        assert_same(&remains(&dir), &unbroken, name);
    }
}

#[test]
fn a_damaged_checkpoint_falls_back_to_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, dir) = (folder.path().join("unbroken"), folder.path().join("damaged"));
    let experiment = tiny(&[]);
    finish(&unbroken, &experiment);
    go_on(&dir, &experiment, |event| matches!(event, Event::Generation { .. }), 2);
    let mut states: Vec<_> =
        std::fs::read_dir(dir.join("state")).unwrap().map(|e| e.unwrap().path()).collect();
    states.sort();
    let file = states.pop().unwrap().join("learner.safetensors");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&file, bytes).unwrap();
    let (run, opened) = Run::open(&dir, &experiment).unwrap();
    assert_eq!(opened.warnings.len(), 1, "{:?}", opened.warnings);
    drop(run);
    finish(&dir, &experiment);
    assert_same(&remains(&dir), &remains(&unbroken), "damaged");
}

#[test]
fn a_run_belongs_to_one_process_and_one_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let held = Run::open(&dir, &tiny(&[])).unwrap();
    assert!(matches!(Run::open(&dir, &tiny(&[])), Err(RunError::Locked(_))));
    drop(held);
    let changed = Run::open(&dir, &tiny(&["network.blocks=2"]));
    let message = changed.err().unwrap().to_string();
    assert!(message.contains("network.blocks: 1 -> 2"), "{message}");
    let (run, opened) = Run::open(&dir, &tiny(&["training.learning_rate=[[0, 0.001]]"])).unwrap();
    assert_eq!(opened.changes.len(), 1);
    drop(run);
    // The change is the run's from now on.
    assert!(
        Run::open(&dir, &tiny(&["training.learning_rate=[[0, 0.001]]"]))
            .unwrap()
            .1
            .changes
            .is_empty()
    );
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    assert!(matches!(Run::open(&other, &tiny(&[])), Err(RunError::NotARun(_))));
}
