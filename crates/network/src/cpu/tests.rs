//! Every kernel against three plain loops, and whole rows of 8-bit blocks against each other.

#![allow(clippy::unwrap_used)]
#![allow(unsafe_code, reason = "calls kernels for instructions that were detected")]

use super::*;
use keiko_rules::Rules;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Kinds of processors, as far as this one can stand in for them.
fn machines() -> Vec<(&'static str, Features)> {
    let full = Features::detect();
    let none = Features::default();
    let avx2 = Features { avx2: full.avx2, ..none };
    let avx512 = Features { avx512: full.avx512, ..avx2 };
    vec![
        ("portable", none),
        ("AVX2", avx2),
        ("AVX2 and AVX-VNNI", Features { avx_vnni: full.avx_vnni, ..avx2 }),
        ("AVX-512", avx512),
        ("AVX-512 and VNNI", Features { vnni: full.vnni, ..avx512 }),
        ("all", full),
    ]
}

/// A kernel, the words that it reads, and its name.
struct Kernel {
    name: &'static str,
    held: Held,
    run: unsafe fn(&mut Job<'_>),
}

/// All kernels that this processor can run.
fn kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let mut add = |name, here, held: &[Held], run: unsafe fn(&mut Job<'_>)| {
        let each = held.iter().filter(|_| here);
        kernels.extend(each.map(|&held| Kernel { name, held, run }));
    };
    let all = [Held::Floats, Held::Halves, Held::Bytes, Held::Shorts];
    add("portable", true, &all, portable::convolve);
    #[cfg(target_arch = "x86_64")]
    {
        let here = Features::detect();
        let avx512 = here.avx512 && here.vnni;
        add("portable with AVX2", here.avx2, &all, portable::convolve_avx2);
        add("AVX2 floats", here.avx2, &[Held::Floats], avx2::floats::convolve);
        add("AVX2 shorts", here.avx2, &[Held::Shorts], avx2::shorts::convolve);
        add("AVX-VNNI bytes", here.avx_vnni, &[Held::Bytes], avx2::bytes::convolve);
        add("its stand-in", avx512, &[Held::Bytes], avx2::bytes_of_avx512::convolve);
        add("AVX-512 floats", here.avx512, &[Held::Floats], avx512::floats::convolve);
        add("AVX-512 halves", here.bf16, &[Held::Halves], avx512::halves::convolve);
        add("AVX-512 shorts", here.avx512, &[Held::Shorts], avx512::shorts::convolve);
        add("AVX-512 bytes", here.vnni, &[Held::Bytes], avx512::bytes::convolve);
    }
    kernels
}

/// A convolution: what goes in, and what `three_loops` gets out.
struct Example {
    board: Board,
    taps: usize,
    inputs: usize,
    /// `[outputs, inputs, taps]`
    weights: Vec<f32>,
    bias: Vec<f32>,
    /// `[squares, inputs]`
    values: Vec<f32>,
    /// `[squares, outputs]`: what lies where the result will.
    before: Vec<f32>,
}

/// What a value of 1 is worth in 8 bits.
const UNIT: f32 = 1.0 / 16.0;

/// Whole units: bf16 and 8 bits hold them, and their sums of products are exact in f32.
fn units(rng: &mut impl Rng, range: RangeInclusive<i32>, count: usize) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(range.clone()) as f32 * UNIT).collect()
}

impl Example {
    fn new(rng: &mut impl Rng, (files, ranks): (usize, usize), taps: usize) -> Example {
        let board = Board { files, ranks };
        // Miri is slow.
        let inputs = rng.random_range(1..if cfg!(miri) { 6 } else { 40 });
        let outputs = [7, 50, 32, 64, 96, 130][rng.random_range(0..if cfg!(miri) { 2 } else { 6 })];
        Example {
            board,
            taps,
            inputs,
            weights: units(rng, -128..=128, outputs * inputs * taps),
            bias: units(rng, -128..=128, outputs),
            values: units(rng, 0..=255, board.squares() * inputs),
            before: units(rng, -128..=128, board.squares() * outputs),
        }
    }

    /// The sum of an output on a square, of whatever `value` and `weight` make of the numbers.
    fn sum(
        &self,
        (square, output): (usize, usize),
        value: impl Fn(f32) -> f64,
        weight: impl Fn(f32) -> f64,
    ) -> f64 {
        let Board { files, ranks } = self.board;
        let (file, rank) = ((square % files) as i32, (square / files) as i32);
        let reach = if self.taps == 1 { 0..=0 } else { -1..=1 };
        let mut sum = 0.0;
        for (tap, (down, right)) in
            reach.clone().flat_map(|down| reach.clone().map(move |right| (down, right))).enumerate()
        {
            let (file, rank) = (file + right, rank + down);
            if (0..files as i32).contains(&file) && (0..ranks as i32).contains(&rank) {
                let square = rank as usize * files + file as usize;
                for input in 0..self.inputs {
                    sum += value(self.values[square * self.inputs + input])
                        * weight(self.weights[(output * self.inputs + input) * self.taps + tap]);
                }
            }
        }
        sum
    }

    /// The convolution as one writes it down.
    fn three_loops(&self, held: Held, then: Then) -> Vec<f32> {
        let outputs = self.bias.len();
        let mut found = self.before.clone();
        for (index, slot) in found.iter_mut().enumerate() {
            let (square, output) = (index / outputs, index % outputs);
            let row = &self.weights[output * self.inputs * self.taps..];
            let row = &row[..self.inputs * self.taps];
            let step = row.iter().fold(0.0f32, |most, weight| most.max(weight.abs())) / 127.0;
            let step = if step == 0.0 { 1.0 } else { step };
            let value = match held {
                Held::Floats | Held::Halves => {
                    let sum = self.sum((square, output), f64::from, f64::from);
                    (sum + f64::from(self.bias[output])) as f32
                }
                Held::Bytes | Held::Shorts => {
                    let byte = |value: f32| f64::from(value / UNIT);
                    let whole = |weight: f32| f64::from((weight / step).round());
                    let sum = self.sum((square, output), byte, whole) as f32;
                    sum.mul_add(step * UNIT, self.bias[output])
                }
            };
            *slot = match then {
                Then::Nothing => value,
                Then::Relu => value.max(0.0),
                Then::AddRelu => (value + *slot).max(0.0),
            };
        }
        found
    }

    /// The values in words, in plain Rust.
    fn words(&self, held: Held) -> Vec<u32> {
        let stride = held.words(self.inputs);
        let mut all = vec![0; self.board.squares() * stride];
        for (values, words) in
            self.values.chunks_exact(self.inputs).zip(all.chunks_exact_mut(stride))
        {
            match held {
                Held::Floats => words.iter_mut().zip(values).for_each(|(w, v)| *w = v.to_bits()),
                Held::Halves => portable::to_bf16(values, words),
                Held::Bytes => portable::to_bytes(values, 1.0 / UNIT, words),
                Held::Shorts => portable::to_shorts(values, 1.0 / UNIT, words),
            }
        }
        all
    }

    /// What a kernel makes of it. All slices are exactly as long as the kernel may reach, so that
    /// a sanitizer sees every step beyond.
    fn run(&self, kernel: &Kernel, then: Then) -> Vec<f32> {
        let (held, outputs) = (kernel.held, self.bias.len());
        let words = held.words(self.inputs);
        let packed = Packed::new(held, &self.weights, &self.bias, self.taps, words, UNIT);
        let mut out = vec![0.0; self.board.squares() * packed.outputs];
        let rows = out.chunks_exact_mut(packed.outputs).zip(self.before.chunks_exact(outputs));
        rows.for_each(|(row, before)| row[..outputs].copy_from_slice(before));
        let (tiles, input) = (tiles(self.board), self.words(held));
        let mut job = Job::new(self.board, &tiles, &packed, &input, then, &mut out);
        // SAFETY: the processor was asked, and the weights are packed in the kernel's words.
        unsafe { (kernel.run)(&mut job) };
        out.chunks_exact(packed.outputs).flat_map(|row| row[..outputs].to_vec()).collect()
    }
}

#[test]
fn kernels_agree_with_three_loops() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let boards = [(5, 5), (3, 4), (6, 6), (9, 9), (7, 7), (4, 5), (8, 2), (1, 3), (2, 1), (11, 1)];
    let (boards, rounds) = if cfg!(miri) { (&boards[7..9], 1) } else { (&boards[..], 4) };
    for (&board, round) in boards.iter().flat_map(|board| (0..rounds).map(move |it| (board, it))) {
        for taps in [1, 9] {
            let example = Example::new(&mut rng, board, taps);
            for (kernel, then) in kernels()
                .iter()
                .flat_map(|it| [Then::Nothing, Then::Relu, Then::AddRelu].map(|then| (it, then)))
            {
                let (found, wanted) =
                    (example.run(kernel, then), example.three_loops(kernel.held, then));
                let what = format!("{} {:?} {board:?} {taps} {then:?}", kernel.name, kernel.held);
                assert_eq!(found, wanted, "{what}, round {round}");
            }
        }
    }
}

#[test]
fn conversions_agree() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for needed in [1, 16, 37, 64, 400] {
        for (held, (name, features)) in [Held::Floats, Held::Halves, Held::Bytes, Held::Shorts]
            .into_iter()
            .flat_map(|held| machines().into_iter().map(move |machine| (held, machine)))
        {
            let count = needed * held.channels_a_word();
            let mut values: Vec<f32> = (0..count.next_multiple_of(CONVERTED))
                .map(|_| rng.random_range(0..700) as f32 / 2.0)
                .collect();
            values[0] = 1e30;
            for per_unit in [1.0, 0.3, 17.0] {
                let convert = |features: Features| {
                    let mut words = vec![0; needed.next_multiple_of(16)];
                    features.convert(held, &values, per_unit, needed, &mut words);
                    words.truncate(needed);
                    words
                };
                let (found, wanted) = (convert(features), convert(Features::default()));
                assert_eq!(found, wanted, "{name} {held:?} {needed} {per_unit}");
            }
        }
    }
}

/// What a stem leaves to the blocks.
fn stem_outputs(network: &CpuNetwork, positions: &[f32]) -> Vec<Vec<f32>> {
    let (mut scratch, size) = (network.new_scratch(), network.planes * network.board.squares());
    for (position, trunk) in positions.chunks_exact(size).zip(&mut scratch.trunk) {
        network.lay_out(position, &mut scratch.planes);
        let (words, planes) = (&mut scratch.words, &scratch.planes);
        network.layer(&network.stem, planes, 1.0, words, Then::Relu, trunk);
    }
    scratch.trunk
}

/// The bits of what the blocks make of what a stem has left.
fn block_bits(network: &CpuNetwork, stem: &[Vec<f32>], count: usize) -> Vec<u32> {
    let mut scratch = network.new_scratch();
    scratch.trunk.clone_from_slice(stem);
    network.run_blocks(count, &mut scratch, |_, _| ());
    let size = network.board.squares() * network.channels;
    scratch.trunk[..count].iter().flat_map(|it| it[..size].iter().map(|x| x.to_bits())).collect()
}

#[test]
fn blocks_of_8_bits_have_the_same_bits_everywhere() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for name in ["minishogi", "doubutsu", "judkins", "shogi"] {
        let encoding = Encoding::new(Arc::new(Rules::load(name).unwrap()));
        let count = 3;
        let positions: Vec<f32> =
            (0..count * encoding.planes() * encoding.squares())
                .map(|_| {
                    if rng.random_bool(0.3) {
                        rng.random_range(0..=100) as f32 / 100.0
                    } else {
                        0.0
                    }
                })
                .collect();
        for channels in [32, 64, 96] {
            let weights = Weights::init(&encoding, Architecture::plain(channels, 3), 11);
            let network = |precision, calibration: Option<&Calibration>, features| {
                CpuNetwork::new(&encoding, &weights, precision, calibration, features)
            };
            let exact = network(Precision::F32, None, Features::default());
            let mut calibration = exact.calibrate(&positions);
            let stem = stem_outputs(&exact, &positions);
            // Some activations are larger than that, as in play.
            calibration.largest.iter_mut().for_each(|most| *most *= 0.7);
            let bits = |features| {
                let network = network(Precision::Int8, Some(&calibration), features);
                block_bits(&network, &stem, count)
            };
            let wanted = bits(Features::default());
            for (machine, features) in machines() {
                assert!(bits(features) == wanted, "{name}, {channels} channels, {machine}");
            }
        }
    }
}
