//! `keiko perft`: counts move sequences.

use crate::Failure;
use keiko_rules::{Position, Rules, divide, perft};
use std::process::ExitCode;
use std::time::Instant;

/// Counts the move sequences of a length, to prove the rules.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko perft minishogi 6        prints 8276188")]
pub(crate) struct Arguments {
    /// A variant's name, or the path of a variant file.
    variant: String,
    /// Length of the sequences in plies.
    #[arg(value_parser = clap::value_parser!(u32).range(1..=30))]
    depth: u32,
    /// Start from this position instead of the variant's start.
    #[arg(long)]
    sfen: Option<String>,
    /// Print the count behind each first move.
    #[arg(long)]
    divide: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let rules = Rules::load(&arguments.variant)?;
    let position = match &arguments.sfen {
        Some(sfen) => Position::from_sfen(&rules, sfen)?,
        None => *rules.start(),
    };
    let began = Instant::now();
    let count = if arguments.divide {
        let parts = divide(&rules, &position, arguments.depth);
        for (mv, count) in &parts {
            say!("{} {count}", mv.to_usi(&rules));
        }
        parts.iter().map(|(_, count)| count).sum()
    } else {
        perft(&rules, &position, arguments.depth)
    };
    say!("{count}");
    let seconds = began.elapsed().as_secs_f64();
    tell!("{seconds:.3} s, {:.1} million a second", count as f64 / seconds / 1e6);
    Ok(ExitCode::SUCCESS)
}
