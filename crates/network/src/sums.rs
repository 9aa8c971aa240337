//! SHA-256 of a network's files, in a file of its folder that `sha256sum -c` reads: neither TOML nor
//! ONNX notices every flipped bit.

use crate::{NetworkError, StorageError};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The file in a network's folder with the sums of the others; networks published before 2026-12
/// have none.
pub const SUMS_FILE: &str = "SHA256SUMS";

/// A file's sum, in hexadecimal digits.
pub(crate) fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sums of files by name, a line each.
pub(crate) fn lines(files: &BTreeMap<&str, Vec<u8>>) -> String {
    files.iter().map(|(name, bytes)| format!("{}  {name}\n", sum(bytes))).collect()
}

/// The names and sums in a folder, if it has any.
pub(crate) fn read(folder: &Path) -> Result<Option<BTreeMap<String, String>>, NetworkError> {
    let path = folder.join(SUMS_FILE);
    if !path.exists() {
        return Ok(None);
    }
    let bytes = std::fs::read(&path).map_err(StorageError::io(&path))?;
    let broken = |problem: String| NetworkError::Card { path: path.clone(), problem };
    let text = std::str::from_utf8(&bytes).map_err(|error| broken(error.to_string()))?;
    let sum = |line: &str| match line.split_once("  ") {
        Some((sum, name)) => Ok((name.to_owned(), sum.to_owned())),
        None => Err(broken(format!("`{line}`"))),
    };
    text.lines().map(sum).collect::<Result<_, _>>().map(Some)
}

/// Whether a file of a folder is what it was when the folder was published, where that is noted.
pub(crate) fn check(path: &Path, bytes: &[u8]) -> Result<(), NetworkError> {
    let folder = path.parent().expect("a network's file lies in its folder");
    let name = path.file_name().expect("a file has a name").to_string_lossy();
    match read(folder)?.map(|sums| sums.get(&*name).cloned()) {
        None => Ok(()),
        Some(Some(expected)) if expected == sum(bytes) => Ok(()),
        Some(Some(expected)) => {
            Err(NetworkError::Sum { path: path.to_owned(), found: sum(bytes), expected })
        }
        Some(None) => Err(NetworkError::NoSum(path.to_owned())),
    }
}
