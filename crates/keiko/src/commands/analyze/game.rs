//! A whole game: the value before each move, and which moves lost most of it.

use super::{Named, side_name};
use crate::analyst::{Analyst, Forced};
use keiko_rules::{Color, Game, Move};
use keiko_selfplay::Wdl;
use serde::Serialize;
use std::sync::Arc;

/// Rows and most columns of the curve as text.
const ROWS: usize = 8;
const COLUMNS: usize = 100;

/// A game, judged.
pub(super) struct Judged {
    /// Black's expected score before each move, and after the last.
    pub(super) scores: Vec<f32>,
    /// The moves.
    pub(super) plies: Vec<Ply>,
}

/// A move that was played. Scores are the mover's, in [0, 1].
#[derive(Clone, Serialize)]
pub(super) struct Ply {
    /// From 1.
    pub(super) ply: usize,
    pub(super) side: &'static str,
    pub(super) played: Named,
    /// What the search would have played.
    pub(super) better: Named,
    /// The score of the position, and that of the one the move led to.
    pub(super) before: f32,
    pub(super) after: f32,
    /// How much the move gave away; nothing where it is the search's own.
    pub(super) lost: f32,
    /// What was forced before it, in words.
    pub(super) forced: Option<String>,
}

/// Thinks about every position of a game.
pub(super) fn judge(analyst: &mut Analyst, whole: &Game, simulations: u32) -> Judged {
    let mut game = Game::from_position(Arc::clone(whole.rules()), *whole.start_position());
    game.set_ply_limit(whole.ply_limit());
    let mut opinions = Vec::new();
    for mv in whole.moves().map(Some).chain([None]) {
        opinions.push(Opinion::of(analyst, &game, mv, simulations));
        mv.into_iter().for_each(|mv| game.play(mv));
    }
    let plies = opinions.windows(2).enumerate().filter_map(|(index, pair)| {
        let (before, after) = (pair[0].score, 1.0 - pair[1].score);
        let (played, better) = pair[0].moves.clone()?;
        let lost = if played.usi == better.usi { 0.0 } else { (before - after).max(0.0) };
        let forced = pair[0].forced.clone();
        let side = side_name(pair[0].side);
        Some(Ply { ply: index + 1, side, played, better, before, after, lost, forced })
    });
    let blacks = |it: &Opinion| if it.side == Color::Black { it.score } else { 1.0 - it.score };
    Judged { plies: plies.collect(), scores: opinions.iter().map(blacks).collect() }
}

/// What was thought of a position of the game.
struct Opinion {
    side: Color,
    /// Of the side to move.
    score: f32,
    /// What was played from there, and what the search would have played.
    moves: Option<(Named, Named)>,
    forced: Option<String>,
}

impl Opinion {
    fn of(analyst: &mut Analyst, game: &Game, played: Option<Move>, simulations: u32) -> Opinion {
        let side = game.side_to_move();
        if let Some(ending) = game.conclusion() {
            let score = Wdl::of(ending.outcome, side).score();
            let moves = played.map(|mv| (Named::of(game, mv), Named::of(game, mv)));
            return Opinion { side, score, moves, forced: None };
        }
        let thought = analyst.think(game, simulations);
        let moves = played.map(|mv| (Named::of(game, mv), Named::of(game, thought.best().mv)));
        let forced = thought.forced.as_ref().map(Forced::words);
        Opinion { side, score: thought.root.score(), moves, forced }
    }
}

impl Judged {
    /// The moves that lost most, the worst first; none that lost nothing.
    pub(super) fn worst(&self, most: usize) -> Vec<&Ply> {
        let mut worst: Vec<&Ply> = self.plies.iter().filter(|ply| ply.lost > 0.0).collect();
        worst.sort_by(|a, b| b.lost.total_cmp(&a.lost));
        worst.truncate(most);
        worst
    }
}

/// The curve, and the moves that lost most.
pub(super) fn text(judged: &Judged, top: usize) -> String {
    let mut text = curve(&judged.scores);
    let worst = judged.worst(top);
    if worst.is_empty() {
        return text + "\nno move lost anything, as the search sees it";
    }
    text += "\nmoves that lost most (scores of who moved)\n";
    text += &format!(
        " {:>4} {:5} {:22} {:22} {:>6} {:>6} {:>6}\n",
        "ply", "side", "played", "better", "before", "after", "lost"
    );
    for ply in worst {
        text += &format!(
            " {:>4} {:5} {} {} {:5.1}% {:5.1}% {:5.1}%{}\n",
            ply.ply,
            ply.side,
            ply.played.padded(7, 14),
            ply.better.padded(7, 14),
            100.0 * ply.before,
            100.0 * ply.after,
            100.0 * ply.lost,
            ply.forced.as_ref().map_or(String::new(), |words| format!("  {words}")),
        );
    }
    text.trim_end().to_owned()
}

/// Black's score as bars, ply by ply; neighbours share a column where there are too many.
fn curve(scores: &[f32]) -> String {
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let size = scores.len().div_ceil(COLUMNS);
    let mean = |group: &[f32]| group.iter().sum::<f32>() / group.len() as f32;
    let columns: Vec<f32> = scores.chunks(size).map(mean).collect();
    let mut text = "Black's score, ply by ply\n".to_owned();
    for row in (0..ROWS).rev() {
        let label = match row {
            _ if row + 1 == ROWS => "100%",
            _ if row == ROWS / 2 => " 50%",
            0 => "  0%",
            _ => "",
        };
        let cell = |&score: &f32| {
            let eighths = (score * (8 * ROWS) as f32).round() as usize;
            EIGHTHS[eighths.saturating_sub(8 * row).min(8)]
        };
        let cells: String = columns.iter().map(cell).collect();
        text += &format!("{label:>4} │{}\n", cells.trim_end());
    }
    let marks: String =
        (0..columns.len().div_ceil(10)).map(|mark| format!("{:<10}", 10 * mark * size)).collect();
    text + &format!("     └{}\n      {}\n", "─".repeat(columns.len()), marks.trim_end())
}

#[derive(Serialize)]
struct GameJson<'a> {
    game: &'a str,
    network: u64,
    sfen: String,
    /// Black's expected score before each move, and after the last.
    scores: &'a [f32],
    plies: &'a [Ply],
}

/// The scores and all moves, on a line.
pub(super) fn json(game: &Game, judged: &Judged, step: u64) -> String {
    let line = GameJson {
        game: game.rules().name(),
        network: step,
        sfen: game.start_sfen(),
        scores: &judged.scores,
        plies: &judged.plies,
    };
    serde_json::to_string(&line).expect("it is plain data")
}
