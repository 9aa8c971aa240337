//! What follows from an experiment's numbers.
#![allow(clippy::unwrap_used)]

use keiko_trainer::Experiment;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Keys that experiments once did not have, and what they meant by it is still known.
const NEWER_KEYS: &[&str] = &[
    "handicap_share",
    "sampled_opening_share",
    "sampled_opening_plies",
    "archive_share",
    "archive_games",
    "proven_playout_share",
    "resign_below",
    "resign_plies",
    "resign_playout_share",
    "surprise_share",
    "overlap",
    "kind",
];
/// Keys that came later, all together.
const BOUNDS: &[&str] = &["keep_every", "games_mebibytes", "replay_mebibytes"];
/// And the lines of a section that some did not have.
const NEWER_SECTION: &[&str] = &[
    "[search.puct]",
    "cpuct",
    "fpu_reduction",
    "noise_share",
    "noise_total",
    "root_temperature",
    "forced_playouts",
];

/// Keys that came later, together.
const NEWEST_KEYS: &[&str] =
    &["learning_retries", "retry_rate_factor", "disk_reserve_mebibytes", "memory_mebibytes"];
/// A key that came later still.
const NETWORKS: &[&str] = &["networks_mebibytes"];
/// The newest of all.
const LADDER: &[&str] = &["ladder_pairs"];

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

fn smoke(overrides: &[&str]) -> Experiment {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Experiment::load(&configs().join("smoke.toml"), &overrides).unwrap()
}

#[test]
fn every_shipped_experiment_works_and_survives_its_resolved_form() {
    let entries = std::fs::read_dir(configs()).unwrap().map(|entry| entry.unwrap().path());
    for path in entries.filter(|path| path.extension().is_some_and(|it| it == "toml")) {
        let experiment = Experiment::load(&path, &[]).unwrap();
        keiko_rules::Rules::load(&experiment.rules).unwrap();
        let again = Experiment::parse(&experiment.to_toml(), "resolved", &[]).unwrap();
        assert_eq!(again, experiment);
        assert!(experiment.changes(&again).is_empty());
    }
}

#[test]
fn an_experiment_from_before_some_keys_existed_keeps_its_meaning() {
    let published = configs().join("../checkpoints/published");
    let entries = std::fs::read_dir(published).unwrap().map(|entry| entry.unwrap().path());
    for network in entries.filter(|path| path.is_dir()) {
        Experiment::load(&network.join("experiment.toml"), &[]).unwrap();
    }
    let text = std::fs::read_to_string(configs().join("smoke.toml")).unwrap();
    let without = |keys: &[&str]| -> String {
        let is_kept = |line: &&str| !keys.iter().any(|key| line.starts_with(key));
        text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
    };
    let oldest =
        without(&[NEWER_KEYS, NEWER_SECTION, BOUNDS, NEWEST_KEYS, NETWORKS, LADDER].concat());
    let older = Experiment::parse(&oldest, "older", &[]).unwrap();
    let later = Experiment::parse(&without(BOUNDS), "later", &[]).unwrap();
    assert_eq!((later.machine.games_bytes(), later.machine.replay_bytes()), (None, None));
    assert_eq!(older.selfplay.proven_playout_share, 1.0);
    assert_eq!((older.selfplay.resign_below, older.training.surprise_share), (0.0, 0.0));
    let older = Experiment::parse(&without(NETWORKS), "older", &[]).unwrap();
    assert_eq!(older.machine.networks_bytes(), None);
    let older = Experiment::parse(&without(LADDER), "older", &[]).unwrap();
    assert_eq!(older.arena.ladder_pairs, 0);
    let older = Experiment::parse(&without(NEWEST_KEYS), "older", &[]).unwrap();
    assert_eq!((older.training.learning_retries, older.machine.disk_reserve_mebibytes), (0, 0));
    // Who has one of the keys has to have them all.
    for key in NEWER_KEYS.iter().chain(BOUNDS).chain(NEWEST_KEYS) {
        let message = Experiment::parse(&without(&[key]), "new", &[]).unwrap_err().to_string();
        assert!(message.contains(key) && message.contains("missing"), "{message}");
    }
}

#[test]
fn simulations_follow_the_generation() {
    let set =
        ["selfplay.full_simulations=[[10, 32], [20, 37]]", "selfplay.cheap_simulations=[[0, 8]]"];
    let experiment = smoke(&set);
    let rules = Arc::new(keiko_rules::Rules::load(&experiment.rules).unwrap());
    // Half a simulation more each generation, rounded.
    for (generation, full) in [(0, 32), (10, 32), (11, 33), (12, 33), (20, 37), (999, 37)] {
        let selfplay = experiment.selfplay(&rules, 0, generation);
        assert_eq!((selfplay.full_simulations, selfplay.cheap_simulations), (full, 8));
    }
    assert_eq!(
        smoke(&["selfplay.full_simulations=32"]).selfplay(&rules, 0, 7).full_simulations,
        32
    );
    let refused = |text: &str| {
        let set = [format!("selfplay.full_simulations={text}")];
        Experiment::load(&configs().join("smoke.toml"), &set).unwrap_err().to_string()
    };
    for (text, words) in [
        ("0", "selfplay.full_simulations = 0: allowed is 1 to 1000000"),
        ("[[0, 32], [9, 0.5]]", "[[0, 32], [9, 0.5]]: allowed is 1 to 1000000"),
        ("[[9, 32], [9, 64]]", "points must rise"),
        ("[]", "needs a point"),
        ("many", "expected a number, or points"),
    ] {
        let message = refused(text);
        assert!(message.contains(words) && message.contains("full_simulations"), "{message}");
    }
}

#[test]
fn steps_follow_from_samples_and_the_window_from_games() {
    let set =
        ["training.samples_per_position=4.0", "training.batch_size=64", "training.micro_batch=64"];
    let experiment = smoke(&set);
    // 1,000 positions drawn 4 times in batches of 64.
    assert_eq!(experiment.steps_due(4000.0), 62);
    // Never none, so that each generation's report has a step of its own.
    assert_eq!(experiment.steps_due(-10.0), 1);
    let experiment = smoke(&["training.window_games=100", "training.window_exponent=0.5"]);
    assert_eq!(experiment.window(50), 100);
    assert_eq!(experiment.window(400), 200);
    assert_eq!(
        smoke(&["training.window_games=100", "training.window_exponent=0"]).window(400),
        100
    );
}

#[test]
fn starts_that_cannot_be_meant_are_refused() {
    let refused = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Experiment::load(&configs().join("smoke.toml"), &overrides).unwrap_err().to_string()
    };
    let message = refused(&["selfplay.archive_share=0.5", "selfplay.random_opening_share=0.6"]);
    assert!(message.contains("+ archive_share = 1.3: allowed is 1 at most"), "{message}");
    let message = refused(&["selfplay.handicap_share=0.1"]);
    assert!(message.contains("0.1: allowed is 0 where the game has no handicaps"), "{message}");
    smoke(&["selfplay.handicap_share=0.1", "rules=minishogi"]);
    let message = refused(&["selfplay.sampled_opening_plies=80"]);
    assert!(
        message.contains("sampled_opening_plies = 80: allowed is 1 or more, below"),
        "{message}"
    );
}

#[test]
fn bounds_that_leave_no_room_are_refused() {
    let path = configs().join("smoke.toml");
    for (set, allowed) in [
        ("machine.games_mebibytes = 15", "0, or 16 to"),
        ("machine.replay_mebibytes = 1", "0, or 16 to"),
        ("machine.keep_every = 2000000000", "0 to 1000000000"),
        ("machine.keep_checkpoints = 1", "2 to 1000"),
    ] {
        let message = Experiment::load(&path, &[set.to_owned()]).unwrap_err().to_string();
        assert!(message.contains(&format!("{set}: allowed is {allowed}")), "{message}");
    }
    let bounded = smoke(&["machine.games_mebibytes=64", "machine.replay_mebibytes=0"]);
    assert_eq!(bounded.machine.games_bytes(), Some(64 << 20));
    assert_eq!(bounded.machine.replay_bytes(), None);
}

#[test]
fn changes_are_named_and_judged() {
    let changes =
        smoke(&[]).changes(&smoke(&["machine.workers=7", "seed=9", "arena.simulations=5"]));
    let found: Vec<_> = changes
        .iter()
        .map(|c| (c.key.as_str(), c.was.as_str(), c.is.as_str(), c.allowed))
        .collect();
    let expected = [
        ("arena.simulations", "16", "5", true),
        ("machine.workers", "2", "7", true),
        ("seed", "1", "9", false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_gpu_is_driven_by_one_thread_in_full_precision() {
    let gpu = ["machine.device=cuda:1", "machine.workers=1", "inference.precision=f32"];
    assert_eq!(smoke(&gpu).machine.device.to_string(), "cuda:1");
    let refused = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Experiment::load(&configs().join("smoke.toml"), &overrides).unwrap_err().to_string()
    };
    let message = refused(&["machine.device=cuda:1", "inference.precision=f32"]);
    assert!(
        message.contains("machine.workers = 2: allowed is 1 where machine.device"),
        "{message}"
    );
    let message = refused(&["machine.device=cuda:1", "machine.workers=1"]);
    assert!(message.contains("inference.precision = int8: allowed is f32 where"), "{message}");
    let change = &smoke(&gpu[1..]).changes(&smoke(&gpu))[0];
    assert_eq!((change.key.as_str(), change.allowed), ("machine.device", true));
}
