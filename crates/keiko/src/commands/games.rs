//! `keiko games`: a run's games, listed, shown and exported.

use super::selection::Selection;
use crate::Failure;
use keiko_rules::{Color, Game, Move, Outcome, Rules, board_text, kif_record};
use keiko_selfplay::{GameRecord, Ply, Proof, Wdl};
use keiko_trainer::Records;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Lists a run's games, shows them move by move, or exports them.
///
/// Only reads: the run may be going on meanwhile. Damaged games are skipped, and said.
#[derive(clap::Args)]
#[command(after_help = "Examples: keiko games checkpoints/minishogi --last 20\n          \
    keiko games checkpoints/minishogi --generation 40..49 --reason repetition\n          \
    keiko games checkpoints/minishogi --numbers 20480 --print\n          \
    keiko games checkpoints/minishogi --result white --as kif > white.kif")]
pub(crate) struct Arguments {
    /// The run's folder.
    run: PathBuf,
    #[command(flatten)]
    selection: Selection,
    /// Show each game: its start, its moves with the searches' scores, its end.
    #[arg(long, conflicts_with = "shape")]
    print: bool,
    /// Export the games.
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    shape: Option<Shape>,
}

/// How games are exported.
#[derive(Copy, Clone, clap::ValueEnum)]
enum Shape {
    /// A line a game: what a USI engine is told.
    Usi,
    /// Records for people, and for programs that show games of shogi.
    Kif,
    /// A line a game: all that is recorded.
    Json,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let records = Records::open(&arguments.run)?;
    let lists = !arguments.print && arguments.shape.is_none();
    let mut is_first = true;
    arguments.selection.for_each(&records, |game| {
        if lists && is_first {
            say!("{HEADING}");
        }
        if !lists && !is_first && !matches!(arguments.shape, Some(Shape::Usi | Shape::Json)) {
            say!("");
        }
        is_first = false;
        match arguments.shape {
            Some(Shape::Usi) => say!("{}", usi(game, &records.rules)),
            Some(Shape::Kif) => say!("{}", kif(game, &records)?.trim_end()),
            Some(Shape::Json) => say!("{}", json(game, &records)),
            None if arguments.print => print(game, &records)?,
            None => say!("{}", line(game, &records)),
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

const HEADING: &str = "    number generation       step start     plies result reason";

fn line(game: &GameRecord, records: &Records) -> String {
    format!(
        "{:>10} {:>10} {:>10} {:9} {:>5} {:6} {}",
        game.number,
        records.generation(game.number),
        game.network,
        start_name(game),
        game.len(),
        result_name(game.ending.outcome),
        game.ending.reason
    )
}

/// How a game began, in a word.
pub(super) fn start_name(game: &GameRecord) -> String {
    format!("{:?}", game.start.kind).to_lowercase()
}

/// Who moves, in a word.
pub(super) fn side_name(side: Color) -> &'static str {
    match side {
        Color::Black => "black",
        Color::White => "white",
    }
}

fn result_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(color) => side_name(color),
        Outcome::Draw => "draw",
    }
}

/// The game at its first searched ply, with the run's limit of length.
pub(super) fn opening(game: &GameRecord, records: &Records) -> Result<Game, Failure> {
    let mut opening = game
        .opening(&records.rules)
        .map_err(|error| Failure::data(format!("game {}: {error}", game.number)))?;
    opening.set_ply_limit(Some(records.experiment.selfplay.ply_limit));
    Ok(opening)
}

pub(super) fn whole(game: &GameRecord, records: &Records) -> Result<Game, Failure> {
    let mut whole = opening(game, records)?;
    game.plies.iter().for_each(|ply| whole.play(ply.mv));
    Ok(whole)
}

fn usi(game: &GameRecord, rules: &Rules) -> String {
    let start = match &game.start.sfen {
        sfen if sfen == rules.start_sfen() => "startpos".to_owned(),
        sfen => format!("sfen {sfen}"),
    };
    let played = game.plies.iter().map(|ply| ply.mv);
    let moves: Vec<String> =
        game.start.opening.iter().copied().chain(played).map(|mv| mv.to_usi(rules)).collect();
    format!("position {start} moves {}", moves.join(" "))
}

fn kif(game: &GameRecord, records: &Records) -> Result<String, Failure> {
    let name = format!("{} {}", records.experiment.name, game.network);
    Ok(kif_record(&whole(game, records)?, [&name, &name], Some(game.ending)))
}

fn print(game: &GameRecord, records: &Records) -> Result<(), Failure> {
    let rules = &records.rules;
    say!(
        "game {}, generation {}, by the network of step {}; {} start",
        game.number,
        records.generation(game.number),
        game.network,
        start_name(game)
    );
    let start = Game::from_sfen(Arc::clone(rules), &game.start.sfen)?;
    say!("{}", board_text(rules, start.position()).trim_end());
    if !game.start.opening.is_empty() {
        let moves: Vec<String> = game.start.opening.iter().map(|mv| mv.to_usi(rules)).collect();
        say!("begins with {}", moves.join(" "));
    }
    say!(" ply side  move   score search");
    for (index, ply) in game.plies.iter().enumerate() {
        say!("{}", ply_line(game, index, ply, rules));
    }
    say!("{}", board_text(rules, whole(game, records)?.position()).trim_end());
    let winner = match game.ending.outcome {
        Outcome::Win(color) => format!("{color} has won"),
        Outcome::Draw => "drawn".to_owned(),
    };
    say!("{winner} after {} plies: {}", game.len(), game.ending.reason);
    Ok(())
}

/// A move, and what its search thought of the position before it, for the side to move.
fn ply_line(game: &GameRecord, index: usize, ply: &Ply, rules: &Rules) -> String {
    let search = if ply.full { "full" } else { "cheap" };
    let proof = ply.proof.map_or(String::new(), |proof| format!(", {}", proof_text(proof)));
    format!(
        "{:>4} {:5} {:6} {:.3} {search} {}{proof}",
        game.start.opening.len() + index + 1,
        side_name(game.side_at(index)),
        ply.mv.to_usi(rules),
        ply.root.score(),
        ply.simulations,
    )
}

fn proof_text(proof: Proof) -> String {
    let result = match proof {
        Proof::Win(_) => "won",
        Proof::Loss(_) => "lost",
        Proof::Draw(_) => "drawn",
    };
    format!("{result} in {}", proof.plies())
}

/// A game as a line of JSON.
#[derive(Serialize)]
struct GameLine<'a> {
    number: u64,
    generation: u64,
    network: u64,
    game: &'a str,
    rules: String,
    start: String,
    sfen: &'a str,
    opening: Vec<String>,
    plies: Vec<PlyLine>,
    result: &'static str,
    reason: String,
    length: usize,
}

/// A searched ply: chances are win, draw and loss of the side to move.
#[derive(Serialize)]
struct PlyLine {
    side: &'static str,
    r#move: String,
    full: bool,
    simulations: u32,
    raw: [f32; 3],
    root: [f32; 3],
    policy: Vec<(String, f32)>,
    surprise: f32,
    proof: Option<ProofLine>,
}

#[derive(Serialize)]
struct ProofLine {
    result: &'static str,
    plies: u16,
}

fn json(game: &GameRecord, records: &Records) -> String {
    let rules = &records.rules;
    let usi = |mv: &Move| mv.to_usi(rules);
    let line = GameLine {
        number: game.number,
        generation: records.generation(game.number),
        network: game.network,
        game: rules.name(),
        rules: format!("{:016x}", game.rules_hash),
        start: start_name(game),
        sfen: &game.start.sfen,
        opening: game.start.opening.iter().map(usi).collect(),
        plies: (0..game.plies.len()).map(|index| ply_json(game, index, rules)).collect(),
        result: result_name(game.ending.outcome),
        reason: game.ending.reason.to_string(),
        length: game.len(),
    };
    serde_json::to_string(&line).expect("a line is plain data")
}

fn ply_json(game: &GameRecord, index: usize, rules: &Rules) -> PlyLine {
    let ply = &game.plies[index];
    let chances = |it: Wdl| [it.win, it.draw, it.loss];
    let proof = |proof: Proof| ProofLine {
        result: match proof {
            Proof::Win(_) => "win",
            Proof::Loss(_) => "loss",
            Proof::Draw(_) => "draw",
        },
        plies: proof.plies(),
    };
    PlyLine {
        side: side_name(game.side_at(index)),
        r#move: ply.mv.to_usi(rules),
        full: ply.full,
        simulations: ply.simulations,
        raw: chances(ply.raw),
        root: chances(ply.root),
        policy: ply.policy.iter().map(|&(mv, weight)| (mv.to_usi(rules), weight)).collect(),
        surprise: ply.surprise,
        proof: ply.proof.map(proof),
    }
}
