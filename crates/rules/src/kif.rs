//! Game records for people: KIF, with the start as a board.

use crate::{Color, Ending, Game, Move, Outcome, Position, Reason, Role, Rules, Square};

const DIGITS: [&str; 10] = ["０", "１", "２", "３", "４", "５", "６", "７", "８", "９"];
const NUMBERS: [&str; 10] = ["〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"];

/// A game as a KIF record, for reading and for programs that show games of shogi.
///
/// ```
/// use keiko_rules::{Game, Move, Rules};
/// let rules = std::sync::Arc::new(Rules::load("minishogi")?);
/// let mut game = Game::new(rules.clone());
/// game.play(Move::from_usi(&rules, game.position(), "5d5c")?);
/// assert!(keiko_rules::kif_text(&game, ["A", "B"]).contains("   1 ５三歩(54)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn kif_text(game: &Game, players: [&str; 2]) -> String {
    kif_record(game, players, game.conclusion())
}

/// The same of a game that ended so, though no law ends it: resigned, or proven.
pub fn kif_record(game: &Game, players: [&str; 2], ending: Option<Ending>) -> String {
    let rules = game.rules();
    let mut text = format!("# {}\n手合割：その他\n", rules.name());
    text += &board(rules, game.start_position());
    for (color, player) in Color::BOTH.into_iter().zip(players) {
        text += &format!("{}：{player}\n", side(color));
    }
    text += "手数----指手---------消費時間--\n";
    let mut position = *game.start_position();
    let mut previous = None;
    for (number, mv) in game.moves().enumerate() {
        text += &format!("{:>4} {}\n", number + 1, kif_move(rules, &position, mv, previous));
        rules.play(&mut position, mv);
        previous = Some(mv.to());
    }
    if let Some(ending) = ending {
        text += &ending_text(game, ending);
    }
    text
}

fn side(color: Color) -> &'static str {
    match color {
        Color::Black => "先手",
        Color::White => "後手",
    }
}

/// A number in wide digits.
fn wide(number: usize) -> String {
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// A number as it is written in Chinese characters, below 100.
pub(crate) fn number_in_chinese(number: usize) -> String {
    let (tens, ones) = (number / 10, number % 10);
    let tens = match tens {
        0 => String::new(),
        1 => "十".to_owned(),
        _ => format!("{}十", NUMBERS[tens]),
    };
    if ones == 0 && !tens.is_empty() { tens } else { tens + NUMBERS[ones] }
}

/// File and rank, both from 1.
fn numbers(rules: &Rules, square: Square) -> (usize, usize) {
    let (column, rank) = rules.column_and_rank(square);
    (rules.files() - column, rank + 1)
}

/// A move of a position as KIF writes it: where to, what, and where from. `previous` is where the
/// move before went: to the same square is a word of its own.
///
/// ```
/// use keiko_rules::{Move, Rules, kif_move};
/// let rules = Rules::load("minishogi")?;
/// let mv = Move::from_usi(&rules, rules.start(), "5d5c")?;
/// assert_eq!(kif_move(&rules, rules.start(), mv, None), "５三歩(54)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn kif_move(rules: &Rules, position: &Position, mv: Move, previous: Option<Square>) -> String {
    let (file, rank) = numbers(rules, mv.to());
    let to = match previous {
        Some(square) if square == mv.to() => "同　".to_owned(),
        _ => wide(file) + &number_in_chinese(rank),
    };
    match mv {
        Move::Drop { role, .. } => format!("{to}{}打", rules.kanji(role)),
        Move::Board { from, turns, .. } => {
            let role = position.piece_at(from).expect("a move moves a piece").role;
            let is_back = role.index() >= rules.kinds().count();
            let turned = match (turns, is_back) {
                (false, _) => "",
                (true, false) => "成",
                // To its front again, in games that turn pieces both ways.
                (true, true) => "表",
            };
            let (file, rank) = numbers(rules, from);
            // One digit each, unless the board is larger than KIF's.
            let between = if rules.files().max(rules.ranks()) > 9 { "," } else { "" };
            format!("{to}{}{turned}({file}{between}{rank})", rules.kanji(role))
        }
    }
}

fn board(rules: &Rules, position: &Position) -> String {
    let files: String = (1..=rules.files()).rev().map(|file| format!(" {}", wide(file))).collect();
    let edge = format!("+{}+\n", "-".repeat(3 * rules.files()));
    let mut text = hand(rules, position, Color::White);
    text += &format!(" {files}\n{edge}");
    for rank in 0..rules.ranks() {
        let squares = (0..rules.files()).map(|column| Square::new(rank * rules.files() + column));
        let row: String = squares.map(|at| cell(rules, position, at)).collect();
        text += &format!("|{row}|{}\n", number_in_chinese(rank + 1));
    }
    text += &edge;
    text += &hand(rules, position, Color::Black);
    if position.side_to_move() == Color::White { text + "後手番\n" } else { text }
}

/// A square, three columns wide.
fn cell(rules: &Rules, position: &Position, at: Square) -> String {
    let Some(piece) = position.piece_at(at) else {
        return " ・".to_owned();
    };
    let mark = if piece.color == Color::White { 'v' } else { ' ' };
    let name = board_name(rules, piece.role);
    let padding = if name.chars().count() == 1 && name.is_ascii() { " " } else { "" };
    format!("{mark}{name}{padding}")
}

/// A role's name on a board.
pub(crate) fn board_name(rules: &Rules, role: Role) -> &str {
    // Only the last of two characters fits: 成香 is 杏 on a board, and so on.
    match rules.kanji(role) {
        "成香" => "杏",
        "成桂" => "圭",
        "成銀" => "全",
        name => name,
    }
}

fn hand(rules: &Rules, position: &Position, color: Color) -> String {
    let held = rules.kinds().filter(|&kind| position.hand(color, kind) > 0);
    let held: Vec<String> = held
        .map(|kind| match position.hand(color, kind) {
            1 => rules.kanji_of_kind(kind).to_owned(),
            count => rules.kanji_of_kind(kind).to_owned() + &number_in_chinese(count.into()),
        })
        .collect();
    let held = if held.is_empty() { "なし".to_owned() } else { held.join("　") };
    format!("{}の持駒：{held}\n", side(color))
}

/// The last lines: what ended the game, and for whom.
fn ending_text(game: &Game, ending: Ending) -> String {
    let to_move = game.side_to_move();
    let won = |color| ending.outcome == Outcome::Win(color);
    let word = match ending.reason {
        Reason::Mate | Reason::Stalemate => "詰み",
        Reason::Declaration => "入玉勝ち",
        Reason::Repetition if ending.outcome == Outcome::Draw => "千日手",
        Reason::Repetition | Reason::PerpetualCheck if won(to_move) => "反則勝ち",
        Reason::Repetition | Reason::PerpetualCheck => "反則負け",
        _ if ending.outcome == Outcome::Draw => "持将棋",
        // Who is to move has won, without a move to show for it.
        Reason::Proven | Reason::Resignation if won(to_move) => "中断",
        _ => "投了",
    };
    let plies = game.ply();
    let result = match ending.outcome {
        Outcome::Win(color) => format!("{}の勝ち", side(color)),
        Outcome::Draw => word.to_owned(),
    };
    format!("{:>4} {word}\nまで{plies}手で{result}\n", plies + 1)
}
