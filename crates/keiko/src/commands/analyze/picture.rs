//! What was thought, as SVG: a board with the policy on it, or the curve of a game.

use super::game::{Judged, Ply};
use super::position::caption;
use crate::analyst::Thought;
use keiko_rules::{Game, moves_svg};

/// The curve's place within the picture.
const LEFT: f32 = 56.0;
const TOP: f32 = 44.0;
const WIDTH: f32 = 640.0;
const HEIGHT: f32 = 240.0;
/// Moves of less than this share of the policy are not drawn: hands are full of them.
const LEAST_SHARE: f32 = 0.01;
/// Height of a line of text.
const ROW: f32 = 20.0;

/// A position with the policy drawn on it, and the best moves below.
pub(super) fn of_position(game: &Game, thought: &Thought, top: usize) -> String {
    let lines = caption(game, thought, top);
    let mut policy = thought.policy();
    policy.retain(|&(_, share)| share >= LEAST_SHARE);
    moves_svg(game.rules(), game.position(), &policy, &lines)
}

/// Black's score over a game, the moves that lost most marked and listed below.
pub(super) fn of_game(title: &str, judged: &Judged, top: usize) -> String {
    let worst = judged.worst(top);
    let (width, below) = (LEFT + WIDTH + 24.0, TOP + HEIGHT + 56.0);
    let height = below + worst.len() as f32 * ROW + 8.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\"><style>text{{font:13px 'Noto Sans Mono CJK JP',monospace;\
         fill:#333;white-space:pre}}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\">Black's score: {}</text>\n",
        title.replace('&', "&amp;").replace('<', "&lt;")
    );
    let plies = judged.plies.len();
    svg += &axes(plies);
    let at = |(index, &score): (usize, &f32)| format!("{:.1} {:.1}", x(index, plies), y(score));
    let points: Vec<String> = judged.scores.iter().enumerate().map(at).collect();
    svg += &format!(
        "<path d=\"M{LEFT} {0:.1}L{1}L{2:.1} {0:.1}Z\" fill=\"#1f5fbf\" fill-opacity=\"0.12\"/>\
         <path d=\"M{1}\" fill=\"none\" stroke=\"#1f5fbf\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n",
        y(0.0),
        points.join("L"),
        x(plies, plies),
    );
    for (index, ply) in worst.iter().enumerate() {
        let (cx, cy) = (x(ply.ply, plies), y(judged.scores[ply.ply]));
        svg += &format!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"5\" fill=\"#e0431b\"/>\n");
        let row = below + index as f32 * ROW;
        svg += &format!(
            "<text x=\"{LEFT}\" y=\"{row}\" xml:space=\"preserve\">{}</text>\n",
            words(ply)
        );
    }
    svg + "</svg>\n"
}

fn words(ply: &Ply) -> String {
    format!(
        "{:>4} {:5} {}lost {:5.1}%, better {}",
        ply.ply,
        ply.side,
        ply.played.padded(7, 14),
        100.0 * ply.lost,
        ply.better.padded(7, 0)
    )
}

fn x(index: usize, plies: usize) -> f32 {
    LEFT + WIDTH * index as f32 / plies.max(1) as f32
}

fn y(score: f32) -> f32 {
    TOP + HEIGHT * (1.0 - score)
}

fn axes(plies: usize) -> String {
    let mut svg = String::new();
    for (score, name) in [(1.0, "100%"), (0.5, "50%"), (0.0, "0%")] {
        let at = y(score);
        svg += &format!(
            "<path d=\"M{LEFT} {at}h{WIDTH}\" stroke=\"#d0d0d0\"/><text x=\"{}\" y=\"{}\" \
             text-anchor=\"end\">{name}</text>\n",
            LEFT - 8.0,
            at + 4.0
        );
    }
    // Round plies, at most ten of them.
    let step =
        [1, 2, 5, 10, 20, 50, 100].into_iter().find(|step| plies <= 10 * step).unwrap_or(200);
    for ply in (0..=plies).step_by(step) {
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{ply}</text>\n",
            x(ply, plies),
            TOP + HEIGHT + 20.0
        );
    }
    svg
}
