//! Laws of matches: pairs, colours, and moves that follow from the game's number.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Move, Rules};
use keiko_selfplay::{SearchConfig, UniformEvaluator};
use keiko_trainer::arena::{
    Match, Played, Player, PlayerError, RandomPlayer, SearchPlayer, Turn, first_players_color,
    tally,
};
use keiko_trainer::elo::GameResult;
use std::sync::Arc;

fn contest(pairs: u64, side_by_side: u64) -> Match {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    Match { rules, seed: 3, pairs, opening_plies: 4, ply_limit: 200, side_by_side }
}

fn random() -> RandomPlayer {
    RandomPlayer { seed: 1 }
}

fn searcher() -> SearchPlayer<UniformEvaluator> {
    let search = SearchConfig::without_mates(64);
    SearchPlayer { evaluator: UniformEvaluator::default(), search, simulations: 256 }
}

fn moves(played: &[Played]) -> Vec<Vec<Move>> {
    played.iter().map(|game| game.game.moves().collect()).collect()
}

#[test]
fn both_games_of_a_pair_begin_alike_and_colours_swap() {
    let played = contest(6, 4).play(&mut [(random(), random())], |_| (), || false).unwrap();
    assert_eq!(played.len(), 12);
    for pair in moves(&played).chunks(2) {
        assert_eq!(pair[0][..4], pair[1][..4]);
    }
    assert_ne!(first_players_color(0), first_players_color(1));
    assert_eq!(tally(&played).games().games(), 12);
}

#[test]
fn threads_and_groups_change_no_game() {
    let one = contest(8, 16).play(&mut [(random(), searcher())], |_| (), || false).unwrap();
    let mut three = [(random(), searcher()), (random(), searcher()), (random(), searcher())];
    let many = contest(8, 3).play(&mut three, |_| (), || false).unwrap();
    assert_eq!(moves(&one), moves(&many));
}

#[test]
fn search_beats_random_play() {
    let played = contest(10, 20).play(&mut [(searcher(), random())], |_| (), || false).unwrap();
    let strength = tally(&played).strength().unwrap();
    assert!(strength.score.low > 0.5, "{strength}");
}

/// Always the same move, legal or not.
struct Stubborn;

impl Player for Stubborn {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        _stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Move>>, PlayerError> {
        let rules = turns.first().map(|turn| Arc::clone(turn.game.rules()));
        let mv = rules.map(|rules| Move::from_usi(&rules, rules.start(), "5d5c").unwrap());
        Ok(turns.iter().map(|_| mv).collect())
    }
}

/// Gives up at once.
struct Resigns;

impl Player for Resigns {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        _stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Move>>, PlayerError> {
        Ok(vec![None; turns.len()])
    }
}

#[test]
fn an_illegal_move_and_a_resignation_lose_at_once() {
    let played = contest(2, 4).play(&mut [(Stubborn, random())], |_| (), || false).unwrap();
    assert!(played.iter().all(|game| game.result == GameResult::Loss && game.game.ply() < 10));
    let played = contest(2, 4).play(&mut [(random(), Resigns)], |_| (), || false).unwrap();
    assert!(played.iter().all(|game| game.result == GameResult::Win && game.ending.is_none()));
}
