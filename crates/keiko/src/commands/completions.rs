//! `keiko completions`: for shells that finish words.

use crate::Failure;
use clap_complete::Shell;
use std::process::ExitCode;

/// Prints a script that lets a shell finish keiko's commands and options.
#[derive(clap::Args)]
#[command(after_help = "Examples: source <(keiko completions bash)\n          \
    keiko completions zsh > ~/.zfunc/_keiko\n          \
    keiko completions fish > ~/.config/fish/completions/keiko.fish")]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command(), "keiko", &mut script);
    say!("{}", String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}
