//! Squares and sets of squares.

use serde::{Deserialize, Serialize};
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not};

/// The most squares a board may have: 11x11, which fits a 128-bit set.
pub const MAX_SQUARES: usize = 121;

/// Length of a table over squares: a power of two, so that a masked index needs no check.
pub(crate) const CELLS: usize = 128;

/// A square, numbered rank by rank from the top left as Black sees it: `rank * files + column`,
/// where rank 0 is `a` and column 0 is the highest file. The square seen by White in the same
/// place has the number `squares - 1 - index`.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Ord, PartialOrd, Debug, Serialize, Deserialize)]
pub struct Square(u8);

impl Square {
    /// The square of this number.
    ///
    /// # Panics
    /// When no board is that large.
    #[inline]
    pub const fn new(index: usize) -> Square {
        assert!(index < CELLS, "a board has at most 121 squares");
        Square(index as u8)
    }

    /// The square's number.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The square's number, seen by the compiler to be inside a table of [`CELLS`].
    #[inline]
    pub(crate) const fn cell(self) -> usize {
        (self.0 & (CELLS as u8 - 1)) as usize
    }
}

/// A set of squares.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Default)]
pub struct Bitboard(u128);

impl Bitboard {
    /// No square.
    pub const EMPTY: Bitboard = Bitboard(0);

    /// The first `squares` squares: a whole board.
    pub(crate) const fn first_squares(squares: usize) -> Bitboard {
        Bitboard((1u128 << squares) - 1)
    }

    /// The set of one square.
    #[inline]
    pub const fn of(square: Square) -> Bitboard {
        Bitboard(1u128 << square.cell())
    }

    /// The set as bits, square 0 lowest.
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// Whether the square is in the set.
    #[inline]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.cell() & 1 != 0
    }

    /// Adds a square.
    #[inline]
    pub const fn insert(&mut self, square: Square) {
        self.0 |= Bitboard::of(square).0;
    }

    /// Takes a square out.
    #[inline]
    pub const fn remove(&mut self, square: Square) {
        self.0 &= !Bitboard::of(square).0;
    }

    /// How many squares are in the set.
    #[inline]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no square is in the set.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the sets share a square.
    #[inline]
    pub const fn meets(self, other: Bitboard) -> bool {
        self.0 & other.0 != 0
    }

    /// The square with the lowest number.
    #[inline]
    pub const fn lowest(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square(self.0.trailing_zeros() as u8)) }
    }

    /// The square with the highest number.
    #[inline]
    pub const fn highest(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(Square(127 - self.0.leading_zeros() as u8)) }
    }

    /// The squares, lowest number first.
    #[inline]
    pub const fn iter(self) -> Squares {
        Squares(self)
    }
}

/// The squares of a set, lowest number first.
#[derive(Clone, Debug)]
pub struct Squares(Bitboard);

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.0.lowest()?;
        self.0.0 &= self.0.0 - 1;
        Some(square)
    }
}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;

    #[inline]
    fn into_iter(self) -> Squares {
        self.iter()
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Bitboard {
        squares.into_iter().fold(Bitboard::EMPTY, |set, square| set | Bitboard::of(square))
    }
}

impl BitAnd for Bitboard {
    type Output = Bitboard;
    #[inline]
    fn bitand(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 & other.0)
    }
}

impl BitOr for Bitboard {
    type Output = Bitboard;
    #[inline]
    fn bitor(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 | other.0)
    }
}

impl BitXor for Bitboard {
    type Output = Bitboard;
    #[inline]
    fn bitxor(self, other: Bitboard) -> Bitboard {
        Bitboard(self.0 ^ other.0)
    }
}

impl Not for Bitboard {
    type Output = Bitboard;
    #[inline]
    fn not(self) -> Bitboard {
        Bitboard(!self.0)
    }
}

impl BitAndAssign for Bitboard {
    #[inline]
    fn bitand_assign(&mut self, other: Bitboard) {
        self.0 &= other.0;
    }
}

impl BitOrAssign for Bitboard {
    #[inline]
    fn bitor_assign(&mut self, other: Bitboard) {
        self.0 |= other.0;
    }
}

impl std::fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(Square::index)).finish()
    }
}
