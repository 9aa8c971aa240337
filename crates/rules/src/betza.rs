//! Movement written in Betza letters: `K`, `FfW`, `ffN`, `RF`, `B2`.
//!
//! A movement is a row of atoms, each with its modifiers before it and perhaps a range behind.
//! Atoms: `W F D N A H C Z G` leap (0,1) (1,1) (0,2) (1,2) (2,2) (0,3) (1,3) (2,3) (3,3); `R` and
//! `B` slide along `W` and `F`; `K` is `WF`, `Q` is `RB`. Modifiers choose among an atom's
//! directions: `f b l r` forward, backward, left, right; `v s` the more upright or more level
//! ones. Orthogonal directions are chosen letter by letter (`fsW`); all others by letters that
//! belong together, two by two: `frB` (or `rfB`) is forward and to the right, `ffN` the two most forward leaps. A range
//! of n after `W F R B K Q` slides n squares at most. `m` before an atom means that it only moves
//! (to an empty square), `c` that it only captures: a chess pawn begins `mfWcfF`.

/// A direction or leap as Black sees it: squares to the right, squares forward.
pub(crate) type Offset = (i8, i8);

/// A slide's range where nothing but the board and other pieces limits it.
pub(crate) const UNLIMITED: u8 = u8::MAX;

/// A piece's movement, in a form in which equal movements are equal.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct Movement {
    /// How it captures, and so what it attacks.
    pub(crate) captures: Paths,
    /// How it goes to empty squares: for most pieces the same.
    pub(crate) quiet: Paths,
}

/// Ways over the board.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(crate) struct Paths {
    /// Leaps and single steps, sorted.
    pub(crate) leaps: Vec<Offset>,
    /// Slides: unit direction and range, sorted.
    pub(crate) slides: Vec<(Offset, u8)>,
}

/// Why a movement cannot be read.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum MovementError {
    /// There is nothing to read.
    #[error("is empty; a piece that never moves is no piece")]
    Empty,
    /// A letter is neither atom nor modifier.
    #[error("has `{found}`; atoms are W F D N A H C Z G R B K Q, modifiers f b l r v s m c")]
    Letter {
        /// The letter found.
        found: char,
    },
    /// Modifiers are followed by no atom.
    #[error("ends in modifiers `{found}` without an atom after them")]
    NoAtom {
        /// The modifiers.
        found: String,
    },
    /// The modifiers choose none of the atom's directions.
    #[error("has `{found}`, whose modifiers choose none of that atom's directions")]
    NoDirection {
        /// Modifiers and atom.
        found: String,
    },
    /// A range stands where it cannot, or is no range.
    #[error("has range {found} after `{atom}`; a range from 1 to 20 may follow W F R B K Q only")]
    Range {
        /// The range as written.
        found: String,
        /// The atom before it.
        atom: char,
    },
}

/// Reads a movement.
pub(crate) fn parse(text: &str) -> Result<Movement, MovementError> {
    if text.is_empty() {
        return Err(MovementError::Empty);
    }
    let mut movement = Movement::default();
    let mut rest = text;
    while !rest.is_empty() {
        rest = parse_atom(rest, &mut movement)?;
    }
    movement.captures.normalise();
    movement.quiet.normalise();
    Ok(movement)
}

/// Reads one atom with its modifiers and range; the text after it.
fn parse_atom<'a>(text: &'a str, movement: &mut Movement) -> Result<&'a str, MovementError> {
    let (modifiers, rest) = split_while(text, |c| "fblrvsmc".contains(c));
    let Some(atom) = rest.chars().next() else {
        return Err(MovementError::NoAtom { found: modifiers.to_owned() });
    };
    let rest = &rest[atom.len_utf8()..];
    let (digits, rest) = split_while(rest, |c| c.is_ascii_digit());
    let range = parse_range(atom, digits)?;
    let directions: String = modifiers.chars().filter(|c| !"mc".contains(*c)).collect();
    let offsets: Vec<Offset> =
        atom_offsets(atom)?.into_iter().filter(|&to| is_chosen(&directions, to)).collect();
    if offsets.is_empty() {
        return Err(MovementError::NoDirection { found: format!("{modifiers}{atom}") });
    }
    let (moves, captures) = (modifiers.contains('m'), modifiers.contains('c'));
    if moves || !captures {
        movement.quiet.add(&offsets, range);
    }
    if captures || !moves {
        movement.captures.add(&offsets, range);
    }
    Ok(rest)
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// How far an atom goes: 1 for a leap or step.
fn parse_range(atom: char, digits: &str) -> Result<u8, MovementError> {
    if digits.is_empty() {
        return Ok(if "RBQ".contains(atom) { UNLIMITED } else { 1 });
    }
    let range = digits.parse().ok().filter(|range| (1..=20).contains(range));
    range
        .filter(|_| "WFRBKQ".contains(atom))
        .ok_or_else(|| MovementError::Range { found: digits.to_owned(), atom })
}

/// All the directions of an atom.
fn atom_offsets(atom: char) -> Result<Vec<Offset>, MovementError> {
    let shapes: &[Offset] = match atom {
        'W' | 'R' => &[(0, 1)],
        'F' | 'B' => &[(1, 1)],
        'K' | 'Q' => &[(0, 1), (1, 1)],
        'D' => &[(0, 2)],
        'N' => &[(1, 2)],
        'A' => &[(2, 2)],
        'H' => &[(0, 3)],
        'C' => &[(1, 3)],
        'Z' => &[(2, 3)],
        'G' => &[(3, 3)],
        found => return Err(MovementError::Letter { found }),
    };
    Ok(shapes.iter().flat_map(|&(a, b)| turned(a, b)).collect())
}

/// An offset turned and mirrored in all ways, without repetition.
fn turned(a: i8, b: i8) -> Vec<Offset> {
    let mut all = vec![(a, b), (a, -b), (-a, b), (-a, -b), (b, a), (b, -a), (-b, a), (-b, -a)];
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether the modifiers of an atom leave this direction in.
fn is_chosen(modifiers: &str, to: Offset) -> bool {
    let orthogonal = to.0 == 0 || to.1 == 0;
    modifiers.is_empty() || groups(modifiers, orthogonal).iter().any(|group| agrees(group, to))
}

/// Splits modifiers into groups that each choose directions: `frbl` is `fr` and `bl` for a
/// diagonal, as is `rflb`, but four single letters for an orthogonal atom.
fn groups(modifiers: &str, orthogonal: bool) -> Vec<&str> {
    let mut groups = Vec::new();
    let mut rest = modifiers;
    while !rest.is_empty() {
        let letters = rest.as_bytes();
        let paired = letters.len() > 1
            && !orthogonal
            && (letters[0] == letters[1]
                || (b"fb".contains(&letters[0]) && b"lrs".contains(&letters[1]))
                || (b"lrs".contains(&letters[0]) && b"fb".contains(&letters[1])));
        let (group, tail) = rest.split_at(if paired { 2 } else { 1 });
        groups.push(group);
        rest = tail;
    }
    groups
}

/// Whether a direction is what every letter of a group says. A doubled letter asks for the
/// directions that lean most its way.
fn agrees(group: &str, (right, forward): Offset) -> bool {
    let upright = forward.abs() > right.abs();
    let level = right.abs() > forward.abs();
    let doubled = group.len() == 2 && group.as_bytes()[0] == group.as_bytes()[1];
    group.chars().all(|letter| match letter {
        'f' => forward > 0 && (!doubled || upright),
        'b' => forward < 0 && (!doubled || upright),
        'l' => right < 0 && (!doubled || level),
        'r' => right > 0 && (!doubled || level),
        'v' => upright,
        _ => level,
    })
}

impl Paths {
    /// Whether they lead nowhere.
    pub(crate) fn is_empty(&self) -> bool {
        self.leaps.is_empty() && self.slides.is_empty()
    }

    fn add(&mut self, offsets: &[Offset], range: u8) {
        match range {
            1 => self.leaps.extend(offsets),
            _ => self.slides.extend(offsets.iter().map(|&to| (to, range))),
        }
    }

    /// Sorts, drops repetitions and leaps that a slide makes anyway.
    fn normalise(&mut self) {
        self.slides.sort_unstable_by_key(|&(to, range)| (to, std::cmp::Reverse(range)));
        self.slides.dedup_by_key(|slide| slide.0);
        self.leaps.retain(|leap| self.slides.iter().all(|(to, _)| to != leap));
        self.leaps.sort_unstable();
        self.leaps.dedup();
    }

    /// The same with left and right exchanged.
    fn mirrored(&self) -> Paths {
        let mut mirrored = self.clone();
        mirrored.leaps.iter_mut().for_each(|to| to.0 = -to.0);
        mirrored.slides.iter_mut().for_each(|(to, _)| to.0 = -to.0);
        mirrored.normalise();
        mirrored
    }
}

impl Movement {
    /// The same with left and right exchanged.
    pub(crate) fn mirrored(&self) -> Movement {
        Movement { captures: self.captures.mirrored(), quiet: self.quiet.mirrored() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn leaps(text: &str) -> Vec<Offset> {
        let movement = parse(text).unwrap();
        assert_eq!(movement.captures, movement.quiet);
        movement.captures.leaps
    }

    fn slides(text: &str) -> Vec<(Offset, u8)> {
        parse(text).unwrap().captures.slides
    }

    #[test]
    fn the_pieces_of_shogi() {
        assert_eq!(leaps("fW"), [(0, 1)]);
        assert_eq!(leaps("ffN"), [(-1, 2), (1, 2)]);
        assert_eq!(leaps("FfW"), [(-1, -1), (-1, 1), (0, 1), (1, -1), (1, 1)]);
        assert_eq!(leaps("WfF"), [(-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(leaps("K").len(), 8);
        assert_eq!(slides("fR"), [((0, 1), UNLIMITED)]);
        assert_eq!(parse("RF").unwrap(), parse("RK").unwrap());
        assert_eq!(slides("BW").len(), 4);
    }

    #[test]
    fn modifiers_choose_directions() {
        assert_eq!(leaps("frF"), [(1, 1)]);
        assert_eq!(leaps("frblF"), [(-1, -1), (1, 1)]);
        assert_eq!(leaps("rfF"), leaps("frF"));
        assert_eq!(leaps("lfN"), leaps("flN"));
        assert_eq!(leaps("frW"), [(0, 1), (1, 0)]);
        assert_eq!(leaps("fN").len(), 4);
        assert_eq!(leaps("fsN"), [(-2, 1), (2, 1)]);
        assert_eq!(leaps("vN").len(), 4);
        assert_eq!(leaps("rrN"), [(2, -1), (2, 1)]);
        assert_eq!(slides("F2fB").len(), 4);
        assert_eq!(parse("K1").unwrap(), parse("K").unwrap());
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        assert_eq!(parse(""), Err(MovementError::Empty));
        assert_eq!(parse("FxW"), Err(MovementError::Letter { found: 'x' }));
        assert_eq!(parse("Ff"), Err(MovementError::NoAtom { found: "f".into() }));
        assert_eq!(parse("vF"), Err(MovementError::NoDirection { found: "vF".into() }));
        assert_eq!(parse("N2"), Err(MovementError::Range { found: "2".into(), atom: 'N' }));
        assert_eq!(parse("R0"), Err(MovementError::Range { found: "0".into(), atom: 'R' }));
    }

    #[test]
    fn symmetry_is_seen() {
        let mirrored = |text| parse(text).unwrap().mirrored();
        assert_eq!(mirrored("WfF"), parse("WfF").unwrap());
        assert_eq!(mirrored("frFW"), parse("flFW").unwrap());
        assert_eq!(mirrored("fRbrBblF"), parse("fRblBbrF").unwrap());
        assert_ne!(mirrored("frB"), parse("frB").unwrap());
    }

    #[test]
    fn a_piece_may_capture_otherwise_than_it_moves() {
        let pawn = parse("mfWcfF").unwrap();
        assert_eq!(pawn.quiet.leaps, [(0, 1)]);
        assert_eq!(pawn.captures.leaps, [(-1, 1), (1, 1)]);
        assert_eq!(parse("mcfW"), parse("fW"));
        assert_eq!(parse("fmW"), parse("mfW"));
        let cannon = parse("mRcF").unwrap();
        assert_eq!((cannon.quiet.slides.len(), cannon.captures.leaps.len()), (4, 4));
    }
}
