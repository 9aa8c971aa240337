//! Moves as text: USI in and out, and why a move is not legal.

use crate::sfen::{piece_text, rank_letter};
use crate::{Bitboard, Color, Move, Piece, Position, Role, Rules, Square};

/// Why a text is not a legal move.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum UsiError {
    /// Not a move's shape.
    #[error("`{text}` is no move; moves look like `5d5c`, `5b5a+` or `P*3c`")]
    Syntax {
        /// The text.
        text: String,
    },
    /// Not the shape of a move as UCI and XBoard engines write it, or not on this board.
    #[error("`{text}` is no move on this board; moves look like `a1b2`, `a4a5+` or `P@c3`")]
    Uci {
        /// The text.
        text: String,
    },
    /// A square that the board does not have.
    #[error("`{text}`: there is no square `{square}`; squares go from {first} to {last}")]
    Square {
        /// The text.
        text: String,
        /// The square in it.
        square: String,
        /// The first square of the board.
        first: String,
        /// The last one.
        last: String,
    },
    /// A drop of something that is never dropped.
    #[error("`{text}`: `{letter}` is never dropped; these are: {allowed}")]
    Piece {
        /// The text.
        text: String,
        /// What it would drop.
        letter: String,
        /// What may be dropped in this game.
        allowed: String,
    },
    /// A move that the rules forbid.
    #[error("`{text}` is illegal: {reason}")]
    Illegal {
        /// The text.
        text: String,
        /// Why.
        reason: String,
    },
}

impl Move {
    /// Reads a legal move. Where turning over is no choice, a `+` or `-` may be left out.
    ///
    /// # Errors
    /// When the text is no move, or the move is not legal; the error says why.
    pub fn from_usi(rules: &Rules, position: &Position, text: &str) -> Result<Move, UsiError> {
        let mv = match text.split_once('*') {
            Some((face, to)) => read_drop(rules, text, face, to)?,
            None => read_board_move(rules, position, text)?,
        };
        if rules.is_legal(position, mv) {
            return Ok(mv);
        }
        let reason = explain(rules, position, mv);
        Err(UsiError::Illegal { text: text.to_owned(), reason })
    }

    /// Writes the move.
    pub fn to_usi(self, rules: &Rules) -> String {
        match self {
            Move::Board { from, to, turns } => {
                let suffix = if turns { "+" } else { "" };
                format!("{}{}{suffix}", square_text(rules, from), square_text(rules, to))
            }
            Move::Drop { role, to } => {
                format!("{}*{}", rules.role_name(role), square_text(rules, to))
            }
        }
    }
}

/// A square's name: file from the right, rank from the top.
pub(crate) fn square_text(rules: &Rules, square: Square) -> String {
    let (column, rank) = rules.column_and_rank(square);
    format!("{}{}", rules.files() - column, rank_letter(rank))
}

/// A square's name at the start of a text, as (name, the text after it).
fn split_square(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let letter = text[digits..].chars().next().filter(char::is_ascii_lowercase)?;
    (digits > 0).then(|| text.split_at(digits + letter.len_utf8()))
}

fn read_square(rules: &Rules, text: &str, name: &str) -> Result<Square, UsiError> {
    let (file, rank) = name.split_at(name.len() - 1);
    let rank = usize::from(rank.as_bytes()[0] - b'a');
    let file = file.parse().unwrap_or(0);
    if (1..=rules.files()).contains(&file) && rank < rules.ranks() {
        return Ok(Square::new(rank * rules.files() + rules.files() - file));
    }
    let end = Square::new(rules.squares() - rules.files());
    Err(UsiError::Square {
        text: text.to_owned(),
        square: name.to_owned(),
        first: square_text(rules, Square::new(rules.files() - 1)),
        last: square_text(rules, end),
    })
}

fn read_drop(rules: &Rules, text: &str, face: &str, to: &str) -> Result<Move, UsiError> {
    let syntax = || UsiError::Syntax { text: text.to_owned() };
    let (name, "") = split_square(to).ok_or_else(syntax)? else {
        return Err(syntax());
    };
    let to = read_square(rules, text, name)?;
    let role = rules.droppable.iter().find(|&&role| rules.role_name(role) == face);
    let role = *role.ok_or_else(|| UsiError::Piece {
        text: text.to_owned(),
        letter: face.to_owned(),
        allowed: role_names(rules, &rules.droppable),
    })?;
    Ok(Move::Drop { role, to })
}

fn role_names(rules: &Rules, roles: &[Role]) -> String {
    let names: Vec<&str> = roles.iter().map(|&role| rules.role_name(role)).collect();
    names.join(" ")
}

fn read_board_move(rules: &Rules, position: &Position, text: &str) -> Result<Move, UsiError> {
    let syntax = || UsiError::Syntax { text: text.to_owned() };
    let (from, rest) = split_square(text).ok_or_else(syntax)?;
    let (to, suffix) = split_square(rest).ok_or_else(syntax)?;
    let (from, to) = (read_square(rules, text, from)?, read_square(rules, text, to)?);
    let turned = Move::Board { from, to, turns: true };
    let must_turn = !rules.turning_is_a_choice() && rules.is_legal(position, turned);
    match suffix {
        "" | "-" if must_turn => Ok(turned),
        "" => Ok(Move::Board { from, to, turns: false }),
        "+" => Ok(turned),
        _ => Err(syntax()),
    }
}

/// Why a move is not legal.
fn explain(rules: &Rules, position: &Position, mv: Move) -> String {
    if rules.ending(position).is_some() {
        return "the game is over".to_owned();
    }
    let reason = match mv {
        Move::Board { from, to, turns } => explain_board_move(rules, position, from, to, turns),
        Move::Drop { role, to } => explain_drop(rules, position, role, to),
    };
    let royal = rules.kind_name(rules.royal_kind);
    reason.unwrap_or_else(|| format!("it leaves the mover's {royal} attacked"))
}

/// What is wrong with a board move, its own royal piece's safety aside.
fn explain_board_move(
    rules: &Rules,
    position: &Position,
    from: Square,
    to: Square,
    turns: bool,
) -> Option<String> {
    let us = position.side_to_move();
    let (from_text, to_text) = (square_text(rules, from), square_text(rules, to));
    let Some(piece) = position.piece_at(from) else {
        return Some(format!("there is nothing on {from_text}"));
    };
    if piece.color != us {
        return Some(format!("the piece on {from_text} is {}'s", piece.color));
    }
    if position.of_color(us).contains(to) {
        return Some(format!("{us} has a piece on {to_text}"));
    }
    let name = piece_text(rules, piece);
    let mover = rules.mover(piece);
    let geometry = &rules.geometry;
    let taken = position.of_color(us.opponent()) & Bitboard::of(to);
    if !mover.targets(geometry, from, Bitboard::EMPTY, taken).contains(to) {
        return Some(format!("{name} does not move from {from_text} to {to_text}"));
    }
    if !mover.targets(geometry, from, position.occupied(), taken).contains(to) {
        return Some(format!("{name} has something in its way to {to_text}"));
    }
    if rules.is_legal(position, Move::Board { from, to, turns: !turns }) {
        let verb = if turns { "does not turn over" } else { "must turn over (`+`)" };
        return Some(format!("{name} {verb} on this move"));
    }
    let full = rules.hand_limit.filter(|&limit| position.hand_total(us) >= limit.into());
    full.filter(|_| position.piece_at(to).is_some())
        .map(|limit| format!("with {limit} pieces in hand {us} may not capture"))
}

/// What is wrong with a drop, its own royal piece's safety aside.
fn explain_drop(rules: &Rules, position: &Position, role: Role, to: Square) -> Option<String> {
    let us = position.side_to_move();
    let (name, to_text) = (rules.role_name(role), square_text(rules, to));
    if position.hand(us, rules.kind_of(role)) == 0 {
        return Some(format!("{us} has no {} in hand", rules.kind_name(rules.kind_of(role))));
    }
    if position.piece_at(to).is_some() {
        return Some(format!("{to_text} is not empty"));
    }
    let piece = Piece { color: us, role };
    if !rules.mover(piece).may_stand.contains(to) {
        return Some(format!("{name} could never move from {to_text}"));
    }
    let limit = rules.per_file[role.index()].map_or(usize::MAX, usize::from);
    let file = rules.files[to.index() % rules.files()];
    if (position.pieces(us, role) & file).len() >= limit {
        return Some(format!("{us} may have {limit} {name} on a file, and has"));
    }
    let mut next = *position;
    next.play(rules, Move::Drop { role, to });
    let leaves_check = rules.has_check() && rules.is_royal_attacked(&next, us);
    (!leaves_check).then(|| format!("{name} may not be dropped to mate"))
}

/// The board, the hands and the side to move, for people.
///
/// ```
/// let rules = keiko_rules::Rules::load("doubutsu")?;
/// assert_eq!(
///     keiko_rules::board_text(&rules, rules.start()),
///     "  3  2  1\n  g  l  e  a\n  .  c  .  b\n  .  C  .  c\n  E  L  G  d\n\
///      Black to move; in hand Black -, White -\n"
/// );
/// # Ok::<(), keiko_rules::RulesError>(())
/// ```
pub fn board_text(rules: &Rules, position: &Position) -> String {
    let mut text: String = (1..=rules.files()).rev().map(|file| format!("{file:>3}")).collect();
    text.push('\n');
    for rank in 0..rules.ranks() {
        for column in 0..rules.files() {
            let piece = position.piece_at(Square::new(rank * rules.files() + column));
            let piece = piece.map_or(".".to_owned(), |piece| piece_text(rules, piece));
            text += &format!("{piece:>3}");
        }
        text += &format!("  {}\n", rank_letter(rank));
    }
    let hand = |color| match crate::sfen::hand_text(rules, position, color) {
        hand if hand.is_empty() => "-".to_owned(),
        hand => hand,
    };
    let hands = Color::BOTH.map(hand);
    let side = position.side_to_move();
    text + &format!("{side} to move; in hand Black {}, White {}\n", hands[0], hands[1])
}
