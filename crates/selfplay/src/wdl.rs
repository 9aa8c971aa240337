//! Chances of a win, a draw and a loss: what search backs up and networks learn.

use keiko_rules::{Color, Outcome};
use serde::{Deserialize, Serialize};

/// Chances of a win, a draw and a loss, relative to one side: the point of view is the
/// holder's, usually the side to move.
#[derive(Copy, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Wdl {
    /// Chance that this side wins.
    pub win: f32,
    /// Chance of a draw.
    pub draw: f32,
    /// Chance that this side loses.
    pub loss: f32,
}

impl Wdl {
    /// A certain win.
    pub const WIN: Wdl = Wdl { win: 1.0, draw: 0.0, loss: 0.0 };
    /// A certain draw.
    pub const DRAW: Wdl = Wdl { win: 0.0, draw: 1.0, loss: 0.0 };
    /// A certain loss.
    pub const LOSS: Wdl = Wdl { win: 0.0, draw: 0.0, loss: 1.0 };

    /// The one place where an absolute outcome becomes a relative value.
    pub fn of(outcome: Outcome, side: Color) -> Wdl {
        match outcome {
            Outcome::Draw => Wdl::DRAW,
            Outcome::Win(winner) if winner == side => Wdl::WIN,
            Outcome::Win(_) => Wdl::LOSS,
        }
    }

    /// The same chances seen by the other side.
    pub fn flipped(self) -> Wdl {
        Wdl { win: self.loss, draw: self.draw, loss: self.win }
    }

    /// Expected score in [0, 1]: a win is 1, a draw one half.
    pub fn score(self) -> f32 {
        self.win + 0.5 * self.draw
    }

    /// `self + weight * other`, entry by entry.
    pub fn plus(self, weight: f32, other: Wdl) -> Wdl {
        Wdl {
            win: self.win + weight * other.win,
            draw: self.draw + weight * other.draw,
            loss: self.loss + weight * other.loss,
        }
    }

    /// Every entry times `factor`.
    pub fn scaled(self, factor: f32) -> Wdl {
        Wdl::default().plus(factor, self)
    }

    /// `(1 - share) * self + share * other`.
    pub fn blended(self, share: f32, other: Wdl) -> Wdl {
        self.scaled(1.0 - share).plus(share, other)
    }
}
