//! The same kernels in plain Rust: the reference, and what runs where there is no AVX-512. The
//! compiler turns the inner loops into vectors; with AVX2 and FMA switched on they are wider.

use super::pack::{Held, LANES, LARGEST_ACTIVATION, Line, bf16};
use super::tiles::{Job, Then, Tile};

/// Squares of a tile: three, with 32 outputs each, are what AVX2's registers hold.
const LONGEST_TILE: usize = 3;

/// Runs one convolution.
pub(super) fn convolve(job: &mut Job<'_>) {
    convolve_with::<false>(job);
}

/// Runs one convolution with AVX2 and fused multiplication.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn convolve_avx2(job: &mut Job<'_>) {
    convolve_with::<true>(job);
}

#[inline(always)]
fn convolve_with<const FUSED: bool>(job: &mut Job<'_>) {
    let tiles = job.tiles;
    for block in 0..job.packed.blocks.len() {
        for tile in tiles.iter().flat_map(|tile| tile.cut(LONGEST_TILE)) {
            match job.packed.held {
                Held::Floats => rank_part::<f32, Float<FUSED>>(job, block, tile),
                Held::Halves => rank_part::<f32, Half<FUSED>>(job, block, tile),
                Held::Bytes => rank_part::<i32, Byte>(job, block, tile),
                Held::Shorts => rank_part::<i32, Short>(job, block, tile),
            }
        }
    }
}

/// How a word of an activation meets a line of weights.
trait Dot<T> {
    fn dot(sums: &mut [T; LANES], line: &Line, word: u32);
}

struct Float<const FUSED: bool>;
struct Half<const FUSED: bool>;
struct Byte;
struct Short;

impl<const FUSED: bool> Dot<f32> for Float<FUSED> {
    #[inline(always)]
    fn dot(sums: &mut [f32; LANES], line: &Line, word: u32) {
        let value = f32::from_bits(word);
        for (sum, &weight) in sums.iter_mut().zip(&line.0) {
            *sum = multiply_add::<FUSED>(f32::from_bits(weight), value, *sum);
        }
    }
}

impl<const FUSED: bool> Dot<f32> for Half<FUSED> {
    #[inline(always)]
    fn dot(sums: &mut [f32; LANES], line: &Line, word: u32) {
        let (low, high) = (f32::from_bits(word << 16), f32::from_bits(word & 0xffff_0000));
        for (sum, &weight) in sums.iter_mut().zip(&line.0) {
            *sum = multiply_add::<FUSED>(f32::from_bits(weight << 16), low, *sum);
            *sum = multiply_add::<FUSED>(f32::from_bits(weight & 0xffff_0000), high, *sum);
        }
    }
}

impl Dot<i32> for Byte {
    #[inline(always)]
    fn dot(sums: &mut [i32; LANES], line: &Line, word: u32) {
        let value = word.to_le_bytes().map(i32::from);
        for (sum, &weight) in sums.iter_mut().zip(&line.0) {
            let weight = weight.to_le_bytes().map(|byte| i32::from(byte as i8));
            *sum += weight[0] * value[0]
                + weight[1] * value[1]
                + weight[2] * value[2]
                + weight[3] * value[3];
        }
    }
}

impl Dot<i32> for Short {
    #[inline(always)]
    fn dot(sums: &mut [i32; LANES], line: &Line, word: u32) {
        let halves = |word: u32| [word as i16, (word >> 16) as i16].map(i32::from);
        let value = halves(word);
        for (sum, &weight) in sums.iter_mut().zip(&line.0) {
            let weight = halves(weight);
            *sum += weight[0] * value[0] + weight[1] * value[1];
        }
    }
}

#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, sum: f32) -> f32 {
    // Without the instruction, a fused multiplication is a slow call into the library.
    if FUSED { a.mul_add(b, sum) } else { a * b + sum }
}

/// What sums are kept in.
trait Sum: Copy + Default {
    fn float(self) -> f32;
}

impl Sum for f32 {
    #[inline(always)]
    fn float(self) -> f32 {
        self
    }
}

impl Sum for i32 {
    #[inline(always)]
    fn float(self) -> f32 {
        self as f32
    }
}

/// One block of outputs of one tile.
#[inline(always)]
fn rank_part<T: Sum, D: Dot<T>>(job: &mut Job<'_>, block: usize, tile: Tile) {
    let (block, words) = (job.packed.blocks[block], job.packed.words);
    let step = job.lines_a_tap(block);
    for half in 0..block.vectors / 2 {
        let mut sums = [[[T::default(); LANES]; 2]; LONGEST_TILE];
        for tap in 0..job.packed.taps {
            let (down, right) = if job.packed.taps == 1 { (1, 1) } else { (tap / 3, tap % 3) };
            let Some(rank) = (tile.rank + down).checked_sub(1).filter(|&it| it < job.board.ranks)
            else {
                continue;
            };
            let lines = &job.packed.lines[block.line + tap * step..][..step];
            for word in 0..words {
                let lines = &lines[word * block.vectors + 2 * half..][..2];
                for (square, sums) in sums.iter_mut().enumerate().take(tile.squares) {
                    let file = (tile.file + square + right).wrapping_sub(1);
                    if file < job.board.files {
                        let value = job.input[(rank * job.board.files + file) * words + word];
                        D::dot(&mut sums[0], &lines[0], value);
                        D::dot(&mut sums[1], &lines[1], value);
                    }
                }
            }
        }
        let output = block.output + 2 * half * LANES;
        for (square, sums) in sums.iter().enumerate().take(tile.squares) {
            finish(job, (tile.rank * job.board.files + tile.file + square, output), sums);
        }
    }
}

/// Scale, bias, residual and ReLU of 32 sums.
#[inline(always)]
fn finish<T: Sum>(job: &mut Job<'_>, (square, output): (usize, usize), sums: &[[T; LANES]; 2]) {
    let out = &mut job.out[square * job.packed.outputs + output..][..2 * LANES];
    let (scale, bias) = (&job.packed.scale[output..], &job.packed.bias[output..]);
    for (lane, out) in out.iter_mut().enumerate() {
        let sum = sums[lane / LANES][lane % LANES].float();
        // Fused on every machine, so that the exact 8-bit sums give the same bits everywhere.
        let value = sum.mul_add(scale[lane], bias[lane]);
        *out = match job.then {
            Then::Nothing => value,
            Then::Relu => value.max(0.0),
            Then::AddRelu => (value + *out).max(0.0),
        };
    }
}

/// Rounds f32 to bf16 words, two a word.
pub(super) fn to_bf16(values: &[f32], words: &mut [u32]) {
    for (pair, word) in values.chunks(2).zip(words) {
        let high = pair.get(1).map_or(0, |&value| u32::from(bf16(value)));
        *word = u32::from(bf16(pair[0])) | high << 16;
    }
}

/// A non-negative value as 8 bits.
fn byte(value: f32, per_unit: f32) -> u8 {
    (value * per_unit).round_ties_even().min(LARGEST_ACTIVATION) as u8
}

/// Rounds non-negative f32 to 8 bits, four a word.
pub(super) fn to_bytes(values: &[f32], per_unit: f32, words: &mut [u32]) {
    for (values, word) in values.chunks(4).zip(words) {
        let mut bytes = [0; 4];
        for (slot, &value) in bytes.iter_mut().zip(values) {
            *slot = byte(value, per_unit);
        }
        *word = u32::from_le_bytes(bytes);
    }
}

/// The same 8 bits, two a word.
pub(super) fn to_shorts(values: &[f32], per_unit: f32, words: &mut [u32]) {
    for (pair, word) in values.chunks(2).zip(words) {
        let high = pair.get(1).map_or(0, |&value| u32::from(byte(value, per_unit)));
        *word = u32::from(byte(pair[0], per_unit)) | high << 16;
    }
}
