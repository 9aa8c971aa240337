//! Board pictures as SVG.

use crate::sfen::rank_letter;
use crate::{Color, Kind, Move, Piece, Position, Rules, Square};

/// Width and height of a square.
const CELL: usize = 48;
/// Width of a hand beside the board.
const HAND: usize = 72;
/// Room for the coordinates.
const MARGIN: usize = 24;

const STYLE: &str = "text{font-family:'Noto Serif CJK JP','Noto Sans CJK JP','IPAMincho',serif;\
                     text-anchor:middle;fill:#222}.c{font-size:13px;fill:#666}\
                     .m{fill:none;stroke-linecap:round}\
                     .t{font:13px 'Noto Sans Mono CJK JP',monospace;text-anchor:start;\
                     white-space:pre}";

/// Height of a line of text below the board, and width of a letter in it.
const ROW: usize = 18;
const COLUMN: usize = 8;
/// Likeliest moves that are drawn as arrows.
const ARROWS: usize = 5;

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
    let squares = last.into_iter().flat_map(|mv| mv.from().into_iter().chain([mv.to()]));
    let shaded = squares.map(|square| shade(rules, square, "#e0b25c", 1.0)).collect::<String>();
    picture(rules, position, &shaded, "", &[])
}

/// A position with the weights of its moves drawn on it: squares redder the more weight goes
/// there, arrows for the five moves of most weight, from the hand where it is a drop. Below are
/// lines of text.
///
/// ```
/// use keiko_rules::{Move, Rules, moves_svg};
/// let rules = Rules::load("doubutsu")?;
/// let mv = Move::from_usi(&rules, rules.start(), "2c2b")?;
/// let svg = moves_svg(&rules, rules.start(), &[(mv, 1.0)], &["2c2b".to_owned()]);
/// assert_eq!(svg.matches("class=\"m\"").count(), 1);
/// assert!(svg.contains(">2c2b</text>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn moves_svg(
    rules: &Rules,
    position: &Position,
    moves: &[(Move, f32)],
    lines: &[String],
) -> String {
    let warmth = |square| -> f32 {
        moves.iter().filter(|(mv, _)| mv.to() == square).map(|&(_, weight)| weight).sum()
    };
    let squares = (0..rules.squares()).map(Square::new);
    let warm = squares.map(|square| (square, warmth(square))).filter(|it| it.1 > 0.0);
    let shaded: String =
        warm.map(|(square, it)| shade(rules, square, "#e0431b", it.sqrt().min(1.0))).collect();
    let mut heaviest = moves.to_vec();
    // The order of moves decides between equals: the sort is stable.
    heaviest.sort_by(|a, b| b.1.total_cmp(&a.1));
    heaviest.truncate(ARROWS);
    // The heaviest last, on top of the others.
    let arrows = heaviest.iter().rev().map(|&(mv, weight)| arrow(rules, position, mv, weight));
    picture(rules, position, &shaded, &arrows.collect::<String>(), lines)
}

/// The board with something drawn under its pieces and something over them, and text below.
fn picture(
    rules: &Rules,
    position: &Position,
    under: &str,
    over: &str,
    lines: &[String],
) -> String {
    let (width, height) = (rules.files() * CELL, rules.ranks() * CELL);
    let (full_width, board_height) = (width + 2 * HAND + MARGIN, height + 2 * MARGIN);
    let columns = lines.iter().map(|line| columns(line)).max().unwrap_or(0);
    let full_width = full_width.max(columns * COLUMN + 2 * MARGIN);
    let full_height = board_height + lines.len() * ROW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full_width} {full_height}\" \
         width=\"{full_width}\" height=\"{full_height}\"><style>{STYLE}</style>\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <rect x=\"{HAND}\" y=\"{MARGIN}\" width=\"{width}\" height=\"{height}\" fill=\"#f3d9a4\"/>\n\
         {under}"
    );
    svg += &grid(rules);
    svg += &coordinates(rules);
    for square in position.occupied() {
        let piece = position.piece_at(square).expect("an occupied square has a piece");
        let (x, y) = middle(rules, square);
        svg += &piece_picture(rules, piece, x, y);
    }
    for color in Color::BOTH {
        svg += &hand(rules, position, color);
    }
    svg += over;
    for (row, line) in lines.iter().enumerate() {
        let y = board_height + row * ROW + ROW / 2;
        svg += &format!(
            "<text class=\"t\" x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">{line}</text>\n"
        );
    }
    svg + "</svg>\n"
}

/// Columns that a text takes in a font of fixed width: Chinese characters are two wide.
fn columns(text: &str) -> usize {
    text.chars().map(|letter| if letter < '\u{2e80}' { 1 } else { 2 }).sum()
}

fn shade(rules: &Rules, square: Square, color: &str, opacity: f32) -> String {
    let (x, y) = corner(rules, square);
    let opacity =
        if opacity < 1.0 { format!(" fill-opacity=\"{opacity:.2}\"") } else { String::new() };
    format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{color}\"{opacity}/>\n"
    )
}

/// A line from where the piece is to where it goes, thicker the more weight the move has.
fn arrow(rules: &Rules, position: &Position, mv: Move, weight: f32) -> String {
    let (x, y) = middle(rules, mv.to());
    let (from_x, from_y) = match mv {
        Move::Board { from, .. } => middle(rules, from),
        Move::Drop { role, .. } => {
            let held = held(rules, position, position.side_to_move());
            let row = held.iter().position(|&kind| kind == rules.kind_of(role)).unwrap_or(0);
            place_in_hand(rules, position.side_to_move(), row, held.len())
        }
    };
    let (dx, dy) = (x as f32 - from_x as f32, y as f32 - from_y as f32);
    let length = dx.hypot(dy).max(1.0);
    let thickness = 1.5 + 5.0 * weight;
    let half = 4.0 + thickness;
    // The head's corners, and where the line ends in it.
    let (along, across) = ((dx / length, dy / length), (-dy / length, dx / length));
    let at = |back: f32, side: f32| {
        let place = |end: usize, along: f32, across: f32| end as f32 - back * along + side * across;
        format!("{:.1} {:.1}", place(x, along.0, across.0), place(y, along.1, across.1))
    };
    format!(
        "<path class=\"m\" d=\"M{from_x} {from_y}L{}\" stroke-width=\"{thickness:.1}\" \
         stroke=\"#1f5fbf\" stroke-opacity=\"0.75\"/><path d=\"M{}L{}L{}Z\" fill=\"#1f5fbf\" \
         fill-opacity=\"0.85\"/>\n",
        at(1.6 * half, 0.0),
        at(0.0, 0.0),
        at(2.0 * half, half),
        at(2.0 * half, -half),
    )
}

/// A square's upper left corner.
fn corner(rules: &Rules, square: Square) -> (usize, usize) {
    let (column, rank) = rules.column_and_rank(square);
    (HAND + column * CELL, MARGIN + rank * CELL)
}

fn middle(rules: &Rules, square: Square) -> (usize, usize) {
    let (x, y) = corner(rules, square);
    (x + CELL / 2, y + CELL / 2)
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

/// The kinds of a side's pieces in hand.
fn held(rules: &Rules, position: &Position, color: Color) -> Vec<Kind> {
    rules.kinds().filter(|&kind| position.hand(color, kind) > 0).collect()
}

/// Where the so-manieth of the kinds in a hand lies: Black's at the lower right, White's at the
/// upper left.
fn place_in_hand(rules: &Rules, color: Color, row: usize, kinds: usize) -> (usize, usize) {
    let (width, height) = (rules.files() * CELL, rules.ranks() * CELL);
    // Rows close up where there are more kinds than fit at full height.
    let step = (height / kinds.max(1)).min(CELL / 2 + 4);
    let before = (kinds - 1 - row) * step;
    match color {
        Color::Black => {
            (HAND + width + MARGIN + (HAND - MARGIN) / 2 + 8, MARGIN + height - before - 8)
        }
        Color::White => (HAND / 2, MARGIN + before + 8),
    }
}

/// A side's hand, White's upside down.
fn hand(rules: &Rules, position: &Position, color: Color) -> String {
    let held = held(rules, position, color);
    let turn = if color == Color::White { " rotate(180)" } else { "" };
    let mut svg = String::new();
    for (row, &kind) in held.iter().enumerate() {
        let count = position.hand(color, kind);
        let name = rules.kanji_of_kind(kind);
        let text = if count > 1 { format!("{name} {count}") } else { name.to_owned() };
        let (x, y) = place_in_hand(rules, color, row, held.len());
        svg += &format!(
            "<text transform=\"translate({x} {y}){turn}\" font-size=\"20\">{text}</text>\n"
        );
    }
    svg
}
