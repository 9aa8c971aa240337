//! Forced wins however long, by proof numbers: df-pn (Nagai, 2002).
//!
//! A position's proof number is how many positions at least have yet to be proven for a win, its
//! disproof number how many to be disproven. The search always goes to where the fewest are
//! missing, as deep as that leads, and comes back when another place has become better. What is
//! tried and what counts as failed is as in [`mates`](crate::MateSolver).

use crate::mates::{Verdict, Win, attacks};
use crate::table::Table;
use keiko_rules::{Color, Game, Move, Outcome};

/// More than any sum of numbers.
const INFINITE: u32 = u32::MAX / 2;
/// Longest line that is followed.
const DEEPEST: usize = 512;

/// Positions missing to a proof and to a disproof.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
struct Numbers {
    proof: u32,
    disproof: u32,
}

impl Numbers {
    const UNKNOWN: Numbers = Numbers { proof: 1, disproof: 1 };
    const WON: Numbers = Numbers { proof: 0, disproof: INFINITE };
    const FAILED: Numbers = Numbers { proof: INFINITE, disproof: 0 };

    fn reaches(self, limit: Numbers) -> bool {
        self.proof >= limit.proof || self.disproof >= limit.disproof
    }

    /// Seen by the other side: what is a proof here is a disproof there.
    fn turned(self) -> Numbers {
        Numbers { proof: self.disproof, disproof: self.proof }
    }
}

/// A move of a position in hand.
#[derive(Copy, Clone, Debug)]
struct Child {
    mv: Move,
    numbers: Numbers,
    /// Whether its failure holds on this path only.
    repeated: bool,
}

/// Looks for a forced win of any length. It keeps its memory from call to call.
#[derive(Clone, Debug, Default)]
pub struct ProofSolver {
    table: Table<Numbers>,
    attacker: Option<Color>,
    nodes: u64,
    limit: u64,
    moves: Vec<Move>,
}

impl ProofSolver {
    /// Whether the side to move has a forced win, visiting about `nodes` positions at most. Its
    /// length is that of a proof, not always the shortest.
    pub fn solve(&mut self, game: &mut Game, nodes: u64) -> Verdict {
        self.table.clear();
        self.attacker = Some(game.side_to_move());
        (self.nodes, self.limit) = (0, nodes);
        let limit = Numbers { proof: INFINITE, disproof: INFINITE };
        let (numbers, _) = self.search(game, limit, 0);
        match numbers {
            Numbers { proof: 0, .. } => match self.shortest_proof(game, 0) {
                Some((Some(mv), plies)) => Verdict::Win(Win { mv, plies }),
                _ => Verdict::Unknown,
            },
            Numbers { disproof: 0, .. } => Verdict::NoWin,
            _ => Verdict::Unknown,
        }
    }

    /// Positions visited by the last call.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Whether the attacker is to move.
    fn attacks(&self, game: &Game) -> bool {
        self.attacker == Some(game.side_to_move())
    }

    /// What the end of the game, or having been here before, says.
    fn settled(&self, game: &Game, depth: usize) -> Option<(Numbers, bool)> {
        if let Some(ending) = game.conclusion() {
            let won = Some(ending.outcome) == self.attacker.map(Outcome::Win);
            return Some((if won { Numbers::WON } else { Numbers::FAILED }, false));
        }
        let repeats = depth > 0 && game.repetition().occurrences > 1;
        (repeats || depth >= DEEPEST).then_some((Numbers::FAILED, true))
    }

    /// Searches until the numbers reach a limit; they, and whether a failure holds on this path
    /// only.
    fn search(&mut self, game: &mut Game, limit: Numbers, depth: usize) -> (Numbers, bool) {
        self.nodes += 1;
        if let Some(settled) = self.settled(game, depth) {
            return settled;
        }
        let attacks = self.attacks(game);
        let mut children = self.children(game, depth);
        loop {
            let numbers = combine(&children, attacks);
            let repeated = numbers == Numbers::FAILED && children.iter().any(|it| it.repeated);
            if numbers.reaches(limit) || self.nodes >= self.limit {
                if !repeated {
                    self.table.put(game.position().key(), numbers);
                }
                return (numbers, repeated);
            }
            let (best, limit) = choose(&children, attacks, numbers, limit);
            game.play(children[best].mv);
            let (numbers, repeated) = self.search(game, limit, depth + 1);
            game.undo();
            children[best] = Child { numbers, repeated, ..children[best] };
        }
    }

    /// The moves that are tried, with what is known behind them.
    fn children(&mut self, game: &mut Game, depth: usize) -> Vec<Child> {
        let mut moves = std::mem::take(&mut self.moves);
        self.list(game, &mut moves);
        let mut child = |&mv: &Move| {
            game.play(mv);
            let settled = self.settled(game, depth + 1);
            let known = || self.table.get(game.position().key()).unwrap_or(Numbers::UNKNOWN);
            let (numbers, repeated) = settled.unwrap_or_else(|| (known(), false));
            game.undo();
            Child { mv, numbers, repeated }
        };
        let children = moves.iter().map(&mut child).collect();
        self.moves = moves;
        children
    }

    fn list(&self, game: &Game, moves: &mut Vec<Move>) {
        if self.attacks(game) { attacks(game, moves) } else { game.legal_moves(moves) }
    }

    /// The length of what was proven, and the attacker's move where it is his: the shortest among
    /// the moves that were proven, against the longest defence.
    fn shortest_proof(&mut self, game: &mut Game, depth: usize) -> Option<(Option<Move>, u16)> {
        if let Some((numbers, _)) = self.settled(game, depth) {
            return (numbers == Numbers::WON).then_some((None, 0));
        }
        if self.table.get(game.position().key())?.proof != 0 {
            return None;
        }
        let (mut moves, attacks) = (Vec::new(), self.attacks(game));
        self.list(game, &mut moves);
        let mut behind = |&mv: &Move| {
            game.play(mv);
            let found = self.shortest_proof(game, depth + 1);
            game.undo();
            found.map(|(_, plies)| (mv, plies + 1))
        };
        if attacks {
            let found = moves.iter().filter_map(&mut behind).min_by_key(|&(_, plies)| plies);
            return found.map(|(mv, plies)| (Some(mv), plies));
        }
        let all: Option<Vec<_>> = moves.iter().map(&mut behind).collect();
        all?.into_iter().map(|(_, plies)| plies).max().map(|plies| (None, plies))
    }
}

/// A position's numbers from those behind its moves: an attacker needs one move, a defender all.
fn combine(children: &[Child], attacks: bool) -> Numbers {
    let seen = |child: &Child| if attacks { child.numbers } else { child.numbers.turned() };
    let proof = children.iter().map(|it| seen(it).proof).min().unwrap_or(INFINITE);
    let sum: u64 = children.iter().map(|it| u64::from(seen(it).disproof)).sum();
    let any_infinite = children.iter().any(|it| seen(it).disproof >= INFINITE);
    let disproof = if any_infinite { INFINITE } else { sum.min(u64::from(INFINITE - 1)) as u32 };
    let numbers = Numbers { proof, disproof };
    if attacks { numbers } else { numbers.turned() }
}

/// The most promising move, and how far to go behind it: until another one is clearly better
/// (by a quarter, so that the search does not jump back and forth).
fn choose(children: &[Child], attacks: bool, numbers: Numbers, limit: Numbers) -> (usize, Numbers) {
    let seen = |it: Numbers| if attacks { it } else { it.turned() };
    let (numbers, limit) = (seen(numbers), seen(limit));
    let proof = |index: usize| seen(children[index].numbers).proof;
    let best = (0..children.len()).min_by_key(|&index| proof(index)).expect("there are moves");
    let others = (0..children.len()).filter(|&index| index != best);
    let second = others.map(proof).min().unwrap_or(INFINITE);
    let own = seen(children[best].numbers).disproof;
    let child = Numbers {
        proof: limit.proof.min(second.saturating_add(second / 4).saturating_add(1)),
        disproof: (limit.disproof - numbers.disproof).saturating_add(own).min(INFINITE),
    };
    (best, seen(child))
}
