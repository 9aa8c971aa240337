//! A position with a policy drawn on it.

use super::canvas::{Canvas, Picture, mixed, rgb};
use embedded_graphics::mono_font::ascii::{FONT_6X10, FONT_7X13, FONT_10X20};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::Point;
use keiko_rules::{Color, Kind, Move, Piece, Position, Rules, Square};

/// Width and height of a square, in pixels.
const CELL: i32 = 44;
/// Width of a hand beside the board.
const HAND: i32 = 52;
/// Room for the coordinates.
const MARGIN: i32 = 18;
/// Height of a line of text below the board.
const ROW: i32 = 15;
/// Most likely moves that are drawn and listed.
const MOVES: usize = 5;

const WOOD: Rgb888 = rgb(0xf3d9a4);
const EDGE: Rgb888 = rgb(0x5b4420);
const PIECE: Rgb888 = rgb(0xfdf3dc);
const INK: Rgb888 = rgb(0x222222);
const TURNED: Rgb888 = rgb(0xb3261e);
const HEAT: Rgb888 = rgb(0xe0431b);
const ARROW: Rgb888 = rgb(0x1f5fbf);

/// A position with a policy over its moves: squares redder the likelier a move goes there, lines
/// for the likeliest moves (from the hand where it is a drop), and these moves below in words.
pub fn policy_on_board(rules: &Rules, position: &Position, policy: &[(Move, f32)]) -> Picture {
    let width = rules.files() as i32 * CELL + 2 * HAND + MARGIN;
    let below = rules.ranks() as i32 * CELL + 2 * MARGIN;
    let height = below + (1 + MOVES as i32) * ROW + 4;
    let mut board = Board { rules, canvas: Canvas::new(width as u32, height as u32) };
    board.squares(policy);
    board.coordinates();
    for square in position.occupied() {
        let piece = position.piece_at(square).expect("an occupied square has a piece");
        board.piece(piece, middle(rules, square));
    }
    for color in Color::BOTH {
        board.hand(position, color);
    }
    let mut likeliest = policy.to_vec();
    // The order of moves decides between equals: the sort is stable.
    likeliest.sort_by(|a, b| b.1.total_cmp(&a.1));
    likeliest.truncate(MOVES);
    for &(mv, share) in likeliest.iter().rev() {
        board.arrow(position, mv, share);
    }
    board.list(position.side_to_move(), &likeliest, below);
    board.canvas.finish()
}

fn corner(rules: &Rules, square: Square) -> Point {
    let (column, rank) = rules.column_and_rank(square);
    Point::new(HAND + column as i32 * CELL, MARGIN + rank as i32 * CELL)
}

fn middle(rules: &Rules, square: Square) -> Point {
    corner(rules, square) + Point::new(CELL / 2, CELL / 2)
}

/// Where a kind lies in its owner's hand: Black's at the lower right, White's at the upper left.
fn place_in_hand(rules: &Rules, position: &Position, color: Color, kind: Kind) -> Point {
    let held: Vec<Kind> = held(rules, position, color).collect();
    let row = held.iter().position(|&it| it == kind).unwrap_or(0) as i32;
    let (width, height) = (rules.files() as i32 * CELL, rules.ranks() as i32 * CELL);
    // Rows close up where there are more kinds than fit at full height.
    let step = (height / held.len().max(1) as i32).min(24);
    match color {
        Color::Black => {
            let last = held.len() as i32 - 1;
            Point::new(HAND + width + MARGIN + HAND / 2, MARGIN + height - 12 - (last - row) * step)
        }
        Color::White => Point::new(HAND / 2, MARGIN + 12 + row * step),
    }
}

fn held(rules: &Rules, position: &Position, color: Color) -> impl Iterator<Item = Kind> {
    rules.kinds().filter(move |&kind| position.hand(color, kind) > 0)
}

struct Board<'a> {
    rules: &'a Rules,
    canvas: Canvas,
}

impl Board<'_> {
    /// The squares, as warm as moves to them are likely, and the grid.
    fn squares(&mut self, policy: &[(Move, f32)]) {
        for square in (0..self.rules.squares()).map(Square::new) {
            let to_here = policy.iter().filter(|(mv, _)| mv.to() == square);
            let warmth: f32 = to_here.map(|&(_, share)| share).sum();
            let at = corner(self.rules, square);
            let side = CELL as u32 + 1;
            self.canvas.fill(at, side, side, EDGE);
            let inside = at + Point::new(1, 1);
            self.canvas.fill(inside, side - 2, side - 2, mixed(WOOD, HEAT, warmth.sqrt()));
        }
    }

    fn coordinates(&mut self) {
        let (files, ranks) = (self.rules.files(), self.rules.ranks());
        for column in 0..files {
            let x = HAND + column as i32 * CELL + CELL / 2;
            let file = (files - column).to_string();
            self.canvas.text(&file, Point::new(x, MARGIN / 2), &FONT_6X10, EDGE);
        }
        for rank in 0..ranks {
            let x = HAND + files as i32 * CELL + MARGIN / 2;
            let y = MARGIN + rank as i32 * CELL + CELL / 2;
            let letter = char::from(b'a' + rank as u8).to_string();
            self.canvas.text(&letter, Point::new(x, y), &FONT_6X10, EDGE);
        }
    }

    /// A wedge that points to the other side, with the piece's letter; a turned piece's in red.
    fn piece(&mut self, piece: Piece, at: Point) {
        let forwards = if piece.color == Color::Black { 1 } else { -1 };
        let wedge = [(0, -19), (12, -14), (16, 18), (-16, 18), (-12, -14)];
        let corners = wedge.map(|(x, y)| at + Point::new(x * forwards, y * forwards));
        self.canvas.shape(&corners, PIECE, EDGE);
        let is_back = piece.role.index() >= self.rules.kinds().count();
        let color = if is_back { TURNED } else { INK };
        let name = self.rules.role_name(piece.role);
        self.canvas.text(name, at + Point::new(0, 2 * forwards), &FONT_10X20, color);
    }

    fn hand(&mut self, position: &Position, color: Color) {
        let held: Vec<Kind> = held(self.rules, position, color).collect();
        for kind in held {
            let name = self.rules.kind_name(kind);
            let text = match position.hand(color, kind) {
                1 => name.to_owned(),
                count => format!("{name} {count}"),
            };
            let at = place_in_hand(self.rules, position, color, kind);
            self.canvas.text(&text, at, &FONT_10X20, INK);
        }
    }

    /// A line from where the piece is to where it goes, thicker the likelier.
    fn arrow(&mut self, position: &Position, mv: Move, share: f32) {
        let side = position.side_to_move();
        let to = middle(self.rules, mv.to());
        let from = match mv {
            Move::Board { from, .. } => middle(self.rules, from),
            Move::Drop { role, .. } => {
                place_in_hand(self.rules, position, side, self.rules.kind_of(role))
            }
        };
        let thickness = 1 + (6.0 * share).round() as u32;
        self.canvas.line(from, to, thickness, ARROW);
        let half = 3 + thickness as i32 / 2;
        let corner = to - Point::new(half, half);
        self.canvas.fill(corner, 2 * half as u32, 2 * half as u32, ARROW);
    }

    /// Whose turn it is, and the likeliest moves, a line each.
    fn list(&mut self, side: Color, likeliest: &[(Move, f32)], below: i32) {
        let moves = likeliest
            .iter()
            .map(|&(mv, share)| format!("{:<7}{:5.1}%", mv.to_usi(self.rules), 100.0 * share));
        let lines = std::iter::once(format!("{side} to move")).chain(moves);
        for (row, text) in lines.enumerate() {
            let at = Point::new(HAND, below + row as i32 * ROW + ROW / 2);
            self.canvas.label(&text, at, &FONT_7X13, INK);
        }
    }
}
