//! `keiko schema`: what editors check experiments against.

use crate::Failure;
use keiko_trainer::Experiment;
use std::process::ExitCode;

/// Prints a JSON schema of experiment files: types, ranges, choices and what each key means.
///
/// An editor that knows Taplo (Even Better TOML) uses it where a file's first line is
/// `#:schema ./experiment.schema.json`.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko schema > experiment.schema.json")]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<ExitCode, Failure> {
    let text = serde_json::to_string_pretty(&Experiment::schema());
    say!("{}", text.expect("a schema is plain data"));
    Ok(ExitCode::SUCCESS)
}
