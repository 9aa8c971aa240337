//! A network in memory, and how fast it is.

use crate::players::SEARCH;
use keiko_network::{Precision, TeamEvaluator};
use keiko_rules::{Game, Rules};
use keiko_selfplay::{Evaluator, Purpose, Search, Slot, generator};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Leaves of the tree that each thread evaluates at a time.
pub(super) const LEAVES_A_THREAD: usize = 4;

/// Simulations that measure the speed when a network is loaded.
const PROBE: u32 = 128;

/// A network in memory, as it was asked for.
pub(super) struct Loaded {
    pub(super) wanted: (PathBuf, Option<Precision>, u32),
    pub(super) evaluator: TeamEvaluator,
    /// Simulations a second.
    pub(super) rate: f64,
}

impl Loaded {
    /// Measures simulations a second, and warms up what computes.
    pub(super) fn measure(&mut self, rules: &Arc<Rules>) {
        let mut search = Search::new(Game::new(Arc::clone(rules)), SEARCH);
        let mut slots = Vec::new();
        let began = Instant::now();
        search.begin(SEARCH.budget(PROBE, 0.0), &mut generator(0, Purpose::Play, 0));
        while self.simulate(&mut search, &mut slots) {}
        self.rate =
            f64::from(search.simulations().max(1)) / began.elapsed().as_secs_f64().max(1e-3);
    }

    /// A batch of simulations; whether there was anything left to do.
    pub(super) fn simulate(&mut self, search: &mut Search, slots: &mut Vec<Slot>) -> bool {
        let evaluator = &mut self.evaluator;
        let most = evaluator.batch_size();
        search.gather(evaluator, most, slots);
        if slots.is_empty() {
            return false;
        }
        evaluator.run();
        slots.iter().for_each(|&slot| search.backup(evaluator.read(slot)));
        true
    }
}
