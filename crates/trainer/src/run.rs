//! A run folder: created once, opened again and again, held by one process at a time.

mod create;
mod lock;
mod windows;

pub(crate) use create::create_alone;
pub(crate) use lock::is_held;
pub(crate) use windows::is_held_out;

use crate::arena::PlayerError;
use crate::checkpoint::{CheckpointError, Checkpoints, Saved, State};
use crate::experiment::{Change, Experiment, ExperimentError};
use crate::files::{io, write_file};
use crate::ladder::{Ladder, rounds};
use crate::metrics::{Metrics, MetricsError};
use crate::panics::Panic;
use crate::replay::ReplayBuffer;
use crate::store::{OpenReport, Store, StoreError};
use create::create;
use keiko_network::{
    ComputeDevice, DeviceError, Encoding, LearnError, Learner, NetworkError, Snapshot,
};
use keiko_rules::{Rules, RulesError};
use keiko_selfplay::GameRecord;
use lock::lock;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The resolved experiment in a run's folder.
pub(crate) const EXPERIMENT: &str = "experiment.toml";
/// The game's table in a run's folder.
pub(crate) const VARIANT: &str = "variant.toml";
/// Its games in a run's folder.
pub(crate) const GAMES: &str = "games";
/// The folders in a run's folder.
pub(crate) const FOLDERS: [&str; 4] = ["state", GAMES, "networks", "tensorboard"];

/// Why a run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each variant only carries its cause")]
pub enum RunError {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    Player(#[from] PlayerError),
    #[error("machine.{0}")]
    Device(#[from] DeviceError),
    #[error("the run's own experiment cannot be used: {0}")]
    RunExperiment(ExperimentError),
    #[error("the run's own variant cannot be used: {0}")]
    RunRules(RulesError),
    #[error(
        "no position of the replay window has a policy target, so there is nothing to learn from: \
         raise selfplay.full_share or training.games_per_generation"
    )]
    NothingToLearn,
    #[error(
        "{source}, after {retries} retries with a smaller learning rate; the last good checkpoint is \
         in {state}: lower training.learning_rate, or raise training.learning_retries",
        state = .state.display()
    )]
    Learn { source: LearnError, retries: u64, state: PathBuf },
    #[error("{0}; the run is saved, and the same command goes on")]
    Panicked(Panic),
    #[error("{panic}; the same command goes on from the last checkpoint in {state}", state = .state.display())]
    Torn { panic: Panic, state: PathBuf },
    #[error(
        "{found} MiB of memory are taken, and machine.memory_mebibytes is {bound}: the run is saved, \
         and the same command goes on"
    )]
    Memory { found: u64, bound: u64 },
    #[error("{path}: this folder is no run, and is left alone; choose another with --run DIR", path = .0.display())]
    NotARun(PathBuf),
    #[error("{path}: there is no run in this folder; keiko train writes checkpoints/NAME", path = .0.display())]
    NoRun(PathBuf),
    #[error("{path}: another process is working on this run", path = .0.display())]
    Locked(PathBuf),
    #[error("{path}: exists already; a run is never overwritten", path = .0.display())]
    Exists(PathBuf),
    #[error(
        "{dir}: exists already, and did not begin with {network}: go on with it without --init, or \
         choose another folder with --run DIR",
        dir = .dir.display(), network = .network.display()
    )]
    OtherOrigin { dir: PathBuf, network: PathBuf },
    #[error("{of}: has a network of other shapes than are asked for:{changes}", of = .of.display())]
    OtherShapes { of: PathBuf, changes: String },
    #[error("{dir}: is a run of {expected}, not of {found}: a fork keeps the game", dir = .dir.display())]
    OtherGame { dir: PathBuf, expected: String, found: String },
    #[error(
        "{dir}: this run was made with other settings:{changes}\nstart a new one with --run DIR, or \
         one that goes on from here with keiko fork {dir} --out DIR --set KEY=VALUE",
        dir = .dir.display()
    )]
    Changed { dir: PathBuf, changes: String },
    #[error("{dir}: the rules of `{rules}` have changed since this run began; start a new one with --run DIR", dir = .dir.display())]
    RulesChanged { dir: PathBuf, rules: String },
}

/// A run, ready to go on from where it is.
pub struct Run {
    pub(crate) dir: PathBuf,
    pub(crate) experiment: Experiment,
    pub(crate) rules: Arc<Rules>,
    pub(crate) encoding: Arc<Encoding>,
    pub(crate) device: ComputeDevice,
    pub(crate) learner: Learner,
    /// The network that plays, where it is not the learner's own: with overlap the learner moves on
    /// while a generation is played.
    pub(crate) player: Option<Snapshot>,
    /// Where the learner goes back to when it fails.
    pub(crate) good: Learner,
    pub(crate) state: State,
    pub(crate) store: Store,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) metrics: Metrics,
    /// Games that are trained on.
    pub(crate) replay: ReplayBuffer,
    /// Games that are only measured.
    pub(crate) holdout: ReplayBuffer,
    /// Games of the generation being worked on: those finished so far, or all of them.
    pub(crate) current: Vec<GameRecord>,
    /// Held until the process ends, however it ends.
    _lock: File,
}

/// What was found when a run was opened.
#[derive(Debug)]
pub struct Opened {
    /// Whether the run was there already.
    pub resumed: bool,
    /// Settings that differ from those the run had, all of them allowed to.
    pub changes: Vec<Change>,
    /// Checkpoints that could not be used, and damage in the games.
    pub warnings: Vec<String>,
}

impl Run {
    /// Opens the run in `dir`, or creates it there.
    ///
    /// # Errors
    /// When the device cannot be used; when the folder is something else, is in use, was made
    /// with settings that may not change, or cannot be read or written.
    pub fn open(dir: &Path, experiment: &Experiment) -> Result<(Run, Opened), RunError> {
        let device = experiment.machine.device.open()?;
        let resumed = dir.exists() || !create(dir, experiment)?;
        if resumed && !is_run(dir)? {
            return Err(RunError::NotARun(dir.to_owned()));
        }
        let lock = lock(&dir.join("lock"), dir)?;
        let was = Experiment::load(&dir.join(EXPERIMENT), &[]).map_err(RunError::RunExperiment)?;
        let changes = accept_changes(dir, &was, experiment)?;
        let rules = Arc::new(unchanged_rules(dir, experiment)?);
        let (mut run, warnings) = Run::restore(dir, experiment.clone(), device, rules, lock)?;
        // The window is where games of the archive come from.
        let of_games = [
            "selfplay.",
            "inference.",
            "machine.device",
            "machine.replay_mebibytes",
            "training.window_",
        ];
        let differ = |change: &Change| of_games.iter().any(|it| change.key.starts_with(it));
        if changes.iter().any(differ) {
            // A generation's games are all played by the same settings: begin it again.
            run.drop_unfinished_generation()?;
        }
        if rounds::are_others(&changes) {
            run.state.ladder = Ladder::default();
        }
        if !changes.is_empty() {
            replace_file(&dir.join(EXPERIMENT), experiment.to_toml().as_bytes())?;
        }
        Ok((run, Opened { resumed, changes, warnings }))
    }

    fn restore(
        dir: &Path,
        experiment: Experiment,
        device: ComputeDevice,
        rules: Arc<Rules>,
        lock: File,
    ) -> Result<(Run, Vec<String>), RunError> {
        let encoding = experiment.encoding(&rules);
        device.self_test(&encoding, experiment.network)?;
        let checkpoints = Checkpoints::new(dir.join("state"), &experiment.machine);
        let restore = |path: &Path| restore_learner(path, &encoding, &experiment);
        let (saved, mut warnings) = checkpoints.load(restore)?;
        let Saved { mut state, learner, player, good } = saved;
        state.update(&experiment);
        let (store, report) = Store::open(&dir.join(GAMES))?;
        warnings.extend(damage(&report));
        let (metrics, lost) = Metrics::open(dir, &state.metrics, now())?;
        warnings.extend(lost);
        let learner = learner.on(&device);
        let mut run = Run {
            dir: dir.to_owned(),
            replay: ReplayBuffer::new(Arc::clone(&rules), &experiment),
            holdout: ReplayBuffer::new(Arc::clone(&rules), &experiment),
            current: Vec::new(),
            experiment,
            rules,
            encoding,
            good: good.map_or_else(|| learner.clone(), |good| good.on(&device)),
            learner,
            player,
            device,
            state,
            store,
            checkpoints,
            metrics,
            _lock: lock,
        };
        warnings.extend(run.load_games()?);
        Ok((run, warnings))
    }

    /// Saves everything needed to go on exactly.
    pub(crate) fn save(&mut self) -> Result<(), RunError> {
        self.state.metrics = self.metrics.position(now())?;
        Ok(self.checkpoints.save(&self.state, &self.learner, self.player.as_ref(), self.good())?)
    }

    /// The network that plays the generation in hand.
    pub(crate) fn player(&self) -> Snapshot {
        self.player.clone().unwrap_or_else(|| self.learner.snapshot())
    }

    /// The run's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The run's experiment.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// What plays and learns.
    pub fn device(&self) -> &ComputeDevice {
        &self.device
    }

    /// The run's counters.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Learner steps taken.
    pub fn steps(&self) -> u64 {
        self.learner.steps()
    }
}

/// Whether there is a run in a folder.
///
/// # Errors
/// When one may not look.
pub(crate) fn is_run(dir: &Path) -> Result<bool, CheckpointError> {
    let path = dir.join(EXPERIMENT);
    match path.try_exists() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err(io(&path, "look for it")(error))
        }
        found => Ok(found.unwrap_or(false)),
    }
}

/// Seconds since 1970: what event files call wall time.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn new_learner(encoding: &Arc<Encoding>, experiment: &Experiment) -> Learner {
    let weights = experiment.initial_weights(encoding);
    Learner::new(Arc::clone(encoding), experiment.learner, weights)
}

pub(crate) fn restore_learner(
    path: &Path,
    encoding: &Arc<Encoding>,
    experiment: &Experiment,
) -> Result<Learner, String> {
    let mut learner = new_learner(encoding, experiment);
    learner.load_state(path).map_err(|error| error.to_string())?;
    Ok(learner)
}

/// The differences, if a run may go on with all of them.
fn accept_changes(dir: &Path, was: &Experiment, is: &Experiment) -> Result<Vec<Change>, RunError> {
    let changes = was.changes(is);
    let refused = changes.iter().filter(|change| !change.allowed);
    let lines: String = refused.map(|change| format!("\n  {change}")).collect();
    if lines.is_empty() {
        Ok(changes)
    } else {
        Err(RunError::Changed { dir: dir.to_owned(), changes: lines })
    }
}

/// The rules the run began with. The variant's file may be gone; if it is there and another
/// game by now, the run does not go on.
fn unchanged_rules(dir: &Path, experiment: &Experiment) -> Result<Rules, RunError> {
    let rules = load_rules(dir)?;
    match Rules::load(&experiment.rules) {
        Ok(present) if present.hash() != rules.hash() => {
            Err(RunError::RulesChanged { dir: dir.to_owned(), rules: experiment.rules.clone() })
        }
        _ => Ok(rules),
    }
}

/// The rules the run began with.
pub(crate) fn load_rules(dir: &Path) -> Result<Rules, RunError> {
    Rules::load(&dir.join(VARIANT).to_string_lossy()).map_err(RunError::RunRules)
}

fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let new = path.with_extension("new");
    write_file(&new, bytes)?;
    std::fs::rename(&new, path).map_err(io(&new, "rename it"))
}

fn damage(report: &OpenReport) -> Vec<String> {
    let torn = report.torn.iter().map(|damage| format!("cut off a torn write: {damage}"));
    torn.chain(report.damaged.iter().map(|damage| format!("skipped damaged games: {damage}")))
        .collect()
}
