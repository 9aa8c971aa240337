//! 3x3 convolutions as three matrix products (Winograd's minimal filtering).
//!
//! A board of up to 5x5 squares, padded with one ring of zeros, is a single Winograd tile;
//! larger boards take several. Both transforms are linear and the padding is constant, so
//! each is one constant matrix over the squares. In the layout `[squares, batch, channels]`
//! a convolution is then transform, one small product for each point, transform back:
//! 49 C^2 multiplications a position on 5x5 instead of 225 C^2, and nothing but large
//! matrix products. The weights' transform stays in the autodiff graph, so parameters keep
//! their usual shape `[out, in, 3, 3]`.

use burn::tensor::{Device, Tensor, TensorData};

/// Taps of the kernel along one axis.
const TAPS: usize = 3;
/// Outputs a tile has at most along one axis: beyond it rounding errors grow fast.
const LONGEST_TILE: usize = 5;
/// Where the polynomials are evaluated, besides infinity; a tile of n outputs takes the first n + 1.
const POINTS: [f64; LONGEST_TILE + 1] = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5];

/// Minimal filtering of 3 taps along one axis, for tiles of `outputs` outputs.
pub(crate) struct Axis {
    /// Squares along the axis.
    length: usize,
    pub(crate) tiles: usize,
    /// Outputs of a tile; the last tile's surplus is cropped.
    outputs: usize,
    /// Input transform, `[points][points]`.
    input: Vec<Vec<f64>>,
    /// Weight transform, `[points][TAPS]`.
    pub(crate) weight: Vec<Vec<f64>>,
}

impl Axis {
    pub(crate) fn new(length: usize) -> Axis {
        let tiles = length.div_ceil(LONGEST_TILE);
        let outputs = length.div_ceil(tiles);
        let finite = &POINTS[..outputs + 1];
        let mut axis = Axis { length, tiles, outputs, input: Vec::new(), weight: Vec::new() };
        for (index, &point) in finite.iter().enumerate() {
            let others = || finite.iter().enumerate().filter(move |(i, _)| *i != index);
            let norm: f64 = others().map(|(_, &other)| point - other).product();
            let weights = (0..TAPS).map(|tap| point.powi(tap as i32) / norm).collect();
            axis.push(polynomial(others().map(|(_, &root)| root)), weights);
        }
        axis.push(polynomial(finite.iter().copied()), vec![0.0, 0.0, 1.0]);
        axis
    }

    /// Adds a point; its input row is scaled to a maximum of 1 and its weights inversely,
    /// which keeps every intermediate value of one magnitude.
    fn push(&mut self, mut input: Vec<f64>, mut weight: Vec<f64>) {
        let scale = input.iter().fold(0.0f64, |max, x| max.max(x.abs()));
        input.iter_mut().for_each(|x| *x /= scale);
        weight.iter_mut().for_each(|x| *x *= scale);
        input.resize(self.points(), 0.0);
        self.input.push(input);
        self.weight.push(weight);
    }

    pub(crate) fn points(&self) -> usize {
        self.outputs + TAPS - 1
    }

    /// What square `square` contributes to `point` of `tile`.
    pub(crate) fn input(&self, tile: usize, point: usize, square: usize) -> f64 {
        // A tile's inputs begin one square before its outputs: the ring of padding.
        (square + 1)
            .checked_sub(tile * self.outputs)
            .map_or(0.0, |offset| self.input[point].get(offset).copied().unwrap_or(0.0))
    }

    /// What `point` of `tile` contributes to square `square`.
    pub(crate) fn output(&self, tile: usize, point: usize, square: usize) -> f64 {
        if square / self.outputs != tile {
            return 0.0;
        }
        let power = square - tile * self.outputs;
        match POINTS[..self.outputs + 1].get(point) {
            Some(value) => value.powi(power as i32),
            None => f64::from(u8::from(power == self.outputs - 1)),
        }
    }
}

/// Coefficients of the monic polynomial with these roots, lowest power first.
fn polynomial(roots: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut coefficients = vec![1.0];
    for root in roots {
        coefficients.insert(0, 0.0);
        for power in 1..coefficients.len() {
            coefficients[power - 1] -= root * coefficients[power];
        }
    }
    coefficients
}

/// The constant transforms of one board size, on one device.
#[derive(Clone, Debug)]
pub(crate) struct Winograd {
    /// Points of a tile.
    points: usize,
    tiles: usize,
    /// `[points * tiles, squares]`
    input: Tensor<2>,
    /// `[squares, points * tiles]`
    output: Tensor<2>,
    /// `[points, 9]`
    weight: Tensor<2>,
}

impl Winograd {
    /// Transforms for boards of `files` x `ranks` squares, numbered rank by rank.
    pub(crate) fn new(files: usize, ranks: usize, device: &Device) -> Winograd {
        let (vertical, horizontal) = (Axis::new(ranks), Axis::new(files));
        let points = vertical.points() * horizontal.points();
        let tiles = vertical.tiles * horizontal.tiles;
        let squares = files * ranks;
        let (mut input, mut output) = (Vec::new(), vec![0.0; squares * points * tiles]);
        // Row of the transformed domain: point first, then tile, so that all tiles of a
        // point meet its weights in one product.
        for row in 0..points * tiles {
            let (point, tile) = (row / tiles, row % tiles);
            let (py, px) = (point / horizontal.points(), point % horizontal.points());
            let (ty, tx) = (tile / horizontal.tiles, tile % horizontal.tiles);
            for square in 0..squares {
                let (y, x) = (square / files, square % files);
                input.push(vertical.input(ty, py, y) * horizontal.input(tx, px, x));
                output[square * points * tiles + row] =
                    vertical.output(ty, py, y) * horizontal.output(tx, px, x);
            }
        }
        let mut weight = Vec::with_capacity(points * TAPS * TAPS);
        for (row, column) in pairs(&vertical.weight, &horizontal.weight) {
            weight.extend(pairs(row, column).map(|(y, x)| y * x));
        }
        debug_assert_eq!(vertical.length * horizontal.length, squares);
        Winograd {
            points,
            tiles,
            input: constant(&input, [points * tiles, squares], device),
            output: constant(&output, [squares, points * tiles], device),
            weight: constant(&weight, [points, TAPS * TAPS], device),
        }
    }

    /// Kernels `[out, in, 3, 3]` in the transformed domain, `[points, in, out]`.
    pub(crate) fn transform_weight(&self, weight: Tensor<4>) -> Tensor<3> {
        let [outputs, inputs, height, width] = weight.dims();
        let flat = weight.reshape([outputs * inputs, height * width]).transpose();
        let transformed = self.weight.clone().matmul(flat);
        transformed.reshape([self.points, outputs, inputs]).swap_dims(1, 2)
    }

    /// The convolution of `x`, `[squares, batch, in]`, with transformed kernels
    /// `[points, in, out]`: `[squares, batch, out]`, zero-padded at the edges.
    pub(crate) fn convolve(&self, x: Tensor<3>, kernels: Tensor<3>) -> Tensor<3> {
        let [squares, batch, inputs] = x.dims();
        let outputs = kernels.dims()[2];
        let spread = self.input.clone().matmul(x.reshape([squares, batch * inputs]));
        let products = spread.reshape([self.points, self.tiles * batch, inputs]).matmul(kernels);
        let gathered = self
            .output
            .clone()
            .matmul(products.reshape([self.points * self.tiles, batch * outputs]));
        gathered.reshape([squares, batch, outputs])
    }
}

/// Every pair of an element of `a` with one of `b`, `a` slowest.
fn pairs<'a, T, U>(a: &'a [T], b: &'a [U]) -> impl Iterator<Item = (&'a T, &'a U)> {
    a.iter().flat_map(move |x| b.iter().map(move |y| (x, y)))
}

fn constant(values: &[f64], shape: [usize; 2], device: &Device) -> Tensor<2> {
    let values: Vec<f32> = values.iter().map(|&x| x as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests;
