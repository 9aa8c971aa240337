//! The network as tensors: one description for learning and for playing.
//!
//! Activations are `[squares, batch, channels]`. A 3x3 stem, residual blocks
//! `x = relu(x + gain * conv2(relu(conv1(x))) + bias)` without normalisation, some of which pool
//! over the board in between, and heads made of 1x1 convolutions and pooling, so that one
//! architecture serves every board.

use crate::weights::Pooling;
use crate::winograd::Winograd;
use crate::{Encoding, Weights};
use burn::tensor::activation::{relu, sigmoid};
use burn::tensor::{Device, Tensor, TensorData};

/// Value outputs: win, draw, loss, moves left.
pub(crate) const VALUE_OUTPUTS: usize = 4;

/// A 3x3 convolution in the transformed domain.
#[derive(Clone, Debug)]
struct Convolution {
    /// `[points, in, out]`
    kernels: Tensor<3>,
    /// `[1, 1, out]`
    bias: Tensor<3>,
}

impl Convolution {
    fn apply(&self, winograd: &Winograd, x: Tensor<3>) -> Tensor<3> {
        winograd.convolve(x, self.kernels.clone()) + self.bias.clone()
    }
}

/// A dense layer over channels: a 1x1 convolution when the rows are squares.
#[derive(Clone, Debug)]
struct Dense {
    /// `[in, out]`
    weight: Tensor<2>,
    /// `[1, out]`
    bias: Tensor<2>,
}

impl Dense {
    fn apply(&self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight.clone()) + self.bias.clone()
    }

    /// Two layers side by side.
    fn beside(self, other: Dense) -> Dense {
        Dense {
            weight: Tensor::cat(vec![self.weight, other.weight], 1),
            bias: Tensor::cat(vec![self.bias, other.bias], 1),
        }
    }
}

/// Hands out the parameters in their order, as tensors of their shapes.
struct Reader<'a> {
    leaves: std::slice::Iter<'a, Tensor<1>>,
    weights: std::slice::Iter<'a, crate::Parameter>,
}

impl Reader<'_> {
    fn next<const D: usize>(&mut self) -> Tensor<D> {
        let leaf = self.leaves.next().expect("a leaf for each parameter");
        let parameter = self.weights.next().expect("a parameter for each use");
        let shape: [usize; D] = parameter.shape.as_slice().try_into().expect("its known rank");
        leaf.clone().reshape(shape)
    }

    fn convolution(&mut self, winograd: &Winograd) -> Convolution {
        let kernels = winograd.transform_weight(self.next());
        let bias = self.next::<1>().unsqueeze();
        Convolution { kernels, bias }
    }

    /// The gain scales the kernels, which saves a pass over the activations.
    fn scaled_convolution(&mut self, winograd: &Winograd) -> Convolution {
        let weight = self.next::<4>();
        let bias = self.next::<1>().unsqueeze();
        let gain = self.next::<1>();
        let outputs = gain.dims()[0];
        let kernels = winograd.transform_weight(weight * gain.reshape([outputs, 1, 1, 1]));
        Convolution { kernels, bias }
    }

    fn dense(&mut self) -> Dense {
        let weight = self.next::<2>().transpose();
        Dense { weight, bias: self.next::<1>().unsqueeze() }
    }

    fn pool(&mut self, pooling: Pooling) -> Pool {
        match pooling {
            Pooling::None => Pool::None,
            Pooling::Bias => Pool::Bias(self.next::<2>().transpose()),
            Pooling::SqueezeExcite => Pool::Excite([self.dense(), self.dense()]),
        }
    }

    fn pointwise(&mut self) -> Dense {
        let weight = self.next::<4>();
        let [outputs, inputs, _, _] = weight.dims();
        let weight = weight.reshape([outputs, inputs]).transpose();
        Dense { weight, bias: self.next::<1>().unsqueeze() }
    }
}

/// What a block sees of the whole board.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one a block, and blocks are few")]
enum Pool {
    None,
    /// `[2 * channels, channels]`
    Bias(Tensor<2>),
    Excite([Dense; 2]),
}

/// A residual block.
#[derive(Clone, Debug)]
struct Block {
    first: Convolution,
    second: Convolution,
    pool: Pool,
}

impl Block {
    fn read(reader: &mut Reader<'_>, winograd: &Winograd, pooling: Pooling) -> Block {
        let (first, second) = (reader.convolution(winograd), reader.scaled_convolution(winograd));
        Block { first, second, pool: reader.pool(pooling) }
    }

    fn apply(&self, winograd: &Winograd, x: Tensor<3>) -> Tensor<3> {
        let mut inside = relu(self.first.apply(winograd, x.clone()));
        let [_, batch, channels] = inside.dims();
        let mut around = x;
        match &self.pool {
            Pool::None => {}
            Pool::Bias(weight) => {
                let (mean, max) = (inside.clone().mean_dim(0), inside.clone().max_dim(0));
                let pooled = Tensor::cat(vec![mean, max], 2).reshape([batch, 2 * channels]);
                around = around + pooled.matmul(weight.clone()).unsqueeze();
            }
            Pool::Excite([hidden, output]) => {
                let mean = inside.clone().mean_dim(0).reshape([batch, channels]);
                let gate = sigmoid(output.apply(relu(hidden.apply(mean)))) * 2.0;
                inside = inside * gate.unsqueeze();
            }
        }
        relu(self.second.apply(winograd, inside) + around)
    }
}

/// The network, its kernels transformed.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    winograd: Winograd,
    stem: Convolution,
    blocks: Vec<Block>,
    policy_hidden: Dense,
    /// Labels, and those of the reply where it is learned.
    policy: Dense,
    value_conv: Dense,
    value_hidden: Dense,
    /// Chances, moves left, and the short term's chances where they are learned.
    value: Dense,
}

impl Model {
    /// The network with these parameters as leaves; `weights` gives their shapes. Without
    /// `everything`, it has the heads only that play.
    pub(crate) fn new(
        winograd: &Winograd,
        weights: &Weights,
        leaves: &[Tensor<1>],
        everything: bool,
    ) -> Model {
        let architecture = weights.architecture();
        let reader = &mut Reader { leaves: leaves.iter(), weights: weights.parameters().iter() };
        let stem = reader.convolution(winograd);
        let blocks = (0..architecture.blocks)
            .map(|block| Block::read(reader, winograd, architecture.pools(block)))
            .collect();
        let (policy_hidden, mut policy) = (reader.pointwise(), reader.pointwise());
        let (value_conv, value_hidden) = (reader.pointwise(), reader.dense());
        let mut value = reader.dense().beside(reader.dense());
        if everything && architecture.short_term_value {
            value = value.beside(reader.dense());
        }
        if everything && architecture.reply {
            policy = policy.beside(reader.pointwise());
        }
        let winograd = winograd.clone();
        Model { winograd, stem, blocks, policy_hidden, policy, value_conv, value_hidden, value }
    }

    /// The network for playing: everything that depends on the weights alone is computed now.
    pub(crate) fn fixed(encoding: &Encoding, weights: &Weights, device: &Device) -> Model {
        let winograd = Winograd::new(encoding.files(), encoding.ranks(), device);
        let leaves = leaves(weights.parameters(), device);
        let mut model = Model::new(&winograd, weights, &leaves, false);
        settle(&mut model.stem.kernels, device);
        for block in &mut model.blocks {
            settle(&mut block.first.kernels, device);
            settle(&mut block.second.kernels, device);
            match &mut block.pool {
                Pool::None => {}
                Pool::Bias(weight) => settle(weight, device),
                Pool::Excite(layers) => {
                    layers.iter_mut().for_each(|layer| settle(&mut layer.weight, device));
                }
            }
        }
        for dense in [
            &mut model.policy_hidden,
            &mut model.policy,
            &mut model.value_conv,
            &mut model.value_hidden,
            &mut model.value,
        ] {
            settle(&mut dense.weight, device);
        }
        model
    }

    /// Policy logits `[batch, squares, labels]` and value outputs `[batch, 4]` (three logits,
    /// moves left) of `x`, `[squares, batch, planes]`. With everything, the reply's logits follow
    /// the labels, and the short term's the moves left.
    pub(crate) fn forward(&self, x: Tensor<3>) -> (Tensor<3>, Tensor<2>) {
        let mut x = relu(self.stem.apply(&self.winograd, x));
        for block in &self.blocks {
            x = block.apply(&self.winograd, x);
        }
        let [squares, batch, channels] = x.dims();
        let x = x.reshape([squares * batch, channels]);
        let policy = self.policy.apply(relu(self.policy_hidden.apply(x.clone())));
        let labels = policy.dims()[1];
        let value = relu(self.value_conv.apply(x));
        let value = self.pooled_value(value, squares, batch);
        (policy.reshape([squares, batch, labels]).swap_dims(0, 1), value)
    }

    /// From the value head's channels, `[squares * batch, channels]`, to its outputs.
    fn pooled_value(&self, x: Tensor<2>, squares: usize, batch: usize) -> Tensor<2> {
        let channels = x.dims()[1];
        let x = x.reshape([squares, batch, channels]);
        let (mean, max) = (x.clone().mean_dim(0), x.max_dim(0));
        let pooled = Tensor::cat(vec![mean, max], 2).reshape([batch, 2 * channels]);
        self.value.apply(relu(self.value_hidden.apply(pooled)))
    }
}

/// Parameters as flat tensors on a device.
pub(crate) fn leaves(parameters: &[crate::Parameter], device: &Device) -> Vec<Tensor<1>> {
    let flat = |parameter: &crate::Parameter| {
        let data = TensorData::new(parameter.values.clone(), [parameter.values.len()]);
        Tensor::from_data(data, device)
    };
    parameters.iter().map(flat).collect()
}

/// Replaces a view by a tensor that lies in memory as it is used.
fn settle<const D: usize>(tensor: &mut Tensor<D>, device: &Device) {
    *tensor = Tensor::from_data(tensor.to_data(), device);
}

/// A tensor's entries, on the host.
pub(crate) fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("tensors hold f32")
}

/// Positions one after another, each `[planes, squares]`, as an input `[squares, rows, planes]`
/// with zeros after the last.
pub(crate) fn input(
    positions: &[f32],
    rows: usize,
    encoding: &Encoding,
    device: &Device,
) -> Tensor<3> {
    let (planes, squares) = (encoding.planes(), encoding.squares());
    let mut x = vec![0.0; squares * rows * planes];
    for (row, position) in positions.chunks_exact(planes * squares).enumerate() {
        for (plane, values) in position.chunks_exact(squares).enumerate() {
            for (square, &value) in values.iter().enumerate() {
                x[(square * rows + row) * planes + plane] = value;
            }
        }
    }
    Tensor::from_data(TensorData::new(x, [squares, rows, planes]), device)
}
