//! Games for tests to begin with: what matters there they say themselves.

use keiko_rules::{Color, Ending, Move, Outcome, Reason, Square};
use keiko_selfplay::{GameRecord, Ply, Start, StartKind, Wdl};

const SFEN: &str = "gle/1c1/1C1/ELG b - 1";

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

/// A game of these plies from the normal start of doubutsu, won by Black with a mate.
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
