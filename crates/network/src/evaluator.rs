//! The network as a search's evaluator.

use crate::losses::{softmax, softplus};
use crate::model::{Model, VALUE_OUTPUTS, host, input};
use crate::{Encoding, MOVES_LEFT_SCALE, Weights};
use burn::tensor::Device;
use keiko_rules::{Game, Move};
use keiko_selfplay::{Evaluation, Evaluator, Slot, Wdl};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most positions in one pass through the network: beyond it activations leave the cache.
const LARGEST_PASS: usize = 32;
/// Fewest: matrix products of a single row take another path, with other rounding.
const SMALLEST_PASS: usize = 2;

/// Evaluates positions with a network, on the caller's thread.
///
/// Weights are transformed once, here. Every pass has one of few shapes, padded with empty
/// boards; no row's arithmetic depends on another row or on their number.
#[derive(Debug)]
pub struct BurnEvaluator {
    encoding: Arc<Encoding>,
    device: Device,
    model: Model,
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

impl BurnEvaluator {
    /// An evaluator that works best with `batch` positions a run.
    ///
    /// # Panics
    /// When the weights are not of the encoding's shapes.
    pub fn new(weights: &Weights, encoding: Arc<Encoding>, batch: usize) -> BurnEvaluator {
        let device = Device::flex();
        BurnEvaluator {
            model: Model::fixed(&encoding, weights, &device),
            encoding,
            device,
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

    /// Evaluates the positions of these slots in one pass of `rows` rows.
    fn pass(&mut self, slots: Range<usize>, rows: usize) {
        let size = self.encoding.planes() * self.encoding.squares();
        let positions = &self.inputs[slots.start * size..slots.end * size];
        let x = input(positions, rows, &self.encoding, &self.device);
        let (policy, value) = self.model.forward(x);
        let (policy, value) = (host(policy), host(value));
        let (squares, planes) = (self.encoding.squares(), self.encoding.labels());
        for (row, slot) in slots.enumerate() {
            let outputs = &value[row * VALUE_OUTPUTS..][..VALUE_OUTPUTS];
            self.values.push(read_value(outputs));
            let place = |label: usize| {
                let (plane, square) = (label / squares, label % squares);
                (square * rows + row) * planes + plane
            };
            let start = self.prior.len();
            let labels = &self.labels[self.slots[slot].clone()];
            self.prior.extend(labels.iter().map(|&label| policy[place(label as usize)]));
            softmax(&mut self.prior[start..]);
        }
    }
}

fn read_value(outputs: &[f32]) -> (Wdl, f32) {
    let mut chances = [outputs[0], outputs[1], outputs[2]];
    softmax(&mut chances);
    let [win, draw, loss] = chances;
    (Wdl { win, draw, loss }, MOVES_LEFT_SCALE * softplus(outputs[3]))
}

/// Rows of a pass for this many positions: the next power of two within the limits.
fn rows_for(positions: usize) -> usize {
    positions.next_power_of_two().clamp(SMALLEST_PASS, LARGEST_PASS)
}

impl Evaluator for BurnEvaluator {
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
        // A second run without a push finds nothing new.
        let mut next = self.values.len();
        while next < self.slots.len() {
            let end = self.slots.len().min(next + LARGEST_PASS);
            self.pass(next..end, rows_for(end - next));
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
