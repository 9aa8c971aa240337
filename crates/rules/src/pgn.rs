//! Game records as chess programs keep them: PGN, with moves as XBoard writes those of the shogi
//! family.

use crate::western::uci_square;
use crate::{Color, Game, Move, Outcome, Position, Rules, Square};

/// Columns of a line of moves, as the standard asks.
const WIDTH: usize = 79;

/// A game as a PGN record. Black, who begins, is white there. `players` are Black's and White's
/// names; `outcome` is `None` where the game is not over, `reason` says why it is.
///
/// ```
/// use keiko_rules::{Game, Move, Rules};
/// let rules = std::sync::Arc::new(Rules::load("minishogi")?);
/// let mut game = Game::new(rules.clone());
/// game.play(Move::from_usi(&rules, game.position(), "5d5c")?);
/// let text = keiko_rules::pgn_record(&game, ["A", "B"], None, "");
/// assert!(text.contains("[White \"A\"]") && text.ends_with("\n1. Pa3 *\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pgn_record(
    game: &Game,
    players: [&str; 2],
    outcome: Option<Outcome>,
    reason: &str,
) -> String {
    let rules = game.rules();
    let result = match outcome {
        Some(Outcome::Win(Color::Black)) => "1-0",
        Some(Outcome::Win(Color::White)) => "0-1",
        Some(Outcome::Draw) => "1/2-1/2",
        None => "*",
    };
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        text += &format!("[{name} \"{value}\"]\n");
    };
    // The seven that every record has, in this order.
    tag("Event", "keiko match");
    tag("Site", "?");
    tag("Date", "????.??.??");
    tag("Round", "-");
    tag("White", players[0]);
    tag("Black", players[1]);
    tag("Result", result);
    tag("Variant", rules.name());
    // XBoard writes it for every game that it learned from an engine; its own start is chess.
    tag("FEN", &game.start_position().to_fen(rules));
    tag("SetUp", "1");
    if !reason.is_empty() {
        tag("Termination", reason);
    }
    text + "\n" + &filled(words(game).chain([result.to_owned()])) + "\n"
}

/// Moves with their numbers.
fn words(game: &Game) -> impl Iterator<Item = String> {
    let rules = game.rules();
    let mut position = *game.start_position();
    let mut turn = position.move_number().div_ceil(2);
    game.moves().enumerate().flat_map(move |(index, mv)| {
        let side = position.side_to_move();
        let number = match side {
            Color::Black => Some(format!("{turn}.")),
            Color::White if index == 0 => Some(format!("{turn}...")),
            Color::White => None,
        };
        turn += u32::from(side == Color::White);
        let san = mv.to_san(rules, &position);
        rules.play(&mut position, mv);
        number.into_iter().chain([san])
    })
}

/// Words in lines that are not too long.
fn filled(words: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        if column > 0 {
            let breaks = column + 1 + word.len() > WIDTH;
            text.push(if breaks { '\n' } else { ' ' });
            column = if breaks { 0 } else { column + 1 };
        }
        column += word.len();
        text += &word;
    }
    text
}

impl Move {
    /// Writes a legal move in short algebraic notation as XBoard reads it: the piece's letter
    /// (with a `+` before it where it is turned), from where if that is in doubt, `x` for a
    /// capture, and where to; `+` behind it turns the piece over, `=` where that is declined;
    /// `P@c3` is a drop.
    pub fn to_san(self, rules: &Rules, position: &Position) -> String {
        let Move::Board { from, to, turns } = self else {
            return self.to_uci(rules, position);
        };
        let role = position.piece_at(from).expect("a move moves a piece").role;
        let capture = if position.piece_at(to).is_some() { "x" } else { "" };
        let other = Move::Board { from, to, turns: !turns };
        let suffix = match turns {
            true => "+",
            false if rules.is_legal(position, other) => "=",
            false => "",
        };
        let name = rules.role_name(role);
        let origin = origin(rules, position, from, to);
        format!("{name}{origin}{capture}{}{suffix}", uci_square(rules, to))
    }
}

/// What tells a move's piece from others alike that could go to the same square: nothing, a file, a
/// rank, or both.
fn origin(rules: &Rules, position: &Position, from: Square, to: Square) -> String {
    let mut legal = Vec::new();
    rules.legal_moves(position, &mut legal);
    let piece = position.piece_at(from);
    let rivals: Vec<Square> = legal
        .iter()
        .filter(|mv| mv.to() == to)
        .filter_map(|mv| mv.from())
        .filter(|&square| square != from && position.piece_at(square) == piece)
        .collect();
    let (column, rank) = rules.column_and_rank(from);
    let shares = |of: fn((usize, usize)) -> usize| {
        rivals.iter().any(|&it| of(rules.column_and_rank(it)) == of((column, rank)))
    };
    let name = uci_square(rules, from);
    let (file, number) = name.split_at(1);
    match (rivals.is_empty(), shares(|it| it.0), shares(|it| it.1)) {
        (true, ..) => String::new(),
        (_, false, _) => file.to_owned(),
        (_, true, false) => number.to_owned(),
        (_, true, true) => name,
    }
}
