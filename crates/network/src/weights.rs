//! A network's parameters on the host: named tensors in a fixed order.

use crate::Encoding;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Channels of the value head, before pooling over the squares.
const VALUE_CHANNELS: usize = 32;
/// Width of the value head's dense layer.
const VALUE_HIDDEN: usize = 64;
/// What a win, a draw and a loss add up to: value outputs without the moves left.
const WDL: usize = 3;
/// Output layers begin this much smaller, so that a fresh network favours almost nothing.
const OUTPUT_SCALE: f32 = 0.1;
/// Channels to one of what squeeze and excitation squeezes them into.
const SQUEEZE: usize = 4;
/// How much of a fresh block's output enters the trunk. Without normalisation, small gains keep
/// activations and gradients of one magnitude through the depth.
const INITIAL_GAIN: f32 = 0.3;

/// What a block sees of the whole board.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Nothing: only what its convolutions reach.
    None,
    /// Means and maxima of its inside over all squares give a bias by channel for its output
    /// (KataGo, arXiv 1902.10565, section 4.2, where it enters a convolution earlier).
    Bias,
    /// Means of its inside over all squares give factors by channel for that inside
    /// (squeeze and excitation, arXiv 1709.01507), which lie around 1 instead of 1/2.
    SqueezeExcite,
}

/// The network's size and parts.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Architecture {
    /// Channels of the trunk; multiples of 32 run fastest.
    pub channels: usize,
    /// Residual blocks of two 3x3 convolutions.
    pub blocks: usize,
    /// What the blocks that pool see of the whole board.
    pub pooling: Pooling,
    /// Every how-many-th block pools.
    pub pooling_every: usize,
    /// Whether the opponent's reply is learned too. Players leave that head out.
    pub reply: bool,
    /// Whether the chances some plies later are learned too. Players leave that head out.
    pub short_term_value: bool,
    /// Whether the network sees how near the ply limit is.
    pub progress: bool,
}

impl Architecture {
    /// Blocks that do not pool, and no head but those that play.
    pub fn plain(channels: usize, blocks: usize) -> Architecture {
        let pooling = Pooling::None;
        let (reply, short_term_value, progress) = (false, false, false);
        Architecture {
            channels,
            blocks,
            pooling,
            pooling_every: 1,
            reply,
            short_term_value,
            progress,
        }
    }

    /// Bytes that its convolutions take at least, so that a card that asks for the impossible is not
    /// given it.
    pub(crate) fn fewest_bytes(&self) -> usize {
        let convolution =
            self.channels.max(1).saturating_pow(2).saturating_mul(9 * size_of::<f32>());
        convolution.saturating_mul(2).saturating_mul(self.blocks)
    }

    /// What a block sees of the whole board.
    pub(crate) fn pools(&self, block: usize) -> Pooling {
        if (block + 1).is_multiple_of(self.pooling_every) { self.pooling } else { Pooling::None }
    }
}

/// One named tensor.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its name, unique among the weights: `blocks.0.conv1.weight`.
    pub name: String,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Its entries, the last dimension fastest.
    pub values: Vec<f32>,
}

impl Parameter {
    /// Whether weight decay pulls at it: at matrices and kernels, not at biases and gains.
    pub(crate) fn decays(&self) -> bool {
        self.shape.len() >= 2
    }

    /// The sum of its values' squares.
    pub(crate) fn square(&self) -> f64 {
        self.values.iter().map(|&x| f64::from(x) * f64::from(x)).sum()
    }
}

/// The Euclidean length of parameters with these squares.
pub(crate) fn length(squares: impl IntoIterator<Item = f64>) -> f32 {
    squares.into_iter().sum::<f64>().sqrt() as f32
}

/// How a parameter begins.
#[derive(Copy, Clone)]
enum Start {
    Constant(f32),
    /// Uniform with He's variance for ReLU, times a factor on the values.
    He(f32),
}

/// What a network's parameters are called, how large they are and how they begin.
struct Layout(Vec<(String, Vec<usize>, Start)>);

impl Layout {
    fn new(architecture: Architecture, planes: usize, labels: usize) -> Layout {
        let Architecture { channels, blocks, .. } = architecture;
        let mut layout = Layout(Vec::new());
        layout.layer("stem", &[channels, planes, 3, 3], Start::He(1.0));
        for block in 0..blocks {
            for conv in ["conv1", "conv2"] {
                let name = format!("blocks.{block}.{conv}");
                layout.layer(&name, &[channels, channels, 3, 3], Start::He(1.0));
            }
            let gain = Start::Constant(INITIAL_GAIN);
            layout.0.push((format!("blocks.{block}.gain"), vec![channels], gain));
            layout.pooling(architecture, block);
        }
        layout.layer("policy.hidden", &[channels, channels, 1, 1], Start::He(1.0));
        layout.layer("policy.output", &[labels, channels, 1, 1], Start::He(OUTPUT_SCALE));
        layout.layer("value.conv", &[VALUE_CHANNELS, channels, 1, 1], Start::He(1.0));
        layout.layer("value.hidden", &[VALUE_HIDDEN, 2 * VALUE_CHANNELS], Start::He(1.0));
        layout.layer("value.wdl", &[WDL, VALUE_HIDDEN], Start::He(OUTPUT_SCALE));
        layout.layer("value.moves_left", &[1, VALUE_HIDDEN], Start::He(OUTPUT_SCALE));
        if architecture.short_term_value {
            layout.layer("value.short_term", &[WDL, VALUE_HIDDEN], Start::He(OUTPUT_SCALE));
        }
        if architecture.reply {
            layout.layer("reply.output", &[labels, channels, 1, 1], Start::He(OUTPUT_SCALE));
        }
        layout
    }

    fn pooling(&mut self, architecture: Architecture, block: usize) {
        let channels = architecture.channels;
        let squeezed = channels.div_ceil(SQUEEZE);
        let name = |part: &str| format!("blocks.{block}.{part}");
        match architecture.pools(block) {
            Pooling::None => {}
            // The second convolution has a bias already.
            Pooling::Bias => {
                let shape = vec![channels, 2 * channels];
                self.0.push((name("pool.weight"), shape, Start::He(OUTPUT_SCALE)));
            }
            Pooling::SqueezeExcite => {
                self.layer(&name("excite.hidden"), &[squeezed, channels], Start::He(1.0));
                let output = Start::He(OUTPUT_SCALE);
                self.layer(&name("excite.output"), &[channels, squeezed], output);
            }
        }
    }

    fn layer(&mut self, name: &str, shape: &[usize], start: Start) {
        self.0.push((format!("{name}.weight"), shape.to_vec(), start));
        self.0.push((format!("{name}.bias"), vec![shape[0]], Start::Constant(0.0)));
    }
}

/// All parameters of a network, in a fixed order: the one form that learner, average,
/// optimizer, checkpoint, published network and evaluators share.
#[derive(Clone, PartialEq, Debug)]
pub struct Weights {
    architecture: Architecture,
    parameters: Vec<Parameter>,
}

impl Weights {
    /// Fresh weights: a function of the seed alone.
    pub fn init(encoding: &Encoding, architecture: Architecture, seed: u64) -> Weights {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut weights = Weights::zeros(architecture, encoding.planes(), encoding.labels());
        let layout = Layout::new(architecture, encoding.planes(), encoding.labels());
        for (parameter, (_, shape, start)) in weights.parameters.iter_mut().zip(layout.0) {
            match start {
                Start::Constant(value) => parameter.values.fill(value),
                Start::He(factor) => {
                    let inputs: usize = shape[1..].iter().product();
                    let bound = factor * (6.0 / inputs as f32).sqrt();
                    let draw = |value: &mut f32| *value = rng.random_range(-bound..bound);
                    parameter.values.iter_mut().for_each(draw);
                }
            }
        }
        weights
    }

    /// Weights of this size, all zero.
    pub(crate) fn zeros(architecture: Architecture, planes: usize, labels: usize) -> Weights {
        let parameters = Layout::new(architecture, planes, labels)
            .0
            .into_iter()
            .map(|(name, shape, _)| {
                let values = vec![0.0; shape.iter().product()];
                Parameter { name, shape, values }
            })
            .collect();
        Weights { architecture, parameters }
    }

    /// Zeros of the same names and shapes.
    pub fn zeros_like(&self) -> Weights {
        let mut zeros = self.clone();
        zeros.parameters.iter_mut().for_each(|parameter| parameter.values.fill(0.0));
        zeros
    }

    /// The network's size.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The parameters, to change their values; names and shapes must stay.
    pub fn parameters_mut(&mut self) -> &mut [Parameter] {
        &mut self.parameters
    }

    /// How many numbers the parameters are in all.
    pub fn len(&self) -> usize {
        self.parameters.iter().map(|parameter| parameter.values.len()).sum()
    }

    /// Whether there are no parameters, which no network has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first parameter that holds a NaN or an infinity.
    pub fn first_non_finite(&self) -> Option<&str> {
        let broken = |parameter: &&Parameter| parameter.values.iter().any(|x| !x.is_finite());
        self.parameters.iter().find(broken).map(|parameter| parameter.name.as_str())
    }

    /// Adds to a parameter's values.
    pub(crate) fn add_to(&mut self, name: &str, values: &[f32]) {
        let found = self.parameters.iter_mut().find(|it| it.name == name);
        let mine = &mut found.expect("a parameter of the layout").values;
        mine.iter_mut().zip(values).for_each(|(a, b)| *a += b);
    }
}
