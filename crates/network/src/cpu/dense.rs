//! Dense layers in learning: rows of channels times a matrix, forwards and backwards.

use super::features::Features;
use super::pack::padded;
use super::product::Product;
use super::vectors::Vectors;
use crate::Weights;
use crate::named::Named;

/// A dense layer, possibly several side by side that read the same inputs.
#[derive(Debug)]
pub(super) struct Dense {
    names: Vec<String>,
    /// Inputs come in so many parts, each of which is filled up by itself.
    parts: usize,
    /// Raw and filled up.
    inputs: [usize; 2],
    outputs: [usize; 2],
    /// `[inputs, outputs]`
    forward: Vectors,
    /// `[outputs, inputs]`
    backward: Vectors,
    bias: Vec<f32>,
}

impl Dense {
    /// The layers of these names; `parts` as many vectors are their input, side by side.
    pub(super) fn new(weights: &Weights, names: &[&str], parts: usize) -> Dense {
        let named = Named(weights);
        let rows: usize = names.iter().map(|name| named.outputs(name)).sum();
        let all: Vec<f32> = names.iter().flat_map(|name| named.weight(name)).copied().collect();
        let raw = all.len() / rows;
        let mut dense = Dense {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            parts,
            inputs: [raw, parts * padded(raw / parts)],
            outputs: [rows, padded(rows)],
            forward: Vectors::default(),
            backward: Vectors::default(),
            bias: names.iter().flat_map(|name| named.bias(name).unwrap_or(&[])).copied().collect(),
        };
        dense.bias.resize(dense.outputs[1], 0.0);
        let size = dense.inputs[1] * dense.outputs[1];
        (dense.forward, dense.backward) = (Vectors::zeros(size), Vectors::zeros(size));
        for (output, row) in all.chunks_exact(raw).enumerate() {
            for (input, &value) in row.iter().enumerate() {
                let input = dense.place(input);
                dense.forward[input * dense.outputs[1] + output] = value;
                dense.backward[output * dense.inputs[1] + input] = value;
            }
        }
        dense
    }

    /// Where an input stands among those filled up.
    fn place(&self, input: usize) -> usize {
        let part = self.inputs[0] / self.parts;
        input / part * padded(part) + input % part
    }

    /// Outputs, filled up.
    pub(super) fn width(&self) -> usize {
        self.outputs[1]
    }

    /// Rows of inputs to rows of outputs.
    pub(super) fn forward(&self, features: Features, x: &[f32], out: &mut Vec<f32>) {
        let rows = x.len() / self.inputs[1];
        out.resize(rows * self.outputs[1], 0.0);
        let (a_row, c_row) = (self.inputs[1], self.outputs[1]);
        Product {
            rows,
            depth: a_row,
            columns: c_row,
            a: x,
            a_row,
            a_step: 1,
            b: &self.forward,
            b_row: c_row,
            c: out,
            c_row,
            add: false,
        }
        .run(features);
        for row in out.chunks_exact_mut(c_row) {
            row.iter_mut().zip(&self.bias).for_each(|(out, bias)| *out += bias);
        }
    }

    /// The same, and ReLU.
    pub(super) fn activate(&self, features: Features, x: &[f32], out: &mut Vec<f32>) {
        self.forward(features, x, out);
        out.iter_mut().for_each(|value| *value = value.max(0.0));
    }

    /// Adds the parameters' slopes to a gradient, given the inputs and the outputs' slopes.
    pub(super) fn descend(
        &self,
        features: Features,
        x: &[f32],
        slope: &[f32],
        gradient: &mut Weights,
    ) {
        let [inputs, outputs] = [self.inputs[1], self.outputs[1]];
        let mut kernels = vec![0.0; inputs * outputs];
        Product {
            rows: inputs,
            depth: x.len() / inputs,
            columns: outputs,
            a: x,
            a_row: 1,
            a_step: inputs,
            b: slope,
            b_row: outputs,
            c: &mut kernels,
            c_row: outputs,
            add: false,
        }
        .run(features);
        let sums = sums(slope, outputs);
        let mut first = 0;
        for name in &self.names {
            let rows = Named(gradient).outputs(name);
            let places = (first..first + rows)
                .flat_map(|output| (0..self.inputs[0]).map(move |input| (output, input)));
            let values =
                places.map(|(output, input)| kernels[self.place(input) * outputs + output]);
            gradient.add_to(&format!("{name}.weight"), &values.collect::<Vec<f32>>());
            if Named(gradient).bias(name).is_some() {
                gradient.add_to(&format!("{name}.bias"), &sums[first..first + rows]);
            }
            first += rows;
        }
    }

    /// The inputs' slopes, given the outputs': into `out`, or added to it.
    pub(super) fn ascend(&self, features: Features, slope: &[f32], out: &mut Vec<f32>, add: bool) {
        let (a_row, c_row) = (self.outputs[1], self.inputs[1]);
        let rows = slope.len() / a_row;
        out.resize(rows * c_row, 0.0);
        Product {
            rows,
            depth: a_row,
            columns: c_row,
            a: slope,
            a_row,
            a_step: 1,
            b: &self.backward,
            b_row: c_row,
            c: out,
            c_row,
            add,
        }
        .run(features);
    }
}

/// Sums over rows.
pub(super) fn sums(rows: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0; columns];
    for row in rows.chunks_exact(columns) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    sums
}

/// Slopes backwards through a ReLU whose outputs are given.
pub(super) fn mask(slope: &mut [f32], outputs: &[f32]) {
    for (slope, &output) in slope.iter_mut().zip(outputs) {
        *slope = if output > 0.0 { *slope } else { 0.0 };
    }
}
