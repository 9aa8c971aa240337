//! `keiko match`: two players, pairs of games, and what they say about the players.

mod folder;
mod openings;
mod sheets;
mod table;

use crate::external::Limit;
use crate::failure::STOPPED;
use crate::players::{Contestant, Means, Settings};
use crate::{Failure, stop};
use folder::Folder;
use keiko_rules::{Game, Rules};
use keiko_trainer::arena::{Match, Played};
use keiko_trainer::scoresheet::Scoresheet;
use keiko_trainer::sprt::{Scale, Sprt, Verdict};
use sheets::Sheets;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::{Arc, atomic::AtomicBool};
use std::time::Duration;

/// Longest an outside engine may think about a move where it is told no time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Games a network plays side by side.
const BATCH: usize = 32;

/// Games, where the command does not say how many.
const GAMES: u64 = 100;
/// The same where a sequential test ends the match.
const GAMES_OF_A_TEST: u64 = 100_000;

/// Random plies of openings, where the command does not say how many.
const OPENING_PLIES: u32 = 4;

/// Lines of progress that a long match has, about.
const PROGRESS_LINES: u64 = 50;

/// Plays two players against each other: pairs of games with colours swapped, each pair from its
/// own opening.
///
/// A player is a network's folder (with `@f32`, `@bf16` or `@int8` behind it to choose how it is
/// computed), `random`, `mate1` (mates in one where it can, else random), `material:DEPTH`
/// (alpha-beta for the most material), or an outside engine: `usi:COMMAND`, `uci:COMMAND` (in
/// Fairy-Stockfish's dialect) or `xboard:COMMAND`. An engine's illegal moves, crashes and losses on
/// time are lost games and counted apart; after a crash it is started again.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  keiko match checkpoints/minishogi/networks/000001000 random --games 100\n  \
    keiko match NETWORK usi:fairy-stockfish --games 40 --nodes 1000 --option Threads=1\n  \
    keiko match NEW OLD --sprt 0,20 --out new-against-old\n  \
    keiko match NETWORK xboard:fairy-stockfish --movetime 1000 --a simulations=400\n\n\
    A book has a line for each opening: `startpos`, or `sfen` with a position, and perhaps\n\
    `moves` with moves in USI. Lines that begin with # are for people."
)]
pub(crate) struct Arguments {
    /// The first player.
    a: String,
    /// The second player.
    b: String,
    /// Number of games; an odd number is rounded up to whole pairs [default: 100; with --sprt as
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
    /// Milliseconds an engine may be late with --movetime before it loses on time.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(..=600_000))]
    tolerance: u64,
    /// An option of outside engines; may be given many times.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// For the first player alone: `simulations=N`, `nodes=N`, `movetime=MS`, or an option of an
    /// outside engine; may be given many times.
    #[arg(long = "a", value_name = "NAME=VALUE")]
    for_a: Vec<String>,
    /// The same for the second player alone.
    #[arg(long = "b", value_name = "NAME=VALUE")]
    for_b: Vec<String>,
    /// A game of this many plies is a draw.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    ply_limit: u32,
    /// Seed of the openings and of random play.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop as soon as a sequential test (errors at most 5%) says whether the first player is
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
    let players = [
        Contestant::parse(&arguments.a, arguments.means(&arguments.for_a)?)?,
        Contestant::parse(&arguments.b, arguments.means(&arguments.for_b)?)?,
    ];
    let rules = rules_of(arguments, &players)?;
    let sprt = arguments.sprt()?;
    let contest = arguments.contest(&rules, &players)?;
    let mut sheets = Sheets::new(players.each_ref().map(Contestant::name), sprt);
    let folder = match &arguments.out {
        Some(dir) => {
            let (folder, games) =
                Folder::open(dir, &description(arguments, &contest, &players, &rules))?;
            games.into_iter().for_each(|game| sheets.add(game));
            Some(folder)
        }
        None => None,
    };
    let of = 2 * contest.pairs;
    let missing: Vec<u64> = (0..of).filter(|&number| !sheets.has(number)).collect();
    if !missing.is_empty() && (missing.len() as u64) < of {
        tell!("goes on after {} of {of} games", of - missing.len() as u64);
    }
    let sheets = play(arguments, &contest, &players, &missing, sheets, folder.as_ref())?;
    if arguments.moves {
        sheets.games().for_each(|game| say!("{}", moves_line(game)));
    }
    table::print(&sheets);
    if let Some(folder) = &folder {
        folder.write_results(&sheets, &rules)?;
    }
    let is_over = sheets.len() == of || sheets.verdict() != Verdict::Open;
    if is_over {
        return Ok(ExitCode::SUCCESS);
    }
    match &arguments.out {
        Some(_) => tell!("stopped after {} of {of} games; the same command goes on", sheets.len()),
        None => tell!("stopped after {} of {of} games; with --out it could go on", sheets.len()),
    }
    Ok(ExitCode::from(STOPPED))
}

/// Plays what is missing, until it is done, a test is decided, or somebody stops it.
fn play(
    arguments: &Arguments,
    contest: &Match,
    players: &[Contestant; 2],
    missing: &[u64],
    sheets: Sheets,
    folder: Option<&Folder>,
) -> Result<Sheets, Failure> {
    if missing.is_empty() || sheets.verdict() != Verdict::Open {
        return Ok(sheets);
    }
    let mut seats = arguments.seats(contest, players, missing.len())?;
    let stopping = stop::on_signal()?;
    let decided = AtomicBool::new(false);
    let state: Mutex<(Sheets, Option<Failure>)> = Mutex::new((sheets, None));
    let on_game = |played: &Played| {
        let mut state = state.lock().expect("nobody panics with the games in hand");
        let (sheets, failure) = &mut *state;
        let game = Scoresheet::of(played, sheets.players());
        if let Err(error) = folder.map_or(Ok(()), |folder| folder.add(&game)) {
            failure.get_or_insert(error);
        }
        sheets.add(game);
        tell_progress(sheets, 2 * contest.pairs);
        if failure.is_some() || sheets.verdict() != Verdict::Open {
            decided.store(true, Ordering::Relaxed);
        }
    };
    let stop = || stopping.load(Ordering::Relaxed) || decided.load(Ordering::Relaxed);
    contest.play_these(missing, &mut seats, on_game, stop)?;
    let (sheets, failure) = state.into_inner().expect("nobody panics with the games in hand");
    failure.map_or(Ok(sheets), Err)
}

fn tell_progress(sheets: &Sheets, of: u64) {
    let done = sheets.len();
    if done.is_multiple_of((of / PROGRESS_LINES).max(10)) || done == of {
        tell!("{done} of {of} games{}", table::progress(sheets));
    }
}

impl Arguments {
    /// What a player may spend: what both may, and what is said of it alone.
    fn means(&self, own: &[String]) -> Result<Means, Failure> {
        let pairs = |flag: &'static str, texts: &[String]| {
            let split = |text: &String| split_option(flag, text);
            texts.iter().map(split).collect::<Result<Vec<_>, Failure>>()
        };
        let mut means = Means {
            simulations: self.simulations,
            limit: self.movetime.map_or(Limit::Nodes(self.nodes), Limit::Milliseconds),
            patience: PATIENCE,
            options: pairs("--option", &self.options)?,
        };
        for (name, value) in pairs("--a or --b", own)? {
            let number = |most: u64| {
                let number = value.parse().ok().filter(|number| (1..=most).contains(number));
                let message = format!("{name}={value}: expected a whole number from 1 to {most}");
                number.ok_or_else(|| Failure::usage(message))
            };
            match name.as_str() {
                "simulations" => means.simulations = number(u32::MAX.into())? as u32,
                "nodes" => means.limit = Limit::Nodes(number(u64::MAX)?),
                "movetime" => means.limit = Limit::Milliseconds(number(600_000)?),
                _ => {
                    means.options.retain(|(known, _)| *known != name);
                    means.options.push((name, value));
                }
            }
        }
        if let Limit::Milliseconds(time) = means.limit {
            means.patience = Duration::from_millis(time + self.tolerance);
        }
        Ok(means)
    }

    /// The test that ends the match, if one does.
    fn sprt(&self) -> Result<Option<Sprt>, Failure> {
        let Some(text) = &self.sprt else {
            return Ok(None);
        };
        let scale = if self.normalised { Scale::Normalised } else { Scale::Logistic };
        let read = |text: &str| text.trim().parse::<f64>().ok().filter(|elo| elo.abs() <= 1000.0);
        let bounds = text.split_once(',').and_then(|(low, high)| read(low).zip(read(high)));
        match bounds.filter(|(low, high)| low < high) {
            Some((low, high)) => Ok(Some(Sprt { low, high, scale })),
            None => Err(Failure::usage(format!(
                "--sprt {text}: expected two numbers between -1000 and 1000, the lower one first, \
                 such as 0,10"
            ))),
        }
    }

    fn contest(&self, rules: &Arc<Rules>, players: &[Contestant; 2]) -> Result<Match, Failure> {
        let starts = openings::starts(rules, self.book.as_deref(), self.handicap.as_deref())?;
        let plies = if self.book.is_some() { 0 } else { OPENING_PLIES };
        let opening_plies = self.opening_plies.unwrap_or(plies);
        let longest = starts.iter().map(Game::ply).max().unwrap_or(0) as u64;
        if longest + u64::from(opening_plies) >= self.ply_limit.into() {
            let (limit, longest) = (self.ply_limit, longest + u64::from(opening_plies));
            return Err(Failure::usage(format!(
                "an opening of {longest} plies (--opening-plies, --book) has to be shorter than \
                 --ply-limit, which is {limit}"
            )));
        }
        let games = self.sprt.as_ref().map_or(GAMES, |_| GAMES_OF_A_TEST);
        let pairs = self.games.unwrap_or(games).div_ceil(2);
        let share = (2 * pairs).div_ceil(self.workers(2 * pairs) as u64);
        // An engine plays one game from its beginning to its end.
        let engines = players.iter().any(Contestant::is_external);
        let side_by_side = if engines { 1 } else { share.min(BATCH as u64) as usize };
        let (seed, ply_limit) = (self.seed, self.ply_limit);
        Ok(Match { starts, seed, pairs, opening_plies, ply_limit, side_by_side })
    }

    fn workers(&self, games: u64) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.unwrap_or(cores).clamp(1, games.max(1) as usize)
    }

    fn seats(
        &self,
        contest: &Match,
        players: &[Contestant; 2],
        games: usize,
    ) -> Result<Vec<(crate::players::Seated, crate::players::Seated)>, Failure> {
        let settings = Settings { batch: contest.side_by_side, seed: self.seed };
        let rules = contest.starts[0].rules();
        let seat = |player: &Contestant| player.seat(rules, &settings);
        (0..self.workers(games as u64))
            .map(|_| Ok((seat(&players[0])?, seat(&players[1])?)))
            .collect()
    }
}

fn split_option(flag: &str, text: &str) -> Result<(String, String), Failure> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("{flag} {text}: expected NAME=VALUE")))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn rules_of(arguments: &Arguments, players: &[Contestant; 2]) -> Result<Arc<Rules>, Failure> {
    let named = arguments.rules.as_deref().map(|name| Rules::load(name).map_err(Failure::from));
    let rules = named.or_else(|| players.iter().find_map(Contestant::rules));
    let nobody = "neither player says which game: give --rules VARIANT";
    Ok(Arc::new(rules.ok_or_else(|| Failure::usage(nobody))??))
}

/// All that the games depend on, by name: what a match has to have in common with the one it goes
/// on with. More games may be asked for, by more threads.
fn description(
    arguments: &Arguments,
    contest: &Match,
    players: &[Contestant; 2],
    rules: &Rules,
) -> BTreeMap<String, String> {
    let start = |game: &Game| {
        let moves: Vec<String> = game.moves().map(|mv| mv.to_usi(rules)).collect();
        format!("{} {}", game.start_sfen(), moves.join(" "))
    };
    let starts: Vec<String> = contest.starts.iter().map(start).collect();
    let sprt = match (&arguments.sprt, arguments.normalised) {
        (None, _) => "none".to_owned(),
        (Some(bounds), false) => bounds.clone(),
        (Some(bounds), true) => format!("{bounds} normalised"),
    };
    let of = |name: &str, value: String| (name.to_owned(), value);
    BTreeMap::from([
        of("first player", players[0].description()),
        of("second player", players[1].description()),
        of("game", format!("{} {:016x}", rules.name(), rules.hash())),
        of("openings", starts.join("; ")),
        of("--opening-plies", contest.opening_plies.to_string()),
        of("--ply-limit", contest.ply_limit.to_string()),
        of("--seed", contest.seed.to_string()),
        of("--sprt", sprt),
    ])
}

fn moves_line(game: &Scoresheet) -> String {
    let Scoresheet { number, reason, sfen, moves, .. } = game;
    format!("{number} {:?} {reason} sfen {sfen} moves {}", game.result(), moves.join(" "))
}
