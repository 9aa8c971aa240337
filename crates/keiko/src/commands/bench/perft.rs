//! `keiko bench perft`: the rules' speed, beside an outside program's where one is named.

use super::{ROUNDS, median};
use crate::Failure;
use crate::external::{EngineSpec, ExternalEngine, Limit, Protocol, split_command};
use keiko_rules::{Game, Position, Rules, perft};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Leaves that take long enough to time.
const LEAVES: u64 = 5_000_000;
/// How long an outside program may count.
const PATIENCE: Duration = Duration::from_secs(120);
/// Positions on which single moves are timed: few enough to stay in the cache, as a search's do.
const POSITIONS: usize = 200;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The variants; without any, all that are embedded. NAME=OTHER where the outside program
    /// calls it otherwise.
    #[arg(value_name = "VARIANT[=NAME]")]
    variants: Vec<String>,
    /// A program that knows USI and `go perft`, such as fairy-stockfish, timed in turn.
    #[arg(long, value_name = "COMMAND")]
    against: Option<String>,
}

/// A variant on the bench.
struct Entry {
    rules: Arc<Rules>,
    depth: u32,
    positions: Vec<Position>,
    outside: Option<ExternalEngine>,
    rates: Vec<f64>,
    outside_rates: Vec<f64>,
    list: Vec<f64>,
    list_and_play: Vec<f64>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let all: Vec<String> = Rules::variants().iter().map(|&name| name.to_owned()).collect();
    let wanted = if arguments.variants.is_empty() { &all } else { &arguments.variants };
    let mut entries = wanted
        .iter()
        .map(|name| entry(name, arguments.against.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    for round in 1..=ROUNDS {
        for entry in &mut entries {
            measure(entry)?;
        }
        tell!("round {round} of {ROUNDS}");
    }
    say!("perft from the start with the last ply counted in bulk, one core;");
    say!("nanoseconds of one list of legal moves, and of a list and a move, in random games;");
    say!("medians of {ROUNDS} rounds that take turns");
    entries.into_iter().for_each(print);
    Ok(ExitCode::SUCCESS)
}

fn entry(name: &str, against: Option<&str>) -> Result<Entry, Failure> {
    let (name, theirs) = name.split_once('=').unwrap_or((name, name));
    let rules = Arc::new(Rules::load(name)?);
    let start = |command| -> Result<ExternalEngine, Failure> {
        let command = split_command(command)?;
        let (protocol, limit) = (Protocol::Usi, Limit::Nodes(1));
        let spec = EngineSpec { protocol, command, options: Vec::new(), limit, patience: PATIENCE };
        Ok(ExternalEngine::start(&spec, theirs, rules.start_sfen())?)
    };
    Ok(Entry {
        depth: depth_for(&rules),
        positions: sample(&rules),
        outside: against.map(start).transpose()?,
        rules,
        rates: Vec::new(),
        outside_rates: Vec::new(),
        list: Vec::new(),
        list_and_play: Vec::new(),
    })
}

/// The first depth deep enough to time.
fn depth_for(rules: &Rules) -> u32 {
    (1..).find(|&depth| perft(rules, rules.start(), depth) > LEAVES).expect("games have long lines")
}

/// Positions of random games.
fn sample(rules: &Arc<Rules>) -> Vec<Position> {
    let (mut positions, mut moves, mut state) = (Vec::new(), Vec::new(), 1u64);
    while positions.len() < POSITIONS {
        let mut game = Game::new(Arc::clone(rules));
        while game.ending().is_none() && game.ply() < 100 && positions.len() < POSITIONS {
            positions.push(*game.position());
            game.legal_moves(&mut moves);
            // Knuth's MMIX constants: any fixed sequence will do.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            game.play(moves[(state >> 33) as usize % moves.len()]);
        }
    }
    positions
}

fn measure(entry: &mut Entry) -> Result<(), Failure> {
    let rules = &entry.rules;
    let millions =
        |leaves: u64, began: Instant| leaves as f64 / began.elapsed().as_secs_f64() / 1e6;
    let began = Instant::now();
    entry.rates.push(millions(perft(rules, rules.start(), entry.depth), began));
    if let Some(outside) = &mut entry.outside {
        let began = Instant::now();
        let leaves = outside.perft(entry.depth)?;
        entry.outside_rates.push(millions(leaves, began));
    }
    let mut moves = Vec::new();
    entry.list.push(nanoseconds(&entry.positions, |position| {
        rules.legal_moves(position, &mut moves);
        black_box(&moves);
    }));
    entry.list_and_play.push(nanoseconds(&entry.positions, |position| {
        rules.legal_moves(position, &mut moves);
        let mut next = *position;
        moves.first().into_iter().for_each(|&mv| rules.play(&mut next, mv));
        black_box(next);
    }));
    Ok(())
}

/// Mean time of an action on a position.
fn nanoseconds(positions: &[Position], mut action: impl FnMut(&Position)) -> f64 {
    const REPEATS: usize = 500;
    let began = Instant::now();
    (0..REPEATS).for_each(|_| positions.iter().for_each(&mut action));
    began.elapsed().as_nanos() as f64 / (REPEATS * positions.len()) as f64
}

fn print(entry: Entry) {
    let rate = median(entry.rates);
    let against = entry.outside.map_or(String::new(), |outside| {
        let theirs = median(entry.outside_rates);
        format!("; {} {theirs:.1}: {:.1} times as many", outside.name(), rate / theirs)
    });
    say!(
        "{:14} depth {}: {rate:5.1} million leaves a second, list {:3.0} ns, list and move {:3.0} ns{against}",
        entry.rules.name(),
        entry.depth,
        median(entry.list),
        median(entry.list_and_play),
    );
}
