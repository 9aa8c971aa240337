//! An outside engine that plays: asked for one move after the other, and started again where it
//! crashed.

use crate::Failure;
use crate::external::{
    Clocks, EngineSpec, ExternalEngine, ExternalError, Letters, Limit, Protocol, Reply,
    XBoardEngine, written,
};
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
    /// Why it was of no use when that game began.
    trouble: Option<ExternalError>,
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
        Ok(ExternalPlayer { spec, rules, engine, number: None, trouble: None })
    }

    /// Starts the engine where there is none, and tells it of games that begin.
    fn make_ready(&mut self, turn: &Turn<'_>) -> Result<(), PlayerError> {
        let mut engine = match self.engine.take() {
            Some(engine) => engine,
            None => {
                self.number = None;
                let engine = Engine::start(&self.spec, &self.rules);
                engine.map_err(|error| PlayerError(error.to_string()))?
            }
        };
        if self.number != Some(turn.number) {
            self.number = Some(turn.number);
            self.trouble = engine.new_game().err();
        }
        self.engine = Some(engine);
        Ok(())
    }

    /// Its answer to a turn.
    fn answer(&mut self, turn: &Turn<'_>) -> Result<Answer, PlayerError> {
        if self.engine.is_none() {
            // It ended in the same turn of another game.
            self.make_ready(turn)?;
        }
        let trouble = self.trouble.take();
        let engine = self.engine.as_mut().expect("it was started where there was none");
        if let Limit::Clock(control) = self.spec.limit {
            engine.set_clocks(control.after(turn.times, turn.game.side_to_move()));
        }
        let reply = trouble.map_or_else(|| engine.best_move(turn.game), Err);
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
        let letters = self.engine.as_ref().and_then(Engine::letters);
        let text = letters.map_or(text.to_owned(), |letters| letters.ours(text));
        match self.spec.protocol {
            Protocol::Usi => Move::from_usi(&self.rules, game.position(), &text),
            Protocol::Uci | Protocol::XBoard => Move::from_uci(&self.rules, game.position(), &text),
        }
    }
}

impl Player for ExternalPlayer {
    fn prepare(&mut self, turns: &[Turn<'_>]) -> Result<(), PlayerError> {
        turns.first().map_or(Ok(()), |turn| self.make_ready(turn))
    }

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
            Protocol::XBoard => {
                Engine::XBoard(XBoardEngine::start(spec, rules.name(), rules.start_sfen())?)
            }
            Protocol::Usi | Protocol::Uci => {
                Engine::Usi(ExternalEngine::start(spec, rules.name(), rules.start_sfen())?)
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
            Engine::Usi(engine) => {
                let (start, moves) = written(engine.protocol(), engine.letters(), game);
                engine.best_move(&start, &moves)
            }
        }
    }

    fn set_clocks(&mut self, clocks: Clocks) {
        match self {
            Engine::Usi(engine) => engine.set_clocks(clocks),
            Engine::XBoard(engine) => engine.set_clocks(clocks),
        }
    }

    /// How it writes the game's pieces, if it has said.
    fn letters(&self) -> Option<&Letters> {
        match self {
            Engine::Usi(engine) => engine.letters(),
            Engine::XBoard(engine) => engine.letters(),
        }
    }
}
