//! `keiko export`: a published network as a folder for engines.

use crate::Failure;
use keiko_network::Network;
use std::path::PathBuf;
use std::process::ExitCode;

/// Writes a network as a folder for engines: weights as safetensors, an ONNX model, the card, the
/// game's table, and positions with the answers to them.
#[derive(clap::Args)]
#[command(
    after_help = "Example: keiko export checkpoints/minishogi/networks/000001000 --out minishogi"
)]
pub(crate) struct Arguments {
    /// The network's folder.
    network: PathBuf,
    /// The folder to write; it must not be there yet.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let network = Network::load(&arguments.network)?;
    network.save(&arguments.out)?;
    let mut names: Vec<String> = std::fs::read_dir(&arguments.out)
        .and_then(|entries| {
            entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
        })
        .map_err(|error| Failure::environment(format!("{}: {error}", arguments.out.display())))?;
    names.sort();
    say!("{}: {}", arguments.out.display(), names.join(" "));
    Ok(ExitCode::SUCCESS)
}
