//! The `[search]` and `[selfplay]` sections of an experiment. Every number here changes
//! results, so none has a hidden default.

use crate::{Budget, Ply, Puct, Schedule, Sigma};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a search chooses what to look at next.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchKind {
    /// Gumbel-top-k and sequential halving at the root, the improved policy below it.
    Gumbel,
    /// AlphaZero's rule: the score, and a bonus for moves that are likely and little visited.
    Puct,
}

/// `[search]`: the constants of the search, and how hard it looks for forced wins.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchConfig {
    /// Which search; the constants of the other one change nothing.
    pub kind: SearchKind,
    /// Gumbel: root moves considered at most; never more than half the simulations.
    pub considered_moves: usize,
    /// Gumbel: the paper's c_visit.
    pub c_visit: f32,
    /// Gumbel: the paper's c_scale.
    pub c_scale: f32,
    /// Longest forced win that is looked for at every leaf, in plies; 0 looks for none.
    pub leaf_mate_plies: u16,
    /// Positions visited at a leaf at most, looking for a forced win.
    pub leaf_mate_nodes: u64,
    /// Longest forced win that is looked for, shortest first, before a move is searched; 0 looks
    /// for none.
    pub root_mate_plies: u16,
    /// Positions visited at most before a move, looking for the shortest forced win.
    pub root_mate_nodes: u64,
    /// Positions visited at most before a move, looking for a win of any length, once no short one
    /// was found.
    pub root_proof_nodes: u64,
    /// The constants of PUCT.
    pub puct: Puct,
}

impl SearchConfig {
    /// Gumbel search with the paper's constants, and no search for forced wins.
    pub fn without_mates(considered_moves: usize) -> SearchConfig {
        SearchConfig {
            kind: SearchKind::Gumbel,
            considered_moves,
            c_visit: 50.0,
            c_scale: 1.0,
            leaf_mate_plies: 0,
            leaf_mate_nodes: 0,
            root_mate_plies: 0,
            root_mate_nodes: 0,
            root_proof_nodes: 0,
            puct: Puct::USUAL,
        }
    }

    /// The two constants that turn scores into logits.
    pub fn sigma(&self) -> Sigma {
        Sigma { c_visit: self.c_visit, c_scale: self.c_scale }
    }

    /// The budget of a search of `simulations` with this much noise, which does not explore.
    pub fn budget(&self, simulations: u32, noise: f32) -> Budget {
        let half = (simulations as usize / 2).max(1);
        let considered = self.considered_moves.min(half);
        Budget { simulations, considered, noise, explores: false }
    }
}

/// `[selfplay]`: how games that teach are played.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelfPlayConfig {
    /// Simulations of a full search, whose policy is a target, by generation.
    pub full_simulations: Schedule,
    /// Simulations of a cheap search, whose move is only played, by generation.
    pub cheap_simulations: Schedule,
    /// Share of moves that get the full search (playout cap randomisation).
    pub full_share: f64,
    /// Scale of the search noise at the first searched ply.
    pub temperature: f32,
    /// What the scale of the search noise falls to, ply by ply.
    pub final_temperature: f32,
    /// Plies in which the distance between `temperature` and `final_temperature` halves.
    pub temperature_halflife: f32,
    /// Share of games that begin from one of the rules' handicaps, each as likely. What the shares
    /// of games leave begins normally.
    pub handicap_share: f64,
    /// Share of games that begin with moves sampled from the network's policy.
    pub sampled_opening_share: f64,
    /// Most moves sampled from the policy that a game begins with.
    pub sampled_opening_plies: u32,
    /// Share of games that begin with random legal moves.
    pub random_opening_share: f64,
    /// Most random moves that a game begins with.
    pub random_opening_plies: u32,
    /// Share of games that begin like an earlier one, up to where its search was most wrong.
    pub archive_share: f64,
    /// Games of the replay window, those whose search was most wrong, that games which begin like
    /// an earlier one are chosen from.
    pub archive_games: usize,
    /// A game of this many plies is a draw.
    pub ply_limit: u32,
    /// Share of games that are played out although their result is proven; the others end there.
    pub proven_playout_share: f64,
    /// A side whose searches say less than this score, in [0, 1], resigns; with 0 none ever does.
    pub resign_below: f64,
    /// How many searches of a side in a row must say less than `resign_below` before it resigns.
    pub resign_plies: u32,
    /// Share of games in which nobody resigns: they say how often it would be wrong to.
    pub resign_playout_share: f64,
}

impl SelfPlayConfig {
    /// Whether the side that searched last, of these plies, has reason to resign.
    pub fn resigns(&self, plies: &[Ply]) -> bool {
        let scores = plies.iter().map(|ply| ply.root.score());
        are_below(scores, self.resign_below, self.resign_plies as usize)
    }

    /// The scale of the search noise at a ply, counted from the first searched one.
    pub fn temperature_at(&self, ply: usize) -> f32 {
        let left = 0.5f32.powf(ply as f32 / self.temperature_halflife);
        self.final_temperature + (self.temperature - self.final_temperature) * left
    }
}

/// Whether the last so many of every second score, the last one's side's own, are below a bound.
fn are_below(
    scores: impl DoubleEndedIterator<Item = f32> + ExactSizeIterator,
    bound: f64,
    in_a_row: usize,
) -> bool {
    let mut own = scores.rev().step_by(2).take(in_a_row);
    own.len() == in_a_row && own.all(|score| f64::from(score) < bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_losing_for_long_enough_resigns() {
        let resigns =
            |bound, in_a_row, scores: &[f32]| are_below(scores.iter().copied(), bound, in_a_row);
        // Every second opinion is the side's own.
        assert!(resigns(0.1, 3, &[0.05, 0.9, 0.05, 0.9, 0.05]));
        assert!(!resigns(0.1, 3, &[0.05, 0.9, 0.15, 0.9, 0.05]));
        assert!(resigns(0.1, 1, &[0.05, 0.9, 0.15, 0.9, 0.05]));
        // The other side's turn, and too few of them.
        assert!(!resigns(0.1, 3, &[0.05, 0.9, 0.05, 0.9, 0.05, 0.95]));
        assert!(!resigns(0.1, 3, &[0.05, 0.9, 0.05]));
        assert!(!resigns(0.0, 1, &[0.0]));
    }
}
