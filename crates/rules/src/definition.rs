//! A variant as it is written down: the vocabulary, not yet checked.

use crate::goals::Goals;
use indexmap::IndexMap;
use serde::Deserialize;

/// A variant file, read but not checked. [`Rules`](crate::Rules) is what becomes of it.
///
/// The whole vocabulary, 25 keys; those with a star must be there:
///
/// | key | what it says |
/// |---|---|
/// | `name`* | letters, digits, `_` and `-` |
/// | `board.files`*, `board.ranks`* | columns and rows, 121 squares at most |
/// | `start`* | the start position as SFEN |
/// | `pieces.X.moves`* | how piece X (A to Z) moves, in Betza letters (below); pieces stand in hand order |
/// | `pieces.X.promotes` | how its other face moves; absent: it has none |
/// | `pieces.X.royal` | `true` for the one piece that must not be lost |
/// | `pieces.X.per_file` | no drop on a file that has this many own ones, front up |
/// | `pieces.X.points` | what it counts in a declaration; absent: 1 |
/// | `promotion.when`* | what turns a piece: `"zone"` (a move into, inside or out of the zone), `"capture"`, `"move"` (both ways) |
/// | `promotion.zone` | how many far ranks the zone has |
/// | `promotion.forced` | `true`: turning in the zone is no choice |
/// | `drops.faces`* | how captured pieces come back: `"front"` or `"either"` face up; without `[drops]` they are gone |
/// | `drops.hand_limit` | with so many in hand, nothing but a royal piece may be captured |
/// | `drops.no_mate_by` | letters of pieces that may not be dropped to mate |
/// | `invariants.royal_safe` | `true`: no move leaves the mover's royal piece attacked |
/// | `invariants.movable` | `true`: no move or drop leaves a piece where it could never move again |
/// | `goals.royal_captured` | `"loses"`: to lose the royal piece |
/// | `goals.bare_royal` | `"loses"`: to have nothing else, unless the other side can be brought to that at once (a draw) |
/// | `goals.safe_try` | `"wins"`: a royal piece on its last rank that cannot be taken |
/// | `goals.no_moves`* | `"loses"`, or `"loses_in_check"` and else a draw |
/// | `goals.repetition.count`* | the occurrence of a position that ends the game |
/// | `goals.repetition.result`* | `"draw"`, `"first_mover_loses"` (of the game), `"last_mover_loses"` (who completes it) |
/// | `goals.repetition.perpetual_check` | `"loses"`: a side that gave check with every move in between |
/// | `goals.declaration` | the entering king's rule: `"27"`, `"24"`, `"none"`; the camp is the promotion zone |
///
/// `[handicaps]` names further start positions.
///
/// Betza letters: atoms `W F D N A H C Z G` leap (0,1) (1,1) (0,2) (1,2) (2,2) (0,3) (1,3) (2,3)
/// (3,3), `R` and `B` slide like `W` and `F`, `K` is `WF`, `Q` is `RB`; a number after `W F R B K
/// Q` limits a slide. Modifiers before an atom choose directions (`f b l r` forward, backward,
/// left, right; `v s` upright, level) or say that it only moves (`m`) or only captures (`c`). A
/// gold is `WfF`, a silver `FfW`, a shogi knight `ffN`, a chess pawn's step `mfWcfF`.
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
        let source = include_str!("definition.rs");
        let rows = source.lines().filter_map(|line| line.strip_prefix("/// | `"));
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
