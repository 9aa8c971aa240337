//! Weights and learner states as safetensors files.

use crate::{Parameter, Weights};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Version of the files written here.
pub(crate) const VERSION: &str = "1";
/// The only key of the files' metadata: one, because a hash map has no order.
const VERSION_KEY: &str = "keiko_format_version";
/// The tensor that counts a learner's steps.
const STEPS: &str = "steps";

/// Why tensors cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// Not a whole safetensors file.
    #[error("{path}: truncated or damaged: {problem}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A file of another version.
    #[error("{path}: has format version {found}; this program reads version {VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// The version it names.
        found: String,
    },
    /// A tensor is missing, or of another shape or type.
    #[error("{path}: {tensor}: {problem}")]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor's name.
        tensor: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl StorageError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StorageError {
        let path = path.to_owned();
        move |source| StorageError::Io { path, source }
    }
}

/// Writes a file and waits until the disk has it.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StorageError> {
    let write = || {
        let mut file = std::fs::File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(StorageError::io(path))
}

/// Waits until the disk has a folder's entries.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StorageError> {
    let sync = || std::fs::File::open(path)?.sync_all();
    sync().map_err(StorageError::io(path))
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A tensor on its way to a file: name, type, shape and bytes.
type Entry = (String, Dtype, Vec<usize>, Vec<u8>);

fn entries(prefix: &str, weights: &Weights) -> impl Iterator<Item = Entry> {
    weights.parameters().iter().map(move |parameter| {
        let name = format!("{prefix}{}", parameter.name);
        (name, Dtype::F32, parameter.shape.clone(), bytes_of(&parameter.values))
    })
}

fn serialized(entries: &[Entry]) -> Vec<u8> {
    let metadata = HashMap::from([(VERSION_KEY.to_owned(), VERSION.to_owned())]);
    let views = entries.iter().map(|(name, dtype, shape, bytes)| {
        let view = TensorView::new(*dtype, shape.clone(), bytes);
        (name.as_str(), view.expect("as many bytes as the shape has entries"))
    });
    safetensors::serialize(views, Some(metadata)).expect("tensors in memory can be written")
}

/// Named f32 tensors with their shapes as the bytes of a safetensors file.
pub(crate) fn tensors_to_bytes(tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
    let entry = |&(name, shape, values): &(&str, &[usize], &[f32])| -> Entry {
        (name.to_owned(), Dtype::F32, shape.to_vec(), bytes_of(values))
    };
    serialized(&tensors.iter().map(entry).collect::<Vec<_>>())
}

/// Named f32 tensors from the bytes of a safetensors file.
pub(crate) fn tensors_from_bytes<const N: usize>(
    path: &Path,
    bytes: &[u8],
    names: [&str; N],
) -> Result<[Vec<f32>; N], StorageError> {
    let damaged = |problem: String| StorageError::Damaged { path: path.to_owned(), problem };
    let file = SafeTensors::deserialize(bytes).map_err(|error| damaged(error.to_string()))?;
    let mut found = names.map(|_| Vec::new());
    for (name, values) in names.into_iter().zip(&mut found) {
        let tensor = file.tensor(name).map_err(|error| damaged(error.to_string()))?;
        if tensor.dtype() != Dtype::F32 {
            return Err(damaged(format!("{name} is not f32")));
        }
        let numbers = tensor.data().chunks_exact(4);
        let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
        *values = numbers.map(number).collect();
    }
    Ok(found)
}

/// Weights as the bytes of a safetensors file.
pub(crate) fn weights_to_bytes(weights: &Weights) -> Vec<u8> {
    serialized(&entries("", weights).collect::<Vec<_>>())
}

/// Weights from the bytes of a safetensors file; names and shapes must be those of `like`.
pub(crate) fn weights_from_bytes(
    path: &Path,
    bytes: &[u8],
    like: &Weights,
) -> Result<Weights, StorageError> {
    let file = Reader::new(path, bytes)?;
    file.expect_tensors(like.parameters().len())?;
    file.weights("", like)
}

/// Writes several sets of weights and a counter, under a temporary name first.
pub(crate) fn write_state(
    path: &Path,
    parts: &[(&str, &Weights)],
    steps: u64,
) -> Result<(), StorageError> {
    let mut all: Vec<Entry> = Vec::new();
    for (name, weights) in parts {
        all.extend(entries(&format!("{name}."), weights));
    }
    all.push((STEPS.to_owned(), Dtype::U64, vec![], steps.to_le_bytes().to_vec()));
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let temporary = PathBuf::from(temporary);
    write_synced(&temporary, &serialized(&all))?;
    std::fs::rename(&temporary, path).map_err(StorageError::io(path))?;
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
}

/// Reads what [`write_state`] wrote.
pub(crate) fn read_state<const N: usize>(
    path: &Path,
    parts: [&str; N],
    like: &Weights,
) -> Result<(u64, [Weights; N]), StorageError> {
    let bytes = std::fs::read(path).map_err(StorageError::io(path))?;
    let file = Reader::new(path, &bytes)?;
    file.expect_tensors(N * like.parameters().len() + 1)?;
    let mut weights = Vec::with_capacity(N);
    for part in parts {
        weights.push(file.weights(&format!("{part}."), like)?);
    }
    let weights = weights.try_into().expect("one for each part");
    Ok((file.counter(STEPS)?, weights))
}

/// A safetensors file in memory.
struct Reader<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Reader<'a>, StorageError> {
        let damaged = |problem: safetensors::SafeTensorError| StorageError::Damaged {
            path: path.to_owned(),
            problem: problem.to_string(),
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let found = header.metadata().as_ref().and_then(|it| it.get(VERSION_KEY));
        if found.is_none_or(|found| found != VERSION) {
            let found = found.map_or("none", String::as_str).to_owned();
            return Err(StorageError::Version { path: path.to_owned(), found });
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        Ok(Reader { path, tensors })
    }

    fn tensor_error(&self, tensor: &str, problem: String) -> StorageError {
        StorageError::Tensor { path: self.path.to_owned(), tensor: tensor.to_owned(), problem }
    }

    fn expect_tensors(&self, count: usize) -> Result<(), StorageError> {
        let found = self.tensors.len();
        if found == count {
            return Ok(());
        }
        let problem = format!("has {found} tensors; this network has {count}");
        Err(StorageError::Damaged { path: self.path.to_owned(), problem })
    }

    fn view(
        &self,
        name: &str,
        dtype: Dtype,
        shape: &[usize],
    ) -> Result<TensorView<'a>, StorageError> {
        let missing = |_| self.tensor_error(name, "is missing".to_owned());
        let view = self.tensors.tensor(name).map_err(missing)?;
        if view.dtype() != dtype || view.shape() != shape {
            let (found, found_shape) = (view.dtype(), view.shape());
            let problem = format!("is {found:?} {found_shape:?}; expected {dtype:?} {shape:?}");
            return Err(self.tensor_error(name, problem));
        }
        Ok(view)
    }

    fn weights(&self, prefix: &str, like: &Weights) -> Result<Weights, StorageError> {
        let mut weights = like.clone();
        for parameter in weights.parameters_mut() {
            let name = format!("{prefix}{}", parameter.name);
            let view = self.view(&name, Dtype::F32, &parameter.shape)?;
            read_values(parameter, view.data());
        }
        if let Some(name) = weights.first_non_finite() {
            let problem = "holds a NaN or an infinity".to_owned();
            return Err(self.tensor_error(&format!("{prefix}{name}"), problem));
        }
        Ok(weights)
    }

    fn counter(&self, name: &str) -> Result<u64, StorageError> {
        let view = self.view(name, Dtype::U64, &[])?;
        let bytes = view.data().try_into().expect("a scalar of 8 bytes");
        Ok(u64::from_le_bytes(bytes))
    }
}

fn read_values(parameter: &mut Parameter, bytes: &[u8]) {
    for (value, bytes) in parameter.values.iter_mut().zip(bytes.chunks_exact(4)) {
        *value = f32::from_le_bytes(bytes.try_into().expect("chunks of 4 bytes"));
    }
}
