//! The event files of a run: their names, and taking them back to a checkpoint.

use super::MetricsError;
use super::output::Output;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The counter comes first: readers take the files of a folder in the order of their names.
pub(super) fn event_file_name(counter: u64) -> String {
    format!("events.out.tfevents.{counter:010}.keiko")
}

/// The counter in the name of an event file of ours.
fn event_file_counter(name: &str) -> Option<u64> {
    name.strip_prefix("events.out.tfevents.")?.strip_suffix(".keiko")?.parse().ok()
}

/// Our event files in a folder, by counter.
fn event_files(dir: &Path) -> Result<BTreeMap<u64, String>, MetricsError> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).map_err(MetricsError::io("list", dir))? {
        let name = entry.map_err(MetricsError::io("list", dir))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if let Some(counter) = event_file_counter(&name) {
            files.insert(counter, name);
        }
    }
    Ok(files)
}

/// The counter of the next event file: above all in the folder.
pub(super) fn next_event_file(dir: &Path) -> Result<u64, MetricsError> {
    Ok(event_files(dir)?.keys().last().map_or(0, |last| last + 1))
}

/// Cuts our event files in `dir` to the lengths in `known` and returns them. Those not in it
/// are emptied but stay: a TensorBoard that is watching stops at a file that vanishes.
pub(super) fn restore_event_files(
    dir: &Path,
    known: &BTreeMap<String, u64>,
    missing: &mut Vec<String>,
) -> Result<BTreeMap<String, u64>, MetricsError> {
    let mut kept = BTreeMap::new();
    for name in event_files(dir)?.into_values() {
        let length = known.get(&name).copied();
        let (output, short) = Output::open(dir.join(&name), length.unwrap_or(0))?;
        missing.extend(short);
        if length.is_some() {
            kept.insert(name, output.length);
        }
    }
    let gone = known.keys().filter(|name| !kept.contains_key(*name));
    missing.extend(gone.map(|name| format!("{}: not there any more", dir.join(name).display())));
    Ok(kept)
}
