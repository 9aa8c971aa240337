//! `keiko fork`: a new run that goes on where another stands, with other settings.

use crate::Failure;
use keiko_trainer::fork;
use std::path::PathBuf;
use std::process::ExitCode;

/// Makes a new run of a run's newest checkpoint, with other settings.
///
/// Every setting may differ but the game and the network's shapes. Games, networks and figures come
/// along; the other run is not touched, and may be going on.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko fork checkpoints/minishogi --out checkpoints/slower \
    --set training.samples_per_position=2")]
pub(crate) struct Arguments {
    /// The run's folder.
    run: PathBuf,
    /// The new run's folder; it must not be there yet.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Override a value of the run's experiment; may be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let forked = fork(&arguments.run, &arguments.out, &arguments.set)?;
    for warning in &forked.warnings {
        tell!("warning: {warning}");
    }
    for change in &forked.changes {
        tell!("{change}");
    }
    let out = arguments.out.display();
    tell!("forked at generation {}, step {}; it goes on with", forked.generation, forked.step);
    say!("keiko train {out}/experiment.toml --run {out}");
    Ok(ExitCode::SUCCESS)
}
