//! Losses and their gradients with respect to the network's outputs, on the host.
//!
//! The softmax runs over legal moves only, which are few and differ from sample to sample: plain
//! loops in a fixed order do it exactly, and the learner hands burn the finished gradient.

use crate::batch::{Batch, Targets};
use crate::model::VALUE_OUTPUTS;
use crate::optimizer::LearnerConfig;
use keiko_selfplay::Wdl;

/// Plies to one unit of the moves-left output.
pub const MOVES_LEFT_SCALE: f32 = 20.0;

/// Mean losses over samples.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub struct Losses {
    /// Samples in the mean.
    pub samples: usize,
    /// Cross-entropy of the policy, over the samples that have a policy target.
    pub policy_loss: f32,
    /// The policy's cross-entropy above its target's entropy: zero for a perfect policy.
    pub policy_kl: f32,
    /// How often the likeliest move is the target's likeliest.
    pub policy_accuracy: f32,
    /// Cross-entropy of win, draw and loss.
    pub value_loss: f32,
    /// How often the likeliest result is the target's likeliest.
    pub value_accuracy: f32,
    /// Huber loss of the moves left, in units of [`MOVES_LEFT_SCALE`] plies.
    pub moves_left_loss: f32,
    /// Cross-entropy of the opponent's reply, over the samples that have one; 0 without that head.
    pub reply_loss: f32,
    /// Cross-entropy of the chances in the short term; 0 without that head.
    pub short_term_loss: f32,
}

/// Sums over samples, in f64 and in sample order.
#[derive(Copy, Clone, Default, Debug)]
pub(crate) struct Sums {
    samples: usize,
    policies: usize,
    policy: f64,
    entropy: f64,
    policy_hits: usize,
    value: f64,
    value_hits: usize,
    moves_left: f64,
    replies: usize,
    reply: f64,
    short_term: f64,
}

/// What one sample's error counts, for the gradient of a weighted mean.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Scales {
    policy: f32,
    value: f32,
    moves_left: f32,
    reply: f32,
    short_term: f32,
}

impl Scales {
    /// For the mean over all samples of these batches.
    pub(crate) fn new(config: &LearnerConfig, batches: &[Batch]) -> Scales {
        let samples: usize = batches.iter().map(Batch::len).sum();
        let policies: usize = batches.iter().map(Batch::policies).sum();
        let replies: usize = batches.iter().map(Batch::replies).sum();
        Scales {
            policy: config.policy_weight / policies.max(1) as f32,
            value: config.value_weight / samples.max(1) as f32,
            moves_left: config.moves_left_weight / samples.max(1) as f32,
            reply: config.reply_weight / replies.max(1) as f32,
            short_term: config.short_term_weight / samples.max(1) as f32,
        }
    }
}

/// The network's outputs for a batch.
#[derive(Debug)]
pub(crate) struct Outputs {
    /// `[rows, squares, policy_width]`: labels first, then those of the reply.
    pub(crate) policy: Vec<f32>,
    pub(crate) policy_width: usize,
    /// `[rows, value_width]`: three logits and moves left, then the short term's logits.
    pub(crate) value: Vec<f32>,
    pub(crate) value_width: usize,
}

impl Outputs {
    /// Losses of a batch, and the slopes of the scaled losses with respect to the outputs.
    pub(crate) fn into_gradient(self, batch: &Batch, scales: Scales) -> (Sums, Outputs) {
        let mut slopes = Outputs {
            policy: vec![0.0; self.policy.len()],
            value: vec![0.0; self.value.len()],
            ..self
        };
        let sums = self.losses(batch, Some((scales, &mut slopes)));
        (sums, slopes)
    }

    /// Losses of a batch.
    pub(crate) fn sums(&self, batch: &Batch) -> Sums {
        self.losses(batch, None)
    }

    fn losses(&self, batch: &Batch, mut slopes: Option<(Scales, &mut Outputs)>) -> Sums {
        let encoding = batch.encoding();
        let (squares, labels) = (encoding.squares(), encoding.labels());
        let board = squares * self.policy_width;
        let mut sums = Sums::default();
        let mut logits = Vec::new();
        for (row, targets) in batch.targets().enumerate() {
            let policy = &self.policy[row * board..][..board];
            let value = &self.value[row * self.value_width..][..self.value_width];
            let mut slopes = slopes.as_mut().map(|(scales, all)| {
                let policy = &mut all.policy[row * board..][..board];
                let value = &mut all.value[row * self.value_width..][..self.value_width];
                (*scales, policy, value)
            });
            let place = |&label: &u32| {
                let (label, square) = (label as usize / squares, label as usize % squares);
                square * self.policy_width + label
            };
            logits.clear();
            logits.extend(targets.legal.iter().map(|label| policy[place(label)]));
            sums.add_policy(&targets, &mut logits);
            let gradient = sums.add_value(&targets, value);
            if let Some((scales, policy, value)) = &mut slopes {
                if targets.has_policy() {
                    let all = targets.legal.iter().zip(&logits).zip(targets.policy);
                    for ((label, p), target) in all {
                        policy[place(label)] = (p - target) * scales.policy;
                    }
                }
                let scales = [scales.value, scales.value, scales.value, scales.moves_left];
                for (slope, (gradient, scale)) in value.iter_mut().zip(gradient.iter().zip(scales))
                {
                    *slope = gradient * scale;
                }
            }
            if batch.learns_short_term() {
                let slopes = slopes
                    .as_mut()
                    .map(|(scales, _, value)| (scales.short_term, &mut value[VALUE_OUTPUTS..]));
                sums.add_short_term(targets.short_term, &value[VALUE_OUTPUTS..], slopes);
            }
            if batch.learns_reply() && !targets.reply.is_empty() {
                let places = || {
                    (0..squares)
                        .flat_map(|square| (0..labels).map(move |label| (square, label)))
                        .map(|(square, label)| square * self.policy_width + labels + label)
                };
                logits.clear();
                logits.extend(places().map(|place| policy[place]));
                sums.add_reply(targets.reply, &mut logits, (squares, labels));
                if let Some((scales, policy, _)) = &mut slopes {
                    places().zip(&logits).for_each(|(place, p)| policy[place] = p * scales.reply);
                    for (label, weight) in targets.reply {
                        policy[place(label) + labels] -= weight * scales.reply;
                    }
                }
            }
        }
        sums
    }
}

impl Sums {
    /// Turns logits into probabilities and adds their loss.
    fn add_policy(&mut self, targets: &Targets<'_>, logits: &mut [f32]) {
        let wanted = argmax(targets.policy);
        let hit = argmax(logits) == wanted;
        let mut dot = 0.0;
        for (&logit, &target) in logits.iter().zip(targets.policy) {
            dot += f64::from(logit) * f64::from(target);
        }
        let log_total = softmax(logits);
        if targets.has_policy() {
            self.policies += 1;
            self.policy += f64::from(log_total) - dot;
            self.entropy += entropy(targets.policy);
            self.policy_hits += usize::from(hit);
        }
    }

    /// Adds the value head's losses; their gradients with respect to its outputs.
    fn add_value(&mut self, targets: &Targets<'_>, outputs: &[f32]) -> [f32; VALUE_OUTPUTS] {
        let Wdl { win, draw, loss } = targets.wdl;
        let wanted = [win, draw, loss];
        let mut chances = [outputs[0], outputs[1], outputs[2]];
        let dot: f64 = chances.iter().zip(wanted).map(|(&z, t)| f64::from(z) * f64::from(t)).sum();
        let log_total = softmax(&mut chances);
        let total: f32 = wanted.iter().sum();
        self.samples += 1;
        self.value += f64::from(log_total) * f64::from(total) - dot;
        self.value_hits += usize::from(argmax(&chances) == argmax(&wanted));
        let error = softplus(outputs[3]) - targets.moves_left / MOVES_LEFT_SCALE;
        let huber = if error.abs() <= 1.0 { 0.5 * error * error } else { error.abs() - 0.5 };
        self.moves_left += f64::from(huber);
        let moves_left = error.clamp(-1.0, 1.0) * sigmoid(outputs[3]);
        let slope = |index: usize| chances[index] * total - wanted[index];
        [slope(0), slope(1), slope(2), moves_left]
    }

    /// Adds the short term's loss; its slopes, by what they are scaled with.
    fn add_short_term(
        &mut self,
        Wdl { win, draw, loss }: Wdl,
        outputs: &[f32],
        slopes: Option<(f32, &mut [f32])>,
    ) {
        let wanted = [win, draw, loss];
        let mut chances = [outputs[0], outputs[1], outputs[2]];
        let dot: f64 = chances.iter().zip(wanted).map(|(&z, t)| f64::from(z) * f64::from(t)).sum();
        let log_total = softmax(&mut chances);
        let total: f32 = wanted.iter().sum();
        self.short_term += f64::from(log_total) * f64::from(total) - dot;
        if let Some((scale, slopes)) = slopes {
            for (slope, (p, target)) in slopes.iter_mut().zip(chances.iter().zip(wanted)) {
                *slope = (p * total - target) * scale;
            }
        }
    }

    /// Turns the reply's logits, `[squares, labels]`, into probabilities and adds their loss.
    /// Which replies are legal depends on the move, which is not known: all labels take part.
    fn add_reply(
        &mut self,
        reply: &[(u32, f32)],
        logits: &mut [f32],
        (squares, labels): (usize, usize),
    ) {
        let place = |label: u32| label as usize % squares * labels + label as usize / squares;
        let terms = reply.iter().map(|&(it, weight)| f64::from(logits[place(it)] * weight));
        let dot: f64 = terms.sum();
        self.replies += 1;
        self.reply += f64::from(softmax(logits)) - dot;
    }

    /// Whether every loss is a number.
    pub(crate) fn is_finite(&self) -> bool {
        let losses = [self.policy, self.value, self.moves_left, self.reply, self.short_term];
        losses.iter().all(|loss| loss.is_finite())
    }

    /// Adds another batch's sums.
    pub(crate) fn add(&mut self, other: Sums) {
        self.samples += other.samples;
        self.policies += other.policies;
        self.policy += other.policy;
        self.entropy += other.entropy;
        self.policy_hits += other.policy_hits;
        self.value += other.value;
        self.value_hits += other.value_hits;
        self.moves_left += other.moves_left;
        self.replies += other.replies;
        self.reply += other.reply;
        self.short_term += other.short_term;
    }

    /// The means.
    pub(crate) fn means(&self) -> Losses {
        let (samples, policies) = (self.samples.max(1) as f64, self.policies.max(1) as f64);
        Losses {
            samples: self.samples,
            policy_loss: (self.policy / policies) as f32,
            policy_kl: ((self.policy - self.entropy) / policies) as f32,
            policy_accuracy: (self.policy_hits as f64 / policies) as f32,
            value_loss: (self.value / samples) as f32,
            value_accuracy: (self.value_hits as f64 / samples) as f32,
            moves_left_loss: (self.moves_left / samples) as f32,
            reply_loss: (self.reply / self.replies.max(1) as f64) as f32,
            short_term_loss: (self.short_term / samples) as f32,
        }
    }
}

/// Turns logits into probabilities, in their order; the logarithm of their total before.
pub(crate) fn softmax(logits: &mut [f32]) -> f32 {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut total = 0.0;
    for logit in logits.iter_mut() {
        *logit = (*logit - max).exp();
        total += *logit;
    }
    logits.iter_mut().for_each(|p| *p /= total);
    max + total.ln()
}

/// A smooth positive function: about zero far below, the identity far above.
pub(crate) fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

fn entropy(p: &[f32]) -> f64 {
    p.iter().filter(|&&p| p > 0.0).map(|&p| -f64::from(p) * f64::from(p).ln()).sum()
}

/// The first of the largest entries.
fn argmax(values: &[f32]) -> Option<usize> {
    let mut best = None;
    for (index, &value) in values.iter().enumerate() {
        if best.is_none_or(|best: usize| value > values[best]) {
            best = Some(index);
        }
    }
    best
}
