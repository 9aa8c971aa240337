//! Self-play on all cores: a worker a core, each with its own games and its own evaluator.

use keiko_network::{CachedEvaluator, Encoding, Inference, NetworkEvaluator, Weights};
use keiko_selfplay::{GameRecord, SelfPlay};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Workers and what they share. Nothing of it changes a game.
pub struct Workers<'a> {
    /// How many threads play.
    pub count: usize,
    /// Games each plays at once.
    pub batch: usize,
    /// Evaluations each remembers.
    pub cache: usize,
    /// The network behind every evaluator.
    pub weights: &'a Weights,
    /// What computes it.
    pub inference: Inference,
    /// How it reads positions.
    pub encoding: &'a Arc<Encoding>,
}

/// What the workers did.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Finished games, in no particular order.
    pub games: Vec<GameRecord>,
    /// Positions evaluated.
    pub evaluations: u64,
    /// Positions whose evaluation was remembered.
    pub remembered: u64,
    /// Time inside the network, summed over the workers.
    pub inside_network: Duration,
}

impl Workers<'_> {
    /// Plays games by their numbers. Fewer come back when `stop` says so. `on_game` hears of
    /// each, with the count so far, on the caller's thread.
    pub fn play(
        &self,
        selfplay: &SelfPlay,
        numbers: &[u64],
        stop: impl Fn() -> bool + Sync,
        on_game: impl Fn(u64),
    ) -> Work {
        let next = AtomicUsize::new(0);
        let take = || numbers.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        let (sender, finished) = mpsc::channel();
        std::thread::scope(|scope| {
            let (take, stop) = (&take, &stop);
            let spawn = |_| {
                let sender = sender.clone();
                scope.spawn(move || {
                    let evaluator = NetworkEvaluator::new(
                        self.weights,
                        Arc::clone(self.encoding),
                        self.batch,
                        &self.inference,
                    );
                    let mut evaluator = CachedEvaluator::new(evaluator, self.cache);
                    let finished =
                        |game| sender.send(game).expect("the collector outlives its workers");
                    selfplay.play(&mut evaluator, take, finished, stop);
                    let network = evaluator.network();
                    (network.evaluations(), evaluator.hits(), network.busy())
                })
            };
            let threads: Vec<_> = (0..self.count).map(spawn).collect();
            drop(sender);
            let mut work = Work::default();
            for game in finished {
                work.games.push(game);
                on_game(work.games.len() as u64);
            }
            for thread in threads {
                let (evaluations, remembered, inside) =
                    thread.join().expect("a self-play worker panicked");
                work.evaluations += evaluations;
                work.remembered += remembered;
                work.inside_network += inside;
            }
            work
        })
    }
}
