//! Learning on the processor's vectors: a batch forwards, and its losses' slopes backwards.
//!
//! [`crate::model`] describes the same network to burn, which learns on other devices and is what
//! this is tested against.

use super::features::Features;
use super::heads::{Heads, Hidden};
use super::tower::{Activations, Tower};
use crate::losses::{Outputs, Scales, Sums};
use crate::{Batch, Encoding, Weights};

/// A network with some weights, ready for learning; made once a step and shared by all threads.
#[derive(Debug)]
pub(crate) struct CpuModel<'a> {
    features: Features,
    weights: &'a Weights,
    tower: Tower<'a>,
    heads: Heads,
}

/// What a thread computes in; it keeps its size from batch to batch.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    tower: Activations,
    heads: Hidden,
    slope: Vec<f32>,
}

impl<'a> CpuModel<'a> {
    /// The network with these weights, made on at most `threads` threads.
    pub(crate) fn new(encoding: &Encoding, weights: &'a Weights, threads: usize) -> CpuModel<'a> {
        let features = Features::detect();
        CpuModel {
            features,
            weights,
            tower: Tower::new(encoding, weights, features, threads),
            heads: Heads::new(weights, encoding.squares()),
        }
    }

    fn forward(&self, batch: &Batch, it: &mut Workspace) -> Outputs {
        self.tower.forward(batch.inputs(), &mut it.tower);
        self.heads.forward(self.features, it.tower.outputs(), &mut it.heads)
    }

    /// Losses of a batch.
    pub(crate) fn losses(&self, batch: &Batch, it: &mut Workspace) -> Sums {
        if batch.is_empty() { Sums::default() } else { self.forward(batch, it).sums(batch) }
    }

    /// Losses of a batch, and the gradient of the scaled losses.
    pub(crate) fn gradient(
        &self,
        batch: &Batch,
        scales: Scales,
        it: &mut Workspace,
    ) -> (Sums, Weights) {
        let mut gradient = self.weights.zeros_like();
        if batch.is_empty() {
            return (Sums::default(), gradient);
        }
        let (sums, slopes) = self.forward(batch, it).into_gradient(batch, scales);
        let trunk = (it.tower.outputs(), &mut it.slope);
        self.heads.backward(self.features, trunk, &mut it.heads, &slopes, &mut gradient);
        self.tower.backward(&mut it.tower, &mut it.slope, &mut gradient);
        (sums, gradient)
    }
}
