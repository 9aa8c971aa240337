//! Positions as text: SFEN in and out.

use crate::{Color, Kind, Piece, Position, Role, Rules, Square};

/// Why a text is not a position of the game.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum SfenError {
    /// Too few or too many fields.
    #[error(
        "an SFEN has a board, a side, hands and a move number (which may be left out), but this has {found} fields"
    )]
    Fields {
        /// How many there are.
        found: usize,
    },
    /// The wrong number of ranks.
    #[error("the board has {found} ranks; this game has {expected}")]
    Ranks {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A rank of the wrong length.
    #[error("rank {rank} is {found} squares long; this game has {expected} files")]
    Files {
        /// The rank's letter.
        rank: char,
        /// How long it is.
        found: usize,
        /// How long it should be.
        expected: usize,
    },
    /// A letter that is no piece.
    #[error("{place} has `{letter}`, which is none of the pieces {known}")]
    Letter {
        /// Where: a rank, or a hand.
        place: String,
        /// What was found.
        letter: char,
        /// The letters of the game.
        known: String,
    },
    /// A plus sign before something that does not turn over.
    #[error(
        "rank {rank} has `+{letter}`, but only pieces that turn over may have a plus: {allowed}"
    )]
    Plus {
        /// The rank's letter.
        rank: char,
        /// What follows the plus.
        letter: String,
        /// The roles that have one.
        allowed: String,
    },
    /// Something else than `b` or `w` for the side to move.
    #[error("the side to move is `{found}`; it must be `b` or `w`")]
    Side {
        /// What was found.
        found: String,
    },
    /// A hand that cannot be read.
    #[error("the hands `{found}` {problem}")]
    Hands {
        /// The field.
        found: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A move number that is none.
    #[error("the move number is `{found}`; it must be a number from 1")]
    MoveNumber {
        /// What was found.
        found: String,
    },
    /// Too few or too many royal pieces.
    #[error("{color} has {found} pieces `{letter}`; it must have one")]
    Royals {
        /// Whose.
        color: Color,
        /// The royal piece's letter.
        letter: String,
        /// How many.
        found: usize,
    },
    /// A piece stands where it can never move.
    #[error("{piece} on {square} could never move again, which no legal move allows")]
    Immovable {
        /// The piece.
        piece: String,
        /// Its square.
        square: String,
    },
    /// The side that has just moved could lose its royal piece.
    #[error("{color} is in check although the other side is to move")]
    Capturable {
        /// The side that has just moved.
        color: Color,
    },
}

impl Position {
    /// Reads a position.
    ///
    /// # Errors
    /// When the text is no SFEN, or the position cannot occur in this game.
    pub fn from_sfen(rules: &Rules, sfen: &str) -> Result<Position, SfenError> {
        let fields: Vec<&str> = sfen.split_whitespace().collect();
        let (board, side, hands, number) = match fields[..] {
            [board, side, hands] => (board, side, hands, "1"),
            [board, side, hands, number] => (board, side, hands, number),
            _ => {
                return Err(SfenError::Fields { found: fields.len() });
            }
        };
        let mut position = Position::empty();
        read_board(rules, &mut position, board)?;
        match side {
            "b" => {}
            "w" => position.turn_over_the_move(rules),
            _ => {
                return Err(SfenError::Side { found: side.to_owned() });
            }
        }
        read_hands(rules, &mut position, hands)?;
        let number_read = number.parse().ok().filter(|&number| number >= 1);
        position.move_number =
            number_read.ok_or_else(|| SfenError::MoveNumber { found: number.to_owned() })?;
        check(rules, &position)?;
        Ok(position)
    }

    /// Writes the position.
    pub fn to_sfen(&self, rules: &Rules) -> String {
        let ranks: Vec<String> =
            (0..rules.ranks()).map(|rank| self.rank_text(rules, rank)).collect();
        let side = if self.side == Color::Black { 'b' } else { 'w' };
        let hands: String =
            Color::BOTH.iter().map(|&color| hand_text(rules, self, color)).collect();
        let hands = if hands.is_empty() { "-" } else { &hands };
        format!("{} {side} {hands} {}", ranks.join("/"), self.move_number)
    }

    fn rank_text(&self, rules: &Rules, rank: usize) -> String {
        let (mut text, mut empty) = (String::new(), 0);
        for column in 0..rules.files() {
            match self.piece_at(Square::new(rank * rules.files() + column)) {
                None => empty += 1,
                Some(piece) => {
                    if empty > 0 {
                        text += &std::mem::take(&mut empty).to_string();
                    }
                    text += &piece_text(rules, piece);
                }
            }
        }
        if empty > 0 {
            text += &empty.to_string();
        }
        text
    }
}

/// A piece's letters, in its side's case.
pub(crate) fn piece_text(rules: &Rules, piece: Piece) -> String {
    in_case(piece.color, rules.role_name(piece.role))
}

fn in_case(color: Color, name: &str) -> String {
    match color {
        Color::Black => name.to_owned(),
        Color::White => name.to_ascii_lowercase(),
    }
}

/// One side's hand, empty where it has nothing.
pub(crate) fn hand_text(rules: &Rules, position: &Position, color: Color) -> String {
    let mut text = String::new();
    for kind in rules.kinds() {
        let count = position.hand(color, kind);
        if count > 1 {
            text += &count.to_string();
        }
        if count > 0 {
            text += &in_case(color, rules.kind_name(kind));
        }
    }
    text
}

/// The letter of a rank, `a` at the top.
pub(crate) fn rank_letter(rank: usize) -> char {
    (b'a' + rank as u8) as char
}

fn read_board(rules: &Rules, position: &mut Position, text: &str) -> Result<(), SfenError> {
    let ranks: Vec<&str> = text.split('/').collect();
    if ranks.len() != rules.ranks() {
        return Err(SfenError::Ranks { found: ranks.len(), expected: rules.ranks() });
    }
    for (rank, text) in ranks.into_iter().enumerate() {
        let length = read_rank(rules, position, rank, text)?;
        if length != rules.files() {
            let (rank, expected) = (rank_letter(rank), rules.files());
            return Err(SfenError::Files { rank, found: length, expected });
        }
    }
    Ok(())
}

/// Reads a rank; its length.
fn read_rank(
    rules: &Rules,
    position: &mut Position,
    rank: usize,
    text: &str,
) -> Result<usize, SfenError> {
    let (mut column, mut rest) = (0usize, text);
    while let Some(first) = rest.chars().next() {
        if first.is_ascii_digit() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            // A number too large for the board is too large here as well.
            column = column.saturating_add(rest[..digits].parse().unwrap_or(usize::MAX));
            rest = &rest[digits..];
            continue;
        }
        let (piece, tail) = read_piece(rules, rank, rest)?;
        if column < rules.files() {
            position.put(rules, piece, Square::new(rank * rules.files() + column));
        }
        column = column.saturating_add(1);
        rest = tail;
    }
    Ok(column)
}

fn read_piece<'a>(
    rules: &Rules,
    rank: usize,
    text: &'a str,
) -> Result<(Piece, &'a str), SfenError> {
    let plus = text.starts_with('+');
    let letters = text.strip_prefix('+').unwrap_or(text);
    let rank = rank_letter(rank);
    let not_turned = |letter: String| {
        let backs =
            rules.roles().map(|role| rules.role_name(role)).filter(|it| it.starts_with('+'));
        SfenError::Plus { rank, letter, allowed: backs.collect::<Vec<_>>().join(" ") }
    };
    let Some(letter) = letters.chars().next() else {
        return Err(not_turned(String::new()));
    };
    let (kind, color) = read_letter(rules, &format!("rank {rank}"), letter)?;
    let role = if plus { rules.back_of(kind) } else { Some(Role(kind.0)) };
    let role = role.ok_or_else(|| not_turned(letter.to_string()))?;
    Ok((Piece { color, role }, &letters[letter.len_utf8()..]))
}

fn read_letter(rules: &Rules, place: &str, letter: char) -> Result<(Kind, Color), SfenError> {
    let color = if letter.is_ascii_lowercase() { Color::White } else { Color::Black };
    let name = letter.to_ascii_uppercase().to_string();
    let kind = rules.kinds().find(|&kind| rules.kind_name(kind) == name);
    kind.map(|kind| (kind, color)).ok_or_else(|| SfenError::Letter {
        place: place.to_owned(),
        letter,
        known: rules.kind_names.join(" "),
    })
}

fn read_hands(rules: &Rules, position: &mut Position, text: &str) -> Result<(), SfenError> {
    let error =
        |problem: &str| SfenError::Hands { found: text.to_owned(), problem: problem.into() };
    if text == "-" {
        return Ok(());
    }
    let mut digits = String::new();
    for letter in text.chars() {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        let count = if digits.is_empty() { Ok(1) } else { digits.parse::<u8>() };
        let count = count.ok().filter(|count| (1..=99).contains(count));
        let count = count.ok_or_else(|| error("have a count that is not from 1 to 99"))?;
        let (kind, color) = read_letter(rules, "a hand", letter)?;
        if !rules.goes_to_hand(kind) {
            return Err(error(&format!("have `{letter}`, which never gets into a hand")));
        }
        if position.hand(color, kind) > 0 {
            return Err(error(&format!("have `{letter}` twice")));
        }
        position.give(rules, color, kind, count);
        digits.clear();
    }
    if digits.is_empty() { Ok(()) } else { Err(error("end in a count without a letter")) }
}

/// Refuses positions that no game leads to, where the rules would not know what to do.
fn check(rules: &Rules, position: &Position) -> Result<(), SfenError> {
    for color in Color::BOTH {
        check_royal(rules, position, color)?;
    }
    for at in position.occupied() {
        let Some(piece) = position.piece_at(at) else {
            continue;
        };
        if !rules.mover(piece).may_stand.contains(at) {
            let (piece, square) = (piece_text(rules, piece), crate::usi::square_text(rules, at));
            return Err(SfenError::Immovable { piece, square });
        }
    }
    let moved = position.side.opponent();
    if rules.has_check() && rules.is_royal_attacked(position, moved) {
        return Err(SfenError::Capturable { color: moved });
    }
    Ok(())
}

/// One royal piece a side; only a side to move whose royal piece was taken has none.
fn check_royal(rules: &Rules, position: &Position, color: Color) -> Result<(), SfenError> {
    let royal =
        |&at: &Square| position.piece_at(at).is_some_and(|piece| rules.is_royal(piece.role));
    let found = position.of_color(color).iter().filter(royal).count();
    let was_taken = found == 0 && rules.goals.royal_captured.is_some() && color == position.side;
    if found == 1 || was_taken {
        return Ok(());
    }
    let letter = in_case(color, rules.kind_name(rules.royal_kind));
    Err(SfenError::Royals { color, letter, found })
}
