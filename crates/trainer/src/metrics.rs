//! What a run tells the world: TensorBoard event files in `tensorboard/` and the same numbers
//! in `metrics.jsonl`. The only module that knows TensorBoard.
//!
//! Values are queued by `scalar`, `text`, `histogram` and `picture` and written by `flush`. A
//! checkpoint keeps `position()`; `Metrics::open` with it cuts everything written later, so that
//! after a resume no curve overlaps itself. Behind a checkpoint an event file that has grown long
//! is followed by a new one.

mod event;
mod files;
mod log;
mod output;
mod settings;

pub use event::Chart;
pub use log::{Line, comparable, read_lines, sound_lines};

use crate::pictures::Picture;
use event::Value;
use files::{event_file_name, next_event_file, restore_event_files};
use output::Output;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Tags, or beginnings of tags that end in `/`, whose values may differ between two machines
/// or two runs of one experiment. Everything else is a function of the experiment and its seed.
pub const MACHINE_DEPENDENT: &[&str] = &["system/", SESSIONS_TAG];

/// How often the run was begun or gone on with so far.
pub(crate) const SESSIONS_TAG: &str = "events/sessions";

const EVENTS: &str = "tensorboard";
const LINES: &str = "metrics.jsonl";
/// An event file that is this long, in bytes, when a checkpoint is made is followed by a new one.
const EVENT_FILE_BYTES: u64 = 8 << 20;
/// Keys of a line of `metrics.jsonl` that are no tags.
const RESERVED: [&str; 2] = ["step", "wall_time"];

/// Whether a tag's values may differ between machines.
pub fn is_machine_dependent(tag: &str) -> bool {
    MACHINE_DEPENDENT.iter().any(|&listed| match listed.ends_with('/') {
        true => tag.starts_with(listed),
        false => tag == listed,
    })
}

/// How much had been written when a checkpoint was made. Part of the checkpoint.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct MetricsPosition {
    /// Event files by name, with their lengths in bytes.
    pub event_files: BTreeMap<String, u64>,
    /// Length of `metrics.jsonl` in bytes.
    pub lines: u64,
    /// The last step each tag has a value for.
    pub last_steps: BTreeMap<String, u64>,
    /// How often the run was begun or gone on with.
    #[serde(default)]
    pub sessions: u64,
}

/// Why metrics cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The file system said no.
    #[error("{path}: cannot {action}: {source}", path = .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A tag would have two values at one step, or a step would go back.
    #[error("metric {tag:?} has a value at step {last}: it cannot have one at step {step} now")]
    StepBack {
        /// The tag.
        tag: String,
        /// The step asked for.
        step: u64,
        /// The step of the tag's last value.
        last: u64,
    },
    /// Not a name for a metric.
    #[error("{tag:?} cannot be the name of a metric")]
    Tag {
        /// The tag.
        tag: String,
    },
    /// A line of `metrics.jsonl` is no such line.
    #[error("{path}, line {number}: {reason}", path = .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// An event could not be put into bytes.
    #[error("metrics cannot be encoded: {0}")]
    Encode(String),
}

impl MetricsError {
    fn io<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> MetricsError + 'a {
        move |source| MetricsError::Io { action, path: path.to_owned(), source }
    }
}

/// The writer of a run's metrics. There must be one at a time for a run folder.
#[derive(Debug)]
pub struct Metrics {
    events: Output,
    lines: Output,
    /// Older event files, with their lengths.
    older: BTreeMap<String, u64>,
    last_steps: BTreeMap<String, u64>,
    queue: Vec<Queued>,
    sessions: u64,
    /// Longest event file at a checkpoint, in bytes.
    event_file_bytes: u64,
}

/// A value waiting for the next flush.
#[derive(Debug)]
struct Queued {
    tag: String,
    step: u64,
    value: Value,
}

impl Metrics {
    /// Opens the metrics of the run in `run` as they were at `position`; a new run's is
    /// `MetricsPosition::default()`. What was written after it is cut off, and a new event file
    /// is begun. Returns also what of the past is missing, for people: it does not hinder going on.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn open(
        run: &Path,
        position: &MetricsPosition,
        wall_time: f64,
    ) -> Result<(Metrics, Vec<String>), MetricsError> {
        let dir = run.join(EVENTS);
        fs::create_dir_all(&dir).map_err(MetricsError::io("create the folder", &dir))?;
        let mut missing = Vec::new();
        let next = next_event_file(&dir)?;
        let older = restore_event_files(&dir, &position.event_files, &mut missing)?;
        let (lines, lines_missing) = Output::open(run.join(LINES), position.lines)?;
        missing.extend(lines_missing);
        let (events, _) = Output::open(dir.join(event_file_name(next)), 0)?;
        let mut metrics = Metrics {
            events,
            lines,
            older,
            last_steps: position.last_steps.clone(),
            queue: Vec::new(),
            sessions: position.sessions + 1,
            event_file_bytes: EVENT_FILE_BYTES,
        };
        // Who tries again while the disk is full is not to leave a file each time.
        metrics
            .begin_events(wall_time)
            .inspect_err(|_| _ = fs::remove_file(&metrics.events.path))?;
        Ok((metrics, missing))
    }

    /// How often the run was begun or gone on with, this time included. A session that ended
    /// before its first checkpoint is not counted.
    pub(crate) fn sessions(&self) -> u64 {
        self.sessions
    }

    /// What an event file begins with. The session start tells a TensorBoard that is watching
    /// to forget what it saw of the steps that come again.
    fn begin_events(&mut self, wall_time: f64) -> Result<(), MetricsError> {
        let start = self.last_steps.values().max().map_or(0, |last| last + 1);
        let bytes = [event::file_version(wall_time)?, event::session_start(start, wall_time)?];
        self.events.append(&bytes.concat())
    }

    /// Queues a number.
    ///
    /// # Errors
    /// When the tag has a value at this step or a later one, or is no name for a metric.
    pub fn scalar(&mut self, tag: &str, step: u64, value: f64) -> Result<(), MetricsError> {
        self.queue(tag, step, Value::Scalar(value))
    }

    /// Queues a text in Markdown. Texts are not in `metrics.jsonl`.
    ///
    /// # Errors
    /// As `scalar`.
    pub fn text(&mut self, tag: &str, step: u64, markdown: &str) -> Result<(), MetricsError> {
        self.queue(tag, step, Value::Text(markdown.to_owned()))
    }

    /// Queues the distribution of some values. Histograms are not in `metrics.jsonl`.
    ///
    /// # Errors
    /// As `scalar`.
    pub fn histogram(&mut self, tag: &str, step: u64, values: &[f32]) -> Result<(), MetricsError> {
        self.queue(tag, step, Value::Histogram(event::Histogram::of(values)))
    }

    /// Queues a picture. Pictures are not in `metrics.jsonl`.
    ///
    /// # Errors
    /// As `scalar`.
    pub fn picture(&mut self, tag: &str, step: u64, picture: Picture) -> Result<(), MetricsError> {
        self.queue(tag, step, Value::Image(picture))
    }

    /// Queues an experiment's settings, TOML values by key, for TensorBoard's table of runs; beside
    /// them it shows the last values of some tags, `results`. Once per run.
    ///
    /// # Errors
    /// As `scalar`: also when the run has settings already.
    pub fn settings(
        &mut self,
        settings: &BTreeMap<String, String>,
        results: &[&str],
    ) -> Result<(), MetricsError> {
        let columns = settings::columns(settings, results)?;
        self.queue(settings::COLUMNS_TAG, 0, Value::Settings(columns))?;
        self.queue(settings::VALUES_TAG, 0, Value::Settings(settings::values(settings)?))
    }

    /// Writes that the run is complete, for TensorBoard's table of runs. What goes on with the run
    /// later cuts it, as all that is behind the last checkpoint; until then TensorBoard knows no
    /// status, since it keeps the first that it reads.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn complete(&mut self, step: u64, wall_time: f64) -> Result<(), MetricsError> {
        let end = Value::Settings(settings::success()?);
        self.events.append(&event::summary(
            step,
            wall_time,
            std::iter::once((settings::END_TAG, &end)),
        )?)
    }

    /// Queues the layout of TensorBoard's custom scalars: sections of charts. Once per run.
    ///
    /// # Errors
    /// As `scalar`: also when the run has a layout already, see `has_layout`.
    pub fn layout(&mut self, sections: &[(&str, &[Chart<'_>])]) -> Result<(), MetricsError> {
        let layout = event::layout(sections)?;
        self.queue(event::LAYOUT_TAG, 0, Value::Layout(layout))
    }

    /// Whether the run has a layout already.
    pub fn has_layout(&self) -> bool {
        self.last_steps.contains_key(event::LAYOUT_TAG)
    }

    fn queue(&mut self, tag: &str, step: u64, value: Value) -> Result<(), MetricsError> {
        if tag.is_empty() || RESERVED.contains(&tag) {
            return Err(MetricsError::Tag { tag: tag.to_owned() });
        }
        match self.last_steps.get(tag) {
            Some(&last) if step <= last => {
                return Err(MetricsError::StepBack { tag: tag.to_owned(), step, last });
            }
            _ => self.last_steps.insert(tag.to_owned(), step),
        };
        self.queue.push(Queued { tag: tag.to_owned(), step, value });
        Ok(())
    }

    /// Writes what is queued, all at this wall time (seconds since 1970): for each step one
    /// event and one line of `metrics.jsonl`. After an error everything is queued still.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn flush(&mut self, wall_time: f64) -> Result<(), MetricsError> {
        let mut steps: BTreeMap<u64, Vec<&Queued>> = BTreeMap::new();
        for queued in &self.queue {
            steps.entry(queued.step).or_default().push(queued);
        }
        let (mut events, mut lines) = (Vec::new(), Vec::new());
        for (&step, queued) in &steps {
            let values = queued.iter().map(|queued| (queued.tag.as_str(), &queued.value));
            events.extend(event::summary(step, wall_time, values.clone())?);
            let scalars = values.filter_map(|(tag, value)| Some((tag.to_owned(), value.scalar()?)));
            lines.extend(Line { step, wall_time, scalars: scalars.collect() }.to_bytes()?);
        }
        let before = self.events.length;
        self.events.append(&events)?;
        self.lines.append(&lines).inspect_err(|_| self.events.cut(before))?;
        self.queue.clear();
        Ok(())
    }

    /// How much is written, for a checkpoint: the files are on the disk when this returns.
    /// Values still queued are written first.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn position(&mut self, wall_time: f64) -> Result<MetricsPosition, MetricsError> {
        self.flush(wall_time)?;
        self.events.sync()?;
        self.lines.sync()?;
        if self.events.length >= self.event_file_bytes {
            self.begin_next_event_file(wall_time)?;
        }
        let mut event_files = self.older.clone();
        event_files.insert(self.events.name(), self.events.length);
        Ok(MetricsPosition {
            event_files,
            lines: self.lines.length,
            last_steps: self.last_steps.clone(),
            sessions: self.sessions,
        })
    }

    /// Nothing is void here, so the new file says nothing of a session.
    fn begin_next_event_file(&mut self, wall_time: f64) -> Result<(), MetricsError> {
        let dir = self.events.path.parent().expect("an event file lies in a folder");
        let (mut next, _) = Output::open(dir.join(event_file_name(next_event_file(dir)?)), 0)?;
        next.append(&event::file_version(wall_time)?)?;
        next.sync()?;
        let full = std::mem::replace(&mut self.events, next);
        self.older.insert(full.name(), full.length);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
