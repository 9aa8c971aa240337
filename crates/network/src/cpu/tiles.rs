//! How a board is cut into pieces of work for a kernel.

use super::pack::{Block, Packed};

/// Squares of a rank that a kernel computes at a time: with four vectors of outputs each, their
/// sums and one square's weights just fit AVX-512's 32 registers. Other kernels cut tiles further.
const LONGEST_TILE: usize = 6;

/// The board a convolution runs over.
#[derive(Copy, Clone, Debug)]
pub(super) struct Board {
    pub(super) files: usize,
    pub(super) ranks: usize,
}

impl Board {
    pub(super) fn squares(self) -> usize {
        self.files * self.ranks
    }
}

/// A part of a rank.
#[derive(Copy, Clone, Debug)]
pub(super) struct Tile {
    pub(super) rank: usize,
    pub(super) file: usize,
    pub(super) squares: usize,
}

impl Tile {
    /// In one piece, or in two where it is longer than `longest`, which is half of it at least.
    #[inline(always)]
    pub(super) fn cut(self, longest: usize) -> impl Iterator<Item = Tile> {
        let first = if self.squares <= longest { self.squares } else { self.squares.div_ceil(2) };
        let rest = Tile { file: self.file + first, squares: self.squares - first, ..self };
        let first = Tile { squares: first, ..self };
        [first, rest].into_iter().filter(|tile| tile.squares > 0)
    }
}

/// The tiles of a board: ranks cut into parts of nearly equal length.
pub(super) fn tiles(board: Board) -> Vec<Tile> {
    let parts = board.files.div_ceil(LONGEST_TILE);
    let mut tiles = Vec::new();
    for rank in 0..board.ranks {
        let mut file = 0;
        for part in 0..parts {
            let squares = (board.files - file).div_ceil(parts - part);
            tiles.push(Tile { rank, file, squares });
            file += squares;
        }
    }
    tiles
}

/// What happens to a convolution's sums, after scale and bias.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Then {
    /// They are the output.
    Nothing,
    /// ReLU.
    Relu,
    /// What `out` holds is added, then ReLU.
    AddRelu,
}

/// One convolution of one position. The slices' lengths are checked when it is made, so that
/// kernels may rely on them.
#[derive(Debug)]
pub(super) struct Job<'a> {
    pub(super) board: Board,
    pub(super) tiles: &'a [Tile],
    pub(super) packed: &'a Packed,
    /// `[squares, words]`
    pub(super) input: &'a [u32],
    /// What happens to the sums.
    pub(super) then: Then,
    /// `[squares, outputs]`
    pub(super) out: &'a mut [f32],
}

impl<'a> Job<'a> {
    pub(super) fn new(
        board: Board,
        tiles: &'a [Tile],
        packed: &'a Packed,
        input: &'a [u32],
        then: Then,
        out: &'a mut [f32],
    ) -> Job<'a> {
        assert_eq!(input.len(), board.squares() * packed.words, "an activation of this shape");
        assert_eq!(out.len(), board.squares() * packed.outputs, "room for every output");
        let inside = |tile: &Tile| {
            tile.rank < board.ranks
                && tile.file + tile.squares <= board.files
                && (1..=LONGEST_TILE).contains(&tile.squares)
        };
        assert!(tiles.iter().all(inside), "tiles of this board");
        assert!(packed.taps == 1 || packed.taps == 9, "1x1 or 3x3");
        Job { board, tiles, packed, input, then, out }
    }

    /// Lines of one tap of a block.
    pub(super) fn lines_a_tap(&self, block: Block) -> usize {
        self.packed.words * block.vectors
    }
}
