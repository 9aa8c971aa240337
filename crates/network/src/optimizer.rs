//! AdamW with one global clipping norm, and the exponential average of the weights.
//!
//! Our own lines over host vectors, because burn's optimizers clip every tensor by its own norm
//! and ask for the default device when loading. Memory-bound work of a few milliseconds a step.

use crate::parallel::{self, in_parallel};
use crate::weights::length;
use crate::{Losses, Weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SHARE: &str = "at least 0 and below 1";
const POSITIVE: &str = "above 0";
const WEIGHT: &str = "0 or more";

/// How a network learns; every number is the experiment's.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LearnerConfig {
    /// Decay of kernels and matrices, by this times the learning rate a step.
    pub weight_decay: f32,
    /// Memory of the gradient's mean.
    pub beta1: f32,
    /// Memory of the gradient's square.
    pub beta2: f32,
    /// Added to the root of the mean square.
    pub epsilon: f32,
    /// Longest gradient, over all parameters together; longer ones are scaled down to it.
    pub clip_norm: f32,
    /// Memory of the averaged weights; shorter in the first steps.
    pub average_decay: f32,
    /// Weight of the policy loss.
    pub policy_weight: f32,
    /// Weight of the value loss.
    pub value_weight: f32,
    /// Weight of the moves-left loss.
    pub moves_left_weight: f32,
    /// Weight of the loss of the opponent's reply, where the network has that head.
    pub reply_weight: f32,
    /// Weight of the loss of the chances in the short term, where the network has that head.
    pub short_term_weight: f32,
}

/// A number of the learner's configuration that cannot be meant.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{key} is {value}; it must be {allowed}")]
pub struct ConfigError {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub value: f32,
    /// What it may be.
    pub allowed: &'static str,
}

impl LearnerConfig {
    /// The weighted sum of losses.
    pub(crate) fn total(&self, losses: &Losses) -> f32 {
        self.policy_weight * losses.policy_loss
            + self.value_weight * losses.value_loss
            + self.moves_left_weight * losses.moves_left_loss
            + self.reply_weight * losses.reply_loss
            + self.short_term_weight * losses.short_term_loss
    }

    /// Every number: its key, its value, and what it must be.
    pub fn numbers(&self) -> [(&'static str, f32, &'static str); 11] {
        [
            ("weight_decay", self.weight_decay, WEIGHT),
            ("beta1", self.beta1, SHARE),
            ("beta2", self.beta2, SHARE),
            ("epsilon", self.epsilon, POSITIVE),
            ("clip_norm", self.clip_norm, POSITIVE),
            ("average_decay", self.average_decay, SHARE),
            ("policy_weight", self.policy_weight, WEIGHT),
            ("value_weight", self.value_weight, WEIGHT),
            ("moves_left_weight", self.moves_left_weight, WEIGHT),
            ("reply_weight", self.reply_weight, WEIGHT),
            ("short_term_weight", self.short_term_weight, WEIGHT),
        ]
    }

    /// Checks every number's range.
    ///
    /// # Errors
    /// The first number out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (key, value, allowed) in self.numbers() {
            let fits = match allowed {
                SHARE => (0.0..1.0).contains(&value),
                POSITIVE => value > 0.0 && value.is_finite(),
                _ => value >= 0.0 && value.is_finite(),
            };
            if !fits {
                return Err(ConfigError { key, value, allowed });
            }
        }
        Ok(())
    }
}

/// The optimizer's memory.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Moments {
    /// Running mean of the gradient.
    pub(crate) first: Weights,
    /// Running mean of its square.
    pub(crate) second: Weights,
}

impl Moments {
    /// Moves the weights one step along a gradient and the average towards them, of which it
    /// keeps a share.
    pub(crate) fn update(
        &mut self,
        (weights, average): (&mut Weights, &mut Weights),
        gradient: &Weights,
        rate: Rate<'_>,
        keep: f32,
        threads: usize,
    ) -> Norms {
        let parameters = weights.parameters_mut().iter_mut().zip(gradient.parameters());
        let moments = self.first.parameters_mut().iter_mut().zip(self.second.parameters_mut());
        let all = parameters.zip(moments).zip(average.parameters_mut());
        let squares = in_parallel(all, &mut parallel::threads(threads), |(), (all, average)| {
            let ((weight, gradient), (first, second)) = all;
            let decay = if weight.decays() { rate.config.weight_decay } else { 0.0 };
            let entries = weight.values.iter_mut().zip(&gradient.values);
            let memory = first.values.iter_mut().zip(&mut second.values);
            let mut square = 0.0;
            for (((weight, &gradient), (first, second)), mean) in
                entries.zip(memory).zip(&mut average.values)
            {
                let change = rate.change(*weight, gradient, decay, first, second);
                *weight -= change;
                *mean += (1.0 - keep) * (*weight - *mean);
                square += f64::from(change) * f64::from(change);
            }
            (square, weight.square())
        });
        let (updates, weights): (Vec<f64>, Vec<f64>) = squares.into_iter().unzip();
        Norms { update: length(updates), weights: length(weights) }
    }
}

/// What a step measures of itself.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Norms {
    /// Length of the change made.
    pub(crate) update: f32,
    /// Length of the weights after it.
    pub(crate) weights: f32,
}

/// One step's factors.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Rate<'a> {
    config: &'a LearnerConfig,
    learning_rate: f32,
    /// Factor that brings the gradient to the clipping norm.
    clip: f32,
    /// Corrections for moments that began at zero.
    corrections: [f32; 2],
}

impl<'a> Rate<'a> {
    pub(crate) fn new(
        config: &'a LearnerConfig,
        learning_rate: f32,
        step: u64,
        norm: f32,
    ) -> Rate<'a> {
        let exponent = i32::try_from(step).unwrap_or(i32::MAX);
        let correction = |beta: f32| (1.0 / (1.0 - f64::from(beta).powi(exponent))) as f32;
        Rate {
            config,
            learning_rate,
            clip: if norm > config.clip_norm { config.clip_norm / norm } else { 1.0 },
            corrections: [correction(config.beta1), correction(config.beta2)],
        }
    }

    #[inline]
    fn change(
        &self,
        weight: f32,
        gradient: f32,
        decay: f32,
        first: &mut f32,
        second: &mut f32,
    ) -> f32 {
        let gradient = gradient * self.clip;
        let LearnerConfig { beta1, beta2, epsilon, .. } = *self.config;
        *first = beta1 * *first + (1.0 - beta1) * gradient;
        *second = beta2 * *second + (1.0 - beta2) * gradient * gradient;
        let root = (*second * self.corrections[1]).sqrt() + epsilon;
        self.learning_rate * (*first * self.corrections[0] / root + decay * weight)
    }
}

/// What a step keeps of the average. In the first steps its memory is shorter, so that it soon
/// forgets the random start.
pub(crate) fn average_decay(decay: f32, step: u64) -> f32 {
    decay.min((1.0 + step as f32) / (10.0 + step as f32))
}
