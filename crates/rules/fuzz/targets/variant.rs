//! Any text as a variant: refused with a message, or a game that can be explained and played.
#![no_main]

use keiko_rules::{Game, Position, Rules};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const PLIES: usize = 30;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let rules = match Rules::from_toml(text, "fuzz.toml") {
        Ok(rules) => Arc::new(rules),
        Err(error) => return assert!(error.to_string().starts_with("fuzz.toml:")),
    };
    assert!(rules.describe().contains(rules.name()));
    let mut game = Game::new(Arc::clone(&rules));
    let mut moves = Vec::new();
    for ply in 0..PLIES {
        if game.conclusion().is_some() {
            break;
        }
        let position = *game.position();
        let written = position.to_sfen(&rules);
        assert_eq!(Position::from_sfen(&rules, &written), Ok(position), "{written}");
        game.legal_moves(&mut moves);
        game.play(moves[(ply * 7 + data.len()) % moves.len()]);
    }
});
