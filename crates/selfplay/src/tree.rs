//! The search tree in flat arrays: nodes own ranges of edges, edges carry the statistics.

use crate::gumbel::mixed_value;
use crate::{Proof, Wdl};
use keiko_rules::Move;
use std::num::NonZeroU32;
use std::ops::Range;

/// Least probability a prior counts as, so that its logarithm stays finite.
const LEAST_PRIOR: f32 = 1e-9;

/// A node's place in the tree.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    /// Where every search begins.
    pub(crate) const ROOT: NodeId = NodeId(0);
}

/// One position of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    first_edge: u32,
    edge_count: u32,
    /// The evaluator's opinion, or what was certain at once; side to move's view.
    pub(crate) raw: Wdl,
    /// What is proven for the side to move.
    pub(crate) proof: Option<Proof>,
}

impl Node {
    /// The node's edges.
    pub(crate) fn edges(&self) -> Range<usize> {
        let first = self.first_edge as usize;
        first..first + self.edge_count as usize
    }
}

/// Nodes, and for each legal move of each node one entry in every edge array.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    pub(crate) moves: Vec<Move>,
    pub(crate) priors: Vec<f32>,
    pub(crate) logits: Vec<f32>,
    /// Walks that went through, those still waiting for their evaluation among them.
    pub(crate) visits: Vec<u32>,
    /// Values backed up.
    pub(crate) backed: Vec<u32>,
    /// Their sum, the mover's view.
    pub(crate) sums: Vec<Wdl>,
    /// Their mean score, the mover's view; 0 without one.
    pub(crate) scores: Vec<f32>,
    /// What is proven of the move, the mover's view.
    pub(crate) proofs: Vec<Option<Proof>>,
    /// The node behind the edge. The root is behind none, so 0 is free to mean "not yet".
    children: Vec<Option<NonZeroU32>>,
}

impl Tree {
    /// Forgets everything, keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.moves.clear();
        self.priors.clear();
        self.logits.clear();
        self.visits.clear();
        self.backed.clear();
        self.sums.clear();
        self.scores.clear();
        self.proofs.clear();
        self.children.clear();
    }

    /// Bytes that nodes and edges take, about.
    pub(crate) fn memory(&self) -> usize {
        const EDGE: usize = size_of::<Move>()
            + size_of::<Wdl>()
            + size_of::<Option<Proof>>()
            + size_of::<Option<NonZeroU32>>()
            + 3 * size_of::<f32>()
            + 2 * size_of::<u32>();
        self.nodes.len() * size_of::<Node>() + self.moves.len() * EDGE
    }

    /// The node of a place.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Adds a position and its legal moves, `priors` parallel to them.
    pub(crate) fn expand(&mut self, moves: &[Move], priors: &[f32], raw: Wdl) -> NodeId {
        let id = self.push_node(moves.len(), raw, None);
        self.moves.extend_from_slice(moves);
        self.priors.extend_from_slice(priors);
        self.logits.extend(priors.iter().map(|p| p.max(LEAST_PRIOR).ln()));
        let edges = self.moves.len();
        self.visits.resize(edges, 0);
        self.backed.resize(edges, 0);
        self.sums.resize(edges, Wdl::default());
        self.scores.resize(edges, 0.0);
        self.proofs.resize(edges, None);
        self.children.resize(edges, None);
        id
    }

    /// Adds a position of which something is proven: an end of the game, or a forced win.
    pub(crate) fn settle(&mut self, proof: Proof) -> NodeId {
        self.push_node(0, proof.value(), Some(proof))
    }

    fn push_node(&mut self, edge_count: usize, raw: Wdl, proof: Option<Proof>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            first_edge: self.moves.len() as u32,
            edge_count: edge_count as u32,
            raw,
            proof,
        });
        id
    }

    /// The node behind an edge, if it was visited.
    pub(crate) fn child(&self, edge: usize) -> Option<NodeId> {
        self.children[edge].map(|id| NodeId(id.get()))
    }

    /// Hangs a new node behind an edge.
    pub(crate) fn connect(&mut self, edge: usize, child: NodeId) {
        self.children[edge] = NonZeroU32::new(child.0);
    }

    /// Counts a walk along a path from the root; its value comes later.
    pub(crate) fn visit(&mut self, path: &[usize]) {
        path.iter().for_each(|&edge| self.visits[edge] += 1);
    }

    /// Adds the value a walk came to (the leaf's side to move's view) to every edge of its path.
    pub(crate) fn backup(&mut self, path: &[usize], mut value: Wdl) {
        for &edge in path.iter().rev() {
            value = value.flipped();
            self.backed[edge] += 1;
            self.sums[edge] = self.sums[edge].plus(1.0, value);
            self.scores[edge] = self.sums[edge].score() / self.backed[edge] as f32;
        }
    }

    /// Makes the position behind a root's edge the root and forgets all that is not below it.
    /// Where that position has no edges, nothing is left.
    pub(crate) fn advance(&mut self, edge: usize, spare: &mut Tree) {
        spare.clear();
        let root = self.child(edge).filter(|&child| !self.node(child).edges().is_empty());
        let mut order: Vec<NodeId> = root.into_iter().collect();
        let mut next = 0;
        while let Some(&old) = order.get(next) {
            let node = self.node(old).clone();
            let edges = node.edges();
            spare.push_node(edges.len(), node.raw, node.proof);
            spare.moves.extend_from_slice(&self.moves[edges.clone()]);
            spare.priors.extend_from_slice(&self.priors[edges.clone()]);
            spare.logits.extend_from_slice(&self.logits[edges.clone()]);
            spare.visits.extend_from_slice(&self.visits[edges.clone()]);
            spare.backed.extend_from_slice(&self.backed[edges.clone()]);
            spare.sums.extend_from_slice(&self.sums[edges.clone()]);
            spare.scores.extend_from_slice(&self.scores[edges.clone()]);
            spare.proofs.extend_from_slice(&self.proofs[edges.clone()]);
            for edge in edges {
                let child = self.child(edge);
                spare.children.push(child.and_then(|_| NonZeroU32::new(order.len() as u32)));
                order.extend(child);
            }
            next += 1;
        }
        std::mem::swap(self, spare);
    }

    /// Carries what is proven of a leaf up a path, as far as it proves something. `nodes` are
    /// those above the path's edges.
    pub(crate) fn prove(&mut self, path: &[usize], nodes: &[NodeId], leaf: Proof) {
        let mut proof = leaf;
        for (&edge, &above) in path.iter().zip(nodes).rev() {
            self.proofs[edge] = Some(proof.before());
            if self.node(above).proof.is_some() {
                return;
            }
            let edges = self.node(above).edges();
            let Some(found) = Proof::of_moves(self.proofs[edges].iter().copied()) else { return };
            self.nodes[above.0 as usize].proof = Some(found);
            proof = found;
        }
    }

    /// Whether a move is known to lose.
    pub(crate) fn loses(&self, edge: usize) -> bool {
        matches!(self.proofs[edge], Some(Proof::Loss(_)))
    }

    /// Every move's score: what is proven, else the mean, the mixed value standing in where
    /// nothing was backed up.
    pub(crate) fn completed_scores(&self, id: NodeId, out: &mut Vec<f32>) {
        let node = self.node(id);
        let (backed, scores) = (&self.backed[node.edges()], &self.scores[node.edges()]);
        let mixed = mixed_value(node.raw.score(), backed, &self.priors[node.edges()], scores);
        let all = backed.iter().zip(scores).zip(&self.proofs[node.edges()]);
        out.clear();
        out.extend(all.map(|((&n, &q), proof)| match proof {
            Some(proof) => proof.value().score(),
            None if n > 0 => q,
            None => mixed,
        }));
    }

    /// The value of a node under `policy`, each entry of the WDL completed like a score.
    pub(crate) fn value_under(&self, id: NodeId, policy: &[f32]) -> Wdl {
        let node = self.node(id);
        let backed = &self.backed[node.edges()];
        let entry = |of: fn(&Wdl) -> f32| {
            let means: Vec<f32> = backed
                .iter()
                .zip(&self.sums[node.edges()])
                .map(|(&n, sum)| of(sum) / n.max(1) as f32)
                .collect();
            let mixed = mixed_value(of(&node.raw), backed, &self.priors[node.edges()], &means);
            let all = backed.iter().zip(means).zip(&self.proofs[node.edges()]);
            let completed = all.map(|((&n, q), proof)| match proof {
                Some(proof) => of(&proof.value()),
                None if n > 0 => q,
                None => mixed,
            });
            completed.zip(policy).map(|(q, p)| q * p).sum()
        };
        Wdl { win: entry(|w| w.win), draw: entry(|w| w.draw), loss: entry(|w| w.loss) }
    }

    /// Most visits any move of a node has.
    pub(crate) fn most_visits(&self, id: NodeId) -> u32 {
        self.visits[self.node(id).edges()].iter().copied().max().unwrap_or(0)
    }
}
