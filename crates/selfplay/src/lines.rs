//! What a search shows of itself while it goes on: lines of moves, depth, memory.

use crate::search::{RootMove, Search};
use crate::tree::NodeId;
use crate::{Proof, Wdl};
use keiko_rules::Move;
use std::cmp::Reverse;

/// A root move and what is expected to follow it.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// The moves, the root's first.
    pub moves: Vec<Move>,
    /// Values that were backed up behind the root move.
    pub visits: u32,
    /// Their mean, from the view of the side to move; the root's where there are none.
    pub value: Wdl,
    /// What is proven of the root move, from the view of the side to move.
    pub proof: Option<Proof>,
}

impl Search {
    /// Allows only these root moves, which must be legal, from the next search on; none: all.
    /// What was known is forgotten. A budget may then consider no more moves than are allowed.
    pub fn restrict(&mut self, moves: &[Move]) {
        self.forget();
        self.only.clear();
        self.only.extend_from_slice(moves);
    }

    /// Whether a root move may be played.
    pub(crate) fn allows(&self, mv: Move) -> bool {
        self.only.is_empty() || self.only.contains(&mv)
    }

    /// Before the end of a search that is cut short: moves whose turn for one more visit had not
    /// come yet count as visited as often as those whose turn had.
    pub fn level(&mut self) {
        let most = self.root_visits.iter().copied().max().unwrap_or(0);
        self.root_visits.iter_mut().filter(|n| **n == most && most > 0).for_each(|n| *n -= 1);
    }

    /// The best lines, at most so many: first that of the move to be played, then by visits.
    pub fn lines(&mut self, most: usize) -> Vec<Line> {
        if !self.wins.is_empty() {
            let line = |win: &crate::Win| Line {
                moves: vec![win.mv],
                visits: 0,
                value: Wdl::WIN,
                proof: Some(Proof::Win(win.plies)),
            };
            return self.wins.iter().take(most).map(line).collect();
        }
        let Some(root) = self.tree.nodes.first() else { return Vec::new() };
        let edges = root.edges();
        let best = edges.start + self.best_root_move();
        let tree = &self.tree;
        let mut order: Vec<usize> =
            edges.filter(|&edge| edge == best || tree.backed[edge] > 0).collect();
        order.retain(|&edge| self.allows(tree.moves[edge]));
        order.sort_by_key(|&edge| (edge != best, tree.loses(edge), Reverse(tree.backed[edge])));
        order.into_iter().take(most).map(|edge| self.line_by(edge)).collect()
    }

    /// Every legal move with its statistics, in the order of `legal_moves`.
    pub fn root_moves(&self) -> Vec<RootMove> {
        let tree = &self.tree;
        let statistics = |edge: usize| RootMove {
            mv: tree.moves[edge],
            prior: tree.priors[edge],
            visits: tree.backed[edge],
            score: tree.scores[edge],
            wdl: tree.sums[edge].scaled(1.0 / tree.backed[edge].max(1) as f32),
            proof: tree.proofs[edge],
        };
        tree.nodes.first().into_iter().flat_map(|root| root.edges()).map(statistics).collect()
    }

    /// The line the search expects: the move it would play, then the most visited replies.
    pub fn principal_variation(&mut self) -> Vec<Move> {
        if let Some(win) = self.wins.first() {
            return vec![win.mv];
        }
        let Some(root) = self.tree.nodes.first() else { return Vec::new() };
        let edge = root.edges().start + self.best_root_move();
        self.line_from(edge)
    }

    /// The line the search expects after a move of the root, the move included: then the most
    /// visited replies. Nothing where there is no such move.
    pub fn line(&self, mv: Move) -> Vec<Move> {
        let root = self.tree.nodes.first();
        let edge = root.and_then(|root| root.edges().find(|&edge| self.tree.moves[edge] == mv));
        edge.map_or_else(Vec::new, |edge| self.line_from(edge))
    }

    fn line_from(&self, mut edge: usize) -> Vec<Move> {
        let mut line = vec![self.tree.moves[edge]];
        while let Some(child) = self.tree.child(edge) {
            let edges = self.tree.node(child).edges();
            let Some(next) = edges.max_by_key(|&e| self.tree.backed[e]) else { break };
            if self.tree.backed[next] == 0 {
                break;
            }
            line.push(self.tree.moves[next]);
            edge = next;
        }
        line
    }

    /// A root move with its line.
    fn line_by(&self, edge: usize) -> Line {
        let tree = &self.tree;
        let visits = tree.backed[edge];
        let value = match tree.proofs[edge] {
            Some(proof) => proof.value(),
            None if visits > 0 => tree.sums[edge].scaled(1.0 / visits as f32),
            None => tree.node(NodeId::ROOT).raw,
        };
        Line { moves: self.line_from(edge), visits, value, proof: tree.proofs[edge] }
    }

    /// Simulations of this search so far.
    pub fn simulations(&self) -> u32 {
        self.done
    }

    /// Plies to the deepest leaf of this search.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// Bytes that the tree takes, about.
    pub fn memory(&self) -> usize {
        self.tree.memory()
    }
}
