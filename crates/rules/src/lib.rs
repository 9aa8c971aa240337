//! The shogi family as data: a TOML table becomes [`Rules`], and `Rules` are the law.
//!
//! A variant is a file of about thirty lines in a small vocabulary ([`Definition`]), compiled at
//! load to tables over bitboards. A [`Position`] is plain data; `Rules` say what may happen in
//! it; a [`Game`] remembers what happened. Check and mate are not built in: they are an invariant
//! ("the royal piece may not be attacked") and a goal ("no moves loses").
//!
//! ```
//! use keiko_rules::{Game, Move, Outcome, Reason, Rules};
//! use std::sync::Arc;
//!
//! let rules = Arc::new(Rules::load("minishogi")?);
//! let mut game = Game::from_sfen(rules.clone(), "4k/5/3KP/5/5 b G 1")?;
//! let mut moves = Vec::new();
//! game.legal_moves(&mut moves);
//! let drop = Move::from_usi(&rules, game.position(), "G*1b")?;
//! assert!(moves.contains(&drop));
//! game.play(drop);
//! let ending = game.ending().expect("mate");
//! assert_eq!(ending.reason, Reason::Mate);
//! assert_eq!(ending.outcome, Outcome::Win(keiko_rules::Color::Black));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod betza;
mod check;
mod checks;
mod compile;
mod conceivable;
mod csa;
mod declaration;
mod definition;
mod describe;
mod fingerprint;
mod game;
mod goals;
mod keys;
mod kif;
mod kif_reader;
mod mirror;
mod movegen;
mod moves;
mod names;
mod outcome;
mod perft;
mod pgn;
mod piece;
mod position;
mod rules;
mod sfen;
mod spelling;
mod square;
mod svg;
mod tables;
mod threats;
mod usi;
mod western;

pub use betza::MovementError;
pub use csa::csa_text;
pub use declaration::{Declaration, EnteringKing};
pub use definition::{
    Board, Definition, Drops, Faces, Invariants, PieceDefinition, Promotion, When,
};
pub use game::{Game, Repetition};
pub use goals::{Goals, Loses, NoMoves, RepetitionResult, RepetitionRule, Wins};
pub use kif::{kif_move, kif_record, kif_text};
pub use kif_reader::{KifError, kif_game};
pub use moves::Move;
pub use outcome::{Ending, Outcome, Reason};
pub use perft::{divide, perft};
pub use pgn::pgn_record;
pub use piece::{Color, Kind, Piece, Role};
pub use position::Position;
pub use rules::{Rules, RulesError};
pub use sfen::SfenError;
pub use spelling::nearest;
pub use square::{Bitboard, MAX_SQUARES, Square, Squares};
pub use svg::{board_svg, moves_svg};
pub use usi::{UsiError, board_text};
pub use western::FenError;
