//! `keiko export`: a published network as a folder for engines, or a run's positions as a table.

mod positions;

use super::selection::Selection;
use crate::Failure;
use keiko_network::Network;
use keiko_trainer::Records;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes a network as a folder for engines: weights as safetensors, an ONNX model, the card, the
/// game's table, and positions with the answers to them. Or the positions of a run's games as a
/// Parquet file, a row each, for pandas and its like.
///
/// A row has game, generation, ply (played before), sfen, side, move, policy_moves and policy_weights
/// (empty where a search teaches no policy), root_* and raw_* (win, draw, loss: the search's opinion and the
/// network's own), result (1, 0, -1), plies_left, surprise, full, simulations, start and reason; all
/// chances and results are those of the side to move.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: keiko export checkpoints/minishogi/networks/000001000 --out minishogi\n          \
    keiko export checkpoints/minishogi --parquet minishogi.parquet --generation 40.."
)]
pub(crate) struct Arguments {
    /// The network's folder; with --parquet the run's.
    #[arg(value_name = "NETWORK|RUN")]
    from: PathBuf,
    /// The folder to write a network to; it must not be there yet.
    #[arg(long, value_name = "DIR", required_unless_present = "parquet")]
    out: Option<PathBuf>,
    /// The file to write a run's positions to; it must not be there yet.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    parquet: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(file) = &arguments.parquet {
        let records = Records::open(&arguments.from)?;
        let (games, positions) = positions::write(&records, &arguments.selection, file)?;
        say!("{}: {positions} positions of {games} games", file.display());
    }
    if let Some(out) = &arguments.out {
        if arguments.selection.chooses() {
            return Err(Failure::usage("games are chosen for --parquet; a network has none"));
        }
        export_network(&arguments.from, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn export_network(network: &Path, out: &Path) -> Result<(), Failure> {
    let network = Network::load(network)?;
    network.save(out)?;
    let mut names: Vec<String> = std::fs::read_dir(out)
        .and_then(|entries| {
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
        })
        .map_err(|error| Failure::environment(format!("{}: {error}", out.display())))?;
    names.sort();
    say!("{}: {}", out.display(), names.join(" "));
    Ok(())
}
