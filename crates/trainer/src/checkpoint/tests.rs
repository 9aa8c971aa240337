//! Which checkpoints are kept.
#![allow(clippy::unwrap_used)]

use super::*;
use keiko_network::Weights;
use keiko_rules::Rules;
use std::sync::Arc;

/// Saves a checkpoint at the beginning of each of these generations, and names what is left.
fn left(dir: &Path, keep: usize, keep_every: u64, generations: std::ops::Range<u64>) -> Vec<u64> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
    let experiment = Experiment::load(path.as_ref(), &[]).unwrap();
    let rules = Arc::new(Rules::load(&experiment.rules).unwrap());
    let encoding = experiment.encoding(&rules);
    let weights = Weights::init(&encoding, experiment.network, 1);
    let learner = Learner::new(encoding, experiment.learner, weights);
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
