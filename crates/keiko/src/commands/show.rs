//! `keiko show`: a variant, or a position, for people.

use crate::Failure;
use keiko_network::Encoding;
use keiko_rules::{Game, Rules, board_text};
use std::process::ExitCode;
use std::sync::Arc;

/// Shows a variant (its start, pieces, handicaps), or a position with its legal moves.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: keiko show minishogi\n          keiko show '4k/2K2/3G1/5/5 b P 1'\n          \
    keiko show minishogi --encoding     lists the network's planes and labels"
)]
pub(crate) struct Arguments {
    /// A variant's name or file, or a position as SFEN.
    #[arg(value_name = "VARIANT|SFEN", required = true)]
    what: Vec<String>,
    /// The variant of an SFEN, where its board fits several.
    #[arg(long)]
    rules: Option<String>,
    /// List what a network of the variant reads and answers, plane by plane and label by label.
    #[arg(long)]
    encoding: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let what = arguments.what.join(" ");
    // Every SFEN has a side to move behind a space; no variant's name or file needs to.
    let is_position = what.contains(' ') && what.contains('/');
    if is_position {
        return show_position(&what, arguments.rules.as_deref());
    }
    let rules = Arc::new(Rules::load(&what)?);
    if arguments.encoding { show_encoding(rules) } else { show_variant(&rules) }
}

fn show_position(sfen: &str, rules: Option<&str>) -> Result<ExitCode, Failure> {
    let game = match rules {
        Some(rules) => Game::from_sfen(Arc::new(Rules::load(rules)?), sfen)?,
        None => guess_game(sfen)?,
    };
    let rules = game.rules();
    println!("{}\n{}", rules.name(), board_text(rules, game.position()));
    match game.ending() {
        Some(ending) => println!("the game is over: {}", ending.reason),
        None if game.in_check() => println!("{} to move, in check", game.side_to_move()),
        None => println!("{} to move", game.side_to_move()),
    }
    let mut legal = Vec::new();
    game.legal_moves(&mut legal);
    let texts: Vec<String> = legal.iter().map(|mv| mv.to_usi(rules)).collect();
    println!("{} legal moves: {}", texts.len(), texts.join(" "));
    Ok(ExitCode::SUCCESS)
}

/// The first embedded variant the position fits.
fn guess_game(sfen: &str) -> Result<Game, Failure> {
    let mut reasons = String::new();
    for name in Rules::variants() {
        match Game::from_sfen(Arc::new(Rules::load(name)?), sfen) {
            Ok(game) => return Ok(game),
            Err(error) => reasons += &format!("\n  {name}: {error}"),
        }
    }
    Err(Failure::usage(format!(
        "`{sfen}` is a position of no embedded variant; name one with --rules:{reasons}"
    )))
}

fn show_variant(rules: &Rules) -> Result<ExitCode, Failure> {
    println!("{} ({}x{}), rules {:016x}", rules.name(), rules.files(), rules.ranks(), rules.hash());
    println!("{}", board_text(rules, rules.start()));
    println!("start {}", rules.start_sfen());
    let handicaps: Vec<_> = rules.handicaps().collect();
    if !handicaps.is_empty() {
        println!("handicaps");
        for (name, sfen) in handicaps {
            println!("  {name:12} {sfen}");
        }
    }
    println!("\n{}", rules.source().trim_end());
    Ok(ExitCode::SUCCESS)
}

fn show_encoding(rules: Arc<Rules>) -> Result<ExitCode, Failure> {
    let encoding = Encoding::new(rules)?;
    for (kind, names) in [("plane", encoding.plane_names()), ("label", encoding.label_names())] {
        for (number, name) in names.iter().enumerate() {
            println!("{kind} {number:3} {name}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
