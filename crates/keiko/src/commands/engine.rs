//! `keiko engine`: a network in a GUI, by USI, UCI or XBoard's protocol.

use crate::Failure;
use crate::engine::{Engine, FULL_STRENGTH, MOST_SIMULATIONS, MOST_THREADS, Options, talk};
use crate::players::parse_precision;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Plays a network as an engine on standard input and output, for GUIs and matches. It speaks USI,
/// UCI or XBoard's protocol, whichever the first line is of.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  keiko engine --network checkpoints/minishogi/networks/000001000\n  \
    xboard -variant minishogi -fcp \"keiko engine --network NETWORK\""
)]
pub(crate) struct Arguments {
    /// The network's folder; a GUI may choose another one by the option Network.
    #[arg(long, value_name = "DIR")]
    network: Option<PathBuf>,
    /// The variant, where the network's folder does not say: a name or a file.
    #[arg(long)]
    rules: Option<String>,
    /// How numbers are held: f32, bf16 or int8 [default: the fastest that keeps the strength].
    #[arg(long)]
    precision: Option<String>,
    /// Simulations a move where the GUI gives no limit.
    #[arg(long, default_value_t = 800, value_parser = clap::value_parser!(u32).range(1..=MOST_SIMULATIONS as i64))]
    simulations: u32,
    /// Threads that evaluate positions [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_THREADS as i64))]
    threads: Option<u32>,
}

/// Mebibytes that the tree may take, unless the GUI says otherwise.
const MEMORY: u32 = 256;
/// Milliseconds taken to be lost with each move, unless the GUI says otherwise.
const OVERHEAD: u32 = 20;
/// Searches in a row that must be hopeless before the engine resigns, where it ever does.
const RESIGN_MOVES: u32 = 3;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, |it| it.get() as u32);
    let options = Options {
        network: arguments.network.clone(),
        precision: arguments.precision.as_deref().map(parse_precision).transpose()?,
        threads: arguments.threads.unwrap_or(cores.min(MOST_THREADS)),
        memory: MEMORY,
        lines: 1,
        strength: FULL_STRENGTH,
        simulations: arguments.simulations,
        overhead: OVERHEAD,
        ponders: false,
        resign_below: 0,
        resign_moves: RESIGN_MOVES,
        seed: 0,
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    talk(Engine::new(options, arguments.rules.as_deref(), since.as_nanos() as u64)?)?;
    Ok(ExitCode::SUCCESS)
}
