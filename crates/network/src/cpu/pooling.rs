//! What layers see of the whole board: means and maxima over squares, the blocks
//! that pool, and the slopes of all that.

use super::dense::{Dense, mask, sums};
use super::features::Features;
use crate::Weights;
use crate::weights::Pooling;

/// By position and channel, the mean and, if asked for, then the maximum over squares of
/// `[positions, squares, channels]` behind a ReLU.
pub(super) fn pool(x: &[f32], squares: usize, channels: usize, max: bool, out: &mut Vec<f32>) {
    let width = if max { 2 * channels } else { channels };
    out.clear();
    out.resize(x.len() / squares / channels * width, 0.0);
    for (board, pooled) in x.chunks_exact(squares * channels).zip(out.chunks_exact_mut(width)) {
        let (mean, most) = pooled.split_at_mut(channels);
        for row in board.chunks_exact(channels) {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
            // Values behind a ReLU are never below zero.
            most.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(*value));
        }
        mean.iter_mut().for_each(|sum| *sum /= squares as f32);
    }
}

/// Adds the slopes of what was pooled, given those of the pooled, where the ReLU let it through.
/// Several squares that share a maximum share its slope's first taker: the first of them.
pub(super) fn unpool(x: &[f32], pooled: &[f32], slope: &[f32], channels: usize, out: &mut [f32]) {
    let positions = pooled.len() / (2 * channels);
    let squares = x.len() / (positions * channels);
    let boards = x.chunks_exact(squares * channels).zip(out.chunks_exact_mut(squares * channels));
    let both = pooled.chunks_exact(2 * channels).zip(slope.chunks_exact(2 * channels));
    for ((board, out), (pooled, slope)) in boards.zip(both) {
        let mut taken = vec![false; channels];
        for (row, out) in board.chunks_exact(channels).zip(out.chunks_exact_mut(channels)) {
            for channel in 0..channels {
                let value = row[channel];
                if value <= 0.0 {
                    continue;
                }
                out[channel] += slope[channel] / squares as f32;
                if value == pooled[channels + channel] && !taken[channel] {
                    taken[channel] = true;
                    out[channel] += slope[channels + channel];
                }
            }
        }
    }
}

/// A block's pooling.
#[derive(Debug)]
pub(super) enum Pool {
    /// Means and maxima of the block's inside give a bias by channel for its output.
    Bias(Dense),
    /// Means of the block's inside give factors by channel for that inside.
    Excite { hidden: Dense, output: Dense },
}

/// What a block's pooling computed on the way.
#[derive(Debug, Default)]
pub(super) struct Pooled {
    pooled: Vec<f32>,
    hidden: Vec<f32>,
    /// By position and channel.
    factors: Vec<f32>,
}

impl Pool {
    pub(super) fn new(weights: &Weights, block: usize) -> Option<Pool> {
        let name = |part: &str| format!("blocks.{block}.{part}");
        match weights.architecture().pools(block) {
            Pooling::None => None,
            Pooling::Bias => Some(Pool::Bias(Dense::new(weights, &[&name("pool")], 2))),
            Pooling::SqueezeExcite => Some(Pool::Excite {
                hidden: Dense::new(weights, &[&name("excite.hidden")], 1),
                output: Dense::new(weights, &[&name("excite.output")], 1),
            }),
        }
    }

    /// What a block's inside and its way around become between its convolutions, both
    /// `[positions, squares, channels]`.
    pub(super) fn forward(
        &self,
        features: Features,
        (squares, channels): (usize, usize),
        (inside, around): (&mut [f32], &mut [f32]),
        it: &mut Pooled,
    ) {
        match self {
            Pool::Bias(dense) => {
                pool(inside, squares, channels, true, &mut it.pooled);
                dense.forward(features, &it.pooled, &mut it.factors);
                by_channel(around, &it.factors, squares, channels, |value, bias| *value += bias);
            }
            Pool::Excite { hidden, output } => {
                pool(inside, squares, channels, false, &mut it.pooled);
                hidden.activate(features, &it.pooled, &mut it.hidden);
                output.forward(features, &it.hidden, &mut it.factors);
                it.factors.iter_mut().for_each(|factor| *factor = gate(*factor));
                by_channel(inside, &it.factors, squares, channels, |value, by| *value *= by);
            }
        }
    }

    /// Adds the parameters' slopes to a gradient and turns the inside's slopes, those that the
    /// second convolution has given, into those of the inside before pooling. `slope` is what the
    /// block's sums have, `inside` what the second convolution read.
    pub(super) fn backward(
        &self,
        features: Features,
        (squares, channels): (usize, usize),
        it: &Pooled,
        slope: &[f32],
        (inside, inside_slope): (&[f32], &mut [f32]),
        gradient: &mut Weights,
    ) {
        match self {
            Pool::Bias(dense) => {
                let sums = board_sums(slope, squares, channels);
                dense.descend(features, &it.pooled, &sums, gradient);
                let mut pooled = Vec::new();
                dense.ascend(features, &sums, &mut pooled, false);
                unpool(inside, &it.pooled, &pooled, channels, inside_slope);
            }
            Pool::Excite { hidden, output } => {
                let terms = inside_slope.iter().zip(inside).map(|(slope, value)| slope * value);
                let mut sums = board_sums(&terms.collect::<Vec<f32>>(), squares, channels);
                // f = 2 s(z) has the slope f (1 - f / 2), and x = x' / f.
                sums.iter_mut().zip(&it.factors).for_each(|(sum, by)| *sum *= 1.0 - by / 2.0);
                output.descend(features, &it.hidden, &sums, gradient);
                let mut inner = Vec::new();
                output.ascend(features, &sums, &mut inner, false);
                mask(&mut inner, &it.hidden);
                hidden.descend(features, &it.pooled, &inner, gradient);
                let mut mean = Vec::new();
                hidden.ascend(features, &inner, &mut mean, false);
                by_channel(inside_slope, &it.factors, squares, channels, |it, by| *it *= by);
                mean.iter_mut().for_each(|it| *it /= squares as f32);
                by_channel(inside_slope, &mean, squares, channels, |it, by| *it += by);
                mask(inside_slope, inside);
            }
        }
    }
}

/// A factor between 0 and 2: 1 where nothing is known.
fn gate(x: f32) -> f32 {
    2.0 / (1.0 + (-x).exp())
}

/// Changes every square's channels by what its position has for each.
fn by_channel(
    x: &mut [f32],
    by: &[f32],
    squares: usize,
    channels: usize,
    change: impl Fn(&mut f32, f32),
) {
    for (board, by) in x.chunks_exact_mut(squares * channels).zip(by.chunks_exact(channels)) {
        for row in board.chunks_exact_mut(channels) {
            row.iter_mut().zip(by).for_each(|(value, &by)| change(value, by));
        }
    }
}

/// Sums over each position's squares.
fn board_sums(x: &[f32], squares: usize, channels: usize) -> Vec<f32> {
    x.chunks_exact(squares * channels).flat_map(|board| sums(board, channels)).collect()
}
