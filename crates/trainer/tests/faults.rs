//! What goes wrong in a run: panics, numbers that are none, too little memory. It ends with a
//! message, and goes on as if nothing had been.
#![allow(clippy::unwrap_used)]

use keiko_trainer::metrics::{Line, Metrics, MetricsPosition, comparable, read_lines};
use keiko_trainer::{Event, Experiment, Finish, Run, RunError, Watcher, train};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The smoke experiment, smaller still.
fn tiny(overrides: &[&str]) -> Experiment {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    let smaller = [
        "training.games_per_generation=20",
        "network.channels=8",
        "arena.random_pairs=2",
        "arena.rival_pairs=3",
        "training.overlap=1",
        "training.generations=3",
    ];
    let all: Vec<String> = smaller.iter().chain(overrides).map(|&text| text.to_owned()).collect();
    Experiment::load(&path, &all).unwrap()
}

/// What a watcher does at the nth event of a kind.
enum Deed {
    Panic,
    Stop,
}

/// Notes what is said, and does its deed once.
struct At<'a> {
    wanted: fn(&Event<'_>) -> bool,
    left: AtomicU32,
    deed: Deed,
    stop: &'a AtomicBool,
    notices: Mutex<Vec<String>>,
}

impl Watcher for At<'_> {
    fn tell(&self, event: &Event<'_>) {
        if let Event::Notice { message } = event {
            self.notices.lock().unwrap().push((*message).to_owned());
        }
        if (self.wanted)(event) && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            match self.deed {
                Deed::Panic => panic!("the roof fell in"),
                Deed::Stop => self.stop.store(true, Ordering::Relaxed),
            }
        }
    }
}

/// How a run ended, and its notices.
fn go_on(
    dir: &Path,
    experiment: &Experiment,
    (wanted, nth, deed): (fn(&Event<'_>) -> bool, u32, Deed),
) -> (Result<Finish, RunError>, Vec<String>) {
    let (mut run, _) = Run::open(dir, experiment).unwrap();
    let stop = AtomicBool::new(false);
    let (left, notices) = (AtomicU32::new(nth), Mutex::default());
    let watcher = At { wanted, left, deed, stop: &stop, notices };
    let finish = train(&mut run, &watcher, &stop);
    (finish, watcher.notices.into_inner().unwrap())
}

fn finish(dir: &Path, experiment: &Experiment) -> Vec<String> {
    let (finish, notices) = go_on(dir, experiment, (|_| false, 0, Deed::Stop));
    assert_eq!(finish.unwrap(), Finish::Done);
    notices
}

/// The figures that no machine may change, and the learner's file.
fn remains(dir: &Path) -> (Vec<Line>, Vec<u8>) {
    let newest = std::fs::read_dir(dir.join("state")).unwrap().map(|it| it.unwrap().path()).max();
    let learner = std::fs::read(newest.unwrap().join("learner.safetensors")).unwrap();
    (comparable(dir).unwrap(), learner)
}

fn assert_same(one: &Path, other: &Path, name: &str) {
    let (one, other) = (remains(one), remains(other));
    assert_eq!(one.0, other.0, "{name}");
    assert!(one.1 == other.1, "{name}: another learner");
}

#[test]
fn a_panic_ends_a_run_that_goes_on_as_if_there_had_been_none() {
    type Wanted = fn(&Event<'_>) -> bool;
    let places: [(&str, Wanted, u32, &str); 4] = [
        ("playing", |event| matches!(event, Event::Playing { .. }), 7, "a self-play worker"),
        ("beside", |event| matches!(event, Event::Learning { .. }), 3, "the learner"),
        (
            "learning",
            |event| matches!(event, Event::Learning { generation: 2, .. }),
            14,
            "the learner",
        ),
        ("measuring", |event| matches!(event, Event::Measuring { .. }), 3, "an arena thread"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let unbroken = folder.path().join("unbroken");
    finish(&unbroken, &tiny(&[]));
    for (name, wanted, nth, who) in places {
        for workers in ["machine.workers=1", "machine.workers=3"] {
            let dir = folder.path().join(format!("{name}-{workers}"));
            let experiment = tiny(&[workers]);
            let (ended, _) = go_on(&dir, &experiment, (wanted, nth, Deed::Panic));
            let message = ended.unwrap_err().to_string();
            assert!(message.contains(&format!("{who} panicked: the roof fell in")), "{message}");
            finish(&dir, &experiment);
            assert_same(&dir, &unbroken, name);
        }
    }
}

/// A learning rate that makes numbers overflow within a few steps.
const WILD: [&str; 4] = [
    "network.blocks=16",
    "learner.policy_weight=1e34",
    "training.learning_rate=[[0, 0.002], [12, 0.002], [13, 1.0]]",
    "training.learning_retries=3",
];

#[test]
fn a_learner_that_loses_its_numbers_is_taken_back_and_learns_more_slowly() {
    for overlap in ["training.overlap=0", "training.overlap=1"] {
        let wild = |more: &[&str]| {
            tiny(&[&WILD[..], &["training.retry_rate_factor=0.001"], &[overlap], more].concat())
        };
        let folder = tempfile::tempdir().unwrap();
        let unbroken = folder.path().join("unbroken");
        let notices = finish(&unbroken, &wild(&[]));
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].contains("not finite") && notices[0].contains("retry 1 of 3"));
        let lines = comparable(&unbroken).unwrap();
        let retries = |line: &Line| line.scalars.get("events/learning_retries").copied();
        assert_eq!(lines.iter().filter_map(retries).next_back(), Some(Some(1.0)));
        // Stopped among the steps before and after, and alone.
        for nth in [15, 22] {
            let dir = folder.path().join(nth.to_string());
            let learning: fn(&Event<'_>) -> bool = |event| matches!(event, Event::Learning { .. });
            let (ended, _) = go_on(&dir, &wild(&[]), (learning, nth, Deed::Stop));
            assert_eq!(ended.unwrap(), Finish::Stopped);
            finish(&dir, &wild(&["machine.workers=1"]));
            assert_same(&dir, &unbroken, &format!("{overlap}, {nth}"));
        }
    }
}

#[test]
fn a_learner_that_cannot_be_helped_ends_the_run_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let wild = tiny(&[&WILD[..], &["training.retry_rate_factor=0.9"]].concat());
    let (ended, notices) = go_on(&dir, &wild, (|_| false, 0, Deed::Stop));
    assert_eq!(notices.len(), 3, "{notices:?}");
    let message = ended.unwrap_err().to_string();
    assert!(message.contains("not finite, after 3 retries"), "{message}");
    assert!(message.contains("training.learning_retries"), "{message}");
    // More retries may be asked for, and a smaller rate.
    let tame = tiny(&[&WILD[..2], &["training.learning_retries=9"]].concat());
    finish(&dir, &tame);
}

#[test]
fn a_run_that_takes_too_much_memory_is_saved_and_stops() {
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, dir) = (folder.path().join("unbroken"), folder.path().join("run"));
    finish(&unbroken, &tiny(&[]));
    let (ended, _) =
        go_on(&dir, &tiny(&["machine.memory_mebibytes=1"]), (|_| false, 0, Deed::Stop));
    if cfg!(target_os = "linux") {
        let message = ended.unwrap_err().to_string();
        assert!(message.contains("machine.memory_mebibytes is 1"), "{message}");
    }
    finish(&dir, &tiny(&[]));
    assert_same(&dir, &unbroken, "memory");
}

#[test]
fn a_rival_that_is_damaged_is_replaced_by_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let set = ["training.overlap=0", "arena.every=1", "arena.rival_age=1", "arena.ladder_pairs=0"];
    let generations = |count| {
        let count = format!("training.generations={count}");
        tiny(&[&set[..], &[count.as_str()]].concat())
    };
    assert!(finish(&dir, &generations(2)).is_empty());
    let damage = |number: usize| {
        let networks = std::fs::read_dir(dir.join("networks")).unwrap();
        let mut networks: Vec<_> = networks.map(|entry| entry.unwrap().path()).collect();
        networks.sort();
        std::fs::write(networks[number].join("card.toml"), "damaged").unwrap();
    };
    damage(1);
    let told = |notices: &[String]| notices.len() == 1 && notices[0].contains("card.toml");
    let notices = finish(&dir, &generations(3));
    assert!(told(&notices), "{notices:?}");
    // None is left but the untrained one.
    damage(0);
    damage(2);
    let notices = finish(&dir, &generations(4));
    assert!(told(&notices), "{notices:?}");
    assert!(finish(&dir, &generations(5)).is_empty());
}

#[test]
fn a_network_that_is_damaged_does_not_play_on_the_ladder() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let set = ["training.overlap=0", "arena.every=1", "arena.rival_age=1", "arena.ladder_pairs=60"];
    let generations = |count| {
        let count = format!("training.generations={count}");
        tiny(&[&set[..], &[count.as_str()]].concat())
    };
    assert!(finish(&dir, &generations(2)).is_empty());
    let networks = std::fs::read_dir(dir.join("networks")).unwrap();
    let oldest = networks.map(|entry| entry.unwrap().path()).min().unwrap();
    std::fs::remove_dir_all(&oldest).unwrap();
    let notices = finish(&dir, &generations(3));
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].ends_with("it does not play on the ladder"), "{notices:?}");
}

#[test]
fn a_clock_that_goes_back_leaves_metrics_that_load() {
    let folder = tempfile::tempdir().unwrap();
    let mut position = MetricsPosition::default();
    // Far ahead, back, and before there was time.
    for (step, now) in [(1, 2e9), (2, 1e9), (3, 0.0)] {
        let (mut metrics, missing) = Metrics::open(folder.path(), &position, now).unwrap();
        assert!(missing.is_empty(), "{missing:?}");
        metrics.scalar("loss/total", step, 0.5).unwrap();
        metrics.flush(now).unwrap();
        position = metrics.position(now).unwrap();
    }
    let lines = read_lines(folder.path()).unwrap();
    assert_eq!(lines.iter().map(|line| line.step).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(lines.iter().all(|line| line.wall_time.is_finite() && line.wall_time >= 0.0));
}
