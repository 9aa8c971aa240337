//! `keiko train`: the main job.

use crate::failure::STOPPED;
use crate::limits::{Limited, Limits};
use crate::watch::{Loudness, Terminal};
use crate::{Failure, stop};
use keiko_network::{Features, Precision};
use keiko_trainer::{Experiment, Finish, Run, begin_with, train};
use std::path::PathBuf;
use std::process::ExitCode;

/// Trains a network by self-play, from nothing, or goes on with a run where it stopped.
///
/// The run folder holds everything: games, checkpoints, networks, TensorBoard files, a log.
/// Ctrl-C stops at the next safe point and saves; the same command goes on exactly.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko train configs/minishogi.toml --set machine.workers=4")]
pub(crate) struct Arguments {
    /// The experiment: a complete TOML file.
    experiment: PathBuf,
    /// The run's folder [default: checkpoints/NAME].
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Override a value of the experiment; may be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Begin with the weights of a published network instead of from nothing.
    #[arg(long, value_name = "NETWORK")]
    init: Option<PathBuf>,
    #[command(flatten)]
    limits: Limits,
    /// Say nothing but warnings and how it ended; the log in the run's folder has everything.
    #[arg(long, short)]
    quiet: bool,
    /// Say every figure of every generation.
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let experiment = Experiment::load(&arguments.experiment, &arguments.set)?;
    let dir = arguments
        .run
        .clone()
        .unwrap_or_else(|| PathBuf::from("checkpoints").join(&experiment.name));
    let stop = stop::on_signal()?;
    stop::ignore_hangup()?;
    if let Some(network) = &arguments.init {
        begin_with(&dir, &experiment, network)?;
    }
    let (mut run, opened) = Run::open(&dir, &experiment)?;
    let elo = run.state().published.last().map(|newest| newest.elo);
    let terminal = Terminal::new(&dir, loudness(arguments), elo)?;
    for warning in &opened.warnings {
        terminal.insist(&format!("warning: {warning}"));
    }
    for change in &opened.changes {
        terminal.say(&format!(
            "from step {}: {} = {} (was {})",
            run.steps(),
            change.key,
            change.is,
            change.was
        ));
    }
    if let Some(advice) = slow(experiment.inference.precision, Features::detect()) {
        terminal.insist(&advice);
    }
    terminal.say(&opening_line(&run));
    let limited = Limited::new(arguments.limits, &terminal, &stop);
    let finish = train(&mut run, &limited, &stop)
        .inspect_err(|error| terminal.note(&format!("failed: {error}")))?;
    let (generation, step) = (run.state().generation, run.steps());
    match finish {
        Finish::Done => {
            terminal.insist(&format!(
                "done: {generation} generations, step {step}, in {}",
                dir.display()
            ));
            Ok(ExitCode::SUCCESS)
        }
        Finish::Stopped => {
            let why = limited.reached().map_or(String::new(), |limit| format!(" by {limit}"));
            terminal.insist(&format!(
                "stopped{why} in generation {generation} at step {step}; the same command goes on"
            ));
            Ok(ExitCode::from(STOPPED))
        }
    }
}

fn loudness(arguments: &Arguments) -> Loudness {
    match (arguments.quiet, arguments.verbose) {
        (true, _) => Loudness::Quiet,
        (_, true) => Loudness::Verbose,
        _ => Loudness::Normal,
    }
}

fn opening_line(run: &Run) -> String {
    let (experiment, state) = (run.experiment(), run.state());
    let how = if state.games == 0 { "begins" } else { "goes on" };
    format!(
        "{} {how} in {} at generation {} of {}, step {}, with {} games; {} {} on {}",
        experiment.name,
        run.dir().display(),
        state.generation,
        experiment.training.generations,
        run.steps(),
        state.games,
        experiment.machine.workers,
        if experiment.machine.workers == 1 { "worker" } else { "workers" },
        run.device()
    )
}

/// What to say of a precision that has no kernels of its own on a processor.
pub(super) fn slow(precision: Precision, features: Features) -> Option<String> {
    let all = [Precision::Int8, Precision::Bf16, Precision::F32];
    let fastest = all.into_iter().find(|&it| features.has(it))?;
    let name = |precision: Precision| format!("{precision:?}").to_lowercase();
    (!features.has(precision)).then(|| {
        format!(
            "warning: {} is slow on this processor, which has no instructions for it; \
             --set inference.precision={} plays fastest here",
            name(precision),
            name(fastest)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_precision_is_told() {
        let none = Features::default();
        assert_eq!(slow(Precision::F32, none), None);
        let told = slow(Precision::Int8, none).expect("no processor is without instructions");
        assert!(told.contains("int8 is slow") && told.contains("precision=f32"), "{told}");
        let avx2 = Features { avx2: true, ..none };
        assert_eq!(slow(Precision::Int8, avx2), None);
        let told = slow(Precision::Bf16, avx2).expect("it came with AVX-512");
        assert!(told.contains("bf16 is slow") && told.contains("precision=int8"), "{told}");
    }
}
