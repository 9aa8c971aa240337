//! Rules that have names, each on a position that shows it.

#![allow(clippy::unwrap_used)]

use keiko_rules::{Color, Ending, Game, Move, Outcome, Position, Reason, Rules};
use std::sync::Arc;

fn game(variant: &str, sfen: &str) -> Game {
    Game::from_sfen(Arc::new(Rules::load(variant).unwrap()), sfen).unwrap()
}

fn moves(game: &Game) -> Vec<String> {
    let mut moves = Vec::new();
    game.legal_moves(&mut moves);
    moves.iter().map(|mv| mv.to_usi(game.rules())).collect()
}

/// The legal moves that begin with a text.
fn moves_like(game: &Game, start: &str) -> Vec<String> {
    let mut moves: Vec<String> = moves(game);
    moves.retain(|mv| mv.starts_with(start));
    moves.sort();
    moves
}

fn play(game: &mut Game, line: &str) {
    for text in line.split_whitespace() {
        let mv = Move::from_usi(game.rules(), game.position(), text).unwrap();
        game.play(mv);
    }
}

fn refused(game: &Game, text: &str) -> String {
    Move::from_usi(game.rules(), game.position(), text).unwrap_err().to_string()
}

fn win(color: Color, reason: Reason) -> Option<Ending> {
    Some(Ending { outcome: Outcome::Win(color), reason })
}

fn draw(reason: Reason) -> Option<Ending> {
    Some(Ending { outcome: Outcome::Draw, reason })
}

#[test]
fn pawn_drop_may_not_mate() {
    let game = game("minishogi", "4k/2K2/3G1/5/5 b P 1");
    assert_eq!(moves(&game).len(), 27);
    assert!(moves_like(&game, "P*1b").is_empty());
    assert!(refused(&game, "P*1b").contains("may not be dropped to mate"));
}

#[test]
fn pawn_drop_may_check() {
    let game = game("minishogi", "4k/5/5/4G/K4 b P 1");
    assert_eq!(moves_like(&game, "P*1b"), ["P*1b"]);
}

#[test]
fn a_pawn_move_may_mate() {
    let mut game = game("minishogi", "4k/2K2/3GP/5/5 b - 1");
    play(&mut game, "1c1b");
    assert_eq!(game.ending(), win(Color::Black, Reason::Mate));
}

#[test]
fn no_second_pawn_on_a_file() {
    let with_pawn = game("minishogi", "4k/5/5/P4/K4 b P 1");
    assert!(moves_like(&with_pawn, "P*5").is_empty());
    assert!(refused(&with_pawn, "P*5c").contains("on a file"));
    let with_tokin = game("minishogi", "4k/+P4/5/5/K4 b P 1");
    assert_eq!(moves_like(&with_tokin, "P*5"), ["P*5c", "P*5d"]);
}

#[test]
fn no_piece_without_a_move() {
    let mini = game("minishogi", "k4/4P/5/5/K4 b P 1");
    assert_eq!(moves_like(&mini, "1b1a"), ["1b1a+"]);
    assert!(refused(&mini, "1b1a").contains("must turn over"));
    assert!(moves_like(&mini, "P*").iter().all(|mv| !mv.ends_with('a')));
    assert!(refused(&mini, "P*3a").contains("could never move"));
    let shogi = game("shogi", "8k/9/1N2L4/9/9/9/9/9/4K4 b NLP 1");
    assert_eq!(moves_like(&shogi, "8c7a"), ["8c7a+"]);
    assert_eq!(moves_like(&shogi, "5c5b"), ["5c5b", "5c5b+"]);
    assert!(moves_like(&shogi, "N*").iter().all(|mv| !mv.ends_with(['a', 'b'])));
    assert!(moves_like(&shogi, "L*").iter().all(|mv| !mv.ends_with('a')));
}

#[test]
fn promotion_is_a_choice_in_into_and_out_of_the_zone() {
    let into = game("minishogi", "4k/1S3/5/5/K4 b - 1");
    assert_eq!(moves_like(&into, "4b4a"), ["4b4a", "4b4a+"]);
    assert_eq!(moves_like(&into, "4b5c"), ["4b5c"]);
    let out = game("minishogi", "S3k/5/5/5/K4 b - 1");
    assert_eq!(moves_like(&out, "5a"), ["5a4b", "5a4b+"]);
    let within = game("minishogi", "R1b1k/5/5/5/K4 b - 1");
    assert_eq!(moves_like(&within, "5a4a"), ["5a4a", "5a4a+"]);
}

#[test]
fn stalemate_loses() {
    let game = game("minishogi", "4k/2K2/4G/5/5 w - 1");
    assert!(!game.in_check());
    assert_eq!(game.ending(), win(Color::Black, Reason::Stalemate));
}

#[test]
fn a_pinned_piece_stays_on_its_line() {
    let game = game("minishogi", "k3r/5/5/4G/4K b - 1");
    assert_eq!(moves_like(&game, "1d"), ["1d1c"]);
    assert!(refused(&game, "1d2d").contains("leaves the mover's K attacked"));
}

const SHUFFLE: &str = "1e1d 5a5b 1d1e 5b5a ";

#[test]
fn first_mover_loses_on_fourth_repetition() {
    let mut game = game("minishogi", "rbsgk/4p/5/P4/KGSBR b - 1");
    play(&mut game, &SHUFFLE.repeat(3)[..SHUFFLE.len() * 3 - 6]);
    assert_eq!(game.ending(), None);
    play(&mut game, "5b5a");
    assert_eq!(game.repetition().occurrences, 4);
    assert_eq!(game.ending(), win(Color::White, Reason::Repetition));
}

#[test]
fn in_a_handicap_game_the_first_mover_is_white() {
    let mut game = game("minishogi", "1bsgk/4p/5/P4/KGSBR w - 1");
    assert_eq!(game.first_mover(), Color::White);
    play(&mut game, &"2a2b 1e1d 2b2a 1d1e ".repeat(3));
    assert_eq!(game.ending(), win(Color::Black, Reason::Repetition));
}

#[test]
fn an_even_move_number_means_that_the_other_side_began() {
    let mut game = game("minishogi", "rbsgk/4p/5/P4/KGSBR b - 8");
    assert_eq!(game.first_mover(), Color::White);
    play(&mut game, &SHUFFLE.repeat(3));
    assert_eq!(game.ending(), win(Color::Black, Reason::Repetition));
}

const CHECKS: &str = "2e1e 1a2a 1e2e 2a1a ";
const QUIET: &str = "5e5d 1a1b 5d5e 1b1a ";

#[test]
fn perpetual_check_loses() {
    let mut game = game("shogi", "8k/9/9/9/9/9/9/9/K6R1 b - 1");
    play(&mut game, &"2i1i 1a2a 1i2i 2a1a ".repeat(3));
    assert_eq!(game.repetition().checks, [6, 0]);
    assert_eq!(game.ending(), win(Color::White, Reason::PerpetualCheck));
}

#[test]
fn perpetual_check_goes_before_the_first_mover() {
    // White began, and would lose by plain repetition; but Black gave check throughout.
    let mut game = game("minishogi", "4k/5/5/5/K2R1 b - 2");
    assert_eq!(game.repetition().loser, Some(Color::White));
    play(&mut game, &CHECKS.repeat(3));
    assert_eq!(game.ending(), win(Color::White, Reason::PerpetualCheck));
}

#[test]
fn one_quiet_move_makes_a_check_not_perpetual() {
    let mut game = game("shogi", "8k/9/9/9/9/9/9/9/K6R1 b - 1");
    let checks = "2i1i 1a2a 1i2i 2a1a ";
    play(&mut game, "9i9h 1a1b 9h9i 1b1a");
    play(&mut game, &checks.repeat(2));
    assert_eq!(game.ending(), draw(Reason::Repetition));
    // Only the latest four occurrences count.
    play(&mut game, checks);
    assert_eq!(game.ending(), win(Color::White, Reason::PerpetualCheck));
}

#[test]
fn the_position_ends_a_game_before_repetition_and_that_before_the_ply_limit() {
    let mut game = game("minishogi", "4k/5/5/5/K2R1 b - 1");
    game.set_ply_limit(Some(12));
    play(&mut game, QUIET);
    play(&mut game, &CHECKS.repeat(2));
    assert_eq!(game.ending(), win(Color::White, Reason::Repetition));
    game.undo();
    assert_eq!(game.ending(), None);
    play(&mut game, "2a3a");
    assert_eq!(game.ending(), draw(Reason::PlyLimit));
    let mut game = self::game("minishogi", "4k/2K2/3GP/5/5 b - 1");
    game.set_ply_limit(Some(1));
    play(&mut game, "1c1b");
    assert_eq!(game.ending(), win(Color::Black, Reason::Mate));
}

#[test]
fn a_lion_may_be_left_en_prise_and_taken() {
    let mut game = game("doubutsu", "3/1l1/3/1L1 b - 1");
    play(&mut game, "2d2c");
    assert!(game.in_check());
    play(&mut game, "2b2c");
    assert_eq!(game.ending(), win(Color::White, Reason::RoyalCaptured));
    assert!(moves(&game).is_empty());
    assert!(refused(&game, "2c2b").contains("the game is over"));
}

#[test]
fn a_safe_try_wins_at_once() {
    let mut game = game("doubutsu", "3/2L/l2/3 b - 1");
    play(&mut game, "1b1a");
    assert_eq!(game.ending(), win(Color::Black, Reason::Try));
    assert!(moves(&game).is_empty());
}

#[test]
fn a_try_under_attack_wins_when_it_is_not_taken() {
    let mut game = game("doubutsu", "1g1/2L/l2/3 b - 1");
    play(&mut game, "1b1a");
    assert_eq!(game.ending(), None);
    play(&mut game, "2a3a");
    assert_eq!(game.ending(), win(Color::Black, Reason::Try));
}

#[test]
fn a_chick_turns_by_moving_only() {
    let mut game = game("doubutsu", "3/2C/l2/2L b C 1");
    assert_eq!(moves_like(&game, "1b1a"), ["1b1a+"]);
    let lenient = Move::from_usi(game.rules(), game.position(), "1b1a").unwrap();
    assert_eq!(lenient.to_usi(game.rules()), "1b1a+");
    play(&mut game, "C*2a 3c3b");
    assert!(moves_like(&game, "2a").is_empty(), "a dropped chick stays a chick, and stays");
}

#[test]
fn a_captured_hen_is_a_chick() {
    let mut game = game("doubutsu", "+C2/l2/3/2L w - 1");
    play(&mut game, "3b3a");
    assert_eq!(game.position().to_sfen(game.rules()), "l2/3/3/2L b c 2");
}

#[test]
fn third_repetition_draws_in_doubutsu() {
    let mut game = game("doubutsu", "gle/1c1/1C1/ELG b - 1");
    play(&mut game, &"1d1c 3a3b 1c1d 3b3a ".repeat(2));
    assert_eq!(game.ending(), draw(Reason::Repetition));
}

#[test]
fn a_full_hand_captures_nothing_but_the_lion() {
    let full = "1l1/1G1/c1c/1L1 b G2E2C 1";
    let limited = game("doubutsu_h5", "1l1/1G1/1c1/1L1 b G2EC 1");
    assert_eq!(moves_like(&limited, "2d2c"), ["2d2c"]);
    let limited = game("doubutsu_h5", full);
    assert_eq!(moves_like(&limited, "2b2a"), ["2b2a"]);
    assert!(moves_like(&limited, "2d3c").is_empty());
    assert!(refused(&limited, "2d3c").contains("with 5 pieces in hand Black may not capture"));
    let base = game("doubutsu", full);
    assert_eq!(moves_like(&base, "2d3c"), ["2d3c"]);
}

#[test]
fn a_full_hand_still_gives_check() {
    // The rook's capture of the king would be allowed, so the king may not step into its file.
    let game = game("shogi_h5", "k8/9/9/9/9/9/9/9/1R6K w 5P 1");
    assert!(moves_like(&game, "9a8").is_empty());
}

#[test]
fn micro_captures_turn_the_capturing_piece_both_ways() {
    let mut game = game("microshogi", "k3/4/2s1/2G1/3K b - 1");
    assert_eq!(moves_like(&game, "2d2c"), ["2d2c+"]);
    for spelling in ["2d2c", "2d2c-", "2d2c+"] {
        let mv = Move::from_usi(game.rules(), game.position(), spelling).unwrap();
        assert_eq!(mv.to_usi(game.rules()), "2d2c+");
    }
    play(&mut game, "2d2c+");
    assert_eq!(game.position().to_sfen(game.rules()), "k3/4/2+G1/4/3K w S 2");
    let back = self::game("microshogi", "k3/4/2s1/4/2+GK b - 1");
    assert_eq!(moves_like(&back, "2e2c"), ["2e2c+"]);
    assert_eq!(moves_like(&back, "2e2d"), ["2e2d"]);
}

#[test]
fn micro_drops_show_either_face_anywhere() {
    let game = game("microshogi", "k3/4/4/P3/3K b P 1");
    assert_eq!(moves_like(&game, "P*").len(), 17);
    assert_eq!(moves_like(&game, "+P*").len(), 17);
}

#[test]
fn a_hand_may_hold_more_than_nine_in_any_order() {
    let rules = Rules::load("shogi").unwrap();
    let sfen = "4k4/9/9/9/9/9/9/9/4K4 b p10P2GR 7";
    let position = Position::from_sfen(&rules, sfen).unwrap();
    assert_eq!(position.to_sfen(&rules), "4k4/9/9/9/9/9/9/9/4K4 b R2G10Pp 7");
}
