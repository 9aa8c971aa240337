//! A run folder: created once, opened again and again, held by one process at a time.

use crate::arena::PlayerError;
use crate::checkpoint::{
    CheckpointError, Checkpoints, Phase, Saved, State, replace_folder, write_file,
};
use crate::experiment::{Change, Experiment, ExperimentError, HOLDOUT_GAMES};
use crate::metrics::{Metrics, MetricsError};
use crate::panics::Panic;
use crate::published::thin_out;
use crate::replay::ReplayBuffer;
use crate::store::{OpenReport, Removed, Store, StoreError};
use keiko_network::{
    ComputeDevice, DeviceError, Encoding, LearnError, Learner, NetworkError, Snapshot,
};
use keiko_rules::{Rules, RulesError};
use keiko_selfplay::GameRecord;
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

    /// Fills the windows with the games the state knows of, block by block. Games beyond belong to
    /// the generation in hand: it was interrupted, or the checkpoint after it is lost. Says which
    /// games are damaged or missing.
    fn load_games(&mut self) -> Result<Vec<String>, RunError> {
        let generation = self.experiment.training.games_per_generation;
        let first = match self.state.phase {
            Phase::Play => self.state.games,
            _ => self.state.games.saturating_sub(generation),
        };
        let in_use = self.experiment.games_in_use(self.state.games);
        let (mut known, mut warnings) = (0, Vec::new());
        for block in self.store.listing().read(in_use.start..first + generation) {
            let games = match block {
                Err(error @ StoreError::Decode { .. }) => {
                    warnings.push(error.to_string());
                    continue;
                }
                block => block?,
            };
            let current = games.iter().filter(|game| game.number >= first).cloned();
            self.current.extend(current);
            known += games.iter().filter(|game| game.number < in_use.end).count() as u64;
            let of_windows = games.into_iter().filter(|game| game.number < in_use.end);
            push(&mut self.replay, &mut self.holdout, &self.experiment, &self.state, of_windows);
        }
        self.replay.weigh();
        self.holdout.weigh();
        let expected = in_use.end - in_use.start;
        let missing = expected.saturating_sub(known);
        if missing > 0 {
            warnings.push(format!(
                "{}: {missing} of the last {expected} games are missing; going on without them",
                self.dir.join(GAMES).display()
            ));
        }
        Ok(warnings)
    }

    /// Removes the oldest games beyond the bound of the disk, none that a checkpoint needs.
    pub(crate) fn remove_old_games(&mut self) -> Result<Removed, RunError> {
        let Some(bytes) = self.experiment.machine.games_bytes() else {
            return Ok(Removed::default());
        };
        let needed = |state: &State| self.experiment.games_in_use(state.games);
        let mut needed: Vec<_> = self.checkpoints.states()?.iter().map(needed).collect();
        // What follows is of the generation in hand.
        needed.extend(needed.iter().map(|range| range.end).max().map(|end| end..u64::MAX));
        Ok(self.store.shrink(bytes, &needed)?)
    }

    /// Removes networks beyond the bound of the disk, none that a checkpoint needs: their steps.
    pub(crate) fn remove_networks(&self) -> Result<Vec<u64>, RunError> {
        match self.experiment.machine.networks_bytes() {
            Some(bytes) => thin_out(self, bytes, &self.checkpoints.states()?),
            None => Ok(Vec::new()),
        }
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
        push(&mut self.replay, &mut self.holdout, &self.experiment, &self.state, games);
        self.replay.weigh();
        self.holdout.weigh();
    }

    /// Games that the window would hold, had it room for them or were they not lost.
    pub(crate) fn games_left_out(&self) -> u64 {
        let games = self.state.games;
        let trained_on = games - games / self.experiment.training.holdout_every;
        let wanted = trained_on.min(self.experiment.window(games) as u64);
        wanted.saturating_sub(self.replay.games() as u64)
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

/// Whether a game is only measured: the last of every `every`, so that a run begins with games
/// to train on.
pub(crate) fn is_held_out(number: u64, every: u64) -> bool {
    number % every == every - 1
}

/// Puts games, already counted in the state, into the window they belong to.
fn push(
    replay: &mut ReplayBuffer,
    holdout: &mut ReplayBuffer,
    experiment: &Experiment,
    state: &State,
    games: impl IntoIterator<Item = GameRecord>,
) {
    let window = experiment.window(state.games);
    for game in games {
        if is_held_out(game.number, experiment.training.holdout_every) {
            holdout.push_game(game, HOLDOUT_GAMES);
        } else {
            replay.push_game(game, window);
        }
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
            Err(crate::checkpoint::io(&path, "look for it")(error))
        }
        found => Ok(found.unwrap_or(false)),
    }
}

/// Seconds since 1970: what event files call wall time.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Makes a run that has not begun: whether it was not there yet.
fn create(dir: &Path, experiment: &Experiment) -> Result<bool, RunError> {
    let rules = Arc::new(Rules::load(&experiment.rules)?);
    let learner = new_learner(&experiment.encoding(&rules), experiment);
    let saved = Saved { state: State::new(), learner, player: None, good: None };
    create_alone(dir, experiment, &rules, &saved, |_| Ok(()))
}

/// Makes a complete run folder, under a temporary name until it is whole, with what else is to be
/// in it: whether there was none yet. Of many who try at once one does.
pub(crate) fn create_alone(
    dir: &Path,
    experiment: &Experiment,
    rules: &Rules,
    saved: &Saved,
    fill: impl FnOnce(&Path) -> Result<(), RunError>,
) -> Result<bool, RunError> {
    // Without the `/.` that may end it.
    let dir = &dir.components().collect::<PathBuf>();
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)
            .map_err(crate::checkpoint::io(parent, "create the folder"))?;
    }
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let path = dir.with_file_name(format!(".{name}.lock"));
    let _lock = lock(&path, dir)?;
    let is_new = !dir.exists();
    let made = if is_new {
        replace_folder(dir, |folder| {
            write_run(folder, experiment, rules, saved)?;
            fill(folder)
        })
    } else {
        Ok(())
    };
    // Whoever comes later finds the run, so that its lock is no longer of use.
    let _ = std::fs::remove_file(&path);
    made.map(|()| is_new)
}

fn write_run(
    folder: &Path,
    experiment: &Experiment,
    rules: &Rules,
    saved: &Saved,
) -> Result<(), CheckpointError> {
    for inner in FOLDERS {
        let path = folder.join(inner);
        std::fs::create_dir(&path).map_err(crate::checkpoint::io(&path, "create the folder"))?;
    }
    write_file(&folder.join(EXPERIMENT), experiment.to_toml().as_bytes())?;
    write_file(&folder.join(VARIANT), rules.source().as_bytes())?;
    Checkpoints::new(folder.join("state"), &experiment.machine).save(
        &saved.state,
        &saved.learner,
        saved.player.as_ref(),
        saved.good.as_ref(),
    )
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

/// One process a run: the lock goes with the process, whatever ends it.
fn lock(path: &Path, dir: &Path) -> Result<File, RunError> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(crate::checkpoint::io(path, "open it"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(RunError::Locked(dir.to_owned())),
        Err(std::fs::TryLockError::Error(source)) => {
            Err(crate::checkpoint::io(path, "lock it")(source).into())
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
    std::fs::rename(&new, path).map_err(crate::checkpoint::io(&new, "rename it"))
}

fn damage(report: &OpenReport) -> Vec<String> {
    let torn = report.torn.iter().map(|damage| format!("cut off a torn write: {damage}"));
    torn.chain(report.damaged.iter().map(|damage| format!("skipped damaged games: {damage}")))
        .collect()
}
