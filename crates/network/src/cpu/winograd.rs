//! 3x3 convolutions in f32 by Winograd's minimal filtering, several positions at a time.
//!
//! The transforms are those of [`crate::winograd`]; here they run along one axis after the other,
//! some channels at a time. In between stands one matrix product a point over the rows of all
//! positions. A row's sums do not depend on other rows.

use super::features::Features;
use super::kernels::{Kernels, Shape};
use super::lanes::{Lanes, Matrix, WIDTH, add, lanes, matrix};
use super::pack::LANES;
use super::tiles::Board;
use super::vectors::Vectors;
use crate::winograd::Axis;

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
    weight: [Vec<[f32; TAPS]>; 2],
}

/// Taps of a kernel along one axis.
const TAPS: usize = 3;

/// Room for a transform's first half.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    one: Vec<Lanes>,
    other: Vec<Lanes>,
}

/// Room for the transformed activations and their products.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    pub(super) spread: Vectors,
    pub(super) products: Vectors,
    /// In learning: the slopes of kernels.
    pub(super) slopes: Vectors,
    pub(super) lines: Lines,
}

/// What happens to a convolution's sums.
#[derive(Copy, Clone, Debug)]
pub(super) enum Finish<'a> {
    /// They are the output.
    Nothing,
    /// A bias by channel, and ReLU.
    Relu(&'a [f32]),
    /// A bias by channel, what the output holds, and ReLU.
    AddRelu(&'a [f32]),
    /// Backwards through a ReLU: they stay where its output, of the same shape, is above zero.
    Mask(&'a [f32]),
    /// The same for what the output holds and they add up to.
    AddMask(&'a [f32]),
}

impl Transforms {
    /// Transforms of a board.
    pub(super) fn new(board: Board) -> Transforms {
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
        let weight = |(_, axis): &(usize, Axis)| {
            axis.weight.iter().map(|row| [0, 1, 2].map(|tap| row[tap] as f32)).collect()
        };
        Transforms {
            board,
            spread: axes.each_ref().map(spread),
            gather: axes.each_ref().map(gather),
            tiles: axes.each_ref().map(|(_, axis)| axis.tiles),
            points: axes.each_ref().map(|(_, axis)| axis.points()),
            weight: axes.each_ref().map(weight),
        }
    }

    /// The transforms that slopes go through: from what a convolution gave to what it was given.
    pub(super) fn transposed(&self) -> Transforms {
        Transforms {
            spread: self.gather.each_ref().map(Matrix::transposed),
            gather: self.spread.each_ref().map(Matrix::transposed),
            weight: self.weight.clone(),
            ..*self
        }
    }

    pub(super) fn points(&self) -> usize {
        self.points[0] * self.points[1]
    }

    pub(super) fn tiles(&self) -> usize {
        self.tiles[0] * self.tiles[1]
    }

    /// So many positions of so many channels in the transformed domain.
    pub(super) fn shape(&self, positions: usize, channels: usize) -> Shape {
        Shape { rows: positions * self.tiles(), channels }
    }

    /// Positions, `[squares, channels]` each, into the transformed domain.
    pub(super) fn spread_all(
        &self,
        features: Features,
        positions: &[f32],
        shape: Shape,
        lines: &mut Lines,
        out: &mut [f32],
    ) {
        let positions = positions.chunks_exact(self.board.squares() * shape.channels);
        for (index, position) in positions.enumerate() {
            self.spread_with(features, index, position, shape, lines, out);
        }
    }

    /// Makes room for so many positions of so many channels.
    pub(super) fn make_room(&self, room: &mut Room, positions: usize, channels: usize) {
        let size = self.points() * self.shape(positions, channels).stride();
        room.spread.grow(size);
        room.products.grow(size);
        let lines = (self.points() * self.tiles()).max(self.board.squares());
        room.lines.one.resize(lines, [0.0; WIDTH]);
        room.lines.other.resize(lines, [0.0; WIDTH]);
    }

    /// Kernels `[taps, inputs, outputs]`, filled up to whole lanes, in the transformed domain.
    pub(super) fn kernels(
        &self,
        features: Features,
        taps: &[f32],
        (inputs, outputs): (usize, usize),
    ) -> Kernels {
        let stride = Shape { rows: inputs, channels: outputs }.stride();
        let mut values = Vectors::zeros(self.points() * stride);
        self.weigh_with(features, taps, inputs * outputs, &mut values);
        Kernels { inputs, outputs, values }
    }

    /// Convolves positions, `[squares, channels]` each.
    pub(super) fn convolve(
        &self,
        features: Features,
        kernels: &Kernels,
        inputs: &[Vec<f32>],
        finish: Finish<'_>,
        room: &mut Room,
        outs: &mut [Vec<f32>],
    ) {
        let rows = inputs.len() * self.tiles();
        let Room { spread, products, lines, .. } = room;
        let shape = Shape { rows, channels: kernels.inputs };
        for (index, input) in inputs.iter().enumerate() {
            self.spread_with(features, index, input, shape, lines, spread);
        }
        kernels.multiply(features, self.points(), rows, spread, products);
        let shape = Shape { rows, channels: kernels.outputs };
        for (index, out) in outs.iter_mut().enumerate() {
            self.gather_with(features, index, products, shape, lines, finish, out);
        }
    }

    /// A position into the transformed domain: `[points, rows, channels]`, its tiles' rows.
    #[inline(always)]
    fn spread<const FUSED: bool>(
        &self,
        index: usize,
        input: &[f32],
        shape: Shape,
        lines: &mut Lines,
        out: &mut [f32],
    ) {
        let (files, stride, channels) = (self.board.files, shape.stride(), shape.channels);
        for channel in (0..channels).step_by(WIDTH) {
            for file in 0..files {
                let one = &mut lines.one;
                self.spread[0].apply::<FUSED>(
                    |rank| lanes(&input[(rank * files + file) * channels + channel..]),
                    |row, value| one[row * files + file] = value,
                );
            }
            for row in 0..self.spread[0].rows() {
                let (ty, py) = (row / self.points[0], row % self.points[0]);
                let (one, out) = (&lines.one, &mut *out);
                self.spread[1].apply::<FUSED>(
                    |file| one[row * files + file],
                    |column, value| {
                        let (tx, px) = (column / self.points[1], column % self.points[1]);
                        let point = py * self.points[1] + px;
                        let tile = (index * self.tiles[0] + ty) * self.tiles[1] + tx;
                        out[point * stride + tile * channels + channel..][..WIDTH]
                            .copy_from_slice(&value);
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
        products: &[f32],
        shape: Shape,
        lines: &mut Lines,
        finish: Finish<'_>,
        out: &mut [f32],
    ) {
        let (across, files) = (self.spread[1].rows(), self.board.files);
        let (stride, channels) = (shape.stride(), shape.channels);
        for channel in (0..channels).step_by(WIDTH) {
            for column in 0..across {
                let (tx, px) = (column / self.points[1], column % self.points[1]);
                let other = &mut lines.other;
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
            for rank in 0..self.board.ranks {
                let other = &lines.other;
                let out = &mut *out;
                self.gather[1].apply::<FUSED>(
                    |column| other[rank * across + column],
                    |file, value| {
                        let place = (rank * files + file) * channels + channel;
                        finish.apply(value, channel, place, &mut out[place..][..WIDTH]);
                    },
                );
            }
        }
    }

    /// From taps, `[taps, size]`, to points, `[points, size]` and their gap.
    #[inline(always)]
    fn weigh<const FUSED: bool>(&self, taps: &[f32], size: usize, out: &mut [f32]) {
        for channel in (0..size).step_by(WIDTH) {
            for (py, vertical) in self.weight[0].iter().enumerate() {
                let mut columns = [[0.0; WIDTH]; TAPS];
                for (tap, column) in columns.iter_mut().enumerate() {
                    for (row, &factor) in vertical.iter().enumerate() {
                        let values = lanes(&taps[(row * TAPS + tap) * size + channel..]);
                        add::<FUSED>(column, &values, factor);
                    }
                }
                for (px, horizontal) in self.weight[1].iter().enumerate() {
                    let mut sum = [0.0; WIDTH];
                    for (column, &factor) in columns.iter().zip(horizontal) {
                        add::<FUSED>(&mut sum, column, factor);
                    }
                    let point = py * self.points[1] + px;
                    out[point * (size + LANES) + channel..][..WIDTH].copy_from_slice(&sum);
                }
            }
        }
    }

    /// The slopes of taps, `[taps, size]`, from those of points, `[points, size]` and their gap.
    #[inline(always)]
    fn unweigh<const FUSED: bool>(&self, points: &[f32], size: usize, out: &mut [f32]) {
        for channel in (0..size).step_by(WIDTH) {
            let mut sums = [[0.0; WIDTH]; TAPS * TAPS];
            for (py, vertical) in self.weight[0].iter().enumerate() {
                let mut columns = [[0.0; WIDTH]; TAPS];
                for (px, horizontal) in self.weight[1].iter().enumerate() {
                    let point = py * self.points[1] + px;
                    let values = lanes(&points[point * (size + LANES) + channel..]);
                    for (column, &factor) in columns.iter_mut().zip(horizontal) {
                        add::<FUSED>(column, &values, factor);
                    }
                }
                for (tap, sum) in sums.iter_mut().enumerate() {
                    add::<FUSED>(sum, &columns[tap % TAPS], vertical[tap / TAPS]);
                }
            }
            for (tap, sum) in sums.iter().enumerate() {
                out[tap * size + channel..][..WIDTH].copy_from_slice(sum);
            }
        }
    }
}

impl Finish<'_> {
    /// Puts some channels' sums where they belong; `place` is where a mask has them.
    #[inline(always)]
    fn apply(self, sums: Lanes, channel: usize, place: usize, out: &mut [f32]) {
        let out: &mut Lanes = out.try_into().expect("as many channels");
        match self {
            Finish::Nothing => *out = sums,
            Finish::Relu(bias) => {
                let bias = lanes(&bias[channel..]);
                for lane in 0..WIDTH {
                    out[lane] = (sums[lane] + bias[lane]).max(0.0);
                }
            }
            Finish::AddRelu(bias) => {
                let bias = lanes(&bias[channel..]);
                for lane in 0..WIDTH {
                    out[lane] = (sums[lane] + bias[lane] + out[lane]).max(0.0);
                }
            }
            Finish::Mask(activations) => {
                let mask = lanes(&activations[place..]);
                for lane in 0..WIDTH {
                    out[lane] = if mask[lane] > 0.0 { sums[lane] } else { 0.0 };
                }
            }
            Finish::AddMask(activations) => {
                let mask = lanes(&activations[place..]);
                for lane in 0..WIDTH {
                    out[lane] = if mask[lane] > 0.0 { sums[lane] + out[lane] } else { 0.0 };
                }
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
            pub(super) fn $name(&self, features: Features, $($argument: $kind),*) {
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
    (index: usize, input: &[f32], shape: Shape, lines: &mut Lines, out: &mut [f32])
);

for_each_machine!(
    gather_with,
    gather,
    gather_avx2,
    gather_avx512,
    (
        index: usize,
        products: &[f32],
        shape: Shape,
        lines: &mut Lines,
        finish: Finish<'_>,
        out: &mut [f32]
    )
);

for_each_machine!(
    weigh_with,
    weigh,
    weigh_avx2,
    weigh_avx512,
    (taps: &[f32], size: usize, out: &mut [f32])
);

for_each_machine!(
    unweigh_with,
    unweigh,
    unweigh_avx2,
    unweigh_avx512,
    (points: &[f32], size: usize, out: &mut [f32])
);
