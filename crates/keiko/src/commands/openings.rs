//! `keiko openings`: the lines a network expects a game to begin with.

use super::analyze::Named;
use super::analyze::source::{Source, read};
use crate::Failure;
use crate::analyst::{Analyst, Candidate, MOST_SIMULATIONS, Seat};
use keiko_rules::{Game, Move};
use keiko_selfplay::Wdl;
use serde::Serialize;
use std::process::ExitCode;

/// Moves of less than this share of a search's policy are no main line.
const LEAST_SHARE: f32 = 0.02;

/// Shows how a network would begin: the first player's score after each first move, and the tree
/// of main lines.
#[derive(clap::Args)]
#[command(after_help = "Examples: keiko openings checkpoints/published/minishogi\n          \
    keiko openings NETWORK --depth 6 --width 2 --simulations 1000\n          \
    keiko openings NETWORK 'rbsg1/4k/5/P4/KGSBR b - 1'     from a handicap\n          \
    keiko openings NETWORK startpos moves 5d5c --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    seat: Seat,
    /// Where the tree begins: `startpos` or an SFEN, perhaps with `moves` and moves behind it.
    #[arg(value_name = "SFEN", default_value = "startpos")]
    from: Vec<String>,
    /// Plies of the lines.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=20))]
    depth: u16,
    /// Moves of a position that are followed at most, the likeliest.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=20))]
    width: u16,
    /// Simulations of each position.
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=MOST_SIMULATIONS))]
    simulations: u32,
    /// Print the tree as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut analyst = arguments.seat.analyst()?;
    let Source::Position(mut game) = read(&arguments.from, &analyst.rules)? else {
        return Err(Failure::usage("openings begin from a position: startpos or an SFEN"));
    };
    if let Some(ending) = game.conclusion() {
        let words = super::show::ending_words(ending);
        return Err(Failure::usage(format!("nothing to begin with: {words}")));
    }
    let lines = Lines { width: arguments.width.into(), simulations: arguments.simulations };
    let openings = lines.openings(&mut analyst, &mut game, arguments.depth);
    match arguments.json {
        true => say!("{}", serde_json::to_string(&openings).expect("it is plain data")),
        false => say!("{}", text(&openings)),
    }
    Ok(ExitCode::SUCCESS)
}

/// What is followed how far.
struct Lines {
    width: usize,
    simulations: u32,
}

/// How a network would begin. Scores are those of who moves first here, in [0, 1].
#[derive(Serialize)]
struct Openings {
    game: String,
    network: u64,
    simulations: u32,
    sfen: String,
    score: f32,
    first_moves: Vec<FirstMove>,
    lines: Vec<Line>,
}

/// Any first move, with the score of a search behind it.
#[derive(Serialize)]
struct FirstMove {
    #[serde(flatten)]
    mv: Named,
    prior: f32,
    policy: f32,
    score: f32,
}

/// A move of a main line, and the replies to it.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    mv: Named,
    prior: f32,
    policy: f32,
    visits: u32,
    score: f32,
    replies: Vec<Line>,
}

impl Lines {
    fn openings(&self, analyst: &mut Analyst, game: &mut Game, depth: u16) -> Openings {
        let thought = analyst.think(game, self.simulations);
        let first = thought.moves.iter().map(|it| FirstMove {
            mv: Named::of(game, it.mv),
            prior: it.prior,
            policy: it.policy,
            score: 0.0,
        });
        let mut first_moves: Vec<FirstMove> = first.collect();
        for (first, it) in first_moves.iter_mut().zip(&thought.moves) {
            first.score = self.score_after(analyst, game, it.mv);
        }
        // Equals stay in the order of the search: the sort is stable.
        first_moves.sort_by(|a, b| b.score.total_cmp(&a.score));
        Openings {
            game: game.rules().name().to_owned(),
            network: analyst.step,
            simulations: self.simulations,
            sfen: game.position().to_sfen(game.rules()),
            score: thought.root.score(),
            first_moves,
            lines: self.follow(analyst, game, &thought.moves, (depth, true)),
        }
    }

    /// The mover's score after one of its moves, by a search from there.
    fn score_after(&self, analyst: &mut Analyst, game: &mut Game, mv: Move) -> f32 {
        let side = game.side_to_move();
        game.play(mv);
        let score = match game.conclusion() {
            Some(ending) => Wdl::of(ending.outcome, side).score(),
            None => analyst.think(game, self.simulations).root.flipped().score(),
        };
        game.undo();
        score
    }

    /// The likeliest of a position's moves, so many plies deep; whether who moves first is to move.
    fn follow(
        &self,
        analyst: &mut Analyst,
        game: &mut Game,
        moves: &[Candidate],
        (depth, is_first): (u16, bool),
    ) -> Vec<Line> {
        let mut likeliest: Vec<&Candidate> =
            moves.iter().filter(|it| it.policy >= LEAST_SHARE).collect();
        likeliest.sort_by(|a, b| b.policy.total_cmp(&a.policy));
        likeliest.truncate(self.width);
        let mut lines = Vec::new();
        for it in likeliest {
            let mv = Named::of(game, it.mv);
            let mut score =
                it.proof.map(|proof| proof.value()).or(it.wdl).unwrap_or(Wdl::DRAW).score();
            let mut replies = Vec::new();
            game.play(it.mv);
            if depth > 1 && game.conclusion().is_none() {
                let thought = analyst.think(game, self.simulations);
                score = thought.root.flipped().score();
                replies = self.follow(analyst, game, &thought.moves, (depth - 1, !is_first));
            }
            game.undo();
            let score = if is_first { score } else { 1.0 - score };
            let Candidate { prior, policy, visits, .. } = *it;
            lines.push(Line { mv, prior, policy, visits, score, replies });
        }
        lines
    }
}

fn text(openings: &Openings) -> String {
    let Openings { game, network, simulations, sfen, score, .. } = openings;
    let mut text = format!(
        "{game}, network of step {network}, {simulations} simulations a position\n\
         from {sfen}\n\n\
         the first player's score is {:.1}%; after each first move\n\
         {:7} {:14} {:>6} {:>7} {:>6}\n",
        100.0 * score,
        "move",
        "",
        "score",
        "policy",
        "prior"
    );
    for first in &openings.first_moves {
        text += &format!(
            "{} {:5.1}% {:6.1}% {:5.1}%\n",
            first.mv.padded(7, 14),
            100.0 * first.score,
            100.0 * first.policy,
            100.0 * first.prior
        );
    }
    text += "\nmain lines: the first player's score, and the move's share of the policy\n";
    write_lines(&openings.lines, "", &mut text);
    text.trim_end().to_owned()
}

fn write_lines(lines: &[Line], before: &str, text: &mut String) {
    for (index, line) in lines.iter().enumerate() {
        let is_last = index + 1 == lines.len();
        let branch = if is_last { "└ " } else { "├ " };
        *text += &format!(
            "{before}{branch}{} {:5.1}% {:5.1}%\n",
            line.mv.padded(7, 14),
            100.0 * line.score,
            100.0 * line.policy
        );
        let below = if is_last { "  " } else { "│ " };
        write_lines(&line.replies, &format!("{before}{below}"), text);
    }
}
