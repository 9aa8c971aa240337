//! Any bytes as a game: each chooses a move, or takes one back, and the game stays in order.
#![no_main]

use keiko_rules::{Game, Position, Rules, csa_text, kif_text};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static GAMES: LazyLock<Vec<Arc<Rules>>> = LazyLock::new(|| {
    let load = |name: &&str| Arc::new(Rules::load(name).expect("embedded variants load"));
    Rules::variants().iter().map(load).collect()
});

/// What a byte of this value and above does: take a move back.
const UNDO: u8 = 250;

fuzz_target!(|data: &[u8]| {
    let Some((&first, choices)) = data.split_first() else { return };
    let rules = &GAMES[usize::from(first) % GAMES.len()];
    let mut game = Game::new(Arc::clone(rules));
    game.set_ply_limit(Some(300));
    let (mut moves, mut checks) = (Vec::new(), Vec::new());
    for &choice in choices {
        if choice >= UNDO {
            game.undo();
            continue;
        }
        if game.conclusion().is_some() {
            break;
        }
        game.legal_moves(&mut moves);
        let mv = moves[usize::from(choice) % moves.len()];
        rules.checks(game.position(), &mut checks);
        let before = *game.position();
        game.play(mv);
        assert_eq!(game.in_check(), checks.contains(&mv));
        // Equality includes the key: summed from scratch there, move by move here.
        let written = game.position().to_sfen(rules);
        assert_eq!(Position::from_sfen(rules, &written).as_ref(), Ok(game.position()), "{written}");
        assert_eq!((game.undo(), *game.position()), (Some(mv), before));
        game.play(mv);
    }
    let repetition = game.repetition();
    assert!(repetition.checks.iter().zip(repetition.series).all(|(&some, all)| some <= all));
    assert!(!kif_text(&game, ["", ""]).is_empty() && !csa_text(&game, ["", ""]).is_empty());
    while game.undo().is_some() {}
    assert_eq!(*game.position(), *rules.start());
});
