//! Goals: how games end. This is the one place that knows them: their keys, when they are
//! reached, what can be wrong with them, their share of the hash, and their words.

use crate::declaration::Declaration;
use crate::fingerprint::Fnv;
use crate::{Color, Ending, Position, Reason, Rules};
use serde::Deserialize;

/// How a game ends; the first that applies decides, in this order.
#[derive(Copy, Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goals {
    /// The side to move has lost its royal piece.
    pub royal_captured: Option<Loses>,
    /// A side has nothing but its royal piece, and cannot bring the other side to the same at
    /// once; two bare royal pieces are a draw.
    pub bare_royal: Option<Loses>,
    /// A royal piece stands on its last rank where it cannot be taken.
    pub safe_try: Option<Wins>,
    /// The side to move has no legal move.
    pub no_moves: NoMoves,
    /// A position (board, side to move, hands) occurs again and again.
    pub repetition: Option<RepetitionRule>,
    /// Which rule lets the side to move declare that its royal piece has come through.
    pub declaration: Option<Declaration>,
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
    /// Whoever made the move that completes the repetition has lost.
    LastMoverLoses,
}

impl Goals {
    /// The ending that a position brings while there may still be moves to make.
    #[inline]
    pub(crate) fn reached(&self, rules: &Rules, position: &Position) -> Option<Ending> {
        let (us, them) = (position.side, position.side.opponent());
        if self.royal_captured.is_some() && position.royal(us).is_none() {
            return Some(Ending::win(them, Reason::RoyalCaptured));
        }
        if self.bare_royal.is_some()
            && let Some(ending) = bared(position)
        {
            return Some(ending);
        }
        self.safe_try?;
        let safe = |color: Color| {
            let home = rules.last_ranks[color.index()];
            position.royal(color).is_some_and(|at| home.contains(at))
                && !rules.is_royal_attacked(position, color)
        };
        let winner = [them, us].into_iter().find(|&color| safe(color))?;
        Some(Ending::win(winner, Reason::Try))
    }

    /// The ending of a position in which the side to move has no legal move.
    pub(crate) fn without_moves(&self, side: Color, in_check: bool) -> Ending {
        if in_check {
            return Ending::lost_by(Some(side), Reason::Mate);
        }
        let loses = self.no_moves == NoMoves::Loses;
        Ending::lost_by(loses.then_some(side), Reason::Stalemate)
    }

    /// Who loses by plain repetition, given who made the game's first move and who makes the
    /// one that completes the repetition; nobody where it is a draw, or nothing.
    pub(crate) fn repetition_loser(&self, first_mover: Color, last_mover: Color) -> Option<Color> {
        match self.repetition?.result {
            RepetitionResult::Draw => None,
            RepetitionResult::FirstMoverLoses => Some(first_mover),
            RepetitionResult::LastMoverLoses => Some(last_mover),
        }
    }

    /// Goals that no game of these rules can ever reach, or that exclude each other: the key and
    /// what is wrong with it.
    pub(crate) fn contradiction(&self, rules: &Rules) -> Option<(&'static str, String)> {
        if self.royal_captured.is_some() && rules.royal_safe {
            let problem = "never happens while `invariants.royal_safe` holds; drop one of the two";
            return Some(("goals.royal_captured", problem.into()));
        }
        if self.royal_captured.is_none() && !rules.royal_safe {
            let problem = "needs `royal_captured = \"loses\"`, or else `invariants.royal_safe = \
                           true`: otherwise nothing happens when a royal piece is taken";
            return Some(("goals", problem.into()));
        }
        let captures = rules.movements.iter().any(|movement| !movement.captures.is_empty());
        let problem = "can never happen: no piece captures anything";
        if self.royal_captured.is_some() && !captures {
            return Some(("goals.royal_captured", problem.into()));
        }
        if self.bare_royal.is_some() && !captures {
            return Some(("goals.bare_royal", problem.into()));
        }
        let reaches =
            |color: Color| rules.royal_reach(color).meets(rules.last_ranks[color.index()]);
        if self.safe_try.is_some() && !Color::BOTH.iter().any(|&color| reaches(color)) {
            let royal = rules.kind_name(rules.royal_kind);
            let problem = format!("can never happen: {royal} never gets to its last rank");
            return Some(("goals.safe_try", problem));
        }
        self.repetition_contradiction(rules).or_else(|| {
            let problem = self.declaration?.contradiction(rules)?;
            Some(("goals.declaration", problem))
        })
    }

    fn repetition_contradiction(&self, rules: &Rules) -> Option<(&'static str, String)> {
        let rule = self.repetition?;
        if rule.count < 2 {
            let problem = format!("count is {}; it must be at least 2", rule.count);
            return Some(("goals.repetition", problem));
        }
        let problem = "can never happen: no piece ever comes back to where it was";
        (!rules.can_repeat()).then(|| ("goals.repetition", problem.into()))
    }

    /// The goals' share of the rules' hash. Goals that came later add to it only where they are
    /// part of the game, so that other games keep their hash.
    pub(crate) fn hash_into(&self, hash: &mut Fnv) {
        let flags = [
            self.no_moves == NoMoves::Loses,
            self.royal_captured.is_some(),
            self.safe_try.is_some(),
        ];
        hash.bytes(&flags.map(u8::from));
        hash.option(self.repetition.map(|rule| rule.count));
        if let Some(rule) = self.repetition {
            let result = match rule.result {
                RepetitionResult::Draw => 0,
                RepetitionResult::FirstMoverLoses => 1,
                RepetitionResult::LastMoverLoses => 2,
            };
            hash.bytes(&[result, u8::from(rule.perpetual_check.is_some())]);
        }
        if self.bare_royal.is_some() {
            hash.text("bare_royal");
        }
        if let Some(rule) = self.declaration.filter(|&rule| rule != Declaration::None) {
            hash.text("declaration");
            hash.text(rule.name());
        }
    }

    /// How a game ends, a sentence a goal.
    pub(crate) fn words(&self, rules: &Rules) -> Vec<String> {
        let royal = rules.kind_name(rules.royal_kind);
        let mut words = Vec::new();
        if rules.royal_safe {
            words.push(format!("No move may leave the mover's {royal} attacked."));
        }
        if self.royal_captured.is_some() {
            words.push(format!("Whoever loses its {royal} has lost."));
        }
        if self.bare_royal.is_some() {
            words.push(format!(
                "Whoever has nothing but {royal} left has lost, unless it can leave the other side \
                 the same at once: then it is a draw."
            ));
        }
        if self.safe_try.is_some() {
            words.push(format!("A {royal} on its last rank that cannot be taken has won."));
        }
        words.push(match (self.no_moves, rules.royal_safe) {
            (NoMoves::Loses, true) => "No legal move: lost, in check (mate) or not.".into(),
            (NoMoves::Loses, false) => "No legal move: lost.".into(),
            (NoMoves::LosesInCheck, _) => "No legal move: lost in check (mate), else drawn.".into(),
        });
        words.extend(self.repetition.map(repetition_words));
        words.extend(self.declaration.and_then(|rule| rule.words(rules)));
        words
    }
}

fn repetition_words(rule: RepetitionRule) -> String {
    let result = match rule.result {
        RepetitionResult::Draw => "is a draw",
        RepetitionResult::FirstMoverLoses => "loses for whoever made the game's first move",
        RepetitionResult::LastMoverLoses => "loses for whoever brings it about",
    };
    let perpetual = match rule.perpetual_check {
        Some(Loses::Loses) => ", but a side that gave check with every move in between loses",
        None => "",
    };
    format!("Occurrence {} of a position {result}{perpetual}.", rule.count)
}

/// The ending when a side has nothing but its royal piece. The side to move may still bare the
/// other side, if that has one more piece; having moved, it has had its chance.
fn bared(position: &Position) -> Option<Ending> {
    let (us, them) = (position.side, position.side.opponent());
    let pieces = |color| position.of_color(color).len() + position.hand_total(color) as usize;
    let loser = match (pieces(us), pieces(them)) {
        (1, 1) => None,
        (_, 1) => Some(them),
        (1, 3..) => Some(us),
        _ => return None,
    };
    Some(Ending::lost_by(loser, Reason::BareRoyal))
}
