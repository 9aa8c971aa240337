//! The replay window: the newest games, decoded, and the samples drawn from them.

use keiko_network::{Batch, Encoding, Sample};
use keiko_rules::Rules;
use keiko_selfplay::GameRecord;
use rand::{Rng, RngExt};
use std::collections::VecDeque;
use std::sync::Arc;

/// The newest games that are trained on. What it holds is a pure function of the games played.
#[derive(Clone, Debug)]
pub struct ReplayBuffer {
    rules: Arc<Rules>,
    search_value_share: f32,
    games: VecDeque<GameRecord>,
    /// Every position with a policy target: (game, ply).
    positions: Vec<(u32, u16)>,
}

impl ReplayBuffer {
    /// An empty window; `search_value_share` of each value target comes from the search.
    pub fn new(rules: Arc<Rules>, search_value_share: f32) -> ReplayBuffer {
        ReplayBuffer { rules, search_value_share, games: VecDeque::new(), positions: Vec::new() }
    }

    /// Adds games and keeps the newest `window` of all.
    pub fn extend(&mut self, games: impl IntoIterator<Item = GameRecord>, window: usize) {
        self.games.extend(games);
        let surplus = self.games.len().saturating_sub(window);
        self.games.drain(..surplus);
        self.positions.clear();
        for (index, game) in self.games.iter().enumerate() {
            self.positions.extend(game.target_plies().map(|ply| (index as u32, ply as u16)));
        }
    }

    /// Games in the window.
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// Positions in the window that are trained on.
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    /// A batch of `size` positions drawn uniformly, mirrored at random where the rules allow.
    ///
    /// # Panics
    /// When the window is empty.
    pub fn sample(&self, encoding: &Arc<Encoding>, size: usize, rng: &mut impl Rng) -> Batch {
        let mut batch = Batch::new(encoding, size);
        for _ in 0..size {
            let (game, ply) = self.positions[rng.random_range(0..self.positions.len())];
            let mirror = self.rules.is_mirror_symmetric() && rng.random_bool(0.5);
            self.push(&mut batch, game as usize, ply as usize, mirror);
        }
        batch
    }

    /// The newest `most` positions, in batches of `size`: for measuring, not for learning.
    pub fn newest(&self, encoding: &Arc<Encoding>, most: usize, size: usize) -> Vec<Batch> {
        let newest = &self.positions[self.positions.len().saturating_sub(most)..];
        let batch_of = |chunk: &[(u32, u16)]| {
            let mut batch = Batch::new(encoding, chunk.len());
            for &(game, ply) in chunk {
                self.push(&mut batch, game as usize, ply as usize, false);
            }
            batch
        };
        newest.chunks(size).map(batch_of).collect()
    }

    /// Replays a game to a position and adds that with its targets.
    fn push(&self, batch: &mut Batch, game: usize, ply: usize, mirror: bool) {
        let record = &self.games[game];
        let mut game =
            record.opening(&self.rules).expect("a stored game starts from a position of its rules");
        for ply in &record.plies[..ply] {
            game.play(ply.mv);
        }
        let mut legal = Vec::new();
        game.legal_moves(&mut legal);
        let targets = record.targets(ply, game.side_to_move(), self.search_value_share);
        batch.push(Sample {
            game: &game,
            legal: &legal,
            policy: targets.policy,
            wdl: targets.wdl,
            moves_left: targets.moves_left,
            mirror,
        });
    }
}
