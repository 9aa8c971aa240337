//! Records for chess programs, read back by resolving every move among the legal ones.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Color, Game, Move, Outcome, Rules, pgn_record};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A game of legal moves, taken by a fixed rule that looks random.
fn some_game(rules: &Arc<Rules>, seed: u64) -> Game {
    let mut game = Game::new(Arc::clone(rules));
    let (mut legal, mut state) = (Vec::new(), seed);
    while game.conclusion().is_none() && game.ply() < 120 {
        game.legal_moves(&mut legal);
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        game.play(legal[(state >> 33) as usize % legal.len()]);
    }
    game
}

/// The moves of a record, each the only legal one that is written so.
fn read(rules: &Arc<Rules>, text: &str) -> Vec<Move> {
    let (_, moves) = text.split_once("\n\n").unwrap();
    let mut game = Game::new(Arc::clone(rules));
    let mut legal = Vec::new();
    let is_move =
        |word: &&str| !word.ends_with('.') && !["1-0", "0-1", "1/2-1/2", "*"].contains(word);
    for word in moves.split_whitespace().filter(is_move) {
        game.legal_moves(&mut legal);
        let named = |mv: &&Move| mv.to_san(rules, game.position()) == word;
        let found: Vec<Move> = legal.iter().filter(named).copied().collect();
        assert_eq!(found.len(), 1, "{word}: {found:?}");
        game.play(found[0]);
    }
    game.moves().collect()
}

#[test]
fn games_are_read_back_from_their_records() {
    for name in ["minishogi", "shogi", "doubutsu", "microshogi", "kyoto"] {
        let rules = Arc::new(Rules::load(name).unwrap());
        for seed in 0..10 {
            let game = some_game(&rules, seed);
            let text = pgn_record(&game, ["A", "B"], Some(Outcome::Draw), "");
            assert_eq!(read(&rules, &text), game.moves().collect::<Vec<_>>(), "{name}: {text}");
            assert!(text.lines().all(|line| line.len() <= 79));
        }
    }
}

#[test]
fn no_two_legal_moves_are_written_alike() {
    for name in ["minishogi", "shogi", "tori"] {
        let rules = Arc::new(Rules::load(name).unwrap());
        let mut legal = Vec::new();
        for seed in 0..5 {
            let mut game = some_game(&rules, seed);
            while game.undo().is_some() {
                game.legal_moves(&mut legal);
                let named: BTreeSet<String> =
                    legal.iter().map(|mv| mv.to_san(&rules, game.position())).collect();
                assert_eq!(named.len(), legal.len(), "{name}: {named:?}");
            }
        }
    }
}

#[test]
fn moves_are_written_as_xboard_does() {
    let rules = Rules::load("minishogi").unwrap();
    let shogi = Rules::load("shogi").unwrap();
    let cases = [
        (&rules, "rbsgk/4p/5/P4/KGSBR b - 1", "5d5c", "Pa3"),
        (&rules, "4k/5/5/5/K4 b P 1", "P*3c", "P@c3"),
        // To promote or not, and a promoted piece.
        (&rules, "4k/1S3/5/5/K4 b - 1", "4b3a+", "Sc5+"),
        (&rules, "4k/1S3/5/5/K4 b - 1", "4b3a", "Sc5="),
        (&rules, "4k/5/2+R2/5/K4 b - 1", "3c3d", "+Rc2"),
        // A capture; two golds that could go there: by file, by rank.
        (&rules, "4k/5/1p3/1R3/K4 b - 1", "4d4c", "Rxb3"),
        (&rules, "4k/5/5/G1G2/K4 b - 1", "5d4d", "Gab2"),
        (&shogi, "8k/9/9/9/4G4/9/4G4/9/K8 b - 1", "5e5f", "G5e4"),
    ];
    for (rules, sfen, usi, san) in cases {
        let position = keiko_rules::Position::from_sfen(rules, sfen).unwrap();
        let mv = Move::from_usi(rules, &position, usi).unwrap();
        assert_eq!(mv.to_san(rules, &position), san);
    }
}

#[test]
fn a_record_says_where_it_begins_and_who_won() {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let mut game = Game::from_sfen(Arc::clone(&rules), "4k/5/5/P4/KGSBR w - 1").unwrap();
    game.play(Move::from_usi(&rules, game.position(), "1a2a").unwrap());
    game.play(Move::from_usi(&rules, game.position(), "1e1a+").unwrap());
    let won = Some(Outcome::Win(Color::Black));
    let text = pgn_record(&game, ["the \"one\"", "other"], won, "resignation");
    let expected = r#"[Event "keiko match"]
[Site "?"]
[Date "????.??.??"]
[Round "-"]
[White "the \"one\""]
[Black "other"]
[Result "1-0"]
[Variant "minishogi"]
[FEN "4k/5/5/P4/KGSBR[] b - - 0 1"]
[SetUp "1"]
[Termination "resignation"]

1... Kd5 2. Re5+ 1-0
"#;
    assert_eq!(text, expected);
}
