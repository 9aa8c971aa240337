//! The compiled rules of one game, and how to load them.

use crate::betza::Movement;
use crate::definition::Definition;
use crate::goals::Goals;
use crate::keys::Keys;
use crate::movegen::Turning;
use crate::spelling::hint;
use crate::square::CELLS;
use crate::tables::{Geometry, Mover, PerSquare};
use crate::{Bitboard, Color, Kind, Move, Piece, Position, Role, Square};

/// The variants that are part of the program: name and definition.
const EMBEDDED: [(&str, &str); 11] = [
    ("minishogi", include_str!("../variants/minishogi.toml")),
    ("microshogi", include_str!("../variants/microshogi.toml")),
    ("doubutsu", include_str!("../variants/doubutsu.toml")),
    ("doubutsu_h5", include_str!("../variants/doubutsu_h5.toml")),
    ("gorogoroplus", include_str!("../variants/gorogoroplus.toml")),
    ("judkins", include_str!("../variants/judkins.toml")),
    ("kyoto", include_str!("../variants/kyoto.toml")),
    ("tori", include_str!("../variants/tori.toml")),
    ("shatranj", include_str!("../variants/shatranj.toml")),
    ("shogi", include_str!("../variants/shogi.toml")),
    ("shogi_h5", include_str!("../variants/shogi_h5.toml")),
];

const NAMES: [&str; EMBEDDED.len()] = {
    let mut names = [""; EMBEDDED.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = EMBEDDED[index].0;
        index += 1;
    }
    names
};

/// Why rules cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// Neither an embedded variant nor a file.
    #[error("there is no variant `{name}`, and no such file{hint}; the variants are {known}")]
    UnknownVariant {
        /// The name asked for.
        name: String,
        /// A suggestion, ready to print.
        hint: String,
        /// The embedded variants.
        known: String,
    },
    /// The file cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Not TOML, or not in the vocabulary.
    #[error("{origin}:{line}: {message}")]
    Syntax {
        /// Where the text came from.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, with a suggestion.
        message: String,
    },
    /// In the vocabulary, but no game.
    #[error("{origin}:{line}: {key}: {problem}")]
    Invalid {
        /// Where the text came from.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// The key at fault, with its section.
        key: String,
        /// What was found there, and what is allowed.
        problem: String,
    },
}

/// The rules of one game, compiled to tables: immutable, and the same for all positions.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) hash: u64,
    pub(crate) start: Position,
    pub(crate) start_sfen: String,
    pub(crate) handicaps: Vec<(String, String)>,
    pub(crate) geometry: Geometry,
    pub(crate) files: Vec<Bitboard>,
    pub(crate) last_ranks: [Bitboard; 2],
    pub(crate) kind_names: Vec<String>,
    pub(crate) role_names: Vec<String>,
    pub(crate) kinds_of_roles: Vec<Kind>,
    pub(crate) royal_kind: Kind,
    /// By role: its mirror image, where every role has one.
    pub(crate) mirror_roles: Option<Vec<Role>>,
    /// By kind: what it counts in a declaration.
    pub(crate) points: Vec<u8>,
    /// By role.
    pub(crate) movements: Vec<Movement>,
    pub(crate) hand_maxima: Vec<u8>,
    /// By [`Piece::index`].
    pub(crate) movers: Vec<Mover>,
    /// By side: from where its pieces could go to a square on an empty board.
    pub(crate) reach: Box<[PerSquare; 2]>,
    /// By side: from where the enemy could reach its royal piece or the squares it can go to.
    pub(crate) threat_zones: Box<[PerSquare; 2]>,
    pub(crate) keys: Keys,
    pub(crate) turning: Turning,
    /// Faces that may be dropped, in hand order.
    pub(crate) droppable: Vec<Role>,
    /// By role: how many a file may hold before a drop is refused.
    pub(crate) per_file: Vec<Option<u8>>,
    pub(crate) no_mate_by: Vec<Kind>,
    pub(crate) hand_limit: Option<u8>,
    pub(crate) royal_safe: bool,
    pub(crate) movable: bool,
    pub(crate) goals: Goals,
}

impl Rules {
    /// Loads an embedded variant by its name, or any variant from a TOML file.
    ///
    /// # Errors
    /// When there is no such variant or file, or its text is not a game.
    pub fn load(name_or_path: &str) -> Result<Rules, RulesError> {
        if let Some((name, text)) = EMBEDDED.iter().find(|(name, _)| *name == name_or_path) {
            return Rules::from_toml(text, name);
        }
        let path = std::path::Path::new(name_or_path);
        let is_path = path.components().count() > 1 || path.extension().is_some();
        if !is_path && !path.exists() {
            return Err(RulesError::UnknownVariant {
                name: name_or_path.to_owned(),
                hint: hint(name_or_path, NAMES),
                known: NAMES.join(", "),
            });
        }
        let text = std::fs::read_to_string(path)
            .map_err(|source| RulesError::Unreadable { path: name_or_path.to_owned(), source })?;
        Rules::from_toml(&text, name_or_path)
    }

    /// Compiles a variant's text; `origin` says in error messages where it came from.
    ///
    /// # Errors
    /// When the text is not a game.
    pub fn from_toml(text: &str, origin: &str) -> Result<Rules, RulesError> {
        crate::compile::compile(Definition::parse(text, origin)?, text, origin)
    }

    /// The names of the embedded variants.
    pub fn variants() -> &'static [&'static str] {
        &NAMES
    }

    /// The text these rules were compiled from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The variant's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of files (columns).
    pub fn files(&self) -> usize {
        self.geometry.files
    }

    /// Number of ranks (rows).
    pub fn ranks(&self) -> usize {
        self.geometry.ranks
    }

    /// Number of squares.
    pub fn squares(&self) -> usize {
        self.geometry.files * self.geometry.ranks
    }

    /// A square's column, from the left, and rank, from the top, as Black sees them.
    pub fn column_and_rank(&self, square: Square) -> (usize, usize) {
        (square.index() % self.files(), square.index() / self.files())
    }

    /// A hash of the compiled rules: comments, spacing, the order of keys and other spellings of
    /// the same movement change nothing, nor do name and handicaps. Pieces are numbered in the
    /// order in which they are written, so their order is part of it.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The start position.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The start position as SFEN.
    pub fn start_sfen(&self) -> &str {
        &self.start_sfen
    }

    /// The named starts with other material: name and SFEN.
    pub fn handicaps(&self) -> impl Iterator<Item = (&str, &str)> {
        self.handicaps.iter().map(|(name, sfen)| (name.as_str(), sfen.as_str()))
    }

    /// All kinds of piece, in hand order.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + use<> {
        (0..self.kind_names.len() as u8).map(Kind)
    }

    /// All roles: fronts in kind order, then backs in kind order.
    pub fn roles(&self) -> impl Iterator<Item = Role> + use<> {
        (0..self.role_names.len() as u8).map(Role)
    }

    /// What a piece of this role is in hand.
    #[inline]
    pub fn kind_of(&self, role: Role) -> Kind {
        self.kinds_of_roles[role.index()]
    }

    /// The role a piece shows after turning over, if it ever can.
    pub fn other_face(&self, role: Role) -> Option<Role> {
        self.mover(Piece { color: Color::Black, role }).other
    }

    /// The role's letters as Black's: `R`, `+R`.
    pub fn role_name(&self, role: Role) -> &str {
        &self.role_names[role.index()]
    }

    /// The kind's letter as Black's.
    pub fn kind_name(&self, kind: Kind) -> &str {
        &self.kind_names[kind.index()]
    }

    /// Whether losing such a piece loses the game.
    #[inline]
    pub fn is_royal(&self, role: Role) -> bool {
        self.kind_of(role) == self.royal_kind
    }

    /// How many pieces of a kind the start position has, or 0 where they never get into a hand.
    pub fn hand_maximum(&self, kind: Kind) -> u8 {
        self.hand_maxima[kind.index()]
    }

    /// Whether a captured piece of this kind comes to the captor's hand.
    #[inline]
    pub(crate) fn goes_to_hand(&self, kind: Kind) -> bool {
        kind != self.royal_kind && !self.droppable.is_empty()
    }

    /// Whether no legal move leaves the mover's royal piece attacked.
    pub fn has_check(&self) -> bool {
        self.royal_safe
    }

    /// Whether a player may decide if a piece turns over: two legal moves may differ in that
    /// alone.
    pub fn turning_is_a_choice(&self) -> bool {
        matches!(self.turning, Turning::Zone { forced: false, .. })
    }

    /// Makes a move, which must be legal.
    #[inline]
    pub fn play(&self, position: &mut Position, mv: Move) {
        position.play(self, mv);
    }

    /// The occurrence of a position that ends the game.
    pub fn repetition_count(&self) -> Option<u8> {
        self.goals.repetition.map(|rule| rule.count)
    }

    /// Who loses by plain repetition, given who made the game's first move and who makes the
    /// one that completes the repetition; nobody where it is a draw, or nothing.
    pub fn repetition_loser(&self, first_mover: Color, last_mover: Color) -> Option<Color> {
        self.goals.repetition_loser(first_mover, last_mover)
    }

    /// Whether a side that gives check again and again loses by the repetition.
    pub fn perpetual_check_loses(&self) -> bool {
        self.goals.repetition.is_some_and(|rule| rule.perpetual_check.is_some())
    }

    /// The tables of a piece.
    #[inline]
    pub(crate) fn mover(&self, piece: Piece) -> &Mover {
        &self.movers[piece.index()]
    }

    /// Fills the tables that depend on all pieces together.
    pub(crate) fn connect(&mut self) {
        for color in Color::BOTH {
            for role in self.roles() {
                for from in self.geometry.all {
                    for to in self.far_targets(Piece { color, role }, from) {
                        self.reach[color.index()][to.index()].insert(from);
                    }
                }
            }
        }
        for color in Color::BOTH {
            self.threat_zones[color.index()] = self.threat_zone(color);
        }
    }

    fn threat_zone(&self, color: Color) -> PerSquare {
        let reach = &self.reach[color.opponent().index()];
        let royals: Vec<Role> = self.roles().filter(|&role| self.is_royal(role)).collect();
        let mut zones = [Bitboard::EMPTY; CELLS];
        for at in self.geometry.all {
            let near = royals.iter().fold(Bitboard::of(at), |near, &role| {
                near | self.far_targets(Piece { color, role }, at)
            });
            zones[at.index()] =
                near.iter().fold(Bitboard::EMPTY, |zone, to| zone | reach[to.index()]);
        }
        zones
    }

    /// Every square a piece could ever go to from a square.
    pub(crate) fn far_targets(&self, piece: Piece, from: Square) -> Bitboard {
        let [quiet, captures] = self.mover(piece).everywhere(&self.geometry, from);
        quiet | captures
    }
}
