//! Times what a search does at every node, on positions of random games: `speed VARIANT`.

use keiko_rules::{Game, Rules};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Positions of random games, few enough to stay in the cache, as a search's one game does.
fn sample(rules: &Arc<Rules>) -> Vec<Game> {
    let (mut games, mut moves, mut state) = (Vec::new(), Vec::new(), 1u64);
    while games.len() < 200 {
        let mut game = Game::new(rules.clone());
        while game.ending().is_none() && game.ply() < 100 {
            games.push(Game::from_position(rules.clone(), *game.position()));
            game.legal_moves(&mut moves);
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            game.play(moves[(state >> 33) as usize % moves.len()]);
        }
    }
    games
}

fn time(name: &str, games: &mut [Game], mut action: impl FnMut(&mut Game)) {
    let begin = Instant::now();
    let rounds = 2000;
    for _ in 0..rounds {
        games.iter_mut().for_each(&mut action);
    }
    let nanoseconds = begin.elapsed().as_nanos() as f64 / (rounds * games.len()) as f64;
    println!("{name:<28} {nanoseconds:>6.0} ns");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let variant = std::env::args().nth(1).unwrap_or("minishogi".to_owned());
    let rules = Arc::new(Rules::load(&variant)?);
    let mut games = sample(&rules);
    let mut moves = Vec::new();
    let position_size = size_of_val(games[0].position());
    println!("{variant}: {} positions of {position_size} bytes", games.len());
    time("legal_moves", &mut games, |game| game.legal_moves(&mut moves));
    time("count_moves", &mut games, |game| {
        black_box(game.rules().count_moves(game.position()));
    });
    time("has_legal_move", &mut games, |game| {
        black_box(game.rules().has_legal_move(game.position()));
    });
    time("checks", &mut games, |game| game.rules().checks(game.position(), &mut moves));
    time("legal_moves, then gives_check", &mut games, |game| {
        game.legal_moves(&mut moves);
        moves.retain(|&mv| game.rules().gives_check(game.position(), mv));
    });
    let in_check = |game: &Game| game.in_check();
    let mut checked: Vec<Game> = games.iter().filter(|game| in_check(game)).cloned().collect();
    time("evasions, in check", &mut checked, |game| {
        game.rules().evasions(game.position(), &mut moves);
    });
    time("in_check", &mut games, |game| {
        black_box(game.rules().in_check(game.position()));
    });
    time("Game::ending", &mut games, |game| {
        black_box(game.ending());
    });
    time("legal_moves + Rules::play", &mut games, |game| {
        game.legal_moves(&mut moves);
        let mut next = *game.position();
        game.rules().play(&mut next, moves[0]);
        black_box(next);
    });
    time("legal_moves + Game play/undo", &mut games, |game| {
        game.legal_moves(&mut moves);
        game.play(moves[0]);
        game.undo();
    });
    Ok(())
}
