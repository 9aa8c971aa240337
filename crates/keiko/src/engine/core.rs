//! The engine itself, whatever the protocol: a network, a game in hand, and how it thinks.

use super::clock::Clock;
use super::options::Options;
use super::report::Report;
use crate::Failure;
use crate::players::SEARCH;
use keiko_network::{Network, Precision, TeamEvaluator};
use keiko_rules::{Game, Move, Rules};
use keiko_selfplay::{Evaluator, Findings, Proof, Purpose, Search, SearchConfig, Slot, generator};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Leaves of the tree that each thread evaluates at a time.
const LEAVES_A_THREAD: usize = 4;

/// Simulations that measure the speed when a network is loaded.
const PROBE: u32 = 128;

/// Fewest simulations that say something about the speed.
const TELLING: u64 = 64;

/// Simulations that a search without a limit begins with; each of its rounds has twice as many.
const FIRST_ROUND: u32 = 512;

/// How often a search says how it stands.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// What a search may take, and what it is about.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The clock of who is to move.
    pub(crate) clock: Clock,
    /// When the clock began to run.
    pub(crate) since: Instant,
    /// Simulations.
    pub(crate) nodes: Option<u64>,
    /// Plies of the main line.
    pub(crate) depth: Option<u64>,
    /// Not before it is asked for.
    pub(crate) waits: Option<Waits>,
    /// These moves alone, each once; empty: all.
    pub(crate) only: Vec<Move>,
}

/// Why a search does not end by itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Waits {
    /// To be looked at.
    Analysis,
    /// The other side is thinking.
    Pondering,
}

impl Limits {
    /// No limit but the options', from now.
    pub(crate) fn none() -> Limits {
        let clock = Clock::default();
        Limits { clock, since: Instant::now(), nodes: None, depth: None, waits: None, only: vec![] }
    }
}

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

/// A network in memory, as it was asked for.
struct Loaded {
    wanted: (PathBuf, Option<Precision>, u32),
    evaluator: TeamEvaluator,
    /// Simulations a second.
    rate: f64,
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
    slots: Vec<Slot>,
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
            slots: Vec::new(),
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
        let mut loaded = Loaded { wanted, evaluator, rate: 1.0 };
        loaded.measure(&rules);
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
        self.prepare(&limits.only);
        let mut plan = Plan::new(limits, &self.options);
        let mut nodes = 0;
        let mut end = End::Complete;
        while let Some(simulations) = plan.round(nodes, self.rate()) {
            end = self.round(simulations, &mut plan, nodes, watcher);
            nodes += u64::from(self.search.simulations());
            let settled = self.is_settled();
            if matches!(end, End::Cut | End::Aborted) || settled {
                break;
            }
        }
        while plan.waits && end != End::Aborted {
            match watcher.wait() {
                Wish::GoOn => {}
                Wish::Answer | Wish::Play => break,
                Wish::Abort => end = End::Aborted,
            }
        }
        Ok(self.conclude(&plan, nodes, end))
    }

    /// Makes the search ready for what the options ask.
    fn prepare(&mut self, only: &[Move]) {
        let config = self.options.weakness().map_or(SEARCH, |it| it.search(SEARCH));
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

    /// Searches with a budget until it is spent, or the plan or whoever watches says so.
    fn round(
        &mut self,
        simulations: u32,
        plan: &mut Plan,
        before: u64,
        watcher: &mut impl Watcher,
    ) -> End {
        let mut budget = self.config.budget(simulations, plan.noise);
        if plan.allowed > 0 {
            budget.considered = budget.considered.min(plan.allowed);
        }
        let mut random = generator(self.seed(), Purpose::Play, self.searches);
        self.search.begin(budget, &mut random);
        loop {
            let begun = Instant::now();
            if !self.simulate() {
                return End::Complete;
            }
            match watcher.wish(plan.waits) {
                Wish::GoOn => {}
                Wish::Answer => {
                    plan.waits = false;
                    return End::Cut;
                }
                Wish::Abort => return End::Aborted,
                Wish::Play => {
                    plan.play();
                    return End::Interrupted;
                }
            }
            let is_full = self.search.memory() >= self.memory_limit();
            if plan.is_late(begun.elapsed()) || is_full || self.is_deep(plan) {
                return End::Cut;
            }
            if plan.reported.elapsed() >= REPORT_EVERY {
                let nodes = before + u64::from(self.search.simulations());
                let report = self.report(plan, nodes);
                watcher.report(&self.rules, &report);
                plan.reported = Instant::now();
            }
        }
    }

    /// A batch of simulations; whether there was anything left to do.
    fn simulate(&mut self) -> bool {
        let evaluator = &mut self.loaded.as_mut().expect("a network is loaded").evaluator;
        let most = evaluator.batch_size();
        self.search.gather(evaluator, most, &mut self.slots);
        if self.slots.is_empty() {
            return false;
        }
        evaluator.run();
        self.slots.iter().for_each(|&slot| self.search.backup(evaluator.read(slot)));
        true
    }

    /// Whether more simulations would change nothing.
    fn is_settled(&mut self) -> bool {
        let (mut legal, proven) = (Vec::new(), self.search.lines(1));
        self.game().legal_moves(&mut legal);
        let wins = |line: &keiko_selfplay::Line| matches!(line.proof, Some(Proof::Win(_)));
        legal.len() <= 1 || proven.first().is_some_and(wins) || self.search.simulations() == 0
    }

    fn is_deep(&mut self, plan: &Plan) -> bool {
        let Some(depth) = plan.depth else { return false };
        self.search.lines(1).first().is_some_and(|line| line.moves.len() as u64 >= depth)
    }

    /// The move, and what there is to say about it.
    fn conclude(&mut self, plan: &Plan, nodes: u64, end: End) -> Thought {
        let elapsed = plan.began.elapsed();
        if nodes >= TELLING
            && let Some(loaded) = &mut self.loaded
        {
            loaded.rate = nodes as f64 / elapsed.as_secs_f64().max(1e-3);
        }
        if end != End::Complete {
            self.search.level();
        }
        let report = self.report(plan, nodes);
        let Findings { mv, root, .. } = self.search.finish();
        if end != End::Aborted && plan.counts {
            let lost = 100.0 * root.score() < self.options.resign_below as f32;
            self.hopeless = if lost { self.hopeless + 1 } else { 0 };
        }
        let resigns = self.options.resign_below > 0 && self.hopeless >= self.options.resign_moves;
        let reply = report.lines.first().and_then(|line| line.moves.get(1)).copied();
        Thought { mv, reply, report, resigns, aborted: end == End::Aborted }
    }

    fn report(&mut self, plan: &Plan, nodes: u64) -> Report {
        let fullness = 1000 * self.search.memory() / self.memory_limit();
        Report {
            elapsed: plan.began.elapsed(),
            nodes,
            deepest: self.search.deepest(),
            fullness: fullness.min(1000) as u32,
            lines: self.search.lines(self.options.lines as usize),
        }
    }

    fn memory_limit(&self) -> usize {
        (self.options.memory as usize) << 20
    }

    fn rate(&self) -> f64 {
        self.loaded.as_ref().map_or(1.0, |loaded| loaded.rate)
    }

    fn seed(&self) -> u64 {
        if self.options.seed == 0 { self.clock_seed } else { self.options.seed.into() }
    }
}

impl Loaded {
    /// Measures simulations a second, and warms up what computes.
    fn measure(&mut self, rules: &Arc<Rules>) {
        let mut search = Search::new(Game::new(Arc::clone(rules)), SEARCH);
        let (most, mut slots) = (self.evaluator.batch_size(), Vec::new());
        let began = Instant::now();
        search.begin(SEARCH.budget(PROBE, 0.0), &mut generator(0, Purpose::Play, 0));
        loop {
            search.gather(&mut self.evaluator, most, &mut slots);
            if slots.is_empty() {
                break;
            }
            self.evaluator.run();
            slots.iter().for_each(|&slot| search.backup(self.evaluator.read(slot)));
        }
        self.rate =
            f64::from(search.simulations().max(1)) / began.elapsed().as_secs_f64().max(1e-3);
    }
}

/// How a round of a search ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum End {
    /// By its budget.
    Complete,
    /// Before that, by a limit or a wish.
    Cut,
    /// For another round, with another budget.
    Interrupted,
    /// Nobody wants to know.
    Aborted,
}

/// How a search is to go on: its limits as they stand.
struct Plan {
    began: Instant,
    deadline: Option<Instant>,
    /// What the clock will allow once the other side has moved.
    later: Option<Duration>,
    nodes: Option<u64>,
    depth: Option<u64>,
    /// Root moves that are allowed; 0: all.
    allowed: usize,
    waits: bool,
    /// Whether the search is a move of the engine's own.
    counts: bool,
    noise: f32,
    next_round: u32,
    reported: Instant,
}

impl Plan {
    fn new(limits: &Limits, options: &Options) -> Plan {
        let analysis = limits.waits == Some(Waits::Analysis);
        let weakness = options.weakness().filter(|_| !analysis);
        let waits = limits.waits.is_some();
        let time = limits.clock.time_for_move(options.overhead.into());
        let usual = (time.is_none() && limits.depth.is_none() && !analysis)
            .then_some(u64::from(options.simulations));
        let mut nodes = limits.nodes.or(usual);
        if let Some(weakness) = weakness {
            let most = u64::from(weakness.simulations);
            nodes = Some(nodes.map_or(most, |nodes| nodes.min(most)));
        }
        Plan {
            began: Instant::now(),
            deadline: time.filter(|_| !waits).map(|time| limits.since + time),
            later: time.filter(|_| waits),
            nodes,
            depth: limits.depth,
            allowed: limits.only.len(),
            waits,
            counts: !analysis,
            noise: weakness.map_or(0.0, |it| it.noise),
            next_round: FIRST_ROUND,
            reported: Instant::now(),
        }
    }

    /// The other side has played what was expected: the clock runs.
    fn play(&mut self) {
        self.deadline = self.later.map(|time| Instant::now() + time);
        self.waits = false;
    }

    /// Simulations of the next round, after so many; `None` where enough is known.
    fn round(&mut self, done: u64, rate: f64) -> Option<u32> {
        let left = self.nodes.map(|nodes| nodes.max(1).saturating_sub(done));
        if left == Some(0) {
            return None;
        }
        let timed = self.deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
            (rate * left) as u64
        });
        // The rest of a clock that is too short for a round worth its while is saved.
        if done > 0 && timed.is_some_and(|timed| timed < TELLING.max(done / 4)) {
            return None;
        }
        let growing = (timed.is_none() && left.is_none()).then(|| {
            self.next_round =
                self.next_round.saturating_mul(2).min(super::options::MOST_SIMULATIONS);
            u64::from(self.next_round / 2)
        });
        let most = u64::from(super::options::MOST_SIMULATIONS);
        let simulations = [left, timed, growing].into_iter().flatten().min().unwrap_or(most);
        Some(simulations.clamp(1, most) as u32)
    }

    /// Whether another batch like the last one would end too late.
    fn is_late(&self, batch: Duration) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() + batch >= deadline)
    }
}

/// The moves that lead from one game to another, if that is the same game played on.
fn moves_ahead(from: &Game, to: &Game) -> Option<Vec<Move>> {
    let (known, all): (Vec<Move>, Vec<Move>) = (from.moves().collect(), to.moves().collect());
    let same = from.start_sfen() == to.start_sfen();
    all.strip_prefix(&known[..]).filter(|_| same).map(<[Move]>::to_vec)
}
