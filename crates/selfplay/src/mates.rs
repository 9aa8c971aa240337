//! Forced wins: the shortest one within some plies, by deepening.
//!
//! Where a royal piece may not be left attacked, the attacker tries moves that give check only;
//! elsewhere everybody tries every move, and a win is whatever the game's goals call one. A
//! position that was met before, in the game or on the way, counts as failed for the attacker:
//! whoever wins need not repeat. Draws by length and the like fail as well, and a pawn drop that
//! mates is no legal move to begin with.

use crate::table::Table;
use keiko_rules::{Color, Game, Move, Outcome};

/// A win that nothing prevents.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Win {
    /// The move that begins it.
    pub mv: Move,
    /// Plies to the end, its own among them.
    pub plies: u16,
}

/// What a solver has to say about the side to move.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Verdict {
    /// It wins.
    Win(Win),
    /// It has no such win within the plies asked for.
    NoWin,
    /// It was not found out with so much work.
    Unknown,
}

/// How far a position is known.
#[derive(Copy, Clone, Default, Debug)]
struct Known {
    /// The attacker wins within so many plies; 0 where that is unknown.
    wins: u16,
    /// Within so many plies it does not.
    fails: u16,
}

/// Looks for the shortest forced win. It keeps its memory from call to call.
#[derive(Clone, Debug, Default)]
pub struct MateSolver {
    /// By plies left: moves to try.
    lists: Vec<Vec<Move>>,
    known: Table<Known>,
    attacker: Option<Color>,
    nodes: u64,
    limit: u64,
    /// Whether a failure in hand came from a repetition, and so holds on this path only.
    repeated: bool,
}

/// With fewer plies left, searching is faster than remembering.
const REMEMBERED: u16 = 3;

impl MateSolver {
    /// The shortest win of the side to move within `plies`, which are made odd where only checks
    /// count, visiting at most `nodes` positions.
    pub fn solve(&mut self, game: &mut Game, plies: u16, nodes: u64) -> Verdict {
        self.begin(game, game.side_to_move(), plies, nodes);
        for within in (1..=within_limit(game, plies)).step_by(2) {
            if let Some(mv) = self.first_winning(game, within) {
                return Verdict::Win(Win { mv, plies: within });
            }
            if self.is_spent() {
                return Verdict::Unknown;
            }
        }
        Verdict::NoWin
    }

    /// In how many plies, at most `plies`, the side to move loses whatever it does.
    pub fn solve_loss(&mut self, game: &mut Game, plies: u16, nodes: u64) -> Option<u16> {
        self.begin(game, game.side_to_move().opponent(), plies, nodes);
        let mut all = (0..=within_limit(game, plies)).step_by(2);
        all.find(|&within| self.defends_in_vain(game, within) && !self.is_spent())
    }

    /// The first moves that win within exactly as many plies as the shortest win has: one found
    /// with `nodes` positions, and those that as many again show.
    pub fn shortest_wins(&mut self, game: &mut Game, plies: u16, nodes: u64) -> Vec<Win> {
        let Verdict::Win(Win { mv: first, plies }) = self.solve(game, plies, nodes) else {
            return Vec::new();
        };
        let mut moves = Vec::new();
        attacks(game, &mut moves);
        self.limit = self.nodes.saturating_add(nodes);
        moves.retain(|&mv| mv == first || self.wins_by(game, mv, plies));
        moves.into_iter().map(|mv| Win { mv, plies }).collect()
    }

    /// Positions visited by the last call.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    fn begin(&mut self, game: &Game, attacker: Color, plies: u16, nodes: u64) {
        self.known.clear();
        self.attacker = Some(attacker);
        (self.nodes, self.limit, self.repeated) = (0, nodes, false);
        self.lists.resize(usize::from(plies) + 1, Vec::new());
        debug_assert!(game.conclusion().is_none(), "a game that is over has no more wins");
    }

    fn is_spent(&self) -> bool {
        self.nodes >= self.limit
    }

    /// The first move with which the side to move wins within `left` plies.
    fn first_winning(&mut self, game: &mut Game, left: u16) -> Option<Move> {
        let mut moves = std::mem::take(&mut self.lists[usize::from(left)]);
        attacks(game, &mut moves);
        let found = moves.iter().copied().find(|&mv| self.wins_by(game, mv, left));
        self.lists[usize::from(left)] = moves;
        found
    }

    fn wins_by(&mut self, game: &mut Game, mv: Move, left: u16) -> bool {
        game.play(mv);
        let won = self.defends_in_vain(game, left - 1);
        game.undo();
        won
    }

    /// Whether the attacker, whose move it is, wins within `left` plies.
    fn attacks_well(&mut self, game: &mut Game, left: u16) -> bool {
        if left == 0 || self.is_spent() {
            return false;
        }
        if left < REMEMBERED {
            return self.first_winning(game, left).is_some();
        }
        let key = game.position().key();
        let mut known = self.known.get(key).unwrap_or_default();
        if known.wins != 0 && known.wins <= left {
            return true;
        }
        if known.fails >= left {
            return false;
        }
        let before = std::mem::replace(&mut self.repeated, false);
        let won = self.first_winning(game, left).is_some();
        if won {
            known.wins = left;
        } else if !self.repeated && !self.is_spent() {
            known.fails = left;
        }
        self.known.put(key, known);
        self.repeated = before || (self.repeated && !won);
        won
    }

    /// Whether the attacker wins within `left` plies whatever the side to move does.
    fn defends_in_vain(&mut self, game: &mut Game, left: u16) -> bool {
        self.nodes += 1;
        if let Some(ending) = game.conclusion() {
            return Some(ending.outcome) == self.attacker.map(Outcome::Win);
        }
        if left < 2 || self.is_spent() {
            return false;
        }
        if game.repetition().occurrences > 1 {
            self.repeated = true;
            return false;
        }
        let mut moves = std::mem::take(&mut self.lists[usize::from(left)]);
        game.legal_moves(&mut moves);
        let lost = moves.iter().all(|&mv| {
            game.play(mv);
            let won = match game.conclusion() {
                Some(ending) => Some(ending.outcome) == self.attacker.map(Outcome::Win),
                None => self.attacks_well(game, left - 1),
            };
            game.undo();
            won
        });
        self.lists[usize::from(left)] = moves;
        lost
    }
}

/// The moves an attacker tries.
pub(crate) fn attacks(game: &Game, moves: &mut Vec<Move>) {
    if game.rules().has_check() {
        game.rules().checks(game.position(), moves);
    } else {
        game.legal_moves(moves);
    }
}

/// Plies that can be played before the game is over by its length.
fn within_limit(game: &Game, plies: u16) -> u16 {
    let left = game
        .ply_limit()
        .map_or(u64::MAX, |limit| u64::from(limit).saturating_sub(game.ply() as u64));
    u16::try_from(left).unwrap_or(u16::MAX).min(plies)
}
