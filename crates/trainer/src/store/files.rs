//! The file system under the store: every write is synced, every error names its file.

use super::StoreError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(super) fn segment_name(index: u32) -> String {
    format!("games-{index:06}.seg")
}

/// The segment files of a folder, in order. Leftovers of an interrupted rewrite are removed.
pub(super) fn segment_files(dir: &Path) -> Result<Vec<(u32, PathBuf)>, StoreError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(StoreError::io("list", dir))? {
        let path = entry.map_err(StoreError::io("list", dir))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        let Some(rest) = name.strip_prefix("games-") else {
            continue;
        };
        if let Some(index) = rest.strip_suffix(".seg").and_then(|digits| digits.parse().ok()) {
            files.push((index, path));
        } else if rest.ends_with(".tmp") {
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    files.sort();
    Ok(files)
}

pub(super) fn read_range(path: &Path, range: &Range<u64>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
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
