//! A published network's card: what its weights are, for people and programs.

use crate::network::read_text;
use crate::{Architecture, Calibration, FORMAT_VERSION, NetworkError};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a network is: everything a user of its weights has to know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Version of the folder's format.
    pub format_version: u32,
    /// The game's name.
    pub game: String,
    /// Hash of the compiled rules, as 16 hexadecimal digits.
    pub rules_hash: String,
    /// Board size, files.
    pub files: usize,
    /// Board size, ranks.
    pub ranks: usize,
    /// Names of the input planes, in order.
    pub planes: Vec<String>,
    /// Names of the policy planes, in order.
    pub labels: Vec<String>,
    /// Whose chances the value is.
    pub value_perspective: String,
    /// Learner steps behind the weights.
    pub step: u64,
    /// Games they were learned from.
    pub games: u64,
    /// Positions drawn in learning.
    pub positions: u64,
    /// SHA-256 of the weights' file, in hexadecimal digits.
    pub sha256: String,
    /// The weights' licence.
    pub licence: String,
    /// The network's size.
    pub architecture: Architecture,
    /// What the network answers.
    pub heads: Heads,
    /// What 8-bit activations have to hold: two numbers a block, what its two convolutions read
    /// at most. Networks published before 2026-12 have none.
    pub calibration: Option<Calibration>,
}

/// What the network answers, in words.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heads {
    /// The policy.
    pub policy: String,
    /// The chances.
    pub wdl: String,
    /// The length of the rest of the game.
    pub moves_left: String,
}

impl Heads {
    pub(crate) fn described() -> Heads {
        let scale = crate::MOVES_LEFT_SCALE;
        Heads {
            policy: "logits [labels, squares], the mover's view; softmax over legal moves".into(),
            wdl: "logits of win, draw, loss".into(),
            moves_left: format!("plies = {scale} * softplus(output)"),
        }
    }
}

/// Reads a card of any version this program knows.
pub(crate) fn read_card(path: &Path) -> Result<Card, NetworkError> {
    let text = read_text(path)?;
    let broken = |problem: String| NetworkError::Card { path: path.to_owned(), problem };
    // The version first: a newer card may have keys this program does not know.
    let mut table: toml::Table =
        toml::from_str(&text).map_err(|error| broken(error.message().to_owned()))?;
    let version = table.get("format_version").and_then(toml::Value::as_integer);
    let found = version.ok_or_else(|| broken("it has no format_version".to_owned()))?;
    if found != i64::from(FORMAT_VERSION) {
        return Err(NetworkError::Version { path: path.to_owned(), found });
    }
    complete(&mut table);
    table.try_into().map_err(|error: toml::de::Error| broken(error.message().to_owned()))
}

/// Cards of networks published before 2026-12 do not say what those networks had no choice in.
fn complete(card: &mut toml::Table) {
    let plain = toml::Table::try_from(Architecture::plain(0, 0)).expect("plain data");
    if let Some(toml::Value::Table(architecture)) = card.get_mut("architecture") {
        for (key, value) in plain {
            if key != "channels" && key != "blocks" {
                architecture.entry(key).or_insert(value);
            }
        }
    }
}
