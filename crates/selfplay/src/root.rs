//! What a search does at its root alone: forced wins first, then sequential halving, or PUCT's
//! exploration.

use crate::puct::{by_visits, most_visited};
use crate::search::{Findings, Search, relative_entropy};
use crate::tree::NodeId;
use crate::{Proof, SearchConfig, SearchKind, Verdict, Wdl};
use keiko_rules::Move;

impl Search {
    /// Looks for forced wins at the root: the shortest within some plies, else one of any length.
    pub(crate) fn find_wins(&mut self) {
        let SearchConfig { root_mate_plies, root_mate_nodes, root_proof_nodes, .. } = self.config;
        self.wins.clear();
        if root_mate_plies > 0 {
            let plies = root_mate_plies;
            self.wins = self.mates.shortest_wins(&mut self.game, plies, root_mate_nodes);
        }
        self.keep_allowed_wins();
        if self.wins.is_empty()
            && root_proof_nodes > 0
            && let Verdict::Win(win) = self.proofs.solve(&mut self.game, root_proof_nodes)
        {
            self.wins.push(win);
            self.keep_allowed_wins();
        }
    }

    fn keep_allowed_wins(&mut self) {
        let mut wins = std::mem::take(&mut self.wins);
        wins.retain(|win| self.allows(win.mv));
        self.wins = wins;
    }

    /// What is proven about the root.
    pub(crate) fn proof(&self) -> Option<Proof> {
        let found = self.wins.first().map(|win| Proof::Win(win.plies));
        found.or_else(|| self.tree.nodes.first().and_then(|root| root.proof))
    }

    /// A proven win is played and taught by its shortest moves, all alike.
    pub(crate) fn won(&self, mv: Move, moves: Vec<Move>, proof: Proof, raw: Wdl) -> Findings {
        let share = 1.0 / moves.len() as f32;
        let prior = |mv: Move| {
            let root = self.tree.nodes.first()?;
            root.edges().find(|&edge| self.tree.moves[edge] == mv).map(|it| self.tree.priors[it])
        };
        let surprise = |&mv: &Move| relative_entropy(share, prior(mv).unwrap_or(share));
        Findings {
            mv,
            surprise: moves.iter().map(surprise).sum(),
            policy: moves.into_iter().map(|mv| (mv, share)).collect(),
            raw,
            root: Wdl::WIN,
            simulations: self.done,
            proof: Some(proof),
        }
    }

    /// Prepares the root, now evaluated: Gumbel-top-k, the moves of highest noise plus logit, or
    /// PUCT's prior.
    pub(crate) fn open_root(&mut self) {
        if self.config.kind == SearchKind::Puct {
            let priors = &self.tree.priors[self.tree.node(NodeId::ROOT).edges()];
            self.root_priors.clear();
            self.root_priors.extend_from_slice(priors);
            if self.budget.explores {
                self.config.puct.explore(&mut self.root_priors, &self.noise);
            }
            return;
        }
        let edges = self.tree.node(NodeId::ROOT).edges();
        let logits = &self.tree.logits[edges.clone()];
        let key = |i: usize| self.noise[i] + logits[i];
        self.considered.clear();
        let allowed = |&i: &usize| {
            self.only.is_empty() || self.only.contains(&self.tree.moves[edges.start + i])
        };
        self.considered.extend((0..edges.len()).filter(allowed));
        self.considered.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
        self.considered.truncate(self.budget.considered.max(1));
    }

    /// PUCT's choice; or sequential halving: of the considered moves with the scheduled number of
    /// visits, the best by noise, logit and score.
    pub(crate) fn next_root_move(&mut self) -> usize {
        match self.config.kind {
            SearchKind::Gumbel => self.best_considered(self.schedule[self.begun as usize]),
            SearchKind::Puct => self.most_urgent(NodeId::ROOT),
        }
    }

    /// PUCT: `policy` becomes the root's visits, as shares, without those that were only forced
    /// and those of moves that lose, unless all do.
    pub(crate) fn share_out(&mut self) {
        let visits = self.honest_visits();
        let total = visits.iter().sum::<u32>();
        self.policy.clear();
        if total == 0 {
            // Nothing was looked at: the evaluator's opinion.
            let priors = &self.tree.priors[self.tree.node(NodeId::ROOT).edges()];
            self.policy.extend_from_slice(priors);
        } else {
            self.policy.extend(visits.iter().map(|&n| n as f32 / total as f32));
        }
    }

    /// The root's visits for what they say, not for what they were spent on.
    fn honest_visits(&self) -> Vec<u32> {
        let edges = self.tree.node(NodeId::ROOT).edges();
        let mut visits = self.tree.backed[edges.clone()].to_vec();
        if self.budget.explores {
            let scores = &self.tree.scores[edges.clone()];
            visits = self.config.puct.pruned(&self.root_priors, &visits, scores);
        }
        let loses: Vec<bool> = edges.map(|edge| self.tree.loses(edge)).collect();
        if loses.contains(&false) {
            visits.iter_mut().zip(loses).filter(|it| it.1).for_each(|(n, _)| *n = 0);
        }
        visits
    }

    /// PUCT: a move by its visits; where there are none, the likeliest that does not lose.
    fn move_by_visits(&self) -> usize {
        let visits = self.honest_visits();
        if visits[most_visited(&visits)] > 0 {
            return by_visits(&visits, self.budget.noise, self.lot);
        }
        let edges = self.tree.node(NodeId::ROOT).edges();
        // Bits of floats that are not negative are ordered as the floats are.
        let prior = |i: usize| self.tree.priors[edges.start + i].to_bits();
        let allowed = |&i: &usize| self.allows(self.tree.moves[edges.start + i]);
        let rank = |&i: &usize| (!self.tree.loses(edges.start + i), prior(i));
        let all = (0..visits.len()).filter(allowed);
        all.max_by_key(rank).expect("some move may be played")
    }

    /// The move to play. Gumbel: the best of the most visited considered moves, leaving out those
    /// that lose; where all lose, the one that does so last.
    pub(crate) fn best_root_move(&mut self) -> usize {
        let edges = self.tree.node(NodeId::ROOT).edges();
        if self.proof().is_some() {
            return self.best_proven(edges);
        }
        if self.config.kind == SearchKind::Puct {
            return self.move_by_visits();
        }
        let open = |&i: &usize| !self.tree.loses(edges.start + i);
        let most = self.considered.iter().filter(|i| open(i));
        let most = most.map(|&i| self.root_visits[i]).max();
        let Some(most) = most else {
            // All that were considered lose: the likeliest of the others.
            let logit = |&i: &usize| self.tree.logits[edges.start + i];
            let allowed = |i: &usize| self.allows(self.tree.moves[edges.start + i]);
            let others = (0..edges.len()).filter(|i| open(i) && allowed(i));
            let likeliest = others.max_by(|a, b| logit(a).total_cmp(&logit(b)));
            return likeliest.unwrap_or_else(|| self.considered[0]);
        };
        let losers: Vec<usize> = self.considered.iter().copied().filter(|i| !open(i)).collect();
        if losers.is_empty() {
            return self.best_considered(most);
        }
        let all = std::mem::take(&mut self.considered);
        self.considered = all.iter().copied().filter(|i| !losers.contains(i)).collect();
        let best = self.best_considered(most);
        self.considered = all;
        best
    }

    /// The move that a proven root is played with.
    pub(crate) fn best_proven(&self, edges: std::ops::Range<usize>) -> usize {
        let worth = |edge: usize| match self.tree.proofs[edge] {
            Some(Proof::Win(plies)) => (3, -i32::from(plies)),
            Some(Proof::Draw(_)) => (2, 0),
            Some(Proof::Loss(plies)) => (0, i32::from(plies)),
            None => (1, 0),
        };
        let first = edges.start;
        let better = |best, edge| if worth(edge) > worth(best) { edge } else { best };
        edges.reduce(better).expect("a position that is searched has moves") - first
    }

    pub(crate) fn best_considered(&mut self, wanted_visits: u32) -> usize {
        let first = self.tree.node(NodeId::ROOT).edges().start;
        self.tree.completed_scores(NodeId::ROOT, &mut self.completed);
        let factor = self.config.sigma().factor(self.tree.most_visits(NodeId::ROOT));
        let key =
            |i: usize| self.noise[i] + self.tree.logits[first + i] + factor * self.completed[i];
        let has_wanted = |&i: &usize| self.root_visits[i] == wanted_visits;
        let candidates = self.considered.iter().copied().filter(has_wanted);
        candidates
            .reduce(|best, i| if key(i) > key(best) { i } else { best })
            .expect("the schedule asks for visits that some considered move has")
    }
}
