//! Games as older versions of the format have them.

use keiko_rules::{Ending, Move};
use keiko_selfplay::{GameRecord, Ply, Start, StartKind};
use serde::Deserialize;

/// A game of version 1, whose start does not say of what kind it is.
#[derive(Deserialize)]
pub(super) struct Version1 {
    number: u64,
    rules_hash: u64,
    network: u64,
    sfen: String,
    opening: Vec<Move>,
    plies: Vec<Ply>,
    ending: Ending,
}

impl From<Version1> for GameRecord {
    fn from(game: Version1) -> GameRecord {
        let Version1 { number, rules_hash, network, sfen, opening, plies, ending } = game;
        // There were no others.
        let kind = if opening.is_empty() { StartKind::Normal } else { StartKind::Random };
        let start = Start { kind, sfen, opening };
        GameRecord { number, rules_hash, network, start, plies, ending }
    }
}
