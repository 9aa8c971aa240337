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

/// What a game takes in the window's memory, with what is known of its positions. These are fixed
/// numbers, a little above what the types take, so that the window is the same on every machine.
fn memory_bytes(game: &GameRecord) -> u64 {
    const GAME: usize = 192;
    const MOVE: usize = 4;
    const PLY: usize = 72;
    const WEIGHT: usize = 8;
    // A list of its own, the position and its weight.
    const TARGET: usize = 32;
    let targets = game.target_plies().map(|ply| TARGET + WEIGHT * game.plies[ply].policy.len());
    let fixed = GAME + MOVE * game.start.opening.len() + PLY * game.plies.len();
    (fixed + targets.sum::<usize>()) as u64
}

/// The newest games that are trained on. What it holds is a pure function of the games played.
#[derive(Clone, Debug)]
pub struct ReplayBuffer {
    rules: Arc<Rules>,
    learns: Architecture,
    search_value_share: f32,
    short_term_plies: f32,
    ply_limit: u32,
    surprise_share: f64,
    games: VecDeque<GameRecord>,
    /// What they take, and may take, in memory.
    bytes: u64,
    most_bytes: Option<u64>,
    /// Every position with a policy target: (game, ply).
    positions: Vec<(u32, u16)>,
    /// For each of them, the weights up to and with its own.
    weights: Vec<f64>,
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
            surprise_share: experiment.training.surprise_share,
            games: VecDeque::new(),
            bytes: 0,
            most_bytes: experiment.machine.replay_bytes(),
            positions: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Adds games and keeps the newest `window` of all, fewer where they do not fit.
    pub fn extend(&mut self, games: impl IntoIterator<Item = GameRecord>, window: usize) {
        games.into_iter().for_each(|game| self.push_game(game, window));
        self.weigh();
    }

    /// Adds a game, without making its positions known yet, and drops the oldest that are too many.
    pub(crate) fn push_game(&mut self, mut game: GameRecord, window: usize) {
        game.plies.shrink_to_fit();
        self.bytes += memory_bytes(&game);
        self.games.push_back(game);
        while self.games.len() > window || self.is_too_large() {
            let oldest = self.games.pop_front().expect("there are more than none");
            self.bytes -= memory_bytes(&oldest);
        }
    }

    /// Whether the games do not fit. The newest one stays.
    fn is_too_large(&self) -> bool {
        self.games.len() > 1 && self.most_bytes.is_some_and(|most| self.bytes > most)
    }

    /// Makes the positions of all games known, with their weights.
    pub(crate) fn weigh(&mut self) {
        self.positions.clear();
        self.weights.clear();
        let mut sum = 0.0;
        for (index, game) in self.games.iter().enumerate() {
            self.positions.extend(game.target_plies().map(|ply| (index as u32, ply as u16)));
            self.weights.extend(game.target_weights(self.surprise_share).into_iter().map(
                |weight| {
                    sum += weight;
                    sum
                },
            ));
        }
    }

    /// Games in the window.
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// What they take in memory, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Positions in the window that are trained on.
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    /// The starts of the window's games whose searches were most wrong, so many at most.
    pub fn archive(&self, most: usize) -> Vec<Start> {
        archive(&self.games, most)
    }

    /// Draws `size` positions by their weights, mirrored at random where the rules allow.
    ///
    /// # Panics
    /// When the window is empty.
    pub fn draw(&self, size: usize, rng: &mut impl Rng) -> Vec<Draw> {
        let total = *self.weights.last().expect("there are positions to draw");
        let one = |_| {
            let drawn = rng.random_range(0.0..total);
            let (game, ply) = self.positions[self.weights.partition_point(|&sum| sum <= drawn)];
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::samples;
    use keiko_rules::Move;
    use keiko_selfplay::{Ply, Purpose, generator};

    #[test]
    fn the_window_is_the_newest_games_that_fit() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
        let experiment = Experiment::load(path.as_ref(), &[]).unwrap();
        let rules = Arc::new(Rules::load(&experiment.rules).unwrap());
        let each = memory_bytes(&game(&[1.0; 3]));
        let number = |number| GameRecord { number, ..game(&[1.0; 3]) };
        let window = |bytes: u64, at_once: usize| {
            let mut replay = ReplayBuffer::new(Arc::clone(&rules), &experiment);
            replay.most_bytes = Some(bytes);
            let games: Vec<_> = (0..20).map(number).collect();
            games.chunks(at_once).for_each(|some| replay.extend(some.to_vec(), 9));
            assert_eq!((replay.positions(), replay.bytes() % each), (replay.games() * 3, 0));
            replay.games.iter().map(|game| game.number).collect::<Vec<_>>()
        };
        for at_once in [1, 4, 20] {
            assert_eq!(window(each * 5, at_once), [15, 16, 17, 18, 19]);
            assert_eq!(window(each * 6 - 1, at_once), [15, 16, 17, 18, 19]);
            assert_eq!(window(each * 99, at_once).len(), 9);
            assert_eq!(window(1, at_once), [19]);
        }
        // What is counted is what is taken.
        let (ply, weight) = (size_of::<Ply>(), size_of::<(Move, f32)>());
        assert!(ply <= 72 && weight <= 8 && size_of::<Move>() <= 4, "{ply} {weight}");
    }

    /// A game whose searches, all full, were so surprising.
    fn game(surprises: &[f32]) -> GameRecord {
        let policy = || vec![(samples::ply().mv, 1.0)];
        let ply =
            |&surprise: &f32| Ply { full: true, policy: policy(), surprise, ..samples::ply() };
        samples::game(surprises.iter().map(ply).collect())
    }

    #[test]
    fn positions_are_drawn_by_their_surprise() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
        let set = ["training.surprise_share=0.5".to_owned()];
        let experiment = Experiment::load(path.as_ref(), &set).unwrap();
        let rules = Arc::new(Rules::load(&experiment.rules).unwrap());
        let mut replay = ReplayBuffer::new(rules, &experiment);
        // The first is out of the window again; the last has only one position, of weight 1.
        replay.extend([game(&[9.0; 5]), game(&[0.0, 1.5, 0.0, 4.5]), game(&[0.25])], 2);
        let draws = |number| replay.draw(20_000, &mut generator(1, Purpose::Batch, number));
        assert_eq!(draws(0), draws(0));
        let drawn = draws(1);
        let count = |game, ply| drawn.iter().filter(|it| (it.game, it.ply) == (game, ply)).count();
        let counts = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)].map(|(game, ply)| count(game, ply));
        // Weights 0.5, 1, 0.5, 2 and 1 of 5.
        for (count, expected) in counts.into_iter().zip([2000, 4000, 2000, 8000, 4000]) {
            assert!(count.abs_diff(expected) < 300, "{counts:?}");
        }
        assert_eq!(counts.iter().sum::<usize>(), drawn.len());
        assert_eq!(replay.positions(), 5);
    }
}
