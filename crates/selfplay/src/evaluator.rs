//! The one seam of keiko: what a search asks of a network, and nothing more.

use crate::Wdl;
use keiko_rules::{Game, Move};

/// A pushed position's place in the evaluator's current batch.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Slot(pub usize);

/// What an evaluator says of a position, from the view of its side to move.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Evaluation<'a> {
    /// Chances of a win, a draw and a loss for the side to move.
    pub wdl: Wdl,
    /// Expected number of plies to the end of the game.
    pub moves_left: f32,
    /// One probability for each legal move, parallel to the pushed `legal`; they sum to 1.
    pub prior: &'a [f32],
}

/// Evaluates positions in batches: `push` some, `run` once, `read` each.
///
/// `push` reads all it needs at once, so the game may move on before `run`. A position's
/// evaluation must not depend on what else is in its batch: the same bits alone, in any
/// batch, at any place.
pub trait Evaluator {
    /// Takes a position with its legal moves (never empty) into the current batch.
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot;
    /// Evaluates everything pushed since the last `run`.
    fn run(&mut self);
    /// The evaluation of a slot of the batch that was run last.
    fn read(&self, slot: Slot) -> Evaluation<'_>;
    /// How many positions one `run` takes at its best; callers need not fill it.
    fn batch_size(&self) -> usize;
}

/// Knows nothing: every move is as good as any other, and the game is a coin toss.
#[derive(Clone, Default, Debug)]
pub struct UniformEvaluator {
    prior: Vec<f32>,
    pushed: Vec<std::ops::Range<usize>>,
    has_run: bool,
}

impl Evaluator for UniformEvaluator {
    fn push(&mut self, _game: &Game, legal: &[Move]) -> Slot {
        if std::mem::take(&mut self.has_run) {
            self.prior.clear();
            self.pushed.clear();
        }
        let start = self.prior.len();
        let share = 1.0 / legal.len() as f32;
        self.prior.resize(start + legal.len(), share);
        self.pushed.push(start..self.prior.len());
        Slot(self.pushed.len() - 1)
    }

    fn run(&mut self) {
        self.has_run = true;
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        Evaluation {
            wdl: Wdl { win: 0.5, draw: 0.0, loss: 0.5 },
            moves_left: 0.0,
            prior: &self.prior[self.pushed[slot.0].clone()],
        }
    }

    fn batch_size(&self) -> usize {
        1
    }
}
