//! Reading a definition, and everything that can be wrong with it before there is a board.

use crate::definition::{Definition, When};
use crate::rules::RulesError;
use crate::spelling::hint;
use crate::square::MAX_SQUARES;

/// The longest side of a board: ranks are letters.
const MAX_SIDE: u8 = 26;
/// The longest name of a variant: it is part of file names.
const LONGEST_NAME: usize = 64;

impl Definition {
    /// Reads a variant's text.
    pub(crate) fn parse(text: &str, origin: &str) -> Result<Definition, RulesError> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let message = plain(error.message());
            let message = format!("{}{message}{}", key_before(text, start), suggestion(&message));
            RulesError::Syntax { origin: origin.to_owned(), line, message }
        })
    }
}

/// serde's words for types, in the reader's.
fn plain(message: &str) -> String {
    let words = [
        ("expected u8", "expected a whole number from 0 to 255"),
        ("wanted string or table", "expected a text in quotes"),
    ];
    words.iter().fold(message.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
}

/// The key whose value a place in the text belongs to, ready to stand before a message; nothing
/// where the place is not a value.
fn key_before(text: &str, place: usize) -> String {
    let Some(before) = text.get(..place) else {
        return String::new();
    };
    let (earlier, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let Some((name, rest)) = line.split_once('=') else {
        return String::new();
    };
    let section = earlier.lines().rev().find_map(|line| {
        let rest = line.trim().strip_prefix('[')?;
        rest.split(']').next().map(str::trim)
    });
    // Inside an inline table: the last key before the place.
    let inner = rest.rsplit_once('=').map(|(keys, _)| {
        let key = keys.rsplit(['{', ',']).next().unwrap_or_default();
        key.trim().to_owned()
    });
    let keys = section.into_iter().chain([name.trim()]).chain(inner.as_deref());
    format!("{}: ", keys.filter(|key| !key.is_empty()).collect::<Vec<_>>().join("."))
}

/// For serde's "unknown field `a`, expected one of `b`, `c`": the expected word most like it.
fn suggestion(message: &str) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    match words.next() {
        Some(found) if message.starts_with("unknown") => hint(found, words),
        _ => String::new(),
    }
}

/// A definition on its way to rules, with the text that error messages point into.
pub(crate) struct Compiler<'a> {
    pub(crate) definition: &'a Definition,
    pub(crate) text: &'a str,
    pub(crate) origin: &'a str,
}

impl Compiler<'_> {
    /// An error at a key such as `pieces.K.moves`.
    pub(crate) fn error(&self, key: &str, problem: impl Into<String>) -> RulesError {
        RulesError::Invalid {
            origin: self.origin.to_owned(),
            line: line_of(self.text, key),
            key: key.to_owned(),
            problem: problem.into(),
        }
    }

    pub(crate) fn require(
        &self,
        holds: bool,
        key: &str,
        problem: impl Into<String>,
    ) -> Result<(), RulesError> {
        if holds { Ok(()) } else { Err(self.error(key, problem)) }
    }

    /// Checks what can be checked without looking at the board.
    pub(crate) fn check_sections(&self) -> Result<(), RulesError> {
        self.check_name()?;
        self.check_board()?;
        self.check_promotion()?;
        self.check_points()?;
        self.check_drops()
    }

    /// A name becomes part of file names and of protocols.
    fn check_name(&self) -> Result<(), RulesError> {
        let name = &self.definition.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let problem = format!(
            "is \"{name}\"; it must be made of 1 to {LONGEST_NAME} letters, digits, `_` and `-`"
        );
        let length = (1..=LONGEST_NAME).contains(&name.len());
        self.require(length && name.chars().all(plain), "name", problem)
    }

    fn check_points(&self) -> Result<(), RulesError> {
        if self.definition.goals.declaration.is_some() {
            return Ok(());
        }
        let counted = self.definition.pieces.iter().find(|(_, piece)| piece.points.is_some());
        counted.map_or(Ok(()), |(letter, _)| {
            let key = format!("pieces.{letter}.points");
            Err(self.error(&key, "means nothing without `goals.declaration`"))
        })
    }

    fn check_board(&self) -> Result<(), RulesError> {
        let board = self.definition.board;
        for (side, length) in [("files", board.files), ("ranks", board.ranks)] {
            let problem = format!("{side} is {length}; it must be from 1 to {MAX_SIDE}");
            self.require((1..=MAX_SIDE).contains(&length), "board", problem)?;
        }
        let squares = usize::from(board.files) * usize::from(board.ranks);
        let problem = format!(
            "{}x{} has {squares} squares; at most {MAX_SQUARES} are possible",
            board.files, board.ranks
        );
        self.require(squares <= MAX_SQUARES, "board", problem)
    }

    fn check_promotion(&self) -> Result<(), RulesError> {
        let turns = self.definition.pieces.values().any(|piece| piece.promotes.is_some());
        let Some(promotion) = self.definition.promotion else {
            let problem = "is missing, although a piece has `promotes`";
            return self.require(!turns, "promotion", problem);
        };
        self.require(turns, "promotion", "is there, but no piece has `promotes`")?;
        match (promotion.when, promotion.zone) {
            (When::Zone, None) => {
                Err(self.error("promotion.when", "is \"zone\", but `zone` (far ranks) is missing"))
            }
            (When::Zone, Some(zone)) => {
                let ranks = self.definition.board.ranks;
                let problem = format!("is {zone}; it must be from 1 to {ranks}, the board's ranks");
                self.require((1..=ranks).contains(&zone), "promotion.zone", problem)
            }
            (_, Some(_)) => {
                Err(self.error("promotion.zone", "means nothing unless `when = \"zone\"`"))
            }
            (_, None) => {
                let problem = "means nothing unless `when = \"zone\"`: all else turns always";
                self.require(!promotion.forced, "promotion.forced", problem)
            }
        }
    }

    fn check_drops(&self) -> Result<(), RulesError> {
        let Some(drops) = &self.definition.drops else {
            let limited = self.definition.pieces.iter().find(|(_, it)| it.per_file.is_some());
            let Some((letter, _)) = limited else {
                return Ok(());
            };
            let key = format!("pieces.{letter}.per_file");
            return Err(self.error(&key, "limits drops, but there is no [drops]"));
        };
        let problem = "is 0; it must be at least 1";
        self.require(drops.hand_limit != Some(0), "drops.hand_limit", problem)?;
        for (index, letter) in drops.no_mate_by.iter().enumerate() {
            let twice = drops.no_mate_by[..index].contains(letter);
            self.require(!twice, "drops.no_mate_by", format!("has `{letter}` twice"))?;
            let royal = self.definition.pieces.get(letter).is_some_and(|piece| piece.royal);
            let problem = format!("has `{letter}`, which is royal and never in a hand");
            self.require(!royal, "drops.no_mate_by", problem)?;
            let known = self.definition.pieces.contains_key(letter);
            let problem = format!("has `{letter}`, which is none of the pieces {}", self.letters());
            self.require(known, "drops.no_mate_by", problem)?;
        }
        let mates = self.definition.invariants.royal_safe;
        let problem = "speaks of mate, which needs `invariants.royal_safe = true`";
        self.require(drops.no_mate_by.is_empty() || mates, "drops.no_mate_by", problem)
    }

    fn letters(&self) -> String {
        let letters: Vec<&str> = self.definition.pieces.keys().map(String::as_str).collect();
        letters.join(" ")
    }
}

/// The line of a key such as `goals.repetition` or `pieces.K.moves`; where the key itself is
/// not there, that of the nearest section around it or of the first key inside it; else the first.
fn line_of(text: &str, key: &str) -> usize {
    let (mut section, mut best, mut longest, mut child) = (String::new(), None, 0, None);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let name = if let Some(rest) = line.strip_prefix('[') {
            rest.split(']').next().unwrap_or_default().trim().clone_into(&mut section);
            section.clone()
        } else if let Some((name, _)) = line.split_once('=') {
            let name = name.trim().replace('"', "");
            if section.is_empty() { name } else { format!("{section}.{name}") }
        } else {
            continue;
        };
        let inside =
            key.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if inside && name.len() > longest {
            (best, longest) = (Some(index + 1), name.len());
        } else if name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')) {
            child = child.or(Some(index + 1));
        }
    }
    best.or(child).unwrap_or(1)
}
