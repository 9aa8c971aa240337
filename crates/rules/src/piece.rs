//! Sides and pieces: whose, of which kind, showing which face.

use serde::{Deserialize, Serialize};

/// A side. Black moves up the board and is written in upper case.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Ord, PartialOrd, Debug, Serialize, Deserialize)]
pub enum Color {
    /// Sente: moves up the board, towards rank `a`.
    Black,
    /// Gote: moves down the board.
    White,
}

impl Color {
    /// Both sides, in the order of their indices.
    pub const BOTH: [Color; 2] = [Color::Black, Color::White];

    /// The other side.
    #[inline]
    pub const fn opponent(self) -> Color {
        match self {
            Color::Black => Color::White,
            Color::White => Color::Black,
        }
    }

    /// 0 for Black, 1 for White.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Color::Black => "Black",
            Color::White => "White",
        })
    }
}

/// What a piece is whichever face it shows, and what lies in a hand. Kinds are numbered in the
/// order of the definition, which is also the order in which an SFEN writes a hand.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Ord, PartialOrd, Debug, Serialize, Deserialize)]
pub struct Kind(pub(crate) u8);

impl Kind {
    /// The kind's place in the definition.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A kind showing one of its faces: what decides how a piece moves. Fronts come first, in kind
/// order, then the backs that exist.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Ord, PartialOrd, Debug, Serialize, Deserialize)]
pub struct Role(pub(crate) u8);

impl Role {
    /// The role's number: below the number of kinds for a front.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A piece on the board.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Ord, PartialOrd, Debug, Serialize, Deserialize)]
pub struct Piece {
    /// Whose it is.
    pub color: Color,
    /// What it is, and which face it shows.
    pub role: Role,
}

impl Piece {
    /// The piece's place in a table over roles and sides.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.role.index() * 2 + self.color.index()
    }
}
