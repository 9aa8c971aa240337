//! Parameters by name, and the dense layers of the heads.

use crate::{Parameter, Weights};

/// A dense layer over channels, `[inputs, outputs]`.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
}

impl Dense {
    pub(crate) fn apply(&self, x: &[f32], out: &mut [f32]) {
        out.copy_from_slice(&self.bias);
        for (value, row) in x.iter().zip(self.weight.chunks_exact(self.bias.len())) {
            for (out, weight) in out.iter_mut().zip(row) {
                *out += value * weight;
            }
        }
    }
}

/// Reads parameters by name.
pub(crate) struct Named<'a>(pub(crate) &'a Weights);

impl<'a> Named<'a> {
    pub(crate) fn parameter(&self, name: &str) -> &'a Parameter {
        let parameter = self.0.parameters().iter().find(|it| it.name == name);
        parameter.expect("the network has its layout's parameters")
    }

    /// A layer's weights.
    pub(crate) fn weight(&self, layer: &str) -> &'a [f32] {
        self.get(&format!("{layer}.weight"))
    }

    /// A layer's bias, if it has one.
    pub(crate) fn bias(&self, layer: &str) -> Option<&'a [f32]> {
        let name = format!("{layer}.bias");
        let found = self.0.parameters().iter().find(|it| it.name == name);
        found.map(|parameter| &parameter.values[..])
    }

    /// How many outputs a layer has.
    pub(crate) fn outputs(&self, layer: &str) -> usize {
        self.parameter(&format!("{layer}.weight")).shape[0]
    }

    pub(crate) fn get(&self, name: &str) -> &'a [f32] {
        &self.parameter(name).values
    }

    pub(crate) fn layer(&self, name: &str) -> (&'a [f32], &'a [f32]) {
        (self.get(&format!("{name}.weight")), self.get(&format!("{name}.bias")))
    }

    /// `[out, in]` parameters, possibly of several layers side by side.
    pub(crate) fn dense(&self, names: &[&str], inputs: usize) -> Dense {
        let layers: Vec<_> = names.iter().map(|name| self.layer(name)).collect();
        let bias: Vec<f32> = layers.iter().flat_map(|(_, bias)| bias.iter().copied()).collect();
        let rows: Vec<&[f32]> =
            layers.iter().flat_map(|(weight, _)| weight.chunks_exact(inputs)).collect();
        let weight = (0..inputs).flat_map(|input| rows.iter().map(move |row| row[input]));
        Dense { weight: weight.collect(), bias }
    }

    /// A block's second convolution, its gain folded in.
    pub(crate) fn second(&self, block: usize) -> Vec<f32> {
        let gain = self.get(&format!("blocks.{block}.gain"));
        let (weight, bias) = self.layer(&format!("blocks.{block}.conv2"));
        let row = weight.len() / bias.len();
        let rows = weight.chunks_exact(row).zip(gain);
        rows.flat_map(|(row, gain)| row.iter().map(move |value| value * gain)).collect()
    }
}
