//! What can be computed once per variant: rays over the board, and where each piece may go.

use crate::betza::{Movement, Offset, Paths, UNLIMITED};
use crate::square::CELLS;
use crate::{Bitboard, Color, Role, Square};

/// One set of squares for each square.
pub(crate) type PerSquare = [Bitboard; CELLS];

/// Unit steps on the board (columns to the right, ranks down). The first four lead to higher
/// square numbers; a direction's opposite has bit 2 flipped.
pub(crate) const DIRECTIONS: [Offset; 8] =
    [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)];

/// The board's shape.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) files: usize,
    pub(crate) ranks: usize,
    pub(crate) all: Bitboard,
    /// By direction: the squares from a square (exclusive) to the edge.
    pub(crate) rays: Box<[PerSquare; 8]>,
}

impl Geometry {
    pub(crate) fn new(files: usize, ranks: usize) -> Geometry {
        let all = Bitboard::first_squares(files * ranks);
        let rays = Box::new([[Bitboard::EMPTY; CELLS]; 8]);
        let mut geometry = Geometry { files, ranks, all, rays };
        for (direction, &step) in DIRECTIONS.iter().enumerate() {
            for from in all {
                geometry.rays[direction][from.index()] = geometry.walk(from, step).collect();
            }
        }
        geometry
    }

    /// The squares met by repeating a step.
    fn walk(&self, from: Square, step: Offset) -> impl Iterator<Item = Square> {
        std::iter::successors(self.step(from, step), move |&at| self.step(at, step))
    }

    /// The square this many columns to the right and ranks down, if there is one.
    pub(crate) fn step(&self, from: Square, (right, down): Offset) -> Option<Square> {
        let (column, rank) = (from.index() % self.files, from.index() / self.files);
        let column = column.checked_add_signed(right.into()).filter(|&it| it < self.files)?;
        let rank = rank.checked_add_signed(down.into()).filter(|&it| it < self.ranks)?;
        Some(Square::new(rank * self.files + column))
    }

    /// The squares of one file, by column.
    pub(crate) fn column(&self, column: usize) -> Bitboard {
        (0..self.ranks).map(|rank| Square::new(rank * self.files + column)).collect()
    }

    /// The last `ranks` ranks as seen by a side.
    pub(crate) fn far_ranks(&self, color: Color, ranks: usize) -> Bitboard {
        let far = Bitboard::first_squares(ranks * self.files);
        match color {
            Color::Black => far,
            Color::White => self.all & !Bitboard::first_squares((self.ranks - ranks) * self.files),
        }
    }

    /// The squares a slider reaches, up to and including the first piece in its way.
    #[inline]
    pub(crate) fn slide(&self, direction: usize, from: Square, occupied: Bitboard) -> Bitboard {
        let rays = &self.rays[direction & 7];
        let ray = rays[from.cell()];
        let blockers = ray & occupied;
        let nearest = if direction < 4 { blockers.lowest() } else { blockers.highest() };
        nearest.map_or(ray, |first| ray & !rays[first.cell()])
    }

    /// The squares strictly between a slider and a square on its ray.
    #[inline]
    pub(crate) fn between(&self, direction: usize, from: Square, to: Square) -> Bitboard {
        self.rays[direction & 7][from.cell()] & self.rays[(direction & 7) ^ 4][to.cell()]
    }
}

/// Ways over the board, by square.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// Where it leaps or steps.
    pub(crate) leaps: PerSquare,
    /// Directions it slides in, as bits.
    pub(crate) slides: u8,
    /// How far, by direction.
    ranges: [u8; 8],
}

impl Reach {
    fn new(geometry: &Geometry, color: Color, paths: &Paths) -> Reach {
        let forward = if color == Color::Black { 1 } else { -1 };
        let on_board = |(right, ahead): Offset| (right * forward, -ahead * forward);
        let mut leaps = [Bitboard::EMPTY; CELLS];
        for from in geometry.all {
            let targets = paths.leaps.iter();
            leaps[from.index()] =
                targets.filter_map(|&to| geometry.step(from, on_board(to))).collect();
        }
        let (mut slides, mut ranges) = (0, [0; 8]);
        for (direction, step) in DIRECTIONS.iter().enumerate() {
            let slide = paths.slides.iter().find(|(to, _)| on_board(*to) == *step);
            if let Some(&(_, range)) = slide {
                slides |= 1 << direction;
                ranges[direction] = range;
            }
        }
        Reach { leaps, slides, ranges }
    }

    /// The directions it slides in.
    #[inline]
    fn directions(&self) -> impl Iterator<Item = usize> {
        let mut rest = self.slides;
        std::iter::from_fn(move || {
            let direction = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(direction)
        })
    }

    /// The squares it reaches from a square, the first piece in its way included.
    #[inline]
    pub(crate) fn from(&self, geometry: &Geometry, from: Square, occupied: Bitboard) -> Bitboard {
        let mut reached = self.leaps[from.cell()];
        for direction in self.directions() {
            reached |= self.slide(geometry, direction, from, occupied);
        }
        reached
    }

    #[inline]
    fn slide(
        &self,
        geometry: &Geometry,
        direction: usize,
        from: Square,
        occupied: Bitboard,
    ) -> Bitboard {
        let reached = geometry.slide(direction, from, occupied);
        match self.ranges[direction & 7] {
            UNLIMITED => reached,
            range if direction < 4 => nearest(reached, range, Bitboard::lowest),
            range => nearest(reached, range, Bitboard::highest),
        }
    }

    /// If it slides towards `target` on an empty board: the squares strictly between.
    #[inline]
    pub(crate) fn line_to(
        &self,
        geometry: &Geometry,
        from: Square,
        target: Square,
    ) -> Option<Bitboard> {
        let toward = |&it: &usize| geometry.rays[it & 7][from.cell()].contains(target);
        let direction = self.directions().find(toward)?;
        let between = geometry.between(direction, from, target);
        let range = self.ranges[direction & 7];
        (range == UNLIMITED || between.len() < range.into()).then_some(between)
    }
}

/// Everything about one side's pieces of one role.
#[derive(Clone, Debug)]
pub(crate) struct Mover {
    /// What it attacks.
    pub(crate) captures: Reach,
    /// Where it goes without capturing, for a piece that does this otherwise.
    quiet: Option<Box<Reach>>,
    /// The role it shows after turning over, where it can.
    pub(crate) other: Option<Role>,
    /// Squares on which it may stand after a move without turning, or a drop.
    pub(crate) may_stand: Bitboard,
    /// Squares on which it may stand having turned.
    pub(crate) may_turn: Bitboard,
}

impl Mover {
    pub(crate) fn new(geometry: &Geometry, color: Color, movement: &Movement) -> Mover {
        let quiet = (movement.quiet != movement.captures)
            .then(|| Box::new(Reach::new(geometry, color, &movement.quiet)));
        let captures = Reach::new(geometry, color, &movement.captures);
        let everywhere = geometry.all;
        Mover { captures, quiet, other: None, may_stand: everywhere, may_turn: everywhere }
    }

    /// The squares it attacks from a square.
    #[inline]
    pub(crate) fn attacks(
        &self,
        geometry: &Geometry,
        from: Square,
        occupied: Bitboard,
    ) -> Bitboard {
        self.captures.from(geometry, from, occupied)
    }

    /// The squares it can go to, where the squares of `enemy` are captures. Own pieces' squares
    /// may be among them.
    #[inline]
    pub(crate) fn targets(
        &self,
        geometry: &Geometry,
        from: Square,
        occupied: Bitboard,
        enemy: Bitboard,
    ) -> Bitboard {
        let captures = self.captures.from(geometry, from, occupied);
        match &self.quiet {
            None => captures,
            Some(quiet) => captures & enemy | quiet.from(geometry, from, occupied) & !occupied,
        }
    }

    /// The squares it could ever go to from a square: without a capture, and with one.
    pub(crate) fn everywhere(&self, geometry: &Geometry, from: Square) -> [Bitboard; 2] {
        let captures = self.captures.from(geometry, from, Bitboard::EMPTY);
        let quiet = self.quiet.as_ref();
        [quiet.map_or(captures, |it| it.from(geometry, from, Bitboard::EMPTY)), captures]
    }

    /// Squares from which it can ever move.
    pub(crate) fn movable(&self, geometry: &Geometry) -> Bitboard {
        let can_move = |&from: &Square| {
            self.everywhere(geometry, from).iter().any(|targets| !targets.is_empty())
        };
        geometry.all.iter().filter(can_move).collect()
    }
}

/// The first few squares of a slide.
#[cold]
fn nearest(
    mut squares: Bitboard,
    range: u8,
    first: impl Fn(Bitboard) -> Option<Square>,
) -> Bitboard {
    let mut near = Bitboard::EMPTY;
    for square in (0..range).map_while(|_| {
        let square = first(squares)?;
        squares.remove(square);
        Some(square)
    }) {
        near.insert(square);
    }
    near
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::betza::parse;

    fn squares(set: Bitboard) -> Vec<usize> {
        set.iter().map(Square::index).collect()
    }

    #[test]
    fn slides_stop_at_the_first_piece_or_their_range() {
        let geometry = Geometry::new(5, 5);
        let centre = Square::new(12);
        let rook = Mover::new(&geometry, Color::Black, &parse("R").unwrap());
        let short = Mover::new(&geometry, Color::Black, &parse("R1fR2").unwrap());
        let blocked = Bitboard::of(Square::new(7)) | Bitboard::of(Square::new(13));
        assert_eq!(squares(rook.attacks(&geometry, centre, blocked)), [7, 10, 11, 13, 17, 22]);
        let free = Bitboard::EMPTY;
        assert_eq!(squares(short.attacks(&geometry, centre, free)), [2, 7, 11, 13, 17]);
        assert!(short.captures.line_to(&geometry, Square::new(22), Square::new(2)).is_none());
        assert!(short.captures.line_to(&geometry, centre, Square::new(2)).is_some());
    }

    #[test]
    fn the_sides_move_in_opposite_directions() {
        let geometry = Geometry::new(3, 4);
        let knight = parse("ffN").unwrap();
        for color in Color::BOTH {
            let mover = Mover::new(&geometry, color, &knight);
            for from in geometry.all {
                let turned = Square::new(11 - from.index());
                let other = Mover::new(&geometry, color.opponent(), &knight);
                let there: Bitboard = other.captures.leaps[turned.index()]
                    .iter()
                    .map(|to| Square::new(11 - to.index()))
                    .collect();
                assert_eq!(mover.captures.leaps[from.index()], there);
            }
        }
    }

    #[test]
    fn far_ranks_mirror_each_other() {
        let geometry = Geometry::new(11, 11);
        assert_eq!(geometry.far_ranks(Color::Black, 2).len(), 22);
        assert_eq!(squares(geometry.far_ranks(Color::White, 1)), (110..121).collect::<Vec<_>>());
    }
}
