//! Learning: gradients of micro-batches, summed in index order.

use crate::losses::{Losses, Outputs, Scales, Sums};
use crate::model::{Model, VALUE_OUTPUTS, host, input, leaves};
use crate::optimizer::{LearnerConfig, Moments, Rate, average};
use crate::winograd::Winograd;
use crate::{Batch, ComputeDevice, Encoding, StorageError, Weights, storage};
use burn::tensor::{Device, Tensor, TensorData};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    device: ComputeDevice,
}

impl Learner {
    /// A learner that begins with these weights, on this processor.
    pub fn new(encoding: Arc<Encoding>, config: LearnerConfig, weights: Weights) -> Learner {
        let zeros = weights.zeros_like();
        let moments = Moments { first: zeros.clone(), second: zeros };
        let (average, device) = (weights.clone(), ComputeDevice::cpu());
        Learner { encoding, config, average, weights, moments, steps: 0, device }
    }

    /// The same learner, computing gradients on this device.
    #[must_use]
    pub fn on(self, device: ComputeDevice) -> Learner {
        Learner { device, ..self }
    }

    /// The weights as learned.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Their exponential average, which plays and is published.
    pub fn average(&self) -> &Weights {
        &self.average
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
        let (losses, gradient) = self.gradient(micro_batches, threads)?;
        let gradient_norm = gradient.norm();
        if let Some(parameter) = gradient.first_non_finite() {
            return Err(LearnError::Gradient { parameter: parameter.to_owned() });
        }
        let step = self.steps + 1;
        let rate = Rate::new(&self.config, learning_rate, step, gradient_norm);
        let update_norm = self.moments.update(&mut self.weights, &gradient, rate);
        average(&mut self.average, &self.weights, self.config.average_decay, step);
        self.steps = step;
        Ok(StepReport {
            losses,
            total_loss: self.config.policy_weight * losses.policy_loss
                + self.config.value_weight * losses.value_loss
                + self.config.moves_left_weight * losses.moves_left_loss,
            gradient_norm,
            update_norm,
            weight_norm: self.weights.norm(),
        })
    }

    /// Losses and gradient of all micro-batches, summed in index order.
    fn gradient(
        &self,
        micro_batches: &[Batch],
        threads: usize,
    ) -> Result<(Losses, Weights), LearnError> {
        let device = self.device.tensors().clone().autodiff();
        let (files, ranks) = (self.encoding.files(), self.encoding.ranks());
        let winograd = self.device.run(|| Winograd::new(files, ranks, &device));
        let scales = Scales::new(&self.config, micro_batches);
        let results = in_parallel(micro_batches.len(), threads, |index| {
            let batch = &micro_batches[index];
            self.device.run(|| micro_gradient(&winograd, &self.weights, batch, scales, &device))
        });
        let mut sums = Sums::default();
        let mut gradient = self.weights.zeros_like();
        for (micro_batch, result) in results.into_iter().enumerate() {
            let (its_sums, its_gradient) = result;
            if !its_sums.is_finite() {
                return Err(LearnError::Loss { micro_batch });
            }
            sums.add(its_sums);
            gradient.add(&its_gradient);
        }
        Ok((sums.means(), gradient))
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

/// Losses and gradient of one micro-batch.
fn micro_gradient(
    winograd: &Winograd,
    weights: &Weights,
    batch: &Batch,
    scales: Scales,
    device: &Device,
) -> (Sums, Weights) {
    let leaves: Vec<_> = leaves(weights, device).into_iter().map(Tensor::require_grad).collect();
    if batch.is_empty() {
        return (Sums::default(), weights.zeros_like());
    }
    let model = Model::new(winograd, weights, &leaves);
    let x = input(batch.inputs(), batch.len(), batch.encoding(), device);
    let (policy, value) = model.forward(x);
    let outputs =
        Outputs { policy: host(policy.clone().inner()), value: host(value.clone().inner()) };
    let (sums, slopes) = outputs.into_gradient(batch, scales);
    // The sum of outputs times constant slopes has exactly these slopes as its gradient.
    let shape = policy.dims();
    let slope = Tensor::<3>::from_data(TensorData::new(slopes.policy, shape), device);
    let policy = (policy * slope).sum();
    let shape = [batch.len(), VALUE_OUTPUTS];
    let slope = Tensor::<2>::from_data(TensorData::new(slopes.value, shape), device);
    let mut gradients = (policy + (value * slope).sum()).backward();
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
    device: &ComputeDevice,
    threads: usize,
) -> Losses {
    let model = device.run(|| Model::fixed(encoding, weights, device.tensors()));
    let all = in_parallel(batches.len(), threads, |index| {
        let batch = &batches[index];
        if batch.is_empty() {
            return Sums::default();
        }
        let (policy, value) = device.forward(&model, encoding, batch.inputs(), batch.len());
        Outputs { policy, value }.sums(batch)
    });
    let mut sums = Sums::default();
    all.into_iter().for_each(|its_sums| sums.add(its_sums));
    sums.means()
}

/// The results of `work` for each index below `count`, in index order, on at most `threads`
/// threads.
fn in_parallel<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(count);
    if threads <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let indices = std::iter::from_fn(|| {
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < count)
        });
        indices.map(|index| (index, work(index))).collect::<Vec<_>>()
    };
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect()
    });
    results.sort_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;
