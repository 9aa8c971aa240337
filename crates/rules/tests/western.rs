//! FEN and UCI moves: round trips in every game, and against what fairy-stockfish writes.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Move, Position, Rules};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Games of each variant, and plies of each.
const GAMES: usize = 20;
const PLIES: usize = 80;

#[test]
fn every_position_and_move_of_random_games_comes_back() {
    for name in Rules::variants() {
        let rules = Arc::new(Rules::load(name).unwrap());
        // A linear congruential generator is random enough to wander.
        let mut dice = 17u64;
        for _ in 0..GAMES {
            let mut game = Game::new(Arc::clone(&rules));
            let mut moves = Vec::new();
            for _ in 0..PLIES {
                check(&game);
                if game.ending().is_some() {
                    break;
                }
                game.legal_moves(&mut moves);
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                game.play(moves[(dice >> 33) as usize % moves.len()]);
            }
        }
    }
}

fn check(game: &Game) {
    let (rules, position) = (game.rules(), game.position());
    let fen = position.to_fen(rules);
    let read = Position::from_fen(rules, &fen).unwrap();
    assert_eq!(read.to_fen(rules), fen);
    // Without drops a turned piece is written as the other piece that moves alike.
    if rules.name() != "shatranj" {
        assert_eq!(read, *position, "{fen}");
    }
    let (mut moves, mut texts) = (Vec::new(), BTreeSet::new());
    game.legal_moves(&mut moves);
    for &mv in &moves {
        let text = mv.to_uci(rules, position);
        assert_eq!(Move::from_uci(rules, position, &text), Ok(mv), "{fen} {text}");
        assert!(texts.insert(text), "{fen}: two moves have one name");
    }
}

/// Lines of `game, FEN, SFEN, legal moves` as `scripts/western_fixture.py` gets them.
const FAIRY: &str = include_str!("oracle/western.tsv");

#[test]
fn fairy_stockfish_writes_the_same() {
    for line in FAIRY.lines() {
        let [name, fen, sfen, moves] = line.split('\t').collect::<Vec<_>>()[..] else { panic!() };
        let rules = Rules::load(name).unwrap();
        let position = Position::from_fen(&rules, fen).unwrap();
        assert_eq!(position, Position::from_sfen(&rules, sfen).unwrap(), "{line}");
        assert_eq!(comparable(&position.to_fen(&rules)), comparable(fen), "{line}");
        let read = |text| Move::from_uci(&rules, &position, text).map_err(|it| it.to_string());
        let theirs: BTreeSet<Move> = moves.split(' ').map(|text| read(text).unwrap()).collect();
        // Fairy-Stockfish's lion may not be put where it can be taken, and its chicks need not
        // turn over.
        let mut ours = Vec::new();
        rules.legal_moves(&position, &mut ours);
        if name == "doubutsu" {
            ours.retain(|mv| theirs.contains(mv));
        }
        let ours: Vec<String> = ours.iter().map(|mv| mv.to_uci(&rules, &position)).collect();
        if name != "doubutsu" {
            assert_eq!(ours.len(), moves.split(' ').count(), "{line}\n{ours:?}");
        }
        let known: BTreeSet<&str> = moves.split(' ').collect();
        assert!(ours.iter().all(|mv| known.contains(mv.as_str())), "{line}\n{ours:?}");
    }
}

/// A FEN without what a program may choose: the order of a hand, the moves since a capture.
fn comparable(fen: &str) -> (String, Vec<char>, String) {
    let words: Vec<&str> = fen.split_whitespace().collect();
    let (board, hands) = words[0].split_once('[').unwrap_or((words[0], "none"));
    let mut letters: Vec<char> = hands.chars().collect();
    letters.sort_unstable();
    (board.to_owned(), letters, format!("{} {}", words[1], words[5]))
}

#[test]
fn shorter_forms_are_read() {
    let rules = Rules::load("minishogi").unwrap();
    let start = rules.start();
    for fen in
        ["rbsgk/4p/5/P4/KGSBR w", "rbsgk/4p/5/P4/KGSBR[-] w 0 1", "rbsgk/4p/5/P4/KGSBR[] w - - 1"]
    {
        assert_eq!(Position::from_fen(&rules, fen).as_ref(), Ok(start), "{fen}");
    }
    let hands = Position::from_fen(&rules, "4k/5/5/5/K4[PGGsPb2R] b - - 3 9").unwrap();
    assert_eq!(hands.to_sfen(&rules), "4k/5/5/5/K4 w 2R2G2Pbs 18");
    let zone = Position::from_fen(&rules, "4k/P4/5/5/4K[] w").unwrap();
    let silver = Position::from_fen(&rules, "4k/S4/5/5/4K[] w").unwrap();
    let read = |position, text| Move::from_uci(&rules, position, text).map(|it| it.to_usi(&rules));
    assert_eq!(read(&zone, "a4a5+").unwrap(), "5b5a+");
    assert_eq!(read(&silver, "a4a5=").unwrap(), "5b5a");
    assert_eq!(read(&silver, "a4a5").unwrap(), "5b5a");
    let shatranj = Rules::load("shatranj").unwrap();
    let pawn = Position::from_fen(&shatranj, "4k2r/P7/8/8/8/8/8/4K2R w").unwrap();
    let mv = Move::from_uci(&shatranj, &pawn, "a7a8q").unwrap();
    assert_eq!(
        (mv.to_usi(&shatranj), mv.to_uci(&shatranj, &pawn)),
        ("8b8a+".into(), "a7a8q".into())
    );
}

#[test]
fn what_is_wrong_is_said() {
    let rules = Rules::load("minishogi").unwrap();
    for (fen, part) in [
        ("", "a FEN has a board"),
        ("rbsgk/4p/5/P4/KGSBR", "a FEN has a board"),
        ("rbsgk/4p/5/P4/KGSBR[ w - - 0 1", "a FEN has a board"),
        ("rbsgk/4p/5/P4/KGSBR[] w - - 0 1 2", "a FEN has a board"),
        ("rbsgk/4p/5/P4/KGSBR[] x - - 0 1", "it must be `w`"),
        ("rbsgk/4p/5/P4/KGSBR[] w - - 0 x", "move number"),
        ("rbsgk/4p/5/P4/KGSBR[] w - - 0 4294967295", "move number"),
        ("rbsgk/4p/5/P4/KGSBR[X] w - - 0 1", "`X`"),
        ("rbsgk/4p/5/P4/KGSBR[P9] w - - 0 1", "without a letter"),
        ("rbsgk/4p/5/P4/KGSBR[999999999999P] w - - 0 1", "from 1 to 99"),
        ("rbsgk/4p/5/P4[] w - - 0 1", "4 ranks"),
    ] {
        let error = Position::from_fen(&rules, fen).unwrap_err().to_string();
        assert!(error.contains(part), "{fen}: {error}");
    }
    for (text, part) in [
        ("", "no move"),
        ("é1a2", "no move"),
        ("a2", "no move"),
        ("a2a9", "no move"),
        ("f1a2", "no move"),
        ("a2a3x", "no move"),
        ("P@", "no move"),
        ("P@a3+", "no move"),
        ("X@a3", "never dropped"),
        ("a2a4", "illegal"),
        ("a0a1", "no move"),
        ("a99999999999999999999a1", "no move"),
    ] {
        let error = Move::from_uci(&rules, rules.start(), text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
