//! A run's games as anyone may read them, also while the run goes on: no lock, nothing written.

use crate::experiment::Experiment;
use crate::run::{EXPERIMENT, GAMES, RunError, VARIANT, is_run};
use crate::store::{Listing, OpenReport};
use keiko_rules::Rules;
use std::path::Path;
use std::sync::Arc;

/// What is needed to read a run's games.
#[derive(Debug)]
pub struct Records {
    /// The run's experiment.
    pub experiment: Experiment,
    /// The rules it plays by.
    pub rules: Arc<Rules>,
    /// Where its games lie.
    pub listing: Listing,
    /// What of them was torn or damaged when they were listed.
    pub report: OpenReport,
}

impl Records {
    /// Opens the games of the run in `dir`.
    ///
    /// # Errors
    /// When there is no run, or its files cannot be read.
    pub fn open(dir: &Path) -> Result<Records, RunError> {
        if !is_run(dir)? {
            return Err(RunError::NoRun(dir.to_owned()));
        }
        let experiment =
            Experiment::load(&dir.join(EXPERIMENT), &[]).map_err(RunError::RunExperiment)?;
        let rules =
            Rules::load(&dir.join(VARIANT).to_string_lossy()).map_err(RunError::RunRules)?;
        let (listing, report) = Listing::open(&dir.join(GAMES))?;
        Ok(Records { experiment, rules: Arc::new(rules), listing, report })
    }

    /// The generation that the game of a number belongs to.
    pub fn generation(&self, number: u64) -> u64 {
        number / self.experiment.training.games_per_generation
    }
}
