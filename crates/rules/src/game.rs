//! A game: its positions so far, repetition, and how it ends.

use crate::{Color, Ending, Move, Outcome, Position, Reason, Rules, SfenError};
use std::sync::Arc;

/// What repetition means for the current position.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Repetition {
    /// How often the position has occurred in this game, this time included.
    pub occurrences: u8,
    /// Who would lose by plain repetition of this position; nobody where it is a draw.
    pub loser: Option<Color>,
    /// By [`Color::index`]: how many of that side's latest moves gave check without a break.
    pub series: [u16; 2],
    /// The same, counted from the position's first occurrence: a side that gave check with
    /// every move since then has half as many as plies were played since.
    pub checks: [u16; 2],
}

/// A position and what the game has to remember with it.
#[derive(Clone, Debug)]
struct State {
    position: Position,
    in_check: bool,
    /// The ply at which the same position occurred last.
    previous: Option<usize>,
    occurrences: u8,
    /// The ply at which it occurred first.
    first: usize,
    /// By side: checks without a break.
    series: [u16; 2],
}

/// A game in progress or over, with its whole history.
///
/// ```
/// use keiko_rules::{Game, Move, Rules};
/// let rules = std::sync::Arc::new(Rules::load("minishogi")?);
/// let mut game = Game::new(rules.clone());
/// let mv = Move::from_usi(&rules, game.position(), "5d5c")?;
/// game.play(mv);
/// assert_eq!(game.position().to_sfen(&rules), "rbsgk/4p/P4/5/KGSBR w - 2");
/// assert_eq!(game.ending(), None);
/// assert_eq!(game.undo(), Some(mv));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    rules: Arc<Rules>,
    ply_limit: Option<u32>,
    /// One more than there are moves: the start comes first.
    states: Vec<State>,
    /// The states' keys, close together because repetition looks through them.
    keys: Vec<u64>,
    moves: Vec<Move>,
}

impl Game {
    /// A game from the rules' start position.
    pub fn new(rules: Arc<Rules>) -> Game {
        let start = *rules.start();
        Game::from_position(rules, start)
    }

    /// A game from a position given as SFEN.
    ///
    /// # Errors
    /// When the SFEN is no position of this game.
    pub fn from_sfen(rules: Arc<Rules>, sfen: &str) -> Result<Game, SfenError> {
        let start = Position::from_sfen(&rules, sfen)?;
        Ok(Game::from_position(rules, start))
    }

    /// A game from a position.
    pub fn from_position(rules: Arc<Rules>, position: Position) -> Game {
        let in_check = rules.in_check(&position);
        let start =
            State { position, in_check, previous: None, occurrences: 1, first: 0, series: [0; 2] };
        let keys = vec![position.key()];
        Game { rules, ply_limit: None, states: vec![start], keys, moves: Vec::new() }
    }

    /// Sets the number of plies, from the game's start, at which it is over: a draw, unless the
    /// rules count an entered king.
    pub fn set_ply_limit(&mut self, plies: Option<u32>) {
        self.ply_limit = plies;
    }

    /// The number of plies at which the game is over.
    pub fn ply_limit(&self) -> Option<u32> {
        self.ply_limit
    }

    /// The rules it is played by.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    fn state(&self) -> &State {
        self.states.last().expect("a game has at least its start position")
    }

    /// The current position.
    pub fn position(&self) -> &Position {
        &self.state().position
    }

    /// Whose move it is.
    pub fn side_to_move(&self) -> Color {
        self.position().side_to_move()
    }

    /// Who made, or will make, the game's first move. A game that begins with an even move
    /// number is taken to have been begun by the other side.
    pub fn first_mover(&self) -> Color {
        let start = &self.states[0].position;
        let side = start.side_to_move();
        if start.move_number() % 2 == 1 { side } else { side.opponent() }
    }

    /// How many moves were played.
    pub fn ply(&self) -> usize {
        self.moves.len()
    }

    /// The moves played.
    pub fn moves(&self) -> impl Iterator<Item = Move> {
        self.moves.iter().copied()
    }

    /// The position the game began with.
    pub fn start_position(&self) -> &Position {
        &self.states[0].position
    }

    /// The position the game began with, as SFEN.
    pub fn start_sfen(&self) -> String {
        self.start_position().to_sfen(&self.rules)
    }

    /// Fills `out` with the legal moves: none once the game is over by position. Repetition and
    /// the ply limit do not empty it.
    pub fn legal_moves(&self, out: &mut Vec<Move>) {
        self.rules.legal_moves(self.position(), out);
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.state().in_check
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        let before = self.state();
        let mut position = before.position;
        let mut series = before.series;
        let mover = position.side_to_move().index();
        self.rules.play(&mut position, mv);
        let in_check = self.rules.in_check(&position);
        series[mover] = if in_check { series[mover].saturating_add(1) } else { 0 };
        let previous = self.last_occurrence(position.key());
        let occurrences = previous.map_or(1, |ply| self.states[ply].occurrences.saturating_add(1));
        let first = previous.map_or(self.states.len(), |ply| self.states[ply].first);
        self.states.push(State { position, in_check, previous, occurrences, first, series });
        self.keys.push(position.key());
        self.moves.push(mv);
    }

    fn last_occurrence(&self, key: u64) -> Option<usize> {
        self.keys.iter().rposition(|&earlier| earlier == key)
    }

    /// Takes the last move back.
    pub fn undo(&mut self) -> Option<Move> {
        let mv = self.moves.pop()?;
        self.states.pop();
        self.keys.pop();
        Some(mv)
    }

    /// What repetition means for the current position.
    pub fn repetition(&self) -> Repetition {
        let &State { occurrences, first, series, .. } = self.state();
        // The same side is to move at both ends, so each side made half of the moves.
        let moves_each = u16::try_from((self.ply() - first) / 2).unwrap_or(u16::MAX);
        let checks = series.map(|series| series.min(moves_each));
        Repetition { occurrences, loser: self.repetition_loser(), series, checks }
    }

    /// Who loses when the current position is the one that repetition ends the game with.
    fn repetition_loser(&self) -> Option<Color> {
        let last_mover = self.side_to_move().opponent();
        self.rules.repetition_loser(self.first_mover(), last_mover)
    }

    /// How the game has ended, if it has: by position, then by repetition, then by length.
    pub fn ending(&self) -> Option<Ending> {
        self.rules
            .ending(self.position())
            .or_else(|| self.repetition_ending())
            .or_else(|| self.length_ending())
    }

    fn repetition_ending(&self) -> Option<Ending> {
        let rule = self.rules.goals.repetition?;
        if self.state().occurrences < rule.count {
            return None;
        }
        if let Some(checker) = rule.perpetual_check.and_then(|_| self.perpetual_checker(rule.count))
        {
            return Some(Ending::lost_by(Some(checker), Reason::PerpetualCheck));
        }
        Some(Ending::lost_by(self.repetition_loser(), Reason::Repetition))
    }

    /// The side, if it is one alone, whose every move gave check between the first and the last
    /// of the position's latest `count` occurrences.
    fn perpetual_checker(&self, count: u8) -> Option<Color> {
        let mut first = self.ply();
        for _ in 1..count {
            first = self.states[first].previous?;
        }
        // The same side is to move at both ends, so each side made half of the moves.
        let moves_each = (self.ply() - first) / 2;
        let series = self.state().series;
        let always = |color: Color| usize::from(series[color.index()]) >= moves_each;
        match Color::BOTH.map(always) {
            [true, false] => Some(Color::Black),
            [false, true] => Some(Color::White),
            _ => None,
        }
    }

    fn length_ending(&self) -> Option<Ending> {
        let reached = self.ply_limit.is_some_and(|limit| self.ply() as u64 >= limit.into());
        let outcome = || self.rules.adjudicate(self.position()).unwrap_or(Outcome::Draw);
        reached.then(|| Ending { outcome: outcome(), reason: Reason::PlyLimit })
    }

    /// How the game ends where a side that may declare a win does so before it moves: the way
    /// games are played here. A draw by declaration is never automatic.
    pub fn conclusion(&self) -> Option<Ending> {
        let wins = |ending: &Ending| ending.outcome != Outcome::Draw;
        self.ending().or_else(|| self.rules.declaration(self.position()).filter(wins))
    }
}
