//! What a royal piece has to fear, worked out once per position.

use crate::{Bitboard, Color, Position, Rules, Square};

/// The masks that keep a royal piece safe.
pub(crate) struct Threats {
    /// Squares near the royal piece that the enemy attacks, the royal piece lifted off.
    pub(crate) danger: Bitboard,
    /// Where another piece must go to end a check: everywhere without one, nowhere in double
    /// check.
    pub(crate) evasion: Bitboard,
    /// Own pieces that shield the royal piece from a slider.
    pub(crate) pinned: Bitboard,
    /// For each such piece, the line it must stay on, slider included.
    lines: [Bitboard; 8],
    pins: usize,
}

impl Threats {
    /// Nothing to fear: games without the invariant.
    pub(crate) fn none(board: Bitboard) -> Threats {
        Threats {
            danger: Bitboard::EMPTY,
            evasion: board,
            pinned: Bitboard::EMPTY,
            lines: [Bitboard::EMPTY; 8],
            pins: 0,
        }
    }

    /// What the royal piece on `royal` has to fear from the other side.
    #[inline]
    pub(crate) fn against(rules: &Rules, position: &Position, us: Color, royal: Square) -> Threats {
        let mut threats = Threats::none(rules.geometry.all);
        let occupied = position.occupied();
        let lifted = occupied & !Bitboard::of(royal);
        let zone = rules.threat_zones[us.index()][royal.cell()];
        for from in zone & position.of_color(us.opponent()) {
            let Some(piece) = position.piece_at(from) else {
                continue;
            };
            let mover = rules.mover(piece);
            threats.danger |= mover.attacks(&rules.geometry, from, lifted);
            if mover.captures.leaps[from.cell()].contains(royal) {
                threats.evasion &= Bitboard::of(from);
            } else if mover.captures.slides != 0
                && let Some(between) = mover.captures.line_to(&rules.geometry, from, royal)
            {
                threats.add_line(from, between, occupied, position.of_color(us));
            }
        }
        threats
    }

    /// Takes note of a slider that looks at the royal piece.
    #[inline]
    fn add_line(&mut self, from: Square, between: Bitboard, occupied: Bitboard, own: Bitboard) {
        let line = between | Bitboard::of(from);
        let shields = between & occupied;
        if shields.is_empty() {
            self.evasion &= line;
        } else if shields.len() == 1 && shields.meets(own) {
            self.pinned |= shields;
            self.lines[self.pins & 7] = line;
            self.pins += 1;
        }
    }

    /// The line a pinned piece must stay on.
    pub(crate) fn line_of(&self, pinned: Square) -> Bitboard {
        let lines = self.lines[..self.pins.min(8)].iter();
        lines.copied().filter(|line| line.contains(pinned)).fold(!Bitboard::EMPTY, |a, b| a & b)
    }
}

/// Whether a side's pieces could capture on a square, hands and safety of their own aside.
#[inline]
pub(crate) fn is_attacked(rules: &Rules, position: &Position, target: Square, by: Color) -> bool {
    let occupied = position.occupied();
    let near = rules.reach[by.index()][target.cell()] & position.of_color(by);
    near.iter().any(|from| {
        let Some(piece) = position.piece_at(from) else {
            return false;
        };
        let mover = rules.mover(piece);
        mover.captures.leaps[from.cell()].contains(target)
            || mover.captures.slides != 0
                && mover
                    .captures
                    .line_to(&rules.geometry, from, target)
                    .is_some_and(|between| !between.meets(occupied))
    })
}
