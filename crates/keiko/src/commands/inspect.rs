//! `keiko inspect`: what a published network is, and whether it computes what it should.

use crate::Failure;
use keiko_network::{Architecture, Features, Network, Pooling, Precision};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Differences to the golden answers that rounding explains.
const ROUNDING: f32 = 1e-3;

/// Shows what a network is, and checks it: its files, its rules, its answers.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko inspect checkpoints/published/minishogi")]
pub(crate) struct Arguments {
    /// The network's folder.
    network: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let network = Network::load(&arguments.network)?;
    let card = &network.card;
    let rules = Arc::new(network.rules()?);
    let encoding = network.encoding(Arc::clone(&rules))?;
    let size = card.architecture;
    say!("game        {} on {}x{}, rules {}", card.game, card.files, card.ranks, card.rules_hash);
    say!(
        "network     {} blocks of {} channels, {} numbers",
        size.blocks,
        size.channels,
        network.weights.len()
    );
    say!("pooling     {}", describe_pooling(size));
    say!("also learns {}", describe_extras(size));
    say!(
        "reads       {} planes, answers {} labels a square (keiko show --encoding)",
        card.planes.len(),
        card.labels.len()
    );
    say!(
        "learned     {} steps, {} games, {} positions drawn",
        card.step,
        card.games,
        card.positions
    );
    say!("licence     {}", card.licence);
    say!("sha256      {}", card.sha256);
    let features = Features::detect();
    for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
        let name = format!("{precision:?}").to_lowercase();
        let here = match (precision, &card.calibration) {
            (Precision::Int8, None) => "not calibrated",
            _ if features.has(precision) => "fast on this processor",
            _ => "slow on this processor",
        };
        say!("precision   {name}: {here}");
    }
    match Network::check_files(&arguments.network)? {
        Some(files) => say!("files       {files}, as they were published"),
        None => say!("files       without sums; keiko export writes them"),
    }
    let golden = network.compare_with_golden(&encoding, &arguments.network)?;
    match golden {
        None => say!("golden      none; keiko export writes some"),
        Some(difference) if difference <= ROUNDING => {
            say!("golden      answers agree to {difference:.1e}");
        }
        Some(difference) => {
            let message = format!(
                "{}: the golden answers differ by {difference}: other weights, or a miscomputing machine",
                arguments.network.display()
            );
            return Err(Failure::data(message));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn describe_pooling(size: Architecture) -> String {
    let what = match size.pooling {
        Pooling::None => return "none".to_owned(),
        Pooling::Bias => "bias",
        Pooling::SqueezeExcite => "squeeze and excitation",
    };
    match size.pooling_every {
        1 => format!("{what}, in every block"),
        every => format!("{what}, in every block whose number {every} divides"),
    }
}

/// What was learned beside what plays.
fn describe_extras(size: Architecture) -> String {
    let extras = [(size.reply, "the opponent's reply"), (size.short_term_value, "the short term")];
    let learned: Vec<&str> =
        extras.into_iter().filter(|(learned, _)| *learned).map(|(_, name)| name).collect();
    if learned.is_empty() { "nothing".to_owned() } else { learned.join(", ") }
}
