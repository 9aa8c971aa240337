//! Rules that have names, each on a position that shows it.

#![allow(clippy::unwrap_used)]

use keiko_rules::{Color, Ending, Game, Move, Outcome, Position, Reason, Rules};
use std::sync::Arc;

/// A game from a diagram: a line a rank, a word a square, dots for empty ones; behind the last
/// rank the side to move, the hands and the move number, as in an SFEN.
fn game(variant: &str, diagram: &str) -> Game {
    game_of(Rules::load(variant).unwrap(), diagram)
}

fn game_of(rules: Rules, diagram: &str) -> Game {
    let rules = Arc::new(rules);
    let words: Vec<&str> = diagram.split_whitespace().collect();
    let (board, rest) = words.split_at(rules.squares());
    let rank = |squares: &[&str]| {
        let runs = squares.chunk_by(|one, other| (*one == ".") == (*other == "."));
        runs.map(|run| if run[0] == "." { run.len().to_string() } else { run.concat() }).collect()
    };
    let ranks: Vec<String> = board.chunks(rules.files()).map(rank).collect();
    Game::from_sfen(rules, &format!("{} {}", ranks.join("/"), rest.join(" "))).unwrap()
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
    let game = game(
        "minishogi",
        "
        . . . . k
        . . K . .
        . . . G .
        . . . . .
        . . . . .   b P 1",
    );
    assert_eq!(moves(&game).len(), 27);
    assert!(moves_like(&game, "P*1b").is_empty());
    assert!(refused(&game, "P*1b").contains("may not be dropped to mate"));
}

#[test]
fn pawn_drop_may_check() {
    let game = game(
        "minishogi",
        "
        . . . . k
        . . . . .
        . . . . .
        . . . . G
        K . . . .   b P 1",
    );
    assert_eq!(moves_like(&game, "P*1b"), ["P*1b"]);
}

#[test]
fn a_pawn_move_may_mate() {
    let mut game = game(
        "minishogi",
        "
        . . . . k
        . . K . .
        . . . G P
        . . . . .
        . . . . .   b - 1",
    );
    play(&mut game, "1c1b");
    assert_eq!(game.ending(), win(Color::Black, Reason::Mate));
}

#[test]
fn no_second_pawn_on_a_file() {
    let with_pawn = game(
        "minishogi",
        "
        . . . . k
        . . . . .
        . . . . .
        P . . . .
        K . . . .   b P 1",
    );
    assert!(moves_like(&with_pawn, "P*5").is_empty());
    assert!(refused(&with_pawn, "P*5c").contains("on a file"));
    let with_tokin = game(
        "minishogi",
        "
         .  .  .  .  k
        +P  .  .  .  .
         .  .  .  .  .
         .  .  .  .  .
         K  .  .  .  .   b P 1",
    );
    assert_eq!(moves_like(&with_tokin, "P*5"), ["P*5c", "P*5d"]);
}

#[test]
fn no_piece_without_a_move() {
    let mini = game(
        "minishogi",
        "
        k . . . .
        . . . . P
        . . . . .
        . . . . .
        K . . . .   b P 1",
    );
    assert_eq!(moves_like(&mini, "1b1a"), ["1b1a+"]);
    assert!(refused(&mini, "1b1a").contains("must turn over"));
    assert!(moves_like(&mini, "P*").iter().all(|mv| !mv.ends_with('a')));
    assert!(refused(&mini, "P*3a").contains("could never move"));
    let shogi = game(
        "shogi",
        "
        . . . . . . . . k
        . . . . . . . . .
        . N . . L . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . K . . . .   b NLP 1",
    );
    assert_eq!(moves_like(&shogi, "8c7a"), ["8c7a+"]);
    assert_eq!(moves_like(&shogi, "5c5b"), ["5c5b", "5c5b+"]);
    assert!(moves_like(&shogi, "N*").iter().all(|mv| !mv.ends_with(['a', 'b'])));
    assert!(moves_like(&shogi, "L*").iter().all(|mv| !mv.ends_with('a')));
}

#[test]
fn promotion_is_a_choice_in_into_and_out_of_the_zone() {
    let into = game(
        "minishogi",
        "
        . . . . k
        . S . . .
        . . . . .
        . . . . .
        K . . . .   b - 1",
    );
    assert_eq!(moves_like(&into, "4b4a"), ["4b4a", "4b4a+"]);
    assert_eq!(moves_like(&into, "4b5c"), ["4b5c"]);
    let out = game(
        "minishogi",
        "
        S . . . k
        . . . . .
        . . . . .
        . . . . .
        K . . . .   b - 1",
    );
    assert_eq!(moves_like(&out, "5a"), ["5a4b", "5a4b+"]);
    let within = game(
        "minishogi",
        "
        R . b . k
        . . . . .
        . . . . .
        . . . . .
        K . . . .   b - 1",
    );
    assert_eq!(moves_like(&within, "5a4a"), ["5a4a", "5a4a+"]);
}

#[test]
fn stalemate_loses() {
    let game = game(
        "minishogi",
        "
        . . . . k
        . . K . .
        . . . . G
        . . . . .
        . . . . .   w - 1",
    );
    assert!(!game.in_check());
    assert_eq!(game.ending(), win(Color::Black, Reason::Stalemate));
}

#[test]
fn a_pinned_piece_stays_on_its_line() {
    let game = game(
        "minishogi",
        "
        k . . . r
        . . . . .
        . . . . .
        . . . . G
        . . . . K   b - 1",
    );
    assert_eq!(moves_like(&game, "1d"), ["1d1c"]);
    assert!(refused(&game, "1d2d").contains("leaves the mover's K attacked"));
}

const SHUFFLE: &str = "1e1d 5a5b 1d1e 5b5a ";

#[test]
fn first_mover_loses_on_fourth_repetition() {
    let mut game = game(
        "minishogi",
        "
        r b s g k
        . . . . p
        . . . . .
        P . . . .
        K G S B R   b - 1",
    );
    play(&mut game, &SHUFFLE.repeat(3)[..SHUFFLE.len() * 3 - 6]);
    assert_eq!(game.ending(), None);
    play(&mut game, "5b5a");
    assert_eq!(game.repetition().occurrences, 4);
    assert_eq!(game.ending(), win(Color::White, Reason::Repetition));
}

#[test]
fn first_mover_loses_on_fourth_repetition_in_handicap_games() {
    let mut game = game(
        "minishogi",
        "
        . b s g k
        . . . . p
        . . . . .
        P . . . .
        K G S B R   w - 1",
    );
    assert_eq!(game.first_mover(), Color::White);
    play(&mut game, &"2a2b 1e1d 2b2a 1d1e ".repeat(3));
    assert_eq!(game.ending(), win(Color::Black, Reason::Repetition));
}

#[test]
fn an_even_move_number_means_that_the_other_side_began() {
    let mut game = game(
        "minishogi",
        "
        r b s g k
        . . . . p
        . . . . .
        P . . . .
        K G S B R   b - 8",
    );
    assert_eq!(game.first_mover(), Color::White);
    play(&mut game, &SHUFFLE.repeat(3));
    assert_eq!(game.ending(), win(Color::Black, Reason::Repetition));
}

const CHECKS: &str = "2e1e 1a2a 1e2e 2a1a ";
const QUIET: &str = "5e5d 1a1b 5d5e 1b1a ";

#[test]
fn perpetual_check_loses() {
    let mut game = game(
        "shogi",
        "
        . . . . . . . . k
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        K . . . . . . R .   b - 1",
    );
    play(&mut game, &"2i1i 1a2a 1i2i 2a1a ".repeat(3));
    assert_eq!(game.repetition().checks, [6, 0]);
    assert_eq!(game.ending(), win(Color::White, Reason::PerpetualCheck));
}

#[test]
fn perpetual_check_goes_before_the_first_mover() {
    // White began, and would lose by plain repetition; but Black gave check throughout.
    let mut game = game(
        "minishogi",
        "
        . . . . k
        . . . . .
        . . . . .
        . . . . .
        K . . R .   b - 2",
    );
    assert_eq!(game.repetition().loser, Some(Color::White));
    play(&mut game, &CHECKS.repeat(3));
    assert_eq!(game.ending(), win(Color::White, Reason::PerpetualCheck));
}

#[test]
fn one_quiet_move_makes_a_check_not_perpetual() {
    let mut game = game(
        "shogi",
        "
        . . . . . . . . k
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        K . . . . . . R .   b - 1",
    );
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
    let mut game = game(
        "minishogi",
        "
        . . . . k
        . . . . .
        . . . . .
        . . . . .
        K . . R .   b - 1",
    );
    game.set_ply_limit(Some(12));
    play(&mut game, QUIET);
    play(&mut game, &CHECKS.repeat(2));
    assert_eq!(game.ending(), win(Color::White, Reason::Repetition));
    game.undo();
    assert_eq!(game.ending(), None);
    play(&mut game, "2a3a");
    assert_eq!(game.ending(), draw(Reason::PlyLimit));
    let mut game = self::game(
        "minishogi",
        "
        . . . . k
        . . K . .
        . . . G P
        . . . . .
        . . . . .   b - 1",
    );
    game.set_ply_limit(Some(1));
    play(&mut game, "1c1b");
    assert_eq!(game.ending(), win(Color::Black, Reason::Mate));
}

#[test]
fn a_lion_may_be_left_en_prise_and_taken() {
    let mut game = game(
        "doubutsu",
        "
        . . .
        . l .
        . . .
        . L .   b - 1",
    );
    play(&mut game, "2d2c");
    assert!(game.in_check());
    play(&mut game, "2b2c");
    assert_eq!(game.ending(), win(Color::White, Reason::RoyalCaptured));
    assert!(moves(&game).is_empty());
    assert!(refused(&game, "2c2b").contains("the game is over"));
}

#[test]
fn a_safe_try_wins_at_once() {
    let mut game = game(
        "doubutsu",
        "
        . . .
        . . L
        l . .
        . . .   b - 1",
    );
    play(&mut game, "1b1a");
    assert_eq!(game.ending(), win(Color::Black, Reason::Try));
    assert!(moves(&game).is_empty());
}

#[test]
fn a_try_under_attack_wins_when_it_is_not_taken() {
    let mut game = game(
        "doubutsu",
        "
        . g .
        . . L
        l . .
        . . .   b - 1",
    );
    play(&mut game, "1b1a");
    assert_eq!(game.ending(), None);
    play(&mut game, "2a3a");
    assert_eq!(game.ending(), win(Color::Black, Reason::Try));
}

#[test]
fn a_chick_turns_by_moving_only() {
    let mut game = game(
        "doubutsu",
        "
        . . .
        . . C
        l . .
        . . L   b C 1",
    );
    assert_eq!(moves_like(&game, "1b1a"), ["1b1a+"]);
    let lenient = Move::from_usi(game.rules(), game.position(), "1b1a").unwrap();
    assert_eq!(lenient.to_usi(game.rules()), "1b1a+");
    play(&mut game, "C*2a 3c3b");
    assert!(moves_like(&game, "2a").is_empty(), "a dropped chick stays a chick, and stays");
}

#[test]
fn a_captured_hen_is_a_chick() {
    let mut game = game(
        "doubutsu",
        "
        +C  .  .
         l  .  .
         .  .  .
         .  .  L   w - 1",
    );
    play(&mut game, "3b3a");
    assert_eq!(game.position().to_sfen(game.rules()), "l2/3/3/2L b c 2");
}

#[test]
fn third_repetition_draws_in_doubutsu() {
    let mut game = game(
        "doubutsu",
        "
        g l e
        . c .
        . C .
        E L G   b - 1",
    );
    play(&mut game, &"1d1c 3a3b 1c1d 3b3a ".repeat(2));
    assert_eq!(game.ending(), draw(Reason::Repetition));
}

#[test]
fn a_full_hand_captures_nothing_but_the_lion() {
    let full = "
        . l .
        . G .
        c . c
        . L .   b G2E2C 1";
    let limited = game(
        "doubutsu_h5",
        "
        . l .
        . G .
        . c .
        . L .   b G2EC 1",
    );
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
    let game = game(
        "shogi_h5",
        "
        k . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . R . . . . . . K   w 5P 1",
    );
    assert!(moves_like(&game, "9a8").is_empty());
}

#[test]
fn micro_captures_turn_the_capturing_piece_both_ways() {
    let mut game = game(
        "microshogi",
        "
        k . . .
        . . . .
        . . s .
        . . G .
        . . . K   b - 1",
    );
    assert_eq!(moves_like(&game, "2d2c"), ["2d2c+"]);
    for spelling in ["2d2c", "2d2c-", "2d2c+"] {
        let mv = Move::from_usi(game.rules(), game.position(), spelling).unwrap();
        assert_eq!(mv.to_usi(game.rules()), "2d2c+");
    }
    play(&mut game, "2d2c+");
    assert_eq!(game.position().to_sfen(game.rules()), "k3/4/2+G1/4/3K w S 2");
    let back = self::game(
        "microshogi",
        "
         k  .  .  .
         .  .  .  .
         .  .  s  .
         .  .  .  .
         .  . +G  K   b - 1",
    );
    assert_eq!(moves_like(&back, "2e2c"), ["2e2c+"]);
    assert_eq!(moves_like(&back, "2e2d"), ["2e2d"]);
}

#[test]
fn micro_drops_show_either_face_anywhere() {
    let game = game(
        "microshogi",
        "
        k . . .
        . . . .
        . . . .
        P . . .
        . . . K   b P 1",
    );
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

#[test]
fn when_both_sides_check_throughout_it_is_plain_repetition() {
    // Where a check need not be answered: giraffe and elephant both attack a lion all the time.
    let text = Rules::load("doubutsu").unwrap().source().to_owned();
    let text = text.replace("\"draw\" }", "\"draw\", perpetual_check = \"loses\" }");
    let rules = Rules::from_toml(&text, "test").unwrap();
    let mut game = game_of(
        rules,
        "
        l . g
        G . .
        E e .
        . . L   b - 1",
    );
    play(&mut game, &"3c2b 1a2a 2b3c 2a1a ".repeat(2));
    assert_eq!(game.repetition().checks, [4, 4]);
    assert_eq!(game.ending(), draw(Reason::Repetition));
}

#[test]
fn kyoto_every_move_turns_the_piece() {
    let mut game = game(
        "kyoto",
        "
        . . k . .
        . . . . .
        . . . . .
        . . P . .
        . . K . .   b - 1",
    );
    assert_eq!(moves_like(&game, "3d"), ["3d3c+"]);
    play(&mut game, "3d3c 3a2a");
    assert_eq!(moves_like(&game, "3c5"), ["3c5c+"], "a rook now, and then a pawn again");
    assert!(moves_like(&game, "3e").iter().all(|mv| !mv.ends_with('+')), "the king stays itself");
}

#[test]
fn tori_two_swallows_on_a_file_but_no_third() {
    let game = game(
        "tori",
        "
        k . . . . . .
        . . . . . . .
        . . . . . S .
        . . . . . S S
        . . . . . . .
        . . . . . . .
        . . . K . . .   b S 1",
    );
    assert!(moves_like(&game, "S*2").is_empty());
    assert!(refused(&game, "S*2e").contains("may have 2 S on a file"));
    assert_eq!(moves_like(&game, "S*1"), ["S*1b", "S*1c", "S*1e", "S*1f", "S*1g"]);
}

#[test]
fn tori_a_swallow_may_not_be_dropped_to_mate() {
    let game = game(
        "tori",
        "
        . . . . . . k
        . . . . F . .
        . . . . . . K
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .   b S 1",
    );
    assert!(moves_like(&game, "S*1b").is_empty());
    assert!(refused(&game, "S*1b").contains("may not be dropped to mate"));
}

#[test]
fn tori_turning_is_forced_in_the_zone() {
    let game = game(
        "tori",
        "
        k . . . . . .
        . . . . . . .
        . . . F . . S
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . K . . .   b - 1",
    );
    assert_eq!(moves_like(&game, "1c"), ["1c1b+"]);
    assert_eq!(moves_like(&game, "4c4"), ["4c4b+"]);
}

#[test]
fn tori_whoever_completes_the_repetition_loses() {
    let mut game = game(
        "tori",
        "
        . . . k . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . K . . .   b - 1",
    );
    play(&mut game, &"4g4f 4a4b 4f4g 4b4a ".repeat(3));
    assert_eq!(game.ending(), win(Color::Black, Reason::Repetition), "White came back last");
    assert_eq!(game.repetition().loser, Some(Color::White));
}

#[test]
fn shatranj_pawns_capture_aslant_and_become_a_ferz() {
    let game = game(
        "shatranj",
        "
        . . . . . . . k
        . P . . . . . .
        . . . . . . . .
        . . . . n r . .
        . . . . P . . .
        . . . . . . . .
        . . . . . . . .
        K . . . . . . .   b - 1",
    );
    assert_eq!(moves_like(&game, "4e"), ["4e3d"]);
    assert_eq!(moves_like(&game, "7b"), ["7b7a+"]);
}

#[test]
fn a_bare_royal_loses() {
    let mut game = game(
        "shatranj",
        "
        . . . . . . . k
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .
        . R . . n . . .
        . . . . . . . .
        K . . . . . R .   b - 1",
    );
    play(&mut game, "7f4f");
    assert_eq!(game.ending(), win(Color::Black, Reason::BareRoyal));
    assert!(moves(&game).is_empty());
}

#[test]
fn a_bare_royal_may_bare_the_other_at_once_for_a_draw() {
    let diagram = "
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .
        . . . . . k . .
        . . . . R n . .
        . . . . . . . .
        . . . . . . . .
        K . . . . . . .   b - 1";
    let mut bares = game("shatranj", diagram);
    play(&mut bares, "4e3e");
    assert_eq!(bares.ending(), None, "the rook can be taken");
    play(&mut bares, "3d3e");
    assert_eq!(bares.ending(), draw(Reason::BareRoyal));
    let mut misses = game("shatranj", diagram);
    play(&mut misses, "4e3e 3d2d");
    assert_eq!(misses.ending(), win(Color::Black, Reason::BareRoyal));
}

const ENTERED: &str = "
        G S G R K B . . .
        P P P P P P P P .
        R . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . k   ";

#[test]
fn an_entered_king_with_28_points_may_declare() {
    // R R B and 11 more in the camp: 26; in hand N N: 28.
    let mut game = game("shogi", &format!("{ENTERED} b 2N 1"));
    let king = game.rules().entering_king(game.position(), Color::Black);
    assert_eq!((king.in_camp, king.pieces, king.points), (true, 14, 28));
    let declared = game.rules().declaration(game.position());
    assert_eq!(declared, win(Color::Black, Reason::Declaration));
    assert_eq!(game.ending(), None, "a declaration is not made by itself");
    assert_eq!(game.conclusion(), declared, "but a player makes it");
    assert!(!moves(&game).is_empty(), "and it is not a move");
    let mv = Move::from_usi(game.rules(), game.position(), "5a5c");
    assert!(mv.is_err(), "a king steps");
    play(&mut game, "9c9d");
    assert_eq!(game.conclusion(), None, "White has nothing to declare");
}

#[test]
fn an_entered_king_with_27_points_may_not_if_it_is_blacks() {
    let game = game("shogi", &format!("{ENTERED} b N 1"));
    assert_eq!(game.rules().declaration(game.position()), None);
}

#[test]
fn a_king_in_check_may_not_declare() {
    let checked = ENTERED.replacen("G S G R K", "G S G r K", 1);
    let game = game("shogi", &format!("{checked} b R2N 1"));
    assert!(game.in_check());
    assert_eq!(game.rules().declaration(game.position()), None);
}

#[test]
fn entered_kings_are_counted_at_the_ply_limit() {
    let both = "
        . . . . K . . . .
        P . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . k . . . .   b R2B4G4S4N4L8Pr9p 1";
    let mut game = game("shogi", both);
    game.set_ply_limit(Some(1));
    play(&mut game, "5a4a");
    assert_eq!(game.rules().count_points(game.position(), Color::Black), 40);
    assert_eq!(game.ending(), win(Color::Black, Reason::PlyLimit));
}

#[test]
fn the_ply_limit_is_a_draw_where_nobody_counts() {
    let mut game = game(
        "minishogi",
        "
        k . . . .
        . . . . .
        . . . . .
        . . . . .
        . . . . K   b - 1",
    );
    game.set_ply_limit(Some(1));
    play(&mut game, "1e1d");
    assert_eq!(game.ending(), draw(Reason::PlyLimit));
}

#[test]
fn checks_are_counted_from_the_first_occurrence() {
    let mut game = game(
        "minishogi",
        "
        . . . . k
        . . . . .
        . . . . .
        . . . . .
        K . . R .   b - 1",
    );
    play(&mut game, "2e1e 1a2a 1e2e");
    let first = game.repetition();
    assert_eq!((first.occurrences, first.series, first.checks), (1, [2, 0], [0, 0]));
    play(&mut game, "2a1a 2e1e 1a2a 1e2e");
    let second = game.repetition();
    assert_eq!((second.occurrences, second.series, second.checks), (2, [4, 0], [2, 0]));
}
