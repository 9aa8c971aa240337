#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Architecture, Parameter, Pooling, Sample};
use keiko_rules::{Game, Move, Rules};
use keiko_selfplay::Wdl;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CONFIG: LearnerConfig = LearnerConfig {
    weight_decay: 1e-4,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
    clip_norm: 1.0,
    average_decay: 0.99,
    policy_weight: 1.0,
    value_weight: 1.0,
    moves_left_weight: 0.1,
    reply_weight: 0.15,
    short_term_weight: 0.5,
};

/// Every kind of pooling, and all heads.
fn architectures(channels: usize) -> Vec<Architecture> {
    let everything = Architecture {
        pooling: Pooling::Bias,
        pooling_every: 2,
        reply: true,
        short_term_value: true,
        ..Architecture::plain(channels, 2)
    };
    let excite = Architecture { pooling: Pooling::SqueezeExcite, pooling_every: 1, ..everything };
    vec![Architecture::plain(channels, 2), everything, excite]
}

fn encoding(name: &str) -> Arc<Encoding> {
    Arc::new(Encoding::new(Arc::new(Rules::load(name).unwrap())))
}

fn learner(encoding: &Arc<Encoding>, channels: usize, blocks: usize) -> Learner {
    learner_of(encoding, Architecture::plain(channels, blocks))
}

fn learner_of(encoding: &Arc<Encoding>, architecture: Architecture) -> Learner {
    let weights = Weights::init(encoding, architecture, 1);
    Learner::new(encoding.clone(), CONFIG, weights)
}

/// Positions of random games with made-up targets, fixed by the seed.
fn batches(encoding: &Arc<Encoding>, sizes: &[usize], seed: u64) -> Vec<Batch> {
    batches_for(encoding, Architecture::plain(1, 1), sizes, seed)
}

fn batches_for(
    encoding: &Arc<Encoding>,
    architecture: Architecture,
    sizes: &[usize],
    seed: u64,
) -> Vec<Batch> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut game = Game::new(encoding.rules().clone());
    let mut legal = Vec::new();
    let mut make = |size: usize| {
        let mut batch = Batch::new(encoding, architecture, size);
        while batch.len() < size {
            game.legal_moves(&mut legal);
            if game.ending().is_some() {
                game = Game::new(encoding.rules().clone());
                continue;
            }
            let policy: Vec<(Move, f32)> =
                legal.iter().map(|&mv| (mv, rng.random_range(0.0f32..1.0).powi(6))).collect();
            let mut next = game.clone();
            next.play(legal[rng.random_range(0..legal.len())]);
            let mut replies = Vec::new();
            next.legal_moves(&mut replies);
            let reply: Vec<(Move, f32)> =
                replies.iter().map(|&mv| (mv, rng.random_range(0.0f32..1.0).powi(6))).collect();
            let result = [Wdl::WIN, Wdl::DRAW, Wdl::LOSS][rng.random_range(0..3)];
            batch.push(Sample {
                game: &game,
                legal: &legal,
                policy: &policy,
                wdl: result.blended(0.25, Wdl { win: 0.4, draw: 0.2, loss: 0.4 }),
                moves_left: rng.random_range(0.0..60.0),
                reply: (!reply.is_empty()).then_some((next.position(), &reply)),
                short_term: Wdl { win: 0.5, draw: 0.2, loss: 0.3 }.blended(0.5, result),
                mirror: rng.random_range(0..2) == 1,
            });
            game.play(legal[rng.random_range(0..legal.len())]);
        }
        batch
    };
    sizes.iter().map(|&size| make(size)).collect()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let encoding = encoding("minishogi");
    let batches = batches(&encoding, &[8, 5, 8, 3, 8], 2);
    let run = |threads| {
        let mut learner = learner(&encoding, 16, 2);
        let reports: Vec<_> =
            (0..3).map(|_| learner.step(&batches, 1e-3, threads).unwrap()).collect();
        (learner.weights, learner.average, learner.moments, reports)
    };
    let expected = run(1);
    for threads in [2, 3] {
        assert!(run(threads) == expected, "{threads} threads");
    }
}

#[test]
fn our_kernels_give_burns_gradients() {
    for (name, channels) in
        [("minishogi", 64), ("doubutsu", 32), ("microshogi", 40), ("tori", 16), ("shogi", 32)]
    {
        for architecture in architectures(channels) {
            let encoding = encoding(name);
            let mut ours = learner_of(&encoding, architecture);
            let batches = batches_for(&encoding, architecture, &[7, 2], 3);
            let (losses, gradient, _) = ours.gradient(&batches, 1).unwrap();
            let (by_burn, expected, _) = ours.by_burn().gradient(&batches, 1).unwrap();
            let (total, expected_total) = (CONFIG.total(&losses), CONFIG.total(&by_burn));
            assert!((total - expected_total).abs() < 1e-5, "{losses:?} {by_burn:?}");
            for (found, expected) in gradient.parameters().iter().zip(expected.parameters()) {
                let largest = expected.values.iter().fold(0.0f32, |most, x| most.max(x.abs()));
                let pairs = found.values.iter().zip(&expected.values);
                let difference = pairs.fold(0.0f32, |most, (a, b)| most.max((a - b).abs()));
                assert!(
                    difference <= 1e-4 * largest && largest > 0.0,
                    "{name} {architecture:?} {}: {difference:e} of {largest:e}",
                    found.name
                );
            }
        }
    }
}

#[test]
fn gradients_agree_with_finite_differences() {
    let all = architectures(4);
    for (name, architecture) in
        [("doubutsu", all[0]), ("judkins", all[0]), ("doubutsu", all[1]), ("minishogi", all[2])]
    {
        let encoding = encoding(name);
        let mut learner = learner_of(&encoding, architecture);
        learner.config.value_weight = 1.5;
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        for parameter in learner.weights.parameters_mut() {
            // Off the kinks of ReLU and away from tiny outputs.
            parameter.values.iter_mut().for_each(|x| *x += rng.random_range(-0.1..0.1));
        }
        let batches = batches_for(&encoding, architecture, &[6, 4], 3);
        let total = |learner: &Learner| {
            let losses = evaluate_losses(&learner.weights, &encoding, &batches, 1);
            f64::from(learner.config.total(&losses))
        };
        let (_, gradient, _) = learner.gradient(&batches, 1).unwrap();
        // Along random directions within each parameter, which averages over kinks.
        for index in 0..gradient.parameters().len() {
            let slopes = &gradient.parameters()[index];
            let direction: Vec<f32> =
                slopes.values.iter().map(|x| x.signum() * rng.random_range(0.2..1.0)).collect();
            let expected: f64 =
                slopes.values.iter().zip(&direction).map(|(a, b)| f64::from(a * b)).sum();
            let length: f32 = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
            let size = 1e-3 / length;
            let moved = |factor: f32| {
                let mut other = learner.clone();
                let values = &mut other.weights.parameters_mut()[index].values;
                values.iter_mut().zip(&direction).for_each(|(x, d)| *x += factor * size * d);
                total(&other)
            };
            let found = (moved(1.0) - moved(-1.0)) / f64::from(2.0 * size);
            let tolerance = 0.04 * expected.abs() + 4e-3;
            assert!(
                (found - expected).abs() < tolerance,
                "{name} {}: {found} by differences, {expected} backwards",
                slopes.name
            );
        }
    }
}

#[test]
fn a_small_set_is_learned_by_heart() {
    let encoding = encoding("minishogi");
    let mut learner = learner(&encoding, 16, 2);
    let batches = batches(&encoding, &[16, 16], 4);
    let first = learner.step(&batches, 3e-3, 2).unwrap();
    let mut last = first;
    for _ in 0..300 {
        last = learner.step(&batches, 3e-3, 2).unwrap();
    }
    assert!(last.losses.policy_kl < 0.1 * first.losses.policy_kl, "{first:?} {last:?}");
    assert!(last.losses.value_accuracy > 0.95, "{last:?}");
    assert!(last.losses.policy_accuracy > 0.75, "{last:?}");
    assert!(last.losses.moves_left_loss < 0.2 * first.losses.moves_left_loss, "{last:?}");
    let held = evaluate_losses(learner.average(), &encoding, &batches, 2);
    assert!(held.policy_kl < 0.3 * first.losses.policy_kl, "{held:?}");
}

#[test]
fn a_broken_step_changes_nothing() {
    let encoding = encoding("doubutsu");
    let mut learner = learner(&encoding, 8, 1);
    let good = batches(&encoding, &[4, 4], 5);
    learner.step(&good, 1e-3, 1).unwrap();
    let before = learner.clone();
    let mut broken = good.clone();
    broken[1].values[2].0.draw = f32::NAN;
    assert_eq!(learner.step(&broken, 1e-3, 2), Err(LearnError::Loss { micro_batch: 1 }));
    let mut broken = good.clone();
    broken[1].inputs[3] = f32::NAN;
    assert!(learner.step(&broken, 1e-3, 2).is_err());
    let mut broken = good.clone();
    broken[0].inputs.iter_mut().for_each(|x| *x *= f32::MAX);
    assert!(learner.step(&broken, 1e-3, 2).is_err());
    assert!(matches!(learner.step(&good, f32::NAN, 1), Err(LearnError::LearningRate(_))));
    assert_eq!(learner.step(&[], 1e-3, 1), Err(LearnError::NoSamples));
    assert!(learner.weights == before.weights && learner.moments == before.moments);
    assert!(learner.average == before.average && learner.steps == before.steps);
}

#[test]
fn a_saved_learner_goes_on_exactly() {
    let encoding = encoding("doubutsu");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("learner.safetensors");
    let batches = batches(&encoding, &[6, 6], 6);
    let mut straight = learner(&encoding, 8, 1);
    for _ in 0..3 {
        straight.step(&batches, 1e-3, 1).unwrap();
    }
    straight.save_state(&path).unwrap();
    let other = Weights::init(&encoding, Architecture::plain(8, 1), 99);
    let mut resumed = Learner::new(encoding.clone(), CONFIG, other);
    resumed.load_state(&path).unwrap();
    for _ in 0..3 {
        straight.step(&batches, 1e-3, 2).unwrap();
        resumed.step(&batches, 1e-3, 1).unwrap();
    }
    assert!(straight.weights == resumed.weights && straight.average == resumed.average);
    assert!(straight.moments == resumed.moments);
    assert_eq!(resumed.steps(), 6);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let message = resumed.load_state(&path).unwrap_err().to_string();
    assert!(message.contains("truncated"), "{message}");
    let mut larger = learner(&encoding, 16, 1);
    straight.save_state(&path).unwrap();
    assert!(matches!(larger.load_state(&path), Err(StorageError::Tensor { .. })));
}

#[test]
fn long_gradients_are_clipped_together() {
    let encoding = encoding("doubutsu");
    let batches = batches(&encoding, &[8], 7);
    let norm = learner(&encoding, 8, 1).step(&batches, 0.0, 1).unwrap().gradient_norm;
    let mut clipped = learner(&encoding, 8, 1);
    clipped.config.clip_norm = norm / 4.0;
    clipped.step(&batches, 0.0, 1).unwrap();
    let mean = length(clipped.moments.first.parameters().iter().map(Parameter::square));
    assert!((mean - 0.1 * norm / 4.0).abs() < 1e-3 * norm, "{mean} of {norm}");
}

#[test]
fn samples_without_a_policy_teach_the_value_alone() {
    let encoding = encoding("doubutsu");
    let game = Game::new(encoding.rules().clone());
    let mut legal = Vec::new();
    game.legal_moves(&mut legal);
    let mut batch = Batch::new(&encoding, Architecture::plain(1, 1), 1);
    let sample = Sample {
        game: &game,
        legal: &legal,
        policy: &[],
        wdl: Wdl::WIN,
        moves_left: 3.0,
        reply: None,
        short_term: Wdl::WIN,
        mirror: false,
    };
    batch.push(sample);
    let mut learner = learner(&encoding, 8, 1);
    let (losses, gradient, _) = learner.gradient(&[batch], 1).unwrap();
    assert_eq!(losses.policy_loss, 0.0);
    for parameter in gradient.parameters() {
        let is_policy = parameter.name.starts_with("policy.");
        assert!(!is_policy || parameter.values.iter().all(|&x| x == 0.0), "{}", parameter.name);
    }
}

#[test]
fn configurations_are_checked() {
    assert_eq!(CONFIG.check(), Ok(()));
    let error = LearnerConfig { beta2: 1.0, ..CONFIG }.check().unwrap_err();
    assert_eq!(error.to_string(), "beta2 is 1; it must be at least 0 and below 1");
    assert!(LearnerConfig { clip_norm: f32::NAN, ..CONFIG }.check().is_err());
}

#[cfg(feature = "vulkan")]
#[test]
fn a_vulkan_device_finds_the_same_gradient() {
    let (encoding, architecture) = (encoding("minishogi"), architectures(16)[1]);
    let mut learner = learner_of(&encoding, architecture);
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for parameter in learner.weights.parameters_mut() {
        parameter.values.iter_mut().for_each(|x| *x += rng.random_range(-0.1..0.1));
    }
    let batches = batches_for(&encoding, architecture, &[32, 32], 3);
    let (expected_losses, expected, _) = learner.gradient(&batches, 1).unwrap();
    let vulkan = "vulkan:0".parse::<crate::DeviceName>().unwrap().open().unwrap();
    let (found_losses, mut found, _) = learner.on(&vulkan).gradient(&batches, 1).unwrap();
    let relative = |a: f32, b: f32| (a - b).abs() / b.abs();
    assert!(relative(found_losses.policy_loss, expected_losses.policy_loss) < 1e-3);
    assert!(relative(found_losses.value_loss, expected_losses.value_loss) < 1e-3);
    for (mine, theirs) in found.parameters_mut().iter_mut().zip(expected.parameters()) {
        let length = |values: &[f32]| values.iter().map(|x| x * x).sum::<f32>().sqrt();
        mine.values.iter_mut().zip(&theirs.values).for_each(|(a, b)| *a -= b);
        let difference = length(&mine.values) / length(&theirs.values);
        println!("{}: {difference:.1e}", theirs.name);
        assert!(difference < 1e-3, "{}: {difference}", theirs.name);
    }
}
