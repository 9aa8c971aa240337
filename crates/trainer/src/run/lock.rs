//! The lock of a run: one process at a time.

use super::RunError;
use crate::files::io;
use std::fs::File;
use std::path::Path;

/// One process a run: the lock goes with the process, whatever ends it.
pub(super) fn lock(path: &Path, dir: &Path) -> Result<File, RunError> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(io(path, "open it"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(RunError::Locked(dir.to_owned())),
        Err(std::fs::TryLockError::Error(source)) => Err(io(path, "lock it")(source).into()),
    }
}

/// Whether a process is working on the run. Nothing is written.
pub(crate) fn is_held(dir: &Path) -> bool {
    // A lock that many may share for this moment: two who ask do not see each other.
    File::open(dir.join("lock"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}
