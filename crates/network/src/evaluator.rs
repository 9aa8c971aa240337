//! The network behind the search's one seam.

use crate::losses::{MOVES_LEFT_SCALE, softmax, softplus};
use crate::model::{Model, VALUE_OUTPUTS, host, input};
use crate::{Encoding, Weights};
use burn::tensor::Device;
use keiko_rules::{Game, Move};
use keiko_selfplay::{Evaluation, Evaluator, Slot, Wdl};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Evaluates positions with burn, in batches of one fixed shape: short ones are filled with
/// zeros, so that a position's bits depend on nothing but itself.
#[derive(Debug)]
pub struct BurnEvaluator {
    encoding: Arc<Encoding>,
    model: Model,
    device: Device,
    batch: usize,
    /// Encoded positions of this batch, one after another.
    inputs: Vec<f32>,
    /// Their legal moves' labels, one position after another.
    labels: Vec<u32>,
    /// Where each position's labels end.
    ends: Vec<usize>,
    /// Parallel to `labels`, once the batch has run.
    priors: Vec<f32>,
    /// Chances and moves left, once the batch has run.
    values: Vec<(Wdl, f32)>,
    has_run: bool,
    evaluations: u64,
    busy: Duration,
}

impl BurnEvaluator {
    /// An evaluator of these weights, `batch` positions at a time.
    ///
    /// # Panics
    /// When `batch` is 0.
    pub fn new(weights: &Weights, encoding: Arc<Encoding>, batch: usize) -> BurnEvaluator {
        assert!(batch > 0, "a batch holds at least one position");
        let device = Device::flex();
        BurnEvaluator {
            model: Model::fixed(&encoding, weights, &device),
            encoding,
            device,
            batch,
            inputs: Vec::new(),
            labels: Vec::new(),
            ends: Vec::new(),
            priors: Vec::new(),
            values: Vec::new(),
            has_run: false,
            evaluations: 0,
            busy: Duration::ZERO,
        }
    }

    /// Positions evaluated so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Time spent inside the network so far.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    fn clear(&mut self) {
        self.inputs.clear();
        self.labels.clear();
        self.ends.clear();
        self.priors.clear();
        self.values.clear();
    }

    fn labels_of(&self, row: usize) -> std::ops::Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[row]
    }

    /// Reads one position's answers from the outputs: `policy` is `[squares, batch, labels]`.
    fn read_row(&mut self, row: usize, policy: &[f32], value: &[f32]) {
        let (squares, labels) = (self.encoding.squares(), self.encoding.labels());
        let range = self.labels_of(row);
        let start = self.priors.len();
        self.priors.extend(self.labels[range].iter().map(|&index| {
            let (label, square) = (index as usize / squares, index as usize % squares);
            policy[(square * self.batch + row) * labels + label]
        }));
        softmax(&mut self.priors[start..]);
        let value = &value[row * VALUE_OUTPUTS..][..VALUE_OUTPUTS];
        let mut chances = [value[0], value[1], value[2]];
        softmax(&mut chances);
        let [win, draw, loss] = chances;
        self.values.push((Wdl { win, draw, loss }, softplus(value[3]) * MOVES_LEFT_SCALE));
    }
}

impl Evaluator for BurnEvaluator {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        if std::mem::take(&mut self.has_run) {
            self.clear();
        }
        let row = self.ends.len();
        assert!(row < self.batch, "a batch holds {} positions", self.batch);
        let start = self.inputs.len();
        self.inputs.resize(start + self.encoding.planes() * self.encoding.squares(), 0.0);
        self.encoding.encode(game, &mut self.inputs[start..]);
        let label = |&mv: &Move| self.encoding.label(game.position(), mv) as u32;
        self.labels.extend(legal.iter().map(label));
        self.ends.push(self.labels.len());
        Slot(row)
    }

    fn run(&mut self) {
        let rows = if self.has_run { 0 } else { self.ends.len() };
        self.has_run = true;
        if rows == 0 {
            return;
        }
        let began = Instant::now();
        let x = input(&self.inputs, self.batch, &self.encoding, &self.device);
        let (policy, value) = self.model.forward(x);
        let (policy, value) = (host(policy), host(value));
        self.evaluations += rows as u64;
        self.busy += began.elapsed();
        for row in 0..rows {
            self.read_row(row, &policy, &value);
        }
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        let (wdl, moves_left) = self.values[slot.0];
        Evaluation { wdl, moves_left, prior: &self.priors[self.labels_of(slot.0)] }
    }

    fn batch_size(&self) -> usize {
        self.batch
    }
}
