//! A position: plain data, cheap to copy. [`Rules`] decides what may happen in it.

use crate::square::CELLS;
use crate::{Bitboard, Color, Kind, Move, Piece, Role, Rules, Square};

/// As many kinds as there are letters.
pub(crate) const MAX_KINDS: usize = 26;

/// A board with pieces, two hands, the side to move and the move number.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Position {
    pub(crate) board: [Option<Piece>; CELLS],
    pub(crate) colors: [Bitboard; 2],
    pub(crate) royals: [Option<Square>; 2],
    pub(crate) hands: [[u8; MAX_KINDS]; 2],
    pub(crate) side: Color,
    pub(crate) key: u64,
    pub(crate) move_number: u32,
}

impl Position {
    /// An empty board with Black to move.
    pub(crate) fn empty() -> Position {
        Position {
            board: [None; CELLS],
            colors: [Bitboard::EMPTY; 2],
            royals: [None; 2],
            hands: [[0; MAX_KINDS]; 2],
            side: Color::Black,
            key: 0,
            move_number: 1,
        }
    }

    /// Whose move it is.
    #[inline]
    pub fn side_to_move(&self) -> Color {
        self.side
    }

    /// What stands on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.board[square.cell()]
    }

    /// Where a side's pieces of one role stand.
    pub fn pieces(&self, color: Color, role: Role) -> Bitboard {
        let piece = Some(Piece { color, role });
        self.colors[color.index()].iter().filter(|&at| self.piece_at(at) == piece).collect()
    }

    /// Where a side's pieces stand.
    #[inline]
    pub fn of_color(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// Where pieces stand.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    /// Where a side's royal piece stands, if it is still there.
    #[inline]
    pub fn royal(&self, color: Color) -> Option<Square> {
        self.royals[color.index()]
    }

    /// How many pieces of a kind a side has in hand.
    #[inline]
    pub fn hand(&self, color: Color, kind: Kind) -> u8 {
        self.hands[color.index()][kind.index()]
    }

    /// How many pieces a side has in hand.
    pub(crate) fn hand_total(&self, color: Color) -> u32 {
        self.hands[color.index()].iter().map(|&count| u32::from(count)).sum()
    }

    /// A hash of what makes two positions the same: board, side to move and both hands. It is
    /// the same number in every run.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The number an SFEN gives the coming move.
    #[inline]
    pub fn move_number(&self) -> u32 {
        self.move_number
    }

    /// Makes a move, which must be legal.
    #[inline]
    pub(crate) fn play(&mut self, rules: &Rules, mv: Move) {
        match mv {
            Move::Board { from, to, turns } => self.move_piece(rules, from, to, turns),
            Move::Drop { role, to } => {
                let kind = rules.kind_of(role);
                self.hands[self.side.index()][kind.index()] -= 1;
                self.key = self.key.wrapping_sub(rules.keys.in_hand(self.side, kind));
                self.put(rules, Piece { color: self.side, role }, to);
            }
        }
        self.turn_over_the_move(rules);
        self.move_number = self.move_number.saturating_add(1);
    }

    #[inline]
    fn move_piece(&mut self, rules: &Rules, from: Square, to: Square, turns: bool) {
        let piece = self.lift(rules, from).expect("a legal move moves a piece");
        if let Some(captured) = self.lift(rules, to) {
            let kind = rules.kind_of(captured.role);
            if rules.goes_to_hand(kind) {
                self.give(rules, self.side, kind, 1);
            }
        }
        let role = match rules.mover(piece).other {
            Some(other) if turns => other,
            _ => piece.role,
        };
        self.put(rules, Piece { color: piece.color, role }, to);
    }

    /// Puts a piece on an empty square.
    #[inline]
    pub(crate) fn put(&mut self, rules: &Rules, piece: Piece, at: Square) {
        self.board[at.cell()] = Some(piece);
        self.colors[piece.color.index()].insert(at);
        self.key = self.key.wrapping_add(rules.keys.on_board(piece, at));
        if rules.is_royal(piece.role) {
            self.royals[piece.color.index()] = Some(at);
        }
    }

    /// Takes whatever stands there off the board.
    #[inline]
    fn lift(&mut self, rules: &Rules, at: Square) -> Option<Piece> {
        let piece = self.board[at.cell()].take()?;
        self.colors[piece.color.index()].remove(at);
        self.key = self.key.wrapping_sub(rules.keys.on_board(piece, at));
        if rules.is_royal(piece.role) {
            self.royals[piece.color.index()] = None;
        }
        Some(piece)
    }

    /// Puts pieces into a hand.
    #[inline]
    pub(crate) fn give(&mut self, rules: &Rules, color: Color, kind: Kind, count: u8) {
        self.hands[color.index()][kind.index()] += count;
        let value = rules.keys.in_hand(color, kind).wrapping_mul(count.into());
        self.key = self.key.wrapping_add(value);
    }

    /// Gives the move to the other side.
    #[inline]
    pub(crate) fn turn_over_the_move(&mut self, rules: &Rules) {
        self.side = self.side.opponent();
        let value = rules.keys.white_to_move();
        self.key = match self.side {
            Color::White => self.key.wrapping_add(value),
            Color::Black => self.key.wrapping_sub(value),
        };
    }
}
