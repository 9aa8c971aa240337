//! The kernels for AVX-512: one for each precision, alike but for the multiplication.
//!
//! A tile of up to six squares of a rank times up to 64 outputs stays in registers; its sums run
//! over the taps that lie on the board and the words of each, one spread word of an activation
//! against the lines of weights at a time.

use super::pack::Line;
use super::tiles::{Job, Then, Tile};
use std::arch::x86_64::*;

/// Adds what one tap contributes to all squares of a tile but the first `$first` and the last
/// `$last`. A macro, because a function would hand its sums over in memory.
macro_rules! tap {
    ($first:literal, $last:literal, $sums:ident, $input:expr, $words:expr, $lines:expr, $dot:expr) => {{
        let (input, lines): (*const u32, *const Line) = ($input, $lines);
        for word in 0..$words {
            let mut weights = [_mm512_setzero_si512(); V];
            for (vector, weights) in weights.iter_mut().enumerate() {
                *weights = _mm512_load_si512(lines.add(word * V + vector).cast());
            }
            for square in $first..S - $last {
                let value = _mm512_set1_epi32(*input.add(square * $words + word) as i32);
                for vector in 0..V {
                    $sums[square][vector] = $dot($sums[square][vector], weights[vector], value);
                }
            }
        }
    }};
}

/// Makes the functions of one precision: `$dot(sum, weights, word)` multiplies, `$float(sum)`
/// gives the sums as f32.
macro_rules! kernel {
    ($name:ident, $features:literal, $dot:expr, $float:expr) => {
        pub(super) mod $name {
            use super::*;

            /// Runs one convolution.
            ///
            /// # Safety
            /// The processor must have the features; the job was made by `Job::new`.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn convolve(job: &mut Job<'_>) {
                for block in 0..job.packed.blocks.len() {
                    let vectors = job.packed.blocks[block].vectors;
                    for &tile in job.tiles {
                        // SAFETY: the caller's promise is passed on; the arms cover the sizes
                        // that `Job::new` and `blocks` allow.
                        unsafe {
                            match (tile.squares, vectors) {
                                (1, 4) => part::<1, 4>(job, block, tile),
                                (2, 4) => part::<2, 4>(job, block, tile),
                                (3, 4) => part::<3, 4>(job, block, tile),
                                (4, 4) => part::<4, 4>(job, block, tile),
                                (5, 4) => part::<5, 4>(job, block, tile),
                                (6, 4) => part::<6, 4>(job, block, tile),
                                (1, _) => part::<1, 2>(job, block, tile),
                                (2, _) => part::<2, 2>(job, block, tile),
                                (3, _) => part::<3, 2>(job, block, tile),
                                (4, _) => part::<4, 2>(job, block, tile),
                                (5, _) => part::<5, 2>(job, block, tile),
                                _ => part::<6, 2>(job, block, tile),
                            }
                        }
                    }
                }
            }

            /// One block of outputs of one tile.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn part<const S: usize, const V: usize>(
                job: &mut Job<'_>,
                block: usize,
                tile: Tile,
            ) {
                let (block, words) = (job.packed.blocks[block], job.packed.words);
                let step = job.lines_a_tap(block);
                let files = job.board.files;
                let lines = job.packed.lines[block.line..].as_ptr();
                let at = |rank: usize| {
                    job.input.as_ptr().wrapping_add((rank * files + tile.file) * words)
                };
                let mut sums = [[_mm512_setzero_si512(); V]; S];
                // SAFETY: every tap that is run reads squares of the board only: taps above and
                // below are skipped at the edges, and the first or last square of a tile at the
                // left or right edge is left out of the tap beyond it. Lines: `Packed` has `step`
                // of them for each tap of the block.
                unsafe {
                    if job.packed.taps == 1 {
                        tap!(0, 0, sums, at(tile.rank), words, lines, $dot);
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
                                tap!(1, 0, sums, left, words, lines, $dot);
                            } else {
                                tap!(0, 0, sums, left, words, lines, $dot);
                            }
                            let lines = lines.add(step);
                            tap!(0, 0, sums, centre, words, lines, $dot);
                            let (right, lines) = (centre.wrapping_add(words), lines.add(step));
                            if tile.file + S == files {
                                tap!(0, 1, sums, right, words, lines, $dot);
                            } else {
                                tap!(0, 0, sums, right, words, lines, $dot);
                            }
                        }
                    }
                    let outputs = job.packed.outputs;
                    let first = (tile.rank * files + tile.file) * outputs + block.output;
                    let scale = job.packed.scale.as_ptr().add(block.output);
                    let bias = job.packed.bias.as_ptr().add(block.output);
                    for (square, sums) in sums.into_iter().enumerate() {
                        let out = job.out.as_mut_ptr().add(first + square * outputs);
                        for (vector, sum) in sums.into_iter().enumerate() {
                            let lane = vector * 16;
                            let scale = _mm512_loadu_ps(scale.add(lane));
                            let bias = _mm512_loadu_ps(bias.add(lane));
                            let mut value = _mm512_fmadd_ps($float(sum), scale, bias);
                            if job.then == Then::AddRelu {
                                value = _mm512_add_ps(value, _mm512_loadu_ps(out.add(lane)));
                            }
                            if job.then != Then::Nothing {
                                value = _mm512_max_ps(value, _mm512_setzero_ps());
                            }
                            _mm512_storeu_ps(out.add(lane), value);
                        }
                    }
                }
            }
        }
    };
}

kernel!(
    f32,
    "avx512f",
    |sum, weights, value| _mm512_castps_si512(_mm512_fmadd_ps(
        _mm512_castsi512_ps(weights),
        _mm512_castsi512_ps(value),
        _mm512_castsi512_ps(sum)
    )),
    |sum| _mm512_castsi512_ps(sum)
);

/// The same bits as pairs of bf16.
#[inline]
fn halves(words: __m512i) -> __m512bh {
    // SAFETY: both are 512 bits, and every pattern is a value of either.
    unsafe { std::mem::transmute(words) }
}

kernel!(
    bf16,
    "avx512f,avx512bf16",
    |sum, weights, value| _mm512_castps_si512(_mm512_dpbf16_ps(
        _mm512_castsi512_ps(sum),
        halves(weights),
        halves(value)
    )),
    |sum| _mm512_castsi512_ps(sum)
);

kernel!(
    int8,
    "avx512f,avx512vnni",
    |sum, weights, value| _mm512_dpbusd_epi32(sum, value, weights),
    |sum| _mm512_cvtepi32_ps(sum)
);

/// Rounds f32 to bf16 words, two a word.
///
/// # Safety
/// The processor must have the features; `words` has half the length of `values`, a multiple of 16.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) unsafe fn to_bf16(values: &[f32], words: &mut [u32]) {
    debug_assert!(values.len() == 2 * words.len() && words.len().is_multiple_of(16));
    for (values, words) in values.chunks_exact(32).zip(words.chunks_exact_mut(16)) {
        // SAFETY: 32 values are read and 16 words written, as long as the chunks are.
        unsafe {
            let low = _mm512_loadu_ps(values.as_ptr());
            let high = _mm512_loadu_ps(values.as_ptr().add(16));
            let both = std::mem::transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low));
            _mm512_storeu_si512(words.as_mut_ptr().cast(), both);
        }
    }
}

/// Rounds non-negative f32 to 8 bits, four a word, a value of 255 / `per_unit` being the largest.
///
/// # Safety
/// The processor must have the features; `words` has a quarter of the length of `values`, a
/// multiple of 16.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn to_bytes(values: &[f32], per_unit: f32, words: &mut [u32]) {
    debug_assert!(values.len() == 4 * words.len() && values.len().is_multiple_of(16));
    let (per_unit, words) = (_mm512_set1_ps(per_unit), words.as_mut_ptr().cast::<u8>());
    for (index, values) in values.chunks_exact(16).enumerate() {
        // SAFETY: 16 values are read and 16 bytes written, of which `words` has enough.
        unsafe {
            let scaled = _mm512_mul_ps(_mm512_loadu_ps(values.as_ptr()), per_unit);
            // Rounds to nearest, ties to even; too large ones saturate.
            let bytes = _mm512_cvtusepi32_epi8(_mm512_cvtps_epu32(scaled));
            _mm_storeu_si128(words.add(index * 16).cast(), bytes);
        }
    }
}
