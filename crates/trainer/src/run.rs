//! A run folder: created once, opened again and again, held by one process at a time.

use crate::arena::PlayerError;
use crate::checkpoint::{
    CheckpointError, Checkpoints, Phase, Saved, State, replace_folder, write_file,
};
use crate::experiment::{Change, Experiment, ExperimentError};
use crate::metrics::{Metrics, MetricsError};
use crate::replay::ReplayBuffer;
use crate::store::{OpenReport, Store, StoreError};
use keiko_network::{
    ComputeDevice, DeviceError, Encoding, LearnError, Learner, NetworkError, Snapshot,
};
use keiko_rules::{Rules, RulesError};
use keiko_selfplay::GameRecord;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Held-out games that losses are measured on: the newest ones.
const HOLDOUT_GAMES: usize = 128;

pub(crate) const EXPERIMENT: &str = "experiment.toml";
const VARIANT: &str = "variant.toml";

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
    #[error("{source}; the last good checkpoint is in {state}", state = .state.display())]
    Learn { source: LearnError, state: PathBuf },
    #[error("{path}: this folder is no run, and is left alone; choose another with --run DIR", path = .0.display())]
    NotARun(PathBuf),
    #[error("{path}: this folder is no run, or is not there", path = .0.display())]
    NoRun(PathBuf),
    #[error("{path}: another process is working on this run", path = .0.display())]
    Locked(PathBuf),
    #[error("{dir}: this run was made with other settings:{changes}\nstart a new one with --run DIR", dir = .dir.display())]
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
        let resumed = dir.exists();
        if !resumed {
            create(dir, experiment)?;
        } else if !dir.join(EXPERIMENT).exists() {
            return Err(RunError::NotARun(dir.to_owned()));
        }
        let lock = lock(dir)?;
        let was = Experiment::load(&dir.join(EXPERIMENT), &[]).map_err(RunError::RunExperiment)?;
        let changes = accept_changes(dir, &was, experiment)?;
        let rules = Arc::new(load_rules(dir, experiment)?);
        let (mut run, warnings) = Run::restore(dir, experiment.clone(), device, rules, lock)?;
        // The window is where games of the archive come from.
        let of_games = ["selfplay.", "inference.", "machine.device", "training.window_"];
        let differ = |change: &Change| of_games.iter().any(|it| change.key.starts_with(it));
        if changes.iter().any(differ) {
            // A generation's games are all played by the same settings: begin it again.
            run.drop_unfinished_generation()?;
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
        let checkpoints = Checkpoints::new(dir.join("state"), experiment.machine.keep_checkpoints);
        let restore = |path: &Path| restore_learner(path, &encoding, &experiment);
        let (saved, mut warnings) = checkpoints.load(restore)?;
        let Saved { mut state, learner, player } = saved;
        state.update(&experiment);
        let (store, report) = Store::open(&dir.join("games"))?;
        warnings.extend(damage(&report));
        let (metrics, lost) = Metrics::open(dir, &state.metrics, now())?;
        warnings.extend(lost);
        let mut run = Run {
            dir: dir.to_owned(),
            replay: ReplayBuffer::new(Arc::clone(&rules), &experiment),
            holdout: ReplayBuffer::new(Arc::clone(&rules), &experiment),
            current: Vec::new(),
            experiment,
            rules,
            encoding,
            learner: learner.on(&device),
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

    /// Fills the windows with the games the state knows of. Games beyond belong to the
    /// generation in hand: it was interrupted, or the checkpoint after it is lost.
    /// Says which games are missing.
    fn load_games(&mut self) -> Result<Option<String>, RunError> {
        let window = self.experiment.window(self.state.games) as u64;
        let holdout = HOLDOUT_GAMES as u64 * self.experiment.training.holdout_every;
        // Twice as many as the larger window: every second game may be held out.
        let from = self.state.games.saturating_sub(window.max(holdout) * 2);
        let (known, newer): (Vec<_>, Vec<_>) = self
            .store
            .games_from(from)?
            .into_iter()
            .partition(|game| game.number < self.state.games);
        let generation = self.experiment.training.games_per_generation;
        if self.state.phase == Phase::Play {
            self.current = newer;
            self.current.retain(|game| game.number < self.state.games + generation);
        } else {
            let first = self.state.games.saturating_sub(generation);
            self.current = known.iter().filter(|game| game.number >= first).cloned().collect();
        }
        let expected = self.state.games - from;
        let missing = expected - known.len() as u64;
        self.add_to_windows(known);
        Ok((missing > 0).then(|| {
            format!(
                "{}: {missing} of the last {expected} games are missing; going on without them",
                self.dir.join("games").display()
            )
        }))
    }

    fn drop_unfinished_generation(&mut self) -> Result<(), RunError> {
        if self.state.phase == Phase::Play {
            self.current.clear();
            self.store.truncate_to(self.state.games)?;
        }
        Ok(())
    }

    /// Adds games, already counted in the state, to the window they belong to.
    pub(crate) fn add_to_windows(&mut self, games: Vec<GameRecord>) {
        let every = self.experiment.training.holdout_every;
        let (held_out, trained_on): (Vec<_>, Vec<_>) =
            games.into_iter().partition(|game| is_held_out(game.number, every));
        self.replay.extend(trained_on, self.experiment.window(self.state.games));
        self.holdout.extend(held_out, HOLDOUT_GAMES);
    }

    /// Saves everything needed to go on exactly.
    pub(crate) fn save(&mut self) -> Result<(), RunError> {
        self.state.metrics = self.metrics.position(now())?;
        Ok(self.checkpoints.save(&self.state, &self.learner, self.player.as_ref())?)
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

/// Whether a game is only measured: the last of every `every`, so that a run begins with games
/// to train on.
pub(crate) fn is_held_out(number: u64, every: u64) -> bool {
    number % every == every - 1
}

/// Seconds since 1970: what event files call wall time.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Makes a complete run folder that has not begun, under a temporary name until it is whole.
fn create(dir: &Path, experiment: &Experiment) -> Result<(), RunError> {
    let rules = Arc::new(Rules::load(&experiment.rules)?);
    let encoding = experiment.encoding(&rules);
    let learner = new_learner(&encoding, experiment);
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)
            .map_err(crate::checkpoint::io(parent, "create the folder"))?;
    }
    replace_folder(dir, |folder| {
        for inner in ["state", "games", "networks", "tensorboard"] {
            let path = folder.join(inner);
            std::fs::create_dir(&path)
                .map_err(crate::checkpoint::io(&path, "create the folder"))?;
        }
        write_file(&folder.join(EXPERIMENT), experiment.to_toml().as_bytes())?;
        write_file(&folder.join(VARIANT), rules.source().as_bytes())?;
        Checkpoints::new(folder.join("state"), experiment.machine.keep_checkpoints).save(
            &State::new(),
            &learner,
            None,
        )
    })?;
    Ok(())
}

fn new_learner(encoding: &Arc<Encoding>, experiment: &Experiment) -> Learner {
    let weights = experiment.initial_weights(encoding);
    Learner::new(Arc::clone(encoding), experiment.learner, weights)
}

fn restore_learner(
    path: &Path,
    encoding: &Arc<Encoding>,
    experiment: &Experiment,
) -> Result<Learner, String> {
    let mut learner = new_learner(encoding, experiment);
    learner.load_state(path).map_err(|error| error.to_string())?;
    Ok(learner)
}

/// One process a run: the lock goes with the process, whatever ends it.
fn lock(dir: &Path) -> Result<File, RunError> {
    let path = dir.join("lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(crate::checkpoint::io(&path, "open it"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(RunError::Locked(dir.to_owned())),
        Err(std::fs::TryLockError::Error(source)) => {
            Err(crate::checkpoint::io(&path, "lock it")(source).into())
        }
    }
}

/// Whether a process is working on the run. Nothing is written.
pub(crate) fn is_held(dir: &Path) -> bool {
    // A lock that many may share for this moment: two who ask do not see each other.
    File::open(dir.join("lock"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}

/// The differences, if a run may go on with all of them.
fn accept_changes(dir: &Path, was: &Experiment, is: &Experiment) -> Result<Vec<Change>, RunError> {
    let changes = was.changes(is);
    let refused = changes.iter().filter(|change| !change.allowed);
    let lines: String = refused.map(|c| format!("\n  {}: {} -> {}", c.key, c.was, c.is)).collect();
    if lines.is_empty() {
        Ok(changes)
    } else {
        Err(RunError::Changed { dir: dir.to_owned(), changes: lines })
    }
}

/// The rules the run began with. The variant's file may be gone; if it is there and another
/// game by now, the run does not go on.
fn load_rules(dir: &Path, experiment: &Experiment) -> Result<Rules, RunError> {
    let rules = Rules::load(&dir.join(VARIANT).to_string_lossy()).map_err(RunError::RunRules)?;
    match Rules::load(&experiment.rules) {
        Ok(present) if present.hash() != rules.hash() => {
            Err(RunError::RulesChanged { dir: dir.to_owned(), rules: experiment.rules.clone() })
        }
        _ => Ok(rules),
    }
}

fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let new = path.with_extension("new");
    write_file(&new, bytes)?;
    std::fs::rename(&new, path).map_err(crate::checkpoint::io(&new, "rename it"))
}

fn damage(report: &OpenReport) -> Vec<String> {
    let torn = report.torn.iter().map(|damage| format!("cut off a torn write: {damage}"));
    torn.chain(report.damaged.iter().map(|damage| format!("skipped damaged games: {damage}")))
        .collect()
}
