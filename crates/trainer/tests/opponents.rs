//! What the players do that need no network.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Rules};
use keiko_trainer::arena::{Answer, Match, Player, Turn, tally};
use keiko_trainer::opponents::{MatePlayer, MaterialPlayer, RandomPlayer};
use std::collections::BTreeSet;
use std::sync::Arc;

fn rules(name: &str) -> Arc<Rules> {
    Arc::new(Rules::load(name).unwrap())
}

/// A position of minishogi, and all its mates in one.
const MATE: (&str, [&str; 5]) = ("4k/5/3KP/5/5 b G 1", ["2c3b", "G*1b", "G*2b", "G*3a", "G*3b"]);

/// The moves a player would make in a position, over many games.
fn choices(player: &mut impl Player, rules: &Arc<Rules>, sfen: &str) -> BTreeSet<String> {
    let game = Game::from_sfen(Arc::clone(rules), sfen).unwrap();
    let turns: Vec<Turn<'_>> =
        (0..60).map(|number| Turn { game: &game, number, times: &[] }).collect();
    let answers = player.choose(&turns, &|| false).unwrap();
    let text = |answer| match answer {
        Answer::Move(mv) => mv.to_usi(rules),
        other => format!("{other:?}"),
    };
    answers.into_iter().map(text).collect()
}

#[test]
fn mate1_mates_in_one_and_is_random_otherwise() {
    let (mini, doubutsu) = (rules("minishogi"), rules("doubutsu"));
    let mut player = MatePlayer { seed: 1 };
    let mates = choices(&mut player, &mini, MATE.0);
    assert!(mates.iter().all(|mv| MATE.1.contains(&mv.as_str())), "{mates:?}");
    // Where a lion can be taken, that wins.
    let taken = choices(&mut player, &doubutsu, "3/1l1/1L1/3 b - 1");
    assert_eq!(taken, ["2c2b".to_owned()].into());
    assert!(choices(&mut player, &mini, mini.start_sfen()).len() > 5);
}

#[test]
fn material_takes_what_is_worth_most_and_sees_what_it_costs() {
    let mini = rules("minishogi");
    let hanging = "4k/5/r3b/R3B/K4 b - 1";
    // A ply ahead every capture is gain, and the rook is worth more.
    let mut one = MaterialPlayer::new(&mini, 1, 1);
    assert_eq!(choices(&mut one, &mini, hanging), ["5d5c".to_owned()].into());
    // A pawn is no prize for a rook, which is seen two plies ahead.
    let guarded = "4k/4r/4p/5/K3R b - 1";
    assert_eq!(choices(&mut one, &mini, guarded), ["1e1c".to_owned()].into());
    let mut two = MaterialPlayer::new(&mini, 2, 1);
    assert!(!choices(&mut two, &mini, guarded).contains("1e1c"));
    // Mate comes before material, and what is equally good is as likely.
    assert_eq!(choices(&mut two, &mini, MATE.0), MATE.1.map(str::to_owned).into());
    assert!(choices(&mut one, &mini, "4k/5/5/5/K3G b - 1").len() > 5);
}

#[test]
fn each_opponent_is_stronger_than_the_one_before() {
    let rules = rules("minishogi");
    let starts = vec![Game::new(Arc::clone(&rules))];
    let contest =
        Match { starts, seed: 3, pairs: 20, opening_plies: 4, ply_limit: 200, side_by_side: 8 };
    let material = |depth| MaterialPlayer::new(&rules, depth, 1);
    let score = |played: Vec<_>| tally(&played).strength().unwrap().score;
    let mate = contest
        .play(&mut [(MatePlayer { seed: 2 }, RandomPlayer { seed: 1 })], |_| (), || false)
        .unwrap();
    assert!(score(mate).low > 0.5);
    let shallow =
        contest.play(&mut [(material(1), MatePlayer { seed: 2 })], |_| (), || false).unwrap();
    assert!(score(shallow).low > 0.5);
    let deep = contest.play(&mut [(material(3), material(1))], |_| (), || false).unwrap();
    assert!(score(deep).low > 0.5);
}
