//! A variant as it is written down: the vocabulary, not yet checked.

use crate::goals::Goals;
use indexmap::IndexMap;
use serde::Deserialize;

/// A variant file, read but not checked. [`Rules`](crate::Rules) is what becomes of it.
///
#[doc = include_str!("../variants/README.md")]
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The variant's name.
    pub name: String,
    /// The board's size.
    pub board: Board,
    /// The start position, as SFEN.
    pub start: String,
    /// The kinds of piece by their letter, in the order in which a hand is written.
    pub pieces: IndexMap<String, PieceDefinition>,
    /// When pieces turn over; absent: never.
    pub promotion: Option<Promotion>,
    /// How captured pieces come back; absent: never.
    pub drops: Option<Drops>,
    /// What holds after every legal move.
    #[serde(default)]
    pub invariants: Invariants,
    /// How a game ends.
    pub goals: Goals,
    /// Named starts with other material, as SFEN.
    #[serde(default)]
    pub handicaps: IndexMap<String, String>,
}

/// The board's size.
#[derive(Copy, Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Number of files (columns).
    pub files: u8,
    /// Number of ranks (rows).
    pub ranks: u8,
}

/// One kind of piece.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceDefinition {
    /// How its front moves, in Betza letters.
    pub moves: String,
    /// How its back moves, in Betza letters; absent: it never turns over.
    pub promotes: Option<String>,
    /// Whether losing it loses the game.
    #[serde(default)]
    pub royal: bool,
    /// What it counts in a declaration; absent: 1.
    pub points: Option<u8>,
    /// With this many own fronts of this kind on a file, no more may be dropped there.
    pub per_file: Option<u8>,
}

/// When pieces turn over.
#[derive(Copy, Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promotion {
    /// What turns a piece.
    pub when: When,
    /// How many far ranks are the zone, for `when = "zone"`.
    pub zone: Option<u8>,
    /// Whether a piece that may turn in the zone must.
    #[serde(default)]
    pub forced: bool,
}

/// What turns a piece over.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// A move that begins or ends in the zone turns a front to its back.
    Zone,
    /// Every capture turns the capturing piece, both ways.
    Capture,
    /// Every move turns the moving piece, both ways.
    Move,
}

/// How captured pieces come back.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drops {
    /// Which face a dropped piece may show.
    pub faces: Faces,
    /// With this many pieces in hand, nothing but a royal piece may be captured.
    pub hand_limit: Option<u8>,
    /// Kinds that may not be dropped to mate at once.
    #[serde(default)]
    pub no_mate_by: Vec<String>,
}

/// Which face a dropped piece may show.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Faces {
    /// Its front.
    Front,
    /// Either, as the dropper likes.
    Either,
}

/// What holds after every legal move.
#[derive(Copy, Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invariants {
    /// The mover's royal piece cannot be taken.
    #[serde(default)]
    pub royal_safe: bool,
    /// No piece stands where it could never move again, on an empty board.
    #[serde(default)]
    pub movable: bool,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    /// The keys of the table above, sections left out.
    fn documented() -> Vec<String> {
        let source = include_str!("../variants/README.md");
        let rows = source.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = rows.filter_map(|row| row.split(" | ").next());
        let keys = cells.flat_map(|cell| cell.split(", ").map(str::to_owned).collect::<Vec<_>>());
        keys.map(|key| key.trim_matches(['`', '*']).rsplit('.').next().unwrap().to_owned())
            .collect()
    }

    /// What serde expects in place of a key that does not exist, section by section.
    fn known() -> Vec<String> {
        let texts = [
            "x = 1",
            "name = 'a'\nstart = ''\nboard = { x = 1 }",
            "[pieces]\nK = { x = 1 }",
            "[promotion]\nx = 1",
            "[drops]\nx = 1",
            "[invariants]\nx = 1",
            "[goals]\nx = 1",
            "[goals.repetition]\nx = 1",
        ];
        let expected = |text: &&str| {
            let error = toml::from_str::<super::Definition>(text).unwrap_err();
            let words: Vec<String> =
                error.message().split('`').skip(3).step_by(2).map(str::to_owned).collect();
            assert!(error.message().contains("unknown field `x`"), "{error}");
            words
        };
        texts.iter().flat_map(expected).collect()
    }

    #[test]
    fn the_vocabulary_is_documented_in_one_place_and_small() {
        let sections =
            ["board", "pieces", "promotion", "drops", "invariants", "goals", "handicaps"];
        let mut known = known();
        known.retain(|key| !sections.contains(&key.as_str()) && key != "repetition");
        known.sort();
        let mut documented = documented();
        documented.sort();
        assert_eq!(documented, known);
        assert!(known.len() <= 25, "{known:?}");
    }
}
