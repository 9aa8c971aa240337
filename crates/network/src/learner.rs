//! Learning: gradients of micro-batches, summed in index order.

use crate::cpu::{CpuModel, Workspace};
use crate::losses::{Losses, Outputs, Scales, Sums};
use crate::model::{Model, host, input, leaves};
use crate::optimizer::{LearnerConfig, Moments, Rate, average_decay};
use crate::parallel::{self, in_parallel};
use crate::weights::length;
use crate::winograd::Winograd;
use crate::{Batch, ComputeDevice, Encoding, Snapshot, StorageError, Weights, storage};
use burn::tensor::{Device, Tensor, TensorData};
use std::path::Path;
use std::sync::Arc;

/// Why a step was not taken.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LearnError {
    /// There is nothing to learn from.
    #[error("a step needs samples; there are none")]
    NoSamples,
    /// A loss is no number.
    #[error("the loss of micro-batch {micro_batch} is not finite")]
    Loss {
        /// Its index.
        micro_batch: usize,
    },
    /// A gradient, or what it would make of a weight, is no number.
    #[error("the gradient of {parameter} is not finite")]
    Gradient {
        /// The parameter's name.
        parameter: String,
    },
    /// The learning rate is no number, or negative.
    #[error("the learning rate is {0}; it must be 0 or more")]
    LearningRate(f32),
}

/// What a step did.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct StepReport {
    /// Losses of the step's samples, before the step.
    pub losses: Losses,
    /// Their weighted sum.
    pub total_loss: f32,
    /// Length of the gradient, before clipping.
    pub gradient_norm: f32,
    /// Length of the change made.
    pub update_norm: f32,
    /// Length of the weights, after the step.
    pub weight_norm: f32,
}

/// A network that learns: weights, their average and the optimizer's memory.
#[derive(Clone, Debug)]
pub struct Learner {
    encoding: Arc<Encoding>,
    config: LearnerConfig,
    weights: Weights,
    average: Weights,
    moments: Moments,
    steps: u64,
    /// Where burn computes the gradient; nothing where keiko's own kernels do.
    device: Option<ComputeDevice>,
    spaces: Spaces,
}

/// What threads compute in: of no consequence for what is learned.
#[derive(Debug, Default)]
struct Spaces(Vec<Workspace>);

impl Clone for Spaces {
    fn clone(&self) -> Spaces {
        Spaces::default()
    }
}

impl Learner {
    /// A learner that begins with these weights, on this processor.
    pub fn new(encoding: Arc<Encoding>, config: LearnerConfig, weights: Weights) -> Learner {
        let zeros = weights.zeros_like();
        let moments = Moments { first: zeros.clone(), second: zeros };
        let average = weights.clone();
        let (device, spaces) = (None, Spaces::default());
        Learner { encoding, config, average, weights, moments, steps: 0, device, spaces }
    }

    /// The same learner, with gradients by burn's kernels and automatic differentiation instead of
    /// keiko's own: the reference, slower on a CPU.
    #[must_use]
    pub fn by_burn(self) -> Learner {
        Learner { device: Some(ComputeDevice::cpu()), ..self }
    }

    /// The same learner, computing gradients on this device.
    #[must_use]
    pub fn on(self, device: &ComputeDevice) -> Learner {
        Learner { device: device.is_gpu().then(|| device.clone()), ..self }
    }

    /// The weights as learned.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Their exponential average, which plays and is published.
    pub fn average(&self) -> &Weights {
        &self.average
    }

    /// A copy of the average as it stands.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { weights: self.average.clone(), step: self.steps }
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How it learns.
    pub fn config(&self) -> &LearnerConfig {
        &self.config
    }

    /// Takes one step along the gradient of the mean loss over all samples, on at most `threads`
    /// threads. Each micro-batch's gradient is computed by itself and all are summed in index
    /// order, so the result has the same bits for any number of threads.
    ///
    /// # Errors
    /// When there are no samples, or a loss or gradient is not finite; nothing has changed then.
    pub fn step(
        &mut self,
        micro_batches: &[Batch],
        learning_rate: f32,
        threads: usize,
    ) -> Result<StepReport, LearnError> {
        if !(learning_rate >= 0.0 && learning_rate.is_finite()) {
            return Err(LearnError::LearningRate(learning_rate));
        }
        if micro_batches.iter().all(Batch::is_empty) {
            return Err(LearnError::NoSamples);
        }
        let (losses, gradient, gradient_norm) = self.gradient(micro_batches, threads)?;
        if !gradient_norm.is_finite()
            && let Some(parameter) = gradient.first_non_finite()
        {
            return Err(LearnError::Gradient { parameter: parameter.to_owned() });
        }
        let step = self.steps + 1;
        let rate = Rate::new(&self.config, learning_rate, step, gradient_norm);
        let keep = average_decay(self.config.average_decay, step);
        let all = (&mut self.weights, &mut self.average);
        let norms = self.moments.update(all, &gradient, rate, keep, threads);
        self.steps = step;
        Ok(StepReport {
            losses,
            total_loss: self.config.total(&losses),
            gradient_norm,
            update_norm: norms.update,
            weight_norm: norms.weights,
        })
    }

    /// Losses of all micro-batches, and their gradients, summed in index order, with its length.
    fn gradient(
        &mut self,
        micro_batches: &[Batch],
        threads: usize,
    ) -> Result<(Losses, Weights, f32), LearnError> {
        let scales = Scales::new(&self.config, micro_batches);
        let (weights, encoding) = (&self.weights, &self.encoding);
        self.spaces.0.resize_with(threads.clamp(1, micro_batches.len()), Workspace::default);
        let results = match &self.device {
            None => {
                let model = CpuModel::new(encoding, weights, threads);
                in_parallel(micro_batches, &mut self.spaces.0, |space, batch| {
                    model.gradient(batch, scales, space)
                })
            }
            Some(device) => in_parallel(micro_batches, &mut self.spaces.0, |_, batch| {
                let tensors = device.tensors();
                device.run(|| micro_gradient(encoding, weights, batch, scales, tensors))
            }),
        };
        let (all, gradients): (Vec<Sums>, Vec<Weights>) = results.into_iter().unzip();
        if let Some(micro_batch) = all.iter().position(|sums| !sums.is_finite()) {
            return Err(LearnError::Loss { micro_batch });
        }
        let mut sums = Sums::default();
        all.into_iter().for_each(|its_sums| sums.add(its_sums));
        let (gradient, norm) = sum(gradients, threads);
        Ok((sums.means(), gradient, norm))
    }

    /// Writes everything needed to go on exactly as one safetensors file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save_state(&self, path: &Path) -> Result<(), StorageError> {
        storage::write_state(path, &self.parts(), self.steps)
    }

    fn parts(&self) -> [(&'static str, &Weights); 4] {
        [
            ("weights", &self.weights),
            ("average", &self.average),
            ("first_moment", &self.moments.first),
            ("second_moment", &self.moments.second),
        ]
    }

    /// A learner that goes on exactly where [`save_state`](Learner::save_state) stood. The
    /// weights given to `new` only say what names and shapes are expected.
    ///
    /// # Errors
    /// When the file is missing, damaged or of another network.
    pub fn load_state(&mut self, path: &Path) -> Result<(), StorageError> {
        let like = &self.weights;
        let names = self.parts().map(|(name, _)| name);
        let (steps, [weights, average, first, second]) = storage::read_state(path, names, like)?;
        self.weights = weights;
        self.average = average;
        self.moments = Moments { first, second };
        self.steps = steps;
        Ok(())
    }
}

/// Gradients of the same shapes, added up in their order, and the length of their sum.
fn sum(gradients: Vec<Weights>, threads: usize) -> (Weights, f32) {
    let mut all = gradients.into_iter();
    let mut total = all.next().expect("a step has micro-batches");
    let others: Vec<Weights> = all.collect();
    let parameters = total.parameters_mut().iter_mut().enumerate();
    let threads = &mut parallel::threads(threads);
    let squares = in_parallel(parameters, threads, |(), (index, parameter)| {
        for other in &others {
            let theirs = &other.parameters()[index].values;
            parameter.values.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
        parameter.square()
    });
    (total, length(squares))
}

/// Losses and gradient of one micro-batch, by burn.
fn micro_gradient(
    encoding: &Encoding,
    weights: &Weights,
    batch: &Batch,
    scales: Scales,
    device: &Device,
) -> (Sums, Weights) {
    if batch.is_empty() {
        return (Sums::default(), weights.zeros_like());
    }
    let device = device.clone().autodiff();
    let leaves = leaves(weights.parameters(), &device);
    let leaves: Vec<_> = leaves.into_iter().map(Tensor::require_grad).collect();
    let winograd = Winograd::new(encoding.files(), encoding.ranks(), &device);
    let model = Model::new(&winograd, weights, &leaves, true);
    let (policy, value) = model.forward(input(batch.inputs(), batch.len(), encoding, &device));
    let outputs = Outputs {
        policy_width: policy.dims()[2],
        value_width: value.dims()[1],
        policy: host(policy.clone().inner()),
        value: host(value.clone().inner()),
    };
    let (sums, slopes) = outputs.into_gradient(batch, scales);
    // The sum of outputs times constant slopes has exactly these slopes as its gradient.
    let slope = TensorData::new(slopes.policy, policy.dims());
    let policy = (policy * Tensor::<3>::from_data(slope, &device)).sum();
    let slope = TensorData::new(slopes.value, value.dims());
    let value = (value * Tensor::<2>::from_data(slope, &device)).sum();
    let mut gradients = (policy + value).backward();
    let mut gradient = weights.zeros_like();
    for (leaf, parameter) in leaves.iter().zip(gradient.parameters_mut()) {
        if let Some(slope) = leaf.grad_remove(&mut gradients) {
            parameter.values = host(slope);
        }
    }
    (sums, gradient)
}

/// Losses of held-out batches: no gradients, nothing learned.
pub fn evaluate_losses(
    weights: &Weights,
    encoding: &Encoding,
    batches: &[Batch],
    threads: usize,
) -> Losses {
    let model = CpuModel::new(encoding, weights, threads);
    let mut spaces: Vec<_> = (0..threads.max(1)).map(|_| Workspace::default()).collect();
    let all = in_parallel(batches, &mut spaces, |space, batch| model.losses(batch, space));
    let mut sums = Sums::default();
    all.into_iter().for_each(|its_sums| sums.add(its_sums));
    sums.means()
}

#[cfg(test)]
mod tests;
