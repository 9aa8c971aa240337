//! Gumbel search over one game: `begin`, then `select` and `backup` until it is done.

use crate::gumbel::{Sigma, gumbel_noise, improved_policy, most_lagging, visit_schedule};
use crate::tree::{NodeId, Tree};
use crate::{Evaluation, Evaluator, Slot, Wdl};
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
/// use keiko_selfplay::{Budget, Evaluator, Search, Sigma, UniformEvaluator};
/// use rand::SeedableRng;
///
/// let rules = std::sync::Arc::new(Rules::load("minishogi")?);
/// let mut search = Search::new(Game::new(rules), Sigma { c_visit: 50.0, c_scale: 1.0 });
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
    game: Game,
    sigma: Sigma,
    tree: Tree,
    budget: Budget,
    /// For each simulation, how many visits the root move to be chosen has.
    schedule: Vec<u32>,
    done: u32,
    /// Noise for each root move.
    noise: Vec<f32>,
    /// Root moves by noise and prior, best first: only the first `considered` are simulated.
    considered: Vec<usize>,
    /// Edges from the root to the leaf in hand.
    path: Vec<usize>,
    /// Legal moves of the leaf in hand.
    legal: Vec<Move>,
    completed: Vec<f32>,
    policy: Vec<f32>,
}

impl Search {
    /// A search of `game`, at its present position.
    pub fn new(game: Game, sigma: Sigma) -> Search {
        Search {
            game,
            sigma,
            tree: Tree::default(),
            budget: Budget { simulations: 0, considered: 1, noise: 0.0 },
            schedule: Vec::new(),
            done: 0,
            noise: Vec::new(),
            considered: Vec::new(),
            path: Vec::new(),
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
    }

    /// Walks to the next leaf and pushes it; `None` when the budget is spent.
    /// Ends of games on the way are backed up at once.
    pub fn select(&mut self, evaluator: &mut impl Evaluator) -> Option<Slot> {
        if self.tree.nodes.is_empty() {
            return Some(evaluator.push(&self.game, &self.legal));
        }
        while (self.done as usize) < self.schedule.len() {
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
        let mut node = NodeId::ROOT;
        loop {
            let choice =
                if node == NodeId::ROOT { self.next_root_move() } else { self.next_reply(node) };
            let edge = self.tree.node(node).edges().start + choice;
            self.path.push(edge);
            self.game.play(self.tree.moves[edge]);
            match self.tree.child(edge) {
                None => return self.reach(evaluator),
                Some(child) if self.tree.node(child).ended => {
                    let value = self.tree.node(child).raw;
                    self.finish_walk(value);
                    return None;
                }
                Some(child) => node = child,
            }
        }
    }

    /// A position met for the first time: an end is backed up, another is pushed.
    fn reach(&mut self, evaluator: &mut impl Evaluator) -> Option<Slot> {
        if let Some(ending) = self.game.conclusion() {
            let node = self.tree.end(Wdl::of(ending.outcome, self.game.side_to_move()));
            self.attach(node);
            return None;
        }
        self.game.legal_moves(&mut self.legal);
        Some(evaluator.push(&self.game, &self.legal))
    }

    fn attach(&mut self, node: NodeId) {
        let edge = *self.path.last().expect("only the root has no edge above it");
        self.tree.connect(edge, node);
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

    /// Gumbel-top-k: the moves of highest noise plus logit.
    fn consider_root_moves(&mut self) {
        let edges = self.tree.node(NodeId::ROOT).edges();
        let logits = &self.tree.logits[edges.clone()];
        let key = |i: usize| self.noise[i] + logits[i];
        self.considered.clear();
        self.considered.extend(0..edges.len());
        self.considered.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
        self.considered.truncate(self.budget.considered.max(1));
    }

    /// Sequential halving: of the considered moves with the scheduled number of visits, the
    /// best by noise, logit and score.
    fn next_root_move(&mut self) -> usize {
        let wanted = self.schedule[self.done as usize];
        self.best_considered(wanted)
    }

    /// The best of the most visited considered moves.
    fn best_root_move(&mut self) -> usize {
        self.best_considered(self.tree.most_visits(NodeId::ROOT))
    }

    fn best_considered(&mut self, wanted_visits: u32) -> usize {
        let first = self.tree.node(NodeId::ROOT).edges().start;
        self.tree.completed_scores(NodeId::ROOT, &mut self.completed);
        let factor = self.sigma.factor(self.tree.most_visits(NodeId::ROOT));
        let key =
            |i: usize| self.noise[i] + self.tree.logits[first + i] + factor * self.completed[i];
        let has_wanted = |&i: &usize| self.tree.visits[first + i] == wanted_visits;
        let candidates = self.considered.iter().copied().filter(has_wanted);
        candidates
            .reduce(|best, i| if key(i) > key(best) { i } else { best })
            .expect("the schedule asks for visits that some considered move has")
    }

    fn next_reply(&mut self, node: NodeId) -> usize {
        self.improve(node);
        most_lagging(&self.policy, &self.tree.visits[self.tree.node(node).edges()])
    }

    /// Fills `policy` with the node's improved policy.
    fn improve(&mut self, node: NodeId) {
        self.tree.completed_scores(node, &mut self.completed);
        let factor = self.sigma.factor(self.tree.most_visits(node));
        let logits = &self.tree.logits[self.tree.node(node).edges()];
        improved_policy(logits, &self.completed, factor, &mut self.policy);
    }
}

/// `p ln(p / q)`, zero where `p` is.
fn relative_entropy(p: f32, q: f32) -> f32 {
    if p > 0.0 { p * (p / q.max(f32::MIN_POSITIVE)).ln() } else { 0.0 }
}
