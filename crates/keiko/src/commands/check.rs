//! `keiko check`: is this file an experiment, or a variant, that works?

use crate::Failure;
use keiko_network::Encoding;
use keiko_rules::Rules;
use keiko_trainer::{Experiment, Explained};
use std::process::ExitCode;
use std::sync::Arc;

/// Checks an experiment or a variant file, and says what it amounts to: of an experiment every
/// value, where it comes from, what it means and what it may be.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko check configs/minishogi.toml")]
pub(crate) struct Arguments {
    /// An experiment, a variant file, or an embedded variant's name.
    file: String,
    /// Override a value of the experiment first.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if Rules::variants().contains(&arguments.file.as_str()) {
        return check_variant(arguments);
    }
    let text = std::fs::read_to_string(&arguments.file)
        .map_err(|error| Failure::usage(format!("{}: cannot be read: {error}", arguments.file)))?;
    if is_variant(&text) { check_variant(arguments) } else { check_experiment(arguments, &text) }
}

/// Variants have a board and pieces, experiments do not. The lines are looked at, because a file
/// that is no TOML has something wrong with it that its own reader should name.
fn is_variant(text: &str) -> bool {
    let begins =
        |line: &str| ["board", "pieces.", "[pieces]"].iter().any(|it| line.starts_with(it));
    text.lines().any(|line| begins(line.trim_start()))
}

fn check_variant(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = &arguments.file;
    if let Some(set) = arguments.set.first() {
        let message = format!("--set {set}: goes with an experiment, and {file} is a variant");
        return Err(Failure::usage(message));
    }
    let rules = Arc::new(Rules::load(file)?);
    say!("{file}: a variant, and it works");
    say!("game      {}\n", describe_game(&rules));
    say!("{}", rules.describe().trim_end());
    Ok(ExitCode::SUCCESS)
}

fn check_experiment(arguments: &Arguments, text: &str) -> Result<ExitCode, Failure> {
    let experiment = Experiment::parse(text, &arguments.file, &arguments.set)?;
    experiment.machine.device.check_built()?;
    let rules = Rules::load(&experiment.rules)
        .map_err(|error| Failure::usage(format!("{}: rules: {error}", arguments.file)))?;
    let rules = Arc::new(rules);
    say!("{}: an experiment, and it works", arguments.file);
    say!("game      {}", describe_game(&rules));
    let network = &experiment.network;
    say!("network   {} blocks of {} channels", network.blocks, network.channels);
    let (training, games) = (&experiment.training, &experiment.selfplay);
    let mean = |generation| {
        let selfplay = experiment.selfplay(&rules, 0, generation);
        games.full_share * f64::from(selfplay.full_simulations)
            + (1.0 - games.full_share) * f64::from(selfplay.cheap_simulations)
    };
    say!(
        "self-play {} games a generation, {:.1} simulations a move at first, {:.1} in the end",
        training.games_per_generation,
        mean(0),
        mean(training.generations - 1)
    );
    say!(
        "learning  {} samples a position in steps of {}",
        training.samples_per_position,
        training.batch_size
    );
    say!("until     generation {}", training.generations);
    say!("run       checkpoints/{}", experiment.name);
    let explained = experiment.explained(text, &arguments.set);
    for Explained { key, value, origin } in explained {
        say!("\n{} = {value}   ({origin})", key.name);
        say!("    {}", key.meaning);
        say!("    It may be: {}.", key.allowed);
    }
    Ok(ExitCode::SUCCESS)
}

fn describe_game(rules: &Arc<Rules>) -> String {
    let encoding = Encoding::new(Arc::clone(rules));
    format!(
        "{} on {}x{}, rules {:016x}, {} planes in, {} labels a square out",
        rules.name(),
        rules.files(),
        rules.ranks(),
        rules.hash(),
        encoding.planes(),
        encoding.labels()
    )
}
