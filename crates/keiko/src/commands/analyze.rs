//! `keiko analyze`: what a network thinks of a position, or of a whole game.

mod game;
mod picture;
mod position;
pub(super) mod source;

use crate::Failure;
use crate::analyst::{MOST_SIMULATIONS, Seat};
use keiko_rules::{Color, Game, Move, kif_move};
use source::{Source, read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Simulations of a position, and of each position of a game.
const OF_A_POSITION: u32 = 800;
const OF_A_GAME: u32 = 200;

/// Shows what a network thinks of a position, or where a game was won and lost.
///
/// Of a position: the best moves with their chances, visits and lines, forced wins with their
/// length, and the board with the policy on it. Of a game: the curve of its values, and the moves
/// that lost most.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: keiko analyze checkpoints/published/minishogi startpos\n          \
    keiko analyze NETWORK startpos moves 5d5c 1b1c\n          \
    keiko analyze NETWORK '4k/2K2/3G1/5/5 b P 1' --svg board.svg\n          \
    keiko analyze NETWORK checkpoints/minishogi#20480\n          \
    keiko analyze NETWORK checkpoints/minishogi#20480 --ply 12\n          \
    keiko analyze NETWORK games.usi#3 --svg curve.svg"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    seat: Seat,
    /// `startpos` or an SFEN, perhaps with `moves` and moves behind it: a position. A file with a
    /// game as `keiko games --as usi`, `json` or `kif` writes it (FILE#LINE where it holds more), or
    /// a run's game, RUN#NUMBER: a game.
    #[arg(value_name = "SFEN|GAME", required = true)]
    what: Vec<String>,
    /// Of a game, only the position after so many plies.
    #[arg(long, value_name = "N")]
    ply: Option<usize>,
    /// Simulations of a position [default: 800, and 200 for each of a game].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MOST_SIMULATIONS))]
    simulations: Option<u32>,
    /// Moves that are shown: the best, or those that lost most.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Print all of it as JSON.
    #[arg(long)]
    json: bool,
    /// Write a picture besides: the board with the policy, or the curve of the game.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut analyst = arguments.seat.analyst()?;
    let source = read(&arguments.what, &analyst.rules)?.at_ply(arguments.ply)?;
    let top = usize::from(arguments.top);
    match source {
        Source::Position(game) => {
            if let Some(ending) = game.conclusion() {
                let words = super::show::ending_words(ending);
                return Err(Failure::usage(format!("nothing to think about: {words}")));
            }
            let thought = analyst.think(&game, arguments.simulations.unwrap_or(OF_A_POSITION));
            if let Some(path) = &arguments.svg {
                write(path, &picture::of_position(&game, &thought, top))?;
            }
            match arguments.json {
                true => say!("{}", position::json(&game, &thought, analyst.step)),
                false => say!("{}", position::text(&game, &thought, analyst.step, top)),
            }
        }
        Source::Game { title, game } => {
            let simulations = arguments.simulations.unwrap_or(OF_A_GAME);
            let judged = game::judge(&mut analyst, &game, simulations);
            if let Some(path) = &arguments.svg {
                write(path, &picture::of_game(&title, &judged, top))?;
            }
            match arguments.json {
                true => say!("{}", game::json(&game, &judged, analyst.step)),
                false => {
                    let about = format!(
                        "{title}: {}, network of step {}, {simulations} simulations a position",
                        game.rules().name(),
                        analyst.step,
                    );
                    say!("{about}\n\n{}", game::text(&judged, top));
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failure = |error| Failure::environment(format!("{}: {error}", path.display()));
    std::fs::write(path, text).map_err(failure)
}

/// A move as both notations write it.
#[derive(Clone, serde::Serialize)]
pub(super) struct Named {
    /// In USI notation.
    pub(super) usi: String,
    /// In Japanese notation.
    pub(super) kif: String,
}

impl Named {
    /// A move of a game's present position.
    pub(super) fn of(game: &Game, mv: Move) -> Named {
        let (rules, previous) = (game.rules(), game.moves().last().map(Move::to));
        let kif = kif_move(rules, game.position(), mv, previous);
        Named { usi: mv.to_usi(rules), kif }
    }

    /// Both, the first in so many columns and the second too.
    pub(super) fn padded(&self, usi: usize, kif: usize) -> String {
        format!("{:usi$} {}", self.usi, padded(&self.kif, kif))
    }
}

/// A text filled up to so many columns; Chinese characters are two wide.
fn padded(text: &str, width: usize) -> String {
    let columns: usize = text.chars().map(|it| if it < '\u{2e80}' { 1 } else { 2 }).sum();
    format!("{text}{}", " ".repeat(width.saturating_sub(columns)))
}

fn side_name(side: Color) -> &'static str {
    super::games::side_name(side)
}
