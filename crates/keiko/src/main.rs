//! The keiko program: a thin main, one subcommand per file.

#[macro_use]
mod talk;

mod analyst;
mod commands;
mod engine;
mod external;
mod failure;
mod game_file;
mod limits;
mod players;
mod position_line;
mod stop;
mod watch;

use clap::{CommandFactory, Parser, Subcommand};
use commands::strength;
use commands::{analyze, measure, openings};
use commands::{bench, check, export, fork, games, inspect, matches, perft, show, train};
use commands::{completions, doctor, init, ladder, report, schema, status};
use failure::Failure;
use std::process::ExitCode;

/// A self-play trainer for the shogi family: it learns a game from nothing but its rules.
#[derive(Parser)]
#[command(name = "keiko", version, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 2 usage or configuration, 3 environment (disk, device, engine), \
    4 data or format, 10 stopped and resumable."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Train(train::Arguments),
    Fork(fork::Arguments),
    Report(report::Arguments),
    Match(Box<matches::Arguments>),
    Ladder(ladder::Arguments),
    Strength(Box<strength::Arguments>),
    Engine(commands::engine::Arguments),
    Analyze(analyze::Arguments),
    Openings(openings::Arguments),
    Measure(measure::Arguments),
    Games(games::Arguments),
    Export(export::Arguments),
    Inspect(inspect::Arguments),
    Show(show::Arguments),
    Check(check::Arguments),
    Perft(perft::Arguments),
    Bench(bench::Arguments),
    Init(init::Arguments),
    Doctor(doctor::Arguments),
    Status(status::Arguments),
    Schema(schema::Arguments),
    Completions(completions::Arguments),
}

/// The whole command line, for shells that complete it.
fn command() -> clap::Command {
    Arguments::command()
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Train(arguments) => train::run(&arguments),
        Command::Fork(arguments) => fork::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Match(arguments) => matches::run(&arguments),
        Command::Ladder(arguments) => ladder::run(&arguments),
        Command::Strength(arguments) => strength::run(&arguments),
        Command::Engine(arguments) => commands::engine::run(&arguments),
        Command::Analyze(arguments) => analyze::run(&arguments),
        Command::Openings(arguments) => openings::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Games(arguments) => games::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Perft(arguments) => perft::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    };
    match result {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}
