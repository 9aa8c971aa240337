//! An outside engine that plays: asked for one move after the other, and started again where it
//! crashed.

use crate::Failure;
use crate::external::{EngineSpec, ExternalEngine, ExternalError, Protocol, Reply, XBoardEngine};
use keiko_rules::{Game, Move, Rules};
use keiko_trainer::arena::{Answer, Fault, Player, PlayerError, Turn};
use std::sync::Arc;

/// An outside engine in one seat. What it loses by an illegal move, by a crash or on time is lost;
/// after a crash another copy of it takes the next game.
pub(crate) struct ExternalPlayer {
    spec: EngineSpec,
    rules: Arc<Rules>,
    /// `None` once it has ended.
    engine: Option<Engine>,
    /// The number of the game in hand.
    number: Option<u64>,
}

/// A running engine.
enum Engine {
    Usi(ExternalEngine),
    XBoard(XBoardEngine),
}

impl ExternalPlayer {
    pub(crate) fn start(spec: &EngineSpec, rules: &Arc<Rules>) -> Result<ExternalPlayer, Failure> {
        let engine = Some(Engine::start(spec, rules)?);
        let (spec, rules) = (spec.clone(), Arc::clone(rules));
        Ok(ExternalPlayer { spec, rules, engine, number: None })
    }

    /// Its answer to a turn.
    fn answer(&mut self, turn: &Turn<'_>) -> Result<Answer, PlayerError> {
        if self.engine.is_none() {
            let engine = Engine::start(&self.spec, &self.rules);
            self.engine = Some(engine.map_err(|error| PlayerError(error.to_string()))?);
            self.number = None;
        }
        let is_new = self.number != Some(turn.number);
        self.number = Some(turn.number);
        let engine = self.engine.as_mut().expect("it was started where there was none");
        let begun = if is_new { engine.new_game() } else { Ok(()) };
        let reply = begun.and_then(|()| engine.best_move(turn.game));
        let name = engine.name().to_owned();
        let fault = |fault, why: &dyn std::fmt::Display| {
            tell!("{name} loses game {} by {fault}: {why}", turn.number);
            Answer::Fault(fault)
        };
        Ok(match reply {
            Ok(Reply::Move(text)) => match self.read_move(turn.game, &text) {
                Ok(mv) => Answer::Move(mv),
                Err(error) => fault(Fault::IllegalMove, &error),
            },
            // A win that could be declared would have ended the game.
            Ok(Reply::Win) => fault(Fault::IllegalMove, &"it declares a win that is none"),
            Ok(Reply::Resign | Reply::Nothing) => Answer::Resign,
            Err(error) => {
                self.engine = None;
                let timeout = matches!(error, ExternalError::Timeout { .. });
                fault(if timeout { Fault::Time } else { Fault::Crash }, &error)
            }
        })
    }

    fn read_move(&self, game: &Game, text: &str) -> Result<Move, keiko_rules::UsiError> {
        match self.spec.protocol {
            Protocol::Usi => Move::from_usi(&self.rules, game.position(), text),
            Protocol::Uci | Protocol::XBoard => Move::from_uci(&self.rules, game.position(), text),
        }
    }
}

impl Player for ExternalPlayer {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError> {
        // An engine thinks one move at a time.
        let answer = |turn| if stop() { Ok(Answer::Resign) } else { self.answer(turn) };
        turns.iter().map(answer).collect()
    }
}

impl Engine {
    fn start(spec: &EngineSpec, rules: &Rules) -> Result<Engine, ExternalError> {
        Ok(match spec.protocol {
            Protocol::XBoard => Engine::XBoard(XBoardEngine::start(spec, rules.name())?),
            Protocol::Usi | Protocol::Uci => {
                Engine::Usi(ExternalEngine::start(spec, rules.name())?)
            }
        })
    }

    fn name(&self) -> &str {
        match self {
            Engine::Usi(engine) => engine.name(),
            Engine::XBoard(engine) => engine.name(),
        }
    }

    fn new_game(&mut self) -> Result<(), ExternalError> {
        match self {
            Engine::Usi(engine) => engine.new_game(),
            Engine::XBoard(engine) => engine.new_game(),
        }
    }

    fn best_move(&mut self, game: &Game) -> Result<Reply, ExternalError> {
        match self {
            Engine::XBoard(engine) => engine.best_move(game),
            Engine::Usi(engine) if engine.protocol() == Protocol::Uci => {
                engine.best_move(&game.start_position().to_fen(game.rules()), &uci_moves(game))
            }
            Engine::Usi(engine) => {
                let moves: Vec<String> = game.moves().map(|mv| mv.to_usi(game.rules())).collect();
                engine.best_move(&game.start_sfen(), &moves)
            }
        }
    }
}

fn uci_moves(game: &Game) -> Vec<String> {
    let rules = game.rules();
    let mut position = *game.start_position();
    let write = |mv: Move| {
        let text = mv.to_uci(rules, &position);
        rules.play(&mut position, mv);
        text
    };
    game.moves().map(write).collect()
}
