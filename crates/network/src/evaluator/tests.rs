#![allow(clippy::unwrap_used)]

use super::*;
use crate::golden::Answers;
use crate::{Architecture, CachedEvaluator, Pooling};
use keiko_rules::Rules;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Some positions of random games, with their legal moves.
fn positions(encoding: &Encoding, count: usize) -> Vec<(Game, Vec<Move>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut found = Vec::new();
    let mut game = Game::new(encoding.rules().clone());
    while found.len() < count {
        let mut legal = Vec::new();
        game.legal_moves(&mut legal);
        if game.ending().is_some() {
            game = Game::new(encoding.rules().clone());
            continue;
        }
        let mv = legal[rng.random_range(0..legal.len())];
        found.push((game.clone(), legal));
        game.play(mv);
    }
    found
}

/// All kinds of pooling, by channels, and the heads that players leave out.
fn architecture(channels: usize) -> Architecture {
    let (pooling, pooling_every) = match channels {
        32 => (Pooling::Bias, 2),
        48 | 64 => (Pooling::SqueezeExcite, 1),
        _ => (Pooling::None, 1),
    };
    let plain = Architecture::plain(channels, 2);
    Architecture { pooling, pooling_every, reply: true, short_term_value: true, ..plain }
}

fn setup(name: &str, channels: usize) -> (Arc<Encoding>, Weights) {
    let encoding = Arc::new(Encoding::new(Arc::new(Rules::load(name).unwrap())));
    let mut weights = Weights::init(&encoding, architecture(channels), 11);
    // Fresh weights answer almost nothing; a sharper network shows every bit.
    for parameter in weights.parameters_mut() {
        if parameter.name.contains("pool")
            || parameter.name.contains("output")
            || parameter.name.contains("value.")
        {
            parameter.values.iter_mut().for_each(|x| *x *= 8.0);
        }
    }
    (encoding, weights)
}

type Answer = (Vec<u32>, [u32; 4]);

fn answers(evaluator: &mut impl Evaluator, positions: &[(Game, Vec<Move>)]) -> Vec<Answer> {
    let slots: Vec<Slot> =
        positions.iter().map(|(game, legal)| evaluator.push(game, legal)).collect();
    evaluator.run();
    let bits = |slot: &Slot| {
        let Evaluation { wdl, moves_left, prior } = evaluator.read(*slot);
        let values = [wdl.win, wdl.draw, wdl.loss, moves_left].map(f32::to_bits);
        (prior.iter().map(|p| p.to_bits()).collect(), values)
    };
    slots.iter().map(bits).collect()
}

fn burn() -> Inference {
    Inference::Burn(ComputeDevice::cpu())
}

fn cpu(precision: Precision, calibration: Option<Calibration>, features: Features) -> Inference {
    Inference::Cpu { precision, calibration, features }
}

/// Every way to compute, on this machine and as if it had less.
fn all_inferences(weights: &Weights, encoding: &Arc<Encoding>) -> Vec<(String, Inference)> {
    let full = Features::detect();
    let inputs = encoded(encoding, &positions(encoding, 50));
    let calibration = crate::calibrate(weights, encoding, &inputs);
    let sets = [
        ("full", full),
        ("AVX2", Features { avx2: full.avx2, ..Features::default() }),
        ("AVX-512 alone", Features { avx512: full.avx512, avx2: full.avx2, ..Features::default() }),
        ("portable", Features::default()),
    ];
    let mut all = vec![("burn".to_owned(), burn())];
    for (name, features) in sets {
        for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
            let inference = cpu(precision, Some(calibration.clone()), features);
            all.push((format!("{precision:?} {name}"), inference));
        }
    }
    all
}

fn encoded(encoding: &Encoding, positions: &[(Game, Vec<Move>)]) -> Vec<f32> {
    let size = encoding.planes() * encoding.squares();
    let mut inputs = vec![0.0; positions.len() * size];
    for ((game, _), input) in positions.iter().zip(inputs.chunks_exact_mut(size)) {
        encoding.encode(game, input);
    }
    inputs
}

/// Largest differences of probabilities and of chances, and the mean KL of the policies.
fn differences(
    weights: &Weights,
    encoding: &Arc<Encoding>,
    positions: &[(Game, Vec<Move>)],
    one: &Inference,
    other: &Inference,
) -> (f32, f32, f32) {
    let mut evaluators = [one, other]
        .map(|inference| NetworkEvaluator::new(weights, encoding.clone(), 32, inference));
    let [first, second] = evaluators.each_mut().map(|evaluator| {
        let found = answers(evaluator, positions).into_iter();
        found
            .map(|(prior, value)| {
                let prior: Vec<f32> = prior.into_iter().map(f32::from_bits).collect();
                (prior, value.map(f32::from_bits))
            })
            .collect::<Vec<_>>()
    });
    let (mut most, mut chances, mut divergence) = (0.0f32, 0.0f32, 0.0);
    for ((prior, value), (other_prior, other_value)) in first.iter().zip(&second) {
        for (p, q) in prior.iter().zip(other_prior) {
            most = most.max((p - q).abs());
            divergence += p * (p / q).ln();
        }
        for (a, b) in value.iter().zip(other_value).take(3) {
            chances = chances.max((a - b).abs());
        }
    }
    (most, chances, divergence / positions.len() as f32)
}

#[test]
fn all_ways_to_compute_agree() {
    for (name, channels) in [
        ("minishogi", 64),
        ("doubutsu", 32),
        ("microshogi", 48),
        ("judkins", 96),
        ("tori", 64),
        ("shatranj", 16),
        ("shogi", 64),
    ] {
        let (encoding, weights) = setup(name, channels);
        let positions = positions(&encoding, 100);
        for (way, inference) in all_inferences(&weights, &encoding) {
            let (most, chances, divergence) =
                differences(&weights, &encoding, &positions, &burn(), &inference);
            println!("{name} {channels} {way}: {most:.2e} {chances:.2e} {divergence:.2e}");
            let (allowed, allowed_divergence) = match way.split(' ').next().unwrap() {
                "burn" => (0.0, 0.0),
                "F32" => (2e-5, 1e-7),
                // The values of these weights are made sharp: see `setup`.
                "Bf16" => (1e-1, 1e-4),
                _ => (3e-1, 5e-3),
            };
            assert!(most <= allowed && chances <= allowed, "{name} {way} {most} {chances}");
            assert!(divergence <= allowed_divergence, "{name} {way} {divergence}");
        }
    }
}

/// The largest difference of any logit, chance or length, in parts of what is above 1.
fn answer_difference(
    weights: &Weights,
    encoding: &Arc<Encoding>,
    positions: &[(Game, Vec<Move>)],
) -> f32 {
    let size = encoding.planes() * encoding.squares();
    let mut inputs = vec![0.0; positions.len() * size];
    for ((game, _), input) in positions.iter().zip(inputs.chunks_exact_mut(size)) {
        encoding.encode(game, input);
    }
    let device = ComputeDevice::cpu();
    let model = Model::fixed(encoding, weights, device.tensors());
    let burn = Answers::on(&device, &model, encoding, &inputs, 32);
    Answers::of(weights, encoding, &inputs).relative_difference(&burn)
}

#[test]
fn full_precision_agrees_with_burn_in_every_variant() {
    for name in Rules::variants() {
        let encoding = Arc::new(Encoding::new(Arc::new(Rules::load(name).unwrap())));
        let all =
            [(Architecture::plain(32, 2), 1000), (architecture(32), 100), (architecture(64), 100)];
        for (architecture, count) in all {
            let weights = Weights::init(&encoding, architecture, 7);
            let positions = positions(&encoding, count);
            let exact = Inference::exact();
            let (most, chances, divergence) =
                differences(&weights, &encoding, &positions, &burn(), &exact);
            println!("{name}: {most:.1e} {chances:.1e} {divergence:.1e}");
            assert!(most <= 1e-5 && chances <= 1e-5, "{name} {most} {chances}");
            let logits = answer_difference(&weights, &encoding, &positions);
            assert!(logits <= 1e-5, "{name} {logits}");
        }
    }
}

#[test]
fn an_evaluation_does_not_depend_on_its_batch() {
    let (encoding, weights) = setup("minishogi", 32);
    for (_, inference) in all_inferences(&weights, &encoding) {
        batches_agree("minishogi", 32, &inference);
    }
    let boards = ["minishogi", "doubutsu", "microshogi", "judkins", "gorogoroplus", "shogi"];
    for (name, channels) in boards.map(|name| (name, 32)).into_iter().chain([
        ("minishogi", 20),
        ("minishogi", 48),
        ("minishogi", 64),
        ("minishogi", 96),
        ("shogi", 64),
    ]) {
        batches_agree(name, channels, &burn());
        batches_agree(name, channels, &cpu(Precision::F32, None, Features::detect()));
    }
}

fn batches_agree(name: &str, channels: usize, inference: &Inference) {
    let (encoding, weights) = setup(name, channels);
    let positions = positions(&encoding, 70);
    let mut alone = NetworkEvaluator::new(&weights, encoding.clone(), 1, inference);
    let expected: Vec<Answer> = positions
        .iter()
        .flat_map(|position| answers(&mut alone, std::slice::from_ref(position)))
        .collect();
    for batch in [2, 3, 7, 8, 16, 20, 32, 33, 70] {
        let mut evaluator = NetworkEvaluator::new(&weights, encoding.clone(), batch, inference);
        for (index, chunk) in positions.chunks(batch).enumerate() {
            let found = answers(&mut evaluator, chunk);
            let wanted = &expected[index * batch..][..chunk.len()];
            assert_eq!(found, wanted, "{name} {channels} channels, batch {batch}");
        }
        assert_eq!(evaluator.evaluations(), 70);
    }
    // At another row, among other positions.
    let mut reversed = positions.clone();
    reversed.reverse();
    let mut found = answers(&mut alone, &reversed);
    found.reverse();
    assert_eq!(found, expected, "{name} {channels}");
}

#[test]
fn evaluations_are_distributions() {
    let (encoding, weights) = setup("minishogi", 32);
    let positions = positions(&encoding, 40);
    let mut evaluator = NetworkEvaluator::new(&weights, encoding, 8, &burn());
    for (game, legal) in &positions {
        let slot = evaluator.push(game, legal);
        evaluator.run();
        let Evaluation { wdl, moves_left, prior } = evaluator.read(slot);
        assert_eq!(prior.len(), legal.len());
        assert!((prior.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!((wdl.win + wdl.draw + wdl.loss - 1.0).abs() < 1e-5);
        assert!(moves_left > 0.0);
        assert!(prior.iter().all(|&p| p > 0.0));
    }
    assert!(evaluator.busy() > Duration::ZERO);
}

#[test]
fn an_evaluator_may_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<NetworkEvaluator>();
}

#[cfg(feature = "vulkan")]
#[test]
fn a_vulkan_device_agrees_with_the_kernels() {
    let vulkan = "vulkan:0".parse::<crate::DeviceName>().unwrap().open().unwrap();
    let (encoding, weights) = setup("minishogi", 16);
    let positions = positions(&encoding, 600);
    // One pass of 512 and what is left over, then few enough for the smaller shapes.
    for count in [600, 100, 20, 1] {
        let some = &positions[..count];
        let inference = Inference::Burn(vulkan.clone());
        let (most, chances, divergence) =
            differences(&weights, &encoding, some, &Inference::exact(), &inference);
        println!("{vulkan}, {count} positions: {most:.1e} {chances:.1e} {divergence:.1e}");
        assert!(most < 1e-3 && chances < 1e-3, "{count} positions: {most} {chances}");
    }
}

#[test]
fn remembered_evaluations_are_the_networks() {
    let (encoding, weights) = setup("minishogi", 32);
    let positions = positions(&encoding, 50);
    let new = || NetworkEvaluator::new(&weights, encoding.clone(), 8, &Inference::exact());
    let mut plain = new();
    let expected = answers(&mut plain, &positions);
    for size in [0, 1, 7, 10_000] {
        let mut cached = CachedEvaluator::new(new(), size);
        for round in 0..3 {
            // Batches in which some are known and some are not, and one that is known entirely.
            for (index, chunk) in positions.chunks(13 + round).enumerate() {
                let from = index * (13 + round);
                assert_eq!(answers(&mut cached, chunk), expected[from..from + chunk.len()]);
            }
        }
        let asked = cached.hits() + cached.network().evaluations();
        assert_eq!(asked, 150);
        assert!(size > 0 || cached.hits() == 0);
        assert!(size < 100 || cached.hits() >= 99, "{}", cached.hits());
    }
}
