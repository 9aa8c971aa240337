//! `keiko show`: a variant, or a position, for people.

use crate::Failure;
use keiko_network::Encoding;
use keiko_rules::{Ending, Game, Move, Outcome, Rules, board_svg, board_text, csa_text, kif_text};
use std::process::ExitCode;
use std::sync::Arc;

/// Shows a variant, or a position or game: as text with its legal moves, as a picture, as a record.
#[derive(clap::Args)]
#[command(
    after_help = "Examples: keiko show minishogi\n          keiko show '4k/2K2/3G1/5/5 b P 1'\n          \
    keiko show minishogi --encoding     lists the network's planes and labels\n          \
    keiko show minishogi --moves 5d5c 1b1c --as kif\n          \
    keiko show shogi --as svg > board.svg"
)]
pub(crate) struct Arguments {
    /// A variant's name or file, or a position as SFEN.
    #[arg(value_name = "VARIANT|SFEN", required = true)]
    what: Vec<String>,
    /// The variant of an SFEN, where its board fits several.
    #[arg(long)]
    rules: Option<String>,
    /// Moves to play from there, in USI notation.
    #[arg(long, num_args = 1.., value_name = "MOVE")]
    moves: Vec<String>,
    /// How to show it.
    #[arg(long = "as", value_enum)]
    shape: Option<Shape>,
    /// List what a network of the variant reads and answers, plane by plane and label by label.
    #[arg(long)]
    encoding: bool,
}

/// How a position or game is shown.
#[derive(Copy, Clone, clap::ValueEnum)]
enum Shape {
    /// A board of letters, and the legal moves.
    Text,
    /// A picture of the board.
    Svg,
    /// The game as a KIF record.
    Kif,
    /// The game as a CSA-like record.
    Csa,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let what = arguments.what.join(" ");
    if is_position(&what) {
        if arguments.encoding {
            return Err(Failure::usage("--encoding lists a variant's planes, not a position's"));
        }
        let game = match &arguments.rules {
            Some(rules) => Game::from_sfen(Arc::new(Rules::load(rules)?), &what)?,
            None => guess_game(&what)?,
        };
        return show_game(game, arguments);
    }
    if arguments.rules.is_some() {
        return Err(Failure::usage(format!("--rules goes with an SFEN, and `{what}` is none")));
    }
    let rules = Arc::new(Rules::load(&what)?);
    let as_game = arguments.shape.is_some() || !arguments.moves.is_empty();
    if arguments.encoding && as_game {
        return Err(Failure::usage("--encoding goes with neither --moves nor --as"));
    }
    if arguments.encoding {
        show_encoding(rules)
    } else if as_game {
        show_game(Game::new(rules), arguments)
    } else {
        show_variant(&rules)
    }
}

/// Ranks divided by slashes: an SFEN, even one that lacks its other fields, unless a file is
/// called so.
pub(super) fn is_position(what: &str) -> bool {
    let board = what.split(' ').next().unwrap_or_default();
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '/' || c == '+';
    board.contains('/') && board.chars().all(letter) && !std::path::Path::new(what).exists()
}

fn show_game(mut game: Game, arguments: &Arguments) -> Result<ExitCode, Failure> {
    for text in &arguments.moves {
        if let Some(ending) = game.ending() {
            let message = format!("`{text}`: the game is over: {}", ending_words(ending));
            return Err(Failure::usage(message));
        }
        let mv = Move::from_usi(game.rules(), game.position(), text)?;
        game.play(mv);
    }
    let players = ["Black", "White"];
    match arguments.shape.unwrap_or(Shape::Text) {
        Shape::Text => show_position(&game),
        Shape::Svg => {
            say!("{}", board_svg(game.rules(), game.position(), game.moves().last()).trim_end());
        }
        Shape::Kif => say!("{}", kif_text(&game, players).trim_end()),
        Shape::Csa => say!("{}", csa_text(&game, players).trim_end()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Who has won, and by what.
pub(super) fn ending_words(ending: Ending) -> String {
    match ending.outcome {
        Outcome::Win(color) => format!("{color} has won: {}", ending.reason),
        Outcome::Draw => format!("drawn: {}", ending.reason),
    }
}

fn show_position(game: &Game) {
    let rules = game.rules();
    say!("{}\n{}", rules.name(), board_text(rules, game.position()));
    match game.ending() {
        Some(ending) => {
            say!("the game is over: {}", ending_words(ending));
            return;
        }
        None if game.in_check() => say!("{} to move, in check", game.side_to_move()),
        None => say!("{} to move", game.side_to_move()),
    }
    if let Some(ending) = rules.declaration(game.position()) {
        let result = if ending.outcome == Outcome::Draw { "draw" } else { "win" };
        say!("{} may declare a {result}", game.side_to_move());
    }
    let mut legal = Vec::new();
    game.legal_moves(&mut legal);
    let texts: Vec<String> = legal.iter().map(|mv| mv.to_usi(rules)).collect();
    say!("{} legal moves: {}", texts.len(), texts.join(" "));
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
    say!("{} ({}x{}), rules {:016x}", rules.name(), rules.files(), rules.ranks(), rules.hash());
    say!("{}", board_text(rules, rules.start()));
    say!("start {}", rules.start_sfen());
    let handicaps: Vec<_> = rules.handicaps().collect();
    if !handicaps.is_empty() {
        say!("handicaps");
        for (name, sfen) in handicaps {
            say!("  {name:12} {sfen}");
        }
    }
    say!("\n{}", rules.source().trim_end());
    Ok(ExitCode::SUCCESS)
}

fn show_encoding(rules: Arc<Rules>) -> Result<ExitCode, Failure> {
    let encoding = Encoding::new(rules);
    for (kind, names) in [("plane", encoding.plane_names()), ("label", encoding.label_names())] {
        for (number, name) in names.iter().enumerate() {
            say!("{kind} {number:3} {name}");
        }
    }
    Ok(ExitCode::SUCCESS)
}
