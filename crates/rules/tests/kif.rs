//! KIF records, ours and other programs', read back.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Move, Rules, kif_game, kif_text};
use proptest::prelude::*;
use std::sync::Arc;

/// A game of legal moves from a position, chosen by numbers.
fn game_of(start: Game, choices: &[u16]) -> Game {
    let (mut game, mut legal) = (start, Vec::new());
    for &choice in choices {
        if game.ending().is_some() {
            break;
        }
        game.legal_moves(&mut legal);
        game.play(legal[usize::from(choice) % legal.len()]);
    }
    game
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn games_of_every_variant_come_back(
        variant in prop::sample::select(Rules::variants()),
        choices in prop::collection::vec(any::<u16>(), 0..120),
        before in 0usize..40,
    ) {
        let rules = Arc::new(Rules::load(variant).unwrap());
        let whole = game_of(Game::new(Arc::clone(&rules)), &choices);
        // Also of positions with pieces turned and in hand, either side to move.
        let mut middle = Game::new(Arc::clone(&rules));
        whole.moves().take(before).for_each(|mv| middle.play(mv));
        let start = Game::from_position(Arc::clone(&rules), *middle.position());
        let rest = whole.moves().skip(before).fold(start, |mut game, mv| {
            game.play(mv);
            game
        });
        for game in [whole, rest] {
            let text = kif_text(&game, ["A", "B"]);
            let read = kif_game(&rules, &text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(read.start_position().key(), game.start_position().key(), "{}", text);
            prop_assert!(read.moves().eq(game.moves()), "{}", text);
        }
    }

    #[test]
    fn whatever_is_no_record_is_refused_or_read(text in "(.|[０-９一-九歩金玉同成打()|v・+ \n手番：の持駒先後]){0,60}") {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        drop(kif_game(&rules, &text));
    }
}

#[test]
fn records_of_other_programs_are_read() {
    let rules = Arc::new(Rules::load("shogi").unwrap());
    let text = "\u{feff}#KIF version=2.0 encoding=UTF-8\n手合割：平手　　\n先手：A\n後手：B\n\
                手数----指手---------消費時間--\n\
                \u{20}  1 ７六歩(77)   ( 0:16/00:00:16)\n*a comment\n\
                \u{20}  2 ３四歩(33)   ( 0:00/00:00:00)\n\
                \u{20}  3 ２二角成(88)   ( 0:05/00:00:21)\n\
                \u{20}  4 同　銀(31)   ( 0:00/00:00:00)\n\
                \u{20}  5 投了\nまで4手で後手の勝ち\n\n変化：2手\n   2 ８四歩(83)\n";
    let game = kif_game(&rules, text).unwrap();
    let moves: Vec<String> = game.moves().map(|mv: Move| mv.to_usi(&rules)).collect();
    assert_eq!(moves, ["7g7f", "3c3d", "8h2b+", "3a2b"]);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let mut game = Game::new(Arc::clone(&rules));
    game.play(Move::from_usi(&rules, game.position(), "5d5c").unwrap());
    let text = kif_text(&game, ["A", "B"]);
    let error = |text: &str| kif_game(&rules, text).unwrap_err().to_string();
    let other = text.replace("５三歩(54)", "５二歩(54)");
    assert!(
        error(&other).contains("line 16: `５二歩(54)` is no legal move of minishogi"),
        "{}",
        error(&other)
    );
    let piece = text.replace("v玉", "v桂");
    assert!(error(&piece).contains("line 6: `桂` is no piece"), "{}", error(&piece));
    let hand = text.replace("先手の持駒：なし", "先手の持駒：金々");
    assert!(error(&hand).contains("`々` is no number"), "{}", error(&hand));
    let handicap = "手合割：角落ち\n   1 ５二玉(51)\n";
    assert!(error(handicap).contains("角落ち"), "{}", error(handicap));
    let short = text.replace("|v飛v角v銀v金v玉|一\n", "");
    assert!(error(&short).contains("4 ranks"), "{}", error(&short));
}
