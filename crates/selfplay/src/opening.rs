//! How games begin: normally, or by their shares in one of the other ways.

use crate::{SelfPlay, StartKind};
use keiko_rules::{Game, Move};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

impl SelfPlay {
    /// Draws how a game begins. While the archive is empty, its share begins with random moves.
    pub(crate) fn draw_kind(&self, rng: &mut ChaCha8Rng) -> StartKind {
        let archive = if self.archive.is_empty() { StartKind::Random } else { StartKind::Archive };
        let shares = [
            (StartKind::Handicap, self.games.handicap_share),
            (StartKind::Sampled, self.games.sampled_opening_share),
            (StartKind::Random, self.games.random_opening_share),
            (archive, self.games.archive_share),
        ];
        let mut left = rng.random_range(0.0..1.0);
        for (kind, share) in shares {
            if left < share {
                return kind;
            }
            left -= share;
        }
        StartKind::Normal
    }

    /// A game as it begins, and how many moves of its opening are still to be sampled from the
    /// network's policy. An opening that ends the game is thrown away and drawn again.
    pub(crate) fn open(&self, kind: StartKind, rng: &mut ChaCha8Rng) -> (Game, u32) {
        loop {
            let game = self.begin(kind, rng);
            if game.conclusion().is_none() {
                let plies = 1..=self.games.sampled_opening_plies;
                let sampled = kind == StartKind::Sampled;
                return (game, if sampled { rng.random_range(plies) } else { 0 });
            }
        }
    }

    fn begin(&self, kind: StartKind, rng: &mut ChaCha8Rng) -> Game {
        let mut game = match kind {
            StartKind::Handicap => self.handicap(rng),
            StartKind::Archive => self.archived(rng),
            _ => Game::new(Arc::clone(&self.rules)),
        };
        game.set_ply_limit(Some(self.games.ply_limit));
        if kind == StartKind::Random {
            let plies = rng.random_range(1..=self.games.random_opening_plies);
            random_moves(&mut game, plies, rng);
        }
        game
    }

    fn handicap(&self, rng: &mut ChaCha8Rng) -> Game {
        let handicaps: Vec<&str> = self.rules.handicaps().map(|(_, sfen)| sfen).collect();
        let sfen = handicaps[rng.random_range(0..handicaps.len())];
        Game::from_sfen(Arc::clone(&self.rules), sfen).expect("handicaps are checked positions")
    }

    fn archived(&self, rng: &mut ChaCha8Rng) -> Game {
        let start = &self.archive[rng.random_range(0..self.archive.len())];
        start.game(&self.rules).expect("an earlier game began from a position of its rules")
    }
}

/// Plays up to `plies` uniformly random legal moves, fewer where the game ends; returns them.
pub fn random_moves(game: &mut Game, plies: u32, rng: &mut ChaCha8Rng) -> Vec<Move> {
    let mut legal = Vec::new();
    let mut played = Vec::new();
    while played.len() < plies as usize && game.conclusion().is_none() {
        game.legal_moves(&mut legal);
        let mv = legal[rng.random_range(0..legal.len())];
        game.play(mv);
        played.push(mv);
    }
    played
}

/// Draws one of these moves by its probability.
pub(crate) fn sample(moves: &[Move], prior: &[f32], rng: &mut impl Rng) -> Move {
    let mut left = rng.random_range(0.0..prior.iter().sum());
    for (&mv, &probability) in moves.iter().zip(prior) {
        if left < probability {
            return mv;
        }
        left -= probability;
    }
    // What rounding left over.
    moves[moves.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, generator};
    use keiko_rules::Square;

    #[test]
    fn moves_are_sampled_by_their_probability() {
        let mv = |to| Move::Board { from: Square::new(0), to: Square::new(to), turns: false };
        let moves = [mv(1), mv(2), mv(3), mv(4)];
        let prior = [0.125, 0.5, 0.0, 0.375];
        let mut rng = generator(1, Purpose::Game, 0);
        let drawn: Vec<Move> = (0..8000).map(|_| sample(&moves, &prior, &mut rng)).collect();
        let counts = moves.map(|mv| drawn.iter().filter(|&&it| it == mv).count());
        for (count, expected) in counts.into_iter().zip([1000, 4000, 0, 3000]) {
            assert!(count.abs_diff(expected) < 150, "{counts:?}");
        }
        assert_eq!(counts[2], 0);
    }
}
