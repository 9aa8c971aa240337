//! The network on the processor's own vectors: packed once, no allocation a call, one thread.
//!
//! What is computed is what [`crate::model`] computes; how is what small boards want. Each
//! position runs through a layer on its own, so its bits depend on nothing else.

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "vector instructions; each block says why it is sound")]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "vector instructions; each block says why it is sound")]
mod avx512;
mod convolution;
mod dense;
mod features;
mod heads;
mod kernels;
mod lanes;
mod model;
mod pack;
mod pooling;
mod portable;
mod product;
#[cfg(test)]
mod tests;
mod tiles;
mod tower;
mod vectors;
#[cfg(target_arch = "x86_64")]
mod walk;
mod winograd;

pub use features::Features;
pub(crate) use model::{CpuModel, Workspace};
pub use pack::Precision;

use crate::named::{Dense, Named};
use crate::{Architecture, Encoding, Weights};
use convolution::Convolution;
use pack::{Held, LARGEST_ACTIVATION, Packed, padded};
use pooling::{Pool, Pooled};
use tiles::{Board, Job, Then, Tile, tiles};
use winograd::{Finish, Room, Transforms};

/// Positions that go through a layer together, so that its weights stay in the cache.
const TOGETHER: usize = 24;
/// Conversions to smaller numbers take so many at a time.
const CONVERTED: usize = 64;

/// The largest activations that 8 bits have to hold, by layer: what each block's two convolutions
/// read.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Calibration {
    /// Two numbers a block.
    pub largest: Vec<f32>,
}

/// A network packed for one board.
#[derive(Debug)]
pub(crate) struct CpuNetwork {
    features: Features,
    board: Board,
    tiles: Vec<Tile>,
    planes: usize,
    /// Channels of the trunk, filled up.
    channels: usize,
    stem: Packed,
    /// The transforms of convolutions that have some.
    transforms: Transforms,
    blocks: Vec<[Convolution; 2]>,
    /// By block.
    pools: Vec<Option<Pool>>,
    /// By block: what its two convolutions' inputs are multiplied with before they are rounded.
    per_unit: Vec<[f32; 2]>,
    policy_hidden: Packed,
    /// `[labels, channels]`
    policy: Vec<f32>,
    policy_bias: Vec<f32>,
    value_conv: Packed,
    value_channels: usize,
    value_hidden: Dense,
    value: Dense,
    scratch: Scratch,
}

/// Activations of the positions that are under way, each `[squares, channels]`.
#[derive(Debug, Default)]
struct Scratch {
    planes: Vec<f32>,
    words: Vec<u32>,
    trunk: Vec<Vec<f32>>,
    inner: Vec<Vec<f32>>,
    policy: Vec<Vec<f32>>,
    room: Room,
    pooled: Pooled,
    value: Vec<f32>,
    value_pooled: Vec<f32>,
    hidden: Vec<f32>,
}

/// What a position's policy logits are computed from, and its value outputs.
pub(crate) struct Outputs<'a> {
    network: &'a CpuNetwork,
    hidden: &'a [f32],
    /// Three logits and moves left.
    pub(crate) value: [f32; 4],
}

impl Outputs<'_> {
    /// The logit of a label on a square.
    pub(crate) fn logit(&self, label: usize, square: usize) -> f32 {
        let channels = self.network.channels;
        let hidden = &self.hidden[square * channels..][..channels];
        let weights = &self.network.policy[label * channels..][..channels];
        dot(hidden, weights) + self.network.policy_bias[label]
    }
}

/// A sum in a fixed order, sixteen lanes at a time.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    lanes.iter().sum()
}

impl CpuNetwork {
    /// Packs weights. The blocks have the precision asked for; before and behind 8-bit ones, stem
    /// and heads read bf16 where the processor has that, else f32: with an 8-bit stem a trained
    /// network's chances were off by 0.030 at most instead of 0.014, for 4% more positions a second.
    pub(crate) fn new(
        encoding: &Encoding,
        weights: &Weights,
        precision: Precision,
        calibration: Option<&Calibration>,
        features: Features,
    ) -> CpuNetwork {
        let Architecture { channels: raw, blocks, .. } = weights.architecture();
        let named = Named(weights);
        let channels = padded(raw);
        let board = Board { files: encoding.files(), ranks: encoding.ranks() };
        let (held, outer) = (features.held(precision), features.outer(precision));
        let convolution = |held: Held, name: &str, taps: usize| {
            let (weight, bias) = named.layer(name);
            Packed::new(held, weight, bias, taps, held.words(channels), 1.0)
        };
        let largest =
            |index: usize| calibration.map_or(1.0, |it| it.largest[index].max(f32::MIN_POSITIVE));
        let transforms = Transforms::new(board);
        // Whatever the batch, so that it changes no bit: one position alone pays a little for that.
        let transformed = precision == Precision::F32;
        let trunk = |block: usize| {
            let words = held.words(channels);
            let unit = |half: usize| largest(2 * block + half) / LARGEST_ACTIVATION;
            let (first, first_bias) = named.layer(&format!("blocks.{block}.conv1"));
            let second_bias = named.get(&format!("blocks.{block}.conv2.bias"));
            let second = named.second(block);
            [(first, first_bias, unit(0)), (&second, second_bias, unit(1))].map(
                |(weight, bias, unit)| match transformed {
                    true => Convolution::winograd(&transforms, features, weight, bias),
                    false => Convolution::Direct(Packed::new(held, weight, bias, 9, words, unit)),
                },
            )
        };
        let stem_words = outer.words(encoding.planes());
        let (stem, stem_bias) = named.layer("stem");
        let (policy, policy_bias) = named.layer("policy.output");
        let value_channels = named.get("value.conv.bias").len();
        let value_hidden = named.get("value.hidden.bias").len();
        let mut filled = vec![0.0; policy_bias.len() * channels];
        for (row, weights) in filled.chunks_exact_mut(channels).zip(policy.chunks_exact(raw)) {
            row[..raw].copy_from_slice(weights);
        }
        let mut network = CpuNetwork {
            features,
            board,
            tiles: tiles(board),
            planes: encoding.planes(),
            channels,
            stem: Packed::new(outer, stem, stem_bias, 9, stem_words, 1.0),
            blocks: (0..blocks).map(trunk).collect(),
            pools: (0..blocks).map(|block| Pool::new(weights, block)).collect(),
            per_unit: (0..blocks)
                .map(|block| [0, 1].map(|half| LARGEST_ACTIVATION / largest(2 * block + half)))
                .collect(),
            policy_hidden: convolution(outer, "policy.hidden", 1),
            policy: filled,
            policy_bias: policy_bias.to_vec(),
            value_conv: convolution(outer, "value.conv", 1),
            value_channels,
            value_hidden: named.dense(&["value.hidden"], 2 * value_channels),
            value: named.dense(&["value.wdl", "value.moves_left"], value_hidden),
            scratch: Scratch::default(),
            transforms,
        };
        network.scratch = network.new_scratch();
        network
    }

    /// Room for the positions under way.
    fn new_scratch(&self) -> Scratch {
        let transformed =
            |it: &[Convolution; 2]| it.iter().any(|it| matches!(it, Convolution::Winograd { .. }));
        let mut room = Room::default();
        if self.blocks.iter().any(transformed) {
            self.transforms.make_room(&mut room, TOGETHER, self.channels);
        }
        let value = [self.value_channels, self.value_hidden.bias.len()];
        Scratch { room, ..Scratch::new(self.board, self.planes, self.channels, value) }
    }

    /// Runs positions, each `[planes, squares]`, and hands each one's outputs on, in order.
    pub(crate) fn run(&mut self, positions: &[f32], mut take: impl FnMut(Outputs<'_>)) {
        let size = self.planes * self.board.squares();
        for some in positions.chunks(TOGETHER * size) {
            let mut scratch = std::mem::take(&mut self.scratch);
            let count = some.len() / size;
            self.trunk(some, count, &mut scratch, |_, _| ());
            for index in 0..count {
                let value = self.heads(index, &mut scratch);
                take(Outputs { network: self, hidden: &scratch.policy[index], value });
            }
            self.scratch = scratch;
        }
    }

    /// What the convolutions of the blocks read at most on these positions, each
    /// `[planes, squares]`.
    pub(crate) fn calibrate(&self, positions: &[f32]) -> Calibration {
        let mut largest = vec![0.0f32; 2 * self.blocks.len()];
        let size = self.planes * self.board.squares();
        let mut scratch = self.new_scratch();
        for position in positions.chunks_exact(size) {
            self.trunk(position, 1, &mut scratch, |layer, input| {
                let most = input.iter().fold(largest[layer], |most, &value| most.max(value));
                largest[layer] = most;
            });
        }
        Calibration { largest }
    }

    /// Stem and blocks; `see` is shown what each convolution of the blocks reads.
    fn trunk(
        &self,
        positions: &[f32],
        count: usize,
        scratch: &mut Scratch,
        see: impl FnMut(usize, &[f32]),
    ) {
        let size = self.planes * self.board.squares();
        let Scratch { planes, words, trunk, .. } = &mut *scratch;
        for (position, trunk) in positions.chunks_exact(size).zip(trunk) {
            self.lay_out(position, planes);
            self.layer(&self.stem, planes, 1.0, words, Then::Relu, trunk);
        }
        self.run_blocks(count, scratch, see);
    }

    /// The blocks, on what the stem has left.
    fn run_blocks(&self, count: usize, scratch: &mut Scratch, mut see: impl FnMut(usize, &[f32])) {
        for (block, ([first, second], per_unit)) in
            self.blocks.iter().zip(&self.per_unit).enumerate()
        {
            let Scratch { words, trunk, inner, room, pooled, .. } = &mut *scratch;
            let (trunk, inner) = (&mut trunk[..count], &mut inner[..count]);
            trunk.iter().for_each(|input| see(2 * block, input));
            self.convolve(first, trunk, per_unit[0], Then::Relu, (words, room), inner);
            if let Some(pool) = &self.pools[block] {
                for (inside, around) in inner.iter_mut().zip(&mut *trunk) {
                    let size = self.board.squares() * self.channels;
                    let both = (&mut inside[..size], &mut around[..size]);
                    pool.forward(
                        self.features,
                        (self.board.squares(), self.channels),
                        both,
                        pooled,
                    );
                }
            }
            inner.iter().for_each(|input| see(2 * block + 1, input));
            self.convolve(second, inner, per_unit[1], Then::AddRelu, (words, room), trunk);
        }
    }

    /// One convolution of the trunk, for all positions under way.
    fn convolve(
        &self,
        convolution: &Convolution,
        inputs: &[Vec<f32>],
        per_unit: f32,
        then: Then,
        (words, room): (&mut [u32], &mut Room),
        outs: &mut [Vec<f32>],
    ) {
        match convolution {
            Convolution::Direct(packed) => {
                for (input, out) in inputs.iter().zip(outs) {
                    self.layer(packed, input, per_unit, words, then, out);
                }
            }
            Convolution::Winograd { kernels, bias } => {
                let finish = match then {
                    Then::Nothing => Finish::Nothing,
                    Then::Relu => Finish::Relu(bias),
                    Then::AddRelu => Finish::AddRelu(bias),
                };
                self.transforms.convolve(self.features, kernels, inputs, finish, room, outs);
            }
        }
    }

    /// From `[planes, squares]` to `[squares, planes]`, planes filled up to whole words.
    fn lay_out(&self, position: &[f32], out: &mut [f32]) {
        let stride = self.stem.words * self.stem.held.channels_a_word();
        for (plane, values) in position.chunks_exact(self.board.squares()).enumerate() {
            for (square, &value) in values.iter().enumerate() {
                out[square * stride + plane] = value;
            }
        }
    }

    /// One convolution with what follows it.
    fn layer(
        &self,
        packed: &Packed,
        input: &[f32],
        per_unit: f32,
        words: &mut [u32],
        then: Then,
        out: &mut [f32],
    ) {
        let needed = self.board.squares() * packed.words;
        self.features.convert(packed.held, input, per_unit, needed, words);
        let out = &mut out[..self.board.squares() * packed.outputs];
        let mut job = Job::new(self.board, &self.tiles, packed, &words[..needed], then, out);
        self.features.convolve(&mut job);
    }

    /// The hidden layer of the policy, and the value outputs.
    fn heads(&self, index: usize, scratch: &mut Scratch) -> [f32; 4] {
        let Scratch { words, trunk, policy, value, value_pooled: pooled, hidden, .. } = scratch;
        let trunk = &trunk[index];
        self.layer(&self.policy_hidden, trunk, 1.0, words, Then::Relu, &mut policy[index]);
        self.layer(&self.value_conv, trunk, 1.0, words, Then::Relu, value);
        let (mean, max) = pooled.split_at_mut(self.value_channels);
        mean.fill(0.0);
        max.fill(0.0);
        for row in value.chunks_exact(self.value_conv.outputs) {
            for ((mean, max), value) in mean.iter_mut().zip(max.iter_mut()).zip(row) {
                *mean += value;
                // Values behind a ReLU are never below zero.
                *max = max.max(*value);
            }
        }
        mean.iter_mut().for_each(|sum| *sum /= self.board.squares() as f32);
        self.value_hidden.apply(pooled, hidden);
        hidden.iter_mut().for_each(|value| *value = value.max(0.0));
        let mut outputs = [0.0; 4];
        self.value.apply(hidden, &mut outputs);
        outputs
    }
}

impl Scratch {
    fn new(board: Board, planes: usize, channels: usize, value: [usize; 2]) -> Scratch {
        let squares = board.squares();
        let trunk = (squares * channels).next_multiple_of(CONVERTED);
        let each = || vec![vec![0.0; trunk]; TOGETHER];
        let planes = (squares * planes.next_multiple_of(4)).next_multiple_of(CONVERTED);
        let words = trunk.max(planes);
        Scratch {
            planes: vec![0.0; planes],
            words: vec![0; words],
            trunk: each(),
            inner: each(),
            policy: each(),
            room: Room::default(),
            value: vec![0.0; squares * padded(value[0])],
            pooled: Pooled::default(),
            value_pooled: vec![0.0; 2 * value[0]],
            hidden: vec![0.0; value[1]],
        }
    }
}
