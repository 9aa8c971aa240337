//! A variant as it is written down: the vocabulary, not yet checked.

use indexmap::IndexMap;
use serde::Deserialize;

/// A variant file, read but not checked. [`Rules`](crate::Rules) is what becomes of it.
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

/// How a game ends; the first that applies decides, in this order.
#[derive(Copy, Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goals {
    /// The side to move has lost its royal piece.
    pub royal_captured: Option<Loses>,
    /// A royal piece stands on its last rank where it cannot be taken.
    pub safe_try: Option<Wins>,
    /// The side to move has no legal move.
    pub no_moves: NoMoves,
    /// A position (board, side to move, hands) occurs again and again.
    pub repetition: Option<RepetitionRule>,
}

/// What becomes of the side that has no move.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoMoves {
    /// It has lost, in check or not.
    Loses,
    /// It has lost when in check; otherwise the game is drawn.
    LosesInCheck,
}

/// The one possible value of keys that name an offence.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loses {
    /// Whoever it happens to has lost.
    Loses,
}

/// The one possible value of keys that name an achievement.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wins {
    /// Whoever achieves it has won.
    Wins,
}

/// What repetition leads to.
#[derive(Copy, Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepetitionRule {
    /// The occurrence that ends the game.
    pub count: u8,
    /// How it ends then.
    pub result: RepetitionResult,
    /// What becomes of a side whose every move between the first and the last of the
    /// occurrences gave check, when the other side's did not; absent: nothing.
    pub perpetual_check: Option<Loses>,
}

/// How plain repetition ends a game.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepetitionResult {
    /// Nobody wins.
    Draw,
    /// Whoever made the game's first move has lost.
    FirstMoverLoses,
}
