//! The networks a run publishes: writing them, whom they are measured against, and which go when
//! the disk has no room for all.

use crate::checkpoint::{Published, State};
use crate::files::io;
use crate::ladder::UNTRAINED;
use crate::run::{Run, RunError};
use crate::train::{Event, Watcher};
use keiko_network::{Network, Provenance, Weights};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Licence of the networks a run publishes.
const LICENCE: &str = "MIT OR Apache-2.0";

/// The folder of them in a run's folder.
const NETWORKS: &str = "networks";

/// Puts the averaged network into `networks/<step>`, unless it is there already.
pub(crate) fn publish(run: &Run) -> Result<Network, RunError> {
    let network = run.network();
    let dir = folder(run, run.learner.steps());
    if Network::load(&dir).is_ok() {
        return Ok(network);
    }
    if dir.exists() {
        std::fs::remove_dir_all(&dir).map_err(io(&dir, "remove the damaged network"))?;
    }
    network.save(&dir)?;
    Ok(network)
}

impl Run {
    /// The averaged network as it stands.
    pub fn network(&self) -> Network {
        let provenance = Provenance {
            step: self.learner.steps(),
            games: self.state.games,
            positions: self.state.positions,
            licence: LICENCE.to_owned(),
        };
        let weights = self.learner.average().clone();
        let calibration = self.calibrate(&weights);
        Network::new(&self.encoding, weights, calibration, provenance)
    }
}

/// Where the network of a step is published.
fn folder(run: &Run, step: u64) -> PathBuf {
    folder_of(run, &name_of(step))
}

/// Where a network of some name is published.
pub(crate) fn folder_of(run: &Run, name: &str) -> PathBuf {
    run.dir.join(NETWORKS).join(name)
}

/// What the network of a step is called, on the disk and on the ladder.
pub(crate) fn name_of(step: u64) -> String {
    format!("{step:09}")
}

/// Whom a network is measured against, and rated by.
pub(crate) struct Rival {
    /// Its learner step, where it is not the untrained network.
    step: Option<u64>,
    pub(crate) weights: Weights,
    pub(crate) elo: f64,
    pub(crate) margin: f64,
}

impl Rival {
    /// The network published long enough before `generation`, or the newest before it that can be
    /// read, where somebody should know; at first the untrained one, whose strength is the zero of
    /// all ratings. (Uniform random play is no zero: a network that wins every game against it is
    /// too far above for any interval.)
    pub(crate) fn of(run: &Run, generation: u64, watcher: &dyn Watcher) -> Rival {
        let index = rival(&run.state, generation, run.experiment.arena.rival_age);
        let candidates = index.map_or(&[][..], |index| &run.state.published[..=index]);
        for (place, older) in candidates.iter().rev().enumerate() {
            match Network::load(&folder(run, older.step)) {
                Ok(network) => return Rival::published(older, network.weights),
                // Some of the others were thinned out.
                Err(error) if place == 0 => {
                    let message = format!("{error}; an older one is the rival");
                    watcher.tell(&Event::Notice { message: &message });
                }
                Err(_) => {}
            }
        }
        let weights = run.experiment.initial_weights(&run.encoding);
        Rival { step: None, weights, elo: 0.0, margin: 0.0 }
    }

    fn published(one: &Published, weights: Weights) -> Rival {
        Rival { step: Some(one.step), weights, elo: one.elo, margin: one.margin }
    }

    /// What it is called, for people.
    pub(crate) fn name(&self) -> String {
        self.step.map_or("the untrained network".to_owned(), |step| format!("network {step}"))
    }

    /// What it is called on the ladder.
    pub(crate) fn name_on_ladder(&self) -> String {
        self.step.map_or(UNTRAINED.to_owned(), name_of)
    }
}

/// The newest network published at least `age` generations before `generation`.
fn rival(state: &State, generation: u64, age: u64) -> Option<usize> {
    state.published.iter().rposition(|one| one.generation + age <= generation)
}

/// Networks with odd numbers, counted from 0 in the order of publishing, play on the ladder while
/// they are among so many newest ones; odd multiples of 2 twice as long, of 4 four times, and so on.
/// So there are few at a time, at distances that double, and who is gone never comes back.
const NEWEST_ON_LADDER: u64 = 4;

/// The networks that play on the ladder, oldest first; the last one is the newest of all.
pub(crate) fn on_ladder(state: &State) -> impl Iterator<Item = &Published> {
    let newest = state.published.len().saturating_sub(1);
    let plays = move |number: usize| {
        // The first one's zeros are as many as a number has bits.
        let spacing = 1u64.checked_shl(number.trailing_zeros());
        spacing.is_none_or(|it| ((newest - number) as u64) < NEWEST_ON_LADDER.saturating_mul(it))
    };
    let numbered = state.published.iter().enumerate();
    numbered.filter(move |&(number, _)| plays(number)).map(|(_, one)| one)
}

/// Removes networks until the others fit in `bytes`, none that is a rival of the run or plays on its
/// ladder, or would if it went on from one of `states`. Of those left each has the same distance to the next, or
/// twice that: first every second goes, the oldest first, then every second of the rest, and so on.
pub(crate) fn thin_out(run: &Run, bytes: u64, states: &[State]) -> Result<Vec<u64>, RunError> {
    let arena = &run.experiment.arena;
    let rivals = states.iter().chain([&run.state]).flat_map(|state| {
        // Later ones are rivals of later networks.
        let first = rival(state, state.generation, arena.rival_age).unwrap_or(0);
        state.published[first..].iter().map(|one| one.step)
    });
    let mut needed: BTreeSet<u64> = rivals.collect();
    if arena.ladder_pairs > 0 {
        let playing = states.iter().chain([&run.state]).flat_map(on_ladder);
        needed.extend(playing.map(|one| one.step));
    }
    let mut sizes = Vec::new();
    for one in &run.state.published {
        let dir = folder(run, one.step);
        // Somebody may have removed it.
        if dir.exists() {
            sizes.push((one, size(&dir)?));
        }
    }
    let mut taken: u64 = sizes.iter().map(|(_, size)| size).sum();
    sizes.retain(|(one, _)| !needed.contains(&one.step));
    sizes.sort_by_key(|(one, _)| removal_order(one, arena.every));
    let mut removed = Vec::new();
    for (one, size) in sizes {
        if taken <= bytes {
            break;
        }
        let dir = folder(run, one.step);
        std::fs::remove_dir_all(&dir).map_err(io(&dir, "remove the folder"))?;
        taken -= size;
        removed.push(one.step);
    }
    Ok(removed)
}

/// Odd numbers come first, then odd multiples of 2, of 4, and so on; the first network of all is
/// the last to go.
fn removal_order(one: &Published, every: u64) -> (u32, u64) {
    ((one.generation / every).trailing_zeros(), one.generation)
}

fn size(dir: &Path) -> Result<u64, RunError> {
    let entries = std::fs::read_dir(dir).map_err(io(dir, "list the folder"))?;
    let mut sum = 0;
    for entry in entries {
        sum += entry.and_then(|entry| entry.metadata()).map_err(io(dir, "list the folder"))?.len();
    }
    Ok(sum)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn published(generation: u64) -> Published {
        Published { generation, step: 10 * generation, elo: 0.0, margin: 0.0 }
    }

    #[test]
    fn distances_between_the_networks_left_double() {
        let mut order: Vec<Published> = (0..=8).map(|number| published(4 * number)).collect();
        order.sort_by_key(|one| removal_order(one, 4));
        let numbers: Vec<u64> = order.iter().map(|one| one.generation / 4).collect();
        assert_eq!(numbers, [1, 3, 5, 7, 2, 6, 4, 8, 0]);
    }

    /// A run of nine generations, each with a network of 100 bytes.
    fn nine_networks(dir: &Path, sets: &[&str]) -> Run {
        let smoke = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let experiment = crate::Experiment::load(Path::new(smoke), &sets).unwrap();
        let (mut run, _) = Run::open(&dir.join("run"), &experiment).unwrap();
        run.state.published = (0..=8).map(published).collect();
        run.state.generation = 9;
        for one in &run.state.published {
            let folder = folder(&run, one.step);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("weights"), [0; 100]).unwrap();
        }
        run
    }

    #[test]
    fn networks_beyond_the_bound_go_but_rivals_stay() {
        let dir = tempfile::tempdir().unwrap();
        let sets = ["arena.every=1", "arena.rival_age=2", "arena.ladder_pairs=0"];
        let run = nine_networks(dir.path(), &sets);
        let kept =
            State { generation: 5, published: (0..=4).map(published).collect(), ..State::new() };
        assert_eq!(thin_out(&run, 900, &[]).unwrap(), [0; 0]);
        assert_eq!(thin_out(&run, 700, std::slice::from_ref(&kept)).unwrap(), [10, 50]);
        assert_eq!(thin_out(&run, 0, std::slice::from_ref(&kept)).unwrap(), [20, 60, 0]);
        // Its checkpoint is gone, and so is what it needed.
        assert_eq!(thin_out(&run, 300, &[]).unwrap(), [30]);
        let left: Vec<u64> = (0..=8).filter(|&it| folder(&run, 10 * it).exists()).collect();
        assert_eq!(left, [4, 7, 8]);
    }

    #[test]
    fn networks_on_the_ladder_are_few_and_never_come_back() {
        let steps = |count: u64| -> Vec<u64> {
            let published = (0..count).map(published).collect();
            on_ladder(&State { published, ..State::new() }).map(|one| one.step / 10).collect()
        };
        assert_eq!(steps(0), [0; 0]);
        assert_eq!(steps(9), [0, 2, 4, 5, 6, 7, 8]);
        let mut before = steps(1);
        for count in 2..2000 {
            let now = steps(count);
            let newest = count - 1;
            assert_eq!(now.last(), Some(&newest));
            assert!(now.len() < 28 && now.iter().all(|it| before.contains(it) || *it == newest));
            before = now;
        }
    }

    #[test]
    fn networks_that_play_on_the_ladder_stay() {
        let dir = tempfile::tempdir().unwrap();
        let run = nine_networks(dir.path(), &["arena.every=1", "arena.ladder_pairs=1"]);
        assert_eq!(thin_out(&run, 0, &[]).unwrap(), [10, 30]);
    }

    #[test]
    fn a_rival_is_old_enough() {
        let state = State { published: (0..5).map(published).collect(), ..State::new() };
        assert_eq!(rival(&state, 4, 2), Some(2));
        assert_eq!(rival(&state, 1, 2), None);
    }
}
