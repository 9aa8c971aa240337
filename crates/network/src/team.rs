//! Several evaluators of one network, a thread each, behind the seam as one: for a single game,
//! whose leaves are evaluated on all cores.

use crate::parallel::{in_parallel, threads};
use crate::{Encoding, Inference, NetworkEvaluator, Weights};
use keiko_rules::{Game, Move};
use keiko_selfplay::{Evaluation, Evaluator, Slot};
use std::sync::Arc;

/// Evaluates a batch's positions on several threads. A position has the same bits whichever of
/// them evaluates it.
#[derive(Debug)]
pub struct TeamEvaluator {
    members: Vec<NetworkEvaluator>,
    /// Positions of the batch, the next one to the member whose turn it is.
    pushed: usize,
    has_run: bool,
}

impl TeamEvaluator {
    /// A team of `threads`, which works best with `batch` positions for each.
    ///
    /// # Panics
    /// When the weights are not of the encoding's shapes.
    pub fn new(
        weights: &Weights,
        encoding: &Arc<Encoding>,
        (threads, batch): (usize, usize),
        inference: &Inference,
    ) -> TeamEvaluator {
        let member = |_| NetworkEvaluator::new(weights, Arc::clone(encoding), batch, inference);
        TeamEvaluator {
            members: (0..threads.max(1)).map(member).collect(),
            pushed: 0,
            has_run: false,
        }
    }
}

impl Evaluator for TeamEvaluator {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        if std::mem::take(&mut self.has_run) {
            self.pushed = 0;
        }
        let count = self.members.len();
        let member = self.pushed % count;
        let slot = self.members[member].push(game, legal);
        debug_assert_eq!(slot.0, self.pushed / count, "members take turns");
        self.pushed += 1;
        Slot(self.pushed - 1)
    }

    fn run(&mut self) {
        self.has_run = true;
        let busy = self.pushed.min(self.members.len());
        let members = &mut self.members[..busy];
        in_parallel(members, &mut threads(busy), |(), member| member.run());
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        let count = self.members.len();
        self.members[slot.0 % count].read(Slot(slot.0 / count))
    }

    fn batch_size(&self) -> usize {
        self.members.iter().map(NetworkEvaluator::batch_size).sum()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Architecture, Precision};
    use keiko_rules::Rules;

    #[test]
    fn a_team_answers_as_one_evaluator_does() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        let encoding = Arc::new(Encoding::new(Arc::clone(&rules)));
        let weights = Weights::init(&encoding, Architecture::plain(16, 1), 3);
        let inference = Inference::cpu(Precision::F32, None);
        let mut team = TeamEvaluator::new(&weights, &encoding, (3, 4), &inference);
        let mut alone = NetworkEvaluator::new(&weights, Arc::clone(&encoding), 1, &inference);
        assert_eq!(team.batch_size(), 12);
        // Batches that fill some of the members, then all, then some again.
        for size in [2, 7, 1] {
            let mut game = Game::new(Arc::clone(&rules));
            let (mut legal, mut slots, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for index in 0..size {
                game.legal_moves(&mut legal);
                slots.push(team.push(&game, &legal));
                let slot = alone.push(&game, &legal);
                alone.run();
                let Evaluation { wdl, prior, .. } = alone.read(slot);
                expected.push((wdl, prior.to_vec()));
                game.play(legal[index % legal.len()]);
            }
            team.run();
            for (slot, (wdl, prior)) in slots.into_iter().zip(expected) {
                let found = team.read(slot);
                assert_eq!((found.wdl, found.prior), (wdl, &prior[..]));
            }
        }
    }
}
