//! Making a run's folder, whole or not at all.

use super::lock::lock;
use super::{EXPERIMENT, FOLDERS, RunError, VARIANT, new_learner};
use crate::checkpoint::{CheckpointError, Checkpoints, Saved, State};
use crate::experiment::Experiment;
use crate::files::{io, replace_folder, write_file};
use keiko_rules::Rules;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Makes a run that has not begun: whether it was not there yet.
pub(super) fn create(dir: &Path, experiment: &Experiment) -> Result<bool, RunError> {
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
        std::fs::create_dir_all(parent).map_err(io(parent, "create the folder"))?;
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
        std::fs::create_dir(&path).map_err(io(&path, "create the folder"))?;
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
