//! Products of matrices in f32: what Winograd's convolutions and learning spend their time in.
//!
//! A tile of up to six rows times a few vectors of columns stays in registers while its sums run
//! over the depth in order. A row's sums depend on nothing but that row and the other matrix, so
//! they have the same bits whatever stands beside it.

use super::features::Features;

/// Rows of a tile at most: with its columns, what the registers hold.
const TALLEST: usize = 6;
/// Columns come in multiples of this.
const STRIP: usize = 32;

/// `c = a b` or `c += a b`, where `a` may be read by rows or by columns.
#[derive(Debug)]
pub(super) struct Product<'a> {
    /// Rows of `c`, and of `a` as it is read.
    pub(super) rows: usize,
    /// What is summed over.
    pub(super) depth: usize,
    /// Columns of `c` and `b`, whole strips.
    pub(super) columns: usize,
    pub(super) a: &'a [f32],
    /// From one row of `a` to the next.
    pub(super) a_row: usize,
    /// From one number of a row to the next.
    pub(super) a_step: usize,
    pub(super) b: &'a [f32],
    /// From one row of `b` to the next.
    pub(super) b_row: usize,
    pub(super) c: &'a mut [f32],
    /// From one row of `c` to the next.
    pub(super) c_row: usize,
    /// Whether to add to what `c` holds.
    pub(super) add: bool,
}

impl Product<'_> {
    /// Computes it.
    ///
    /// # Panics
    /// When a matrix is smaller than it is said to be.
    #[allow(unsafe_code, reason = "kernels for instructions that were detected")]
    pub(super) fn run(&mut self, features: Features) {
        if self.rows == 0 || self.columns == 0 || self.depth == 0 {
            return;
        }
        let last = |rows: usize, step: usize| (rows - 1) * step;
        assert!(self.columns.is_multiple_of(STRIP), "whole strips");
        assert!(last(self.rows, self.a_row) + last(self.depth, self.a_step) < self.a.len());
        assert!(last(self.depth, self.b_row) + self.columns <= self.b.len());
        assert!(last(self.rows, self.c_row) + self.columns <= self.c.len());
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the features were detected, and the lengths are right.
        unsafe {
            if features.avx512 {
                return avx512::run(self);
            } else if features.avx2 {
                return avx2::run(self);
            }
        }
        self.run_plain();
    }

    /// The same in plain Rust.
    fn run_plain(&mut self) {
        for row in 0..self.rows {
            for column in (0..self.columns).step_by(STRIP) {
                let mut sums = [0.0; STRIP];
                for index in 0..self.depth {
                    let value = self.a[row * self.a_row + index * self.a_step];
                    let weights = &self.b[index * self.b_row + column..][..STRIP];
                    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * weight);
                }
                let out = &mut self.c[row * self.c_row + column..][..STRIP];
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out = if self.add { *out + sum } else { sum };
                }
            }
        }
    }
}

/// The kernel for one kind of vectors: tiles are up to `$widest` of them wide.
macro_rules! kernel {
    (
        $name:ident, $features:literal, $lanes:literal, $widest:literal,
        $zero:ident, $load:ident, $spread:ident, $store:ident, $multiply_add:ident, $add:ident
    ) => {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code, reason = "vector instructions; each block says why it is sound")]
        mod $name {
            use super::{Product, TALLEST};
            use std::arch::x86_64::*;

            /// Computes a product.
            ///
            /// # Safety
            /// The processor must have the features, and the matrices the lengths they are said
            /// to have, columns in whole strips.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn run(product: &mut Product<'_>) {
                let mut column = 0;
                while column < product.columns {
                    let vectors = ((product.columns - column) / $lanes).min($widest);
                    // SAFETY: the caller's promise; strips are at least two vectors wide.
                    unsafe {
                        match vectors {
                            $widest => strip::<$widest>(product, column),
                            _ => strip::<2>(product, column),
                        }
                    }
                    column += if vectors == $widest { $widest } else { 2 } * $lanes;
                }
            }

            /// Some columns, in tiles of nearly equal height.
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn strip<const V: usize>(product: &mut Product<'_>, column: usize) {
                let (mut row, mut parts) = (0, product.rows.div_ceil(TALLEST));
                while parts > 0 {
                    let height = (product.rows - row).div_ceil(parts);
                    // SAFETY: the caller's promise; heights are from 1 to `TALLEST`.
                    unsafe {
                        match height {
                            1 => tile::<1, V>(product, row, column),
                            2 => tile::<2, V>(product, row, column),
                            3 => tile::<3, V>(product, row, column),
                            4 => tile::<4, V>(product, row, column),
                            5 => tile::<5, V>(product, row, column),
                            _ => tile::<6, V>(product, row, column),
                        }
                    }
                    row += height;
                    parts -= 1;
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn tile<const H: usize, const V: usize>(
                product: &mut Product<'_>,
                row: usize,
                column: usize,
            ) {
                let Product { depth, a_row, a_step, b_row, c_row, add, .. } = *product;
                let mut sums = [[$zero(); V]; H];
                // SAFETY: `Product::run` checked that all rows and columns lie in the matrices.
                unsafe {
                    let mut a = product.a.as_ptr().add(row * a_row);
                    let mut b = product.b.as_ptr().add(column);
                    for _ in 0..depth {
                        let mut weights = [$zero(); V];
                        for (vector, weights) in weights.iter_mut().enumerate() {
                            *weights = $load(b.add(vector * $lanes));
                        }
                        for (row, sums) in sums.iter_mut().enumerate() {
                            let value = $spread(*a.add(row * a_row));
                            for (sum, weights) in sums.iter_mut().zip(weights) {
                                *sum = $multiply_add(weights, value, *sum);
                            }
                        }
                        // The last step may end behind the matrix, where nothing is read.
                        (a, b) = (a.wrapping_add(a_step), b.wrapping_add(b_row));
                    }
                    let c = product.c.as_mut_ptr().add(row * c_row + column);
                    for (row, sums) in sums.into_iter().enumerate() {
                        for (vector, mut sum) in sums.into_iter().enumerate() {
                            let out = c.add(row * c_row + vector * $lanes);
                            if add {
                                sum = $add($load(out), sum);
                            }
                            $store(out, sum);
                        }
                    }
                }
            }
        }
    };
}

kernel!(
    avx512,
    "avx512f",
    16,
    4,
    _mm512_setzero_ps,
    _mm512_loadu_ps,
    _mm512_set1_ps,
    _mm512_storeu_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps
);

kernel!(
    avx2,
    "avx2,fma",
    8,
    2,
    _mm256_setzero_ps,
    _mm256_loadu_ps,
    _mm256_set1_ps,
    _mm256_storeu_ps,
    _mm256_fmadd_ps,
    _mm256_add_ps
);

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn products_are_sums_of_products_whatever_the_shape() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut draw = |count| (0..count).map(|_| rng.random_range(-1.0f32..1.0)).collect();
        let full = Features::detect();
        let avx2 = Features { avx2: full.avx2, ..Features::default() };
        for (rows, depth, columns) in [(1, 1, 32), (7, 5, 64), (13, 40, 96), (33, 64, 160)] {
            for (turned, add) in [(false, false), (true, false), (false, true), (true, true)] {
                let a: Vec<f32> = draw(rows * depth);
                let (b, before): (Vec<f32>, Vec<f32>) =
                    (draw(depth * columns), draw(rows * columns));
                let (a_row, a_step) = if turned { (1, rows) } else { (depth, 1) };
                for features in [full, avx2, Features::default()] {
                    let mut c = before.clone();
                    Product {
                        rows,
                        depth,
                        columns,
                        a: &a,
                        a_row,
                        a_step,
                        b: &b,
                        b_row: columns,
                        c: &mut c,
                        c_row: columns,
                        add,
                    }
                    .run(features);
                    for (place, found) in c.iter().enumerate() {
                        let (row, column) = (place / columns, place % columns);
                        let terms = (0..depth).map(|index| {
                            f64::from(a[row * a_row + index * a_step])
                                * f64::from(b[index * columns + column])
                        });
                        let start = if add { f64::from(before[place]) } else { 0.0 };
                        let expected = start + terms.sum::<f64>();
                        assert!((f64::from(*found) - expected).abs() < 1e-5, "{features:?}");
                    }
                }
            }
        }
    }
}
