//! What a user of the engine may choose: names, ranges, meanings, whatever the protocol.

use keiko_network::Precision;
use keiko_rules::nearest;
use keiko_selfplay::{SearchConfig, SearchKind};
use std::path::PathBuf;

/// Most simulations of a search.
pub(crate) const MOST_SIMULATIONS: u32 = 1_000_000;
/// Threads at most.
pub(crate) const MOST_THREADS: u32 = 256;
/// Full strength.
pub(crate) const FULL_STRENGTH: u32 = 20;

/// The choices in force.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Options {
    /// The network's folder.
    pub(crate) network: Option<PathBuf>,
    /// How numbers are held; `None`: the fastest that keeps the strength.
    pub(crate) precision: Option<Precision>,
    /// Threads that evaluate positions.
    pub(crate) threads: u32,
    /// Mebibytes that the tree may take.
    pub(crate) memory: u32,
    /// Lines that are shown.
    pub(crate) lines: u32,
    /// From 1 to [`FULL_STRENGTH`].
    pub(crate) strength: u32,
    /// Simulations a move where there is no other limit.
    pub(crate) simulations: u32,
    /// Milliseconds lost with each move on the way to the clock and back.
    pub(crate) overhead: u32,
    /// Whether to think while the other side does.
    pub(crate) ponders: bool,
    /// A score in percent below which a search counts towards resigning; 0: never resigns.
    pub(crate) resign_below: u32,
    /// Searches in a row that have to be below it.
    pub(crate) resign_moves: u32,
    /// What chance is drawn from below full strength; 0: from the clock.
    pub(crate) seed: u32,
}

/// What a value may be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    /// A whole number.
    Spin { value: u32, least: u32, most: u32 },
    /// Yes or no.
    Check { value: bool },
    /// One of some words.
    Combo { value: String, words: Vec<String> },
    /// A folder.
    Folder { value: String },
}

/// An option as a GUI is told of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Described {
    /// Its name, without spaces.
    pub(crate) name: &'static str,
    /// Its value and what else it may be.
    pub(crate) kind: Kind,
}

impl Options {
    /// What there is to choose. Protocols have names of their own for some.
    pub(crate) fn described(&self) -> Vec<Described> {
        let spin =
            |name, value, least, most| Described { name, kind: Kind::Spin { value, least, most } };
        let folder = self.network.as_ref().map_or(String::new(), |it| it.display().to_string());
        let precision = match self.precision {
            None => "auto",
            Some(Precision::F32) => "f32",
            Some(Precision::Bf16) => "bf16",
            Some(Precision::Int8) => "int8",
        };
        let words = ["auto", "f32", "bf16", "int8"].map(str::to_owned).to_vec();
        vec![
            spin("Hash", self.memory, 16, 65_536),
            Described { name: "Ponder", kind: Kind::Check { value: self.ponders } },
            spin("Threads", self.threads, 1, MOST_THREADS),
            spin("MultiPV", self.lines, 1, 100),
            spin("Strength", self.strength, 1, FULL_STRENGTH),
            spin("Simulations", self.simulations, 1, MOST_SIMULATIONS),
            spin("MoveOverhead", self.overhead, 0, 10_000),
            spin("ResignBelow", self.resign_below, 0, 50),
            spin("ResignMoves", self.resign_moves, 1, 100),
            spin("Seed", self.seed, 0, u32::MAX),
            Described {
                name: "Precision",
                kind: Kind::Combo { value: precision.to_owned(), words },
            },
            Described { name: "Network", kind: Kind::Folder { value: folder } },
        ]
    }

    /// Sets an option by its name.
    ///
    /// # Errors
    /// What is wrong with the name or the value, for people.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let all = self.described();
        let names = || all.iter().map(|option| option.name);
        let Some(option) = all.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            let hint =
                nearest(name, names()).map_or(String::new(), |it| format!("; did you mean {it}?"));
            return Err(format!("there is no option `{name}`{hint}"));
        };
        let value = option.kind.read(value).map_err(|problem| format!("{name}: {problem}"))?;
        match (option.name, value) {
            ("Hash", Value::Number(it)) => self.memory = it,
            ("Threads", Value::Number(it)) => self.threads = it,
            ("MultiPV", Value::Number(it)) => self.lines = it,
            ("Strength", Value::Number(it)) => self.strength = it,
            ("Simulations", Value::Number(it)) => self.simulations = it,
            ("MoveOverhead", Value::Number(it)) => self.overhead = it,
            ("ResignBelow", Value::Number(it)) => self.resign_below = it,
            ("ResignMoves", Value::Number(it)) => self.resign_moves = it,
            ("Seed", Value::Number(it)) => self.seed = it,
            ("Ponder", Value::Yes(it)) => self.ponders = it,
            ("Precision", Value::Text(it)) => {
                self.precision = match it.as_str() {
                    "f32" => Some(Precision::F32),
                    "bf16" => Some(Precision::Bf16),
                    "int8" => Some(Precision::Int8),
                    _ => None,
                }
            }
            ("Network", Value::Text(it)) => {
                self.network = Some(it).filter(|it| !it.is_empty()).map(PathBuf::from);
            }
            _ => unreachable!("every option is described with its own kind"),
        }
        Ok(())
    }

    /// Simulations a move at most at this strength, and the share of chance in its moves.
    pub(crate) fn weakness(&self) -> Option<Weakness> {
        (self.strength < FULL_STRENGTH).then(|| Weakness {
            // 2 at strength 1, 1448 at 19: a doubling every second step.
            simulations: 2f64.powf(1.0 + f64::from(self.strength) / 2.0) as u32,
            noise: 0.1 * (FULL_STRENGTH - self.strength) as f32,
            // A weak player overlooks mates as well.
            mate_plies: (1 + self.strength / 5 * 2) as u16,
        })
    }
}

/// How play is weakened.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Weakness {
    /// Simulations a move at most.
    pub(crate) simulations: u32,
    /// How much of the choice of a move is left to chance.
    pub(crate) noise: f32,
    /// Forced wins that are seen, in plies.
    mate_plies: u16,
}

impl Weakness {
    /// A search that overlooks what a player of this strength does.
    pub(crate) fn search(&self, full: SearchConfig) -> SearchConfig {
        SearchConfig {
            // Its noise is drawn over all moves, not only those that were looked at.
            kind: SearchKind::Gumbel,
            leaf_mate_plies: 0,
            root_mate_plies: full.root_mate_plies.min(self.mate_plies),
            root_proof_nodes: 0,
            ..full
        }
    }
}

/// A value that was read.
enum Value {
    Number(u32),
    Yes(bool),
    Text(String),
}

impl Kind {
    fn read(&self, text: &str) -> Result<Value, String> {
        match self {
            Kind::Spin { least, most, .. } => {
                let number = text.parse().ok().filter(|it| (least..=most).contains(&it));
                let problem = || format!("`{text}` is no whole number from {least} to {most}");
                number.map(Value::Number).ok_or_else(problem)
            }
            Kind::Check { .. } => match text {
                "true" | "1" | "on" => Ok(Value::Yes(true)),
                "false" | "0" | "off" => Ok(Value::Yes(false)),
                _ => Err(format!("`{text}` is neither true nor false")),
            },
            Kind::Combo { words, .. } => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                let problem = || format!("`{text}` is none of {}", words.join(", "));
                word.cloned().map(Value::Text).ok_or_else(problem)
            }
            Kind::Folder { .. } if text == "<empty>" => Ok(Value::Text(String::new())),
            Kind::Folder { .. } => Ok(Value::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            network: None,
            precision: None,
            threads: 1,
            memory: 256,
            lines: 1,
            strength: 20,
            simulations: 800,
            overhead: 20,
            ponders: false,
            resign_below: 0,
            resign_moves: 3,
            seed: 0,
        }
    }

    #[test]
    fn every_option_that_is_described_can_be_set_and_no_other() {
        let mut chosen = options();
        for option in options().described() {
            let other = match &option.kind {
                Kind::Spin { value, least, most } => {
                    if value == least { most } else { least }.to_string()
                }
                Kind::Check { value } => (!value).to_string(),
                Kind::Combo { words, .. } => words.last().unwrap().clone(),
                Kind::Folder { .. } => "some folder".to_owned(),
            };
            let before = chosen.clone();
            chosen.set(option.name, &other).unwrap();
            assert!(chosen != before, "{}", option.name);
            assert!(!option.name.contains(' '));
        }
        let error = chosen.set("Thread", "1").unwrap_err();
        assert!(error.contains("did you mean Threads"), "{error}");
        let error = chosen.set("threads", "0").unwrap_err();
        assert!(error.contains("from 1 to 256"), "{error}");
        assert!(chosen.set("Ponder", "perhaps").is_err());
        assert!(chosen.set("Precision", "int4").unwrap_err().contains("bf16"));
    }

    #[test]
    fn strength_grows_step_by_step() {
        let weakness: Vec<Weakness> =
            (1..20).map(|strength| Options { strength, ..options() }.weakness().unwrap()).collect();
        for pair in weakness.windows(2) {
            assert!(pair[0].simulations < pair[1].simulations && pair[0].noise > pair[1].noise);
            assert!(pair[0].mate_plies <= pair[1].mate_plies);
        }
        assert_eq!(options().weakness(), None);
    }
}
