//! 3x3 convolutions in f32 by Winograd's minimal filtering, several positions at a time.
//!
//! The transforms are those of [`crate::winograd`]; here they run along one axis after the other,
//! some channels at a time, and the products in between are 1x1 convolutions over the rows of
//! all positions, so they run on the same kernels. A row's sums do not depend on other rows.

use super::features::Features;
use super::pack::{Held, LANES, Packed};
use super::tiles::{Board, Job, Then, Tile, tiles};
use crate::winograd::Axis;

/// Channels that the transforms work on at a time: activations are filled up to whole blocks of
/// them, and what leads to them is found once for two vectors.
const WIDTH: usize = 2 * LANES;

/// So many channels.
type Lanes = [f32; WIDTH];

/// One axis' transform: a matrix, row by row.
#[derive(Debug)]
struct Matrix {
    columns: usize,
    factors: Vec<f32>,
}

/// The transforms of one board.
#[derive(Debug)]
pub(super) struct Transforms {
    board: Board,
    /// By (tile, point) along the axis: squares.
    spread: [Matrix; 2],
    /// By square along the axis: (tile, point)s.
    gather: [Matrix; 2],
    /// Tiles along the axis, vertical first.
    tiles: [usize; 2],
    /// Points of a tile along the axis.
    points: [usize; 2],
    /// By point, by tap.
    weight: [Vec<Vec<f64>>; 2],
    /// By number of positions: the rows of a product cut into tiles.
    cuts: Vec<Vec<Tile>>,
}

/// Room for the transformed activations and their products.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// As words: what kernels read.
    spread: Vec<u32>,
    products: Vec<f32>,
    one: Vec<Lanes>,
    other: Vec<Lanes>,
}

/// A convolution's kernels in the transformed domain: one small product a point.
#[derive(Debug)]
pub(super) struct Transformed {
    points: Vec<Packed>,
    bias: Vec<f32>,
}

fn matrix(rows: impl Iterator<Item = Vec<f64>>) -> Matrix {
    let (mut columns, mut factors) = (0, Vec::new());
    for row in rows {
        columns = row.len();
        factors.extend(row.into_iter().map(|factor| factor as f32));
    }
    Matrix { columns, factors }
}

impl Matrix {
    fn rows(&self) -> usize {
        self.factors.len() / self.columns
    }

    /// Applies it to the entries that `entry` gives; `put` takes each row's sum. For the lengths
    /// that boards up to 11x11 have, the entries stay in registers.
    #[inline(always)]
    fn apply<const FUSED: bool>(
        &self,
        entry: impl Fn(usize) -> Lanes,
        put: impl FnMut(usize, Lanes),
    ) {
        match self.columns {
            3 => self.fixed::<3, FUSED>(entry, put),
            4 => self.fixed::<4, FUSED>(entry, put),
            5 => self.fixed::<5, FUSED>(entry, put),
            6 => self.fixed::<6, FUSED>(entry, put),
            7 => self.fixed::<7, FUSED>(entry, put),
            8 => self.fixed::<8, FUSED>(entry, put),
            9 => self.fixed::<9, FUSED>(entry, put),
            10 => self.fixed::<10, FUSED>(entry, put),
            12 => self.fixed::<12, FUSED>(entry, put),
            14 => self.fixed::<14, FUSED>(entry, put),
            _ => self.any::<FUSED>(entry, put),
        }
    }

    #[inline(always)]
    fn fixed<const N: usize, const FUSED: bool>(
        &self,
        entry: impl Fn(usize) -> Lanes,
        mut put: impl FnMut(usize, Lanes),
    ) {
        let mut entries = [[0.0; WIDTH]; N];
        for (index, slot) in entries.iter_mut().enumerate() {
            *slot = entry(index);
        }
        for (row, factors) in self.factors.chunks_exact(N).enumerate() {
            let mut sum = [0.0; WIDTH];
            for index in 0..N {
                add::<FUSED>(&mut sum, &entries[index], factors[index]);
            }
            put(row, sum);
        }
    }

    #[inline(always)]
    fn any<const FUSED: bool>(
        &self,
        entry: impl Fn(usize) -> Lanes,
        mut put: impl FnMut(usize, Lanes),
    ) {
        for (row, factors) in self.factors.chunks_exact(self.columns).enumerate() {
            let mut sum = [0.0; WIDTH];
            for (index, &factor) in factors.iter().enumerate() {
                add::<FUSED>(&mut sum, &entry(index), factor);
            }
            put(row, sum);
        }
    }
}

/// Adds some channels times a factor.
#[inline(always)]
fn add<const FUSED: bool>(sum: &mut Lanes, values: &Lanes, factor: f32) {
    for lane in 0..WIDTH {
        sum[lane] = if FUSED {
            values[lane].mul_add(factor, sum[lane])
        } else {
            values[lane] * factor + sum[lane]
        };
    }
}

/// From one point's rows to the next one's. Without the gap, points would lie a power of two
/// apart and fight for the same few places in the cache.
fn stride(rows: usize, channels: usize) -> usize {
    rows * channels + LANES
}

impl Transforms {
    /// Transforms of a board, for up to `together` positions at a time.
    pub(super) fn new(board: Board, together: usize) -> Transforms {
        let axes = [(board.ranks, Axis::new(board.ranks)), (board.files, Axis::new(board.files))];
        let spread = |(length, axis): &(usize, Axis)| {
            let rows = (0..axis.tiles * axis.points()).map(|row| {
                let (tile, point) = (row / axis.points(), row % axis.points());
                (0..*length).map(|square| axis.input(tile, point, square)).collect()
            });
            matrix(rows)
        };
        let gather = |(length, axis): &(usize, Axis)| {
            let rows = (0..*length).map(|square| {
                let pairs = (0..axis.tiles * axis.points())
                    .map(|row| (row / axis.points(), row % axis.points()));
                pairs.map(|(tile, point)| axis.output(tile, point, square)).collect()
            });
            matrix(rows)
        };
        let tiles_of = axes.each_ref().map(|(_, axis)| axis.tiles);
        let rows = |positions: usize| positions * tiles_of[0] * tiles_of[1];
        let cut = |positions| tiles(Board { files: rows(positions), ranks: 1 });
        Transforms {
            board,
            spread: axes.each_ref().map(spread),
            gather: axes.each_ref().map(gather),
            tiles: tiles_of,
            points: axes.each_ref().map(|(_, axis)| axis.points()),
            weight: axes.each_ref().map(|(_, axis)| axis.weight.clone()),
            cuts: (0..=together).map(cut).collect(),
        }
    }

    fn all_points(&self) -> usize {
        self.points[0] * self.points[1]
    }

    fn all_tiles(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// Room for this many channels.
    pub(super) fn room(&self, channels: usize) -> Room {
        let rows = (self.cuts.len() - 1) * self.all_tiles();
        let size = self.all_points() * stride(rows, channels);
        let points = self.all_points() * self.all_tiles();
        let lines = points.max(self.board.squares());
        Room {
            spread: vec![0; size],
            products: vec![0.0; size],
            one: vec![[0.0; WIDTH]; lines],
            other: vec![[0.0; WIDTH]; lines],
        }
    }

    /// `[outputs, inputs, 9]` kernels in the transformed domain, for activations of `channels`.
    pub(super) fn transform(&self, weights: &[f32], bias: &[f32], channels: usize) -> Transformed {
        let kernels = weights.chunks_exact(9);
        let point = |index: usize| {
            let (py, px) = (index / self.points[1], index % self.points[1]);
            let (vertical, horizontal) = (&self.weight[0][py], &self.weight[1][px]);
            let value = |kernel: &[f32]| {
                let taps = kernel.iter().enumerate();
                let terms = taps.map(|(tap, &weight)| {
                    f64::from(weight) * vertical[tap / 3] * horizontal[tap % 3]
                });
                terms.sum::<f64>() as f32
            };
            let transformed: Vec<f32> = kernels.clone().map(value).collect();
            let zeros = vec![0.0; bias.len()];
            Packed::new(Held::Floats, &transformed, &zeros, 1, channels, 1.0)
        };
        let points: Vec<Packed> = (0..self.all_points()).map(point).collect();
        let mut filled = vec![0.0; points[0].outputs];
        filled[..bias.len()].copy_from_slice(bias);
        Transformed { points, bias: filled }
    }

    /// Convolves `count` positions, `[squares, channels]` each.
    pub(super) fn convolve(
        &self,
        features: Features,
        kernels: &Transformed,
        inputs: &[Vec<f32>],
        then: Then,
        room: &mut Room,
        outs: &mut [Vec<f32>],
    ) {
        let channels = kernels.points[0].words;
        let rows = inputs.len() * self.all_tiles();
        for (index, input) in inputs.iter().enumerate() {
            self.spread_with(features, index, input, (rows, channels), room);
        }
        let board = Board { files: rows, ranks: 1 };
        let cut = &self.cuts[inputs.len()];
        let (size, stride) = (rows * channels, stride(rows, channels));
        for (point, packed) in kernels.points.iter().enumerate() {
            let words = &room.spread[point * stride..][..size];
            let out = &mut room.products[point * stride..][..size];
            features.convolve(&mut Job::new(board, cut, packed, words, Then::Nothing, out));
        }
        for (index, out) in outs.iter_mut().enumerate() {
            self.gather_with(features, index, &kernels.bias, then, (rows, channels), room, out);
        }
    }

    /// A position into the transformed domain: `[points, rows, channels]`, its tiles' rows.
    #[inline(always)]
    fn spread<const FUSED: bool>(
        &self,
        index: usize,
        input: &[f32],
        (rows, channels): (usize, usize),
        room: &mut Room,
    ) {
        let (files, stride) = (self.board.files, stride(rows, channels));
        for channel in (0..channels).step_by(WIDTH) {
            for file in 0..files {
                let one = &mut room.one;
                self.spread[0].apply::<FUSED>(
                    |rank| lanes(&input[(rank * files + file) * channels + channel..]),
                    |row, value| one[row * files + file] = value,
                );
            }
            for row in 0..self.spread[0].rows() {
                let (ty, py) = (row / self.points[0], row % self.points[0]);
                let (one, spread) = (&room.one, &mut room.spread);
                self.spread[1].apply::<FUSED>(
                    |file| one[row * files + file],
                    |column, value| {
                        let (tx, px) = (column / self.points[1], column % self.points[1]);
                        let point = py * self.points[1] + px;
                        let tile = (index * self.tiles[0] + ty) * self.tiles[1] + tx;
                        spread[point * stride + tile * channels + channel..][..WIDTH]
                            .copy_from_slice(&value.map(f32::to_bits));
                    },
                );
            }
        }
    }

    /// A position's products back to squares, with what follows.
    #[inline(always)]
    fn gather<const FUSED: bool>(
        &self,
        index: usize,
        bias: &[f32],
        then: Then,
        (rows, channels): (usize, usize),
        room: &mut Room,
        out: &mut [f32],
    ) {
        let (across, files) = (self.spread[1].rows(), self.board.files);
        let stride = stride(rows, channels);
        for channel in (0..channels).step_by(WIDTH) {
            for column in 0..across {
                let (tx, px) = (column / self.points[1], column % self.points[1]);
                let (products, other) = (&room.products, &mut room.other);
                self.gather[0].apply::<FUSED>(
                    |row| {
                        let (ty, py) = (row / self.points[0], row % self.points[0]);
                        let point = py * self.points[1] + px;
                        let tile = (index * self.tiles[0] + ty) * self.tiles[1] + tx;
                        lanes(&products[point * stride + tile * channels + channel..])
                    },
                    |rank, value| other[rank * across + column] = value,
                );
            }
            let bias = lanes(&bias[channel..]);
            for rank in 0..self.board.ranks {
                let other = &room.other;
                let out = &mut *out;
                self.gather[1].apply::<FUSED>(
                    |column| other[rank * across + column],
                    |file, value| {
                        let out = &mut out[(rank * files + file) * channels + channel..][..WIDTH];
                        for lane in 0..WIDTH {
                            let sum = value[lane] + bias[lane];
                            out[lane] = match then {
                                Then::Nothing => sum,
                                Then::Relu => sum.max(0.0),
                                Then::AddRelu => (sum + out[lane]).max(0.0),
                            };
                        }
                    },
                );
            }
        }
    }
}

/// The same code compiled for what the processor has.
macro_rules! for_each_machine {
    ($name:ident, $plain:ident, $avx2:ident, $avx512:ident, ($($argument:ident: $kind:ty),*)) => {
        #[allow(clippy::too_many_arguments, reason = "one step of one function, compiled thrice")]
        impl Transforms {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
            fn $avx512(&self, $($argument: $kind),*) {
                self.$plain::<true>($($argument),*);
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn $avx2(&self, $($argument: $kind),*) {
                self.$plain::<true>($($argument),*);
            }

            #[allow(unsafe_code, reason = "code for instructions that were detected")]
            fn $name(&self, features: Features, $($argument: $kind),*) {
                #[cfg(target_arch = "x86_64")]
                {
                    // SAFETY: the features were detected.
                    unsafe {
                        if features.avx512 {
                            return self.$avx512($($argument),*);
                        } else if features.avx2 {
                            return self.$avx2($($argument),*);
                        }
                    }
                }
                self.$plain::<false>($($argument),*);
            }
        }
    };
}

for_each_machine!(
    spread_with,
    spread,
    spread_avx2,
    spread_avx512,
    (index: usize, input: &[f32], shape: (usize, usize), room: &mut Room)
);

for_each_machine!(
    gather_with,
    gather,
    gather_avx2,
    gather_avx512,
    (
        index: usize,
        bias: &[f32],
        then: Then,
        shape: (usize, usize),
        room: &mut Room,
        out: &mut [f32]
    )
);

#[inline(always)]
fn lanes(values: &[f32]) -> Lanes {
    values[..WIDTH].try_into().expect("as many channels")
}
