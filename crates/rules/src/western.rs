//! Positions and moves as chess programs write them that know the shogi family: FEN with hands
//! in brackets, moves such as `a1b2+` and `P@c3`. The dialect is Fairy-Stockfish's, and XBoard
//! understands it.
//!
//! Files are letters from the left, ranks are numbers from the bottom, both as Black sees them;
//! Black, who begins, is called white (`w`). A `+` turns a piece to its back, a `-` to its front.
//! Without drops nothing tells a turned piece from another one that moves alike, so its letter is
//! that one's: a pawn of shatranj becomes a `Q`.

use crate::usi::{UsiError, square_text};
use crate::{Color, Move, Piece, Position, Role, Rules, SfenError, Square};

/// Why a text is not a position.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum FenError {
    /// Too few or too many fields.
    #[error(
        "a FEN has a board with hands in brackets, a side, and perhaps `-` twice and two numbers; this is `{found}`"
    )]
    Fields {
        /// The text.
        found: String,
    },
    /// Something else than `w` or `b` for the side to move.
    #[error("the side to move is `{found}`; it must be `w`, who begins, or `b`")]
    Side {
        /// What was found.
        found: String,
    },
    /// The board, the hands or the move number.
    #[error(transparent)]
    Position(#[from] SfenError),
}

impl Position {
    /// Reads a position from a FEN. Where the move number is left out it is 1.
    ///
    /// A FEN does not say who began, so `w` is taken to have.
    ///
    /// # Errors
    /// When the text is no FEN, or the position cannot occur in this game.
    pub fn from_fen(rules: &Rules, fen: &str) -> Result<Position, FenError> {
        let fields = || FenError::Fields { found: fen.to_owned() };
        let mut words = fen.split_whitespace();
        let (Some(placement), Some(side)) = (words.next(), words.next()) else {
            return Err(fields());
        };
        let (board, hands) = match placement.split_once('[') {
            Some((board, rest)) => (board, rest.strip_suffix(']').ok_or_else(fields)?),
            None => (placement, "-"),
        };
        let (side, late) = match side {
            "w" => ("b", false),
            "b" => ("w", true),
            _ => return Err(FenError::Side { found: side.to_owned() }),
        };
        let numbers: Vec<&str> = words.filter(|&word| word != "-").collect();
        let number = match numbers[..] {
            [] => "1",
            [number] | [_, number] => number,
            _ => return Err(fields()),
        };
        let number = ply_number(number, late)?;
        let sfen = format!("{board} {side} {} {number}", sfen_hands(hands));
        Ok(Position::from_sfen(rules, &sfen)?)
    }

    /// Writes the position as a FEN.
    ///
    /// ```
    /// let rules = keiko_rules::Rules::load("minishogi")?;
    /// assert_eq!(rules.start().to_fen(&rules), "rbsgk/4p/5/P4/KGSBR[] w - - 0 1");
    /// # Ok::<(), keiko_rules::RulesError>(())
    /// ```
    pub fn to_fen(&self, rules: &Rules) -> String {
        let sfen = self.to_sfen(rules);
        let mut board = sfen.split(' ').next().unwrap_or_default().to_owned();
        for role in rules.roles() {
            if let Some(other) = stand_in(rules, role) {
                let (own, other) = (rules.role_name(role), rules.role_name(other));
                board = board.replace(own, other);
                board = board.replace(&own.to_lowercase(), &other.to_lowercase());
            }
        }
        if !rules.droppable.is_empty() {
            board += &format!("[{}]", self.hands_in_letters(rules));
        }
        let side = if self.side_to_move() == Color::Black { 'w' } else { 'b' };
        let number = self.move_number().div_ceil(2);
        format!("{board} {side} - - 0 {number}")
    }

    /// Both hands, a letter for each piece.
    fn hands_in_letters(&self, rules: &Rules) -> String {
        let mut text = String::new();
        for color in Color::BOTH {
            for kind in rules.kinds() {
                let letter = match color {
                    Color::Black => rules.kind_name(kind).to_owned(),
                    Color::White => rules.kind_name(kind).to_lowercase(),
                };
                text += &letter.repeat(self.hand(color, kind).into());
            }
        }
        text
    }
}

/// The number an SFEN gives a move of a numbered pair: the first, or (`late`) the second.
fn ply_number(number: &str, late: bool) -> Result<u32, SfenError> {
    let pair: Option<u32> = number.parse().ok();
    // Some programs write 0 before the first move.
    let ply = pair.and_then(|it| it.max(1).checked_mul(2)).map(|it| it - u32::from(!late));
    ply.ok_or_else(|| SfenError::MoveNumber { found: number.to_owned() })
}

/// Hands as an SFEN has them, each letter once with its count.
fn sfen_hands(letters: &str) -> String {
    let mut counts: Vec<(char, u64)> = Vec::new();
    let mut digits = String::new();
    for letter in letters.chars().filter(|&letter| letter != '-') {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        // What is no number becomes a count that no hand has.
        let more = if digits.is_empty() { 1 } else { digits.parse().unwrap_or(u32::MAX) };
        digits.clear();
        match counts.iter_mut().find(|(known, _)| *known == letter) {
            Some((_, count)) => *count += u64::from(more),
            None => counts.push((letter, more.into())),
        }
    }
    let hands: String = counts.iter().map(|(letter, count)| format!("{count}{letter}")).collect();
    if hands.is_empty() && digits.is_empty() { "-".to_owned() } else { hands + &digits }
}

/// The front whose letter a turned piece goes by.
fn stand_in(rules: &Rules, role: Role) -> Option<Role> {
    let is_back = role.index() >= rules.kind_names.len();
    let alike = |&front: &Role| rules.movements[front.index()] == rules.movements[role.index()];
    let mut fronts = rules.kinds().map(|kind| Role(kind.0));
    fronts.find(alike).filter(|_| is_back && rules.droppable.is_empty())
}

impl Move {
    /// Reads a legal move. Where turning over is no choice, its sign may be left out; a `=` says
    /// that a piece does not turn.
    ///
    /// # Errors
    /// When the text is no move, or the move is not legal; the error says why.
    pub fn from_uci(rules: &Rules, position: &Position, text: &str) -> Result<Move, UsiError> {
        let usi = usi_text(rules, text).ok_or_else(|| UsiError::Uci { text: text.to_owned() })?;
        Move::from_usi(rules, position, &usi)
    }

    /// Writes the move, which must be legal in the position.
    ///
    /// ```
    /// use keiko_rules::{Move, Rules};
    /// let rules = Rules::load("minishogi")?;
    /// let mv = Move::from_usi(&rules, rules.start(), "5d5c")?;
    /// assert_eq!(mv.to_uci(&rules, rules.start()), "a2a3");
    /// assert_eq!(Move::from_uci(&rules, rules.start(), "a2a3"), Ok(mv));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_uci(self, rules: &Rules, position: &Position) -> String {
        match self {
            Move::Board { from, to, turns } => {
                let piece = position.piece_at(from).filter(|_| turns);
                let suffix = piece.map_or(String::new(), |piece| turning_suffix(rules, piece));
                format!("{}{}{suffix}", uci_square(rules, from), uci_square(rules, to))
            }
            Move::Drop { role, to } => {
                format!("{}@{}", rules.role_name(role), uci_square(rules, to))
            }
        }
    }
}

/// What is written behind the move of a piece that turns over.
fn turning_suffix(rules: &Rules, piece: Piece) -> String {
    let Some(face) = rules.other_face(piece.role) else {
        return String::new();
    };
    match stand_in(rules, face) {
        Some(other) => rules.role_name(other).to_lowercase(),
        None if face < piece.role => "-".to_owned(),
        None => "+".to_owned(),
    }
}

/// A square's name: file from the left, rank from the bottom.
pub(crate) fn uci_square(rules: &Rules, square: Square) -> String {
    let (column, rank) = rules.column_and_rank(square);
    format!("{}{}", (b'a' + column as u8) as char, rules.ranks() - rank)
}

/// The same move in USI, if the text has a move's shape and its squares are on the board.
fn usi_text(rules: &Rules, text: &str) -> Option<String> {
    if let Some((face, to)) = text.split_once('@') {
        let (to, rest) = read_square(rules, to)?;
        return rest.is_empty().then(|| format!("{face}*{to}"));
    }
    let (from, rest) = read_square(rules, text)?;
    let (to, suffix) = read_square(rules, rest)?;
    let letter = |role: Role| rules.role_name(role).to_lowercase();
    let becomes = |it: &str| {
        rules.roles().any(|role| stand_in(rules, role).map(letter).as_deref() == Some(it))
    };
    let suffix = match suffix {
        "" | "=" => "",
        "+" | "-" => "+",
        letter if becomes(letter) => "+",
        _ => return None,
    };
    Some(format!("{from}{to}{suffix}"))
}

/// The square a text begins with, in USI, and the rest of the text.
fn read_square<'a>(rules: &Rules, text: &'a str) -> Option<(String, &'a str)> {
    let letter = text.bytes().next().filter(u8::is_ascii_lowercase)?;
    let column = usize::from(letter - b'a');
    let digits = text[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - 1);
    let (number, rest) = text[1..].split_at(digits);
    let rank = rules.ranks().checked_sub(number.parse().ok()?)?;
    let on_board = column < rules.files() && rank < rules.ranks();
    on_board.then(|| (square_text(rules, Square::new(rank * rules.files() + column)), rest))
}
