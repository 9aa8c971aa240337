//! The policy's labels: (direction or exact leap; turn, where it is a choice; or dropped face).
//!
//! A label and a destination must name one move. Along a line only the nearest piece can slide
//! to a square, so pieces at any distance share their direction's label; a leap, which may pass
//! over others, is named by its exact offset, and then the destination fixes the origin. So no
//! two legal moves of any game share a label.

use keiko_rules::{Move, Role, Rules};
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
    /// By role, then offset (see [`Labels::cell`]): whether it leaps there, past the squares next
    /// to it.
    leapers: Vec<Vec<bool>>,
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
    pub(super) fn new(rules: &Rules) -> Labels {
        let mut labels = Labels::empty(rules);
        labels.leapers = rules.roles().map(|role| labels.leaps_of(rules, role)).collect();
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
            .map(|label| numbers.get(&label.mirrored(rules)).map(|&number| number.into()))
            .collect();
        labels
    }

    /// By offset: whether a role leaps there, past the squares next to it.
    fn leaps_of(&self, rules: &Rules, role: Role) -> Vec<bool> {
        let mut leaps = vec![false; self.lines[0].len()];
        for forward in 1 - self.ranks..self.ranks {
            for right in 1 - self.files..self.files {
                let far = forward.abs().max(right.abs()) > 1;
                let cell = self.cell((forward, right));
                leaps[cell] = far && rules.leaps(role, (right as i8, forward as i8));
            }
        }
        leaps
    }

    fn empty(rules: &Rules) -> Labels {
        let (files, ranks) = (rules.files() as i32, rules.ranks() as i32);
        let offsets = vec![None; ((2 * files - 1) * (2 * ranks - 1)) as usize];
        Labels {
            names: Vec::new(),
            files,
            ranks,
            turn_matters: rules.turning_is_a_choice(),
            leapers: Vec::new(),
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
            Some(direction) if !self.leapers[role.index()][self.cell(offset)] => {
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

    fn mirrored(self, rules: &Rules) -> Label {
        match self {
            Label::Drop(role) => Label::Drop(rules.mirror_role(role)),
            Label::Board { turns, way: Way::Direction(direction) } => {
                Label::Board { turns, way: Way::Direction((8 - direction) % 8) }
            }
            Label::Board { turns, way: Way::Leap((forward, right)) } => {
                Label::Board { turns, way: Way::Leap((forward, -right)) }
            }
        }
    }
}

/// The compass direction of an offset along a line.
fn direction((forward, right): Offset) -> Option<usize> {
    let distance = forward.abs().max(right.abs());
    let unit = (forward.signum(), right.signum());
    let along = (unit.0 * distance, unit.1 * distance) == (forward, right);
    let direction = COMPASS.iter().position(|&(_, step)| step == unit)?;
    along.then_some(direction)
}
