//! Who plays: networks, built-in opponents, outside engines.

mod outside;

use crate::Failure;
use crate::external::{EngineSpec, Limit, Protocol, split_command};
use keiko_network::{Inference, Network, NetworkEvaluator, Precision};
use keiko_rules::Rules;
use keiko_selfplay::{Puct, SearchConfig, SearchKind};
use keiko_trainer::arena::{Answer, Player, PlayerError, SearchPlayer, Turn};
use keiko_trainer::opponents::{MatePlayer, MaterialPlayer, RandomPlayer};
use outside::ExternalPlayer;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What a player may be, for messages.
const PLAYERS: &str = "a network's folder, `random`, `mate1`, `material:DEPTH`, `usi:COMMAND`, \
                       `uci:COMMAND` or `xboard:COMMAND`";

/// Deepest search of `material:DEPTH`: beyond, a move takes minutes.
const DEEPEST: u32 = 8;

/// The search of networks outside training: forced wins are looked for further than in training,
/// and moves chosen by PUCT, which makes more of many simulations than the training's sequential
/// halving. With one network, against the Gumbel search with the paper's constants: +10 Elo
/// [-12, +32] at 200 simulations a move, +90 [+52, +125] at 1,600.
pub(crate) const SEARCH: SearchConfig = SearchConfig {
    kind: SearchKind::Puct,
    considered_moves: 16,
    c_visit: 50.0,
    c_scale: 1.0,
    leaf_mate_plies: 3,
    leaf_mate_nodes: 100,
    root_mate_plies: 9,
    root_mate_nodes: 5_000,
    root_proof_nodes: 5_000,
    puct: Puct { cpuct: 1.5, cpuct_growth: 0.0, fpu_reduction: 0.3, ..Puct::USUAL },
};

/// Games a network plays side by side.
pub(crate) const BATCH: usize = 32;

/// A player as named on the command line, with what is needed to seat it.
pub(crate) enum Contestant {
    /// Uniform random play.
    Random,
    /// A mate in one, else random play.
    Mate,
    /// The most material so many plies ahead.
    Material(u32),
    /// An outside engine.
    External(EngineSpec),
    /// A published network, how to compute it, and its simulations a move.
    Network(String, Box<Network>, Inference, u32),
}

/// What a player may spend, and how an outside engine is set up.
#[derive(Clone, Debug)]
pub(crate) struct Means {
    /// Simulations a move, for networks.
    pub(crate) simulations: u32,
    /// What an outside engine may spend on a move.
    pub(crate) limit: Limit,
    /// How long it may take before it loses on time; with a clock, how late it may be.
    pub(crate) patience: Duration,
    /// Its options by name.
    pub(crate) options: Vec<(String, String)>,
}

/// How players are seated.
pub(crate) struct Settings {
    /// Games side by side, for networks.
    pub(crate) batch: usize,
    /// The seed of random play.
    pub(crate) seed: u64,
}

impl Contestant {
    /// Reads what a player is called on the command line; a network's folder perhaps with
    /// `@PRECISION` behind it.
    pub(crate) fn parse(text: &str, means: Means) -> Result<Contestant, Failure> {
        match text {
            "random" => return Ok(Contestant::Random),
            "mate1" => return Ok(Contestant::Mate),
            _ => {}
        }
        if let Some(depth) = text.strip_prefix("material:") {
            let depth = depth.parse().ok().filter(|depth| (1..=DEEPEST).contains(depth));
            let expected = format!("`{text}`: the depth is a whole number from 1 to {DEEPEST}");
            return Ok(Contestant::Material(depth.ok_or_else(|| Failure::usage(expected))?));
        }
        let protocols =
            [("usi:", Protocol::Usi), ("uci:", Protocol::Uci), ("xboard:", Protocol::XBoard)];
        for (prefix, protocol) in protocols {
            if let Some(command) = text.strip_prefix(prefix) {
                let Means { limit, patience, options, .. } = means;
                let command = split_command(command)?;
                let spec = EngineSpec { protocol, command, options, limit, patience };
                return Ok(Contestant::External(spec));
            }
        }
        let (folder, precision) = split_precision(text)?;
        let path = Path::new(folder);
        if !path.exists() {
            return Err(Failure::usage(format!("`{text}` is no player: give {PLAYERS}")));
        }
        let network = Box::new(Network::load(path)?);
        let inference = network.inference(precision)?;
        Ok(Contestant::Network(text.to_owned(), network, inference, means.simulations))
    }

    /// The rules it was trained by, if it was.
    pub(crate) fn rules(&self) -> Option<Result<Rules, Failure>> {
        match self {
            Contestant::Network(_, network, ..) => Some(network.rules().map_err(Failure::from)),
            _ => None,
        }
    }

    /// What to call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Contestant::Random => "random".to_owned(),
            Contestant::Mate => "mate1".to_owned(),
            Contestant::Material(depth) => format!("material:{depth}"),
            Contestant::External(spec) => spec.command.join(" "),
            Contestant::Network(name, ..) => name.clone(),
        }
    }

    /// All that its moves depend on, in words.
    pub(crate) fn description(&self) -> String {
        match self {
            Contestant::External(spec) => {
                let EngineSpec { protocol, command, options, limit, .. } = spec;
                format!("{protocol:?} {command:?} {options:?} {limit:?}")
            }
            Contestant::Network(name, network, _, simulations) => {
                format!("{name} {} {simulations} simulations", network.card.sha256)
            }
            other => other.name(),
        }
    }

    /// Whether it thinks about one game at a time.
    pub(crate) fn is_external(&self) -> bool {
        matches!(self, Contestant::External(_))
    }

    /// One player of its kind, for one thread.
    pub(crate) fn seat(&self, rules: &Arc<Rules>, settings: &Settings) -> Result<Seated, Failure> {
        let seed = settings.seed;
        Ok(match self {
            Contestant::Random => Seated::Random(RandomPlayer { seed }),
            Contestant::Mate => Seated::Mate(MatePlayer { seed }),
            Contestant::Material(depth) => {
                Seated::Material(MaterialPlayer::new(rules, *depth, seed))
            }
            Contestant::External(spec) => {
                Seated::External(Box::new(ExternalPlayer::start(spec, rules)?))
            }
            Contestant::Network(_, network, inference, simulations) => {
                let encoding = network.encoding(Arc::clone(rules))?;
                let evaluator =
                    NetworkEvaluator::new(&network.weights, encoding, settings.batch, inference);
                let simulations = *simulations;
                Seated::Network(Box::new(SearchPlayer { evaluator, search: SEARCH, simulations }))
            }
        })
    }
}

/// A network's folder, and the precision behind an `@`.
fn split_precision(text: &str) -> Result<(&str, Option<Precision>), Failure> {
    match text.rsplit_once('@') {
        Some((folder, name)) if !Path::new(text).exists() => {
            Ok((folder, Some(parse_precision(name)?)))
        }
        _ => Ok((text, None)),
    }
}

/// Reads an option of an engine, `NAME=VALUE`, that stands behind a flag.
pub(crate) fn split_option(flag: &str, text: &str) -> Result<(String, String), Failure> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("{flag} {text}: expected NAME=VALUE")))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Reads `f32`, `bf16` or `int8`.
pub(crate) fn parse_precision(name: &str) -> Result<Precision, Failure> {
    match name {
        "f32" => Ok(Precision::F32),
        "bf16" => Ok(Precision::Bf16),
        "int8" => Ok(Precision::Int8),
        _ => Err(Failure::usage(format!("`{name}` is no precision: those are f32, bf16, int8"))),
    }
}

/// A player ready to choose moves.
pub(crate) enum Seated {
    Random(RandomPlayer),
    Mate(MatePlayer),
    Material(MaterialPlayer),
    External(Box<ExternalPlayer>),
    Network(Box<SearchPlayer<NetworkEvaluator>>),
}

impl Player for Seated {
    fn prepare(&mut self, turns: &[Turn<'_>]) -> Result<(), PlayerError> {
        match self {
            Seated::External(player) => player.prepare(turns),
            _ => Ok(()),
        }
    }

    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError> {
        match self {
            Seated::Random(player) => player.choose(turns, stop),
            Seated::Mate(player) => player.choose(turns, stop),
            Seated::Material(player) => player.choose(turns, stop),
            Seated::External(player) => player.choose(turns, stop),
            Seated::Network(player) => player.choose(turns, stop),
        }
    }
}
