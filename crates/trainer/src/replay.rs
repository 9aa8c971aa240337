//! The replay window: the newest games, decoded, and the samples drawn from them.

use crate::Experiment;
use keiko_network::{Architecture, Batch, Encoding, Sample};
use keiko_rules::Rules;
use keiko_selfplay::{GameRecord, Start, archive};
use rand::{Rng, RngExt};
use std::collections::VecDeque;
use std::sync::Arc;

/// A position drawn from the window.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Draw {
    game: u32,
    ply: u16,
    mirror: bool,
}

/// The newest games that are trained on. What it holds is a pure function of the games played.
#[derive(Clone, Debug)]
pub struct ReplayBuffer {
    rules: Arc<Rules>,
    learns: Architecture,
    search_value_share: f32,
    short_term_plies: f32,
    ply_limit: u32,
    games: VecDeque<GameRecord>,
    /// Every position with a policy target: (game, ply).
    positions: Vec<(u32, u16)>,
}

impl ReplayBuffer {
    /// An empty window, whose samples teach what the experiment says.
    pub fn new(rules: Arc<Rules>, experiment: &Experiment) -> ReplayBuffer {
        ReplayBuffer {
            rules,
            learns: experiment.network,
            search_value_share: experiment.training.search_value_share,
            short_term_plies: experiment.training.short_term_plies,
            ply_limit: experiment.selfplay.ply_limit,
            games: VecDeque::new(),
            positions: Vec::new(),
        }
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

    /// The starts of the window's games whose searches were most wrong, so many at most.
    pub fn archive(&self, most: usize) -> Vec<Start> {
        archive(&self.games, most)
    }

    /// Draws `size` positions uniformly, mirrored at random where the rules allow.
    ///
    /// # Panics
    /// When the window is empty.
    pub fn draw(&self, size: usize, rng: &mut impl Rng) -> Vec<Draw> {
        let one = |_| {
            let (game, ply) = self.positions[rng.random_range(0..self.positions.len())];
            let mirror = self.rules.is_mirror_symmetric() && rng.random_bool(0.5);
            Draw { game, ply, mirror }
        };
        (0..size).map(one).collect()
    }

    /// The samples that were drawn.
    pub fn batch(&self, encoding: &Arc<Encoding>, draws: &[Draw]) -> Batch {
        let mut batch = Batch::new(encoding, self.learns, draws.len());
        for &Draw { game, ply, mirror } in draws {
            self.push(&mut batch, game as usize, ply as usize, mirror);
        }
        batch
    }

    /// The newest `most` positions, in batches of `size`: for measuring, not for learning.
    pub fn newest(&self, encoding: &Arc<Encoding>, most: usize, size: usize) -> Vec<Batch> {
        let newest = &self.positions[self.positions.len().saturating_sub(most)..];
        let draw = |&(game, ply): &(u32, u16)| Draw { game, ply, mirror: false };
        let batch_of = |chunk: &[(u32, u16)]| {
            self.batch(encoding, &chunk.iter().map(draw).collect::<Vec<_>>())
        };
        newest.chunks(size).map(batch_of).collect()
    }

    /// Replays a game to a position and adds that with its targets.
    fn push(&self, batch: &mut Batch, game: usize, ply: usize, mirror: bool) {
        let record = &self.games[game];
        let mut game =
            record.opening(&self.rules).expect("a stored game starts from a position of its rules");
        game.set_ply_limit(Some(self.ply_limit));
        for ply in &record.plies[..ply] {
            game.play(ply.mv);
        }
        let mut legal = Vec::new();
        game.legal_moves(&mut legal);
        let side = game.side_to_move();
        let targets = record.targets(ply, side, self.search_value_share, self.short_term_plies);
        let reply = record.reply(ply).filter(|_| self.learns.reply).map(|reply| {
            let mut next = *game.position();
            self.rules.play(&mut next, record.plies[ply].mv);
            (next, reply)
        });
        batch.push(Sample {
            game: &game,
            legal: &legal,
            policy: targets.policy,
            wdl: targets.wdl,
            moves_left: targets.moves_left,
            reply: reply.as_ref().map(|(position, reply)| (position, &reply[..])),
            short_term: targets.short_term,
            mirror,
        });
    }
}
