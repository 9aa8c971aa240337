//! Moves.

use crate::{Role, Square};
use serde::{Deserialize, Serialize};

/// A move, with meaning only in a position of some [`Rules`](crate::Rules).
#[derive(Copy, Clone, Eq, PartialEq, Hash, Ord, PartialOrd, Debug, Serialize, Deserialize)]
pub enum Move {
    /// A piece goes from one square to another.
    Board {
        /// Where it stood.
        from: Square,
        /// Where it goes.
        to: Square,
        /// Whether it turns over, to whichever face.
        turns: bool,
    },
    /// A piece comes from the hand.
    Drop {
        /// The face it shows.
        role: Role,
        /// Where it goes.
        to: Square,
    },
}

impl Move {
    /// Where the piece goes.
    #[inline]
    pub fn to(self) -> Square {
        match self {
            Move::Board { to, .. } | Move::Drop { to, .. } => to,
        }
    }

    /// Where the piece stood, unless it comes from the hand.
    #[inline]
    pub fn from(self) -> Option<Square> {
        match self {
            Move::Board { from, .. } => Some(from),
            Move::Drop { .. } => None,
        }
    }
}
