//! Game records for people: the CSA format's shape, for every board.

use crate::{Color, Game, Move, Outcome, Position, Reason, Rules, Square};

/// A game as a CSA record: CSA proper where the game is shogi, and written alike where it is not
/// (pieces that shogi does not know keep their letters, files and ranks above 9 go on with A).
///
/// ```
/// use keiko_rules::{Game, Move, Rules};
/// let rules = std::sync::Arc::new(Rules::load("shogi")?);
/// let mut game = Game::new(rules.clone());
/// game.play(Move::from_usi(&rules, game.position(), "7g7f")?);
/// assert!(keiko_rules::csa_text(&game, ["A", "B"]).ends_with("\n+\n+7776FU\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn csa_text(game: &Game, players: [&str; 2]) -> String {
    let rules = game.rules();
    let mut text = format!("V2.2\nN+{}\nN-{}\n", players[0], players[1]);
    text += &board(rules, game.start_position());
    let mut position = *game.start_position();
    for mv in game.moves() {
        text += &move_text(rules, &position, mv);
        rules.play(&mut position, mv);
    }
    text + &ending_text(game)
}

fn sign(color: Color) -> char {
    match color {
        Color::Black => '+',
        Color::White => '-',
    }
}

fn square_text(rules: &Rules, square: Square) -> String {
    let (column, rank) = rules.column_and_rank(square);
    [rules.files() - column, rank + 1].map(digit).iter().collect()
}

/// 1 to 9, then A, B, ...
fn digit(number: usize) -> char {
    let digit = char::from_digit(number as u32, 36).expect("a side has at most 26 squares");
    digit.to_ascii_uppercase()
}

fn board(rules: &Rules, position: &Position) -> String {
    let mut text = String::new();
    for rank in 0..rules.ranks() {
        text += &format!("P{}", digit(rank + 1));
        for column in 0..rules.files() {
            let piece = position.piece_at(Square::new(rank * rules.files() + column));
            text += &piece.map_or(" * ".to_owned(), |piece| {
                format!("{}{}", sign(piece.color), rules.csa_name(piece.role))
            });
        }
        text.push('\n');
    }
    for color in Color::BOTH {
        text += &hand(rules, position, color);
    }
    text + &format!("{}\n", sign(position.side_to_move()))
}

/// A hand, piece by piece; nothing where it is empty.
fn hand(rules: &Rules, position: &Position, color: Color) -> String {
    let fronts = rules.roles().take(rules.kinds().count());
    let held: String = fronts
        .map(|front| {
            let piece = format!("00{}", rules.csa_name(front));
            piece.repeat(position.hand(color, rules.kind_of(front)).into())
        })
        .collect();
    if held.is_empty() { held } else { format!("P{}{held}\n", sign(color)) }
}

fn move_text(rules: &Rules, position: &Position, mv: Move) -> String {
    let (from, role) = match mv {
        Move::Drop { role, .. } => ("00".to_owned(), role),
        Move::Board { from, turns, .. } => {
            let role = position.piece_at(from).expect("a move moves a piece").role;
            let turned = rules.other_face(role).filter(|_| turns);
            (square_text(rules, from), turned.unwrap_or(role))
        }
    };
    let to = square_text(rules, mv.to());
    format!("{}{from}{to}{}\n", sign(position.side_to_move()), rules.csa_name(role))
}

fn ending_text(game: &Game) -> String {
    let Some(ending) = game.conclusion() else {
        return String::new();
    };
    let word = match (ending.reason, ending.outcome) {
        (Reason::Mate | Reason::Stalemate, _) => "%TSUMI".to_owned(),
        (Reason::Declaration, _) => "%KACHI".to_owned(),
        (Reason::Repetition, Outcome::Draw) => "%SENNICHITE".to_owned(),
        (Reason::Repetition | Reason::PerpetualCheck, Outcome::Win(winner)) => {
            format!("%{}ILLEGAL_ACTION", sign(winner.opponent()))
        }
        (_, Outcome::Draw) => "%JISHOGI".to_owned(),
        _ => "%TORYO".to_owned(),
    };
    word + "\n"
}
