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
    /// Plies to the end of the game, those spared by a proof included; a resigned game ends where
    /// it was resigned.
    pub moves_left: f32,
    /// The chances some plies later: the search's opinions from here on, each later one with a
    /// weight smaller by the same factor, and the result at last.
    pub short_term: Wdl,
}

impl GameRecord {
    /// Indices into `plies` of the positions that are trained on: those with a policy target.
    pub fn target_plies(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.plies.len()).filter(|&i| !self.plies[i].policy.is_empty())
    }

    /// How much each of these is to be drawn, in their order and 1 on average: `surprise_share` of it
    /// by how much its search changed the network's mind, the rest alike (KataGo's "policy surprise
    /// weighting"). All alike where nothing was surprising.
    pub fn target_weights(&self, surprise_share: f64) -> Vec<f64> {
        // What is none may be less by rounding.
        let surprise = |index: usize| f64::from(self.plies[index].surprise).max(0.0);
        let surprises: Vec<f64> = self.target_plies().map(surprise).collect();
        let mean = surprises.iter().sum::<f64>() / surprises.len() as f64;
        let relative = |surprise: f64| if mean > 0.0 { surprise / mean } else { 1.0 };
        let weight = |surprise| 1.0 - surprise_share + surprise_share * relative(surprise);
        surprises.into_iter().map(weight).collect()
    }

    /// The targets of ply `index`, where `side` is to move; `root_share` of the value comes
    /// from the search, the rest from the result. The short term is so many plies on average.
    pub fn targets(
        &self,
        index: usize,
        side: Color,
        root_share: f32,
        short_term_plies: f32,
    ) -> Targets<'_> {
        let ply = &self.plies[index];
        let result = Wdl::of(self.ending.outcome, side);
        Targets {
            policy: &ply.policy,
            wdl: result.blended(root_share, ply.root),
            moves_left: self.plies_left(index) as f32,
            short_term: self.short_term(index, result, short_term_plies),
        }
    }

    fn short_term(&self, index: usize, result: Wdl, plies: f32) -> Wdl {
        let share = 1.0 / plies.max(1.0);
        let (mut sum, mut rest) = (Wdl::default(), 1.0);
        for (distance, ply) in self.plies[index..].iter().enumerate() {
            let opinion = if distance % 2 == 0 { ply.root } else { ply.root.flipped() };
            sum = sum.plus(rest * share, opinion);
            rest *= 1.0 - share;
        }
        sum.plus(rest, result)
    }

    /// What the opponent plays after ply `index`: the improved policy where the next search was a
    /// full one, else the move; nothing after the last ply.
    pub fn reply(&self, index: usize) -> Option<Vec<(Move, f32)>> {
        let next = self.plies.get(index + 1)?;
        Some(if next.policy.is_empty() { vec![(next.mv, 1.0)] } else { next.policy.clone() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Ply, Proof, Purpose, generator, samples};
    use keiko_rules::{Game, Reason, Rules};
    use rand::RngExt;
    use std::sync::Arc;

    /// Three plies of minishogi, won by the first player; the search before the second was full.
    fn record() -> GameRecord {
        let mut game = Game::new(Arc::new(Rules::load("minishogi").unwrap()));
        let opinions = [0.5, 0.25, 1.0].map(|win| Wdl { win, draw: 0.0, loss: 1.0 - win });
        let mut plies = Vec::new();
        for (index, root) in opinions.into_iter().enumerate() {
            let mut legal = Vec::new();
            game.legal_moves(&mut legal);
            let policy = if index == 1 { vec![(legal[0], 0.75), (legal[1], 0.25)] } else { vec![] };
            let full = index == 1;
            plies.push(Ply { mv: legal[0], full, root, policy, ..samples::ply() });
            game.play(legal[0]);
        }
        samples::game(plies)
    }

    #[test]
    fn the_short_term_fades_into_the_result() {
        let record = record();
        let win = |index, side, plies| record.targets(index, side, 0.25, plies).short_term.win;
        // Halves: 0.5 / 2 + (1 - 0.25) / 4 + 1 / 8 + 1 / 8.
        assert_eq!(win(0, Color::Black, 2.0), 0.6875);
        // 0.25 / 2 + 0 / 4 + 0 / 4.
        assert_eq!(win(1, Color::White, 2.0), 0.125);
        assert_eq!(win(0, Color::Black, 1.0), 0.5);
    }

    /// The record with searches of these surprises, all of them full.
    fn surprising(surprises: &[f32]) -> GameRecord {
        let record = record();
        let ply = |&surprise: &f32| Ply { surprise, ..record.plies[1].clone() };
        GameRecord { plies: surprises.iter().map(ply).collect(), ..record }
    }

    #[test]
    fn surprising_positions_weigh_more() {
        let weights = |surprises: &[f32], share| surprising(surprises).target_weights(share);
        // The mean is 1.5: a half each, and a third of the surprise.
        assert_eq!(weights(&[0.0, 1.5, 0.0, 4.5], 0.5), [0.5, 1.0, 0.5, 2.0]);
        assert_eq!(weights(&[0.0, 1.5, 0.0, 4.5], 1.0), [0.0, 1.0, 0.0, 3.0]);
        assert_eq!(weights(&[0.0, 1.5, 0.0, 4.5], 0.0), [1.0; 4]);
        assert_eq!(weights(&[0.0, -1e-7], 0.5), [1.0; 2]);
        assert!(weights(&[], 0.5).is_empty());
        // A cheap search's surprise counts for nothing: it is no target.
        let mut record = surprising(&[0.0, 1.5, 7.0, 0.0, 4.5]);
        record.plies[2].policy.clear();
        assert_eq!(record.target_weights(0.5), [0.5, 1.0, 0.5, 2.0]);
    }

    #[test]
    fn weights_are_one_on_average_and_in_the_order_of_surprise() {
        let mut rng = generator(1, Purpose::Batch, 0);
        for _ in 0..200 {
            let count = rng.random_range(1..60);
            let surprises: Vec<f32> = (0..count).map(|_| rng.random_range(0.0..3.0)).collect();
            let share = rng.random_range(0.0..1.0);
            let weights = surprising(&surprises).target_weights(share);
            assert!((weights.iter().sum::<f64>() - f64::from(count)).abs() < 1e-9);
            for (&a, &weight) in surprises.iter().zip(&weights) {
                assert!(weight >= 1.0 - share);
                assert!(surprises.iter().zip(&weights).all(|(&b, &it)| a >= b || weight <= it));
            }
        }
    }

    #[test]
    fn a_proof_stands_for_the_plies_it_spares() {
        let mut record = record();
        let left =
            |record: &GameRecord, index| record.targets(index, Color::Black, 0.25, 2.0).moves_left;
        assert_eq!((left(&record, 0), left(&record, 2), record.len()), (3.0, 1.0, 3));
        // A proof on the way to another ending spares nothing.
        record.plies[2].proof = Some(Proof::Win(5));
        assert_eq!((left(&record, 2), record.len()), (1.0, 3));
        let mut played_out = record.clone();
        for root in [Wdl::LOSS, Wdl::WIN, Wdl::LOSS, Wdl::WIN] {
            played_out.plies.push(Ply { root, proof: None, ..record.plies[0].clone() });
        }
        record.ending.reason = Reason::Proven;
        assert_eq!((left(&record, 0), left(&record, 2), record.len()), (7.0, 5.0, 7));
        for (index, side) in [(0, Color::Black), (1, Color::White), (2, Color::Black)] {
            let of = |record: &GameRecord| record.targets(index, side, 0.25, 2.0).short_term;
            let (spared, played) = (of(&record), of(&played_out));
            assert!((spared.win - played.win).abs() < 1e-6, "{spared:?} {played:?}");
            assert_eq!(left(&record, index), left(&played_out, index));
        }
        assert_eq!(record.reply(2), None);
    }

    #[test]
    fn a_reply_is_the_next_policy_or_the_next_move() {
        let record = record();
        assert_eq!(record.reply(0).unwrap(), record.plies[1].policy);
        assert_eq!(record.reply(1).unwrap(), [(record.plies[2].mv, 1.0)]);
        assert_eq!(record.reply(2), None);
    }
}
