//! A game small enough to be known exactly: search finds its values, and proves them.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Rules};
use keiko_selfplay::{
    Budget, Evaluator, Findings, MateSolver, Proof, ProofSolver, Purpose, Search, SearchConfig,
    SearchKind, UniformEvaluator, Verdict, Wdl, generator, random_moves,
};
use std::sync::Arc;

const TOY: &str = r#"name = "toy"
board = { files = 3, ranks = 3 }
start = "kg1/3/1GK b - 1"
pieces.K = { moves = "K", royal = true }
pieces.G = { moves = "WfF" }
drops = { faces = "front" }
invariants = { royal_safe = true }
goals = { no_moves = "loses", repetition = { count = 3, result = "draw" } }
"#;

/// Games are over after this many plies, so that they can be known.
const PLIES: u32 = 7;

/// Positions of random games with a choice: a forced move is played without a search.
fn positions() -> Vec<Game> {
    let rules = Arc::new(Rules::from_toml(TOY, "toy").unwrap());
    let game = |number: u64| {
        let mut game = Game::new(rules.clone());
        game.set_ply_limit(Some(PLIES));
        random_moves(&mut game, 2 + number as u32 % 5, &mut generator(3, Purpose::Arena, number));
        game
    };
    let mut moves = Vec::new();
    let mut is_open = |game: &Game| {
        game.legal_moves(&mut moves);
        game.conclusion().is_none() && moves.len() > 1
    };
    (0..60).map(game).filter(|game| is_open(game)).collect()
}

/// What both sides' best play leads to, for the side to move.
fn exact(game: &mut Game) -> Wdl {
    if let Some(ending) = game.conclusion() {
        return Wdl::of(ending.outcome, game.side_to_move());
    }
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    let mut best = Wdl::LOSS;
    for mv in moves {
        game.play(mv);
        let value = exact(game).flipped();
        game.undo();
        if value.score() > best.score() {
            best = value;
        }
        if best == Wdl::WIN {
            break;
        }
    }
    best
}

fn search(game: &Game, config: SearchConfig, simulations: u32) -> Findings {
    let mut search = Search::new(game.clone(), config);
    let budget = Budget { simulations, considered: usize::MAX, noise: 0.0, explores: false };
    search.begin(budget, &mut generator(1, Purpose::Play, 0));
    let mut evaluator = UniformEvaluator::default();
    while let Some(slot) = search.select(&mut evaluator) {
        evaluator.run();
        search.backup(evaluator.read(slot));
    }
    search.finish()
}

#[test]
fn search_values_become_exact() {
    let mates = SearchConfig {
        leaf_mate_plies: 3,
        leaf_mate_nodes: 100,
        root_mate_plies: 3,
        root_mate_nodes: 100,
        root_proof_nodes: 100,
        ..SearchConfig::without_mates(16)
    };
    let (mut proven, mut kinds) = (0, [0; 3]);
    let games = positions();
    for game in &games {
        let value = exact(&mut game.clone());
        kinds[(2.0 * value.score()) as usize] += 1;
        let plain = SearchConfig::without_mates(16);
        let puct = SearchConfig { kind: SearchKind::Puct, ..plain };
        for config in [plain, mates, puct, SearchConfig { kind: SearchKind::Puct, ..mates }] {
            let found = search(game, config, 20_000);
            let distance = (found.root.score() - value.score()).abs();
            assert!(
                distance < 0.1,
                "{found:?}, {value:?} {}",
                game.position().to_sfen(game.rules())
            );
            let mut next = game.clone();
            next.play(found.mv);
            assert_eq!(exact(&mut next).flipped(), value, "the move keeps the value");
            if let Some(proof) = found.proof {
                proven += 1;
                assert_eq!((proof.value(), found.root), (value, value));
            }
        }
    }
    assert!(kinds.iter().all(|&count| count > 0), "wins, draws and losses: {kinds:?}");
    assert!(proven > 2 * games.len(), "{proven} proofs of {} positions", games.len());
}

#[test]
fn proofs_of_forced_wins_agree() {
    let (mut mates, mut proofs) = (MateSolver::default(), ProofSolver::default());
    for game in positions() {
        let value = exact(&mut game.clone());
        let (deep, proof) = (
            mates.solve(&mut game.clone(), 9, 1_000_000),
            proofs.solve(&mut game.clone(), 1_000_000),
        );
        assert_eq!(matches!(deep, Verdict::Win(_)), matches!(proof, Verdict::Win(_)));
        if let Verdict::Win(win) = deep {
            assert_eq!(value, Wdl::WIN);
            assert!(u32::from(win.plies) + game.ply() as u32 <= PLIES);
            let config = SearchConfig::without_mates(16);
            // Full width may find a shorter one, with quiet moves.
            if let Some(Proof::Win(plies)) = search(&game, config, 20_000).proof {
                assert!(plies <= win.plies || plies % 2 == 1);
            }
        }
    }
}
