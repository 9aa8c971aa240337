//! `keiko report`: a run as one page for people who were sent a link.

mod chart;
mod page;
mod sample;

use super::selection::complain;
use crate::Failure;
use keiko_network::Network;
use keiko_rules::Rules;
use keiko_trainer::metrics::{Line, sound_lines};
use keiko_trainer::{Experiment, Records, RunError};
use sample::Sample;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Writes a run as one HTML page: strength, losses, games with a playable board, the machine, the
/// configuration. The page needs no other file and no network.
///
/// The run may be going on meanwhile: it is only read.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: keiko report checkpoints/minishogi --out minishogi.html\n          \
    keiko report checkpoints/minishogi --elo elo.svg"
)]
pub(crate) struct Arguments {
    /// The run's folder.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The page to write [default: RUN/report.html].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the curve of the ratings alone, as an SVG picture, and no page.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    elo: Option<PathBuf>,
}

/// What the page is made from.
struct Told {
    experiment: Experiment,
    rules: Arc<Rules>,
    lines: Vec<Line>,
    games: u64,
    samples: Vec<Sample>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(out) = &arguments.elo {
        return draw(&arguments.run, out);
    }
    let told = read(&arguments.run)?;
    let out = arguments.out.clone().unwrap_or_else(|| arguments.run.join("report.html"));
    write_whole(&out, &page::html(&told))?;
    say!(
        "{}: {} generations, {} games",
        out.display(),
        told.lines.iter().filter(|line| line.scalars.contains_key(page::GAMES)).count(),
        told.games
    );
    Ok(ExitCode::SUCCESS)
}

/// The ratings as a picture.
fn draw(run: &Path, out: &Path) -> Result<ExitCode, Failure> {
    Records::open(run)?;
    let lines = figures(run)?;
    let picture = page::elo_picture(&lines)
        .ok_or_else(|| Failure::data(format!("{}: nothing is rated yet", run.display())))?;
    write_whole(out, &picture)?;
    Ok(ExitCode::SUCCESS)
}

/// All of a run's figures that can be read.
fn figures(run: &Path) -> Result<Vec<Line>, Failure> {
    let (lines, damaged) = sound_lines(run).map_err(RunError::from)?;
    damaged.iter().for_each(|line| tell!("skipped: {line}"));
    Ok(lines)
}

fn read(run: &Path) -> Result<Told, Failure> {
    let records = Records::open(run)?;
    complain(&records);
    let Records { experiment, rules, listing, .. } = records;
    let lines = figures(run)?;
    let mut samples: Vec<Sample> = newest_network(run)
        .and_then(|network| sample::opening(&network, &rules))
        .into_iter()
        .collect();
    let (games, damaged) = sample::games(&listing, &rules)?;
    damaged.iter().for_each(|games| tell!("skipped: {games}"));
    samples.extend(games);
    Ok(Told { experiment, rules, lines, games: listing.games(), samples })
}

/// The network published last that can be read: the last one may be in the making.
fn newest_network(run: &Path) -> Option<Network> {
    let entries = std::fs::read_dir(run.join("networks")).ok()?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // What has a hidden name is in the making.
    folders
        .retain(|path| path.file_name().is_some_and(|it| !it.as_encoded_bytes().starts_with(b".")));
    folders.sort();
    let load =
        |folder: &PathBuf| Network::load(folder).inspect_err(|it| tell!("skipped: {it}")).ok();
    folders.iter().rev().find_map(load)
}

/// Writes a file as a whole: a page that is being looked at is never half there. What is no file, as
/// /dev/stdout, is written to as it is.
fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::environment(format!("{}: {error}", path.display()));
    // Behind a link lies what is meant.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (true, Some(name)) = (path.is_file() || !path.exists(), path.file_name()) else {
        return std::fs::write(path, text).map_err(failed);
    };
    let new = path.with_file_name(format!(".{}.tmp-{}", name.display(), std::process::id()));
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    written.inspect_err(|_| _ = std::fs::remove_file(&new)).map_err(failed)
}
