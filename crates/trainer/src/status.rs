//! How a run stands, for who only looks: nothing is written, nothing locked.

use crate::checkpoint::{Phase, peek};
use crate::experiment::Experiment;
use crate::metrics::{Line, MetricsError, sound_lines};
use crate::run::{EXPERIMENT, RunError, is_held, is_run};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Reports that the pace is taken from, the newest ones, if so many cover four arena matches.
const PACE_REPORTS: usize = 8;

/// Figures that a person wants to see: how well the network predicts.
const LOSSES: [&str; 4] =
    ["loss/policy", "loss/value", "loss_holdout/policy", "loss_holdout/value"];

/// How a run stands. Rates are those of the newest generations, the arena's time included; what is
/// not known yet is nothing.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Status {
    /// The experiment's name.
    pub name: String,
    /// The run's folder.
    pub dir: PathBuf,
    /// Whether a process is working on it.
    pub going_on: bool,
    /// Whether all its generations are over.
    pub complete: bool,
    /// The generation being worked on, from 0.
    pub generation: u64,
    /// How many there are to be.
    pub generations: u64,
    /// What that generation was doing when last saved.
    pub phase: Phase,
    /// Learner steps taken.
    pub step: u64,
    /// Games of complete generations.
    pub games: u64,
    /// Games an hour.
    pub games_per_hour: Option<f64>,
    /// Learner steps a second.
    pub steps_per_second: Option<f64>,
    /// Share of the cores' time that was used, of the newest generation.
    pub busy_share: Option<f64>,
    /// Elo above the untrained network, of the newest network that was measured.
    pub elo: Option<f64>,
    /// The lower end of its 95% interval.
    pub elo_low: Option<f64>,
    /// The upper end.
    pub elo_high: Option<f64>,
    /// The newest losses, by tag.
    pub losses: BTreeMap<String, f64>,
    /// Bytes of the run's folder.
    pub disk_bytes: u64,
    /// Seconds since something was last written.
    pub seconds_since_sign: Option<f64>,
    /// Seconds to the end of the last generation at this pace.
    pub seconds_left: Option<f64>,
    /// What could not be read, and was left out.
    pub damaged: Vec<String>,
}

impl Status {
    /// Looks at the run in `dir`; it is `now`.
    ///
    /// # Errors
    /// When it is no run or cannot be read.
    pub fn read(dir: &Path, now: SystemTime) -> Result<Status, RunError> {
        if !is_run(dir)? {
            return Err(RunError::NoRun(dir.to_owned()));
        }
        let experiment =
            Experiment::load(&dir.join(EXPERIMENT), &[]).map_err(RunError::RunExperiment)?;
        let (state, saved_step, mut damaged) = peek(&dir.join("state"))?;
        let lines = lines(dir, &mut damaged)?;
        let newest = |tag: &str| lines.iter().rev().find_map(|line| value(line, tag));
        let losses = LOSSES.into_iter().filter_map(|tag| Some((tag.to_owned(), newest(tag)?)));
        let pace = Pace::of(&lines, PACE_REPORTS.max(4 * experiment.arena.every as usize));
        // The ladder's where there is one: it tells more.
        let elo = |end: &str| {
            newest(&format!("ladder/elo{end}")).or_else(|| newest(&format!("arena/elo{end}")))
        };
        let training = &experiment.training;
        let left = training.generations.saturating_sub(state.generation);
        let games = training.games_per_generation as f64;
        Ok(Status {
            going_on: is_held(dir),
            complete: left == 0,
            generation: state.generation,
            generations: training.generations,
            phase: state.phase,
            step: lines.last().map_or(0, |line| line.step).max(saved_step),
            games: state.games,
            games_per_hour: pace.map(|pace| games * 3600.0 / pace.seconds_a_generation),
            steps_per_second: pace.map(|pace| pace.steps_per_second),
            busy_share: newest("system/busy_share"),
            elo: elo(""),
            elo_low: elo("_low"),
            elo_high: elo("_high"),
            losses: losses.collect(),
            disk_bytes: bytes_of(dir),
            seconds_since_sign: last_written(dir)
                .and_then(|at| now.duration_since(at).ok())
                .map(|since| since.as_secs_f64()),
            seconds_left: pace.map(|pace| left as f64 * pace.seconds_a_generation),
            name: experiment.name,
            dir: dir.to_owned(),
            damaged,
        })
    }
}

/// The reports of generations that can be read; none where nothing was reported yet.
fn lines(dir: &Path, damaged: &mut Vec<String>) -> Result<Vec<Line>, RunError> {
    match sound_lines(dir) {
        Ok((lines, others)) => {
            damaged.extend(others.iter().map(MetricsError::to_string));
            Ok(lines)
        }
        Err(MetricsError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            Ok(Vec::new())
        }
        Err(error) => Err(error.into()),
    }
}

fn value(line: &Line, tag: &str) -> Option<f64> {
    line.scalars.get(tag).copied().flatten()
}

/// How fast the newest generations went by.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Pace {
    seconds_a_generation: f64,
    steps_per_second: f64,
}

impl Pace {
    /// Of the newest reports, so many at most. Time in which nobody worked on the run is not in
    /// their figures.
    fn of(lines: &[Line], most: usize) -> Option<Pace> {
        let seconds = |line: &Line| {
            let parts = ["playing", "learning", "measuring"];
            let part = |name: &str| value(line, &format!("system/seconds_{name}"));
            parts.into_iter().map(part).sum::<Option<f64>>()
        };
        let reports: Vec<(u64, f64)> =
            lines.iter().filter_map(|line| Some((line.step, seconds(line)?))).collect();
        let newest = &reports[reports.len().saturating_sub(most)..];
        let before = reports.len().checked_sub(newest.len() + 1).map_or(0, |it| reports[it].0);
        let total: f64 = newest.iter().map(|(_, seconds)| seconds).sum();
        let steps = newest.last()?.0.saturating_sub(before) as f64;
        (total > 0.0).then(|| Pace {
            seconds_a_generation: total / newest.len() as f64,
            steps_per_second: steps / total,
        })
    }
}

/// Bytes of all files below a folder. What goes away meanwhile does not count.
fn bytes_of(dir: &Path) -> u64 {
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => bytes_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(size).sum()
}

/// When something of the run was last written.
fn last_written(dir: &Path) -> Option<SystemTime> {
    let places = ["log.txt", "metrics.jsonl", "state", "games", "networks", "tensorboard"];
    let written = |name: &str| std::fs::metadata(dir.join(name)).ok()?.modified().ok();
    places.into_iter().filter_map(written).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(step: u64, seconds: f64) -> Line {
        let scalars = ["playing", "learning", "measuring"]
            .map(|name| (format!("system/seconds_{name}"), Some(seconds / 3.0)));
        Line { step, wall_time: 0.0, scalars: scalars.into() }
    }

    #[test]
    fn the_pace_is_that_of_the_newest_reports() {
        assert_eq!(Pace::of(&[], 4), None);
        let other = Line { step: 35, wall_time: 0.0, scalars: BTreeMap::new() };
        let lines = [report(10, 900.0), report(30, 6.0), other, report(70, 6.0)];
        let pace = Pace::of(&lines, 2).expect("there are reports");
        assert!((pace.seconds_a_generation - 6.0).abs() < 1e-9);
        assert!((pace.steps_per_second - 5.0).abs() < 1e-9);
        let all = Pace::of(&lines[..1], 2).expect("there is a report");
        assert!((all.steps_per_second - 10.0 / 900.0).abs() < 1e-9);
    }
}
