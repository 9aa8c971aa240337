//! A network as an ONNX model, for engines that use somebody else's runtime.
//!
//! Input `planes`, `[batch, planes, ranks, files]`: rank `a` first, the highest file first, as the
//! side to move sees the board. Outputs: `policy`, logits `[batch, labels, ranks, files]`, each on
//! the square a move goes to; `wdl`, the chances of a win, a draw and a loss for the side to move;
//! `moves_left`, plies to the end of the game. The batch is free; names are stable.

mod proto;

use crate::card::Card;
use crate::named::Named;
use crate::{MOVES_LEFT_SCALE, Pooling, Weights};
use prost::Message;
use proto::*;

/// ONNX's number for f32.
const FLOAT: i32 = 1;
/// And for whole numbers.
const INTEGER: i32 = 7;
/// The operators' version: the last in which reductions take their axes as attributes.
const OPERATORS: i64 = 17;

/// Collects nodes and constants.
struct Builder<'a> {
    weights: &'a Weights,
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
}

impl Builder<'_> {
    /// A parameter as a constant; its name.
    fn parameter(&mut self, name: &str) -> String {
        let shape = self.shape(name);
        let values = Named(self.weights).get(name);
        self.constant(name, &shape, values)
    }

    fn shape(&self, name: &str) -> Vec<usize> {
        Named(self.weights).parameter(name).shape.clone()
    }

    fn constant(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        self.constants.push(Tensor {
            dims: shape.iter().map(|&length| length as i64).collect(),
            data_type: FLOAT,
            name: name.to_owned(),
            raw_data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        });
        name.to_owned()
    }

    /// An operation with one output, which is named.
    fn node(&mut self, kind: &str, inputs: &[&str], output: &str, settings: Vec<Attribute>) {
        self.nodes.push(Node {
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: vec![output.to_owned()],
            name: output.to_owned(),
            op_type: kind.to_owned(),
            attribute: settings,
        });
    }

    /// A convolution with these weights and a layer's bias.
    fn convolution(&mut self, input: &str, weight: &str, layer: &str, size: i64, output: &str) {
        let bias = self.parameter(&format!("{layer}.bias"));
        let border = (size - 1) / 2;
        let settings = vec![
            integers("kernel_shape", &[size, size]),
            integers("pads", &[border; 4]),
            integers("strides", &[1, 1]),
        ];
        self.node("Conv", &[input, weight, &bias], output, settings);
    }

    /// A layer's convolution and ReLU.
    fn activated(&mut self, input: &str, layer: &str, size: i64, output: &str) {
        let weight = self.parameter(&format!("{layer}.weight"));
        let sums = format!("{layer}.sums");
        self.convolution(input, &weight, layer, size, &sums);
        self.node("Relu", &[&sums], output, Vec::new());
    }

    /// A dense layer.
    fn dense(&mut self, input: &str, layer: &str, output: &str) {
        let weight = self.parameter(&format!("{layer}.weight"));
        let bias = self.parameter(&format!("{layer}.bias"));
        self.node("Gemm", &[input, &weight, &bias], output, vec![integer("transB", 1)]);
    }

    /// `relu(x + gain * conv2(relu(conv1(x))))`, the gain folded into the weights, with what pools
    /// in between.
    fn block(&mut self, block: usize, input: &str, output: &str) {
        let name = format!("blocks.{block}");
        let mut inner = format!("{name}.inner");
        let mut around = input.to_owned();
        self.activated(input, &format!("{name}.conv1"), 3, &inner);
        match self.weights.architecture().pools(block) {
            Pooling::None => {}
            Pooling::Bias => around = self.pool_bias(&name, &inner, input),
            Pooling::SqueezeExcite => inner = self.excite(&name, &inner),
        }
        let layer = format!("{name}.conv2");
        let shape = self.shape(&format!("{layer}.weight"));
        let folded = Named(self.weights).second(block);
        let weight = self.constant(&format!("{layer}.weight"), &shape, &folded);
        let sums = format!("{layer}.sums");
        self.convolution(&inner, &weight, &layer, 3, &sums);
        let both = format!("{name}.both");
        self.node("Add", &[&sums, &around], &both, Vec::new());
        self.node("Relu", &[&both], output, Vec::new());
    }

    /// The mean and the maximum over squares, side by side.
    fn pooled(&mut self, input: &str, name: &str) -> String {
        let (mean, max) = (format!("{name}.mean"), format!("{name}.max"));
        for (kind, output) in [("ReduceMean", &mean), ("ReduceMax", &max)] {
            let settings = vec![integers("axes", &[2, 3]), integer("keepdims", 0)];
            self.node(kind, &[input], output, settings);
        }
        let pooled = format!("{name}.pooled");
        self.node("Concat", &[&mean, &max], &pooled, vec![integer("axis", 1)]);
        pooled
    }

    /// `[batch, channels]` as `[batch, channels, 1, 1]`.
    fn spread(&mut self, input: &str) -> String {
        let output = format!("{input}.spread");
        let axes = format!("{input}.axes");
        self.constants.push(Tensor {
            dims: vec![2],
            data_type: INTEGER,
            name: axes.clone(),
            raw_data: [2i64, 3].iter().flat_map(|axis| axis.to_le_bytes()).collect(),
        });
        self.node("Unsqueeze", &[input, &axes], &output, Vec::new());
        output
    }

    fn pool_bias(&mut self, name: &str, inner: &str, input: &str) -> String {
        let pooled = self.pooled(inner, name);
        let weight = self.parameter(&format!("{name}.pool.weight"));
        let bias = format!("{name}.pool");
        self.node("Gemm", &[&pooled, &weight], &bias, vec![integer("transB", 1)]);
        let (bias, output) = (self.spread(&bias), format!("{name}.around"));
        self.node("Add", &[input, &bias], &output, Vec::new());
        output
    }

    fn excite(&mut self, name: &str, inner: &str) -> String {
        let part = |part: &str| format!("{name}.excite.{part}");
        let settings = vec![integers("axes", &[2, 3]), integer("keepdims", 0)];
        self.node("ReduceMean", &[inner], &part("mean"), settings);
        self.dense(&part("mean"), &part("hidden"), &part("sums"));
        self.node("Relu", &[&part("sums")], &part("activated"), Vec::new());
        self.dense(&part("activated"), &part("output"), &part("logits"));
        self.node("Sigmoid", &[&part("logits")], &part("half"), Vec::new());
        // Twice the logistic function: a factor around 1.
        self.node("Add", &[&part("half"), &part("half")], &part("factors"), Vec::new());
        let (factors, output) = (self.spread(&part("factors")), format!("{name}.excited"));
        self.node("Mul", &[inner, &factors], &output, Vec::new());
        output
    }

    fn graph(&mut self) {
        self.activated("planes", "stem", 3, "trunk.0");
        let blocks = self.weights.architecture().blocks;
        for block in 0..blocks {
            self.block(block, &format!("trunk.{block}"), &format!("trunk.{}", block + 1));
        }
        let trunk = format!("trunk.{blocks}");
        self.activated(&trunk, "policy.hidden", 1, "policy.features");
        let weight = self.parameter("policy.output.weight");
        self.convolution("policy.features", &weight, "policy.output", 1, "policy");
        self.activated(&trunk, "value.conv", 1, "value.features");
        let pooled = self.pooled("value.features", "value");
        self.dense(&pooled, "value.hidden", "value.sums");
        self.node("Relu", &["value.sums"], "value.activated", Vec::new());
        self.dense("value.activated", "value.wdl", "wdl.logits");
        self.node("Softmax", &["wdl.logits"], "wdl", vec![integer("axis", 1)]);
        self.dense("value.activated", "value.moves_left", "moves_left.sums");
        self.node("Softplus", &["moves_left.sums"], "moves_left.positive", Vec::new());
        let scale = self.constant("moves_left.scale", &[1], &[MOVES_LEFT_SCALE]);
        self.node("Mul", &["moves_left.positive", &scale], "moves_left", Vec::new());
    }
}

fn integer(name: &str, value: i64) -> Attribute {
    Attribute { name: name.to_owned(), i: value, ints: Vec::new(), kind: 2 }
}

fn integers(name: &str, values: &[i64]) -> Attribute {
    Attribute { name: name.to_owned(), i: 0, ints: values.to_vec(), kind: 7 }
}

/// A tensor with a free batch, and what it means.
fn value(name: &str, shape: &[usize], meaning: &str) -> Value {
    let batch = Length::Free("batch".to_owned());
    let lengths = shape.iter().map(|&length| Length::Fixed(length as i64));
    let dim = std::iter::once(batch).chain(lengths).map(|it| Dimension { length: Some(it) });
    let shape = Some(Shape { dim: dim.collect() });
    let kind = Some(Type { tensor: Some(TensorType { element: FLOAT, shape }) });
    Value { name: name.to_owned(), kind, doc_string: meaning.to_owned() }
}

/// The bytes of an ONNX file.
pub(crate) fn to_bytes(card: &Card, weights: &Weights) -> Vec<u8> {
    let mut builder = Builder { weights, nodes: Vec::new(), constants: Vec::new() };
    builder.graph();
    let board = [card.ranks, card.files];
    let planes = [card.planes.len(), board[0], board[1]];
    let labels = [card.labels.len(), board[0], board[1]];
    let graph = Graph {
        node: builder.nodes,
        name: card.game.clone(),
        initializer: builder.constants,
        input: vec![value("planes", &planes, "the board as the side to move sees it")],
        output: vec![
            value("policy", &labels, "logits, on the square a move goes to"),
            value("wdl", &[3], "chances of a win, a draw, a loss for the side to move"),
            value("moves_left", &[1], "plies to the end of the game"),
        ],
    };
    let model = Model {
        ir_version: 8,
        producer_name: "keiko".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: format!("{}, {} steps", card.game, card.step),
        graph: Some(graph),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPERATORS }],
        metadata_props: properties(card),
    };
    model.encode_to_vec()
}

/// What the card says, for programs that have nothing but the model.
fn properties(card: &Card) -> Vec<Property> {
    let step = card.step.to_string();
    let (planes, labels) = (card.planes.join(" "), card.labels.join(" "));
    [
        ("game", card.game.as_str()),
        ("rules_hash", &card.rules_hash),
        ("planes", &planes),
        ("labels", &labels),
        ("value_perspective", &card.value_perspective),
        ("step", &step),
        ("licence", &card.licence),
    ]
    .map(|(key, value)| Property { key: key.to_owned(), value: value.to_owned() })
    .into()
}
