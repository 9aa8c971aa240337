//! `keiko match`: two players, pairs of games, a score with its interval.

use crate::external::{EngineSpec, Limit};
use crate::players::{Contestant, Settings};
use crate::{Failure, stop};
use keiko_rules::{Color, Rules};
use keiko_trainer::arena::{Match, Played, first_players_color, tally};
use keiko_trainer::elo::Tally;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longest an outside engine may think about a move before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// Games a network plays side by side.
const BATCH: usize = 32;

/// Plays two players against each other: pairs of games with colours swapped, each pair from
/// its own random opening.
///
/// A player is a network's folder (with `@f32`, `@bf16` or `@int8` behind it to choose how it is
/// computed), `random`, or `usi:COMMAND` for an outside engine.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  keiko match checkpoints/minishogi/networks/000001000 random --games 100\n  \
    keiko match NETWORK usi:fairy-stockfish --games 40 --nodes 1000 --option Threads=1"
)]
pub(crate) struct Arguments {
    /// The first player.
    a: String,
    /// The second player.
    b: String,
    /// Number of games; an odd number is rounded up to whole pairs.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    games: u64,
    /// The game [default: that of the networks].
    #[arg(long)]
    rules: Option<String>,
    /// Simulations a move, for networks.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..))]
    simulations: u32,
    /// Random legal moves each pair begins with.
    #[arg(long, default_value_t = 4)]
    opening_plies: u32,
    /// Nodes a move, for outside engines.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Milliseconds a move, for outside engines, instead of nodes.
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    movetime: Option<u64>,
    /// An option of outside engines; may be given many times.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// A game of this many plies is a draw.
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    ply_limit: u32,
    /// Seed of the openings and of random play.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads that play [default: one a core].
    #[arg(long)]
    workers: Option<usize>,
    /// Print each game as a line of USI moves.
    #[arg(long)]
    moves: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.opening_plies >= arguments.ply_limit {
        let (opening, limit) = (arguments.opening_plies, arguments.ply_limit);
        let message =
            format!("--opening-plies {opening}: has to be below --ply-limit, which is {limit}");
        return Err(Failure::usage(message));
    }
    let options =
        arguments.options.iter().map(|text| split_option(text)).collect::<Result<Vec<_>, _>>()?;
    let engine = |command| EngineSpec {
        command,
        options: options.clone(),
        limit: arguments.movetime.map_or(Limit::Nodes(arguments.nodes), Limit::Milliseconds),
        patience: PATIENCE,
    };
    let first = Contestant::parse(&arguments.a, engine)?;
    let second = Contestant::parse(&arguments.b, engine)?;
    let rules = rules_of(arguments, &first, &second)?;
    let pairs = arguments.games.div_ceil(2);
    let settings =
        Settings { simulations: arguments.simulations, batch: BATCH, seed: arguments.seed };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = arguments.workers.unwrap_or(cores).clamp(1, 2 * pairs as usize);
    let mut players = (0..workers)
        .map(|_| Ok((first.seat(&rules, &settings)?, second.seat(&rules, &settings)?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let contest = Match {
        rules: Arc::clone(&rules),
        seed: arguments.seed,
        pairs,
        opening_plies: arguments.opening_plies,
        ply_limit: arguments.ply_limit,
        side_by_side: (2 * pairs).div_ceil(workers as u64).min(BATCH as u64),
    };
    let (done, of) = (AtomicU64::new(0), 2 * pairs);
    let on_game = |_: &Played| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(10) || done == of {
            tell!("{done} of {of} games");
        }
    };
    let stopping = stop::on_signal()?;
    let played = contest.play(&mut players, on_game, || stopping.load(Ordering::Relaxed))?;
    if arguments.moves {
        played.iter().for_each(|game| say!("{}", moves_line(game, &rules)));
    }
    report(&first.name(), &second.name(), &played);
    Ok(if (played.len() as u64) < of {
        ExitCode::from(crate::failure::STOPPED)
    } else {
        ExitCode::SUCCESS
    })
}

fn split_option(text: &str) -> Result<(String, String), Failure> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("--option {text}: expected NAME=VALUE")))?;
    Ok((name.to_owned(), value.to_owned()))
}

fn rules_of(
    arguments: &Arguments,
    first: &Contestant,
    second: &Contestant,
) -> Result<Arc<Rules>, Failure> {
    let named = arguments.rules.as_deref().map(|name| Rules::load(name).map_err(Failure::from));
    let rules = named.or_else(|| first.rules()).or_else(|| second.rules());
    let nobody = "neither player says which game: give --rules VARIANT";
    Ok(Arc::new(rules.ok_or_else(|| Failure::usage(nobody))??))
}

fn moves_line(played: &Played, rules: &Rules) -> String {
    let moves: Vec<String> = played.game.moves().map(|mv| mv.to_usi(rules)).collect();
    let reason = played.ending.map_or("resigned".to_owned(), |ending| ending.reason.to_string());
    format!(
        "{} {:?} {reason} sfen {} moves {}",
        played.number,
        played.result,
        played.game.start_sfen(),
        moves.join(" ")
    )
}

fn report(first: &str, second: &str, played: &[Played]) {
    let tally = tally(played);
    let Some(strength) = tally.strength() else {
        say!("no pair of games was completed");
        return;
    };
    let games = tally.games();
    say!("{first} against {second}: {} games, {}", games.games(), score_line(&games));
    say!("score {strength}");
    for color in Color::BOTH {
        let mut side = Tally::default();
        played
            .iter()
            .filter(|game| first_players_color(game.number) == color)
            .for_each(|game| side.add(game.result));
        say!("  as {color}: {}", score_line(&side));
    }
    let resigned = played.iter().filter(|game| game.ending.is_none()).count();
    say!("  {resigned} games resigned or lost by an illegal move");
}

fn score_line(tally: &Tally) -> String {
    format!("{} won, {} drawn, {} lost", tally.wins, tally.draws, tally.losses)
}
