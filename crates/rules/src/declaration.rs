//! The entering king: when royal pieces have come through, pieces are counted.
//!
//! The camp is the promotion zone. A side may declare when its royal piece stands in the camp
//! and is not attacked, with at least [`CAMP_PIECES`] other pieces there; what those pieces and
//! its hand count then decides. A declaration is not a move: it is made instead of one.

use crate::movegen::Turning;
use crate::{Bitboard, Color, Ending, Kind, Outcome, Position, Reason, Rules};
use serde::Deserialize;

/// How many pieces a side that declares must have in the camp, the royal one aside.
const CAMP_PIECES: usize = 10;
/// What Black needs by the 27 rule; White moves second and needs one less.
const BLACK_WINS: u32 = 28;
/// What is enough for a draw by the 24 rule.
const NO_LOSS: u32 = 24;
/// What wins by the 24 rule.
const WINS: u32 = 31;

/// Which rule of declaration holds.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Deserialize)]
pub enum Declaration {
    /// 28 points win for Black, 27 for White.
    #[serde(rename = "27")]
    TwentySeven,
    /// 31 points win, 24 are enough for a draw.
    #[serde(rename = "24")]
    TwentyFour,
    /// There is no declaration.
    #[serde(rename = "none")]
    None,
}

/// What a side that wants to declare is asked for.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct EnteringKing {
    /// Whether its royal piece stands in the camp.
    pub in_camp: bool,
    /// How many of its other pieces stand there.
    pub pieces: usize,
    /// What those pieces and its hand count.
    pub points: u32,
}

impl Declaration {
    /// Its name in a variant's table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Declaration::TwentySeven => "27",
            Declaration::TwentyFour => "24",
            Declaration::None => "none",
        }
    }

    /// The points that a side must have for a declaration to be worth something.
    fn needs(self, color: Color) -> Option<u32> {
        match (self, color) {
            (Declaration::TwentySeven, Color::Black) => Some(BLACK_WINS),
            (Declaration::TwentySeven, Color::White) => Some(BLACK_WINS - 1),
            (Declaration::TwentyFour, _) => Some(NO_LOSS),
            (Declaration::None, _) => None,
        }
    }

    /// Why no game of these rules can ever come to a declaration.
    pub(crate) fn contradiction(self, rules: &Rules) -> Option<String> {
        let needs = Color::BOTH.iter().filter_map(|&color| self.needs(color)).min()?;
        if !rules.royal_safe || !matches!(rules.turning, Turning::Zone { .. }) {
            let problem = "needs a camp, which is the zone of `promotion.when = \"zone\"`, and \
                           `invariants.royal_safe = true`";
            return Some(problem.into());
        }
        let inside = |color: Color| rules.royal_reach(color).meets(rules.camp(color));
        if !Color::BOTH.iter().any(|&color| inside(color)) {
            let royal = rules.kind_name(rules.royal_kind);
            return Some(format!("can never be made: {royal} never gets to the promotion zone"));
        }
        let kinds = rules.kinds().filter(|&kind| kind != rules.royal_kind);
        let most: Vec<(Kind, u32)> = kinds
            .map(|kind| (kind, crate::compile::total(rules, &rules.start, kind).into()))
            .collect();
        let pieces: u32 = most.iter().map(|&(_, count)| count).sum();
        let points: u32 = most.iter().map(|&(kind, count)| count * rules.points(kind)).sum();
        (points < needs || (pieces as usize) < CAMP_PIECES).then(|| {
            format!(
                "can never be made: it takes {CAMP_PIECES} pieces and {needs} points, and all \
                 pieces of the game are {pieces} and count {points}"
            )
        })
    }

    /// The rule as a sentence.
    pub(crate) fn words(self, rules: &Rules) -> Option<String> {
        let royal = rules.kind_name(rules.royal_kind);
        let result = match self {
            Declaration::TwentySeven => "28 points win for Black, 27 for White",
            Declaration::TwentyFour => "31 points win, 24 draw",
            Declaration::None => return None,
        };
        let more: Vec<String> = rules
            .kinds()
            .filter(|&kind| rules.points(kind) != 1 && kind != rules.royal_kind)
            .map(|kind| format!("{} {}", rules.kind_name(kind), rules.points(kind)))
            .collect();
        let points = if more.is_empty() {
            "each piece there and in hand counts 1".to_owned()
        } else {
            format!("pieces there and in hand count {}, others 1", more.join(", "))
        };
        Some(format!(
            "With {royal} in the promotion zone, not attacked, and {CAMP_PIECES} more pieces there, \
             the side to move may declare: {points}; {result}. A game that reaches the ply limit \
             with both {royal} there is counted as well."
        ))
    }
}

impl Rules {
    /// What a piece of this kind counts in a declaration.
    pub fn points(&self, kind: Kind) -> u32 {
        self.points[kind.index()].into()
    }

    /// The squares a side's royal piece has to enter before a declaration.
    pub(crate) fn camp(&self, color: Color) -> Bitboard {
        match self.turning {
            Turning::Zone { zones, .. } => zones[color.index()],
            _ => Bitboard::EMPTY,
        }
    }

    /// How far a side has come towards a declaration.
    pub fn entering_king(&self, position: &Position, color: Color) -> EnteringKing {
        let camp = self.camp(color);
        let royal = position.royal(color);
        let others = camp & position.of_color(color) & !royal.map_or(Bitboard::EMPTY, Bitboard::of);
        EnteringKing {
            in_camp: royal.is_some_and(|at| camp.contains(at)),
            pieces: others.len(),
            points: self.points_on(position, others) + self.points_in_hand(position, color),
        }
    }

    /// What a declaration by the side to move, made instead of a move, would bring it: by the 27
    /// rule a win, by the 24 rule a win or a draw. Nothing where it may not declare, or would
    /// lose by it.
    pub fn declaration(&self, position: &Position) -> Option<Ending> {
        let rule = self.goals.declaration?;
        let us = position.side;
        let needs = rule.needs(us)?;
        let king = self.entering_king(position, us);
        let may = king.in_camp && king.pieces >= CAMP_PIECES && king.points >= needs;
        if !may || self.in_check(position) {
            return None;
        }
        let draws = rule == Declaration::TwentyFour && king.points < WINS;
        let outcome = if draws { Outcome::Draw } else { Outcome::Win(us) };
        Some(Ending { outcome, reason: Reason::Declaration })
    }

    /// All that a side has, on the board and in hand, the royal piece aside.
    pub fn count_points(&self, position: &Position, color: Color) -> u32 {
        let royal = position.royal(color).map_or(Bitboard::EMPTY, Bitboard::of);
        self.points_on(position, position.of_color(color) & !royal)
            + self.points_in_hand(position, color)
    }

    /// How a game is decided that may not go on, when both royal pieces have come through.
    pub fn adjudicate(&self, position: &Position) -> Option<Outcome> {
        let rule = self.goals.declaration?;
        let through =
            |&color: &Color| position.royal(color).is_some_and(|at| self.camp(color).contains(at));
        if !Color::BOTH.iter().all(through) {
            return None;
        }
        let [black, white] = Color::BOTH.map(|color| self.count_points(position, color));
        match rule {
            Declaration::TwentySeven if black >= BLACK_WINS => Some(Outcome::Win(Color::Black)),
            Declaration::TwentySeven => Some(Outcome::Win(Color::White)),
            Declaration::TwentyFour if black < NO_LOSS && white < NO_LOSS => Some(Outcome::Draw),
            Declaration::TwentyFour if white < NO_LOSS => Some(Outcome::Win(Color::Black)),
            Declaration::TwentyFour if black < NO_LOSS => Some(Outcome::Win(Color::White)),
            Declaration::TwentyFour => Some(Outcome::Draw),
            Declaration::None => None,
        }
    }

    fn points_on(&self, position: &Position, squares: Bitboard) -> u32 {
        let pieces = squares.iter().filter_map(|at| position.piece_at(at));
        pieces.map(|piece| self.points(self.kind_of(piece.role))).sum()
    }

    fn points_in_hand(&self, position: &Position, color: Color) -> u32 {
        self.kinds().map(|kind| self.points(kind) * u32::from(position.hand(color, kind))).sum()
    }
}
