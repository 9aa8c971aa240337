//! How games end.

use crate::Color;
use serde::{Deserialize, Serialize};

/// The result of a game, absolute: it names the winner, not the side to move.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// This side has won.
    Win(Color),
    /// Nobody has.
    Draw,
}

/// What ended a game. Stored games number the reasons in this order: new ones go to the end.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub enum Reason {
    /// No legal move, in check.
    Mate,
    /// No legal move, not in check.
    Stalemate,
    /// The royal piece was taken.
    RoyalCaptured,
    /// The royal piece stands on its last rank and cannot be taken.
    Try,
    /// The position occurred too often.
    Repetition,
    /// The position occurred too often, and every move of one side gave check.
    PerpetualCheck,
    /// The game reached its length limit.
    PlyLimit,
    /// A side had nothing but its royal piece.
    BareRoyal,
    /// The side to move declared that its royal piece has come through.
    Declaration,
    /// A search has proven the result; the rest was not played. No law ends a game so: self-play
    /// does.
    Proven,
    /// A side gave the game up. No law ends a game so, either.
    Resignation,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 11] = [
        Reason::Mate,
        Reason::Stalemate,
        Reason::RoyalCaptured,
        Reason::Try,
        Reason::Repetition,
        Reason::PerpetualCheck,
        Reason::PlyLimit,
        Reason::BareRoyal,
        Reason::Declaration,
        Reason::Proven,
        Reason::Resignation,
    ];
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::Mate => "mate",
            Reason::Stalemate => "stalemate",
            Reason::RoyalCaptured => "royal_captured",
            Reason::Try => "try",
            Reason::Repetition => "repetition",
            Reason::PerpetualCheck => "perpetual_check",
            Reason::PlyLimit => "ply_limit",
            Reason::BareRoyal => "bare_royal",
            Reason::Declaration => "declaration",
            Reason::Proven => "proven",
            Reason::Resignation => "resignation",
        })
    }
}

/// A game's result and what brought it about.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct Ending {
    /// Who has won, if anybody.
    pub outcome: Outcome,
    /// Why.
    pub reason: Reason,
}

impl Ending {
    /// A win for `winner`.
    pub(crate) const fn win(winner: Color, reason: Reason) -> Ending {
        Ending { outcome: Outcome::Win(winner), reason }
    }

    /// A loss for `loser`, or a draw where nobody loses.
    pub(crate) fn lost_by(loser: Option<Color>, reason: Reason) -> Ending {
        let outcome = loser.map_or(Outcome::Draw, |side| Outcome::Win(side.opponent()));
        Ending { outcome, reason }
    }
}
