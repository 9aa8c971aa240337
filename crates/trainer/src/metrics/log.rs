//! `metrics.jsonl`: one JSON object a line.

use super::{LINES, MetricsError, is_machine_dependent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A line of `metrics.jsonl`: the scalars of one report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The learner's step.
    pub step: u64,
    /// Seconds since 1970.
    pub wall_time: f64,
    /// Values by tag; `None` for one that was no finite number.
    #[serde(flatten)]
    pub scalars: BTreeMap<String, Option<f64>>,
}

impl Line {
    /// The line with its end; nothing if it has no scalars.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, MetricsError> {
        if self.scalars.is_empty() {
            return Ok(Vec::new());
        }
        let text = serde_json::to_string(self);
        let text = text.map_err(|error| MetricsError::Encode(error.to_string()))?;
        Ok((text + "\n").into_bytes())
    }
}

/// All lines of a run's `metrics.jsonl`. A last line that is being written is left out.
///
/// # Errors
/// When the file cannot be read or a line of it is damaged.
pub fn read_lines(run: &Path) -> Result<Vec<Line>, MetricsError> {
    let (lines, mut damaged) = sound_lines(run)?;
    if damaged.is_empty() { Ok(lines) } else { Err(damaged.swap_remove(0)) }
}

/// The lines that can be read, and what is wrong with the others.
///
/// # Errors
/// When the file cannot be read.
pub fn sound_lines(run: &Path) -> Result<(Vec<Line>, Vec<MetricsError>), MetricsError> {
    let path = run.join(LINES);
    let bytes = fs::read(&path).map_err(MetricsError::io("read", &path))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(&[][..], |end| &bytes[..end]);
    let (mut lines, mut damaged) = (Vec::new(), Vec::new());
    if whole.is_empty() {
        return Ok((lines, damaged));
    }
    for (place, line) in whole.split(|&byte| byte == b'\n').enumerate() {
        match serde_json::from_slice(line) {
            Ok(line) => lines.push(line),
            Err(error) => damaged.push(MetricsError::Line {
                path: path.clone(),
                number: place + 1,
                reason: error.to_string(),
            }),
        }
    }
    Ok((lines, damaged))
}

/// What of a run's `metrics.jsonl` must be the same on every machine: steps and scalars, less
/// the machine-dependent ones and the wall time (0 here).
///
/// # Errors
/// As `read_lines`.
pub fn comparable(run: &Path) -> Result<Vec<Line>, MetricsError> {
    let mut lines = read_lines(run)?;
    for line in &mut lines {
        line.wall_time = 0.0;
        line.scalars.retain(|tag, _| !is_machine_dependent(tag));
    }
    lines.retain(|line| !line.scalars.is_empty());
    Ok(lines)
}
