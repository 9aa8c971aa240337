//! Published networks: a folder with weights and a card that says what they are.

use crate::storage::{self, StorageError};
use crate::{Architecture, Encoding, Weights};
use keiko_rules::Rules;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Version of the folder's format.
pub const FORMAT_VERSION: u32 = 1;
/// The weights' file in a network's folder.
pub const WEIGHTS_FILE: &str = "weights.safetensors";
/// The card's file in a network's folder.
pub const CARD_FILE: &str = "card.toml";

const LICENCE: &str = "MIT OR Apache-2.0";
const VALUE_VIEW: &str = "side to move";

/// What a network's heads answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heads {
    /// Shape of the policy logits, by name.
    pub policy: String,
    /// The value logits, in order.
    pub value: Vec<String>,
    /// What the moves-left output means.
    pub moves_left: String,
}

/// What a network is: everything needed to use its weights.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Version of the folder's format.
    pub format: u32,
    /// The game's name.
    pub game: String,
    /// Hash of the compiled rules, in hexadecimal.
    pub rules_hash: String,
    /// Files of the board.
    pub files: usize,
    /// Ranks of the board.
    pub ranks: usize,
    /// Whose chances the value is.
    pub value_perspective: String,
    /// Learner steps behind the weights.
    pub step: u64,
    /// Games played so far.
    pub games: u64,
    /// Positions that were trained on so far.
    pub positions: u64,
    /// SHA-256 of the weights' file, in hexadecimal.
    pub sha256: String,
    /// Licence of the weights.
    pub licence: String,
    /// Names of the input planes, in order.
    pub planes: Vec<String>,
    /// Names of the policy planes, in order.
    pub labels: Vec<String>,
    /// The network's size.
    pub architecture: Architecture,
    /// What its heads answer.
    pub heads: Heads,
}

/// How much work is behind some weights.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// Learner steps.
    pub step: u64,
    /// Games played.
    pub games: u64,
    /// Positions that were trained on.
    pub positions: u64,
}

/// Why a network cannot be used or written.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A file cannot be read or written, or does not hold what it should.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// No folder with a card.
    #[error("{path}: no network: a network is a folder with {CARD_FILE} and {WEIGHTS_FILE}", path = .0.display())]
    NotANetwork(PathBuf),
    /// A folder is never overwritten.
    #[error("{path}: exists already, and is not overwritten", path = .0.display())]
    Exists(PathBuf),
    /// The card cannot be read.
    #[error("{path}: {message}", path = .path.display())]
    Card {
        /// The card's file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The weights' file is not the one the card describes.
    #[error("{path}: its SHA-256 is {found}; the card says {expected}", path = .path.display())]
    Checksum {
        /// The weights' file.
        path: PathBuf,
        /// SHA-256 of the file.
        found: String,
        /// SHA-256 on the card.
        expected: String,
    },
    /// A network of another game.
    #[error("this network plays {game} (rules {found}), not {wanted} (rules {expected})")]
    OtherGame {
        /// The network's game.
        game: String,
        /// Hash of its rules.
        found: String,
        /// The game asked for.
        wanted: String,
        /// Hash of that game's rules.
        expected: String,
    },
}

/// Weights and what they are.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    /// What the weights are.
    pub card: Card,
    /// The weights.
    pub weights: Weights,
}

impl Network {
    /// A network with its card filled in.
    pub fn new(encoding: &Encoding, weights: Weights, provenance: Provenance) -> Network {
        let rules = encoding.rules();
        let card = Card {
            format: FORMAT_VERSION,
            game: rules.name().to_owned(),
            rules_hash: hash_text(rules),
            files: rules.files(),
            ranks: rules.ranks(),
            value_perspective: VALUE_VIEW.to_owned(),
            step: provenance.step,
            games: provenance.games,
            positions: provenance.positions,
            sha256: hex(&storage::weights_to_bytes(&weights)),
            licence: LICENCE.to_owned(),
            planes: encoding.plane_names().to_vec(),
            labels: encoding.label_names().to_vec(),
            architecture: weights.architecture(),
            heads: Heads {
                policy: "logits [label, square], the board turned to the side to move".to_owned(),
                value: ["win", "draw", "loss"].map(str::to_owned).to_vec(),
                moves_left: format!("softplus, in units of {} plies", crate::MOVES_LEFT_SCALE),
            },
        };
        Network { card, weights }
    }

    /// Writes the network as the folder `dir`: under a temporary name, synced, then renamed.
    ///
    /// # Errors
    /// When the folder exists already or cannot be written.
    pub fn save(&self, dir: &Path) -> Result<(), NetworkError> {
        if dir.exists() {
            return Err(NetworkError::Exists(dir.to_owned()));
        }
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let temporary = dir.with_file_name(format!(".{name}.new"));
        let failed = |source| NetworkError::from(StorageError::io(&temporary)(source));
        if temporary.exists() {
            std::fs::remove_dir_all(&temporary).map_err(failed)?;
        }
        std::fs::create_dir_all(&temporary).map_err(failed)?;
        storage::write_synced(&temporary.join(WEIGHTS_FILE), &storage::weights_to_bytes(&self.weights))?;
        let card = toml::to_string(&self.card).expect("a card is plain data");
        storage::write_synced(&temporary.join(CARD_FILE), card.as_bytes())?;
        storage::sync_folder(&temporary)?;
        std::fs::rename(&temporary, dir).map_err(StorageError::io(dir))?;
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok(storage::sync_folder(parent.unwrap_or(Path::new(".")))?)
    }

    /// Reads a network's folder and checks all that can be checked without its game.
    ///
    /// # Errors
    /// When something is missing, damaged, of another format or not a number.
    pub fn load(dir: &Path) -> Result<Network, NetworkError> {
        let path = dir.join(CARD_FILE);
        if !path.is_file() {
            return Err(NetworkError::NotANetwork(dir.to_owned()));
        }
        let card = read_card(&path)?;
        let path = dir.join(WEIGHTS_FILE);
        let bytes = std::fs::read(&path).map_err(StorageError::io(&path))?;
        let found = hex(&bytes);
        if found != card.sha256 {
            return Err(NetworkError::Checksum { path, found, expected: card.sha256 });
        }
        let like = Weights::zeros(card.architecture, card.planes.len(), card.labels.len());
        let weights = storage::weights_from_bytes(&path, &bytes, &like)?;
        Ok(Network { card, weights })
    }

    /// Whether it was trained for these very rules, planes and labels.
    ///
    /// # Errors
    /// When it was not.
    pub fn check_rules(&self, encoding: &Encoding) -> Result<(), NetworkError> {
        let (rules, card) = (encoding.rules(), &self.card);
        let expected = hash_text(rules);
        let same_encoding = card.planes == encoding.plane_names() && card.labels == encoding.label_names();
        if card.rules_hash == expected && same_encoding {
            return Ok(());
        }
        Err(NetworkError::OtherGame {
            game: card.game.clone(),
            found: card.rules_hash.clone(),
            wanted: rules.name().to_owned(),
            expected,
        })
    }
}

fn read_card(path: &Path) -> Result<Card, NetworkError> {
    let text = std::fs::read_to_string(path).map_err(StorageError::io(path))?;
    let wrong = |message: String| NetworkError::Card { path: path.to_owned(), message };
    let table: toml::Table = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match table.get("format").and_then(toml::Value::as_integer) {
        Some(format) if format == i64::from(FORMAT_VERSION) => {}
        Some(format) => {
            let message = format!("format {format}; this keiko reads format {FORMAT_VERSION}, a newer one may read it");
            return Err(wrong(message));
        }
        None => return Err(wrong("has no format: not a network's card".to_owned())),
    }
    toml::from_str(&text).map_err(|error| wrong(error.to_string()))
}

fn hash_text(rules: &Rules) -> String {
    format!("{:016x}", rules.hash())
}

/// SHA-256 in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
