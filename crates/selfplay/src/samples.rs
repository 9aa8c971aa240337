//! Games for tests to begin with: what matters there they say themselves.

use crate::{GameRecord, Ply, Start, StartKind, Wdl};
use keiko_rules::{Color, Ending, Move, Outcome, Reason, Square};

const SFEN: &str = "rbsgk/4p/5/P4/KGSBR b - 1";

/// A ply of a cheap search that thought nothing of it.
pub(crate) fn ply() -> Ply {
    let square = Square::new(0);
    Ply {
        mv: Move::Board { from: square, to: square, turns: false },
        full: false,
        simulations: 8,
        raw: Wdl::DRAW,
        root: Wdl::DRAW,
        policy: Vec::new(),
        surprise: 0.0,
        proof: None,
    }
}

/// A game of these plies from the normal start of minishogi, won by Black with a mate.
pub(crate) fn game(plies: Vec<Ply>) -> GameRecord {
    GameRecord {
        number: 0,
        rules_hash: 0,
        network: 0,
        start: Start { kind: StartKind::Normal, sfen: SFEN.to_owned(), opening: Vec::new() },
        plies,
        ending: Ending { outcome: Outcome::Win(Color::Black), reason: Reason::Mate },
    }
}
