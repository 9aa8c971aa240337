//! What a network sees of a game and how its answers name moves: the only place that knows
//! plane and label numbers.

mod labels;

use keiko_rules::{Color, Game, Move, Position, Rules, Square};
use labels::Labels;
use std::sync::Arc;

/// Unbroken checks from which on one more changes nothing.
const LONGEST_CHECK_SERIES: u16 = 8;

/// Where each plane is, by number; what the rules cannot give has none.
#[derive(Clone, Debug)]
struct Planes {
    names: Vec<String>,
    /// First plane of the pieces: own roles, then the other side's.
    roles: usize,
    /// By kind: the plane of its number in the own hand and how many make it full.
    hands: Vec<Option<(usize, f32)>>,
    /// Planes from one side's hand to the other's.
    hand_kinds: usize,
    board: usize,
    check: usize,
    /// The plane of the second occurrence, and how many such planes there are.
    repeat: (usize, usize),
    /// The planes of who loses by repetition: own, then other.
    loses: Option<usize>,
    /// The planes of the running checks: own, then other.
    series: Option<usize>,
    /// The plane of how near the ply limit is.
    progress: Option<usize>,
    /// Planes that a mirror image exchanges.
    swaps: Vec<(usize, usize)>,
}

impl Planes {
    fn new(rules: &Rules, progress: bool) -> Planes {
        let mut names = Vec::new();
        for side in ["own", "other"] {
            names.extend(rules.roles().map(|role| format!("{side}:{}", rules.role_name(role))));
        }
        let roles = rules.roles().count();
        let kinds: Vec<_> = rules.kinds().filter(|&kind| rules.hand_maximum(kind) > 0).collect();
        let mut hands = vec![None; rules.kinds().count()];
        for (offset, &kind) in kinds.iter().enumerate() {
            let maximum = f32::from(rules.hand_maximum(kind));
            hands[kind.index()] = Some((names.len() + offset, maximum));
        }
        for side in ["own", "other"] {
            names
                .extend(kinds.iter().map(|&kind| format!("hand:{side}:{}", rules.kind_name(kind))));
        }
        let mut add = |more: &[String]| {
            names.extend_from_slice(more);
            names.len() - more.len()
        };
        let board = add(&["board".to_owned()]);
        let check = add(&["check".to_owned()]);
        let repeats: Vec<String> = (2..rules.repetition_count().unwrap_or(0))
            .map(|count| format!("repeat:{count}"))
            .collect();
        let repeat = (add(&repeats), repeats.len());
        let both = |what: &str| ["own", "other"].map(|side| what.replace('*', side));
        // Planes that show the same in every position say nothing.
        let losers = Color::BOTH.map(|first| rules.repetition_loser(first, Color::Black));
        let loses = (losers[0] != losers[1]).then(|| add(&both("repetition:*-loses")));
        let series = rules.perpetual_check_loses().then(|| add(&both("checks:*")));
        let progress = progress.then(|| add(&["progress".to_owned()]));
        let hand_kinds = kinds.len();
        let swaps = mirror_swaps(rules, &names);
        Planes {
            names,
            roles,
            hands,
            hand_kinds,
            board,
            check,
            repeat,
            loses,
            series,
            progress,
            swaps,
        }
    }
}

/// The pairs of planes of pieces that are each other's mirror image, on the board and in hand.
fn mirror_swaps(rules: &Rules, names: &[String]) -> Vec<(usize, usize)> {
    let partners = rules.roles().map(|role| (role, rules.mirror_role(role)));
    let pairs = partners.filter(|(role, partner)| role < partner);
    let plane = |name: String| names.iter().position(|it| *it == name);
    let mut swaps = Vec::new();
    for (role, partner) in pairs {
        for place in ["own:", "other:", "hand:own:", "hand:other:"] {
            let plane = |role| plane(format!("{place}{}", rules.role_name(role)));
            swaps.extend(plane(role).zip(plane(partner)));
        }
    }
    swaps
}

/// The planes of one game, and the labels of its moves.
#[derive(Clone, Debug)]
pub struct Encoding {
    rules: Arc<Rules>,
    planes: Planes,
    labels: Labels,
}

impl Encoding {
    /// The encoding of a game.
    pub fn new(rules: Arc<Rules>) -> Encoding {
        Encoding::with_progress(rules, false)
    }

    /// The encoding of a game, with a plane of how near the ply limit is or without: plies played
    /// of those allowed, and 0 where a game has no limit.
    pub fn with_progress(rules: Arc<Rules>, progress: bool) -> Encoding {
        let (labels, planes) = (Labels::new(&rules), Planes::new(&rules, progress));
        Encoding { rules, planes, labels }
    }

    /// The rules it encodes.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Number of input planes.
    pub fn planes(&self) -> usize {
        self.planes.names.len()
    }

    /// Number of policy planes: the labels without their destination.
    pub fn labels(&self) -> usize {
        self.labels.names().len()
    }

    /// Number of squares.
    pub fn squares(&self) -> usize {
        self.rules.squares()
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.rules.files()
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.rules.ranks()
    }

    /// The planes' names, in order.
    pub fn plane_names(&self) -> &[String] {
        &self.planes.names
    }

    /// The labels' names, in order.
    pub fn label_names(&self) -> &[String] {
        self.labels.names()
    }

    /// Writes what the side to move sees into `out`, `[planes, squares]`: every square seen
    /// from its side of the board.
    ///
    /// # Panics
    /// When `out` has another length.
    pub fn encode(&self, game: &Game, out: &mut [f32]) {
        assert_eq!(out.len(), self.planes() * self.squares(), "one entry a plane and square");
        out.fill(0.0);
        let side = game.side_to_move();
        self.encode_pieces(game.position(), side, out);
        let planes = &self.planes;
        self.fill(out, planes.board, 1.0);
        self.fill(out, planes.check, f32::from(u8::from(game.in_check())));
        let history = self.history(game);
        for index in 0..history.repeats {
            self.fill(out, planes.repeat.0 + index, 1.0);
        }
        for index in 0..2 {
            if let Some(plane) = planes.loses {
                self.fill(out, plane + index, f32::from(u8::from(history.loses[index])));
            }
            if let Some(plane) = planes.series {
                let share = f32::from(history.checks[index]) / f32::from(LONGEST_CHECK_SERIES);
                self.fill(out, plane + index, share);
            }
        }
        if let Some(plane) = planes.progress {
            self.fill(out, plane, history.progress);
        }
    }

    fn encode_pieces(&self, position: &Position, side: Color, out: &mut [f32]) {
        for (index, color) in [side, side.opponent()].into_iter().enumerate() {
            let first = index * self.planes.roles;
            for square in position.of_color(color).iter() {
                let piece = position.piece_at(square).expect("a square of a side has its piece");
                let plane = first + piece.role.index();
                out[plane * self.squares() + self.seen(side, square)] = 1.0;
            }
            for kind in self.rules.kinds() {
                let count = position.hand(color, kind);
                if let (1.., Some((plane, full))) = (count, self.planes.hands[kind.index()]) {
                    let plane = plane + index * self.planes.hand_kinds;
                    self.fill(out, plane, f32::from(count) / full);
                }
            }
        }
    }

    fn fill(&self, out: &mut [f32], plane: usize, value: f32) {
        out[plane * self.squares()..][..self.squares()].fill(value);
    }

    /// A square's number seen from one side of the board.
    fn seen(&self, side: Color, square: Square) -> usize {
        match side {
            Color::Black => square.index(),
            Color::White => self.squares() - 1 - square.index(),
        }
    }

    /// What the planes show besides the position.
    fn history(&self, game: &Game) -> History {
        let repetition = game.repetition();
        let side = game.side_to_move();
        let sides = [side, side.opponent()];
        let repeats = usize::from(repetition.occurrences.saturating_sub(1));
        let loses = sides.map(|color| repetition.loser == Some(color));
        let checks = sides.map(|color| repetition.series[color.index()].min(LONGEST_CHECK_SERIES));
        History {
            repeats: repeats.min(self.planes.repeat.1),
            loses: loses.map(|it| it && self.planes.loses.is_some()),
            checks: checks.map(|it| if self.planes.series.is_some() { it } else { 0 }),
            progress: match (self.planes.progress, game.ply_limit()) {
                (Some(_), Some(limit)) => (game.ply() as f32 / limit.max(1) as f32).min(1.0),
                _ => 0.0,
            },
        }
    }

    /// A legal move's label: its index in the flattened policy `[labels, squares]`, as the
    /// mover sees the board.
    ///
    /// # Panics
    /// When it is no possible move of the position.
    pub fn label(&self, position: &Position, mv: Move) -> usize {
        let side = position.side_to_move();
        let to = self.seen(side, mv.to());
        let plane = match mv {
            Move::Drop { role, .. } => self.labels.drop(role),
            Move::Board { from, turns, .. } => {
                let role = position.piece_at(from).expect("a move moves a piece").role;
                self.labels.board(role, self.seen(side, from), to, turns)
            }
        };
        plane.expect("every possible move has a label") * self.squares() + to
    }

    /// Whether a mirror image of a game is as good a game.
    pub fn is_mirror_symmetric(&self) -> bool {
        self.rules.is_mirror_symmetric()
    }

    /// Exchanges left and right in an encoded position.
    pub fn mirror_input(&self, x: &mut [f32]) {
        x.chunks_exact_mut(self.files()).for_each(<[f32]>::reverse);
        for &(one, other) in &self.planes.swaps {
            let (before, after) = x.split_at_mut(one.max(other) * self.squares());
            let first = &mut before[one.min(other) * self.squares()..][..self.squares()];
            first.swap_with_slice(&mut after[..self.squares()]);
        }
    }

    /// The label of the same move with left and right exchanged.
    ///
    /// # Panics
    /// When the rules are not mirror-symmetric.
    pub fn mirror_label(&self, index: usize) -> usize {
        let (plane, square) = (index / self.squares(), index % self.squares());
        let column = square % self.files();
        let mirrored = square - column + self.files() - 1 - column;
        self.labels.mirror(plane).expect("mirror images need symmetric rules") * self.squares()
            + mirrored
    }

    /// A hash of exactly what [`encode`](Encoding::encode) reads: where keys are equal, so are
    /// the encoded positions.
    pub fn key(&self, game: &Game) -> u64 {
        let history = self.history(game);
        let bits = [
            history.repeats as u64,
            history.loses[0].into(),
            history.loses[1].into(),
            history.checks[0].into(),
            history.checks[1].into(),
        ];
        let packed = bits.into_iter().fold(0, |packed, bits| packed << 8 | bits);
        let packed = packed ^ mixed(history.progress.to_bits().into());
        // In-check needs no entry: it follows from the position.
        mixed(game.position().key() ^ mixed(packed))
    }
}

/// What the planes show besides the position: own side first.
struct History {
    repeats: usize,
    loses: [bool; 2],
    checks: [u16; 2],
    progress: f32,
}

/// SplitMix64's finaliser: every bit of the input reaches every bit of the result.
fn mixed(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
