//! Who plays: a network folder, `random`, or `usi:COMMAND`.

use crate::Failure;
use crate::external::{EngineSpec, ExternalEngine, Reply, split_command};
use keiko_network::{Inference, Network, NetworkEvaluator, Precision};
use keiko_rules::{Move, Rules};
use keiko_selfplay::{Puct, SearchConfig, SearchKind};
use keiko_trainer::arena::{Player, PlayerError, RandomPlayer, SearchPlayer, Turn};
use std::path::Path;
use std::sync::Arc;

/// The search of networks outside training: the paper's constants, and forced wins looked for
/// further than in training.
pub(crate) const SEARCH: SearchConfig = SearchConfig {
    kind: SearchKind::Gumbel,
    considered_moves: 16,
    c_visit: 50.0,
    c_scale: 1.0,
    leaf_mate_plies: 3,
    leaf_mate_nodes: 100,
    root_mate_plies: 9,
    root_mate_nodes: 5_000,
    root_proof_nodes: 5_000,
    puct: Puct::USUAL,
};

/// A player as named on the command line, with what is needed to seat it.
pub(crate) enum Contestant {
    /// Uniform random play.
    Random,
    /// An outside engine.
    External(EngineSpec),
    /// A published network, and how to compute it.
    Network(String, Box<Network>, Inference),
}

/// How contestants think.
pub(crate) struct Settings {
    /// Simulations a move, for networks.
    pub(crate) simulations: u32,
    /// Games side by side, for networks.
    pub(crate) batch: usize,
    /// The seed of random play.
    pub(crate) seed: u64,
}

impl Contestant {
    /// Reads `random`, `usi:COMMAND` or a network folder, perhaps with `@PRECISION`.
    pub(crate) fn parse(
        text: &str,
        engine: impl FnOnce(Vec<String>) -> EngineSpec,
    ) -> Result<Contestant, Failure> {
        if text == "random" {
            return Ok(Contestant::Random);
        }
        if let Some(command) = text.strip_prefix("usi:") {
            return Ok(Contestant::External(engine(split_command(command)?)));
        }
        let (folder, precision) = split_precision(text)?;
        let path = Path::new(folder);
        if !path.exists() {
            let message = format!(
                "`{text}` is no player: give a network's folder, `random`, or `usi:COMMAND`"
            );
            return Err(Failure::usage(message));
        }
        let network = Box::new(Network::load(path)?);
        let inference = network.inference(precision)?;
        Ok(Contestant::Network(text.to_owned(), network, inference))
    }

    /// The rules it was trained by, if it was.
    pub(crate) fn rules(&self) -> Option<Result<Rules, Failure>> {
        match self {
            Contestant::Network(_, network, _) => Some(network.rules().map_err(Failure::from)),
            Contestant::Random | Contestant::External(_) => None,
        }
    }

    /// What to call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Contestant::Random => "random".to_owned(),
            Contestant::External(spec) => spec.command.join(" "),
            Contestant::Network(name, ..) => name.clone(),
        }
    }

    /// One player of its kind, for one thread.
    pub(crate) fn seat(&self, rules: &Arc<Rules>, settings: &Settings) -> Result<Seated, Failure> {
        Ok(match self {
            Contestant::Random => Seated::Random(RandomPlayer { seed: settings.seed }),
            Contestant::External(spec) => Seated::External(ExternalPlayer::start(spec, rules)?),
            Contestant::Network(_, network, inference) => {
                let encoding = network.encoding(Arc::clone(rules))?;
                let evaluator =
                    NetworkEvaluator::new(&network.weights, encoding, settings.batch, inference);
                let simulations = settings.simulations;
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
    External(ExternalPlayer),
    Network(Box<SearchPlayer<NetworkEvaluator>>),
}

impl Player for Seated {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Move>>, PlayerError> {
        match self {
            Seated::Random(player) => player.choose(turns, stop),
            Seated::External(player) => player.choose(turns, stop),
            Seated::Network(player) => player.choose(turns, stop),
        }
    }
}

/// An outside engine, asked for one move after the other.
pub(crate) struct ExternalPlayer {
    engine: ExternalEngine,
}

impl ExternalPlayer {
    fn start(spec: &EngineSpec, rules: &Rules) -> Result<ExternalPlayer, Failure> {
        let mut engine = ExternalEngine::start(spec, rules.name())?;
        engine.new_game()?;
        Ok(ExternalPlayer { engine })
    }

    /// Its move; `None` when it resigns, or plays what the rules do not know.
    fn answer(&mut self, turn: &Turn<'_>) -> Result<Option<Move>, PlayerError> {
        let game = turn.game;
        let rules = game.rules();
        let moves: Vec<String> = game.moves().map(|mv| mv.to_usi(rules)).collect();
        let reply = self.engine.best_move(&game.start_sfen(), &moves);
        match reply.map_err(|error| PlayerError(error.to_string()))? {
            Reply::Move(text) => match Move::from_usi(rules, game.position(), &text) {
                Ok(mv) => Ok(Some(mv)),
                Err(error) => {
                    tell!("{} loses game {}: {error}", self.engine.name(), turn.number);
                    Ok(None)
                }
            },
            Reply::Resign | Reply::Win | Reply::Nothing => Ok(None),
        }
    }
}

impl Player for ExternalPlayer {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Move>>, PlayerError> {
        // An engine thinks one move at a time.
        let answer = |turn| if stop() { Ok(None) } else { self.answer(turn) };
        turns.iter().map(answer).collect()
    }
}
