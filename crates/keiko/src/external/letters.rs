//! The letters that an engine has for a game's pieces, where they are other ones than ours.
//!
//! Some engines say how their games begin, and a game that begins alike but for the letters tells
//! which is which: where we have a `g` they may have a `+r`. Then their `r` is our `+g`.

use super::Protocol;
use keiko_rules::{Game, Move, Position, Rules};
use std::collections::BTreeMap;

/// A piece's letter in upper case, and whether a `+` stands before it.
type Face = (char, bool);

/// Which letters of an engine stand for ours.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Letters {
    /// For each of our letters theirs, and whether their front is our back.
    theirs: BTreeMap<char, (char, bool)>,
}

impl Letters {
    /// The letters by which two start positions, SFEN or FEN, are one. `None` where there are none
    /// such.
    pub(super) fn between(ours: &str, theirs: &str) -> Option<Letters> {
        let (ours, theirs) = (squares(ours), squares(theirs));
        let mut letters = BTreeMap::new();
        for pair in ours.iter().zip(&theirs) {
            let known = match pair {
                (None, None) => continue,
                (Some((one, black)), Some((other, also_black))) if black == also_black => {
                    let counterpart = (other.0, one.1 != other.1);
                    *letters.entry(one.0).or_insert(counterpart) == counterpart
                }
                _ => false,
            };
            if !known {
                return None;
            }
        }
        let mut taken: Vec<char> = letters.values().map(|&(letter, _)| letter).collect();
        taken.sort_unstable();
        taken.dedup();
        let is_one = ours.len() == theirs.len() && taken.len() == letters.len();
        is_one.then_some(Letters { theirs: letters })
    }

    /// A position as the engine writes it: an SFEN, or a FEN with hands in brackets.
    pub(crate) fn position(&self, text: &str) -> String {
        let (placement, rest) = text.split_once(' ').unwrap_or((text, ""));
        if let Some((board, hands)) = placement.split_once('[') {
            return format!("{}[{} {rest}", self.board(board), self.hands(hands));
        }
        let mut words: Vec<String> = rest.split(' ').map(str::to_owned).collect();
        if let [_, hands, ..] = &mut words[..] {
            *hands = self.hands(hands);
        }
        format!("{} {}", self.board(placement), words.join(" "))
    }

    fn board(&self, text: &str) -> String {
        let mut board = String::new();
        let mut plus = false;
        for letter in text.chars() {
            if letter == '+' {
                plus = true;
            } else {
                let (other, turned) = self.counterpart(letter);
                let is_back = std::mem::take(&mut plus) != turned;
                board.extend(is_back.then_some('+'));
                board.push(other);
            }
        }
        board
    }

    /// Pieces in hand show no face.
    fn hands(&self, text: &str) -> String {
        text.chars().map(|letter| self.counterpart(letter).0).collect()
    }

    /// Their letter, in the same case, and whether their front is our back.
    fn counterpart(&self, letter: char) -> (char, bool) {
        let (other, turned) =
            self.theirs.get(&letter.to_ascii_uppercase()).copied().unwrap_or((letter, false));
        (if letter.is_ascii_lowercase() { other.to_ascii_lowercase() } else { other }, turned)
    }

    /// A move of a position, written by us as `text`, as the engine writes it. `+` turns a piece to
    /// what is the back in its letters, `-` to the front.
    pub(crate) fn mv(&self, rules: &Rules, position: &Position, mv: Move, text: &str) -> String {
        match mv {
            Move::Drop { .. } => {
                let at = text.find(['*', '@']).unwrap_or(0);
                self.board(&text[..at]) + &text[at..]
            }
            Move::Board { from, turns: true, .. } => {
                let piece = position.piece_at(from).expect("a move moves a piece");
                let was_back = self.board(rules.role_name(piece.role)).starts_with('+');
                match text.strip_suffix(['+', '-']) {
                    Some(squares) => squares.to_owned() + if was_back { "-" } else { "+" },
                    None => text.to_owned(),
                }
            }
            Move::Board { .. } => text.to_owned(),
        }
    }

    /// A move of the engine's in our letters; how it turns is left as it is.
    pub(crate) fn ours(&self, text: &str) -> String {
        let Some(at) = text.find(['*', '@']) else {
            return text.to_owned();
        };
        let theirs = text[..at].trim_start_matches('+');
        let plus = text.starts_with('+');
        let mut known = self.theirs.iter();
        let known = known.find(|(_, (letter, _))| letter.to_string() == theirs);
        let (ours, turned) = known
            .map_or((theirs.to_owned(), false), |(ours, &(_, turned))| (ours.to_string(), turned));
        let plus = if plus != turned { "+" } else { "" };
        format!("{plus}{ours}{}", &text[at..])
    }
}

/// A game's start and its moves, as an engine writes them.
pub(crate) fn written(
    protocol: Protocol,
    letters: Option<&Letters>,
    game: &Game,
) -> (String, Vec<String>) {
    let rules = game.rules();
    let mut position = *game.start_position();
    let start = match protocol {
        Protocol::Usi => position.to_sfen(rules),
        Protocol::Uci | Protocol::XBoard => position.to_fen(rules),
    };
    let write = |mv: Move| {
        let text = match protocol {
            Protocol::Usi => mv.to_usi(rules),
            Protocol::Uci | Protocol::XBoard => mv.to_uci(rules, &position),
        };
        let text = match letters {
            Some(letters) => letters.mv(rules, &position, mv, &text),
            None => text,
        };
        rules.play(&mut position, mv);
        text
    };
    let moves = game.moves().map(write).collect();
    (letters.map_or(start.clone(), |letters| letters.position(&start)), moves)
}

/// What stands on each square of a position, and whether it is Black's; a rank ends like an empty
/// square of its own.
fn squares(position: &str) -> Vec<Option<(Face, bool)>> {
    let board = position.split([' ', '[']).next().unwrap_or_default();
    let (mut squares, mut plus, mut empty) = (Vec::new(), false, 0);
    for letter in board.chars() {
        if let Some(digit) = letter.to_digit(10) {
            empty = (10 * empty + digit as usize).min(MOST_SQUARES);
            continue;
        }
        squares.extend(std::iter::repeat_n(None, std::mem::take(&mut empty)));
        match letter {
            '+' => plus = true,
            '/' => squares.push(None),
            letter => {
                let face = (letter.to_ascii_uppercase(), std::mem::take(&mut plus));
                squares.push(Some((face, letter.is_ascii_uppercase())));
            }
        }
    }
    squares.extend(std::iter::repeat_n(None, empty));
    squares
}

/// More than a board has.
const MOST_SQUARES: usize = 1000;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_alike_is_one_game() {
        let between = Letters::between("kbgs/p3/4/3P/SGBK b - 1", "kb+r+l/p3/4/3P/+L+RBK[-] w 0 1");
        let letters = between.unwrap();
        assert_eq!(
            letters.position("3+g/Pk2/1+g+b1/1+s2/2K1 w b2sp 1"),
            "3r/Pk2/1r+b1/1l2/2K1 w b2lp 1"
        );
        assert_eq!(letters.position("k3/G3/4/4/3K[SGg] w - - 0 1"), "k3/+R3/4/4/3K[LRr] w - - 0 1");
        for (theirs, ours) in
            [("+L*3c", "S*3c"), ("R@c3", "+G@c3"), ("+P*1a", "+P*1a"), ("4d4c-", "4d4c-")]
        {
            assert_eq!(letters.ours(theirs), ours);
        }
        let start = "rbsgk/4p/5/P4/KGSBR b - 1";
        assert_eq!(Letters::between(start, start).unwrap().position(start), start);
        for other in [
            "rbsgk/4p/5/P4/KGSBR1 b - 1",
            "rbsgk/4p/5/P4/KGGBR b - 1",
            "rbsgk/4p/5/P4/KPSBR b - 1",
            "rbsgk/4P/5/P4/KGSBR b - 1",
            "rbsgk/5/5/5/KGSBR b - 1",
            "rbsgk/4p/5/P4",
        ] {
            assert_eq!(Letters::between(start, other), None, "{other}");
        }
    }

    #[test]
    fn moves_turn_to_the_engines_faces() {
        let rules = Rules::load("microshogi").unwrap();
        let letters = Letters::between(rules.start_sfen(), "kb+r+l/p3/4/3P/+L+RBK w").unwrap();
        for (sfen, usi, theirs) in [
            ("k2s/p3/+g3/G3/3K b - 1", "4d4c+", "4d4c-"),
            ("k2s/p3/+g3/+G3/3K b - 1", "4d4c+", "4d4c+"),
            ("k2s/p3/g3/B3/3K b - 1", "4d3c", "4d3c"),
            ("k3/p3/4/4/3K b S 1", "+S*2b", "L*2b"),
        ] {
            let position = Position::from_sfen(&rules, sfen).unwrap();
            let mv = Move::from_usi(&rules, &position, usi).unwrap();
            let text = letters.mv(&rules, &position, mv, &mv.to_usi(&rules));
            assert_eq!(text, theirs);
            assert_eq!(Move::from_usi(&rules, &position, &letters.ours(&text)), Ok(mv));
        }
    }
}
