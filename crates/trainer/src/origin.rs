//! Runs that begin with what was learned before: forks of a run, and a published network's weights.

use crate::checkpoint::{CheckpointError, Checkpoints, Saved, State};
use crate::experiment::{Change, Experiment};
use crate::files::{io, sync, write_file};
use crate::ladder::{Ladder, rounds};
use crate::run::{
    EXPERIMENT, FOLDERS, RunError, create_alone, is_run, load_rules, restore_learner,
};
use crate::store::Store;
use keiko_network::{Learner, Network};
use keiko_rules::Rules;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Where a run came from, if not from nothing: a file of its folder.
const ORIGIN: &str = "origin.toml";

/// Where a run came from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Origin {
    /// A checkpoint of another run.
    Run { path: String, generation: u64, step: u64, changes: Vec<String> },
    /// A published network's weights.
    Network { path: String, step: u64, sha256: String },
}

/// A run that was made from another.
#[derive(Debug)]
pub struct Forked {
    /// The generation it goes on with.
    pub generation: u64,
    /// Learner steps behind it.
    pub step: u64,
    /// Settings that differ from those of the other.
    pub changes: Vec<Change>,
    /// Checkpoints of the other that could not be used.
    pub warnings: Vec<String>,
}

/// Makes a new run in `to` of the newest checkpoint of the run in `from`, with `KEY=VALUE`
/// overrides of its settings. The other may be going on meanwhile: nothing of it is touched. The
/// games of its unfinished generation stay behind.
///
/// # Errors
/// When `from` is no run, `to` exists, the settings are impossible or of another game or shape, or
/// something cannot be read or written.
pub fn fork(from: &Path, to: &Path, overrides: &[String]) -> Result<Forked, RunError> {
    if !is_run(from)? {
        return Err(RunError::NoRun(from.to_owned()));
    }
    let file = from.join(EXPERIMENT);
    let was = Experiment::load(&file, &[]).map_err(RunError::RunExperiment)?;
    let experiment = Experiment::load(&file, overrides)?;
    let changes = was.changes(&experiment);
    same_shapes(from, &changes)?;
    let rules = Arc::new(same_rules(from, &experiment)?);
    let encoding = experiment.encoding(&rules);
    let checkpoints = Checkpoints::new(from.join("state"), &was.machine);
    let restore = |path: &Path| restore_learner(path, &encoding, &experiment);
    let (mut saved, warnings) = checkpoints.load(restore)?;
    saved.state.update(&was);
    if rounds::are_others(&changes) {
        saved.state.ladder = Ladder::default();
    }
    let (generation, step) = (saved.state.generation, saved.learner.steps());
    let origin = Origin::Run {
        path: from.display().to_string(),
        generation,
        step,
        changes: changes.iter().map(Change::to_string).collect(),
    };
    make(to, &experiment, &rules, &saved, &origin, |folder| copy_past(from, folder, &saved.state))?;
    Ok(Forked { generation, step, changes, warnings })
}

/// Makes a new run in `dir` that begins with a published network's weights. A run that began so
/// already is left as it is, to be gone on with.
///
/// # Errors
/// When there is another run, the network is of another game or shape, or something cannot be read
/// or written.
pub fn begin_with(dir: &Path, experiment: &Experiment, network: &Path) -> Result<(), RunError> {
    let (path, network) = (network, Network::load(network)?);
    if dir.exists() {
        return match origin(dir) {
            Some(Origin::Network { sha256, .. }) if sha256 == network.card.sha256 => Ok(()),
            _ => Err(RunError::OtherOrigin { dir: dir.to_owned(), network: path.to_owned() }),
        };
    }
    let rules = Arc::new(Rules::load(&experiment.rules)?);
    network.check_rules(&rules)?;
    let its = Experiment { network: network.card.architecture, ..experiment.clone() };
    same_shapes(path, &its.changes(experiment))?;
    let encoding = network.encoding(Arc::clone(&rules))?;
    let origin = Origin::Network {
        path: path.display().to_string(),
        step: network.card.step,
        sha256: network.card.sha256.clone(),
    };
    let learner = Learner::new(encoding, experiment.learner, network.weights);
    let saved = Saved { state: State::new(), learner, player: None, good: None };
    make(dir, experiment, &rules, &saved, &origin, |_| Ok(()))
}

fn origin(dir: &Path) -> Option<Origin> {
    toml::from_str(&std::fs::read_to_string(dir.join(ORIGIN)).ok()?).ok()
}

fn same_shapes(of: &Path, changes: &[Change]) -> Result<(), RunError> {
    let other = changes.iter().filter(|change| change.key.starts_with("network."));
    let lines: String = other.map(|change| format!("\n  {change}")).collect();
    if lines.is_empty() {
        Ok(())
    } else {
        Err(RunError::OtherShapes { of: of.to_owned(), changes: lines })
    }
}

/// The rules of the run in `dir`, which have to be the experiment's.
fn same_rules(dir: &Path, experiment: &Experiment) -> Result<Rules, RunError> {
    let rules = load_rules(dir)?;
    match Rules::load(&experiment.rules) {
        Ok(asked) if asked.hash() != rules.hash() => Err(RunError::OtherGame {
            dir: dir.to_owned(),
            expected: rules.name().to_owned(),
            found: experiment.rules.clone(),
        }),
        // The table may be gone: the run has its own.
        _ => Ok(rules),
    }
}

/// Makes a run's folder with what it is to begin with.
fn make(
    dir: &Path,
    experiment: &Experiment,
    rules: &Rules,
    saved: &Saved,
    origin: &Origin,
    past: impl FnOnce(&Path) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let made = create_alone(dir, experiment, rules, saved, |folder| {
        let text = toml::to_string(origin).expect("an origin is plain data");
        write_file(&folder.join(ORIGIN), text.as_bytes())?;
        past(folder)
    })?;
    if made { Ok(()) } else { Err(RunError::Exists(dir.to_owned())) }
}

/// Copies the games a state knows of, the published networks and the figures.
fn copy_past(from: &Path, to: &Path, state: &State) -> Result<(), RunError> {
    for name in FOLDERS.into_iter().filter(|&name| name != "state") {
        copy_folder(&from.join(name), &to.join(name))?;
    }
    copy_file(&from.join("metrics.jsonl"), &to.join("metrics.jsonl"))?;
    let (mut store, _) = Store::open(&to.join("games"))?;
    Ok(store.truncate_to(state.games)?)
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), CheckpointError> {
    std::fs::create_dir_all(to).map_err(io(to, "create the folder"))?;
    for entry in std::fs::read_dir(from).map_err(io(from, "list the folder"))? {
        let entry = entry.map_err(io(from, "list the folder"))?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let is_unfinished = entry.file_name().to_string_lossy().starts_with('.');
        if is_unfinished {
            continue;
        }
        match from.is_dir() {
            true => copy_folder(&from, &to)?,
            false => copy_file(&from, &to)?,
        }
    }
    sync(to)
}

/// Not as `std::fs::copy` does: a copy of what may not be written to may be.
fn copy_file(from: &Path, to: &Path) -> Result<(), CheckpointError> {
    let mut read = File::open(from).map_err(io(from, "read it"))?;
    let mut written = File::create(to).map_err(io(to, "write it"))?;
    std::io::copy(&mut read, &mut written).map_err(io(to, "copy it"))?;
    sync(to)
}
