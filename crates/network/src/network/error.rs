//! Why a published network cannot be used.

use super::{FORMAT_VERSION, VARIANT_FILE};
use crate::{SUMS_FILE, StorageError};
use keiko_rules::RulesError;
use std::path::PathBuf;

/// Why a network cannot be published or loaded.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// There is no such folder.
    #[error("{0}: not a network: there is no such folder")]
    NotAFolder(PathBuf),
    /// Something of this name exists.
    #[error("{0}: exists already; a network is never overwritten")]
    Exists(PathBuf),
    /// One of the two files is missing.
    #[error("{0}: not a network: the file is missing")]
    Missing(PathBuf),
    /// The card cannot be read.
    #[error("{path}: not a network's {}: {problem}", .path.file_stem().unwrap_or_default().display())]
    Card {
        /// The card.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A network of another version.
    #[error("{path}: has format version {found}; this program reads version {FORMAT_VERSION}")]
    Version {
        /// The card.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// A file is not what was published.
    #[error(
        "{path}: truncated or changed: its SHA-256 is {found}, and was {expected} when published"
    )]
    Sum {
        /// The file.
        path: PathBuf,
        /// Its sum.
        found: String,
        /// What its sum should be.
        expected: String,
    },
    /// A file's sum is not among those of its folder.
    #[error("{0}: its SHA-256 is missing in {SUMS_FILE}, which was truncated or changed")]
    NoSum(PathBuf),
    /// The weights' file is wrong in itself.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The table that the network brings along is no game.
    #[error("the network's own table is damaged: {0}")]
    Variant(RulesError),
    /// Nobody knows the network's game.
    #[error(
        "the network plays `{0}`, which is no embedded variant, and its folder has no \
         {VARIANT_FILE}: name the game's file with --rules"
    )]
    NoVariant(String),
    /// Positions or answers of other shapes.
    #[error("{0}: is about another network: its tensors have other shapes")]
    OtherGolden(PathBuf),
    /// Nothing says what 8-bit activations have to hold.
    #[error(
        "the network was published without a calibration: it plays in f32 and bf16, not in int8"
    )]
    NotCalibrated,
    /// A network of another game.
    #[error("the network plays {network}, not {game}")]
    OtherGame {
        /// The network's game.
        network: String,
        /// The game at hand.
        game: String,
    },
    /// A network of other rules of the same name.
    #[error(
        "the network learned other rules of {game}: its rules have hash {network}, these {rules}"
    )]
    OtherRules {
        /// The game.
        game: String,
        /// Hash of the network's rules.
        network: String,
        /// Hash of the rules at hand.
        rules: String,
    },
    /// The same rules, but other inputs or answers.
    #[error("the network's {what} are not this program's: {problem}")]
    OtherEncoding {
        /// Planes or labels.
        what: &'static str,
        /// The first difference.
        problem: String,
    },
}
