//! Weights and activations as the kernels read them.
//!
//! Everything is made of 32-bit words: a word is one f32 channel, two bf16 channels or four 8-bit
//! ones (two where bytes must be widened). An activation is `[squares, words]`; a kernel takes one word, spreads it over a vector and
//! multiplies it with sixteen outputs' words of the same input channels. So one loop serves all
//! precisions, and only the multiplication differs.

/// How numbers are held in the trunk.
#[derive(
    Copy, Clone, Eq, PartialEq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floating point: the reference.
    F32,
    /// bfloat16 products summed in f32.
    Bf16,
    /// Unsigned 8-bit activations times signed 8-bit weights, summed exactly.
    Int8,
}

/// What words hold.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Held {
    /// One f32.
    Floats,
    /// Two bf16.
    Halves,
    /// Four bytes.
    Bytes,
    /// Two bytes, widened to 16 bits.
    Shorts,
}

impl Held {
    /// Channels in a word.
    pub(super) fn channels_a_word(self) -> usize {
        match self {
            Held::Floats => 1,
            Held::Halves | Held::Shorts => 2,
            Held::Bytes => 4,
        }
    }

    /// Words that hold so many channels.
    pub(super) fn words(self, channels: usize) -> usize {
        channels.div_ceil(self.channels_a_word())
    }

    /// Whether these are the whole numbers of 8-bit networks.
    fn whole(self) -> bool {
        matches!(self, Held::Bytes | Held::Shorts)
    }
}

/// Outputs of one vector.
pub(super) const LANES: usize = 16;
/// Largest value of an 8-bit weight.
const LARGEST_WEIGHT: f32 = 127.0;
/// Largest value of an 8-bit activation.
pub(super) const LARGEST_ACTIVATION: f32 = 255.0;

/// Sixteen outputs' words of the same input channels.
#[derive(Copy, Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [u32; LANES]);

/// Some outputs that a kernel computes at a time.
#[derive(Copy, Clone, Debug)]
pub(super) struct Block {
    /// Vectors of outputs: 2 or 4.
    pub(super) vectors: usize,
    /// Its first output.
    pub(super) output: usize,
    /// Its first line.
    pub(super) line: usize,
}

/// A convolution ready for the kernels: 3x3 (nine taps) or 1x1 (one).
#[derive(Clone, Debug)]
pub(super) struct Packed {
    pub(super) held: Held,
    pub(super) taps: usize,
    /// Words of a square's activation.
    pub(super) words: usize,
    /// Outputs, filled up with zeros to whole blocks.
    pub(super) outputs: usize,
    pub(super) blocks: Vec<Block>,
    /// By block, tap, word, vector.
    pub(super) lines: Vec<Line>,
    /// By output: what a sum is multiplied with.
    pub(super) scale: Vec<f32>,
    /// By output: what is added then.
    pub(super) bias: Vec<f32>,
}

/// Outputs filled up to whole blocks of two vectors.
pub(super) fn padded(outputs: usize) -> usize {
    outputs.next_multiple_of(2 * LANES)
}

impl Packed {
    /// Packs `[outputs, inputs, taps]` weights. `words` is how many a square's activation has, at
    /// least what the inputs need; `unit` is what an 8-bit activation of 1 is worth.
    pub(super) fn new(
        held: Held,
        weights: &[f32],
        bias: &[f32],
        taps: usize,
        words: usize,
        unit: f32,
    ) -> Packed {
        let outputs = padded(bias.len());
        let inputs = weights.len() / (bias.len() * taps);
        let rows: Vec<&[f32]> = weights.chunks_exact(inputs * taps).collect();
        let steps: Vec<f32> = rows.iter().map(|row| step(held, row)).collect();
        let mut packed = Packed {
            held,
            taps,
            words,
            outputs,
            blocks: blocks(outputs, taps * words),
            lines: Vec::with_capacity(outputs / LANES * taps * words),
            scale: vec![1.0; outputs],
            bias: vec![0.0; outputs],
        };
        packed.bias[..bias.len()].copy_from_slice(bias);
        if held.whole() {
            let scaled = packed.scale.iter_mut().zip(&steps);
            scaled.for_each(|(scale, step)| *scale = step * unit);
        }
        for block in packed.blocks.clone() {
            for (tap, word) in (0..taps).flat_map(|tap| (0..words).map(move |word| (tap, word))) {
                for vector in 0..block.vectors {
                    let mut line = Line([0; LANES]);
                    for (lane, slot) in line.0.iter_mut().enumerate() {
                        let output = block.output + vector * LANES + lane;
                        let Some(row) = rows.get(output) else { continue };
                        let channels = (0..held.channels_a_word())
                            .map(|part| word * held.channels_a_word() + part);
                        let values =
                            channels.map(|c| if c < inputs { row[c * taps + tap] } else { 0.0 });
                        *slot = weight_word(held, values, steps[output]);
                    }
                    packed.lines.push(line);
                }
            }
        }
        packed
    }
}

/// Blocks of four vectors, and one of two at the end where that is what is left.
fn blocks(outputs: usize, lines_a_vector: usize) -> Vec<Block> {
    let (mut blocks, mut output, mut line) = (Vec::new(), 0, 0);
    while output < outputs {
        let vectors = if outputs - output >= 4 * LANES { 4 } else { 2 };
        blocks.push(Block { vectors, output, line });
        output += vectors * LANES;
        line += vectors * lines_a_vector;
    }
    blocks
}

/// What an 8-bit weight of 1 is worth in this row.
fn step(held: Held, row: &[f32]) -> f32 {
    let largest = row.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    if held.whole() && largest > 0.0 { largest / LARGEST_WEIGHT } else { 1.0 }
}

fn weight_word(held: Held, values: impl Iterator<Item = f32>, step: f32) -> u32 {
    let bits = 32 / held.channels_a_word();
    let whole = |value: f32| (value / step).round() as i8;
    let part = |value: f32| match held {
        Held::Floats => value.to_bits(),
        Held::Halves => u32::from(bf16(value)),
        Held::Bytes => u32::from(whole(value) as u8),
        Held::Shorts => u32::from(i16::from(whole(value)) as u16),
    };
    values.enumerate().fold(0, |word, (index, value)| word | part(value) << (index * bits))
}

/// The nearest bfloat16, ties to even.
pub(super) fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}
