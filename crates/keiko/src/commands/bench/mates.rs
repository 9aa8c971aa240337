//! `keiko bench mates`: what looking for forced wins costs self-play, and what it finds.

use super::{ROUNDS, median};
use crate::Failure;
use keiko_network::{CachedEvaluator, NetworkEvaluator};
use keiko_rules::{Game, Move};
use keiko_selfplay::{
    Evaluation, Evaluator, GameRecord, MateSolver, ProofSolver, SearchConfig, SelfPlay, Slot,
    Verdict,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Leaf depths that are compared.
const DEPTHS: [u16; 4] = [1, 3, 5, 7];
/// One leaf of so many is looked at, so that they come from many games.
const EVERY: usize = 40;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The experiment.
    experiment: PathBuf,
    /// A published network; without it, the experiment's untrained one.
    #[arg(long, value_name = "DIR")]
    network: Option<PathBuf>,
    /// Override a value of the experiment; may be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Leaves that are looked at.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    leaves: u32,
}

/// An evaluator that keeps some of the positions it is asked about.
struct Collector {
    inner: CachedEvaluator,
    wanted: usize,
    asked: usize,
    leaves: Vec<Game>,
}

impl Evaluator for Collector {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        if self.asked.is_multiple_of(EVERY) && self.leaves.len() < self.wanted {
            self.leaves.push(game.clone());
        }
        self.asked += 1;
        self.inner.push(game, legal)
    }

    fn run(&mut self) {
        self.inner.run();
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        self.inner.read(slot)
    }

    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }
}

/// Self-play without a search for forced wins.
struct Sample {
    leaves: Vec<Game>,
    /// Positions before moves.
    roots: Vec<Game>,
    /// Leaves a move.
    leaves_a_move: f64,
    /// Seconds a leaf takes without any search for wins.
    seconds_a_leaf: f64,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let subject =
        super::Subject::load(&arguments.experiment, arguments.network.as_deref(), &arguments.set)?;
    let mut sample = sample(&subject, arguments.leaves as usize);
    let search = subject.experiment.search;
    let base = 1e6 * sample.seconds_a_leaf;
    say!("{} leaves of self-play of {}, one core;", sample.leaves.len(), subject.rules.name());
    say!("without a search for wins a leaf takes {base:.1} us; medians of {ROUNDS} rounds");
    let mut costs = vec![Vec::new(); DEPTHS.len() + 1];
    let (mut found, mut root_wins) = (vec![(0, 0); DEPTHS.len()], 0);
    let mut solver = MateSolver::default();
    for round in 1..=ROUNDS {
        for (index, &plies) in DEPTHS.iter().enumerate() {
            let began = Instant::now();
            found[index] = at_leaves(&mut solver, &mut sample.leaves, plies, &search);
            let seconds = began.elapsed().as_secs_f64();
            costs[index].push(1e6 * seconds / sample.leaves.len() as f64);
        }
        let began = Instant::now();
        root_wins = at_roots(&mut solver, &mut sample.roots, &search);
        let seconds = began.elapsed().as_secs_f64() / sample.roots.len() as f64;
        costs[DEPTHS.len()].push(1e6 * seconds / sample.leaves_a_move);
        tell!("round {round} of {ROUNDS}");
    }
    let share = |cost: f64| 100.0 * cost / (base + cost);
    for ((plies, cost), (wins, unknown)) in DEPTHS.iter().zip(&costs).zip(found) {
        let cost = median(cost.clone());
        let per_thousand = |count: usize| 1000.0 * count as f64 / sample.leaves.len() as f64;
        say!(
            "leaves, {plies} plies: {cost:6.1} us a leaf, {:4.1}% of the time; {:5.1} wins and {:.1} given up a thousand",
            share(cost),
            per_thousand(wins),
            per_thousand(unknown)
        );
    }
    let cost = median(costs[DEPTHS.len()].clone());
    say!(
        "before moves, as the experiment says: {cost:.1} us a leaf, {:.1}% of the time; {:.1} wins a thousand",
        share(cost),
        1000.0 * root_wins as f64 / sample.roots.len() as f64
    );
    Ok(ExitCode::SUCCESS)
}

/// Plays until enough leaves were seen.
fn sample(subject: &super::Subject, wanted: usize) -> Sample {
    let machine = &subject.experiment.machine;
    let (weights, encoding) = (&subject.weights, Arc::clone(&subject.encoding));
    let network = NetworkEvaluator::new(weights, encoding, machine.batch, &subject.inference);
    let inner = CachedEvaluator::new(network, machine.cache);
    let mut collector = Collector { inner, wanted, asked: 0, leaves: Vec::new() };
    let selfplay = subject.experiment.selfplay(&subject.rules, 0, 0);
    let search = SearchConfig {
        leaf_mate_plies: 0,
        root_mate_plies: 0,
        root_proof_nodes: 0,
        ..selfplay.search
    };
    let selfplay = SelfPlay { search, ..selfplay };
    let mut games = Vec::new();
    // As many games as the leaves are likely to need: the clock stops with the last one.
    let mut number = 0;
    let began = Instant::now();
    while collector.leaves.len() < wanted {
        let mut numbers = number..number + machine.batch as u64;
        number = numbers.end;
        selfplay.play(&mut collector, || numbers.next(), |game| games.push(game), || false);
    }
    let seconds_a_leaf = began.elapsed().as_secs_f64() / collector.asked as f64;
    let moves: usize = games.iter().map(|game| game.plies.len()).sum();
    Sample {
        roots: games.iter().flat_map(|game| roots(game, subject)).collect(),
        leaves: collector.leaves,
        leaves_a_move: collector.asked as f64 / moves as f64,
        seconds_a_leaf,
    }
}

/// Some of a game's searched positions.
fn roots(record: &GameRecord, subject: &super::Subject) -> Vec<Game> {
    let mut game = record.opening(&subject.rules).expect("it was played by these rules");
    let mut roots = Vec::new();
    for (index, ply) in record.plies.iter().enumerate() {
        if index % 4 == 0 {
            roots.push(game.clone());
        }
        game.play(ply.mv);
    }
    roots
}

/// Leaves that are won, and those that were given up.
fn at_leaves(
    solver: &mut MateSolver,
    leaves: &mut [Game],
    plies: u16,
    search: &SearchConfig,
) -> (usize, usize) {
    let mut found = (0, 0);
    for game in leaves {
        match solver.solve(game, plies, search.leaf_mate_nodes.max(1)) {
            Verdict::Win(_) => found.0 += 1,
            Verdict::Unknown => found.1 += 1,
            Verdict::NoWin => {}
        }
    }
    found
}

/// What a search does before its first simulation; how many positions are found to be won.
fn at_roots(solver: &mut MateSolver, roots: &mut [Game], search: &SearchConfig) -> usize {
    let (mut proofs, mut wins) = (ProofSolver::default(), 0);
    for game in roots {
        let (plies, nodes) = (search.root_mate_plies, search.root_mate_nodes);
        let is_mate = plies > 0 && !solver.shortest_wins(game, plies, nodes).is_empty();
        let nodes = search.root_proof_nodes;
        let mut is_won = || nodes > 0 && matches!(proofs.solve(game, nodes), Verdict::Win(_));
        wins += usize::from(is_mate || is_won());
    }
    wins
}
