//! A position with a policy drawn on it.

use super::WIDTH;
use super::canvas::{Canvas, Picture, mixed, rgb};
use embedded_graphics::mono_font::ascii::{FONT_6X10, FONT_7X13, FONT_10X20};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::Point;
use keiko_rules::{Color, Kind, Move, Piece, Position, Rules, Square};

/// Width and height of a square at most, in pixels.
const CELL: i32 = 44;
/// Width of a hand beside the board at least.
const HAND: i32 = 36;
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

/// What is drawn.
#[derive(Copy, Clone, Debug)]
pub struct Shown<'a> {
    /// Where in which game this is; empty at the start.
    pub title: &'a str,
    /// The position.
    pub position: &'a Position,
    /// What the network would play, with shares.
    pub policy: &'a [(Move, f32)],
    /// What the search wanted to play; empty where there was none.
    pub searched: &'a [(Move, f32)],
}

/// A position with the network's policy: squares redder the likelier a move goes there, lines for
/// the likeliest moves (from the hand where it is a drop), and these moves below in words, beside
/// what a search made of them.
pub fn policy_on_board(rules: &Rules, shown: &Shown<'_>) -> Picture {
    let Shown { position, policy, .. } = *shown;
    let frame = Frame::around(rules);
    let below = rules.ranks() as i32 * frame.cell + 2 * MARGIN;
    let height = below + (2 + MOVES as i32) * ROW + 4;
    let mut board = Board { rules, frame, canvas: Canvas::new(WIDTH as u32, height as u32) };
    board.squares(policy);
    board.coordinates();
    for square in position.occupied() {
        let piece = position.piece_at(square).expect("an occupied square has a piece");
        board.piece(piece, frame.middle(rules, square));
    }
    for color in Color::BOTH {
        board.hand(position, color);
    }
    let likeliest = likeliest(policy);
    for &(mv, share) in likeliest.iter().rev() {
        board.arrow(position, mv, share);
    }
    board.list(shown, &likeliest, below);
    board.canvas.finish()
}

/// The moves with the largest shares, the largest first.
fn likeliest(policy: &[(Move, f32)]) -> Vec<(Move, f32)> {
    let mut likeliest = policy.to_vec();
    // The order of moves decides between equals: the sort is stable.
    likeliest.sort_by(|a, b| b.1.total_cmp(&a.1));
    likeliest.truncate(MOVES);
    likeliest
}

/// How large the board is in the picture, in pixels.
#[derive(Copy, Clone)]
struct Frame {
    /// Side of a square.
    cell: i32,
    /// Width of a hand.
    hand: i32,
}

impl Frame {
    /// The largest that fits, in the middle.
    fn around(rules: &Rules) -> Frame {
        let files = rules.files() as i32;
        let cell = ((WIDTH - 2 * HAND - MARGIN) / files).min(CELL);
        Frame { cell, hand: (WIDTH - files * cell - MARGIN) / 2 }
    }

    fn corner(self, rules: &Rules, square: Square) -> Point {
        let (column, rank) = rules.column_and_rank(square);
        Point::new(self.hand + column as i32 * self.cell, MARGIN + rank as i32 * self.cell)
    }

    fn middle(self, rules: &Rules, square: Square) -> Point {
        self.corner(rules, square) + Point::new(self.cell / 2, self.cell / 2)
    }

    /// Where a kind lies in its owner's hand: Black's at the lower right, White's at the upper left.
    fn place_in_hand(self, rules: &Rules, position: &Position, color: Color, kind: Kind) -> Point {
        let held: Vec<Kind> = held(rules, position, color).collect();
        let row = held.iter().position(|&it| it == kind).unwrap_or(0) as i32;
        let height = rules.ranks() as i32 * self.cell;
        // Rows close up where there are more kinds than fit at full height.
        let step = (height / held.len().max(1) as i32).min(24);
        let last = held.len() as i32 - 1;
        match color {
            Color::Black => {
                Point::new(WIDTH - self.hand / 2, MARGIN + height - 12 - (last - row) * step)
            }
            Color::White => Point::new(self.hand / 2, MARGIN + 12 + row * step),
        }
    }
}

fn held(rules: &Rules, position: &Position, color: Color) -> impl Iterator<Item = Kind> {
    rules.kinds().filter(move |&kind| position.hand(color, kind) > 0)
}

struct Board<'a> {
    rules: &'a Rules,
    frame: Frame,
    canvas: Canvas,
}

impl Board<'_> {
    /// The squares, as warm as moves to them are likely, and the grid.
    fn squares(&mut self, policy: &[(Move, f32)]) {
        for square in (0..self.rules.squares()).map(Square::new) {
            let to_here = policy.iter().filter(|(mv, _)| mv.to() == square);
            let warmth: f32 = to_here.map(|&(_, share)| share).sum();
            let at = self.frame.corner(self.rules, square);
            let side = self.frame.cell as u32 + 1;
            self.canvas.fill(at, side, side, EDGE);
            let inside = at + Point::new(1, 1);
            self.canvas.fill(inside, side - 2, side - 2, mixed(WOOD, HEAT, warmth.sqrt()));
        }
    }

    fn coordinates(&mut self) {
        let (files, ranks) = (self.rules.files(), self.rules.ranks());
        let Frame { cell, hand } = self.frame;
        for column in 0..files {
            let x = hand + column as i32 * cell + cell / 2;
            let file = (files - column).to_string();
            self.canvas.text(&file, Point::new(x, MARGIN / 2), &FONT_6X10, EDGE);
        }
        for rank in 0..ranks {
            let x = hand + files as i32 * cell + MARGIN / 2;
            let y = MARGIN + rank as i32 * cell + cell / 2;
            let letter = char::from(b'a' + rank as u8).to_string();
            self.canvas.text(&letter, Point::new(x, y), &FONT_6X10, EDGE);
        }
    }

    /// A wedge that points to the other side, with the piece's letter; a turned piece's in red.
    fn piece(&mut self, piece: Piece, at: Point) {
        let forwards = if piece.color == Color::Black { 1 } else { -1 };
        let wedge = [(0, -19), (12, -14), (16, 18), (-16, 18), (-12, -14)];
        let scaled = |of_cell: i32| of_cell * forwards * self.frame.cell / CELL;
        let corners = wedge.map(|(x, y)| at + Point::new(scaled(x), scaled(y)));
        self.canvas.shape(&corners, PIECE, EDGE);
        let is_back = piece.role.index() >= self.rules.kinds().count();
        let color = if is_back { TURNED } else { INK };
        let name = self.rules.role_name(piece.role);
        let fits = name.len() as i32 * 10 <= 2 * scaled(15).abs();
        let font = if fits { &FONT_10X20 } else { &FONT_7X13 };
        self.canvas.text(name, at + Point::new(0, 2 * forwards), font, color);
    }

    fn hand(&mut self, position: &Position, color: Color) {
        let held: Vec<Kind> = held(self.rules, position, color).collect();
        for kind in held {
            let name = self.rules.kind_name(kind);
            let text = match position.hand(color, kind) {
                1 => name.to_owned(),
                count => format!("{name} {count}"),
            };
            let at = self.frame.place_in_hand(self.rules, position, color, kind);
            self.canvas.text(&text, at, &FONT_10X20, INK);
        }
    }

    /// A line from where the piece is to where it goes, thicker the likelier.
    fn arrow(&mut self, position: &Position, mv: Move, share: f32) {
        let side = position.side_to_move();
        let to = self.frame.middle(self.rules, mv.to());
        let from = match mv {
            Move::Board { from, .. } => self.frame.middle(self.rules, from),
            Move::Drop { role, .. } => {
                let kind = self.rules.kind_of(role);
                self.frame.place_in_hand(self.rules, position, side, kind)
            }
        };
        let thickness = 1 + (6.0 * share).round() as u32;
        self.canvas.line(from, to, thickness, ARROW);
        let half = 3 + thickness as i32 / 2;
        let corner = to - Point::new(half, half);
        self.canvas.fill(corner, 2 * half as u32, 2 * half as u32, ARROW);
    }

    /// Whose turn it is, and the network's likeliest moves with what the search made of them, a line
    /// each; last the search's first choice, where it is none of these.
    fn list(&mut self, shown: &Shown<'_>, likeliest: &[(Move, f32)], below: i32) {
        let percent = |share: f32| format!("{:5.1}%", 100.0 * share);
        let has_search = !shown.searched.is_empty();
        let of_search = |mv: Move| {
            let share = shown.searched.iter().find(|&&(it, _)| it == mv).map_or(0.0, |it| it.1);
            if has_search { percent(share) } else { String::new() }
        };
        let row = |mv: Move, of_network: String| {
            format!("{:<9}{of_network:>8}  {:>8}", mv.to_usi(self.rules), of_search(mv))
        };
        let title = match shown.title {
            "" => format!("{} to move", shown.position.side_to_move()),
            title => format!("{title}, {} to move", shown.position.side_to_move()),
        };
        let mut lines = vec![
            title,
            format!("{:<9}{:>8}  {:>8}", "", "network", if has_search { "search" } else { "" }),
        ];
        lines.extend(likeliest.iter().map(|&(mv, share)| row(mv, percent(share))));
        let first = self::likeliest(shown.searched).first().map(|&(mv, _)| mv);
        if let Some(mv) = first.filter(|&mv| likeliest.iter().all(|&(it, _)| it != mv)) {
            let share = shown.policy.iter().find(|&&(it, _)| it == mv).map_or(0.0, |it| it.1);
            lines.truncate(1 + MOVES);
            lines.push(row(mv, percent(share)));
        }
        for (row, text) in lines.iter().enumerate() {
            let at = Point::new(HAND, below + row as i32 * ROW + ROW / 2);
            self.canvas.label(text, at, &FONT_7X13, INK);
        }
    }
}
