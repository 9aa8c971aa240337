//! Kernels in the transformed domain: one matrix product a point.

use super::features::Features;
use super::pack::LANES;
use super::product::Product;
use super::vectors::Vectors;

/// Activations in the transformed domain: `[points, rows, channels]`, a row for each tile of each
/// position.
#[derive(Copy, Clone, Debug)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) channels: usize,
}

impl Shape {
    /// From one point's rows to the next one's. Without the gap, points would lie a power of two
    /// apart and fight for the same few places in the cache.
    pub(super) fn stride(self) -> usize {
        self.rows * self.channels + LANES
    }
}

/// A convolution's kernels in the transformed domain, `[points, inputs, outputs]`, both filled up
/// to whole lanes: one small product a point.
#[derive(Clone, Debug)]
pub(super) struct Kernels {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    pub(super) values: Vectors,
}

impl Kernels {
    /// A point's kernels and their gap.
    pub(super) fn stride(&self) -> usize {
        Shape { rows: self.inputs, channels: self.outputs }.stride()
    }

    /// Multiplies activations with them, point by point.
    pub(super) fn multiply(
        &self,
        features: Features,
        points: usize,
        rows: usize,
        from: &[f32],
        to: &mut [f32],
    ) {
        let before = Shape { rows, channels: self.inputs }.stride();
        let after = Shape { rows, channels: self.outputs }.stride();
        for point in 0..points {
            Product {
                rows,
                depth: self.inputs,
                columns: self.outputs,
                a: &from[point * before..],
                a_row: self.inputs,
                a_step: 1,
                b: &self.values[point * self.stride()..],
                b_row: self.outputs,
                c: &mut to[point * after..],
                c_row: self.outputs,
                add: false,
            }
            .run(features);
        }
    }
}

impl Kernels {
    /// Their slopes, of their layout, or those added to `out`: of what was multiplied with them
    /// and of the products' slopes.
    pub(super) fn slopes(
        &self,
        features: Features,
        rows: usize,
        (from, to): (&[f32], &[f32]),
        add: bool,
        out: &mut [f32],
    ) {
        let before = Shape { rows, channels: self.inputs }.stride();
        let after = Shape { rows, channels: self.outputs }.stride();
        for point in 0..self.values.len() / self.stride() {
            Product {
                rows: self.inputs,
                depth: rows,
                columns: self.outputs,
                a: &from[point * before..],
                a_row: 1,
                a_step: self.inputs,
                b: &to[point * after..],
                b_row: self.outputs,
                c: &mut out[point * self.stride()..],
                c_row: self.outputs,
                add,
            }
            .run(features);
        }
    }
}
