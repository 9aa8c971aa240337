//! A published network: a folder with the weights and a card that says what they are.

mod error;

pub use error::NetworkError;

use crate::card::{Card, Heads, read_card};
use crate::golden::Answers;
use crate::{
    Calibration, Encoding, Features, Inference, Precision, SUMS_FILE, StorageError, Weights,
    golden, onnx, storage, sums,
};
use keiko_rules::Rules;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Version of published networks.
pub const FORMAT_VERSION: u32 = 1;
/// The weights' file name in a network's folder.
pub const WEIGHTS_FILE: &str = "weights.safetensors";
/// The card's file name in a network's folder.
pub const CARD_FILE: &str = "card.toml";
/// The file in a network's folder that has the game's table.
pub const VARIANT_FILE: &str = "variant.toml";
/// The file in a network's folder for other programs' runtimes.
pub const ONNX_FILE: &str = "model.onnx";
/// The file in a network's folder with positions and the answers to them.
pub const GOLDEN_FILE: &str = "golden.safetensors";
/// The side whose chances the value head gives.
const PERSPECTIVE: &str = "side to move";

/// Where weights come from.
#[derive(Clone, PartialEq, Debug)]
pub struct Provenance {
    /// Learner steps behind the weights.
    pub step: u64,
    /// Games they were learned from.
    pub games: u64,
    /// Positions drawn in learning.
    pub positions: u64,
    /// The weights' licence.
    pub licence: String,
}

/// The rules of a card's game: the table's, else the embedded variant's of that name.
fn rules_of(card: &Card, variant: Option<&str>) -> Result<Rules, NetworkError> {
    match variant {
        Some(text) => Rules::from_toml(text, VARIANT_FILE).map_err(NetworkError::Variant),
        None if Rules::variants().contains(&card.game.as_str()) => {
            Rules::load(&card.game).map_err(NetworkError::Variant)
        }
        None => Err(NetworkError::NoVariant(card.game.clone())),
    }
}

/// The game's table in a network's folder.
fn read_variant(folder: &Path) -> Result<Option<String>, NetworkError> {
    let table = folder.join(VARIANT_FILE);
    let was_published = sums::read(folder)?.is_some_and(|sums| sums.contains_key(VARIANT_FILE));
    let has_table = table.exists() || was_published;
    if has_table { Ok(Some(read_text(&table)?)) } else { Ok(None) }
}

/// Weights and what they are.
#[derive(Clone, PartialEq, Debug)]
pub struct Network {
    /// What they are.
    pub card: Card,
    /// The game's table, so that the folder plays wherever it is taken; networks published
    /// before 2026-12 lack it.
    variant: Option<String>,
    /// The weights.
    pub weights: Weights,
}

impl Network {
    /// Weights of an encoding's game, with a card that describes them.
    pub fn new(
        encoding: &Encoding,
        weights: Weights,
        calibration: Calibration,
        provenance: Provenance,
    ) -> Network {
        let rules = encoding.rules();
        let card = Card {
            format_version: FORMAT_VERSION,
            game: rules.name().to_owned(),
            rules_hash: hash_text(rules),
            files: rules.files(),
            ranks: rules.ranks(),
            planes: encoding.plane_names().to_vec(),
            labels: encoding.label_names().to_vec(),
            value_perspective: PERSPECTIVE.to_owned(),
            step: provenance.step,
            games: provenance.games,
            positions: provenance.positions,
            sha256: sums::sum(&storage::weights_to_bytes(&weights)),
            licence: provenance.licence,
            architecture: weights.architecture(),
            heads: Heads::described(),
            calibration: Some(calibration),
        };
        let variant = Some(rules.source().to_owned());
        Network { card, variant, weights }
    }

    /// The rules it plays by: its own table's, else the embedded variant's of its game's name.
    ///
    /// # Errors
    /// When the table is no game, or there is none and no variant has the name.
    pub fn rules(&self) -> Result<Rules, NetworkError> {
        rules_of(&self.card, self.variant.as_deref())
    }

    /// The rules that a published network plays by, without its weights being loaded.
    ///
    /// # Errors
    /// When the folder or its card is missing or damaged, or nobody knows the game.
    pub fn read_rules(folder: &Path) -> Result<Rules, NetworkError> {
        if !folder.is_dir() {
            return Err(NetworkError::NotAFolder(folder.to_owned()));
        }
        let card = read_card(&folder.join(CARD_FILE))?;
        rules_of(&card, read_variant(folder)?.as_deref())
    }

    /// How to compute it with numbers held like this; without a wish, as fast as this processor
    /// can without losing strength.
    ///
    /// # Errors
    /// When 8 bits are asked for and the network was published without a calibration.
    pub fn inference(&self, wish: Option<Precision>) -> Result<Inference, NetworkError> {
        let calibration = self.card.calibration.clone();
        let features = Features::detect();
        let precision = wish.unwrap_or(match calibration {
            Some(_) if features.has(Precision::Int8) => Precision::Int8,
            _ if features.has(Precision::Bf16) => Precision::Bf16,
            _ => Precision::F32,
        });
        if precision == Precision::Int8 && calibration.is_none() {
            return Err(NetworkError::NotCalibrated);
        }
        Ok(Inference::cpu(precision, calibration))
    }

    /// Publishes the network as a new folder: written under a temporary name beside it, synced,
    /// then renamed, so that a half-written network never has its name.
    ///
    /// # Errors
    /// When something of that name exists, or the system refuses.
    pub fn save(&self, folder: &Path) -> Result<(), NetworkError> {
        if folder.symlink_metadata().is_ok() {
            return Err(NetworkError::Exists(folder.to_owned()));
        }
        let temporary = temporary_sibling(folder);
        let written = self.write_into(&temporary).and_then(|()| {
            // Renaming onto a folder that has appeared since fails, unless that one is empty.
            std::fs::rename(&temporary, folder).map_err(StorageError::io(folder))
        });
        if let Err(error) = written {
            // What is left behind has a temporary name; failing to remove it changes nothing.
            let _ = std::fs::remove_dir_all(&temporary);
            return Err(error.into());
        }
        Ok(storage::sync_folder(parent(folder))?)
    }

    fn write_into(&self, folder: &Path) -> Result<(), StorageError> {
        std::fs::create_dir_all(folder).map_err(StorageError::io(folder))?;
        let files = self.files();
        for (name, bytes) in &files {
            storage::write_synced(&folder.join(name), bytes)?;
        }
        storage::write_synced(&folder.join(SUMS_FILE), sums::lines(&files).as_bytes())?;
        storage::sync_folder(folder)
    }

    /// The folder's files by name.
    fn files(&self) -> BTreeMap<&'static str, Vec<u8>> {
        let bytes = storage::weights_to_bytes(&self.weights);
        let card = Card { sha256: sums::sum(&bytes), ..self.card.clone() };
        let text = toml::to_string_pretty(&card).expect("a card is plain text and numbers");
        let onnx = onnx::to_bytes(&card, &self.weights);
        let mut files = BTreeMap::from([
            (WEIGHTS_FILE, bytes),
            (CARD_FILE, text.into_bytes()),
            (ONNX_FILE, onnx),
        ]);
        if let Some(variant) = &self.variant {
            files.insert(VARIANT_FILE, variant.clone().into_bytes());
        }
        // Where the game itself is unknown, there are no positions to ask about.
        if let Ok(rules) = self.rules() {
            let encoding = Encoding::with_progress(Arc::new(rules), card.architecture.progress);
            files.insert(GOLDEN_FILE, golden::to_bytes(&self.weights, &encoding));
        }
        files
    }

    /// Checks every file of a published network, those for other programs too, and says how many
    /// there are; nothing where it was published without their sums.
    ///
    /// # Errors
    /// When one is missing, or is not what was published.
    pub fn check_files(folder: &Path) -> Result<Option<usize>, NetworkError> {
        let Some(sums) = sums::read(folder)? else { return Ok(None) };
        let ours = [WEIGHTS_FILE, CARD_FILE, VARIANT_FILE, ONNX_FILE, GOLDEN_FILE];
        let unlisted = |name: &&str| folder.join(name).exists() && !sums.contains_key(*name);
        if let Some(name) = ours.into_iter().find(unlisted) {
            return Err(NetworkError::NoSum(folder.join(name)));
        }
        for (name, expected) in &sums {
            let path = folder.join(name);
            let found = sums::sum(&read(&path)?);
            if found != *expected {
                return Err(NetworkError::Sum { path, found, expected: expected.clone() });
            }
        }
        Ok(Some(sums.len()))
    }

    /// The largest difference of this machine's answers (in full precision) to those in the
    /// folder's golden file; nothing where it has none.
    ///
    /// # Errors
    /// When the file is damaged, or is about another network.
    pub fn compare_with_golden(
        &self,
        encoding: &Encoding,
        folder: &Path,
    ) -> Result<Option<f32>, NetworkError> {
        let path = folder.join(GOLDEN_FILE);
        if !path.exists() {
            return Ok(None);
        }
        let names = ["planes", "policy", "wdl", "moves_left"];
        let [planes, policy, wdl, moves_left] =
            storage::tensors_from_bytes(&path, &read_checked(&path)?, names)?;
        let golden = Answers { policy, wdl, moves_left };
        let size = encoding.planes() * encoding.squares();
        let answers = match planes.len() % size {
            0 => Some(Answers::of(&self.weights, encoding, &planes)),
            _ => None,
        };
        let same_shape = |answers: &Answers| {
            answers.policy.len() == golden.policy.len() && answers.wdl.len() == golden.wdl.len()
        };
        match answers.filter(same_shape) {
            Some(answers) => Ok(Some(answers.difference(&golden))),
            None => Err(NetworkError::OtherGolden(path)),
        }
    }

    /// Loads a published network and checks that it is whole.
    ///
    /// # Errors
    /// When the folder or a file is missing, damaged, of another version or not finite.
    pub fn load(folder: &Path) -> Result<Network, NetworkError> {
        if !folder.is_dir() {
            return Err(NetworkError::NotAFolder(folder.to_owned()));
        }
        let card = read_card(&folder.join(CARD_FILE))?;
        let path = folder.join(WEIGHTS_FILE);
        let bytes = read(&path)?;
        let found = sums::sum(&bytes);
        if found != card.sha256 {
            return Err(NetworkError::Sum { path, found, expected: card.sha256 });
        }
        if card.architecture.fewest_bytes() > bytes.len() {
            let problem = "it says more channels and blocks than the weights' file has".to_owned();
            return Err(NetworkError::Card { path: folder.join(CARD_FILE), problem });
        }
        let like = Weights::zeros(card.architecture, card.planes.len(), card.labels.len());
        let weights = storage::weights_from_bytes(&path, &bytes, &like)?;
        Ok(Network { card, variant: read_variant(folder)?, weights })
    }

    /// Whether the network plays by these rules.
    ///
    /// # Errors
    /// When it is a network of another game or of other rules.
    pub fn check_rules(&self, rules: &Rules) -> Result<(), NetworkError> {
        if self.card.game != rules.name() {
            let (network, game) = (self.card.game.clone(), rules.name().to_owned());
            return Err(NetworkError::OtherGame { network, game });
        }
        if self.card.rules_hash != hash_text(rules) {
            return Err(NetworkError::OtherRules {
                game: self.card.game.clone(),
                network: self.card.rules_hash.clone(),
                rules: hash_text(rules),
            });
        }
        Ok(())
    }

    /// How the network sees a game by these rules.
    ///
    /// # Errors
    /// When it is a network of another game, other rules, or other planes or labels.
    pub fn encoding(&self, rules: Arc<Rules>) -> Result<Arc<Encoding>, NetworkError> {
        let encoding = Encoding::with_progress(rules, self.card.architecture.progress);
        self.check(&encoding)?;
        Ok(Arc::new(encoding))
    }

    /// Whether the network sees and answers as this encoding does.
    ///
    /// # Errors
    /// When it is a network of another game, other rules, or other planes or labels.
    pub fn check(&self, encoding: &Encoding) -> Result<(), NetworkError> {
        self.check_rules(encoding.rules())?;
        same_names("planes", &self.card.planes, encoding.plane_names())?;
        same_names("labels", &self.card.labels, encoding.label_names())
    }
}

fn hash_text(rules: &Rules) -> String {
    format!("{:016x}", rules.hash())
}

fn same_names(
    what: &'static str,
    network: &[String],
    program: &[String],
) -> Result<(), NetworkError> {
    let differs = network.iter().zip(program).position(|(a, b)| a != b);
    let problem = match differs {
        Some(index) => format!(
            "number {index} is `{}` in the network, `{}` here",
            network[index], program[index]
        ),
        None if network.len() == program.len() => return Ok(()),
        None => format!("the network has {}, this program {}", network.len(), program.len()),
    };
    Err(NetworkError::OtherEncoding { what, problem })
}

fn parent(folder: &Path) -> &Path {
    folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name beside the folder that no other process uses.
fn temporary_sibling(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    parent(folder).join(format!(".{name}.tmp-{}", std::process::id()))
}

fn read(path: &Path) -> Result<Vec<u8>, NetworkError> {
    if !path.is_file() {
        return Err(NetworkError::Missing(path.to_owned()));
    }
    Ok(std::fs::read(path).map_err(StorageError::io(path))?)
}

/// A file that is what was published, where that is noted.
fn read_checked(path: &Path) -> Result<Vec<u8>, NetworkError> {
    let bytes = read(path)?;
    sums::check(path, &bytes)?;
    Ok(bytes)
}

pub(crate) fn read_text(path: &Path) -> Result<String, NetworkError> {
    let broken = |problem: String| NetworkError::Card { path: path.to_owned(), problem };
    String::from_utf8(read_checked(path)?).map_err(|error| broken(error.to_string()))
}

#[cfg(test)]
mod tests;
