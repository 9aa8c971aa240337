//! The policy's labels: (direction or exact leap; turn, where it is a choice; or dropped face).
//!
//! A label and a destination must name one move. Along a line only the nearest piece can slide
//! to a square, so pieces at any distance share their direction's label; a leap, which may pass
//! over others, is named by its exact offset, and then the destination fixes the origin.

use super::EncodingError;
use keiko_rules::{Definition, Move, Role, Rules, Square};
use std::collections::{BTreeMap, BTreeSet};

/// The eight directions with their (forward, right) steps, clockwise.
const COMPASS: [(&str, (i32, i32)); 8] = [
    ("N", (1, 0)),
    ("NE", (1, 1)),
    ("E", (0, 1)),
    ("SE", (-1, 1)),
    ("S", (-1, 0)),
    ("SW", (-1, -1)),
    ("W", (0, -1)),
    ("NW", (1, -1)),
];

/// Betza atoms that leap along orthogonal lines, and the compass bits of those.
const ORTHOGONAL_LEAPERS: (&[char], u8) = (&['D', 'H'], 0b0101_0101);
/// Betza atoms that leap along diagonals, and the compass bits of those.
const DIAGONAL_LEAPERS: (&[char], u8) = (&['A', 'G'], 0b1010_1010);

/// Squares forward, squares to the right, as the mover sees it.
type Offset = (i32, i32);

/// What a label says, in the order in which labels are numbered.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
enum Label {
    Board { turns: bool, way: Way },
    Drop(Role),
}

#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
enum Way {
    /// Index in the compass.
    Direction(usize),
    Leap(Offset),
}

/// The labels of a game and the tables to find a move's.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    names: Vec<String>,
    files: i32,
    ranks: i32,
    turn_matters: bool,
    /// By role: bits of the directions in which it slides.
    slides: Vec<u8>,
    /// By turn, then offset (see [`Labels::cell`]): the label of a slide or step.
    lines: [Vec<Option<u16>>; 2],
    /// By turn, then offset: the label of a leap.
    leaps: [Vec<Option<u16>>; 2],
    /// By role.
    drops: Vec<Option<u16>>,
    /// By label: its mirror image.
    mirror: Vec<Option<usize>>,
}

impl Labels {
    pub(super) fn new(rules: &Rules, definition: &Definition) -> Result<Labels, EncodingError> {
        let mut labels = Labels::empty(rules);
        labels.slides = slides(rules);
        refuse_ambiguous_leaps(rules, definition, &labels.slides)?;
        let mut moves = Vec::new();
        for (role, mv) in rules.conceivable_moves() {
            let offset = match mv {
                Move::Board { from, to, .. } => labels.offset(from.index(), to.index()),
                Move::Drop { .. } => (0, 0),
            };
            moves.push((labels.describe(role, mv, offset), offset));
        }
        let all: BTreeSet<Label> = moves.iter().map(|&(label, _)| label).collect();
        let numbers: BTreeMap<Label, u16> = all.iter().copied().zip(0..).collect();
        for (label, offset) in moves {
            labels.enter(label, offset, numbers[&label]);
        }
        labels.names = all.iter().map(|label| label.name(rules)).collect();
        labels.mirror = all
            .iter()
            .map(|label| numbers.get(&label.mirrored()).map(|&number| number.into()))
            .collect();
        Ok(labels)
    }

    fn empty(rules: &Rules) -> Labels {
        let (files, ranks) = (rules.files() as i32, rules.ranks() as i32);
        let offsets = vec![None; ((2 * files - 1) * (2 * ranks - 1)) as usize];
        Labels {
            names: Vec::new(),
            files,
            ranks,
            turn_matters: rules.turning_is_a_choice(),
            slides: Vec::new(),
            lines: [offsets.clone(), offsets.clone()],
            leaps: [offsets.clone(), offsets],
            drops: vec![None; rules.roles().count()],
            mirror: Vec::new(),
        }
    }

    /// The labels' names, in order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// A label's mirror image, unless the rules have none.
    pub(super) fn mirror(&self, label: usize) -> Option<usize> {
        self.mirror[label]
    }

    /// The label of dropping a role.
    pub(super) fn drop(&self, role: Role) -> Option<usize> {
        self.drops[role.index()].map(usize::from)
    }

    /// The label of a board move, its squares as the mover sees them.
    pub(super) fn board(&self, role: Role, from: usize, to: usize, turns: bool) -> Option<usize> {
        let offset = self.offset(from, to);
        let table = match self.way(role, offset) {
            Way::Direction(_) => &self.lines,
            Way::Leap(_) => &self.leaps,
        };
        table[usize::from(turns && self.turn_matters)][self.cell(offset)].map(usize::from)
    }

    /// Index of an offset in the tables.
    fn cell(&self, (forward, right): Offset) -> usize {
        ((forward + self.ranks - 1) * (2 * self.files - 1) + right + self.files - 1) as usize
    }

    fn offset(&self, from: usize, to: usize) -> Offset {
        let (from, to) = (from as i32, to as i32);
        (from / self.files - to / self.files, to % self.files - from % self.files)
    }

    fn way(&self, role: Role, offset: Offset) -> Way {
        match direction(offset) {
            Some((direction, distance))
                if distance == 1 || self.slides[role.index()] >> direction & 1 == 1 =>
            {
                Way::Direction(direction)
            }
            _ => Way::Leap(offset),
        }
    }

    fn describe(&self, role: Role, mv: Move, offset: Offset) -> Label {
        match mv {
            Move::Board { turns, .. } => {
                Label::Board { turns: turns && self.turn_matters, way: self.way(role, offset) }
            }
            Move::Drop { role, .. } => Label::Drop(role),
        }
    }

    fn enter(&mut self, label: Label, offset: Offset, number: u16) {
        let cell = self.cell(offset);
        match label {
            Label::Drop(role) => self.drops[role.index()] = Some(number),
            Label::Board { turns, way: Way::Direction(_) } => {
                self.lines[usize::from(turns)][cell] = Some(number);
            }
            Label::Board { turns, way: Way::Leap(_) } => {
                self.leaps[usize::from(turns)][cell] = Some(number);
            }
        }
    }
}

impl Label {
    fn name(self, rules: &Rules) -> String {
        let (turns, way) = match self {
            Label::Drop(role) => return format!("drop:{}", rules.role_name(role)),
            Label::Board { turns, way } => (if turns { "+" } else { "" }, way),
        };
        match way {
            Way::Direction(direction) => format!("move:{}{turns}", COMPASS[direction].0),
            Way::Leap((forward, right)) => format!("leap:{forward:+}{right:+}{turns}"),
        }
    }

    fn mirrored(self) -> Label {
        match self {
            Label::Drop(role) => Label::Drop(role),
            Label::Board { turns, way: Way::Direction(direction) } => {
                Label::Board { turns, way: Way::Direction((8 - direction) % 8) }
            }
            Label::Board { turns, way: Way::Leap((forward, right)) } => {
                Label::Board { turns, way: Way::Leap((forward, -right)) }
            }
        }
    }
}

/// The compass direction and distance of an offset along a line.
fn direction((forward, right): Offset) -> Option<(usize, i32)> {
    let distance = forward.abs().max(right.abs());
    let unit = (forward.signum(), right.signum());
    let along = (unit.0 * distance, unit.1 * distance) == (forward, right);
    let direction = COMPASS.iter().position(|&(_, step)| step == unit)?;
    along.then_some((direction, distance))
}

/// By role: the directions in which it reaches every square up to the edge from anywhere. A
/// slider of limited range is not among them, and its far moves are labelled as leaps.
fn slides(rules: &Rules) -> Vec<u8> {
    let moves: BTreeSet<(Role, Square, Square)> = rules
        .conceivable_moves()
        .into_iter()
        .filter_map(|(role, mv)| Some((role, mv.from()?, mv.to())))
        .collect();
    let (files, ranks) = (rules.files() as i32, rules.ranks() as i32);
    let step = |from: i32, (forward, right): Offset| {
        let (rank, column) = (from / files - forward, from % files + right);
        let inside = (0..ranks).contains(&rank) && (0..files).contains(&column);
        inside.then_some(rank * files + column)
    };
    let reaches_all = |role: Role, unit: Offset| {
        (0..files * ranks).all(|from| {
            let origin = Square::new(from as usize);
            std::iter::successors(step(from, unit), |&at| step(at, unit))
                .all(|to| moves.contains(&(role, origin, Square::new(to as usize))))
        })
    };
    let bits = |role| {
        let sliding = |&(index, _): &(usize, _)| reaches_all(role, COMPASS[index].1);
        COMPASS.iter().enumerate().filter(sliding).fold(0, |bits, (index, _)| bits | 1 << index)
    };
    rules.roles().map(bits).collect()
}

/// On a narrow board a leaper may reach as far as a slider. Where its movement says it leaps
/// along a line and its moves look like a slide, nothing tells them apart.
fn refuse_ambiguous_leaps(
    rules: &Rules,
    definition: &Definition,
    slides: &[u8],
) -> Result<(), EncodingError> {
    let leaps = |role: Role| {
        let piece = definition.pieces.get(rules.kind_name(rules.kind_of(role)));
        let turned = piece.and_then(|piece| piece.promotes.as_deref()).unwrap_or_default();
        let moves = piece.map_or("", |piece| piece.moves.as_str());
        let bits = |(atoms, lines): (&[char], u8)| {
            if moves.contains(atoms) || turned.contains(atoms) { lines } else { 0 }
        };
        bits(ORTHOGONAL_LEAPERS) | bits(DIAGONAL_LEAPERS)
    };
    match rules.roles().find(|&role| slides[role.index()] & leaps(role) != 0) {
        None => Ok(()),
        Some(role) => Err(EncodingError::AmbiguousLeap {
            game: rules.name().to_owned(),
            piece: rules.role_name(role).to_owned(),
        }),
    }
}
