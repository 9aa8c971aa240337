//! A search that has its memory asks for no more: nothing in its inner loop, rules and forced wins
//! included, allocates. Only a position with more moves than any before may make a list grow.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Rules};
use keiko_selfplay::{
    Budget, Evaluator, Purpose, Search, SearchConfig, SearchKind, UniformEvaluator, generator,
};
use std::sync::Arc;

const SIMULATIONS: u32 = 200;
/// Searches that are not counted.
const FIRST: u64 = 4;
/// Searches at most.
const LONGEST: u64 = 40;

fn simulate(search: &mut Search, evaluator: &mut UniformEvaluator) {
    while let Some(slot) = search.select(evaluator) {
        evaluator.run();
        search.backup(evaluator.read(slot));
    }
}

/// Allocations of a game's searches but the first ones, which find what memory it takes; and how
/// many searches those were. Each has less to do than the one before it had.
fn allocations(game: &str, kind: SearchKind) -> (u64, u64) {
    let rules = Arc::new(Rules::load(game).unwrap());
    let config = SearchConfig {
        kind,
        leaf_mate_plies: 3,
        leaf_mate_nodes: 100,
        root_mate_plies: 7,
        root_mate_nodes: 300,
        root_proof_nodes: 300,
        ..SearchConfig::without_mates(16)
    };
    let budget = |simulations| Budget { simulations, considered: 16, noise: 1.0, explores: true };
    let mut search = Search::new(Game::new(rules), config);
    let mut evaluator = UniformEvaluator::default();
    let (mut count, mut searches) = (0, 0);
    while search.game().conclusion().is_none() && searches < LONGEST {
        let mut rng = generator(1, Purpose::Play, searches);
        search.begin(budget(SIMULATIONS), &mut rng);
        let found = allocation_counter::measure(|| simulate(&mut search, &mut evaluator));
        if searches >= FIRST {
            count += found.count_total;
        }
        let mv = search.finish().mv;
        search.begin(budget(3 * SIMULATIONS), &mut rng);
        simulate(&mut search, &mut evaluator);
        search.play(mv);
        searches += 1;
    }
    assert!(searches > 2 * FIRST, "too short a game to say anything: {searches}");
    let searches = searches - FIRST;
    println!("{game}, {kind:?}: {count} allocations in {searches} searches of {SIMULATIONS}");
    (count, searches)
}

#[test]
fn nothing_allocates_between_the_beginning_and_the_end_of_a_search() {
    for game in ["minishogi", "doubutsu", "shogi"] {
        for kind in [SearchKind::Gumbel, SearchKind::Puct] {
            let (count, searches) = allocations(game, kind);
            assert!(2 * count < searches, "{count} allocations in {searches} searches");
        }
    }
}
