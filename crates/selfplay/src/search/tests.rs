#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Purpose, UniformEvaluator, generator};
use keiko_rules::Rules;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

/// A search of a game's start, or of a position of it.
fn search(game: &str, sfen: Option<&str>, kind: SearchKind) -> Search {
    let rules = Arc::new(Rules::load(game).unwrap());
    let game = match sfen {
        Some(sfen) => Game::from_sfen(rules, sfen).unwrap(),
        None => Game::new(rules),
    };
    Search::new(game, SearchConfig { kind, ..SearchConfig::without_mates(16) })
}

fn budget(simulations: u32) -> Budget {
    Budget { simulations, considered: 16, noise: 0.0, explores: false }
}

/// Runs a search that was begun, up to so many leaves waiting at once.
fn run(search: &mut Search, together: usize) {
    let mut evaluator = UniformEvaluator::default();
    let mut slots = VecDeque::new();
    loop {
        search.gather(&mut evaluator, together, &mut slots);
        if slots.is_empty() {
            return;
        }
        evaluator.run();
        slots.drain(..).for_each(|slot| search.backup(evaluator.read(slot)));
    }
}

/// Every edge that was visited: move, visits, mean score, proof, indented by depth.
fn drawn(search: &Search) -> String {
    let mut text = String::new();
    draw(search, NodeId::ROOT, 0, &mut text);
    text
}

fn draw(search: &Search, node: NodeId, depth: usize, text: &mut String) {
    let (tree, rules) = (&search.tree, search.game().rules());
    for edge in tree.node(node).edges().filter(|&edge| tree.visits[edge] > 0) {
        let mv = tree.moves[edge].to_usi(rules);
        write!(text, "{:1$}{mv} {2}", "", 2 * depth, tree.visits[edge]).unwrap();
        write!(text, " {:.3}", tree.scores[edge]).unwrap();
        let proof = tree.proofs[edge].map_or(String::new(), |proof| format!(" {proof:?}"));
        writeln!(text, "{proof}").unwrap();
        if let Some(child) = tree.child(edge) {
            draw(search, child, depth + 1, text);
        }
    }
}

/// Sum of the visits of a node's edges is what came to it after it was expanded; values and
/// visits are in step when nothing waits.
fn assert_sound(search: &Search) {
    let tree = &search.tree;
    assert_eq!(tree.visits, tree.backed);
    for (edge, &visits) in tree.visits.iter().enumerate() {
        assert_eq!(visits > 0, tree.child(edge).is_some());
        let Some(child) = tree.child(edge) else { continue };
        let below: u32 = tree.visits[tree.node(child).edges()].iter().sum();
        let is_open = tree.node(child).proof.is_none();
        assert!(below < visits && (!is_open || below + 1 == visits), "{below} below {visits}");
    }
}

/// Trees of 50 simulations, with the evaluator that knows nothing, are as they were.
#[test]
fn trees_are_as_stored() {
    // A mate in one, a position of the middle game, and another game's start.
    let cases = [
        ("minishogi", Some("4k/5/4P/4G/K4 b G 1")),
        ("minishogi", Some("r1sgk/2b1p/5/P1B2/KGS1R b - 1")),
        ("doubutsu", None),
    ];
    let mut text = String::new();
    for (game, sfen) in cases {
        for kind in [SearchKind::Gumbel, SearchKind::Puct] {
            let mut search = search(game, sfen, kind);
            search.begin(budget(50), &mut generator(7, Purpose::Play, 0));
            run(&mut search, 1);
            assert_sound(&search);
            let found = search.finish();
            let mv = found.mv.to_usi(search.game().rules());
            let (root, proof) = (found.root.score(), found.proof);
            writeln!(text, "== {game} {} {kind:?}", sfen.unwrap_or("start")).unwrap();
            writeln!(text, "plays {mv}, root {root:.3}, proof {proof:?}").unwrap();
            text += &drawn(&search);
        }
    }
    assert_eq!(text, include_str!("trees.txt"), "{text}");
}

/// Leaves of one tree that wait together cost no simulation and leave a sound tree.
#[test]
fn many_leaves_of_one_tree_wait_together() {
    for kind in [SearchKind::Gumbel, SearchKind::Puct] {
        let mut search = search("minishogi", None, kind);
        search.begin(budget(200), &mut generator(7, Purpose::Play, 0));
        let mut evaluator = UniformEvaluator::default();
        let root = search.select(&mut evaluator).unwrap();
        assert_eq!(search.select(&mut evaluator), None, "all else waits for the root");
        evaluator.run();
        search.backup(evaluator.read(root));
        let mut slots = VecDeque::new();
        search.gather(&mut evaluator, 8, &mut slots);
        assert_eq!((slots.len(), search.waiting.len()), (8, 8));
        let begun: u32 = search.tree.visits[search.tree.node(NodeId::ROOT).edges()].iter().sum();
        assert_eq!((begun, search.nodes()), (8, 1));
        evaluator.run();
        slots.into_iter().for_each(|slot| search.backup(evaluator.read(slot)));
        run(&mut search, 8);
        assert_sound(&search);
        assert_eq!(search.finish().simulations, 200);
    }
}

/// A leaf that waits is not pushed again: where there is no other, the search waits too.
#[test]
fn one_leaf_waits_once() {
    // Two moves are legal; so no more than two leaves can wait at first.
    let mut search = search("minishogi", Some("4k/5/5/r4/K4 b - 1"), SearchKind::Puct);
    search.begin(budget(50), &mut generator(7, Purpose::Play, 0));
    let mut evaluator = UniformEvaluator::default();
    let root = search.select(&mut evaluator).unwrap();
    evaluator.run();
    search.backup(evaluator.read(root));
    let moves = search.root_moves().len();
    let pushed = std::iter::from_fn(|| search.select(&mut evaluator)).count();
    assert!(moves == 2 && pushed == 2, "{pushed} leaves behind {moves} moves");
}

/// What is known behind the move that is played is kept, and nothing else.
#[test]
fn a_tree_goes_on_behind_the_move() {
    for kind in [SearchKind::Gumbel, SearchKind::Puct] {
        let mut search = search("minishogi", None, kind);
        search.begin(budget(300), &mut generator(7, Purpose::Play, 0));
        run(&mut search, 4);
        let line = search.principal_variation();
        let first = search.root_moves().into_iter().find(|it| it.mv == line[0]).unwrap();
        let (before, reply) = (drawn(&search), line[1]);
        search.advance(line[0]);
        assert_sound(&search);
        let kept: u32 = search.root_moves().iter().map(|it| it.visits).sum();
        assert_eq!((kept + 1, search.nodes() as u32), (first.visits, first.visits));
        for line in drawn(&search).lines() {
            assert!(before.contains(line), "{line}");
        }
        search.begin(budget(100), &mut generator(8, Purpose::Play, 0));
        run(&mut search, 4);
        assert_sound(&search);
        let all: u32 = search.root_moves().iter().map(|it| it.visits).sum();
        assert_eq!((all, search.finish().simulations), (kept + 100, 100));
        search.advance(reply);
        assert_sound(&search);
    }
}

/// Every move has its own line and chances; the best one's line is what the search expects.
#[test]
fn moves_have_lines_and_chances() {
    let mut search = search("minishogi", None, SearchKind::Gumbel);
    search.begin(budget(200), &mut generator(7, Purpose::Play, 0));
    run(&mut search, 4);
    let expected = search.principal_variation();
    assert_eq!(search.line(expected[0]), expected);
    for it in search.root_moves() {
        assert_eq!(search.line(it.mv)[0], it.mv);
        let sum = it.wdl.win + it.wdl.draw + it.wdl.loss;
        let all = if it.visits > 0 { 1.0 } else { 0.0 };
        assert!((sum - all).abs() < 1e-4 && (it.wdl.score() - it.score).abs() < 1e-4, "{it:?}");
    }
    let rules = Arc::clone(search.game().rules());
    let other = Move::from_usi(&rules, search.game().position(), "5d5c").unwrap();
    search.advance(other);
    assert!(search.line(other).is_empty(), "it is no move any more");
}

/// Only what is allowed is looked at and played, by both searches, with any number of simulations.
#[test]
fn a_restricted_root_plays_what_is_allowed() {
    for kind in [SearchKind::Gumbel, SearchKind::Puct] {
        for simulations in [0, 1, 50] {
            let mut search = search("minishogi", None, kind);
            let only: Vec<Move> = ["5d5c", "4e4d"]
                .iter()
                .map(|usi| {
                    Move::from_usi(search.game().rules(), search.game().position(), usi).unwrap()
                })
                .collect();
            search.restrict(&only);
            let budget = Budget { considered: 2, ..budget(simulations) };
            search.begin(budget, &mut generator(7, Purpose::Play, 0));
            run(&mut search, 4);
            assert!(search.lines(10).iter().all(|line| only.contains(&line.moves[0])));
            let looked_at = search.root_moves().into_iter().filter(|it| it.visits > 0);
            assert!(looked_at.into_iter().all(|it| only.contains(&it.mv)));
            assert!(only.contains(&search.finish().mv), "{kind:?} {simulations}");
        }
    }
}
