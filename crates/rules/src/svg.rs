//! Board pictures as SVG.

use crate::sfen::rank_letter;
use crate::{Color, Move, Piece, Position, Rules, Square};

/// Width and height of a square.
const CELL: usize = 48;
/// Width of a hand beside the board.
const HAND: usize = 72;
/// Room for the coordinates.
const MARGIN: usize = 24;

const STYLE: &str = "text{font-family:'Noto Serif CJK JP','Noto Sans CJK JP','IPAMincho',serif;\
                     text-anchor:middle;fill:#222}.c{font-size:13px;fill:#666}";

/// A position as a picture: Black at the bottom, hands at the sides, the squares of the last
/// move shaded.
///
/// ```
/// let rules = keiko_rules::Rules::load("doubutsu")?;
/// let svg = keiko_rules::board_svg(&rules, rules.start(), None);
/// assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
/// # Ok::<(), keiko_rules::RulesError>(())
/// ```
pub fn board_svg(rules: &Rules, position: &Position, last: Option<Move>) -> String {
    let (width, height) = (rules.files() * CELL, rules.ranks() * CELL);
    let (full_width, full_height) = (width + 2 * HAND + MARGIN, height + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full_width} {full_height}\" \
         width=\"{full_width}\" height=\"{full_height}\"><style>{STYLE}</style>\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <rect x=\"{HAND}\" y=\"{MARGIN}\" width=\"{width}\" height=\"{height}\" fill=\"#f3d9a4\"/>\n"
    );
    for square in last.into_iter().flat_map(|mv| mv.from().into_iter().chain([mv.to()])) {
        let (x, y) = corner(rules, square);
        svg += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"#e0b25c\"/>\n"
        );
    }
    svg += &grid(rules);
    svg += &coordinates(rules);
    for square in position.occupied() {
        let piece = position.piece_at(square).expect("an occupied square has a piece");
        let (x, y) = corner(rules, square);
        svg += &piece_picture(rules, piece, x + CELL / 2, y + CELL / 2);
    }
    for color in Color::BOTH {
        svg += &hand(rules, position, color);
    }
    svg + "</svg>\n"
}

/// A square's upper left corner.
fn corner(rules: &Rules, square: Square) -> (usize, usize) {
    let (column, rank) = rules.column_and_rank(square);
    (HAND + column * CELL, MARGIN + rank * CELL)
}

fn grid(rules: &Rules) -> String {
    let (width, height) = (rules.files() * CELL, rules.ranks() * CELL);
    let mut path = String::new();
    for column in 0..=rules.files() {
        path += &format!("M{} {MARGIN}v{height}", HAND + column * CELL);
    }
    for rank in 0..=rules.ranks() {
        path += &format!("M{HAND} {}h{width}", MARGIN + rank * CELL);
    }
    format!("<path d=\"{path}\" stroke=\"#5b4420\" fill=\"none\"/>\n")
}

fn coordinates(rules: &Rules) -> String {
    let mut svg = String::new();
    for column in 0..rules.files() {
        let x = HAND + column * CELL + CELL / 2;
        let file = rules.files() - column;
        svg += &format!("<text class=\"c\" x=\"{x}\" y=\"{}\">{file}</text>\n", MARGIN - 7);
    }
    for rank in 0..rules.ranks() {
        let (x, y) = (HAND + rules.files() * CELL + 10, MARGIN + rank * CELL + CELL / 2 + 4);
        svg += &format!("<text class=\"c\" x=\"{x}\" y=\"{y}\">{}</text>\n", rank_letter(rank));
    }
    svg
}

/// A piece's wedge and name, White's upside down, a turned piece's name in red.
fn piece_picture(rules: &Rules, piece: Piece, x: usize, y: usize) -> String {
    let turn = if piece.color == Color::White { " rotate(180)" } else { "" };
    let name = rules.kanji(piece.role);
    let size = if name.chars().count() == 1 { 24 } else { 17 };
    let is_back = piece.role.index() >= rules.kinds().count();
    let fill = if is_back { " style=\"fill:#b3261e\"" } else { "" };
    format!(
        "<g transform=\"translate({x} {y}){turn}\"><path d=\"M0 -21L13 -15L18 20H-18L-13 -15Z\" \
         fill=\"#fdf3dc\" stroke=\"#5b4420\"/><text y=\"11\" font-size=\"{size}\"{fill}>{name}</text></g>\n"
    )
}

/// A side's hand: Black's at the lower right, White's at the upper left, upside down.
fn hand(rules: &Rules, position: &Position, color: Color) -> String {
    let held: Vec<_> = rules.kinds().filter(|&kind| position.hand(color, kind) > 0).collect();
    let (width, height) = (rules.files() * CELL, rules.ranks() * CELL);
    // Rows close up where there are more kinds than fit at full height.
    let step = (height / held.len().max(1)).min(CELL / 2 + 4);
    let mut svg = String::new();
    for (row, &kind) in held.iter().enumerate() {
        let count = position.hand(color, kind);
        let name = rules.kanji_of_kind(kind);
        let text = if count > 1 { format!("{name} {count}") } else { name.to_owned() };
        let place = match color {
            Color::Black => {
                let y = MARGIN + height - (held.len() - 1 - row) * step - 8;
                format!("translate({} {y})", HAND + width + MARGIN + (HAND - MARGIN) / 2 + 8)
            }
            Color::White => {
                let y = MARGIN + (held.len() - 1 - row) * step + 8;
                format!("translate({} {y}) rotate(180)", HAND / 2)
            }
        };
        svg += &format!("<text transform=\"{place}\" font-size=\"20\">{text}</text>\n");
    }
    svg
}
