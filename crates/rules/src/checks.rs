//! What a mate search asks: which moves give check, and which ones answer it.

use crate::movegen::Sink;
use crate::threats::is_attacked;
use crate::{Bitboard, Color, Move, Piece, Position, Role, Rules, Square};

impl Rules {
    /// Whether a side's pieces attack a square: could capture there, hands and the safety of
    /// their own royal piece aside.
    pub fn is_attacked(&self, position: &Position, square: Square, by: Color) -> bool {
        is_attacked(self, position, square, by)
    }

    /// Whether a legal move leaves the other side's royal piece attacked.
    pub fn gives_check(&self, position: &Position, mv: Move) -> bool {
        if self.attacks_already(position) {
            return self.checks_after(position, mv);
        }
        let Some(targets) = Targets::new(self, position) else {
            return false;
        };
        match mv {
            Move::Drop { role, to } => targets.of_drop(role).contains(to),
            Move::Board { from, to, turns } => {
                let role = position.piece_at(from).expect("a legal move moves a piece").role;
                let turned = self.other_face(role).filter(|_| turns);
                targets.of_move(from, turned.unwrap_or(role)).contains(to)
            }
        }
    }

    /// Fills `moves` with the legal moves that give check, and no others.
    pub fn checks(&self, position: &Position, moves: &mut Vec<Move>) {
        moves.clear();
        if self.attacks_already(position) {
            self.generate(position, moves);
            moves.retain(|&mv| self.checks_after(position, mv));
        } else if let Some(targets) = Targets::new(self, position) {
            self.generate(position, &mut ChecksOnly { targets, moves });
        }
    }

    /// Whether the other side has left its royal piece attacked, as it may in games without that
    /// invariant: then most moves still attack it.
    #[inline]
    fn attacks_already(&self, position: &Position) -> bool {
        !self.royal_safe && self.is_royal_attacked(position, position.side.opponent())
    }

    fn checks_after(&self, position: &Position, mv: Move) -> bool {
        let mut next = *position;
        next.play(self, mv);
        self.in_check(&next)
    }

    /// Fills `moves` with the legal moves that end a check. None without a check.
    pub fn evasions(&self, position: &Position, moves: &mut Vec<Move>) {
        moves.clear();
        if self.in_check(position) {
            self.generate_guarded(position, moves);
        }
    }
}

/// From where the other side's royal piece would be attacked.
struct Targets<'a> {
    rules: &'a Rules,
    position: &'a Position,
    royal: Square,
    /// Own pieces that alone stand between an own slider and the royal piece.
    shields: Bitboard,
    /// For each of them, the squares it may go to without giving check.
    lines: [Bitboard; 8],
    count: usize,
}

impl<'a> Targets<'a> {
    #[inline]
    fn new(rules: &'a Rules, position: &'a Position) -> Option<Targets<'a>> {
        let (us, royal) = (position.side, position.royal(position.side.opponent())?);
        let (shields, lines) = (Bitboard::EMPTY, [Bitboard::EMPTY; 8]);
        let mut targets = Targets { rules, position, royal, shields, lines, count: 0 };
        for from in rules.reach[us.index()][royal.cell()] & position.of_color(us) {
            let piece = position.piece_at(from).expect("a square of a side has its piece");
            let reach = &rules.mover(piece).captures;
            if reach.slides != 0
                && let Some(between) = reach.line_to(&rules.geometry, from, royal)
            {
                targets.add_line(between);
            }
        }
        Some(targets)
    }

    /// Takes note of an own slider that looks at the royal piece.
    #[inline]
    fn add_line(&mut self, between: Bitboard) {
        let shields = between & self.position.occupied();
        if shields.len() == 1 && shields.meets(self.position.of_color(self.position.side)) {
            self.shields |= shields;
            self.lines[self.count & 7] = between;
            self.count += 1;
        }
    }

    /// The squares on which a dropped piece gives check.
    #[inline]
    fn of_drop(&self, role: Role) -> Bitboard {
        self.direct(role, self.position.occupied())
    }

    /// The squares on which the piece from a square gives check, itself or by uncovering another
    /// one, when it shows this role there.
    #[inline]
    fn of_move(&self, from: Square, role: Role) -> Bitboard {
        // Taking the royal piece is no check.
        let elsewhere = !Bitboard::of(self.royal);
        let direct = self.direct(role, self.position.occupied() & !Bitboard::of(from));
        (direct | self.uncovering(from)) & elsewhere
    }

    /// The squares from which a piece of this role attacks the royal piece: those that the other
    /// side's piece would attack from there.
    #[inline]
    fn direct(&self, role: Role, occupied: Bitboard) -> Bitboard {
        let reversed = Piece { color: self.position.side.opponent(), role };
        self.rules.mover(reversed).attacks(&self.rules.geometry, self.royal, occupied)
    }

    /// The squares where a piece from this square no longer shields the royal piece.
    #[inline]
    fn uncovering(&self, from: Square) -> Bitboard {
        if !self.shields.contains(from) {
            return Bitboard::EMPTY;
        }
        let lines = self.lines[..self.count.min(8)].iter().filter(|line| line.contains(from));
        lines.fold(Bitboard::EMPTY, |squares, &line| squares | !line)
    }
}

/// Lets only checks through.
struct ChecksOnly<'a> {
    targets: Targets<'a>,
    moves: &'a mut Vec<Move>,
}

impl Sink for ChecksOnly<'_> {
    #[inline]
    fn moves(&mut self, from: Square, plain: Bitboard, turned: Bitboard) {
        let piece = self.targets.position.piece_at(from).expect("a legal move moves a piece");
        let checking = |squares: Bitboard, role| match squares.is_empty() {
            true => squares,
            false => squares & self.targets.of_move(from, role),
        };
        let plain = checking(plain, piece.role);
        let turned = match self.targets.rules.mover(piece).other {
            Some(other) => checking(turned, other),
            None => turned,
        };
        self.moves.moves(from, plain, turned);
    }

    #[inline]
    fn drops(&mut self, role: Role, to: Bitboard) {
        if !to.is_empty() {
            self.moves.drops(role, to & self.targets.of_drop(role));
        }
    }
}
