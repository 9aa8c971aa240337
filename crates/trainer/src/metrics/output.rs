//! A file that grows by whole records and can be taken back to a length it had.

use super::MetricsError;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is only appended to, always by whole records.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) path: PathBuf,
    file: File,
    pub(super) length: u64,
}

impl Output {
    /// Opens a file for appending behind its first `length` bytes; what follows is cut off.
    /// Says so if the file is shorter than that.
    pub(super) fn open(
        path: PathBuf,
        length: u64,
    ) -> Result<(Output, Option<String>), MetricsError> {
        let open = || OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = open().map_err(MetricsError::io("write", &path))?;
        let found = file.metadata().map_err(MetricsError::io("read", &path))?.len();
        let missing = (found < length).then(|| shorter(&path, found, length));
        let mut output = Output { path, file, length: found.min(length) };
        output.rewind().map_err(MetricsError::io("cut", &output.path))?;
        Ok((output, missing))
    }

    /// Appends bytes in one piece. After an error the file is as before, if it can be.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), MetricsError> {
        if let Err(source) = self.file.write_all(bytes) {
            self.cut(self.length);
            return Err(MetricsError::Io { action: "write", path: self.path.clone(), source });
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Takes back what was appended behind `length`. An error here follows one that is reported.
    pub(super) fn cut(&mut self, length: u64) {
        self.length = length;
        drop(self.rewind());
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length)).map(drop)
    }

    pub(super) fn sync(&self) -> Result<(), MetricsError> {
        self.file.sync_all().map_err(MetricsError::io("sync", &self.path))
    }

    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

fn shorter(path: &Path, found: u64, length: u64) -> String {
    format!("{}: {found} bytes where the checkpoint knows {length}", path.display())
}
