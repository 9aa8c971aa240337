//! The network as a search's evaluator.

use crate::cpu::CpuNetwork;
use crate::losses::{softmax, softplus};
use crate::model::{Model, VALUE_OUTPUTS};
use crate::{Calibration, ComputeDevice, Encoding, Features, MOVES_LEFT_SCALE, Precision, Weights};
use keiko_rules::{Game, Move};
use keiko_selfplay::{Evaluation, Evaluator, Slot, Wdl};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most positions in one pass through the kernels: beyond it activations leave the cache.
const LARGEST_PASS: usize = 32;

/// What computes a network.
#[derive(Clone, PartialEq, Debug)]
pub enum Inference {
    /// burn's tensors and kernels, on a device. Every pass has one of few shapes, padded with
    /// empty boards.
    Burn(ComputeDevice),
    /// keiko's own kernels.
    Cpu {
        /// How numbers are held.
        precision: Precision,
        /// What 8-bit activations have to hold; other precisions need none.
        calibration: Option<Calibration>,
        /// Which instructions may be used.
        features: Features,
    },
}

impl Inference {
    /// keiko's own kernels with numbers held like this, and all that this processor can do.
    pub fn cpu(precision: Precision, calibration: Option<Calibration>) -> Inference {
        Inference::Cpu { precision, calibration, features: Features::detect() }
    }

    /// burn on this device if it is a GPU; a processor is better served by the kernels.
    pub fn on_gpu(device: &ComputeDevice) -> Option<Inference> {
        device.is_gpu().then(|| Inference::Burn(device.clone()))
    }

    /// keiko's own kernels in full precision, with all that this processor can do.
    pub fn exact() -> Inference {
        Inference::cpu(Precision::F32, None)
    }
}

#[derive(Debug)]
enum Backend {
    Burn { device: ComputeDevice, model: Box<Model> },
    Cpu(Box<CpuNetwork>),
}

impl Backend {
    /// Most positions in one pass.
    fn largest_pass(&self) -> usize {
        match self {
            Backend::Burn { device, .. } => rows_for(usize::MAX, device.passes()),
            Backend::Cpu(_) => LARGEST_PASS,
        }
    }
}

/// Evaluates positions with a network, on the caller's thread. Weights are packed once, when it
/// is made; no position's arithmetic depends on what else is in its batch.
#[derive(Debug)]
pub struct NetworkEvaluator {
    encoding: Arc<Encoding>,
    backend: Backend,
    batch: usize,
    /// Pushed positions, each `[planes, squares]`.
    inputs: Vec<f32>,
    /// Indices in the policy, `label * squares + square`, of every legal move.
    labels: Vec<u32>,
    /// Parallel to `labels`, once it was run.
    prior: Vec<f32>,
    /// By slot: its part of `labels`.
    slots: Vec<Range<usize>>,
    /// By slot, once it was run: chances and moves left.
    values: Vec<(Wdl, f32)>,
    evaluations: u64,
    busy: Duration,
}

impl NetworkEvaluator {
    /// An evaluator that works best with `batch` positions a run.
    ///
    /// # Panics
    /// When the weights are not of the encoding's shapes.
    pub fn new(
        weights: &Weights,
        encoding: Arc<Encoding>,
        batch: usize,
        inference: &Inference,
    ) -> NetworkEvaluator {
        let backend = match inference {
            Inference::Burn(device) => {
                let model = device.run(|| Model::fixed(&encoding, weights, device.tensors()));
                Backend::Burn { device: device.clone(), model: Box::new(model) }
            }
            Inference::Cpu { precision, calibration, features } => Backend::Cpu(Box::new(
                CpuNetwork::new(&encoding, weights, *precision, calibration.as_ref(), *features),
            )),
        };
        NetworkEvaluator {
            encoding,
            backend,
            batch: batch.max(1),
            inputs: Vec::new(),
            labels: Vec::new(),
            prior: Vec::new(),
            slots: Vec::new(),
            values: Vec::new(),
            evaluations: 0,
            busy: Duration::ZERO,
        }
    }

    /// How it sees positions.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// How many positions were evaluated, padding not counted.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Time spent in `run`.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// Forgets the batch that was run, if the next one begins.
    fn begin(&mut self) {
        if self.values.is_empty() {
            return;
        }
        self.inputs.clear();
        self.labels.clear();
        self.prior.clear();
        self.slots.clear();
        self.values.clear();
    }

    /// Takes a position into the batch as [`NetworkEvaluator::push`] would, already encoded.
    pub(crate) fn push_encoded(&mut self, input: &[f32], labels: &[u32]) -> Slot {
        self.begin();
        self.inputs.extend_from_slice(input);
        let first = self.labels.len();
        self.labels.extend_from_slice(labels);
        self.slots.push(first..self.labels.len());
        Slot(self.slots.len() - 1)
    }

    /// Evaluates the positions of these slots.
    fn pass(&mut self, slots: Range<usize>) {
        let size = self.encoding.planes() * self.encoding.squares();
        let positions = &self.inputs[slots.start * size..slots.end * size];
        let squares = self.encoding.squares();
        let (labels, prior, values) = (&self.labels, &mut self.prior, &mut self.values);
        let mut slots = slots.map(|slot| &labels[self.slots[slot].clone()]);
        let mut take = |value: &[f32], logit: &dyn Fn(usize, usize) -> f32| {
            values.push(read_value(value));
            let labels = slots.next().expect("a slot for each position");
            let start = prior.len();
            let place = |&label: &u32| (label as usize / squares, label as usize % squares);
            prior.extend(labels.iter().map(place).map(|(label, square)| logit(label, square)));
            softmax(&mut prior[start..]);
        };
        match &mut self.backend {
            Backend::Cpu(network) => network.run(positions, |outputs| {
                take(&outputs.value, &|label, square| outputs.logit(label, square));
            }),
            Backend::Burn { device, model } => {
                let rows = rows_for(positions.len() / size, device.passes());
                let (policy, value) = device.forward(model, &self.encoding, positions, rows);
                let planes = self.encoding.labels();
                for row in 0..positions.len() / size {
                    let logit = |label, square| policy[(row * squares + square) * planes + label];
                    take(&value[row * VALUE_OUTPUTS..][..VALUE_OUTPUTS], &logit);
                }
            }
        }
    }
}

/// What 8-bit activations of a network have to hold, judged by positions that it may meet, each
/// `[planes, squares]` as [`Encoding::encode`] writes them.
pub fn calibrate(weights: &Weights, encoding: &Encoding, positions: &[f32]) -> Calibration {
    let features = Features::detect();
    CpuNetwork::new(encoding, weights, Precision::F32, None, features).calibrate(positions)
}

pub(crate) fn read_value(outputs: &[f32]) -> (Wdl, f32) {
    let mut chances = [outputs[0], outputs[1], outputs[2]];
    softmax(&mut chances);
    let [win, draw, loss] = chances;
    (Wdl { win, draw, loss }, MOVES_LEFT_SCALE * softplus(outputs[3]))
}

/// Rows of a pass for this many positions: the fewest that hold them, or the most there are.
fn rows_for(positions: usize, passes: &[usize]) -> usize {
    let enough = passes.iter().find(|&&rows| rows >= positions);
    *enough.or(passes.last()).expect("a pass has some shape")
}

impl Evaluator for NetworkEvaluator {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        self.begin();
        let start = self.inputs.len();
        self.inputs.resize(start + self.encoding.planes() * self.encoding.squares(), 0.0);
        self.encoding.encode(game, &mut self.inputs[start..]);
        let first = self.labels.len();
        let label = |&mv| self.encoding.label(game.position(), mv) as u32;
        self.labels.extend(legal.iter().map(label));
        self.slots.push(first..self.labels.len());
        Slot(self.slots.len() - 1)
    }

    fn run(&mut self) {
        let start = Instant::now();
        let largest = self.backend.largest_pass();
        // A second run without a push finds nothing new.
        let mut next = self.values.len();
        while next < self.slots.len() {
            let end = self.slots.len().min(next + largest);
            self.pass(next..end);
            self.evaluations += (end - next) as u64;
            next = end;
        }
        self.busy += start.elapsed();
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        let (wdl, moves_left) = self.values[slot.0];
        Evaluation { wdl, moves_left, prior: &self.prior[self.slots[slot.0].clone()] }
    }

    fn batch_size(&self) -> usize {
        self.batch
    }
}

#[cfg(test)]
mod tests;
