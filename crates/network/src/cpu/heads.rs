//! Learning on the processor's vectors: the heads forwards, and their slopes backwards.

use super::dense::{Dense, mask};
use super::features::Features;
use super::pooling::{pool, unpool};
use crate::Weights;
use crate::losses::Outputs;

/// The heads with some weights, those that are only learned among them.
#[derive(Debug)]
pub(super) struct Heads {
    squares: usize,
    policy_hidden: Dense,
    /// Labels, then those of the reply.
    policy: Dense,
    value_conv: Dense,
    value_hidden: Dense,
    /// Chances, moves left, chances in the short term.
    value: Dense,
}

/// What the heads computed on the way, and room for slopes.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    policy: Vec<f32>,
    value: Vec<f32>,
    pooled: Vec<f32>,
    dense: Vec<f32>,
    slopes: Slopes,
}

#[derive(Debug, Default)]
struct Slopes {
    policy: Vec<f32>,
    value: Vec<f32>,
    pooled: Vec<f32>,
    dense: Vec<f32>,
}

impl Heads {
    pub(super) fn new(weights: &Weights, squares: usize) -> Heads {
        let architecture = weights.architecture();
        let policy: &[&str] = if architecture.reply {
            &["policy.output", "reply.output"]
        } else {
            &["policy.output"]
        };
        let mut value = vec!["value.wdl", "value.moves_left"];
        if architecture.short_term_value {
            value.push("value.short_term");
        }
        Heads {
            squares,
            policy_hidden: Dense::new(weights, &["policy.hidden"], 1),
            policy: Dense::new(weights, policy, 1),
            value_conv: Dense::new(weights, &["value.conv"], 1),
            value_hidden: Dense::new(weights, &["value.hidden"], 2),
            value: Dense::new(weights, &value, 1),
        }
    }

    /// What the heads answer to the tower's outputs, `[positions, squares, channels]`.
    pub(super) fn forward(&self, features: Features, trunk: &[f32], it: &mut Hidden) -> Outputs {
        let mut outputs = Outputs {
            policy_width: self.policy.width(),
            value_width: self.value.width(),
            policy: Vec::new(),
            value: Vec::new(),
        };
        self.policy_hidden.activate(features, trunk, &mut it.policy);
        self.policy.forward(features, &it.policy, &mut outputs.policy);
        self.value_conv.activate(features, trunk, &mut it.value);
        pool(&it.value, self.squares, self.value_conv.width(), true, &mut it.pooled);
        self.value_hidden.activate(features, &it.pooled, &mut it.dense);
        self.value.forward(features, &it.dense, &mut outputs.value);
        outputs
    }

    /// Adds the parameters' slopes to a gradient, given those of the answers. `slope` becomes that
    /// of the tower's outputs, behind its last ReLU.
    pub(super) fn backward(
        &self,
        features: Features,
        (trunk, slope): (&[f32], &mut Vec<f32>),
        it: &mut Hidden,
        answers: &Outputs,
        gradient: &mut Weights,
    ) {
        let Slopes { policy, value, pooled, dense } = &mut it.slopes;
        self.policy.descend(features, &it.policy, &answers.policy, gradient);
        self.policy.ascend(features, &answers.policy, policy, false);
        mask(policy, &it.policy);
        self.policy_hidden.descend(features, trunk, policy, gradient);
        self.policy_hidden.ascend(features, policy, slope, false);

        self.value.descend(features, &it.dense, &answers.value, gradient);
        self.value.ascend(features, &answers.value, dense, false);
        mask(dense, &it.dense);
        self.value_hidden.descend(features, &it.pooled, dense, gradient);
        self.value_hidden.ascend(features, dense, pooled, false);
        value.clear();
        value.resize(it.value.len(), 0.0);
        unpool(&it.value, &it.pooled, pooled, self.value_conv.width(), value);
        self.value_conv.descend(features, trunk, value, gradient);
        self.value_conv.ascend(features, value, slope, true);
    }
}
