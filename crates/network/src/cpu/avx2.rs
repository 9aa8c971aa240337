//! The f32 kernel for AVX2 with fused multiplication: up to three squares of a rank times 32
//! outputs in twelve of its sixteen registers.

use super::pack::Line;
use super::tiles::{Job, Then, Tile};
use std::arch::x86_64::*;

/// Vectors of eight outputs that are computed at a time: two lines.
const VECTORS: usize = 4;

/// Adds what one tap contributes to all squares of a tile but the first `$first` and the last
/// `$last`. A macro, because a function would hand its sums over in memory.
macro_rules! tap {
    ($first:literal, $last:literal, $sums:ident, $input:expr, $words:expr, $lines:expr, $stride:expr) => {{
        let (input, lines): (*const u32, *const Line) = ($input, $lines);
        for word in 0..$words {
            let weights = lines.add(word * $stride).cast::<f32>();
            for square in $first..S - $last {
                let value = _mm256_broadcast_ss(&*input.add(square * $words + word).cast::<f32>());
                for vector in 0..VECTORS {
                    let weights = _mm256_load_ps(weights.add(vector * 8));
                    $sums[square][vector] = _mm256_fmadd_ps(weights, value, $sums[square][vector]);
                }
            }
        }
    }};
}

/// Runs one convolution.
///
/// # Safety
/// The processor must have AVX2 and FMA; the job was made by `Job::new`, with f32 words and tiles
/// of up to three squares.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn convolve(job: &mut Job<'_>) {
    for block in 0..job.packed.blocks.len() {
        for half in 0..job.packed.blocks[block].vectors / 2 {
            for &tile in job.tiles {
                // SAFETY: the caller's promise is passed on.
                unsafe {
                    match tile.squares {
                        1 => part::<1>(job, block, half, tile),
                        2 => part::<2>(job, block, half, tile),
                        _ => part::<3>(job, block, half, tile),
                    }
                }
            }
        }
    }
}

/// 32 outputs of one tile.
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn part<const S: usize>(job: &mut Job<'_>, block: usize, half: usize, tile: Tile) {
    let (block, words) = (job.packed.blocks[block], job.packed.words);
    let (step, stride) = (job.lines_a_tap(block), block.vectors);
    let files = job.board.files;
    let lines = job.packed.lines[block.line + 2 * half..].as_ptr();
    let at = |rank: usize| job.input.as_ptr().wrapping_add((rank * files + tile.file) * words);
    let mut sums = [[_mm256_setzero_ps(); VECTORS]; S];
    // SAFETY: as in the AVX-512 kernels, every tap that is run reads squares of the board only,
    // and the block has `step` lines for each tap, of which this half reads two in each `stride`.
    unsafe {
        if job.packed.taps == 1 {
            tap!(0, 0, sums, at(tile.rank), words, lines, stride);
        } else {
            for row in 0..3 {
                let rank = tile.rank + row;
                if rank == 0 || rank > job.board.ranks {
                    continue;
                }
                let centre = at(rank - 1);
                let lines = lines.add(3 * row * step);
                let left = centre.wrapping_sub(words);
                if tile.file == 0 {
                    tap!(1, 0, sums, left, words, lines, stride);
                } else {
                    tap!(0, 0, sums, left, words, lines, stride);
                }
                let lines = lines.add(step);
                tap!(0, 0, sums, centre, words, lines, stride);
                let (right, lines) = (centre.wrapping_add(words), lines.add(step));
                if tile.file + S == files {
                    tap!(0, 1, sums, right, words, lines, stride);
                } else {
                    tap!(0, 0, sums, right, words, lines, stride);
                }
            }
        }
        let outputs = job.packed.outputs;
        let output = block.output + half * 32;
        let first = (tile.rank * files + tile.file) * outputs + output;
        let (scale, bias) =
            (job.packed.scale.as_ptr().add(output), job.packed.bias.as_ptr().add(output));
        for (square, sums) in sums.into_iter().enumerate() {
            let out = job.out.as_mut_ptr().add(first + square * outputs);
            for (vector, sum) in sums.into_iter().enumerate() {
                let lane = vector * 8;
                let (scale, bias) =
                    (_mm256_loadu_ps(scale.add(lane)), _mm256_loadu_ps(bias.add(lane)));
                let mut value = _mm256_fmadd_ps(sum, scale, bias);
                if job.then == Then::AddRelu {
                    value = _mm256_add_ps(value, _mm256_loadu_ps(out.add(lane)));
                }
                if job.then != Then::Nothing {
                    value = _mm256_max_ps(value, _mm256_setzero_ps());
                }
                _mm256_storeu_ps(out.add(lane), value);
            }
        }
    }
}
