//! A network in memory, and how a tree is searched with it.

use crate::players::SEARCH;
use keiko_network::{Precision, TeamEvaluator};
use keiko_rules::{Game, Rules};
use keiko_selfplay::{Evaluator, Purpose, Search, Slot, generator};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

/// Leaves of the tree that wait for their evaluation, for each thread.
pub(super) const LEAVES_A_THREAD: usize = 4;

/// Simulations that warm up what computes.
const WARM_UP: u32 = 128;

/// A network in memory, as it was asked for.
pub(super) struct Loaded {
    pub(super) wanted: (PathBuf, Option<Precision>, u32),
    pub(super) evaluator: TeamEvaluator,
    /// Leaves of the search that goes on, in the order they were selected.
    pub(super) waiting: VecDeque<Slot>,
}

impl Loaded {
    /// The first move should not be slower than others.
    pub(super) fn warm_up(&mut self, rules: &Arc<Rules>) {
        let mut search = Search::new(Game::new(Arc::clone(rules)), SEARCH);
        search.begin(SEARCH.budget(WARM_UP, 0.0), &mut generator(0, Purpose::Play, 0));
        while self.simulate(&mut search) {}
    }

    /// A simulation, while the leaves of the next ones are evaluated; whether there was anything
    /// left to do. The tree is the same whichever thread is how fast.
    pub(super) fn simulate(&mut self, search: &mut Search) -> bool {
        let most = self.evaluator.batch_size();
        search.gather(&mut self.evaluator, most, &mut self.waiting);
        self.take_in(search)
    }

    /// Takes in all leaves that wait, and looks no further.
    pub(super) fn settle(&mut self, search: &mut Search) {
        while self.take_in(search) {}
    }

    /// Takes in the leaf that has waited longest, if one does.
    fn take_in(&mut self, search: &mut Search) -> bool {
        let Some(slot) = self.waiting.pop_front() else { return false };
        search.backup(self.evaluator.finish(slot));
        true
    }
}
