//! `keiko match`: players, pairs of games, and what they say about the players.

mod folder;
mod openings;
mod pairings;
mod settings;
mod sheets;
mod standings;
mod table;

use crate::failure::STOPPED;
use crate::players::Contestant;
use crate::{Failure, stop};
use folder::Folder;
use keiko_rules::Rules;
use keiko_trainer::arena::{Match, Played};
use keiko_trainer::scoresheet::Scoresheet;
use keiko_trainer::sprt::Verdict;
use standings::Standings;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Lines of progress that a long match has, about.
const PROGRESS_LINES: u64 = 50;

/// Plays players against each other: pairs of games with colours swapped, each pair from its own
/// opening. Of more than two players each two meet, and all are rated together.
///
/// A player is a network's folder (with `@f32`, `@bf16` or `@int8` behind it to choose how it is
/// computed), `random`, `mate1` (mates in one where it can, else random), `material:DEPTH`
/// (alpha-beta for the most material), or an outside engine: `usi:COMMAND`, `uci:COMMAND` (in
/// Fairy-Stockfish's dialect) or `xboard:COMMAND`. An engine's illegal moves, crashes and losses on
/// time are lost games and counted apart; after a crash it is started again. An engine that says how
/// its game begins, as Fairy-Stockfish does, may have other letters for the pieces.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  keiko match checkpoints/minishogi/networks/000001000 random --games 100\n  \
    keiko match NETWORK usi:fairy-stockfish --games 40 --nodes 1000 --option Threads=1\n  \
    keiko match NEW OLD --sprt 0,20 --out new-against-old\n  \
    keiko match NETWORK xboard:fairy-stockfish --movetime 1000 --a simulations=400\n  \
    keiko match NEW OLD material:4 usi:fairy-stockfish --of 4:nodes=100 --out tournament\n  \
    keiko match 'usi:keiko engine --network NETWORK' usi:fairy-stockfish --rules microshogi \
    --b UCI_Variant=micro --clock 60+0.5\n\n\
    A book has a line for each opening: `startpos`, or `sfen` with a position, and perhaps\n\
    `moves` with moves in USI. Lines that begin with # are for people."
)]
pub(crate) struct Arguments {
    /// The players, two or more.
    #[arg(value_name = "PLAYER", required = true, num_args = 2..)]
    players: Vec<String>,
    /// Of more than two players, only the first one meets the others.
    #[arg(long)]
    gauntlet: bool,
    /// Number of games of each two players; an odd number is rounded up to whole pairs [default: 100; with --sprt as
    /// many as it takes, up to 100000].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    games: Option<u64>,
    /// The game [default: that of the networks].
    #[arg(long)]
    rules: Option<String>,
    /// Simulations a move, for networks.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    simulations: u32,
    /// Random legal moves each pair begins with [default: 4; 0 with a book].
    #[arg(long)]
    opening_plies: Option<u32>,
    /// Openings from a file, a line each, taken in turns.
    #[arg(long, value_name = "FILE", conflicts_with = "handicap")]
    book: Option<PathBuf>,
    /// Begin with this handicap of the game: each player gives and takes it in turns.
    #[arg(long, value_name = "NAME")]
    handicap: Option<String>,
    /// Nodes a move, for outside engines.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Milliseconds a move, for outside engines, instead of nodes.
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(u64).range(1..=600_000))]
    movetime: Option<u64>,
    /// A clock for outside engines, instead of nodes, in seconds: for the game, then `+` and what
    /// each move adds, then `/` and what a move may take once nothing else is left (USI alone), such
    /// as 60+0.5 or 60/10. Networks have their simulations here, and no clock: for that,
    /// `usi:keiko engine --network NETWORK` plays. Fairy-Stockfish 11.1 as `usi:` takes each side's
    /// time for the other's: let it play as `uci:`.
    #[arg(long, value_name = "CLOCK", conflicts_with_all = ["nodes", "movetime"])]
    clock: Option<String>,
    /// Milliseconds an engine may be late before it loses on time [default: 1000 with --movetime,
    /// 50 with --clock].
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=600_000))]
    tolerance: Option<u64>,
    /// An option of outside engines; may be given many times.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// For the first player alone: `simulations=N`, `nodes=N`, `movetime=MS`, `clock=CLOCK`, or an
    /// option of an outside engine (`variant=NAME` is how one of XBoard's calls the game); may be
    /// given many times.
    #[arg(long = "a", value_name = "NAME=VALUE")]
    for_a: Vec<String>,
    /// The same for the second player alone.
    #[arg(long = "b", value_name = "NAME=VALUE")]
    for_b: Vec<String>,
    /// The same for any player alone, by its number: `3:nodes=100` is for the third.
    #[arg(long = "of", value_name = "NUMBER:NAME=VALUE")]
    for_one: Vec<String>,
    /// A game of this many plies is a draw.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    ply_limit: u32,
    /// Seed of the openings and of random play.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop a match of two as soon as a sequential test (errors at most 5%) says whether the first player is
    /// stronger by the one or by the other number of Elo.
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    sprt: Option<String>,
    /// Take the numbers of --sprt as normalised Elo.
    #[arg(long, requires = "sprt")]
    normalised: bool,
    /// Keep everything here: `games.jsonl`, a line for each game as it ends, `result.json`, and the
    /// games as USI, KIF and PGN. The same command goes on with what is there.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Threads that play [default: one a core].
    #[arg(long)]
    workers: Option<usize>,
    /// Print each game as a line of USI moves.
    #[arg(long)]
    moves: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let players = arguments.contestants()?;
    let pairings = arguments.pairings();
    let rules = rules_of(arguments, &players)?;
    let sprt = arguments.sprt()?;
    let contest = arguments.contest(&rules)?;
    let names = arguments.names(&players)?;
    let mut standings = Standings::new(names, pairings, sprt);
    let folder = match &arguments.out {
        Some(dir) => {
            let settings = arguments.description(&contest, &players, &rules);
            let (folder, games) = Folder::open(dir, &settings)?;
            games.into_iter().for_each(|game| standings.add(game));
            Some(folder)
        }
        None => None,
    };
    let of = 2 * contest.pairs * standings.pairings().len() as u64;
    if (1..of).contains(&standings.len()) {
        tell!("goes on after {} of {of} games", standings.len());
    }
    let standings = play(arguments, &contest, &players, standings, folder.as_ref())?;
    if arguments.moves {
        standings.games().for_each(|game| say!("{}", moves_line(game)));
    }
    table::print(&standings);
    if let Some(folder) = &folder {
        folder.write_results(&standings, &rules)?;
    }
    if standings.len() >= of || standings.verdict() != Verdict::Open {
        return Ok(ExitCode::SUCCESS);
    }
    let done = standings.len();
    match &arguments.out {
        Some(_) => tell!("stopped after {done} of {of} games; the same command goes on"),
        None => tell!("stopped after {done} of {of} games; with --out it could go on"),
    }
    Ok(ExitCode::from(STOPPED))
}

/// Plays what is missing, two players after the other, until it is done, a test is decided, or
/// somebody stops it.
fn play(
    arguments: &Arguments,
    contest: &Match,
    players: &[Contestant],
    standings: Standings,
    folder: Option<&Folder>,
) -> Result<Standings, Failure> {
    let stopping = stop::on_signal()?;
    let of = 2 * contest.pairs * standings.pairings().len() as u64;
    let two: Vec<[usize; 2]> = standings.pairings().iter().collect();
    let decided = AtomicBool::new(standings.verdict() != Verdict::Open);
    let state: Mutex<(Standings, Option<Failure>)> = Mutex::new((standings, None));
    let stop = || stopping.load(Ordering::Relaxed) || decided.load(Ordering::Relaxed);
    for (pairing, two) in two.into_iter().enumerate() {
        let missing = missing(&lock(&state).0, pairing, contest.pairs);
        if missing.is_empty() || stop() {
            continue;
        }
        let two = two.map(|player| &players[player]);
        let (contest, mut seats) = arguments.seats(contest, two, missing.len())?;
        let on_game = |played: &Played| {
            let mut state = lock(&state);
            let (standings, failure) = &mut *state;
            let mut game = Scoresheet::of(played, standings.sheets()[pairing].players());
            game.number = standings.pairings().number(pairing, played.number);
            if let Err(error) = folder.map_or(Ok(()), |folder| folder.add(&game)) {
                failure.get_or_insert(error);
            }
            standings.add(game);
            tell_progress(standings, of);
            if failure.is_some() || standings.verdict() != Verdict::Open {
                decided.store(true, Ordering::Relaxed);
            }
        };
        contest.play_these(&missing, &mut seats, on_game, stop)?;
    }
    let (standings, failure) = state.into_inner().expect("nobody panics with the games in hand");
    failure.map_or(Ok(standings), Err)
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().expect("nobody panics with the games in hand")
}

/// The games of a pairing that are not played yet, by the numbers they have in it.
fn missing(standings: &Standings, pairing: usize, pairs: u64) -> Vec<u64> {
    let number = |game| standings.pairings().number(pairing, game);
    (0..2 * pairs).filter(|&game| !standings.has(number(game))).collect()
}

fn tell_progress(standings: &Standings, of: u64) {
    let done = standings.len();
    if done.is_multiple_of((of / PROGRESS_LINES).max(10)) || done == of {
        let more = match standings.sheets() {
            [sheets] => table::progress(sheets),
            _ => String::new(),
        };
        tell!("{done} of {of} games{more}");
    }
}

fn rules_of(arguments: &Arguments, players: &[Contestant]) -> Result<Arc<Rules>, Failure> {
    let named = arguments.rules.as_deref().map(|name| Rules::load(name).map_err(Failure::from));
    let rules = named.or_else(|| players.iter().find_map(Contestant::rules));
    let nobody = "no player says which game: give --rules VARIANT";
    Ok(Arc::new(rules.ok_or_else(|| Failure::usage(nobody))??))
}

fn moves_line(game: &Scoresheet) -> String {
    let Scoresheet { number, reason, sfen, moves, .. } = game;
    format!("{number} {:?} {reason} sfen {sfen} moves {}", game.result(), moves.join(" "))
}
