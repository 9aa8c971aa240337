//! Checkpoints: everything needed to go on exactly, written as a whole or not at all.

use crate::experiment::{Experiment, MachineConfig};
use crate::files::{io, replace_folder, write_file};
use crate::ladder::Ladder;
use crate::metrics::MetricsPosition;
use crate::recovery::Recovery;
use crate::statistics::StepSums;
use keiko_network::{Learner, Snapshot, StorageError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the state's format.
const STATE_FORMAT: u32 = 3;

const STATE_FILE: &str = "state.json";
const LEARNER_FILE: &str = "learner.safetensors";
/// Only where the network that plays is not the learner's own.
const PLAYER_FILE: &str = "player.safetensors";
/// Only where it is not the learner's own state: where the learner goes back to when it fails.
const GOOD_FILE: &str = "good.safetensors";
/// CRC-32 and name of the other files, a line each: safetensors and JSON notice no flipped bit.
const SUMS_FILE: &str = "crc32.txt";

/// What a generation is doing.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Its games are being played; with overlap, the steps due are taken beside them.
    Play,
    /// The learner takes the steps due, and nobody plays.
    Learn,
    /// Its figures are taken, and now and then its network's strength.
    Measure,
}

/// A published network and its rating.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Published {
    /// The generation whose games it learned from last.
    pub generation: u64,
    /// Its learner step; its folder is `networks/<step>`.
    pub step: u64,
    /// Elo above the untrained network, by the chain of rivals.
    pub elo: f64,
    /// Half width of the rating's 95% interval.
    pub margin: f64,
}

/// A run's counters: with the learner and the games, all there is to know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct State {
    /// Version of this format.
    pub format: u32,
    /// The generation being worked on, from 0.
    pub generation: u64,
    /// What it is doing.
    pub phase: Phase,
    /// Games of complete generations.
    pub games: u64,
    /// Positions with a policy target in these games, held-out ones not counted.
    pub positions: u64,
    /// Samples trained on.
    pub samples: u64,
    /// Samples still to be trained on, beyond the steps due.
    pub owed: f64,
    /// Learner steps still to be taken for the games of complete generations.
    #[serde(default)]
    pub due: u64,
    /// Sums over this generation's learner steps so far.
    pub learned: StepSums,
    /// How often the learner was taken back; never, before format 3.
    #[serde(default)]
    pub recovery: Recovery,
    /// Networks published so far.
    pub published: Vec<Published>,
    /// What the arena's games of complete generations said; nothing of those of older keikos.
    #[serde(default)]
    pub ladder: Ladder,
    /// Where the event files and `metrics.jsonl` stood.
    pub metrics: MetricsPosition,
}

impl State {
    /// The state of a run that has not begun.
    pub fn new() -> State {
        State {
            format: STATE_FORMAT,
            generation: 0,
            phase: Phase::Play,
            games: 0,
            positions: 0,
            samples: 0,
            owed: 0.0,
            due: 0,
            learned: StepSums::default(),
            recovery: Recovery::default(),
            published: Vec::new(),
            ladder: Ladder::default(),
            metrics: MetricsPosition::default(),
        }
    }

    /// Brings a state that an older keiko wrote to this format.
    pub(crate) fn update(&mut self, experiment: &Experiment) {
        // Format 1 left the steps due among the samples owed until the last of them was taken.
        if self.format < 2 && self.phase == Phase::Learn {
            let steps = experiment.steps_due(self.owed);
            self.owed -= experiment.samples_of(steps);
            self.due = steps.saturating_sub(self.learned.steps());
        }
        self.format = STATE_FORMAT;
    }
}

impl Default for State {
    fn default() -> State {
        State::new()
    }
}

/// Why a checkpoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system said no.
    #[error("{path}: cannot {action}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {message}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The weights cannot be written or read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// None of the folder's checkpoints can be used.
    #[error("{path}: no checkpoint can be used:\n{reasons}", path = .path.display())]
    NoneLeft {
        /// The folder.
        path: PathBuf,
        /// A line for each checkpoint.
        reasons: String,
    },
}

/// What a checkpoint holds.
pub(crate) struct Saved {
    pub(crate) state: State,
    pub(crate) learner: Learner,
    /// The network that plays, where it is not the learner's own.
    pub(crate) player: Option<Snapshot>,
    /// Where the learner goes back to when it fails, if it has moved on since.
    pub(crate) good: Option<Learner>,
}

/// The `state/` folder of a run.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoints {
    dir: PathBuf,
    keep: usize,
    keep_every: u64,
}

/// Checkpoints that can be used are never fewer than this, once there were so many.
const LEAST: usize = 2;

impl Checkpoints {
    /// The checkpoints in `dir`, of which as many are kept as the machine's configuration says.
    pub(crate) fn new(dir: PathBuf, machine: &MachineConfig) -> Checkpoints {
        Checkpoints { dir, keep: machine.keep_checkpoints, keep_every: machine.keep_every }
    }

    /// Writes a checkpoint as a whole, then removes the oldest beyond those kept.
    ///
    /// # Errors
    /// When it cannot be written; older ones are untouched then.
    pub(crate) fn save(
        &self,
        state: &State,
        learner: &Learner,
        player: Option<&Snapshot>,
        good: Option<&Learner>,
    ) -> Result<(), CheckpointError> {
        let dir = self.dir.join(folder_name(state, learner));
        replace_folder(&dir, |folder| {
            let learner_file = folder.join(LEARNER_FILE);
            learner.save_state(&learner_file)?;
            if let Some(player) = player {
                player.save(&folder.join(PLAYER_FILE))?;
            }
            if let Some(good) = good {
                good.save_state(&folder.join(GOOD_FILE))?;
            }
            let json = serde_json::to_vec_pretty(state).expect("a state is plain data");
            write_file(&folder.join(STATE_FILE), &json)?;
            write_file(&folder.join(SUMS_FILE), checksums(folder)?.as_bytes())
        })?;
        self.remove_old()
    }

    /// Removes all but the newest, and what is kept for good. Where one of the newest is damaged, an
    /// older one that can be used stays in its place.
    fn remove_old(&self) -> Result<(), CheckpointError> {
        let all = newest_first(&self.dir)?;
        let usable = |dir: &&PathBuf| check_files(dir).is_ok();
        let least = all.iter().filter(usable).take(LEAST).last();
        let oldest_first = all.iter().skip(self.keep).rev();
        for old in oldest_first.filter(|&dir| least.is_some_and(|least| dir < least)) {
            if !self.is_kept_for_good(old, &all) {
                std::fs::remove_dir_all(old).map_err(io(old, "remove the folder"))?;
            }
        }
        Ok(())
    }

    /// Whether it is the first checkpoint of a generation that is kept.
    fn is_kept_for_good(&self, dir: &Path, all: &[PathBuf]) -> bool {
        let Some(generation) = generation_of(dir).filter(|&it| it > 0 && self.keep_every > 0)
        else {
            return false;
        };
        let is_older =
            |other: &PathBuf| other.as_path() < dir && generation_of(other) == Some(generation);
        generation.is_multiple_of(self.keep_every) && !all.iter().any(is_older)
    }

    /// The counters of each checkpoint, as far as they can be read.
    pub(crate) fn states(&self) -> Result<Vec<State>, CheckpointError> {
        let state = |dir: &PathBuf| read_state(dir).ok();
        Ok(newest_first(&self.dir)?.iter().filter_map(state).collect())
    }

    /// The newest checkpoint that can be used, and what was wrong with newer ones.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn load(
        &self,
        restore: impl Fn(&Path) -> Result<Learner, String>,
    ) -> Result<(Saved, Vec<String>), CheckpointError> {
        let mut reasons = Vec::new();
        for dir in newest_first(&self.dir)? {
            match read(&dir, &restore) {
                Ok(saved) => return Ok((saved, reasons)),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(CheckpointError::NoneLeft { path: self.dir.clone(), reasons: reasons.join("\n") })
    }
}

/// The checkpoints in a folder, the newest first; what has another name is none of ours.
fn newest_first(dir: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
    let entries = std::fs::read_dir(dir).map_err(io(dir, "list the folder"))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| generation_of(path).is_some() && path.is_dir());
    // Names are numbers of fixed width, so their order is the order of time.
    found.sort_by(|a, b| b.cmp(a));
    Ok(found)
}

/// The counters and the step of the newest checkpoint whose counters can be read, for who only
/// looks, and what was wrong with newer ones: weights and their checksums are left alone.
///
/// # Errors
/// When there is none.
pub(crate) fn peek(state: &Path) -> Result<(State, u64, Vec<String>), CheckpointError> {
    let step_of = |path: &Path| path.file_name()?.to_str()?.rsplit('-').next()?.parse().ok();
    let mut reasons = Vec::new();
    for dir in newest_first(state)? {
        match (read_state(&dir), step_of(&dir)) {
            (Ok(found), Some(step)) => return Ok((found, step, reasons)),
            (Err(error), _) => reasons.push(error.to_string()),
            (Ok(_), None) => {}
        }
    }
    Err(CheckpointError::NoneLeft { path: state.to_owned(), reasons: reasons.join("\n") })
}

/// Generation, phase and step, so that the order of names is the order of time.
fn folder_name(state: &State, learner: &Learner) -> String {
    let phase = state.phase as u8;
    format!("{:08}-{phase}-{:09}", state.generation, learner.steps())
}

/// The generation in a checkpoint's name.
fn generation_of(dir: &Path) -> Option<u64> {
    dir.file_name()?.to_str()?.split('-').next()?.parse().ok()
}

/// Whether its files have their checksums.
fn check_files(dir: &Path) -> Result<(), CheckpointError> {
    let noted = noted_sums(dir)?;
    let found = checksums(dir)?;
    if let Some(name) = found.lines().find(|line| !noted.contains(line)).and_then(name_in) {
        return Err(damaged(&dir.join(name), WRONG_SUM.to_owned()));
    }
    if noted != found {
        let message = format!("does not fit to the other files: one is missing, or {SUMS_FILE} is");
        return Err(damaged(&dir.join(SUMS_FILE), message));
    }
    Ok(())
}

/// What is wrong with a file that is not the one that was written.
const WRONG_SUM: &str = "damaged: it does not have its checksum";

/// The list of checksums as it was written.
fn noted_sums(dir: &Path) -> Result<String, CheckpointError> {
    let path = dir.join(SUMS_FILE);
    std::fs::read_to_string(&path).map_err(io(&path, "read it"))
}

/// The file that a line of the list is about.
fn name_in(line: &str) -> Option<&str> {
    line.split_once(' ').map(|(_, name)| name)
}

fn read(
    dir: &Path,
    restore: &impl Fn(&Path) -> Result<Learner, String>,
) -> Result<Saved, CheckpointError> {
    check_files(dir)?;
    let state = read_state(dir)?;
    let path = dir.join(LEARNER_FILE);
    let learner = restore(&path).map_err(|message| damaged(&path, message))?;
    let path = dir.join(PLAYER_FILE);
    // The checksums tell a player that is lost from one that never was.
    let player = path.exists().then(|| Snapshot::load(&path, learner.average())).transpose()?;
    let path = dir.join(GOOD_FILE);
    let good = path.exists().then(|| restore(&path)).transpose();
    let good = good.map_err(|message| damaged(&path, message))?;
    Ok(Saved { state, learner, player, good })
}

/// A checkpoint's counters, if they are those that were written.
fn read_state(dir: &Path) -> Result<State, CheckpointError> {
    let path = &dir.join(STATE_FILE);
    let text = std::fs::read_to_string(path).map_err(io(path, "read it"))?;
    if !noted_sums(dir)?.contains(&sum_line(STATE_FILE, text.as_bytes())) {
        return Err(damaged(path, WRONG_SUM.to_owned()));
    }
    let format = serde_json::from_str::<serde_json::Value>(&text)
        .ok()
        .and_then(|json| json["format"].as_u64());
    if format.is_some_and(|format| format > STATE_FORMAT.into()) {
        return Err(damaged(path, "written by a newer keiko, which can read it".to_owned()));
    }
    serde_json::from_str(&text).map_err(|error| damaged(path, error.to_string()))
}

fn checksums(dir: &Path) -> Result<String, CheckpointError> {
    let others = [PLAYER_FILE, GOOD_FILE].into_iter().filter(|name| dir.join(name).exists());
    let line = |name| {
        let path = dir.join(name);
        let bytes = std::fs::read(&path).map_err(io(&path, "read it"))?;
        Ok(sum_line(name, &bytes))
    };
    [LEARNER_FILE, STATE_FILE].into_iter().chain(others).map(line).collect()
}

fn sum_line(name: &str, bytes: &[u8]) -> String {
    format!("{:08x} {name}\n", crc32fast::hash(bytes))
}

fn damaged(path: &Path, message: String) -> CheckpointError {
    CheckpointError::Damaged { path: path.to_owned(), message }
}

#[cfg(test)]
mod tests;
