//! The numbers a position's key is summed from. Adding where others combine bits lets a hand of
//! n pieces count n times its number, whatever n is.

use crate::square::CELLS;
use crate::{Color, Kind, Piece, Square};

/// One number for each thing that can be part of a position, the same in every run.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    board: Vec<[u64; CELLS]>,
    hands: Vec<[u64; 2]>,
    white_to_move: u64,
}

impl Keys {
    pub(crate) fn new(roles: usize, kinds: usize) -> Keys {
        let mut state = 0x6b65_696b_6f00_0001;
        let mut next = || splitmix(&mut state);
        let white_to_move = next();
        let hands = (0..kinds).map(|_| [next(), next()]).collect();
        let board = (0..roles * 2).map(|_| std::array::from_fn(|_| next())).collect();
        Keys { board, hands, white_to_move }
    }

    #[inline]
    pub(crate) fn on_board(&self, piece: Piece, at: Square) -> u64 {
        self.board[piece.index()][at.cell()]
    }

    #[inline]
    pub(crate) fn in_hand(&self, color: Color, kind: Kind) -> u64 {
        self.hands[kind.index()][color.index()]
    }

    #[inline]
    pub(crate) fn white_to_move(&self) -> u64 {
        self.white_to_move
    }
}

/// The next number of a splitmix64 sequence.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
