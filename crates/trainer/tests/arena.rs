//! Laws of matches: pairs, colours, and moves that follow from the game's number.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Move, Reason, Rules};
use keiko_selfplay::{SearchConfig, UniformEvaluator};
use keiko_trainer::arena::{
    Answer, Cause, Fault, Match, Played, Player, PlayerError, SearchPlayer, Turn,
    first_players_color, tally,
};
use keiko_trainer::elo::GameResult;
use keiko_trainer::opponents::RandomPlayer;
use std::sync::Arc;

fn contest(pairs: u64, side_by_side: usize) -> Match {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let starts = vec![Game::new(rules)];
    Match { starts, seed: 3, pairs, opening_plies: 4, ply_limit: 200, side_by_side }
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
    ) -> Result<Vec<Answer>, PlayerError> {
        let rules = turns.first().map(|turn| Arc::clone(turn.game.rules()));
        let mv = rules.map(|rules| Move::from_usi(&rules, rules.start(), "5d5c").unwrap());
        Ok(turns.iter().filter_map(|_| mv).map(Answer::Move).collect())
    }
}

/// Gives the same answer to everything.
struct Always(Answer);

impl Player for Always {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        _stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError> {
        Ok(vec![self.0; turns.len()])
    }
}

#[test]
fn an_illegal_move_and_a_resignation_lose_at_once() {
    let played = contest(2, 4).play(&mut [(Stubborn, random())], |_| (), || false).unwrap();
    let illegal = Cause::Fault(Fault::IllegalMove);
    let lost = |game: &Played| game.result == GameResult::Loss && game.cause == illegal;
    assert!(played.iter().all(|game| lost(game) && game.game.ply() < 10));
    for (answer, cause) in [
        (Answer::Resign, Cause::Reason(Reason::Resignation)),
        (Answer::Fault(Fault::Crash), Cause::Fault(Fault::Crash)),
    ] {
        let mut players = [(random(), Always(answer))];
        let played = contest(2, 4).play(&mut players, |_| (), || false).unwrap();
        let won = |game: &Played| game.result == GameResult::Win && game.cause == cause;
        assert!(played.iter().all(won));
    }
}

#[test]
fn some_of_the_games_are_the_same_as_among_all() {
    let all = contest(4, 4).play(&mut [(random(), random())], |_| (), || false).unwrap();
    let numbers = [1, 4, 7];
    let mut players = [(random(), random())];
    let some = contest(4, 2).play_these(&numbers, &mut players, |_| (), || false).unwrap();
    let same: Vec<&Played> = numbers.iter().map(|&number| &all[number as usize]).collect();
    for (one, other) in some.iter().zip(same) {
        assert_eq!(one.number, other.number);
        assert!(one.game.moves().eq(other.game.moves()));
        assert_eq!(one.times.len(), one.game.ply() - one.opening);
    }
}
