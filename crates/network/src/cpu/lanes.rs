//! Some channels at a time, and small constant matrices applied to them.

use super::pack::LANES;

/// Channels that the transforms work on at a time: activations are filled up to whole blocks of
/// them, and what leads to them is found once for two vectors.
pub(super) const WIDTH: usize = 2 * LANES;

/// So many channels.
pub(super) type Lanes = [f32; WIDTH];

/// One axis' transform: a matrix, row by row.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    columns: usize,
    factors: Vec<f32>,
}

pub(super) fn matrix(rows: impl Iterator<Item = Vec<f64>>) -> Matrix {
    let (mut columns, mut factors) = (0, Vec::new());
    for row in rows {
        columns = row.len();
        factors.extend(row.into_iter().map(|factor| factor as f32));
    }
    Matrix { columns, factors }
}

impl Matrix {
    pub(super) fn rows(&self) -> usize {
        self.factors.len() / self.columns
    }

    pub(super) fn transposed(&self) -> Matrix {
        let (rows, columns) = (self.rows(), self.columns);
        let places = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
        let factors = places.map(|(row, column)| self.factors[row * columns + column]).collect();
        Matrix { columns: rows, factors }
    }

    /// Applies it to the entries that `entry` gives; `put` takes each row's sum. For the lengths
    /// that boards up to 11x11 have, the entries stay in registers.
    #[inline(always)]
    pub(super) fn apply<const FUSED: bool>(
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
pub(super) fn add<const FUSED: bool>(sum: &mut Lanes, values: &Lanes, factor: f32) {
    for lane in 0..WIDTH {
        sum[lane] = if FUSED {
            values[lane].mul_add(factor, sum[lane])
        } else {
            values[lane] * factor + sum[lane]
        };
    }
}

#[inline(always)]
pub(super) fn lanes(values: &[f32]) -> Lanes {
    values[..WIDTH].try_into().expect("as many channels")
}
