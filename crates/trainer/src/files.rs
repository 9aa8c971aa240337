//! Files and folders that are there whole or not at all.

use crate::checkpoint::CheckpointError;
use std::path::Path;

/// Fills a folder under a temporary name, syncs it and puts it in place of `dir`.
pub(crate) fn replace_folder<E: From<CheckpointError>>(
    dir: &Path,
    fill: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let name = dir.file_name().expect("a folder has a name").to_string_lossy();
    let (new, old) =
        (dir.with_file_name(format!(".{name}.new")), dir.with_file_name(format!(".{name}.old")));
    for leftover in [&new, &old] {
        if leftover.exists() {
            std::fs::remove_dir_all(leftover).map_err(io(leftover, "remove the folder"))?;
        }
    }
    std::fs::create_dir_all(&new).map_err(io(&new, "create the folder"))?;
    // What is not in its place is of no use, and where the disk is full its room is.
    let placed = fill(&new).and_then(|()| Ok(put_in_place(&new, dir, &old)?));
    placed.inspect_err(|_| _ = std::fs::remove_dir_all(&new))?;
    if old.exists() {
        std::fs::remove_dir_all(&old).map_err(io(&old, "remove the folder"))?;
    }
    // A bare name lies in the current folder.
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok(sync(parent.unwrap_or(Path::new(".")))?)
}

/// Gives a folder its name, and what had that name another one.
fn put_in_place(new: &Path, dir: &Path, old: &Path) -> Result<(), CheckpointError> {
    sync(new)?;
    if dir.exists() {
        std::fs::rename(dir, old).map_err(io(dir, "rename the folder"))?;
    }
    let named = std::fs::rename(new, dir);
    named.inspect_err(|_| _ = std::fs::rename(old, dir)).map_err(io(dir, "name the folder so"))
}

/// Writes a whole file under its final name, in a folder that is not yet in place.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    std::fs::write(path, bytes).map_err(io(path, "write it"))?;
    sync(path)
}

/// Asks the disk to have a file, or a folder's entries, for good.
pub(crate) fn sync(path: &Path) -> Result<(), CheckpointError> {
    std::fs::File::open(path).and_then(|file| file.sync_all()).map_err(io(path, "sync it"))
}

/// What was tried with a file or folder, for the error's message.
pub(crate) fn io(
    path: &Path,
    action: &'static str,
) -> impl FnOnce(std::io::Error) -> CheckpointError {
    let path = path.to_owned();
    move |source| CheckpointError::Io { path, action, source }
}
