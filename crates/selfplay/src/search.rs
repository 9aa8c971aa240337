//! Search over one game: `begin`, then `select` and `backup` until it is done.

use crate::gumbel::{gumbel_noise, visit_schedule};
use crate::puct::uniform;
use crate::tree::{NodeId, Tree};
use crate::walk::{Arrival, Walk};
use crate::{
    Evaluation, Evaluator, MateSolver, Proof, ProofSolver, SearchConfig, SearchKind, Slot, Wdl, Win,
};
use keiko_rules::{Game, Move};
use rand::Rng;
use std::collections::VecDeque;

/// How one position is to be searched.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Budget {
    /// Leaves to visit.
    pub simulations: u32,
    /// Gumbel: root moves that may be simulated at all, Gumbel-top-k's k.
    pub considered: usize,
    /// How much of the choice of a move is left to chance: the scale of the Gumbel noise, or the
    /// temperature of PUCT's visits; 0 plays the best.
    pub noise: f32,
    /// PUCT: whether the root's prior is flattened and gets Dirichlet noise and forced playouts.
    pub explores: bool,
}

/// What a search found. All from the side to move's view.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    /// The move to play.
    pub mv: Move,
    /// The improved policy, free of noise, over all legal moves; PUCT's visits that were not
    /// forced, as shares.
    pub policy: Vec<(Move, f32)>,
    /// The evaluator's own opinion.
    pub raw: Wdl,
    /// The search's opinion: improved policy times completed values.
    pub root: Wdl,
    /// KL(improved policy || prior), in nats.
    pub surprise: f32,
    /// Simulations spent.
    pub simulations: u32,
    /// What is proven, if anything. A proven win's policy is uniform over the moves of the
    /// shortest one known.
    pub proof: Option<Proof>,
}

/// A root move as the search sees it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct RootMove {
    /// The move.
    pub mv: Move,
    /// The evaluator's probability.
    pub prior: f32,
    /// Simulations that began with it.
    pub visits: u32,
    /// Mean score of those, in [0, 1] for the side to move; 0 without a visit.
    pub score: f32,
    /// Mean chances of those, for the side to move; all 0 without a visit.
    pub wdl: Wdl,
    /// What is proven of it, for the side to move.
    pub proof: Option<Proof>,
}

/// A search of one game, reused from move to move. It owns the game and walks it.
///
/// ```
/// use keiko_rules::{Game, Rules};
/// use keiko_selfplay::{Budget, Evaluator, Search, SearchConfig, UniformEvaluator};
/// use rand::SeedableRng;
///
/// let rules = std::sync::Arc::new(Rules::load("minishogi")?);
/// let mut search = Search::new(Game::new(rules), SearchConfig::without_mates(16));
/// let mut evaluator = UniformEvaluator::default();
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
/// let budget = Budget { simulations: 32, considered: 16, noise: 1.0, explores: false };
/// search.begin(budget, &mut rng);
/// while let Some(slot) = search.select(&mut evaluator) {
///     evaluator.run();
///     search.backup(evaluator.read(slot));
/// }
/// let found = search.finish();
/// search.play(found.mv);
/// # Ok::<(), keiko_rules::RulesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    pub(crate) game: Game,
    pub(crate) config: SearchConfig,
    pub(crate) tree: Tree,
    pub(crate) mates: MateSolver,
    pub(crate) proofs: ProofSolver,
    /// The root's shortest known wins, if any was found before the search.
    pub(crate) wins: Vec<Win>,
    pub(crate) budget: Budget,
    /// Gumbel: for each simulation, how many visits the root move to be chosen has.
    pub(crate) schedule: Vec<u32>,
    /// Walks of this search that were begun, and that were backed up.
    pub(crate) begun: u32,
    pub(crate) done: u32,
    /// Gumbel or Dirichlet noise for each root move.
    pub(crate) noise: Vec<f32>,
    /// Root moves that may be played; none: all.
    pub(crate) only: Vec<Move>,
    /// Plies to the deepest leaf of this search.
    pub(crate) deepest: usize,
    /// Decides which move is played, where PUCT leaves that to chance.
    pub(crate) lot: f32,
    /// Gumbel: root moves by noise and prior, best first: only the first `considered` are
    /// simulated.
    pub(crate) considered: Vec<usize>,
    /// PUCT: the root's prior as this search uses it.
    pub(crate) root_priors: Vec<f32>,
    /// By root move: walks of this search that began with it.
    pub(crate) root_visits: Vec<u32>,
    /// Walks to leaves that wait for their evaluation, in the order they were pushed.
    pub(crate) waiting: VecDeque<Walk>,
    /// Walks that are over, for their memory.
    pub(crate) idle: Vec<Walk>,
    pub(crate) completed: Vec<f32>,
    pub(crate) policy: Vec<f32>,
    /// Where a tree is copied to, for its memory.
    spare: Tree,
}

impl Search {
    /// A search of `game`, at its present position.
    pub fn new(game: Game, config: SearchConfig) -> Search {
        Search {
            game,
            config,
            tree: Tree::default(),
            mates: MateSolver::default(),
            proofs: ProofSolver::default(),
            wins: Vec::new(),
            budget: config.budget(0, 0.0),
            schedule: Vec::new(),
            begun: 0,
            done: 0,
            noise: Vec::new(),
            only: Vec::new(),
            deepest: 0,
            lot: 0.0,
            considered: Vec::new(),
            root_priors: Vec::new(),
            root_visits: Vec::new(),
            waiting: VecDeque::new(),
            idle: Vec::new(),
            completed: Vec::new(),
            policy: Vec::new(),
            spare: Tree::default(),
        }
    }

    /// The game at the root.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The game, when the search is no longer needed.
    pub fn into_game(self) -> Game {
        self.game
    }

    /// Plays a legal move at the root; the next search begins from there, from nothing.
    pub fn play(&mut self, mv: Move) {
        self.game.play(mv);
        self.forget();
    }

    /// Plays a legal move at the root; the next search goes on with what is known behind it.
    pub fn advance(&mut self, mv: Move) {
        self.game.play(mv);
        let root = self.tree.nodes.first();
        let edge = root.and_then(|root| root.edges().find(|&edge| self.tree.moves[edge] == mv));
        match edge.filter(|_| self.waiting.is_empty()) {
            Some(edge) => self.tree.advance(edge, &mut self.spare),
            None => self.forget(),
        }
        self.only.clear();
    }

    pub(crate) fn forget(&mut self) {
        self.tree.clear();
        self.idle.extend(self.waiting.drain(..));
    }

    /// Starts a search of the present position, which must not be the end of the game.
    /// All randomness of the search is drawn here.
    pub fn begin(&mut self, budget: Budget, rng: &mut impl Rng) {
        if !self.waiting.is_empty() {
            self.forget();
        }
        self.budget = budget;
        (self.begun, self.done, self.deepest) = (0, 0, 0);
        let mut root = self.idle.pop().unwrap_or_default();
        self.game.legal_moves(&mut root.legal);
        let moves = root.legal.len();
        self.idle.push(root);
        assert!(moves > 0, "a game that has ended cannot be searched");
        // A forced move needs no search.
        if moves == 1 {
            self.budget.simulations = 0;
        }
        self.root_visits.clear();
        self.root_visits.resize(moves, 0);
        match self.config.kind {
            SearchKind::Gumbel => {
                self.noise.clear();
                self.noise.extend((0..moves).map(|_| budget.noise * gumbel_noise(rng)));
                let considered = budget.considered.min(moves).max(1);
                self.schedule = visit_schedule(considered, self.budget.simulations);
            }
            SearchKind::Puct => {
                self.lot = uniform(rng);
                let noise = budget.explores.then(|| self.config.puct.noise(moves, rng));
                self.noise = noise.unwrap_or_default();
            }
        }
        self.find_wins();
        if !self.tree.nodes.is_empty() {
            self.open_root();
        }
    }

    /// Walks to the next leaf and pushes it; ends of games on the way are backed up at once.
    /// `None` when the budget is spent, or when nothing is left to look at before the leaves that
    /// wait are backed up.
    pub fn select(&mut self, evaluator: &mut impl Evaluator) -> Option<Slot> {
        if !self.wins.is_empty() {
            return None;
        }
        if self.tree.nodes.is_empty() {
            return self.waiting.is_empty().then(|| self.push_root(evaluator));
        }
        while self.begun < self.budget.simulations && self.proof().is_none() {
            match self.walk(evaluator) {
                Arrival::Leaf(slot) => return Some(slot),
                Arrival::Certain => {}
                Arrival::Taken => return None,
            }
        }
        None
    }

    /// Selects leaves until `most` wait together, those in `slots` among them.
    pub fn gather(
        &mut self,
        evaluator: &mut impl Evaluator,
        most: usize,
        slots: &mut VecDeque<Slot>,
    ) {
        while slots.len() < most
            && let Some(slot) = self.select(evaluator)
        {
            slots.push_back(slot);
        }
    }

    /// Takes in the evaluation of a leaf that was selected: of those that wait, the first.
    ///
    /// # Panics
    /// When no leaf waits.
    pub fn backup(&mut self, evaluation: Evaluation<'_>) {
        let walk = self.waiting.pop_front().expect("a leaf that was selected");
        let node = self.tree.expand(&walk.legal, evaluation.prior, evaluation.wdl);
        if node == NodeId::ROOT {
            self.open_root();
        } else {
            self.attach(&walk, node);
        }
        self.idle.push(walk);
    }

    /// What was found, once `select` has returned `None`.
    pub fn finish(&mut self) -> Findings {
        if let Some(&Win { mv, plies }) = self.wins.first() {
            let moves = self.wins.iter().map(|win| win.mv);
            return self.won(mv, moves.collect(), Proof::Win(plies), Wdl::WIN);
        }
        if let Some(proof @ Proof::Win(_)) = self.proof() {
            let root = self.tree.node(NodeId::ROOT);
            let shortest = |&edge: &usize| self.tree.proofs[edge] == Some(proof);
            let moves = root.edges().filter(shortest).map(|edge| self.tree.moves[edge]);
            let moves: Vec<Move> = moves.collect();
            return self.won(moves[0], moves, proof, root.raw);
        }
        let root = self.tree.node(NodeId::ROOT);
        let (edges, raw) = (root.edges(), root.raw);
        let best = edges.start + self.best_root_move();
        let mv = self.tree.moves[best];
        match self.config.kind {
            SearchKind::Gumbel => self.improve(NodeId::ROOT),
            SearchKind::Puct => self.share_out(),
        }
        let priors = &self.tree.priors[edges.clone()];
        let surprise = self.policy.iter().zip(priors).map(|(&p, &q)| relative_entropy(p, q)).sum();
        Findings {
            mv,
            policy: self.tree.moves[edges]
                .iter()
                .copied()
                .zip(self.policy.iter().copied())
                .collect(),
            raw,
            root: self.tree.value_under(NodeId::ROOT, &self.policy),
            surprise,
            simulations: self.done,
            proof: self.proof(),
        }
    }

    /// Positions in the tree.
    pub fn nodes(&self) -> usize {
        self.tree.nodes.len()
    }
}

/// `p ln(p / q)`, zero where `p` is.
pub(crate) fn relative_entropy(p: f32, q: f32) -> f32 {
    if p > 0.0 { p * (p / q.max(f32::MIN_POSITIVE)).ln() } else { 0.0 }
}

#[cfg(test)]
mod tests;
