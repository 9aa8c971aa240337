//! The file system under the store: every write is synced, every error names its file.

use super::StoreError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(super) fn segment_name(index: u32) -> String {
    format!("games-{index:06}.seg")
}

/// The segment files of a folder, in order.
pub(super) fn segment_files(dir: &Path) -> Result<Vec<(u32, PathBuf)>, StoreError> {
    let number = |name: &str| name.strip_suffix(".seg").and_then(|digits| digits.parse().ok());
    let files = own_files(dir)?.into_iter();
    let mut segments: Vec<_> =
        files.filter_map(|(name, path)| number(&name).map(|index| (index, path))).collect();
    segments.sort();
    Ok(segments)
}

/// Removes what an interrupted rewrite left.
pub(super) fn remove_leftovers(dir: &Path) -> Result<(), StoreError> {
    let files = own_files(dir)?.into_iter();
    files.filter(|(name, _)| name.ends_with(".tmp")).try_for_each(|(_, path)| remove(&path))
}

/// The store's files in a folder, with what follows `games-` in their names.
fn own_files(dir: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(StoreError::io("list", dir))? {
        let path = entry.map_err(StoreError::io("list", dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(rest) = name.and_then(|name| name.strip_prefix("games-")) {
            files.push((rest.to_owned(), path));
        }
    }
    Ok(files)
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}

pub(super) fn read_range(path: &Path, range: &Range<u64>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Puts a whole file in the place of what was there, all or nothing.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    write_at(&temporary, 0, bytes)?;
    fs::rename(&temporary, path).map_err(StoreError::io("replace", path))?;
    sync_dir(path.parent().expect("the store's files lie in its folder"))
}

/// Writes `bytes` behind the first `offset` bytes of a file, which may not exist yet, drops
/// what else there was and syncs. After an error the file ends at `offset` again, if it can.
pub(super) fn write_at(path: &Path, offset: u64, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        file.set_len(offset)?;
        file.seek(SeekFrom::Start(offset))?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        written.inspect_err(|_| drop(file.set_len(offset)))
    };
    write().map_err(StoreError::io("write", path))
}

pub(super) fn cut(path: &Path, length: u64) -> Result<(), StoreError> {
    let cut = || {
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(length)?;
        file.sync_all()
    };
    cut().map_err(StoreError::io("cut", path))
}

/// Makes created, renamed and removed names of a folder last.
pub(super) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(StoreError::io("sync", dir))
}
