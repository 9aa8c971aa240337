#![allow(clippy::unwrap_used)]

use super::*;
use crate::Architecture;
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

fn setup(name: &str, channels: usize) -> (Arc<Encoding>, Weights) {
    let encoding = Arc::new(Encoding::new(Arc::new(Rules::load(name).unwrap())));
    let mut weights = Weights::init(&encoding, Architecture { channels, blocks: 2 }, 11);
    // Fresh weights answer almost nothing; a sharper network shows every bit.
    for parameter in weights.parameters_mut() {
        if parameter.name.contains("output") || parameter.name.contains("value.") {
            parameter.values.iter_mut().for_each(|x| *x *= 8.0);
        }
    }
    (encoding, weights)
}

type Answer = (Vec<u32>, [u32; 4]);

fn answers(evaluator: &mut BurnEvaluator, positions: &[(Game, Vec<Move>)]) -> Vec<Answer> {
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

#[test]
fn an_evaluation_does_not_depend_on_its_batch() {
    let boards = ["minishogi", "doubutsu", "microshogi", "judkins", "gorogoroplus", "shogi"];
    for (name, channels) in boards.map(|name| (name, 32)).into_iter().chain([
        ("minishogi", 20),
        ("minishogi", 48),
        ("minishogi", 64),
        ("minishogi", 96),
        ("shogi", 64),
    ]) {
        let (encoding, weights) = setup(name, channels);
        let positions = positions(&encoding, 70);
        let mut alone = BurnEvaluator::new(&weights, encoding.clone(), 1);
        let expected: Vec<Answer> = positions
            .iter()
            .flat_map(|position| answers(&mut alone, std::slice::from_ref(position)))
            .collect();
        for batch in [2, 3, 7, 8, 16, 20, 32, 33, 70] {
            let mut evaluator = BurnEvaluator::new(&weights, encoding.clone(), batch);
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
}

#[test]
fn evaluations_are_distributions() {
    let (encoding, weights) = setup("minishogi", 32);
    let positions = positions(&encoding, 40);
    let mut evaluator = BurnEvaluator::new(&weights, encoding, 8);
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
    is_send::<BurnEvaluator>();
}
