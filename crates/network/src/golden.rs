//! Positions with what a network answers: proof for whoever computes it with another program.

use crate::cpu::CpuNetwork;
use crate::evaluator::read_value;
use crate::model::{Model, VALUE_OUTPUTS};
use crate::{ComputeDevice, Encoding, Features, Precision, Weights, storage};
use keiko_rules::Game;
use keiko_selfplay::{Purpose, generator, random_moves};
use std::sync::Arc;

/// Positions of the file.
pub(crate) const POSITIONS: usize = 64;

/// Positions of random play, the n-th after n moves (or where the game ended), each
/// `[planes, squares]`.
pub(crate) fn positions(encoding: &Encoding) -> Vec<f32> {
    let size = encoding.planes() * encoding.squares();
    let mut inputs = vec![0.0; POSITIONS * size];
    for (number, input) in inputs.chunks_exact_mut(size).enumerate() {
        let mut game = Game::new(Arc::clone(encoding.rules()));
        game.set_ply_limit(Some(2 * POSITIONS as u32));
        let mut rng = generator(0, Purpose::Calibration, number as u64);
        random_moves(&mut game, number as u32, &mut rng);
        encoding.encode(&game, input);
    }
    inputs
}

/// A network's answers to positions: `policy` logits `[positions, labels, squares]`, `wdl`
/// `[positions, 3]` and `moves_left` `[positions]`, in full precision.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Answers {
    /// Logits, by label and square.
    pub(crate) policy: Vec<f32>,
    /// Chances of a win, a draw, a loss.
    pub(crate) wdl: Vec<f32>,
    /// Plies to the end of the game.
    pub(crate) moves_left: Vec<f32>,
}

impl Answers {
    /// What a network answers to positions, each `[planes, squares]`.
    pub(crate) fn of(weights: &Weights, encoding: &Encoding, positions: &[f32]) -> Answers {
        let mut answers = Answers { policy: Vec::new(), wdl: Vec::new(), moves_left: Vec::new() };
        let precision = Precision::F32;
        let mut network = CpuNetwork::new(encoding, weights, precision, None, Features::detect());
        network.run(positions, |outputs| {
            for label in 0..encoding.labels() {
                let logits = (0..encoding.squares()).map(|square| outputs.logit(label, square));
                answers.policy.extend(logits);
            }
            answers.push_value(&outputs.value);
        });
        answers
    }

    /// What a network on a device answers to them, in passes of so many rows.
    pub(crate) fn on(
        device: &ComputeDevice,
        model: &Model,
        encoding: &Encoding,
        positions: &[f32],
        rows: usize,
    ) -> Answers {
        let mut answers = Answers { policy: Vec::new(), wdl: Vec::new(), moves_left: Vec::new() };
        let (labels, squares) = (encoding.labels(), encoding.squares());
        let size = encoding.planes() * squares;
        for positions in positions.chunks(rows * size) {
            let (policy, value) = device.forward(model, encoding, positions, rows);
            for row in 0..positions.len() / size {
                let logit = |label, square| policy[(row * squares + square) * labels + label];
                let logits = (0..labels).flat_map(|l| (0..squares).map(move |s| (l, s)));
                answers.policy.extend(logits.map(|(label, square)| logit(label, square)));
                answers.push_value(&value[row * VALUE_OUTPUTS..][..VALUE_OUTPUTS]);
            }
        }
        answers
    }

    fn push_value(&mut self, outputs: &[f32]) {
        let (wdl, moves_left) = read_value(outputs);
        self.wdl.extend([wdl.win, wdl.draw, wdl.loss]);
        self.moves_left.push(moves_left);
    }

    /// The largest difference to other answers to the same positions.
    pub(crate) fn difference(&self, other: &Answers) -> f32 {
        largest(self.pairs(other).map(|(a, b)| (a - b).abs()))
    }

    /// The same in parts of the other answer, where that is above 1; no number if an answer is
    /// none.
    pub(crate) fn relative_difference(&self, other: &Answers) -> f32 {
        largest(self.pairs(other).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)))
    }

    fn pairs<'a>(&'a self, other: &'a Answers) -> impl Iterator<Item = (f32, f32)> {
        let mine = [&self.policy, &self.wdl, &self.moves_left].into_iter().flatten();
        let others = [&other.policy, &other.wdl, &other.moves_left].into_iter().flatten();
        mine.copied().zip(others.copied())
    }
}

/// The largest of some numbers, or one that is none.
fn largest(numbers: impl Iterator<Item = f32>) -> f32 {
    numbers.fold(0.0, |max, x| if x > max || x.is_nan() { x } else { max })
}

/// The bytes of a golden file: positions and answers as safetensors.
pub(crate) fn to_bytes(weights: &Weights, encoding: &Encoding) -> Vec<u8> {
    let inputs = positions(encoding);
    let answers = Answers::of(weights, encoding, &inputs);
    let board = [encoding.ranks(), encoding.files()];
    storage::tensors_to_bytes(&[
        ("planes", &[POSITIONS, encoding.planes(), board[0], board[1]], &inputs),
        ("policy", &[POSITIONS, encoding.labels(), board[0], board[1]], &answers.policy),
        ("wdl", &[POSITIONS, 3], &answers.wdl),
        ("moves_left", &[POSITIONS, 1], &answers.moves_left),
    ])
}
