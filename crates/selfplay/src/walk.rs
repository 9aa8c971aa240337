//! A search's way from the root to a leaf and back.

use crate::gumbel::{improved_policy, most_lagging};
use crate::puct::urgency;
use crate::search::Search;
use crate::tree::NodeId;
use crate::{Evaluator, Proof, SearchConfig, SearchKind, Slot, Verdict, Wdl};
use keiko_rules::Move;

/// A way from the root to a leaf.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    /// The edges.
    pub(crate) path: Vec<usize>,
    /// The nodes above them.
    pub(crate) above: Vec<NodeId>,
    /// The leaf's legal moves.
    pub(crate) legal: Vec<Move>,
}

/// What a walk came to.
pub(crate) enum Arrival {
    /// A leaf that has to be evaluated.
    Leaf(Slot),
    /// A position whose value is certain.
    Certain,
    /// A leaf that waits for its evaluation already.
    Taken,
}

impl Search {
    /// Sends the root to be evaluated.
    pub(crate) fn push_root(&mut self, evaluator: &mut impl Evaluator) -> Slot {
        let mut walk = self.fresh_walk();
        self.game.legal_moves(&mut walk.legal);
        let slot = evaluator.push(&self.game, &walk.legal);
        self.waiting.push_back(walk);
        slot
    }

    fn fresh_walk(&mut self) -> Walk {
        let mut walk = self.idle.pop().unwrap_or_default();
        walk.path.clear();
        walk.above.clear();
        walk
    }

    /// One walk from the root and back.
    pub(crate) fn walk(&mut self, evaluator: &mut impl Evaluator) -> Arrival {
        let mut walk = self.fresh_walk();
        let arrival = self.descend(&mut walk, evaluator);
        for _ in 0..walk.path.len() {
            self.game.undo();
        }
        match arrival {
            Arrival::Leaf(_) => self.waiting.push_back(walk),
            Arrival::Certain | Arrival::Taken => self.idle.push(walk),
        }
        arrival
    }

    fn descend(&mut self, walk: &mut Walk, evaluator: &mut impl Evaluator) -> Arrival {
        let mut node = NodeId::ROOT;
        loop {
            let choice =
                if node == NodeId::ROOT { self.next_root_move() } else { self.next_reply(node) };
            let edge = self.tree.node(node).edges().start + choice;
            walk.path.push(edge);
            walk.above.push(node);
            self.game.play(self.tree.moves[edge]);
            match self.tree.child(edge) {
                None if self.tree.visits[edge] > 0 => return Arrival::Taken,
                None => return self.reach(walk, evaluator),
                Some(child) => match self.tree.node(child).proof {
                    Some(proof) => {
                        self.count(walk);
                        self.finish_walk(walk, proof.value());
                        return Arrival::Certain;
                    }
                    None => node = child,
                },
            }
        }
    }

    /// A position met for the first time: what is certain is backed up, another is pushed.
    fn reach(&mut self, walk: &mut Walk, evaluator: &mut impl Evaluator) -> Arrival {
        self.count(walk);
        if let Some(proof) = self.certain() {
            let node = self.tree.settle(proof);
            self.attach(walk, node);
            return Arrival::Certain;
        }
        self.game.legal_moves(&mut walk.legal);
        Arrival::Leaf(evaluator.push(&self.game, &walk.legal))
    }

    /// The end of the game, or a forced win near by.
    fn certain(&mut self) -> Option<Proof> {
        if let Some(ending) = self.game.conclusion() {
            return Some(Proof::of_end(Wdl::of(ending.outcome, self.game.side_to_move())));
        }
        let SearchConfig { leaf_mate_plies, leaf_mate_nodes, .. } = self.config;
        if leaf_mate_plies == 0 {
            return None;
        }
        match self.mates.solve(&mut self.game, leaf_mate_plies, leaf_mate_nodes) {
            Verdict::Win(win) => Some(Proof::Win(win.plies)),
            Verdict::NoWin | Verdict::Unknown => None,
        }
    }

    /// Counts a walk as visited: until its value comes, others are sent elsewhere by that.
    fn count(&mut self, walk: &Walk) {
        self.tree.visit(&walk.path);
        self.deepest = self.deepest.max(walk.path.len());
        let root = self.tree.node(NodeId::ROOT).edges();
        self.root_visits[walk.path[0] - root.start] += 1;
        self.begun += 1;
    }

    /// Hangs the node of a walk's leaf behind it and backs its value up.
    pub(crate) fn attach(&mut self, walk: &Walk, node: NodeId) {
        let edge = *walk.path.last().expect("only the root has no edge above it");
        self.tree.connect(edge, node);
        if let Some(proof) = self.tree.node(node).proof {
            self.tree.prove(&walk.path, &walk.above, proof);
        }
        self.finish_walk(walk, self.tree.node(node).raw);
    }

    fn finish_walk(&mut self, walk: &Walk, value: Wdl) {
        self.tree.backup(&walk.path, value);
        self.done += 1;
    }

    fn next_reply(&mut self, node: NodeId) -> usize {
        match self.config.kind {
            SearchKind::Gumbel => {
                self.improve(node);
                most_lagging(&self.policy, &self.tree.visits[self.tree.node(node).edges()])
            }
            SearchKind::Puct => self.most_urgent(node),
        }
    }

    /// PUCT's choice. Moves that lose are left out, unless all do.
    pub(crate) fn most_urgent(&self, node: NodeId) -> usize {
        let (tree, puct) = (&self.tree, &self.config.puct);
        let edges = tree.node(node).edges();
        let total: u32 = tree.visits[edges.clone()].iter().sum();
        let worth = puct.worth(total);
        let is_root = node == NodeId::ROOT;
        let priors = if is_root { &self.root_priors } else { &tree.priors[edges.clone()] };
        let visited = edges.clone().zip(priors).filter(|&(edge, _)| tree.visits[edge] > 0);
        let explored = if is_root { 0.0 } else { visited.map(|it| it.1).sum() };
        let first_score = puct.first_score(tree.node(node).raw.score(), explored);
        let urgency_of = |(edge, &prior): (usize, &f32)| {
            let visits = tree.visits[edge];
            let forced = is_root && self.budget.explores && visits > 0;
            let score = match tree.proofs[edge] {
                _ if is_root && !self.allows(tree.moves[edge]) => return f32::NEG_INFINITY,
                Some(Proof::Loss(_)) => return f32::MIN,
                _ if forced && (visits as f32) < puct.forced(prior, total) => return f32::MAX,
                Some(proof) => proof.value().score(),
                None if tree.backed[edge] > 0 => tree.scores[edge],
                None => first_score,
            };
            urgency(score, worth * prior, visits)
        };
        let all = edges.zip(priors).map(urgency_of).enumerate();
        all.reduce(|best, it| if it.1 > best.1 { it } else { best }).expect("a node with edges").0
    }

    /// Fills `policy` with the node's improved policy. Moves that lose have no part in it, unless
    /// all do.
    pub(crate) fn improve(&mut self, node: NodeId) {
        self.tree.completed_scores(node, &mut self.completed);
        let factor = self.config.sigma().factor(self.tree.most_visits(node));
        let edges = self.tree.node(node).edges();
        let logits = &self.tree.logits[edges.clone()];
        improved_policy(logits, &self.completed, factor, &mut self.policy);
        let open = || edges.clone().map(|edge| !self.tree.loses(edge));
        let total: f32 = self.policy.iter().zip(open()).filter(|it| it.1).map(|it| it.0).sum();
        if total > 0.0 && open().any(|open| !open) {
            let all = self.policy.iter_mut().zip(open());
            all.for_each(|(p, open)| *p = if open { *p / total } else { 0.0 });
        }
    }
}
