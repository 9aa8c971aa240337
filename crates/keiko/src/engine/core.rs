//! The engine itself, whatever the protocol: a network, a game in hand, and how it thinks.

use super::loaded::{LEAVES_A_THREAD, Loaded};
use super::options::Options;
use super::plan::{Limits, Plan};
use super::report::Report;
use super::shortest::shortest_win;
use crate::Failure;
use crate::players::SEARCH;
use keiko_network::{Network, TeamEvaluator};
use keiko_rules::{Game, Move, Rules};
use keiko_selfplay::{Findings, Line, Proof, Purpose, Search, SearchConfig, Wdl, Win, generator};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A score from which on a shorter win is looked for than the search of the tree knows.
const NEARLY_WON: f32 = 0.9;

/// Plies of such a win.
const SHORT: u16 = 9;

/// Positions looked at for it, for each simulation of the search before.
const POSITIONS_A_SIMULATION: u64 = 100;

/// How often a search says how it stands.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// What whoever watches a search wants of it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// Nothing new.
    GoOn,
    /// The answer, now.
    Answer,
    /// What was pondered about has been played: the clock runs from now.
    Play,
    /// No answer at all.
    Abort,
}

/// Whoever watches a search.
pub(crate) trait Watcher {
    /// What is wanted, asked after every few simulations. `waits`: the search would not end by
    /// itself.
    fn wish(&mut self, waits: bool) -> Wish;
    /// Waits until something is wanted, when nothing is left to search.
    fn wait(&mut self) -> Wish;
    /// How the search stands, now and then.
    fn report(&mut self, rules: &Rules, report: &Report);
}

/// What came out of a search.
#[derive(Clone, Debug)]
pub(crate) struct Thought {
    /// The move to play.
    pub(crate) mv: Move,
    /// The reply that is expected.
    pub(crate) reply: Option<Move>,
    /// How the search stood at its end.
    pub(crate) report: Report,
    /// Whether the position is as hopeless as the options ask for to resign.
    pub(crate) resigns: bool,
    /// Whether nobody wants the move any more.
    pub(crate) aborted: bool,
}

/// A network that plays one game.
pub(crate) struct Engine {
    /// The choices in force.
    pub(crate) options: Options,
    /// The game, where it was named beside the network.
    named_rules: Option<Arc<Rules>>,
    rules: Arc<Rules>,
    loaded: Option<Loaded>,
    /// Of the game in hand; it goes on with what it knows from move to move.
    search: Search,
    config: SearchConfig,
    /// Whether the last search was allowed some moves only.
    is_restricted: bool,
    /// Searches in a row that said the game is lost.
    hopeless: u32,
    /// What chance is drawn from where the options leave that to the clock.
    clock_seed: u64,
    searches: u64,
}

impl Engine {
    /// An engine that has not loaded its network yet, but knows its game.
    ///
    /// # Errors
    /// When the game is unknown, or the network's folder is none.
    pub(crate) fn new(
        options: Options,
        rules: Option<&str>,
        clock_seed: u64,
    ) -> Result<Engine, Failure> {
        let named_rules = rules.map(Rules::load).transpose()?.map(Arc::new);
        let rules = match (&named_rules, &options.network) {
            (Some(rules), _) => Arc::clone(rules),
            (None, Some(folder)) => Arc::new(Network::read_rules(folder)?),
            // Until a GUI chooses a network.
            (None, None) => Arc::new(Rules::load(Rules::variants()[0])?),
        };
        let search = Search::new(Game::new(Arc::clone(&rules)), SEARCH);
        Ok(Engine {
            options,
            named_rules,
            rules,
            loaded: None,
            search,
            config: SEARCH,
            is_restricted: false,
            hopeless: 0,
            clock_seed,
            searches: 0,
        })
    }

    /// The game's rules.
    pub(crate) fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The game in hand.
    pub(crate) fn game(&self) -> &Game {
        self.search.game()
    }

    /// Loads the network, unless it is there already as the options ask for it.
    pub(crate) fn make_ready(&mut self) -> Result<(), Failure> {
        let folder = self.options.network.clone().ok_or_else(|| {
            Failure::usage("no network is chosen: set the option Network to a network's folder")
        })?;
        let wanted = (folder, self.options.precision, self.options.threads);
        if self.loaded.as_ref().is_some_and(|loaded| loaded.wanted == wanted) {
            return Ok(());
        }
        let network = Network::load(&wanted.0)?;
        let rules = match &self.named_rules {
            Some(rules) => Arc::clone(rules),
            None => Arc::new(network.rules()?),
        };
        let encoding = network.encoding(Arc::clone(&rules))?;
        let inference = network.inference(wanted.1)?;
        let shape = (wanted.2 as usize, LEAVES_A_THREAD);
        let evaluator = TeamEvaluator::new(&network.weights, &encoding, shape, &inference);
        let mut loaded = Loaded { wanted, evaluator, waiting: VecDeque::new() };
        loaded.warm_up(&rules);
        self.loaded = Some(loaded);
        if rules.hash() != self.rules.hash() || rules.name() != self.rules.name() {
            self.rules = Arc::clone(&rules);
            self.begin(Game::new(rules));
        } else {
            self.rules = rules;
        }
        Ok(())
    }

    /// Begins with a game, from nothing.
    pub(crate) fn begin(&mut self, game: Game) {
        self.hopeless = 0;
        self.search = Search::new(game, self.config);
    }

    /// Goes on from a game; where it is the one in hand, played on, with what is known of it.
    pub(crate) fn set_game(&mut self, game: Game) {
        match moves_ahead(self.search.game(), &game) {
            Some(moves) => moves.into_iter().for_each(|mv| self.search.advance(mv)),
            None => self.search = Search::new(game, self.config),
        }
    }

    /// Plays a legal move.
    pub(crate) fn play(&mut self, mv: Move) {
        self.search.advance(mv);
    }

    /// Takes moves back; whether there were so many.
    pub(crate) fn undo(&mut self, plies: usize) -> bool {
        let mut game = self.search.game().clone();
        let enough = game.ply() >= plies;
        if enough {
            (0..plies).for_each(|_| _ = game.undo());
            self.search = Search::new(game, self.config);
        }
        enough
    }

    /// Thinks about the game in hand, which must have a legal move left.
    ///
    /// # Errors
    /// When there is no network.
    pub(crate) fn think(
        &mut self,
        limits: &Limits,
        watcher: &mut impl Watcher,
    ) -> Result<Thought, Failure> {
        self.make_ready()?;
        let mut plan = Plan::new(limits, &self.options);
        self.prepare(&limits.only, &plan);
        let mut end = self.search(&mut plan, watcher);
        while plan.waits && end != End::Aborted {
            match watcher.wait() {
                Wish::GoOn => {}
                Wish::Answer | Wish::Play => break,
                Wish::Abort => end = End::Aborted,
            }
        }
        Ok(self.conclude(&plan, end))
    }

    /// Makes the search ready for what is planned.
    fn prepare(&mut self, only: &[Move], plan: &Plan) {
        let config = plan.weakness.map_or(SEARCH, |it| it.search(SEARCH));
        let is_full = 4 * self.search.memory() > 3 * self.memory_limit();
        if config != self.config || is_full {
            self.config = config;
            self.search = Search::new(self.search.game().clone(), config);
        }
        if !only.is_empty() || self.is_restricted {
            self.search.restrict(only);
            self.is_restricted = !only.is_empty();
        }
        self.searches += 1;
    }

    /// Searches until the plan or whoever watches says so, or nothing is left to look at.
    fn search(&mut self, plan: &mut Plan, watcher: &mut impl Watcher) -> End {
        let mut budget = self.config.budget(plan.simulations(), plan.noise());
        if plan.allowed > 0 {
            budget.considered = budget.considered.min(plan.allowed);
        }
        let mut random = generator(self.seed(), Purpose::Play, self.searches);
        self.search.begin(budget, &mut random);
        let end = self.simulate(plan, watcher);
        self.loaded.as_mut().expect("a network is loaded").settle(&mut self.search);
        end
    }

    /// One simulation after the other.
    fn simulate(&mut self, plan: &mut Plan, watcher: &mut impl Watcher) -> End {
        loop {
            let begun = Instant::now();
            let loaded = self.loaded.as_mut().expect("a network is loaded");
            if !loaded.simulate(&mut self.search) {
                return End::Complete;
            }
            match watcher.wish(plan.waits) {
                Wish::GoOn => {}
                Wish::Answer => {
                    plan.waits = false;
                    return End::Cut;
                }
                Wish::Abort => return End::Aborted,
                Wish::Play => plan.play(),
            }
            let is_full = self.search.memory() >= self.memory_limit();
            // What waits is still to be taken in, each thread its share.
            let rest = begun.elapsed() * LEAVES_A_THREAD as u32;
            if plan.is_late(rest) || is_full || self.is_deep(plan) {
                return End::Cut;
            }
            if plan.reported.elapsed() >= REPORT_EVERY {
                let report = self.report(plan);
                watcher.report(&self.rules, &report);
                plan.reported = Instant::now();
            }
        }
    }

    fn is_deep(&mut self, plan: &Plan) -> bool {
        let Some(depth) = plan.depth else { return false };
        self.search.lines(1).first().is_some_and(|line| line.moves.len() as u64 >= depth)
    }

    /// The move, and what there is to say about it.
    fn conclude(&mut self, plan: &Plan, end: End) -> Thought {
        if end != End::Complete {
            self.search.level();
        }
        let mut report = self.report(plan);
        let Findings { mut mv, root, proof, .. } = self.search.finish();
        if end == End::Complete
            && plan.may_take_longer()
            && root.score() > NEARLY_WON
            && let Some(win) = self.shorter_win(plan, proof)
        {
            mv = win.mv;
            report.lines = vec![Line {
                moves: vec![mv],
                visits: 0,
                value: Wdl::WIN,
                proof: Some(Proof::Win(win.plies)),
            }];
        }
        if end != End::Aborted && plan.counts {
            let lost = 100.0 * root.score() < self.options.resign_below as f32;
            self.hopeless = if lost { self.hopeless + 1 } else { 0 };
        }
        let resigns = self.options.resign_below > 0 && self.hopeless >= self.options.resign_moves;
        let reply = report.lines.first().and_then(|line| line.moves.get(1)).copied();
        Thought { mv, reply, report, resigns, aborted: end == End::Aborted }
    }

    /// A win that is shorter than what is proven, as far as the simulations of this search are
    /// worth looking for one.
    fn shorter_win(&self, plan: &Plan, proof: Option<Proof>) -> Option<Win> {
        let plies = match proof {
            Some(Proof::Win(plies)) => plies.saturating_sub(2).min(SHORT),
            _ => SHORT,
        };
        let simulations = plan.nodes.unwrap_or(0);
        shortest_win(self.game(), plies, simulations.saturating_mul(POSITIONS_A_SIMULATION))
    }

    fn report(&mut self, plan: &Plan) -> Report {
        let fullness = 1000 * self.search.memory() / self.memory_limit();
        Report {
            elapsed: plan.began.elapsed(),
            nodes: self.search.simulations().into(),
            deepest: self.search.deepest(),
            fullness: fullness.min(1000) as u32,
            lines: self.search.lines(self.options.lines as usize),
        }
    }

    fn memory_limit(&self) -> usize {
        (self.options.memory as usize) << 20
    }

    fn seed(&self) -> u64 {
        if self.options.seed == 0 { self.clock_seed } else { self.options.seed.into() }
    }
}

/// How a search ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum End {
    /// By its budget, or because nothing was left to look at.
    Complete,
    /// Before that, by a limit or a wish.
    Cut,
    /// Nobody wants to know.
    Aborted,
}

/// The moves that lead from one game to another, if that is the same game played on.
fn moves_ahead(from: &Game, to: &Game) -> Option<Vec<Move>> {
    let (known, all): (Vec<Move>, Vec<Move>) = (from.moves().collect(), to.moves().collect());
    let same = from.start_sfen() == to.start_sfen();
    all.strip_prefix(&known[..]).filter(|_| same).map(<[Move]>::to_vec)
}
