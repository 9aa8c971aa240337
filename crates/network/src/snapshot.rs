//! A learner's averaged weights as they stood at a step, for who plays on while it learns.

use crate::{StorageError, Weights, storage};
use std::path::Path;

/// What the file's tensors are called.
const PART: &str = "average";

/// Averaged weights, and the learner's step they are of.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    /// The weights.
    pub weights: Weights,
    /// The step.
    pub step: u64,
}

impl Snapshot {
    /// Writes it as one safetensors file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), StorageError> {
        storage::write_state(path, &[(PART, &self.weights)], self.step)
    }

    /// Reads what `save` wrote; names and shapes must be those of `like`.
    ///
    /// # Errors
    /// When the file is missing, damaged or of another network.
    pub fn load(path: &Path, like: &Weights) -> Result<Snapshot, StorageError> {
        let (step, [weights]) = storage::read_state(path, [PART], like)?;
        Ok(Snapshot { weights, step })
    }
}
