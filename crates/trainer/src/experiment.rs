//! An experiment: one complete TOML file that says all that changes results.

mod checks;
mod keys;
mod older;
mod origin;
mod sections;
mod unknown;

pub use keys::Key;
pub use origin::{Explained, Origin};
pub(crate) use sections::MEBIBYTE;
pub use sections::{ArenaConfig, InferenceConfig, MachineConfig, TrainingConfig};

use keiko_network::{Architecture, Encoding, LearnerConfig, Weights};
use keiko_rules::{Rules, nearest};
use keiko_selfplay::{Schedule, SearchConfig, SelfPlay, SelfPlayConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Held-out games that losses are measured on: the newest ones.
pub(crate) const HOLDOUT_GAMES: usize = 128;

/// A complete experiment. Nothing in it has a hidden default.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Names the run folder.
    pub name: String,
    /// A variant's name, or the path of a variant file.
    pub rules: String,
    /// Everything random follows from it.
    pub seed: u64,
    /// The network's size.
    pub network: Architecture,
    /// Constants of the search.
    pub search: SearchConfig,
    /// How the network is computed in play; it learns in full precision.
    pub inference: InferenceConfig,
    /// How games that teach are played.
    pub selfplay: SelfPlayConfig,
    /// How much is played and learned, and in what portions.
    pub training: TrainingConfig,
    /// The optimizer and the losses.
    pub learner: LearnerConfig,
    /// How strength is measured on the way.
    pub arena: ArenaConfig,
    /// What changes time, not results (but a GPU rounds in its own way).
    pub machine: MachineConfig,
}

/// What is wrong with an experiment.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML, a key unknown or missing, or a value of a wrong type.
    #[error("{origin}: {message}")]
    Malformed {
        /// The file.
        origin: String,
        /// What and where, for people.
        message: String,
    },
    /// An override that names no key.
    #[error("--set {key}: there is no such key{hint}")]
    UnknownOverride {
        /// The key asked for.
        key: String,
        /// A suggestion, ready to print.
        hint: String,
    },
    /// An override without `=`.
    #[error("--set {0}: expected KEY=VALUE")]
    NoValue(String),
    /// A value that cannot work.
    #[error("{origin}: {key} = {found}: allowed is {allowed}")]
    Impossible {
        /// The file.
        origin: String,
        /// The key, with its section.
        key: String,
        /// The value.
        found: String,
        /// What would do.
        allowed: &'static str,
    },
}

/// Keys that may change when a run is resumed. They take effect at once; finished generations
/// stay as they are, and an unfinished one is played again if its games would differ.
const MAY_CHANGE: &[&str] = &[
    "selfplay.full_simulations",
    "selfplay.cheap_simulations",
    "training.generations",
    "training.samples_per_position",
    "training.window_games",
    "training.window_exponent",
    "training.learning_rate",
    "training.learning_retries",
    "training.retry_rate_factor",
    "inference.",
    "arena.",
    "machine.",
];

/// A key whose value differs between two experiments.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The key, with its section.
    pub key: String,
    /// The value of the run.
    pub was: String,
    /// The value asked for.
    pub is: String,
    /// Whether a run may go on with it.
    pub allowed: bool,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} -> {}", self.key, self.was, self.is)
    }
}

impl Experiment {
    /// Reads an experiment file and applies `KEY=VALUE` overrides to it.
    ///
    /// # Errors
    /// When the file cannot be read or does not make a possible experiment.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Experiment, ExperimentError> {
        let origin = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ExperimentError::Unreadable { path: origin.clone(), source })?;
        Experiment::parse(&text, &origin, overrides)
    }

    /// The same from a text; `origin` names it in messages.
    ///
    /// # Errors
    /// When the text does not make a possible experiment.
    pub fn parse(
        text: &str,
        origin: &str,
        overrides: &[String],
    ) -> Result<Experiment, ExperimentError> {
        let malformed = |error: toml::de::Error| ExperimentError::Malformed {
            origin: origin.to_owned(),
            message: explain(&error, text),
        };
        let mut table: toml::Table = toml::from_str(text).map_err(malformed)?;
        if !older::complete(&mut table) {
            // Only the text knows its lines, so its own mistakes are found first.
            toml::from_str::<Experiment>(text).map_err(malformed)?;
        }
        for one in overrides {
            apply_override(&mut table, one)?;
        }
        let whole = toml::to_string(&table).expect("a table that was read can be written");
        let experiment: Experiment = toml::from_str(&whole).map_err(|error| {
            let set: String = overrides.iter().map(|one| format!(" --set {one}")).collect();
            let with = if set.is_empty() { "" } else { " with" };
            let origin = format!("{origin}{with}{set}");
            // Nobody wrote the lines of this text.
            let message = without_types(error.message()).to_owned() + &advice(&error, &whole);
            ExperimentError::Malformed { origin, message }
        })?;
        experiment.validate(|key| format!("{origin}, {}", origin::origin(text, overrides, key)))?;
        Ok(experiment)
    }

    /// The complete file, every value resolved.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("an experiment is plain data")
    }

    /// How the network sees a game by these rules.
    pub fn encoding(&self, rules: &Arc<Rules>) -> Arc<Encoding> {
        Arc::new(Encoding::with_progress(Arc::clone(rules), self.network.progress))
    }

    /// Self-play of a generation by the network of a step; the archive is for a run to fill.
    pub fn selfplay(&self, rules: &Arc<Rules>, network: u64, generation: u64) -> SelfPlay {
        // Rounded to whole ones, far fewer than a float holds exactly.
        let simulations = |schedule: &Schedule| schedule.at(generation).round() as u32;
        SelfPlay {
            rules: Arc::clone(rules),
            search: self.search,
            full_simulations: simulations(&self.selfplay.full_simulations),
            cheap_simulations: simulations(&self.selfplay.cheap_simulations),
            archive: Vec::new(),
            games: self.selfplay.clone(),
            seed: self.seed,
            network,
        }
    }

    /// The network before its first step.
    pub fn initial_weights(&self, encoding: &Encoding) -> Weights {
        Weights::init(encoding, self.network, self.seed)
    }

    /// Learner steps to take with `owed` samples outstanding: whole batches, and at least one,
    /// so that every generation's report has a step of its own.
    pub fn steps_due(&self, owed: f64) -> u64 {
        ((owed / self.training.batch_size as f64) as u64).max(1)
    }

    /// Samples that so many learner steps take.
    pub(crate) fn samples_of(&self, steps: u64) -> f64 {
        (steps * self.training.batch_size as u64) as f64
    }

    /// Games the replay window holds after `games` were played.
    pub fn window(&self, games: u64) -> usize {
        let first = self.training.window_games as f64;
        let growth = (games as f64 / first).max(1.0).powf(self.training.window_exponent);
        (first * growth) as usize
    }

    /// The games that a run with so many of complete generations reads when it goes on: the window,
    /// the held-out games that are measured, and the last generation.
    pub(crate) fn games_in_use(&self, games: u64) -> Range<u64> {
        let window = self.window(games) as u64;
        let holdout = HOLDOUT_GAMES as u64 * self.training.holdout_every;
        let most = window.max(holdout).max(self.training.games_per_generation);
        // Twice as many: every second game may be held out.
        games.saturating_sub(most * 2)..games
    }

    /// The keys in which `asked` differs from this experiment.
    pub fn changes(&self, asked: &Experiment) -> Vec<Change> {
        let (was, is) = (self.flat(), asked.flat());
        let keys: std::collections::BTreeSet<_> = was.keys().chain(is.keys()).collect();
        let value =
            |map: &BTreeMap<String, String>, key: &str| map.get(key).cloned().unwrap_or_default();
        keys.into_iter()
            .filter(|key| was.get(*key) != is.get(*key))
            .map(|key| Change {
                key: key.clone(),
                was: value(&was, key),
                is: value(&is, key),
                allowed: MAY_CHANGE
                    .iter()
                    .any(|may| key == may || (may.ends_with('.') && key.starts_with(may))),
            })
            .collect()
    }

    /// Every key with its sections, and its value as TOML.
    pub(crate) fn flat(&self) -> BTreeMap<String, String> {
        let table = toml::Table::try_from(self).expect("an experiment is plain data");
        let text = |(key, value): (String, &toml::Value)| (key, value.to_string());
        entries(&table).into_iter().map(text).collect()
    }
}

/// The parser's message with the line it shows, and what would do instead.
fn explain(error: &toml::de::Error, text: &str) -> String {
    if let Some(complaint) = unknown::complaint(text).filter(|_| is_missing(error)) {
        return complaint;
    }
    let message = error.to_string();
    without_types(message.trim_end()).to_owned() + &advice(error, text)
}

fn is_missing(error: &toml::de::Error) -> bool {
    error.message().starts_with("missing field")
}

/// A complaint about a type or a value without the names that Rust has for what it wanted.
fn without_types(message: &str) -> &str {
    match message.rfind("invalid ") {
        Some(start) => {
            message[start..].find(", expected ").map_or(message, |end| &message[..start + end])
        }
        None => message,
    }
}

/// A spelling suggestion where a name is unknown, and what a key may be whose value is wrong.
fn advice(error: &toml::de::Error, text: &str) -> String {
    let message = error.message();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let hint = match quoted.split_first() {
        Some((unknown, known)) if message.starts_with("unknown") => {
            nearest(unknown, known.iter().copied())
        }
        _ => None,
    };
    let hint = hint.map_or(String::new(), |found| format!("\ndid you mean `{found}`?"));
    let key = error.span().and_then(|bytes| origin::key_at(text, &bytes));
    let key = Experiment::keys().into_iter().find(|it| Some(&it.name) == key.as_ref());
    hint + &key
        .map_or(String::new(), |it| format!("\n{} may be {}: {}", it.name, it.allowed, it.meaning))
}

fn apply_override(table: &mut toml::Table, text: &str) -> Result<(), ExperimentError> {
    let (path, value) =
        text.split_once('=').ok_or_else(|| ExperimentError::NoValue(text.to_owned()))?;
    let (path, value) = (path.trim(), value.trim());
    let known: Vec<String> = entries(table).into_iter().map(|(key, _)| key).collect();
    if !known.iter().any(|key| key == path) {
        let hint = nearest(path, known.iter().map(String::as_str));
        let hint = hint.map_or(String::new(), |found| format!("; did you mean `{found}`?"));
        return Err(ExperimentError::UnknownOverride { key: path.to_owned(), hint });
    }
    // What is no TOML value is meant as text: --set rules=doubutsu.
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
    let value = parsed.and_then(|mut t| t.remove("value")).unwrap_or_else(|| value.into());
    let mut names: Vec<&str> = path.split('.').collect();
    let key = names.pop().expect("a path has a last name");
    let section = names.into_iter().fold(table, |table, name| {
        let inner = table.get_mut(name).and_then(toml::Value::as_table_mut);
        inner.expect("a known key's sections are tables")
    });
    section.insert(key.to_owned(), value);
    Ok(())
}

/// Every value with its key, sections before it.
fn entries(table: &toml::Table) -> Vec<(String, &toml::Value)> {
    let mut all = Vec::new();
    for (key, value) in table {
        match value.as_table() {
            Some(section) => {
                let inner = entries(section).into_iter();
                all.extend(inner.map(|(name, value)| (format!("{key}.{name}"), value)));
            }
            None => all.push((key.clone(), value)),
        }
    }
    all
}
