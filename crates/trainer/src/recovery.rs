//! The way back from a loss or gradient that is no number: to a learner that is known to be good,
//! from where the steps are taken again with a smaller learning rate.

use crate::checkpoint::Phase;
use crate::run::{Run, RunError};
use crate::statistics::StepSums;
use crate::train::{Event, Watcher};
use keiko_network::{LearnError, Learner};
use serde::{Deserialize, Serialize};

/// How often a run's learner was taken back, and what became of its learning rate. Part of the
/// state: what is learned follows from it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recovery {
    /// How often.
    pub retries: u64,
    /// What the experiment's learning rate is multiplied by.
    pub rate_factor: f32,
    /// The learner's step when the steps in hand fell due.
    due_since: u64,
    /// The generation's sums then, for the last generation with overlap: it has the steps of two.
    learned: StepSums,
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery { retries: 0, rate_factor: 1.0, due_since: 0, learned: StepSums::default() }
    }
}

impl Run {
    /// Notes where the learner stands when steps fall due.
    pub(crate) fn note_due(&mut self) {
        self.state.recovery.due_since = self.learner.steps();
        self.state.recovery.learned = self.state.learned.clone();
    }

    /// The learner as it stands where steps have just fallen due. Once the first of them is taken it
    /// is known to be good: before that, what the last step made of it may be what fails.
    pub(crate) fn maybe_good(&self) -> Option<Learner> {
        (self.learner.steps() == self.state.recovery.due_since).then(|| self.learner.clone())
    }

    /// Takes the learner back to where it was known to be good, and lowers the learning rate for good.
    pub(crate) fn take_back(
        &mut self,
        source: LearnError,
        watcher: &dyn Watcher,
    ) -> Result<(), RunError> {
        let training = &self.experiment.training;
        let (retries, state) = (self.state.recovery.retries, self.dir.join("state"));
        let fails_for_good =
            !matches!(source, LearnError::Loss { .. } | LearnError::Gradient { .. });
        if fails_for_good || retries >= training.learning_retries {
            return Err(RunError::Learn { source, retries, state });
        }
        let (from, undone) = (self.learner.steps(), self.learner.steps() - self.good.steps());
        self.learner = self.good.clone();
        self.state.due += undone;
        self.state.samples -= undone * training.batch_size as u64;
        self.state.learned = match self.state.phase {
            // Beside the games, a generation has no steps but those in hand.
            Phase::Play => StepSums::default(),
            Phase::Learn | Phase::Measure => self.state.recovery.learned.clone(),
        };
        self.state.recovery.retries += 1;
        self.state.recovery.rate_factor *= training.retry_rate_factor;
        let message = format!(
            "{source} at step {from}: back to step {}, with {} of the learning rate (retry {} of {})",
            self.good.steps(),
            self.state.recovery.rate_factor,
            retries + 1,
            training.learning_retries
        );
        watcher.tell(&Event::Notice { message: &message });
        Ok(())
    }

    /// The learning rate of a step.
    pub(crate) fn learning_rate(&self, step: u64) -> f32 {
        self.experiment.training.learning_rate.at(step) * self.state.recovery.rate_factor
    }

    /// The learner that `take_back` would go back to, where it is not the one in hand.
    pub(crate) fn good(&self) -> Option<&Learner> {
        (self.learner.steps() > self.good.steps()).then_some(&self.good)
    }
}
