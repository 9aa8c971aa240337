//! Gumbel search over one game: `begin`, then `select` and `backup` until it is done.

use crate::gumbel::{gumbel_noise, improved_policy, most_lagging, visit_schedule};
use crate::tree::{NodeId, Tree};
use crate::{
    Evaluation, Evaluator, MateSolver, Proof, ProofSolver, SearchConfig, Slot, Verdict, Wdl, Win,
};
use keiko_rules::{Game, Move};
use rand::Rng;

/// How one position is to be searched.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Budget {
    /// Leaves to visit.
    pub simulations: u32,
    /// Root moves that may be simulated at all: Gumbel-top-k's k.
    pub considered: usize,
    /// Scale of the Gumbel noise: 1 samples by the policy, 0 plays the best.
    pub noise: f32,
}

/// What a search found. All from the side to move's view.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    /// The move to play.
    pub mv: Move,
    /// The improved policy, free of noise, over all legal moves.
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
/// search.begin(Budget { simulations: 32, considered: 16, noise: 1.0 }, &mut rng);
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
    /// For each simulation, how many visits the root move to be chosen has.
    pub(crate) schedule: Vec<u32>,
    pub(crate) done: u32,
    /// Noise for each root move.
    pub(crate) noise: Vec<f32>,
    /// Root moves by noise and prior, best first: only the first `considered` are simulated.
    pub(crate) considered: Vec<usize>,
    /// Edges from the root to the leaf in hand.
    pub(crate) path: Vec<usize>,
    /// The nodes above them.
    pub(crate) above: Vec<NodeId>,
    /// Legal moves of the leaf in hand.
    pub(crate) legal: Vec<Move>,
    pub(crate) completed: Vec<f32>,
    pub(crate) policy: Vec<f32>,
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
            budget: Budget { simulations: 0, considered: 1, noise: 0.0 },
            schedule: Vec::new(),
            done: 0,
            noise: Vec::new(),
            considered: Vec::new(),
            path: Vec::new(),
            above: Vec::new(),
            legal: Vec::new(),
            completed: Vec::new(),
            policy: Vec::new(),
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

    /// Plays a legal move at the root; the next search begins from there.
    pub fn play(&mut self, mv: Move) {
        self.game.play(mv);
        self.tree.clear();
    }

    /// Starts a search of the present position, which must not be the end of the game.
    /// All randomness of the search is drawn here.
    pub fn begin(&mut self, budget: Budget, rng: &mut impl Rng) {
        self.tree.clear();
        self.budget = budget;
        self.done = 0;
        self.game.legal_moves(&mut self.legal);
        assert!(!self.legal.is_empty(), "a game that has ended cannot be searched");
        self.noise.clear();
        self.noise.extend(self.legal.iter().map(|_| budget.noise * gumbel_noise(rng)));
        let considered = budget.considered.min(self.legal.len()).max(1);
        // A forced move needs no search.
        let simulations = if self.legal.len() == 1 { 0 } else { budget.simulations };
        self.schedule = visit_schedule(considered, simulations);
        self.find_wins();
    }

    /// Walks to the next leaf and pushes it; `None` when the budget is spent.
    /// Ends of games on the way are backed up at once.
    pub fn select(&mut self, evaluator: &mut impl Evaluator) -> Option<Slot> {
        if !self.wins.is_empty() {
            return None;
        }
        if self.tree.nodes.is_empty() {
            return Some(evaluator.push(&self.game, &self.legal));
        }
        while (self.done as usize) < self.schedule.len() && self.proof().is_none() {
            let slot = self.descend(evaluator);
            self.return_to_root();
            if slot.is_some() {
                return slot;
            }
        }
        None
    }

    /// Takes in the evaluation of the leaf that was selected last.
    pub fn backup(&mut self, evaluation: Evaluation<'_>) {
        let node = self.tree.expand(&self.legal, evaluation.prior, evaluation.wdl);
        if node == NodeId::ROOT {
            self.consider_root_moves();
        } else {
            self.attach(node);
        }
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
        self.improve(NodeId::ROOT);
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

    /// Every legal move with its statistics, in the order of `legal_moves`.
    pub fn root_moves(&self) -> Vec<RootMove> {
        let tree = &self.tree;
        let statistics = |edge: usize| RootMove {
            mv: tree.moves[edge],
            prior: tree.priors[edge],
            visits: tree.visits[edge],
            score: tree.scores[edge],
        };
        tree.nodes.first().into_iter().flat_map(|root| root.edges()).map(statistics).collect()
    }

    /// The line the search expects: the move it would play, then the most visited replies.
    pub fn principal_variation(&mut self) -> Vec<Move> {
        if let Some(win) = self.wins.first() {
            return vec![win.mv];
        }
        let Some(root) = self.tree.nodes.first() else { return Vec::new() };
        let mut edge = root.edges().start + self.best_root_move();
        let mut line = vec![self.tree.moves[edge]];
        while let Some(child) = self.tree.child(edge) {
            let edges = self.tree.node(child).edges();
            let Some(next) = edges.max_by_key(|&e| self.tree.visits[e]) else { break };
            if self.tree.visits[next] == 0 {
                break;
            }
            line.push(self.tree.moves[next]);
            edge = next;
        }
        line
    }

    /// Positions in the tree.
    pub fn nodes(&self) -> usize {
        self.tree.nodes.len()
    }

    /// One walk from the root. `Some` when it found a leaf to evaluate.
    fn descend(&mut self, evaluator: &mut impl Evaluator) -> Option<Slot> {
        self.path.clear();
        self.above.clear();
        let mut node = NodeId::ROOT;
        loop {
            let choice =
                if node == NodeId::ROOT { self.next_root_move() } else { self.next_reply(node) };
            let edge = self.tree.node(node).edges().start + choice;
            self.path.push(edge);
            self.above.push(node);
            self.game.play(self.tree.moves[edge]);
            match self.tree.child(edge) {
                None => return self.reach(evaluator),
                Some(child) => match self.tree.node(child).proof {
                    Some(proof) => {
                        self.finish_walk(proof.value());
                        return None;
                    }
                    None => node = child,
                },
            }
        }
    }

    /// A position met for the first time: what is certain is backed up, another is pushed.
    fn reach(&mut self, evaluator: &mut impl Evaluator) -> Option<Slot> {
        if let Some(proof) = self.certain() {
            let node = self.tree.settle(proof);
            self.attach(node);
            return None;
        }
        self.game.legal_moves(&mut self.legal);
        Some(evaluator.push(&self.game, &self.legal))
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

    fn attach(&mut self, node: NodeId) {
        let edge = *self.path.last().expect("only the root has no edge above it");
        self.tree.connect(edge, node);
        if let Some(proof) = self.tree.node(node).proof {
            self.tree.prove(&self.path, &self.above, proof);
        }
        self.finish_walk(self.tree.node(node).raw);
    }

    fn finish_walk(&mut self, value: Wdl) {
        self.tree.backup(&self.path, value);
        self.done += 1;
    }

    fn return_to_root(&mut self) {
        for _ in 0..self.path.len() {
            self.game.undo();
        }
    }

    fn next_reply(&mut self, node: NodeId) -> usize {
        self.improve(node);
        most_lagging(&self.policy, &self.tree.visits[self.tree.node(node).edges()])
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

/// `p ln(p / q)`, zero where `p` is.
pub(crate) fn relative_entropy(p: f32, q: f32) -> f32 {
    if p > 0.0 { p * (p / q.max(f32::MIN_POSITIVE)).ln() } else { 0.0 }
}
