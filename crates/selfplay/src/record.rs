//! Games as they are stored: everything a training sample or a reader can want, no tensors.

use crate::Wdl;
use keiko_rules::{Color, Ending, Game, Move, Outcome, Reason, Rules, SfenError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One self-play game. With its rules it can be replayed ply by ply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameRecord {
    /// The game's number in its run: with the experiment and its seed it fixes everything else.
    pub number: u64,
    /// Hash of the compiled rules it was played by.
    pub rules_hash: u64,
    /// The learner step of the network that played both sides.
    pub network: u64,
    /// Where the game began.
    pub start: Start,
    /// The searched moves, in order, after the opening moves of `start`.
    pub plies: Vec<Ply>,
    /// The result and how it came about.
    pub ending: Ending,
}

/// Where a game began: a position and moves played without search, so that the repetition
/// state survives.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// How it was chosen.
    pub kind: StartKind,
    /// The position before the opening moves.
    pub sfen: String,
    /// Moves played without search; the first searched ply is `opening.len()`.
    pub opening: Vec<Move>,
}

/// How a game's start was chosen. Stored games number the kinds in this order: new ones go to the
/// end.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub enum StartKind {
    /// The rules' start position.
    Normal,
    /// One of the rules' handicaps.
    Handicap,
    /// Moves sampled from the network's policy, from the normal start.
    Sampled,
    /// Random legal moves from there.
    Random,
    /// The beginning of an earlier game, up to where its search was most wrong about the result.
    Archive,
}

impl Start {
    /// The game at its first searched ply.
    ///
    /// # Errors
    /// When the position is none of these rules.
    pub fn game(&self, rules: &Arc<Rules>) -> Result<Game, SfenError> {
        let mut game = Game::from_sfen(Arc::clone(rules), &self.sfen)?;
        for &mv in &self.opening {
            game.play(mv);
        }
        Ok(game)
    }

    /// Who made the first move, the opening's included.
    pub fn first_mover(&self) -> Color {
        // The position's SFEN names its side to move.
        if self.sfen.split(' ').nth(1) == Some("w") { Color::White } else { Color::Black }
    }
}

/// One searched move.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ply {
    /// The move played.
    pub mv: Move,
    /// Whether the search was a full one, whose policy is a target.
    pub full: bool,
    /// Simulations spent.
    pub simulations: u32,
    /// The network's own opinion, before search; relative to the side to move.
    pub raw: Wdl,
    /// The search's opinion: improved policy times completed values, without noise.
    pub root: Wdl,
    /// The improved policy over the legal moves; empty after a cheap search.
    pub policy: Vec<(Move, f32)>,
    /// How much the search changed the network's mind: KL(improved policy || prior), in nats.
    pub surprise: f32,
    /// What is proven about the position, if anything.
    pub proof: Option<Proof>,
}

/// A proven result for the side to move.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub enum Proof {
    /// Won in this many plies.
    Win(u16),
    /// Lost in this many plies.
    Loss(u16),
    /// Drawn in this many plies.
    Draw(u16),
}

impl Proof {
    /// What an end of the game, now, proves to the side to move.
    pub fn of_end(value: Wdl) -> Proof {
        match value {
            Wdl::WIN => Proof::Win(0),
            Wdl::LOSS => Proof::Loss(0),
            _ => Proof::Draw(0),
        }
    }

    /// What is certain then, for the side to move.
    pub fn value(self) -> Wdl {
        match self {
            Proof::Win(_) => Wdl::WIN,
            Proof::Loss(_) => Wdl::LOSS,
            Proof::Draw(_) => Wdl::DRAW,
        }
    }

    /// The same as a game's result, where `side` is to move.
    pub fn outcome(self, side: Color) -> Outcome {
        match self {
            Proof::Win(_) => Outcome::Win(side),
            Proof::Loss(_) => Outcome::Win(side.opponent()),
            Proof::Draw(_) => Outcome::Draw,
        }
    }

    /// Plies to that result.
    pub fn plies(self) -> u16 {
        match self {
            Proof::Win(plies) | Proof::Loss(plies) | Proof::Draw(plies) => plies,
        }
    }

    /// What it proves to who made the move before, one ply earlier.
    pub fn before(self) -> Proof {
        match self {
            Proof::Win(plies) => Proof::Loss(plies.saturating_add(1)),
            Proof::Loss(plies) => Proof::Win(plies.saturating_add(1)),
            Proof::Draw(plies) => Proof::Draw(plies.saturating_add(1)),
        }
    }

    /// What a position's moves prove about it, given what is proven of each: the shortest win, or
    /// when nothing is left open a draw, or the longest loss.
    pub(crate) fn of_moves(moves: impl Iterator<Item = Option<Proof>>) -> Option<Proof> {
        let (mut win, mut draw, mut loss, mut open) = (None, None, None, false);
        for proof in moves {
            match proof {
                Some(Proof::Win(plies)) => win = Some(win.map_or(plies, |it: u16| it.min(plies))),
                Some(Proof::Draw(plies)) => draw = draw.max(Some(plies)),
                Some(Proof::Loss(plies)) => loss = loss.max(Some(plies)),
                None => open = true,
            }
        }
        let settled = || draw.map(Proof::Draw).or(loss.map(Proof::Loss)).filter(|_| !open);
        win.map(Proof::Win).or_else(settled)
    }
}

impl GameRecord {
    /// The game at its first searched ply.
    ///
    /// # Errors
    /// When the record's start is not a position of these rules.
    pub fn opening(&self, rules: &Arc<Rules>) -> Result<Game, SfenError> {
        self.start.game(rules)
    }

    /// Whose move ply `index`, of the searched ones, is.
    pub fn side_at(&self, index: usize) -> Color {
        let first = self.start.first_mover();
        let even = (self.start.opening.len() + index).is_multiple_of(2);
        if even { first } else { first.opponent() }
    }

    /// Plies that were not played because the result was proven: what the last proof needs,
    /// less the ply it is about.
    pub fn spared(&self) -> usize {
        let last = self.plies.last().filter(|_| self.ending.reason == Reason::Proven);
        let proof = last.and_then(|ply| ply.proof);
        proof.map_or(0, |proof| usize::from(proof.plies()).saturating_sub(1))
    }

    /// Plies from ply `index` to the end of the game, those spared included.
    pub fn plies_left(&self, index: usize) -> usize {
        self.plies.len() + self.spared() - index
    }

    /// Length in plies: opening moves, searched ones, and those spared.
    pub fn len(&self) -> usize {
        self.start.opening.len() + self.plies_left(0)
    }

    /// Whether no move was played at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_prove_their_position() {
        let prove = |moves: &[Option<Proof>]| Proof::of_moves(moves.iter().copied());
        let (win, draw, loss) = (Proof::Win, Proof::Draw, Proof::Loss);
        // One win is enough, and the shortest counts.
        assert_eq!(prove(&[None, Some(win(5)), Some(loss(2)), Some(win(3))]), Some(win(3)));
        // Anything less needs to know every move: the better result, then the longest way.
        assert_eq!(prove(&[Some(draw(4)), None]), None);
        assert_eq!(prove(&[Some(draw(4)), Some(loss(6)), Some(draw(2))]), Some(draw(4)));
        assert_eq!(prove(&[Some(loss(2)), Some(loss(6))]), Some(loss(6)));
        assert_eq!(prove(&[None, None]), None);
        assert_eq!(loss(2).before(), win(3));
        assert_eq!(Proof::of_end(Wdl::LOSS), loss(0));
    }
}
