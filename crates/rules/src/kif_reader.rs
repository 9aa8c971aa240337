//! KIF records read back: ours, and those of programs for shogi.

use crate::kif::{board_name, kif_move, number_in_chinese};
use crate::{Color, Game, Kind, Move, Position, Role, Rules, SfenError};
use std::sync::Arc;

/// Why a text is no KIF record of the game.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum KifError {
    /// A line that is not understood.
    #[error("line {line}: {problem}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// It begins from no position of the game.
    #[error("the start: {0}")]
    Start(#[from] SfenError),
    /// It begins from a handicap that it names without a board.
    #[error("it begins from the handicap {0}, and has no board that shows it")]
    Handicap(String),
}

/// The largest number of pieces of a kind in a hand.
const MOST_IN_HAND: usize = 99;

/// What the head of a record says.
#[derive(Default)]
struct Head {
    /// The squares of each rank, as an SFEN has them.
    ranks: Vec<String>,
    /// Both hands, as an SFEN has them.
    hands: [String; 2],
    is_whites_turn: bool,
    handicap: Option<String>,
}

/// Reads the game of a KIF record: its start, and all moves of its main line. Times and comments are
/// left out. A position begins with move 1, for KIF does not say.
///
/// ```
/// use keiko_rules::{Game, Move, Rules, kif_game, kif_text};
/// let rules = std::sync::Arc::new(Rules::load("minishogi")?);
/// let mut game = Game::new(rules.clone());
/// game.play(Move::from_usi(&rules, game.position(), "5d5c")?);
/// let read = kif_game(&rules, &kif_text(&game, ["A", "B"]))?;
/// assert_eq!(read.position(), game.position());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When it is no record, or one of another game; the error names the line.
pub fn kif_game(rules: &Arc<Rules>, text: &str) -> Result<Game, KifError> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let mut head = Head::default();
    let mut game: Option<Game> = None;
    for (index, line) in lines {
        let at = |problem: String| KifError::Line { line: index + 1, problem };
        if line.starts_with("変化") {
            // What might have been played follows.
            break;
        }
        let Some(text) = numbered(line) else {
            if game.is_none() {
                head.read(rules, line).map_err(at)?;
            }
            continue;
        };
        let game = match &mut game {
            Some(game) => game,
            none => none.insert(head.start(rules)?),
        };
        match read_move(game, text).map_err(at)? {
            Some(mv) => game.play(mv),
            None => break,
        }
    }
    game.map_or_else(|| head.start(rules), Ok)
}

/// What stands behind a line's number.
fn numbered(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    (text.len() < line.len() && text.starts_with([' ', '\u{3000}'])).then(|| text.trim())
}

/// The move that a text names; `None` where it says how the game ended.
fn read_move(game: &Game, text: &str) -> Result<Option<Move>, String> {
    const ENDS: [&str; 10] = [
        "投了",
        "中断",
        "詰み",
        "不詰",
        "千日手",
        "持将棋",
        "入玉勝ち",
        "反則勝ち",
        "反則負け",
        "切れ負け",
    ];
    if ENDS.iter().any(|word| text.starts_with(word)) {
        return Ok(None);
    }
    let (rules, position) = (game.rules(), game.position());
    let previous = game.moves().last().map(Move::to);
    let wanted = plain(without_time(text));
    let mut legal = Vec::new();
    rules.legal_moves(position, &mut legal);
    // 同 may stand for the square, or not.
    let found = [previous, None].into_iter().find_map(|previous| {
        let named = |mv: &Move| plain(&kif_move(rules, position, *mv, previous)) == wanted;
        let found: Vec<Move> = legal.iter().copied().filter(named).collect();
        (!found.is_empty()).then_some(found)
    });
    match (found.as_deref(), game.ending()) {
        (_, Some(ending)) => {
            Err(format!("`{text}`: the game is over before it: {}", ending.reason))
        }
        (Some([mv]), None) => Ok(Some(*mv)),
        (Some(_), None) => Err(format!("`{text}` may be more than one move")),
        (None, None) => Err(format!("`{text}` is no legal move of {}", rules.name())),
    }
}

/// A move without the time behind it, such as `( 0:12/00:00:12)`.
fn without_time(text: &str) -> &str {
    let time = text.rfind('(').filter(|&at| text[at..].contains(':'));
    time.map_or(text, |at| &text[..at])
}

/// A move's text without what may be left out, and with one of each two characters that mean the
/// same.
fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    text.replace("不成", "").replace('竜', "龍").replace('王', "玉")
}

impl Head {
    fn read(&mut self, rules: &Rules, line: &str) -> Result<(), String> {
        if let Some(row) = line.strip_prefix('|') {
            self.ranks.push(read_rank(rules, row)?);
        } else if let Some((whose, hand)) = line.split_once("の持駒：") {
            let color = match whose.trim() {
                "先手" | "下手" => Color::Black,
                "後手" | "上手" => Color::White,
                _ => return Err(format!("`{whose}` is no side: those are 先手 and 後手")),
            };
            self.hands[color.index()] = read_hand(rules, hand, color)?;
        } else if ["後手番", "上手番"].contains(&line.trim()) {
            self.is_whites_turn = true;
        } else if let Some(handicap) = line.strip_prefix("手合割：") {
            let handicap = handicap.trim();
            self.handicap =
                (!["平手", "その他", ""].contains(&handicap)).then(|| handicap.to_owned());
        }
        Ok(())
    }

    fn start(&self, rules: &Arc<Rules>) -> Result<Game, KifError> {
        match (&self.handicap, self.ranks.is_empty()) {
            (Some(name), true) => return Err(KifError::Handicap(name.clone())),
            (None, true) => return Ok(Game::new(Arc::clone(rules))),
            (_, false) => {}
        }
        let side = if self.is_whites_turn { 'w' } else { 'b' };
        let hands = self.hands.concat();
        let hands = if hands.is_empty() { "-" } else { &hands };
        let sfen = format!("{} {side} {hands} 1", self.ranks.join("/"));
        Ok(Game::from_position(Arc::clone(rules), Position::from_sfen(rules, &sfen)?))
    }
}

/// A rank as an SFEN has it, from the cells of a board: `v` or a space, and a piece.
fn read_rank(rules: &Rules, row: &str) -> Result<String, String> {
    let cells = row.split('|').next().unwrap_or_default();
    let mut letters = cells.chars();
    let mut rank = String::new();
    while let Some(mark) = letters.next() {
        let mut name: String = letters.next().into_iter().collect();
        // Letters take two places: `P ` or `+P`.
        if name.is_ascii() {
            name.extend(letters.next());
        }
        let name = plain(&name);
        if name == "・" {
            rank.push('1');
            continue;
        }
        let role = only(rules.roles(), &name, |role| plain(board_name(rules, role)))?;
        rank += &in_case(rules.role_name(role), mark == 'v');
    }
    Ok(joined(&rank))
}

/// A rank in which empty squares are counted.
fn joined(rank: &str) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for letter in rank.chars() {
        if letter == '1' {
            empty += 1;
            continue;
        }
        if empty > 0 {
            text += &std::mem::take(&mut empty).to_string();
        }
        text.push(letter);
    }
    if empty > 0 { text + &empty.to_string() } else { text }
}

/// A hand as an SFEN has it.
fn read_hand(rules: &Rules, hand: &str, color: Color) -> Result<String, String> {
    let mut text = String::new();
    for piece in hand.split_whitespace().filter(|&piece| piece != "なし") {
        let mut letters = piece.chars();
        let name = plain(&letters.by_ref().take(1).collect::<String>());
        let kind: Kind = only(rules.kinds(), &name, |kind| plain(rules.kanji(Role(kind.0))))?;
        let count = letters.as_str();
        let count = match count {
            "" => 1,
            _ => (1..=MOST_IN_HAND)
                .find(|&number| number_in_chinese(number) == count)
                .ok_or_else(|| format!("`{piece}`: `{count}` is no number of pieces"))?,
        };
        text += &format!("{count}{}", in_case(rules.kind_name(kind), color == Color::White));
    }
    Ok(text)
}

fn in_case(name: &str, is_white: bool) -> String {
    if is_white { name.to_ascii_lowercase() } else { name.to_owned() }
}

/// The only one that is called so.
fn only<T: Copy>(
    among: impl Iterator<Item = T>,
    name: &str,
    called: impl Fn(T) -> String,
) -> Result<T, String> {
    let found: Vec<T> = among.filter(|&it| called(it) == name).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(format!("`{name}` is no piece of the game")),
        _ => Err(format!("`{name}` may be more than one piece")),
    }
}
