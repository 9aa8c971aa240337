//! Legal moves, as masks handed to a sink: a list, a count, a question.

use crate::threats::{Threats, is_attacked};
use crate::{Bitboard, Color, Ending, Move, Piece, Position, Role, Rules, Square};

/// What turns a piece over, with what the generator needs to know about it.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Turning {
    /// Nothing does.
    Never,
    /// A move that begins or ends in the side's zone, by choice or always.
    Zone { zones: [Bitboard; 2], forced: bool },
    /// Every capture.
    Capture,
    /// Every move.
    Move,
}

impl Turning {
    /// Splits a piece's targets into those reached as it is and those reached turned over.
    #[inline]
    pub(crate) fn split(
        self,
        color: Color,
        from: Square,
        targets: Bitboard,
        enemy: Bitboard,
    ) -> (Bitboard, Bitboard) {
        match self {
            Turning::Never => (targets, Bitboard::EMPTY),
            Turning::Zone { zones, forced } => {
                let zone = zones[color.index()];
                let turned = if zone.contains(from) { targets } else { targets & zone };
                (if forced { targets & !turned } else { targets }, turned)
            }
            Turning::Capture => (targets & !enemy, targets & enemy),
            Turning::Move => (Bitboard::EMPTY, targets),
        }
    }
}

/// Takes legal moves, many at a time.
pub(crate) trait Sink {
    /// A piece can go to these squares as it is, and to those turning over.
    fn moves(&mut self, from: Square, plain: Bitboard, turned: Bitboard);
    /// A piece can be dropped on these squares.
    fn drops(&mut self, role: Role, to: Bitboard);
    /// Whether no more moves are wanted.
    fn is_satisfied(&self) -> bool {
        false
    }
}

impl Sink for Vec<Move> {
    #[inline]
    fn moves(&mut self, from: Square, plain: Bitboard, turned: Bitboard) {
        self.extend(turned.iter().map(|to| Move::Board { from, to, turns: true }));
        self.extend(plain.iter().map(|to| Move::Board { from, to, turns: false }));
    }

    #[inline]
    fn drops(&mut self, role: Role, to: Bitboard) {
        self.extend(to.iter().map(|to| Move::Drop { role, to }));
    }
}

/// Counts moves.
struct Count(u64);

impl Sink for Count {
    #[inline]
    fn moves(&mut self, _: Square, plain: Bitboard, turned: Bitboard) {
        self.0 += (plain.len() + turned.len()) as u64;
    }

    #[inline]
    fn drops(&mut self, _: Role, to: Bitboard) {
        self.0 += to.len() as u64;
    }
}

/// Is there any move?
struct Any(bool);

impl Sink for Any {
    #[inline]
    fn moves(&mut self, _: Square, plain: Bitboard, turned: Bitboard) {
        self.0 |= !plain.is_empty() || !turned.is_empty();
    }

    #[inline]
    fn drops(&mut self, _: Role, to: Bitboard) {
        self.0 |= !to.is_empty();
    }

    #[inline]
    fn is_satisfied(&self) -> bool {
        self.0
    }
}

/// Is this move among them?
struct Find {
    wanted: Move,
    found: bool,
}

impl Sink for Find {
    fn moves(&mut self, at: Square, plain: Bitboard, turned: Bitboard) {
        if let Move::Board { from, to, turns } = self.wanted {
            self.found |= from == at && if turns { turned } else { plain }.contains(to);
        }
    }

    fn drops(&mut self, face: Role, squares: Bitboard) {
        if let Move::Drop { role, to } = self.wanted {
            self.found |= role == face && squares.contains(to);
        }
    }

    fn is_satisfied(&self) -> bool {
        self.found
    }
}

impl Rules {
    /// Fills `moves` with the legal moves. None once the game is over by position.
    pub fn legal_moves(&self, position: &Position, moves: &mut Vec<Move>) {
        moves.clear();
        self.generate(position, moves);
    }

    /// How many legal moves there are.
    pub fn count_moves(&self, position: &Position) -> u64 {
        let mut count = Count(0);
        self.generate(position, &mut count);
        count.0
    }

    /// Whether there is any legal move.
    pub fn has_legal_move(&self, position: &Position) -> bool {
        let mut any = Any(false);
        self.generate(position, &mut any);
        any.0
    }

    /// Whether a move is legal.
    pub fn is_legal(&self, position: &Position, mv: Move) -> bool {
        let mut find = Find { wanted: mv, found: false };
        self.generate(position, &mut find);
        find.found
    }

    /// Whether the royal piece of the side to move is attacked.
    #[inline]
    pub fn in_check(&self, position: &Position) -> bool {
        let us = position.side;
        position.royal(us).is_some_and(|at| is_attacked(self, position, at, us.opponent()))
    }

    /// Whether a side's royal piece is attacked, whoever is to move.
    pub(crate) fn is_royal_attacked(&self, position: &Position, color: Color) -> bool {
        let royal = position.royal(color);
        royal.is_some_and(|at| is_attacked(self, position, at, color.opponent()))
    }

    /// How the game has ended by this position alone, if it has.
    pub fn ending(&self, position: &Position) -> Option<Ending> {
        let reached = self.goals.reached(self, position);
        if reached.is_some() || self.has_legal_move(position) {
            return reached;
        }
        let mate = self.has_check() && self.in_check(position);
        Some(self.goals.without_moves(position.side, mate))
    }

    /// Every legal move goes to the sink, unless it has had enough.
    #[inline]
    pub(crate) fn generate<S: Sink>(&self, position: &Position, sink: &mut S) {
        if self.goals.reached(self, position).is_none() {
            Generator::new(self, position, self.royal_safe).moves(sink);
        }
    }

    /// The legal moves that leave the mover's royal piece safe, whether or not the rules ask
    /// for that.
    pub(crate) fn generate_guarded<S: Sink>(&self, position: &Position, sink: &mut S) {
        if self.goals.reached(self, position).is_none() {
            Generator::new(self, position, true).moves(sink);
        }
    }
}

/// A position with what all its moves have in common.
struct Generator<'a> {
    rules: &'a Rules,
    position: &'a Position,
    us: Color,
    enemy: Bitboard,
    occupied: Bitboard,
    /// Where moves may end: not on own pieces, nor on any piece when the hand is full.
    allowed: Bitboard,
    threats: Threats,
}

impl<'a> Generator<'a> {
    #[inline]
    fn new(rules: &'a Rules, position: &'a Position, guarded: bool) -> Generator<'a> {
        let us = position.side;
        let enemy = position.of_color(us.opponent());
        let occupied = position.occupied();
        let threats = match position.royal(us) {
            Some(royal) if guarded => Threats::against(rules, position, us, royal),
            _ => Threats::none(rules.geometry.all),
        };
        let mut allowed = !position.of_color(us);
        if rules.hand_limit.is_some_and(|limit| position.hand_total(us) >= limit.into()) {
            let royal = position.royal(us.opponent()).map_or(Bitboard::EMPTY, Bitboard::of);
            allowed &= !enemy | royal;
        }
        Generator { rules, position, us, enemy, occupied, allowed, threats }
    }

    #[inline]
    fn moves<S: Sink>(&self, sink: &mut S) {
        if let Some(royal) = self.position.royal(self.us) {
            self.royal_moves(royal, sink);
        }
        if sink.is_satisfied() || self.threats.evasion.is_empty() {
            return;
        }
        self.piece_moves(sink);
        if !sink.is_satisfied() {
            self.drops(sink);
        }
    }

    #[inline]
    fn royal_moves<S: Sink>(&self, from: Square, sink: &mut S) {
        self.moves_from(from, self.allowed & !self.threats.danger, sink);
    }

    #[inline]
    fn piece_moves<S: Sink>(&self, sink: &mut S) {
        let royal = self.position.royal(self.us).map_or(Bitboard::EMPTY, Bitboard::of);
        let allowed = self.allowed & self.threats.evasion;
        let mut pieces = self.position.of_color(self.us) & !royal;
        if self.threats.evasion != self.rules.geometry.all {
            // In check few pieces can help: those that could go where it can be met.
            let reach = &self.rules.reach[self.us.index()];
            pieces &= allowed.iter().fold(Bitboard::EMPTY, |near, to| near | reach[to.cell()]);
        }
        for from in pieces {
            let pinned = self.threats.pinned.contains(from);
            let line = if pinned { self.threats.line_of(from) } else { !Bitboard::EMPTY };
            self.moves_from(from, allowed & line, sink);
            if sink.is_satisfied() {
                return;
            }
        }
    }

    #[inline]
    fn moves_from<S: Sink>(&self, from: Square, allowed: Bitboard, sink: &mut S) {
        let Some(piece) = self.position.piece_at(from) else {
            return;
        };
        let mover = self.rules.mover(piece);
        let targets =
            mover.targets(&self.rules.geometry, from, self.occupied, self.enemy) & allowed;
        if targets.is_empty() {
            return;
        }
        let (plain, turned) = match mover.other {
            Some(_) => self.rules.turning.split(self.us, from, targets, self.enemy),
            None => (targets, Bitboard::EMPTY),
        };
        sink.moves(from, plain & mover.may_stand, turned & mover.may_turn);
    }

    #[inline]
    fn drops<S: Sink>(&self, sink: &mut S) {
        let hand = &self.position.hands[self.us.index()];
        let empty = self.threats.evasion & !self.occupied;
        if empty.is_empty() {
            return;
        }
        for &role in &self.rules.droppable {
            let kind = self.rules.kind_of(role);
            if hand[kind.index()] == 0 {
                continue;
            }
            let piece = Piece { color: self.us, role };
            let mut targets = empty & self.rules.mover(piece).may_stand;
            if let Some(limit) = self.rules.per_file[role.index()] {
                targets &= !self.full_files(piece, limit);
            }
            if self.rules.no_mate_by.contains(&kind) {
                targets = self.without_mates(piece, targets);
            }
            sink.drops(role, targets);
            if sink.is_satisfied() {
                return;
            }
        }
    }

    /// The files on which there are already as many pieces of this role as may be.
    #[inline]
    fn full_files(&self, piece: Piece, limit: u8) -> Bitboard {
        let there = self.position.pieces(self.us, piece.role);
        let files = self.rules.files.iter().copied();
        files
            .filter(|&file| (there & file).len() >= limit.into())
            .fold(Bitboard::EMPTY, |full, file| full | file)
    }

    /// The targets on which a drop leaves the other side a reply, if it gives check.
    #[inline]
    fn without_mates(&self, piece: Piece, mut targets: Bitboard) -> Bitboard {
        let Some(royal) = self.position.royal(self.us.opponent()) else {
            return targets;
        };
        // The squares from which a piece attacks a square are those that the other side's
        // piece would attack from there.
        let reversed = Piece { color: self.us.opponent(), ..piece };
        let checking =
            self.rules.mover(reversed).attacks(&self.rules.geometry, royal, self.occupied);
        for to in checking & targets {
            if self.mates(Move::Drop { role: piece.role, to }) {
                targets.remove(to);
            }
        }
        targets
    }

    #[cold]
    fn mates(&self, drop: Move) -> bool {
        let mut next = *self.position;
        next.play(self.rules, drop);
        !self.rules.has_legal_move(&next)
    }
}
