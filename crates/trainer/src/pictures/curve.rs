//! What a game's searches thought of it, ply by ply.

use super::canvas::{Canvas, Picture, rgb};
use embedded_graphics::mono_font::ascii::FONT_7X13;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::Point;
use keiko_rules::Color;
use keiko_selfplay::{GameRecord, Ply, Wdl};

/// The curve's place within the picture, in pixels.
const LEFT: i32 = 44;
const TOP: i32 = 24;
const WIDTH: i32 = super::WIDTH - LEFT - RIGHT;
const HEIGHT: i32 = 140;
/// Room at the right.
const RIGHT: i32 = 16;
/// Room below.
const BELOW: i32 = 24;

const INK: Rgb888 = rgb(0x333333);
const GRID: Rgb888 = rgb(0xd8d8d8);
const SEARCH: Rgb888 = rgb(0x1f5fbf);
const NETWORK: Rgb888 = rgb(0xe09a3e);

/// Black's expected score at each searched ply of a game: the search's, and before it the
/// network's own; at the right end the result.
pub fn value_curve(game: &GameRecord) -> Picture {
    let (width, height) = (super::WIDTH, TOP + HEIGHT + BELOW);
    let mut canvas = Canvas::new(width as u32, height as u32);
    axes(&mut canvas, game.plies.len());
    let result = Wdl::of(game.ending.outcome, Color::Black).score();
    let plies = game.plies.len();
    draw(&mut canvas, plies, &scores(game, |ply| ply.raw), NETWORK);
    let mut searched = scores(game, |ply| ply.root);
    searched.push(result);
    draw(&mut canvas, plies, &searched, SEARCH);
    canvas.label("search", Point::new(LEFT, TOP / 2), &FONT_7X13, SEARCH);
    canvas.label("network", Point::new(LEFT + 70, TOP / 2), &FONT_7X13, NETWORK);
    canvas.finish()
}

/// Black's expected scores, one a searched ply.
fn scores(game: &GameRecord, chances: impl Fn(&Ply) -> Wdl) -> Vec<f32> {
    let score = |(index, ply)| match game.side_at(index) {
        Color::Black => chances(ply).score(),
        Color::White => chances(ply).flipped().score(),
    };
    game.plies.iter().enumerate().map(score).collect()
}

fn height_of(score: f32) -> i32 {
    TOP + ((1.0 - score) * HEIGHT as f32).round() as i32
}

fn axes(canvas: &mut Canvas, plies: usize) {
    for (score, name) in [(1.0, "Black"), (0.5, "0.5"), (0.0, "White")] {
        let y = height_of(score);
        canvas.line(Point::new(LEFT, y), Point::new(LEFT + WIDTH, y), 1, GRID);
        canvas.label(name, Point::new(4, y), &FONT_7X13, INK);
    }
    let below = TOP + HEIGHT + BELOW / 2;
    canvas.label("0", Point::new(LEFT, below), &FONT_7X13, INK);
    let text = format!("{plies} plies");
    canvas.text(&text, Point::new(LEFT + WIDTH - 24, below), &FONT_7X13, INK);
}

/// A line through the scores before each of so many plies, and perhaps after the last.
fn draw(canvas: &mut Canvas, plies: usize, scores: &[f32], color: Rgb888) {
    let at = |(index, &score): (usize, &f32)| {
        Point::new(LEFT + index as i32 * WIDTH / plies.max(1) as i32, height_of(score))
    };
    let points: Vec<Point> = scores.iter().enumerate().map(at).collect();
    for pair in points.windows(2) {
        canvas.line(pair[0], pair[1], 2, color);
    }
}
