//! What could ever happen, whatever else is on the board: for label tables, and for finding what
//! never can.

use crate::movegen::Turning;
use crate::{Bitboard, Color, Move, Piece, Role, Rules, Square};

impl Rules {
    /// Every board move (with the role that makes it) and every drop that could ever be a move
    /// of Black, whatever else is on the board.
    pub fn conceivable_moves(&self) -> Vec<(Role, Move)> {
        let mut moves = Vec::new();
        for role in self.roles() {
            for from in self.geometry.all {
                self.conceivable_from(role, from, &mut moves);
            }
        }
        for &role in &self.droppable {
            let squares = self.mover(Piece { color: Color::Black, role }).may_stand;
            moves.extend(squares.iter().map(|to| (role, Move::Drop { role, to })));
        }
        moves
    }

    fn conceivable_from(&self, role: Role, from: Square, moves: &mut Vec<(Role, Move)>) {
        let mover = self.mover(Piece { color: Color::Black, role });
        let [quiet, captures] = mover.everywhere(&self.geometry, from);
        let turning = if mover.other.is_some() { self.turning } else { Turning::Never };
        let quiet = turning.split(Color::Black, from, quiet, Bitboard::EMPTY);
        let captures = turning.split(Color::Black, from, captures, captures);
        let plain = (quiet.0 | captures.0) & mover.may_stand;
        let turned = (quiet.1 | captures.1) & mover.may_turn;
        for (squares, turns) in [(plain, false), (turned, true)] {
            moves.extend(squares.iter().map(|to| (role, Move::Board { from, to, turns })));
        }
    }

    /// How many squares a piece of Black's reaches on an empty board, on average over all squares:
    /// what it is worth, as far as its movement tells.
    pub fn mean_reach(&self, role: Role) -> f64 {
        let piece = Piece { color: Color::Black, role };
        let reached = |from| self.far_targets(piece, from).len();
        let sum: usize = self.geometry.all.iter().map(reached).sum();
        sum as f64 / self.squares() as f64
    }

    /// Whether a role steps or leaps by an offset (squares to the right, squares forward), whatever
    /// stands in between.
    pub fn leaps(&self, role: Role, offset: (i8, i8)) -> bool {
        let movement = &self.movements[role.index()];
        movement.captures.leaps.contains(&offset) || movement.quiet.leaps.contains(&offset)
    }

    /// Where a side's royal piece could get to from its place in the start position.
    pub(crate) fn royal_reach(&self, color: Color) -> Bitboard {
        let Some(royal) = self.start.royal(color) else {
            return Bitboard::EMPTY;
        };
        let piece = self.start.piece_at(royal).expect("a royal square has its piece");
        Bitboard::of(royal) | self.flood(piece, royal)
    }

    /// Whether a position may occur twice: some piece can come back to a square it has left, by
    /// its own moves or by way of a hand.
    pub(crate) fn can_repeat(&self) -> bool {
        let comes_back = |piece: Piece| {
            let turns = self.other_face(piece.role).is_some();
            turns || self.geometry.all.iter().any(|at| self.flood(piece, at).contains(at))
        };
        let mut pieces = self.start.occupied().iter().filter_map(|at| self.start.piece_at(at));
        !self.droppable.is_empty() || pieces.any(comes_back)
    }

    /// Where a piece could get to in one or more moves on an empty board.
    fn flood(&self, piece: Piece, from: Square) -> Bitboard {
        let (mut reached, mut open) = (Bitboard::EMPTY, vec![from]);
        while let Some(from) = open.pop() {
            for to in self.far_targets(piece, from) & !reached {
                reached.insert(to);
                open.push(to);
            }
        }
        reached
    }
}
