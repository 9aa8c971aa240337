//! Learning on the processor's vectors: the residual tower forwards, and its slopes backwards.
//!
//! What is computed is what burn's automatic differentiation of [`crate::model`] computes, with
//! each convolution's element-wise passes fused into its transforms. A convolution is
//! `y = G (U * (S x))` with constant transforms S and G, so its slopes run through the transposes:
//! `dM = G' dy`, `dU = (S x)' dM`, `dx = S' (dM U')`.

use super::convolution::{TAPS, by_tap};
use super::dense::{mask, sums};
use super::features::Features;
use super::kernels::{Kernels, Shape};
use super::pack::padded;
use super::pooling::{Pool, Pooled};
use super::tiles::Board;
use super::winograd::{Finish, Room, Transforms};
use crate::named::Named;
use crate::parallel::{self, in_parallel};
use crate::{Architecture, Encoding, Weights};

/// Positions that go through a layer together, so that what it makes of them stays in the cache.
const TOGETHER: usize = 32;

/// A 3x3 convolution, its kernels transformed.
#[derive(Debug)]
struct Layer {
    name: String,
    /// What the kernels are multiplied with by output: a block's gain.
    gain: Option<String>,
    forward: Kernels,
    /// The same, from outputs to inputs; the first layer's inputs need no slopes.
    backward: Option<Kernels>,
    /// Filled up.
    bias: Vec<f32>,
    inputs: usize,
    outputs: usize,
}

/// The stem and the blocks with some weights, made once a step and shared by all threads.
#[derive(Debug)]
pub(super) struct Tower<'a> {
    features: Features,
    weights: &'a Weights,
    transforms: Transforms,
    transposed: Transforms,
    squares: usize,
    planes: usize,
    channels: usize,
    /// The stem, then two a block.
    layers: Vec<Layer>,
    /// By block.
    pools: Vec<Option<Pool>>,
}

/// What the layers of some positions gave, each `[positions, squares, channels]`, channels
/// filled up.
#[derive(Debug, Default)]
pub(super) struct Activations {
    planes: Vec<f32>,
    /// Behind the stem, and behind each block.
    trunk: Vec<Vec<f32>>,
    /// Inside each block, as its second convolution reads it.
    inner: Vec<Vec<f32>>,
    /// By block.
    pooled: Vec<Pooled>,
    /// Room for the slopes of a block's inside.
    inner_slope: Vec<f32>,
    room: Room,
}

impl Activations {
    /// The last block's outputs.
    pub(super) fn outputs(&self) -> &[f32] {
        self.trunk.last().expect("the stem's at least")
    }
}

impl<'a> Tower<'a> {
    /// A tower with these weights, made on at most `threads` threads.
    pub(super) fn new(
        encoding: &Encoding,
        weights: &'a Weights,
        features: Features,
        threads: usize,
    ) -> Tower<'a> {
        let Architecture { channels, blocks, .. } = weights.architecture();
        let board = Board { files: encoding.files(), ranks: encoding.ranks() };
        let transforms = Transforms::new(board);
        let layers =
            in_parallel(0..1 + 2 * blocks, &mut parallel::threads(threads), |(), index| {
                let block = index.saturating_sub(1) / 2;
                match index {
                    0 => Layer::new(&transforms, features, weights, "stem".to_owned(), None),
                    odd if odd % 2 == 1 => {
                        let name = format!("blocks.{block}.conv1");
                        Layer::new(&transforms, features, weights, name, None)
                    }
                    _ => {
                        let gain = Some(format!("blocks.{block}.gain"));
                        let name = format!("blocks.{block}.conv2");
                        Layer::new(&transforms, features, weights, name, gain)
                    }
                }
            });
        Tower {
            features,
            weights,
            transposed: transforms.transposed(),
            transforms,
            squares: board.squares(),
            planes: encoding.planes(),
            channels,
            layers,
            pools: (0..blocks).map(|block| Pool::new(weights, block)).collect(),
        }
    }

    /// Channels filled up.
    fn wide(&self) -> usize {
        padded(self.channels)
    }

    /// Runs positions, each `[planes, squares]`.
    pub(super) fn forward(&self, positions: &[f32], it: &mut Activations) {
        let count = positions.len() / (self.planes * self.squares);
        let size = count * self.squares * self.wide();
        let widest = self.wide().max(padded(self.planes));
        let Activations { planes, trunk, inner, pooled, room, .. } = it;
        self.transforms.make_room(room, count.min(TOGETHER), widest);
        self.lay_out(positions, planes);
        trunk.resize(self.pools.len() + 1, Vec::new());
        inner.resize(self.pools.len(), Vec::new());
        pooled.resize_with(self.pools.len(), Pooled::default);
        trunk[0].resize(size, 0.0);
        self.convolve(&self.layers[0], planes, Finish::Relu, room, &mut trunk[0]);
        for (block, pair) in self.layers[1..].chunks_exact(2).enumerate() {
            let [before, after] = &mut trunk[block..block + 2] else { unreachable!("one more") };
            let inside = &mut inner[block];
            inside.resize(size, 0.0);
            self.convolve(&pair[0], before, Finish::Relu, room, inside);
            after.clone_from(before);
            if let Some(pool) = &self.pools[block] {
                let shape = (self.squares, self.wide());
                pool.forward(self.features, shape, (inside, after), &mut pooled[block]);
            }
            self.convolve(&pair[1], inside, Finish::AddRelu, room, after);
        }
    }

    /// From `[planes, squares]` to `[squares, planes]`, planes filled up.
    fn lay_out(&self, positions: &[f32], out: &mut Vec<f32>) {
        let wide = padded(self.planes);
        let size = self.planes * self.squares;
        out.clear();
        out.resize(positions.len() / size * self.squares * wide, 0.0);
        let boards = out.chunks_exact_mut(self.squares * wide);
        for (position, board) in positions.chunks_exact(size).zip(boards) {
            for (plane, values) in position.chunks_exact(self.squares).enumerate() {
                for (square, &value) in values.iter().enumerate() {
                    board[square * wide + plane] = value;
                }
            }
        }
    }

    fn convolve<'b>(
        &self,
        layer: &'b Layer,
        input: &[f32],
        finish: impl Fn(&'b [f32]) -> Finish<'b>,
        room: &mut Room,
        out: &mut [f32],
    ) {
        let (features, finish) = (self.features, finish(&layer.bias));
        let (before, after) = layer.sizes(self.squares);
        let Room { spread, products, lines, .. } = room;
        let chunks = input.chunks(TOGETHER * before).zip(out.chunks_mut(TOGETHER * after));
        for (input, out) in chunks {
            let from = self.transforms.shape(input.len() / before, layer.forward.inputs);
            let to = Shape { channels: layer.forward.outputs, ..from };
            self.transforms.spread_all(features, input, from, lines, spread);
            let points = self.transforms.points();
            layer.forward.multiply(features, points, from.rows, spread, products);
            for (index, out) in out.chunks_exact_mut(after).enumerate() {
                self.transforms.gather_with(features, index, products, to, lines, finish, out);
            }
        }
    }

    /// Adds the slopes of all parameters of the tower to `gradient`, given those of its outputs.
    pub(super) fn backward(&self, it: &mut Activations, slope: &mut [f32], gradient: &mut Weights) {
        mask(slope, it.outputs());
        let Activations { planes, trunk, inner, pooled, inner_slope, room } = it;
        inner_slope.resize(slope.len(), 0.0);
        for (block, pair) in self.layers[1..].chunks_exact(2).enumerate().rev() {
            let inside = &inner[block];
            let through = (false, &mut inner_slope[..]);
            self.descend(&pair[1], inside, slope, Some(through), room, gradient);
            if let Some(pool) = &self.pools[block] {
                let (shape, both) =
                    ((self.squares, self.wide()), (&inside[..], &mut inner_slope[..]));
                pool.backward(self.features, shape, &pooled[block], slope, both, gradient);
            }
            let through = (true, &mut slope[..]);
            self.descend(&pair[0], &trunk[block], inner_slope, Some(through), room, gradient);
        }
        self.descend(&self.layers[0], planes, slope, None, room, gradient);
    }

    /// Adds the slopes of a layer's parameters to a gradient, given its input and the slopes of
    /// its sums. Where `through` is, it takes in the slopes of what the ReLU before the layer was
    /// given, or adds them to its own before the ReLU.
    fn descend(
        &self,
        layer: &Layer,
        input: &[f32],
        slope: &[f32],
        mut through: Option<(bool, &mut [f32])>,
        room: &mut Room,
        gradient: &mut Weights,
    ) {
        let (features, transforms) = (self.features, &self.transforms);
        let (before, after) = layer.sizes(self.squares);
        let (inputs, outputs) = (layer.forward.inputs, layer.forward.outputs);
        let Room { spread, products, slopes, lines } = room;
        slopes.grow(transforms.points() * layer.forward.stride());
        let chunks = input.chunks(TOGETHER * before).zip(slope.chunks(TOGETHER * after));
        for (chunk, (input, slope)) in chunks.enumerate() {
            let from = transforms.shape(input.len() / before, inputs);
            let to = Shape { channels: outputs, ..from };
            transforms.spread_all(features, input, from, lines, spread);
            self.transposed.spread_all(features, slope, to, lines, products);
            layer.forward.slopes(features, from.rows, (spread, products), chunk > 0, slopes);
            if let (Some((add, out)), Some(kernels)) = (&mut through, &layer.backward) {
                kernels.multiply(features, transforms.points(), from.rows, products, spread);
                let out = out[chunk * TOGETHER * before..].chunks_exact_mut(before);
                for (index, (out, input)) in out.zip(input.chunks_exact(before)).enumerate() {
                    let finish = if *add { Finish::AddMask(input) } else { Finish::Mask(input) };
                    self.transposed.gather_with(features, index, spread, from, lines, finish, out);
                }
            }
        }
        let mut taps = vec![0.0; TAPS * inputs * outputs];
        transforms.unweigh_with(features, slopes, inputs * outputs, &mut taps);
        layer.put(self.weights, &taps, &sums(slope, outputs), gradient);
    }
}

impl Layer {
    fn new(
        transforms: &Transforms,
        features: Features,
        weights: &Weights,
        name: String,
        gain: Option<String>,
    ) -> Layer {
        let (weight, bias) = Named(weights).layer(&name);
        let outputs = bias.len();
        let inputs = weight.len() / (TAPS * outputs);
        let mut weight = weight.to_vec();
        if let Some(gain) = &gain {
            let rows = weight.chunks_exact_mut(TAPS * inputs).zip(Named(weights).get(gain));
            rows.for_each(|(row, gain)| row.iter_mut().for_each(|value| *value *= gain));
        }
        let (wide_in, wide_out) = (padded(inputs), padded(outputs));
        let size = wide_in * wide_out;
        let kernels = |output_step, input_step, shape| {
            let taps = by_tap(&weight, (outputs, output_step), (inputs, input_step), size);
            transforms.kernels(features, &taps, shape)
        };
        let mut filled = bias.to_vec();
        filled.resize(wide_out, 0.0);
        Layer {
            forward: kernels(1, wide_out, (wide_in, wide_out)),
            backward: (name != "stem").then(|| kernels(wide_in, 1, (wide_out, wide_in))),
            bias: filled,
            name,
            gain,
            inputs,
            outputs,
        }
    }

    /// How long a position's input and output are.
    fn sizes(&self, squares: usize) -> (usize, usize) {
        (squares * self.forward.inputs, squares * self.forward.outputs)
    }

    /// Adds slopes of the kernels, `[taps, inputs, outputs]`, and of the bias to a gradient.
    fn put(&self, weights: &Weights, taps: &[f32], bias: &[f32], gradient: &mut Weights) {
        let (wide_out, size) = (self.forward.outputs, taps.len() / TAPS);
        let mut slopes = vec![0.0; TAPS * self.inputs * self.outputs];
        for (index, kernel) in slopes.chunks_exact_mut(TAPS).enumerate() {
            let (output, input) = (index / self.inputs, index % self.inputs);
            let place = input * wide_out + output;
            kernel.iter_mut().enumerate().for_each(|(tap, it)| *it = taps[tap * size + place]);
        }
        if let Some(gain) = &self.gain {
            let row = TAPS * self.inputs;
            let weight = Named(weights).get(&format!("{}.weight", self.name));
            let pairs = slopes.chunks_exact(row).zip(weight.chunks_exact(row));
            let gains = pairs.map(|(slopes, row)| slopes.iter().zip(row).map(|(a, b)| a * b).sum());
            gradient.add_to(gain, &gains.collect::<Vec<f32>>());
            let rows = slopes.chunks_exact_mut(row).zip(Named(weights).get(gain));
            rows.for_each(|(row, gain)| row.iter_mut().for_each(|value| *value *= gain));
        }
        gradient.add_to(&format!("{}.weight", self.name), &slopes);
        gradient.add_to(&format!("{}.bias", self.name), &bias[..self.outputs]);
    }
}
