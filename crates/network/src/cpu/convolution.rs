//! The trunk's 3x3 convolutions, as they are packed.

use super::features::Features;
use super::kernels::Kernels;
use super::pack::{Packed, padded};
use super::winograd::Transforms;

/// Taps of a 3x3 kernel.
pub(super) const TAPS: usize = 9;

/// A 3x3 convolution of the trunk.
#[derive(Debug)]
pub(super) enum Convolution {
    Direct(Packed),
    Winograd {
        kernels: Kernels,
        /// Filled up.
        bias: Vec<f32>,
    },
}

impl Convolution {
    /// A 3x3 convolution from channels to as many, `[out, in, 9]`.
    pub(super) fn winograd(
        transforms: &Transforms,
        features: Features,
        weight: &[f32],
        bias: &[f32],
    ) -> Convolution {
        let channels = bias.len();
        let wide = padded(channels);
        let taps = by_tap(weight, (channels, 1), (channels, wide), wide * wide);
        let mut filled = bias.to_vec();
        filled.resize(wide, 0.0);
        let kernels = transforms.kernels(features, &taps, (wide, wide));
        Convolution::Winograd { kernels, bias: filled }
    }
}

/// 3x3 kernels `[out, in, 9]` tap by tap, `size` numbers each: with (how many, distance from one
/// to the next) of outputs and inputs.
pub(super) fn by_tap(
    weight: &[f32],
    (outputs, output_step): (usize, usize),
    (inputs, input_step): (usize, usize),
    size: usize,
) -> Vec<f32> {
    let mut taps = vec![0.0; TAPS * size];
    for (index, kernel) in weight.chunks_exact(TAPS).enumerate() {
        let (output, input) = (index / inputs, index % inputs);
        let place = output * output_step + input * input_step;
        kernel.iter().enumerate().for_each(|(tap, value)| taps[tap * size + place] = *value);
    }
    debug_assert_eq!(weight.len(), TAPS * outputs * inputs);
    taps
}
