//! A game of a match as a line of JSON, and back.

use crate::arena::{Played, first_players_color};
use crate::elo::GameResult;
use keiko_rules::{Color, Game, Move, Outcome, Rules, SfenError, UsiError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A game of a match, with all that is kept of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scoresheet {
    /// Its number: pair `number / 2`; the first player is Black in even games.
    pub number: u64,
    /// Who was Black.
    pub black: String,
    /// Who was White.
    pub white: String,
    /// The position it began with.
    pub sfen: String,
    /// How many of the moves are the opening.
    pub opening: usize,
    /// All moves, in USI.
    pub moves: Vec<String>,
    /// Who has won.
    pub winner: Winner,
    /// Why: a reason, or a fault (`illegal_move`, `crash`, `time`).
    pub reason: String,
    /// How long each move after the opening took.
    pub milliseconds: Vec<u64>,
}

/// Who has won a game.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Winner {
    /// Black.
    Black,
    /// White.
    White,
    /// Nobody.
    Draw,
}

/// Why a scoresheet is no game.
#[derive(Debug, thiserror::Error)]
pub enum ScoresheetError {
    /// It begins with no position.
    #[error(transparent)]
    Start(#[from] SfenError),
    /// A move is none.
    #[error(transparent)]
    Move(#[from] UsiError),
}

impl Scoresheet {
    /// Of a game between two players, the first player named first.
    pub fn of(played: &Played, players: [&str; 2]) -> Scoresheet {
        let [first, second] = players.map(str::to_owned);
        let (black, white) = match first_players_color(played.number) {
            Color::Black => (first, second),
            Color::White => (second, first),
        };
        let rules = played.game.rules();
        Scoresheet {
            number: played.number,
            black,
            white,
            sfen: played.game.start_sfen(),
            opening: played.opening,
            moves: played.game.moves().map(|mv| mv.to_usi(rules)).collect(),
            winner: match played.outcome {
                Outcome::Win(Color::Black) => Winner::Black,
                Outcome::Win(Color::White) => Winner::White,
                Outcome::Draw => Winner::Draw,
            },
            reason: played.cause.to_string(),
            milliseconds: played.times.iter().map(|time| time.as_millis() as u64).collect(),
        }
    }

    /// The game, move by move.
    ///
    /// # Errors
    /// When it is none by these rules.
    pub fn game(&self, rules: &Arc<Rules>) -> Result<Game, ScoresheetError> {
        let mut game = Game::from_sfen(Arc::clone(rules), &self.sfen)?;
        for text in &self.moves {
            let mv = Move::from_usi(rules, game.position(), text)?;
            game.play(mv);
        }
        Ok(game)
    }

    /// Who has won.
    pub fn outcome(&self) -> Outcome {
        match self.winner {
            Winner::Black => Outcome::Win(Color::Black),
            Winner::White => Outcome::Win(Color::White),
            Winner::Draw => Outcome::Draw,
        }
    }

    /// The result for the first player.
    pub fn result(&self) -> GameResult {
        match self.outcome() {
            Outcome::Draw => GameResult::Draw,
            Outcome::Win(color) if color == first_players_color(self.number) => GameResult::Win,
            Outcome::Win(_) => GameResult::Loss,
        }
    }
}
