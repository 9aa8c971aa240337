//! Laws of a run: threads, batches and interruptions change not a bit of it.
#![allow(clippy::unwrap_used)]

use keiko_selfplay::GameRecord;
use keiko_trainer::ladder::Ladder;
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
        "arena.ladder_pairs=5",
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

/// Who the ladder's games are played by, in events.
const LADDER: &str = "the ladder's players";

/// Both ways to go on from generation to generation.
const OVERLAPS: [&str; 2] = ["training.overlap=0", "training.overlap=1"];

#[test]
fn workers_and_batches_change_nothing() {
    let kinds = ["search.kind=gumbel", "search.kind=puct"];
    for (overlap, kind) in OVERLAPS.iter().flat_map(|&it| kinds.map(|kind| (it, kind))) {
        let folder = tempfile::tempdir().unwrap();
        let run = |name: &str, overrides: &[&str]| {
            let dir = folder.path().join(name);
            finish(&dir, &tiny(&[&[overlap, kind], overrides].concat()));
            remains(&dir)
        };
        let one = run("one", &["machine.workers=1"]);
        assert_eq!(one.games.len(), 60);
        assert_eq!(one.networks.len(), 3 - usize::from(overlap == OVERLAPS[1]));
        assert!(one.metrics.iter().any(|line| line.scalars.contains_key("arena/elo")));
        assert_on_ladder(&one);
        assert!(one.metrics.iter().any(|line| line.scalars.contains_key("loss_holdout/policy_kl")));
        assert_all_is_used(&one);
        let two = run("two", &["machine.workers=2", "machine.cache=0"]);
        assert_same(&one, &two, "two workers");
        let set = ["machine.workers=3", "machine.batch=5", "machine.cache=37"];
        assert_same(&one, &run("three", &set), "three workers");
        assert!(one.games != run("another", &["seed=2"]).games);
    }
}

/// Every published network has a rating with an interval, among random play.
fn assert_on_ladder(run: &Remains) {
    let rated: Vec<&Line> =
        run.metrics.iter().filter(|line| line.scalars.contains_key("ladder/elo")).collect();
    assert_eq!(rated.len(), run.networks.len());
    for line in rated {
        let value = |tag: &str| line.scalars[tag].unwrap();
        assert!(value("ladder/elo_low") < value("ladder/elo"));
        assert!(value("ladder/elo") < value("ladder/elo_high"));
        assert!(value("ladder/random").abs() < 1000.0);
    }
}

/// Games of the run begin and end in every way there is, and simulations follow their schedule.
fn assert_all_is_used(run: &Remains) {
    for kind in ["normal", "handicap", "sampled", "random", "archive"] {
        let tag = format!("selfplay/starts_{kind}");
        assert!(run.metrics.iter().any(|line| line.scalars[&tag] > Some(0.0)), "{kind}");
    }
    for reason in ["proven", "resignation"] {
        let tag = format!("selfplay/ends_{reason}");
        assert!(run.metrics.iter().any(|line| line.scalars[&tag] > Some(0.0)), "{reason}");
    }
    let simulations = |line: &Line| line.scalars["selfplay/full_simulations"];
    let all: Vec<_> = run.metrics.iter().map(simulations).collect();
    assert_eq!(all, [12.0, 16.0, 16.0].map(Some));
}

#[test]
fn interruptions_change_nothing() {
    type Wanted = fn(&Event<'_>) -> bool;
    // With overlap the last generation has the steps of the one before beside its games.
    for (overlap, beside) in OVERLAPS.into_iter().zip([0, 9]) {
        let is_ladders =
            |event: &Event<'_>| matches!(event, Event::Measuring { rival: LADDER, .. });
        let places: [(&str, Wanted, u32); 7] = [
            ("playing", |event| matches!(event, Event::Playing { .. }), 7),
            ("playing-later", |event| matches!(event, Event::Playing { .. }), 33),
            ("learning", |event| matches!(event, Event::Learning { generation: 1, .. }), 2),
            ("at-last", |event| matches!(event, Event::Learning { generation: 2, .. }), beside + 5),
            ("measuring", |event| matches!(event, Event::Measuring { .. }), 3),
            // The second round of two.
            ("on-the-ladder", is_ladders, 9),
            ("between", |event| matches!(event, Event::Generation { .. }), 2),
        ];
        let folder = tempfile::tempdir().unwrap();
        let experiment = tiny(&[overlap]);
        let unbroken = folder.path().join("unbroken");
        finish(&unbroken, &experiment);
        let unbroken = remains(&unbroken);
        for (name, wanted, nth) in places {
            let dir = folder.path().join(name);
            let name = format!("{name}, {overlap}");
            assert_eq!(go_on(&dir, &experiment, wanted, nth), Finish::Stopped, "{name}");
            // And once more, soon after, on fewer cores.
            let alone = tiny(&[overlap, "machine.workers=1"]);
            assert_eq!(go_on(&dir, &alone, |_| true, 1), Finish::Stopped, "{name}");
            finish(&dir, &experiment);
            assert_same(&remains(&dir), &unbroken, &name);
        }
    }
}

/// Copies a run's folder at the nth event of a kind: what is there when the power fails.
struct CopyAt<'a> {
    from: &'a Path,
    to: &'a Path,
    wanted: fn(&Event<'_>) -> bool,
    left: AtomicU32,
}

impl Watcher for CopyAt<'_> {
    fn tell(&self, event: &Event<'_>) {
        if (self.wanted)(event) && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            copy(self.from, self.to);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), &target).unwrap()),
        }
    }
}

#[test]
fn a_run_that_was_killed_goes_on_exactly() {
    for overlap in OVERLAPS {
        let folder = tempfile::tempdir().unwrap();
        let experiment = tiny(&[overlap]);
        let unbroken = folder.path().join("unbroken");
        let copied = |name: &str, wanted: fn(&Event<'_>) -> bool, nth| {
            let (dir, killed) =
                (folder.path().join(name), folder.path().join("killed-".to_owned() + name));
            let (mut run, _) = Run::open(&dir, &experiment).unwrap();
            let watcher = CopyAt { from: &dir, to: &killed, wanted, left: AtomicU32::new(nth) };
            assert_eq!(train(&mut run, &watcher, &AtomicBool::new(false)).unwrap(), Finish::Done);
            killed
        };
        let playing = copied("unbroken", |event| matches!(event, Event::Playing { .. }), 50);
        let measuring = copied("measuring", |event| matches!(event, Event::Measuring { .. }), 12);
        let ladder =
            copied("ladder", |event| matches!(event, Event::Measuring { rival: LADDER, .. }), 13);
        let newest = |dir: &Path| {
            std::fs::read_dir(dir.join("state")).unwrap().map(|e| e.unwrap().file_name()).max()
        };
        for killed in [playing, measuring, ladder] {
            assert!(newest(&killed) < newest(&unbroken), "killed on the way");
            finish(&killed, &experiment);
            assert_same(&remains(&killed), &remains(&unbroken), overlap);
        }
    }
}

#[test]
fn the_network_that_plays_lags_by_the_overlap() {
    for (overlap, lag) in OVERLAPS.into_iter().zip([1, 2]) {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("run");
        finish(&dir, &tiny(&[overlap]));
        let remains = remains(&dir);
        // Steps at which a generation was learned, whichever report it is in.
        let learned = |generation: usize| {
            let reports: Vec<_> =
                remains.metrics.iter().filter(|l| l.scalars.contains_key("loss/total")).collect();
            reports[generation].step
        };
        for game in &remains.games {
            let generation = game.number as usize / 20;
            let expected = generation.checked_sub(lag).map_or(0, learned);
            assert_eq!(game.network, expected, "{overlap}: game {}", game.number);
        }
    }
}

#[test]
fn generations_asked_for_later_are_the_same() {
    for overlap in OVERLAPS {
        let folder = tempfile::tempdir().unwrap();
        let (at_once, later) = (folder.path().join("at-once"), folder.path().join("later"));
        finish(&at_once, &tiny(&[overlap, "training.generations=4"]));
        finish(&later, &tiny(&[overlap, "training.generations=2"]));
        finish(&later, &tiny(&[overlap, "training.generations=4"]));
        let (at_once, later) = (remains(&at_once), remains(&later));
        assert!(at_once.games == later.games, "{overlap}: other games");
        assert!(at_once.learner == later.learner, "{overlap}: another learner");
    }
}

#[test]
fn idle_time_is_told() {
    let folder = tempfile::tempdir().unwrap();
    finish(folder.path().join("run").as_path(), &tiny(&["training.overlap=1"]));
    let lines = keiko_trainer::metrics::read_lines(&folder.path().join("run")).unwrap();
    for line in lines.iter().filter(|line| line.scalars.contains_key("system/busy_share")) {
        let figure = |name: &str| line.scalars[&format!("system/{name}")].unwrap();
        assert!((0.0..=1.0).contains(&figure("busy_share")), "{line:?}");
        for cause in ["playing", "learning", "measuring", "saving"] {
            assert!(figure(&format!("idle_{cause}")) >= 0.0, "{line:?}");
        }
    }
    let told = lines.iter().filter(|line| line.scalars.contains_key("system/busy_share")).count();
    assert_eq!(told, if cfg!(target_os = "linux") { 3 } else { 0 });
}

/// Makes other counters of a checkpoint's, with their checksum.
fn edit_state(
    checkpoint: &Path,
    edit: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>),
) {
    let (file, sums) = ("state.json", checkpoint.join("crc32.txt"));
    let path = checkpoint.join(file);
    let text = std::fs::read(&path).unwrap();
    let mut state: serde_json::Value = serde_json::from_slice(&text).unwrap();
    edit(state.as_object_mut().unwrap());
    let other = serde_json::to_vec(&state).unwrap();
    let sum = |bytes: &[u8]| format!("{:08x} {file}", crc32fast::hash(bytes));
    let noted = std::fs::read_to_string(&sums).unwrap().replace(&sum(&text), &sum(&other));
    std::fs::write(path, other).unwrap();
    std::fs::write(sums, noted).unwrap();
}

#[test]
fn a_checkpoint_of_the_first_format_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, dir) = (folder.path().join("unbroken"), folder.path().join("older"));
    let experiment = tiny(&["training.overlap=0"]);
    finish(&unbroken, &experiment);
    go_on(&dir, &experiment, |event| matches!(event, Event::Learning { generation: 1, .. }), 3);
    let newest = std::fs::read_dir(dir.join("state")).unwrap().map(|e| e.unwrap().path()).max();
    edit_state(&newest.unwrap(), |state| {
        // It left the steps of the whole generation among the samples owed.
        let steps = state["due"].as_u64().unwrap() + 3;
        state["owed"] = (state["owed"].as_f64().unwrap() + (steps * 64) as f64).into();
        state["format"] = 1.into();
        state.remove("due");
    });
    let (run, opened) = Run::open(&dir, &experiment).unwrap();
    assert!(opened.warnings.is_empty(), "{:?}", opened.warnings);
    drop(run);
    finish(&dir, &experiment);
    assert_same(&remains(&dir), &remains(&unbroken), "older");
}

#[test]
fn the_ladder_begins_anew_where_it_was_not_or_its_players_become_others() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let with = |more: &[&str]| tiny(&[&["arena.every=1", "arena.rival_age=1"], more].concat());
    let games = |dir: &Path| {
        let ladder = Ladder::of_run(dir).unwrap();
        (0..ladder.players().len()).map(|player| ladder.games_of(player)).sum::<u64>() / 2
    };
    // Each of three networks: 4 games against random play, 6 against the rival, 10 of the ladder.
    finish(&dir, &with(&[]));
    assert_eq!(games(&dir), 60);
    // An older keiko kept none of them.
    let newest = std::fs::read_dir(dir.join("state")).unwrap().map(|e| e.unwrap().path()).max();
    edit_state(&newest.unwrap(), |state| drop(state.remove("ladder").unwrap()));
    assert_eq!(games(&dir), 0);
    finish(&dir, &with(&["training.generations=4"]));
    assert_eq!(games(&dir), 20);
    let lines = comparable(&dir).unwrap();
    assert!(lines.last().unwrap().scalars["ladder/elo"].is_some());
    // A ladder that is told to end is kept, for more to come; one of other players is not.
    finish(&dir, &with(&["training.generations=5", "arena.ladder_pairs=0"]));
    assert_eq!(games(&dir), 30);
    assert!(!comparable(&dir).unwrap().last().unwrap().scalars.contains_key("ladder/elo"));
    finish(&dir, &with(&["training.generations=6", "arena.simulations=7"]));
    assert_eq!(games(&dir), 20);
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
    let message = Run::open(&dir, &tiny(&["training.overlap=1"])).err().unwrap().to_string();
    assert!(message.contains("training.overlap: 0 -> 1"), "{message}");
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
