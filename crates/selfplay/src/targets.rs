//! What a stored game teaches: all recomputable from the record.

use crate::{GameRecord, Wdl};
use keiko_rules::{Color, Move};

/// The targets of one position.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Targets<'a> {
    /// The improved policy; moves left out have weight 0.
    pub policy: &'a [(Move, f32)],
    /// The game's result blended with the search's opinion.
    pub wdl: Wdl,
    /// Plies to the end of the game.
    pub moves_left: f32,
}

impl GameRecord {
    /// Indices into `plies` of the positions that are trained on: those with a policy target.
    pub fn target_plies(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.plies.len()).filter(|&i| !self.plies[i].policy.is_empty())
    }

    /// The targets of ply `index`, where `side` is to move; `root_share` of the value comes
    /// from the search, the rest from the result.
    pub fn targets(&self, index: usize, side: Color, root_share: f32) -> Targets<'_> {
        let ply = &self.plies[index];
        Targets {
            policy: &ply.policy,
            wdl: Wdl::of(self.ending.outcome, side).blended(root_share, ply.root),
            moves_left: (self.plies.len() - index) as f32,
        }
    }
}
