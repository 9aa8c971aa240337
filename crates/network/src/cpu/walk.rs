//! The walk over a convolution that all vector kernels share.
//!
//! A tile of some squares of a rank times some vectors of outputs stays in registers; its sums run
//! over the taps that lie on the board and the words of each, one spread word of an activation
//! against vectors of weights at a time. Macros, because a function would hand its sums over in
//! memory, and because a trait's functions cannot be compiled for what the processor has.

/// Adds what one tap contributes to all squares of a tile but the first `$first` and the last
/// `$last`.
macro_rules! tap {
    ($first:literal, $last:literal, $sums:ident, $input:expr, $words:expr, $lines:expr, $stride:expr, $dot:expr) => {{
        let (input, lines): (*const u32, *const Line) = ($input, $lines);
        for word in 0..$words {
            let weights = lines.add(word * $stride).cast::<u32>();
            let weights = |vector: usize| load(weights.add(vector * WIDTH).cast());
            let value = |square: usize| spread(*input.add(square * $words + word) as i32);
            // What there is less of stays in registers.
            if S < V {
                let mut values = [zero(); S];
                for square in $first..S - $last {
                    values[square] = value(square);
                }
                for vector in 0..V {
                    let weights = weights(vector);
                    for square in $first..S - $last {
                        $sums[square][vector] =
                            $dot($sums[square][vector], weights, values[square]);
                    }
                }
            } else {
                let mut all = [zero(); V];
                for (vector, slot) in all.iter_mut().enumerate() {
                    *slot = weights(vector);
                }
                for square in $first..S - $last {
                    let value = value(square);
                    for vector in 0..V {
                        $sums[square][vector] = $dot($sums[square][vector], all[vector], value);
                    }
                }
            }
        }
    }};
}

/// Makes the functions of one kernel in a module `$name`. `$vectors` is the module of its
/// vectors' instructions; of tiles of `$size` squares it computes at most `$most` vectors of
/// outputs at a time; `$dot(sum, weights, word)` multiplies, `$float(sum)` gives the sums as f32.
macro_rules! kernel {
    ($name:ident, $features:literal, $vectors:ident, [$($size:literal: $most:literal),*], $dot:expr, $float:expr) => {
        pub(super) mod $name {
            use super::$vectors::*;
            use super::*;
            use crate::cpu::pack::{LANES, Line};
            use crate::cpu::tiles::{Job, Then, Tile};

            /// Runs one convolution.
            ///
            /// # Safety
            /// The processor must have the features; the job was made by `Job::new`, its weights
            /// packed in the words that this kernel reads.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn convolve(job: &mut Job<'_>) {
                let tiles = job.tiles;
                for block in 0..job.packed.blocks.len() {
                    let all = job.packed.blocks[block].vectors * LANES / WIDTH;
                    for first in (0..all).step_by(2) {
                        for &tile in tiles {
                            let most = [$($most),*][tile.squares - 1].min(all);
                            if !first.is_multiple_of(most) {
                                continue;
                            }
                            // SAFETY: the caller's promise is passed on. `all` is two, four or
                            // eight, so `most` divides it and there are as many from `first` on.
                            unsafe {
                                match (tile.squares, most) {
                                    $(($size, $most) => part::<$size, $most>(job, block, first, tile),)*
                                    $(($size, _) => part::<$size, 2>(job, block, first, tile),)*
                                    _ => unreachable!("`Job::new` allows these sizes"),
                                }
                            }
                        }
                    }
                }
            }

            /// `V` vectors of outputs of a block, from `vector` on, of one tile.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn part<const S: usize, const V: usize>(
                job: &mut Job<'_>,
                block: usize,
                vector: usize,
                tile: Tile,
            ) {
                let (block, words) = (job.packed.blocks[block], job.packed.words);
                let (step, stride) = (job.lines_a_tap(block), block.vectors);
                let files = job.board.files;
                let lines = job.packed.lines[block.line + vector * WIDTH / LANES..].as_ptr();
                let at = |rank: usize| {
                    job.input.as_ptr().wrapping_add((rank * files + tile.file) * words)
                };
                let mut sums = [[zero(); V]; S];
                // SAFETY: every tap that is run reads squares of the board only: taps above and
                // below are skipped at the edges, and the first or last square of a tile at the
                // left or right edge is left out of the tap beyond it. Lines: `Packed` has `step`
                // of them for each tap of the block, `stride` for each word, of which these
                // vectors are a part.
                unsafe {
                    if job.packed.taps == 1 {
                        tap!(0, 0, sums, at(tile.rank), words, lines, stride, $dot);
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
                                tap!(1, 0, sums, left, words, lines, stride, $dot);
                            } else {
                                tap!(0, 0, sums, left, words, lines, stride, $dot);
                            }
                            let lines = lines.add(step);
                            tap!(0, 0, sums, centre, words, lines, stride, $dot);
                            let (right, lines) = (centre.wrapping_add(words), lines.add(step));
                            if tile.file + S == files {
                                tap!(0, 1, sums, right, words, lines, stride, $dot);
                            } else {
                                tap!(0, 0, sums, right, words, lines, stride, $dot);
                            }
                        }
                    }
                    let outputs = job.packed.outputs;
                    let output = block.output + vector * WIDTH;
                    let first = (tile.rank * files + tile.file) * outputs + output;
                    let scale = job.packed.scale.as_ptr().add(output);
                    let bias = job.packed.bias.as_ptr().add(output);
                    for (square, sums) in sums.into_iter().enumerate() {
                        let out = job.out.as_mut_ptr().add(first + square * outputs);
                        for (vector, sum) in sums.into_iter().enumerate() {
                            let lane = vector * WIDTH;
                            let scale = load_floats(scale.add(lane));
                            let bias = load_floats(bias.add(lane));
                            let mut value = multiply_add($float(sum), scale, bias);
                            if job.then == Then::AddRelu {
                                value = add(value, load_floats(out.add(lane)));
                            }
                            if job.then != Then::Nothing {
                                value = max(value, zero_floats());
                            }
                            store_floats(out.add(lane), value);
                        }
                    }
                }
            }
        }
    };
}

pub(super) use {kernel, tap};
