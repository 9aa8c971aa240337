//! Any text as an SFEN of any game: refused with a message, or a position that every question
//! can be asked of.
#![no_main]

use keiko_rules::{Color, Game, Move, Position, Rules, board_svg, board_text};
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};

static GAMES: LazyLock<Vec<Arc<Rules>>> = LazyLock::new(|| {
    let load = |name: &&str| Arc::new(Rules::load(name).expect("embedded variants load"));
    Rules::variants().iter().map(load).collect()
});

fn ask_everything(rules: &Arc<Rules>, position: Position, text: &str) {
    let written = position.to_sfen(rules);
    assert_eq!(Position::from_sfen(rules, &written), Ok(position), "{written}");
    assert!(!board_text(rules, &position).is_empty());
    assert!(!board_svg(rules, &position, None).is_empty());
    let (mut moves, mut checks, mut evasions) = (Vec::new(), Vec::new(), Vec::new());
    rules.legal_moves(&position, &mut moves);
    rules.checks(&position, &mut checks);
    rules.evasions(&position, &mut evasions);
    assert_eq!(rules.count_moves(&position), moves.len() as u64);
    assert_eq!(rules.has_legal_move(&position), !moves.is_empty());
    assert!(checks.iter().chain(&evasions).all(|mv| moves.contains(mv)));
    for color in Color::BOTH {
        rules.entering_king(&position, color);
        rules.count_points(&position, color);
    }
    let _ = (rules.declaration(&position), rules.adjudicate(&position));
    let _ = Move::from_usi(rules, &position, text).map_err(|error| error.to_string());
    let mut game = Game::from_position(Arc::clone(rules), position);
    for mv in moves {
        assert_eq!(Move::from_usi(rules, &position, &mv.to_usi(rules)), Ok(mv));
        game.play(mv);
        assert_eq!(game.in_check(), checks.contains(&mv), "{written} {}", mv.to_usi(rules));
        let _ = game.conclusion();
        game.undo();
    }
    assert_eq!(*game.position(), position);
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let rules = &GAMES[usize::from(first) % GAMES.len()];
    match Position::from_sfen(rules, text) {
        Ok(position) => ask_everything(rules, position, text),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
