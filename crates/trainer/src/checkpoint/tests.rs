//! Which checkpoints are kept, and that no damaged one is used.
#![allow(clippy::unwrap_used)]

use super::*;
use keiko_network::Weights;
use keiko_rules::Rules;
use keiko_selfplay::{Purpose, generator};
use rand::RngExt;
use std::sync::Arc;

fn learner() -> Learner {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
    let set = ["network.channels=8".to_owned()];
    let experiment = Experiment::load(path.as_ref(), &set).unwrap();
    let rules = Arc::new(Rules::load(&experiment.rules).unwrap());
    let encoding = experiment.encoding(&rules);
    let weights = Weights::init(&encoding, experiment.network, 1);
    Learner::new(encoding, experiment.learner, weights)
}

/// Saves a checkpoint at the beginning of each of these generations, and names what is left.
fn left(dir: &Path, keep: usize, keep_every: u64, generations: std::ops::Range<u64>) -> Vec<u64> {
    let learner = learner();
    let checkpoints = Checkpoints { dir: dir.to_owned(), keep, keep_every };
    for generation in generations {
        // Twice: a run that is stopped at once is saved again, under another name.
        for phase in [Phase::Play, Phase::Learn] {
            let games = 100 * generation;
            let state = State { generation, phase, games, ..State::new() };
            checkpoints.save(&state, &learner, None, None).unwrap();
        }
    }
    let states = checkpoints.states().unwrap();
    let mut games: Vec<u64> = states.iter().map(|state| state.games).collect();
    let mut left: Vec<u64> = newest_first(&checkpoints.dir)
        .unwrap()
        .iter()
        .map(|dir| generation_of(dir).unwrap())
        .collect();
    games.reverse();
    left.reverse();
    assert_eq!(games, left.iter().map(|generation| 100 * generation).collect::<Vec<_>>());
    left
}

#[test]
fn the_newest_are_kept_and_some_for_good() {
    let folder = || tempfile::tempdir().unwrap();
    assert_eq!(left(folder().path(), 2, 0, 0..9), [8, 8]);
    assert_eq!(left(folder().path(), 3, 0, 0..9), [7, 8, 8]);
    assert_eq!(left(folder().path(), 2, 3, 0..9), [3, 6, 8, 8]);
    assert_eq!(left(folder().path(), 3, 4, 0..9), [4, 7, 8, 8]);
}

#[test]
fn a_damaged_checkpoint_is_no_reason_to_remove_a_sound_one() {
    let folder = tempfile::tempdir().unwrap();
    left(folder.path(), 2, 0, 0..3);
    let newest = folder.path().join("00000002-1-000000000").join(STATE_FILE);
    std::fs::write(&newest, "{}").unwrap();
    let names = |dir: &Path| {
        let mut names: Vec<_> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.iter().map(|name| name[..10].to_owned()).collect::<Vec<_>>()
    };
    let checkpoints = Checkpoints { dir: folder.path().to_owned(), keep: 2, keep_every: 0 };
    // The damaged one is the newest, and older ones follow it in time: from which the run went on.
    checkpoints.remove_old().unwrap();
    assert_eq!(names(folder.path()), ["00000002-0", "00000002-1"]);
    let older = folder.path().join("00000001-1-000000000");
    let sound = folder.path().join("00000002-0-000000000");
    std::fs::create_dir(&older).unwrap();
    for entry in std::fs::read_dir(&sound).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, older.join(path.file_name().unwrap())).unwrap();
    }
    checkpoints.remove_old().unwrap();
    assert_eq!(names(folder.path()), ["00000001-1", "00000002-0", "00000002-1"]);
}

#[test]
fn what_is_no_checkpoint_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["0-notes.txt", "zzz.txt", "mine", "00000001-0-000000000.bak"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let checkpoints = Checkpoints { dir: folder.path().to_owned(), keep: 2, keep_every: 0 };
    let (learner, state) = (learner(), State::new());
    for generation in 0..5 {
        checkpoints.save(&State { generation, ..state.clone() }, &learner, None, None).unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2 + 4);
    let restored = checkpoints.load(|_| Ok(learner.clone())).unwrap();
    assert!(restored.1.is_empty(), "{:?}", restored.1);
}

/// Damages the newer of two checkpoints in a hundred ways in each of its files: the older one is
/// used, and the reason names a file.
fn damage_each(spoil: impl Fn(&mut Vec<u8>, usize, u8)) {
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints { dir: folder.path().to_owned(), keep: 2, keep_every: 0 };
    let learner = learner();
    let snapshot = learner.snapshot();
    for generation in [3, 4] {
        let state = State { generation, games: 100 * generation, ..State::new() };
        checkpoints.save(&state, &learner, Some(&snapshot), Some(&learner)).unwrap();
    }
    let newest = newest_first(folder.path()).unwrap().remove(0);
    let restore = |path: &Path| {
        let mut restored = learner.clone();
        restored.load_state(path).map_err(|error| error.to_string())?;
        Ok(restored)
    };
    let load = || {
        let (saved, reasons) = checkpoints.load(restore).unwrap();
        (saved.state.games, reasons)
    };
    assert_eq!(load(), (400, vec![]));
    let files = std::fs::read_dir(&newest).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files.collect();
    assert_eq!(files.len(), 5);
    let mut rng = generator(5, Purpose::Batch, 0);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for _ in 0..100 {
            let mut damaged = bytes.clone();
            let at = rng.random_range(0..bytes.len());
            spoil(&mut damaged, at, rng.random_range(1..=u8::MAX));
            std::fs::write(&file, damaged).unwrap();
            let (games, reasons) = load();
            assert_eq!((games, reasons.len()), (300, 1), "{}", file.display());
            assert!(reasons[0].contains(&newest.display().to_string()), "{reasons:?}");
            // The list may be what is damaged.
            let name = file.display().to_string();
            let is_named = reasons[0].contains(&name) || file.ends_with(SUMS_FILE);
            assert!(is_named, "{name}: {reasons:?}");
            // Who only looks is not misled either.
            let (seen, _, complaints) = peek(folder.path()).unwrap();
            let is_newest = seen.games == 400 && complaints.is_empty();
            assert!(is_newest || (seen.games == 300 && complaints.len() == 1), "{complaints:?}");
            assert!(!is_newest || !file.ends_with(STATE_FILE));
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(load().0, 300, "{}", file.display());
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(load(), (400, vec![]));
    }
}

#[test]
fn a_flipped_byte_is_found_wherever_it_is() {
    damage_each(|bytes, at, bits| bytes[at] ^= bits);
}

#[test]
fn a_file_that_was_cut_is_found_wherever_it_was() {
    // Now and then all of it is gone.
    damage_each(|bytes, at, _| bytes.truncate(at.saturating_sub(bytes.len() / 20)));
}
