//! Self-play on all cores: a worker a core, each with its own games and its own evaluator.

use crate::panics::{Panic, caught};
use keiko_network::{CachedEvaluator, Encoding, Inference, NetworkEvaluator, Weights};
use keiko_selfplay::{GameRecord, SelfPlay};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// What the workers did. Times are summed over them.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Finished games, in no particular order.
    pub games: Vec<GameRecord>,
    /// Positions evaluated.
    pub evaluations: u64,
    /// Positions whose evaluation was remembered.
    pub remembered: u64,
    /// Time spent on games.
    pub playing: Duration,
    /// The part of it inside the network.
    pub inside_network: Duration,
    /// Time without a game or anything else to do, while others finished theirs.
    pub waited: Duration,
    /// What a worker said that panicked: the others stopped then, and finished games are there.
    pub panic: Option<Panic>,
}

/// The workers as who does something else beside them sees them.
pub struct Beside {
    free: AtomicUsize,
    failed: AtomicBool,
}

impl Beside {
    /// How many threads are free for something else, the caller's own included: those whose
    /// games are over.
    pub fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    /// Whether a worker panicked, so that there is nothing to go on for.
    pub fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

impl Work {
    /// Takes the workers' shares together, now that the last game is over. Whose games were over
    /// before `done_beside` was free for what was done beside them until then.
    fn of(games: Vec<GameRecord>, shares: Vec<Result<Share, Panic>>, done_beside: Instant) -> Work {
        let now = Instant::now();
        let mut work = Work { games, ..Work::default() };
        for share in shares {
            let share = match share {
                Ok(share) => share,
                Err(panic) => {
                    work.panic.get_or_insert(panic);
                    continue;
                }
            };
            work.evaluations += share.evaluations;
            work.remembered += share.remembered;
            work.playing += share.playing;
            work.inside_network += share.inside_network;
            work.waited += now - share.ended.map_or(done_beside, |ended| ended.max(done_beside));
        }
        work
    }
}

impl Workers<'_> {
    /// Plays games by their numbers. Fewer come back when `stop` says so. `on_game` hears of
    /// each, with the count so far.
    pub fn play(
        &self,
        selfplay: &SelfPlay,
        numbers: &[u64],
        stop: impl Fn() -> bool + Sync,
        on_game: impl Fn(u64) + Sync,
    ) -> Work {
        self.play_beside(|_| (), selfplay, numbers, stop, on_game).0
    }

    /// As `play`, but the caller's thread does something else first, and plays with the others
    /// after that. What it does hears from the workers meanwhile.
    pub fn play_beside<T>(
        &self,
        other: impl FnOnce(&Beside) -> T,
        selfplay: &SelfPlay,
        numbers: &[u64],
        stop: impl Fn() -> bool + Sync,
        on_game: impl Fn(u64) + Sync,
    ) -> (Work, T) {
        let (next, games) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let beside = Beside { free: AtomicUsize::new(1), failed: AtomicBool::new(false) };
        let finished = |game| {
            // Who panicked while it was held had added its game.
            let mut games = games.lock().unwrap_or_else(PoisonError::into_inner);
            games.push(game);
            on_game(games.len() as u64);
        };
        let take = || numbers.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        let stop = || stop() || beside.failed();
        let play = || match next.load(Ordering::Relaxed) < numbers.len() {
            // Nobody waits for a worker that is gone: the others stop, too.
            true => {
                caught("a self-play worker", || self.play_alone(selfplay, &take, &finished, stop))
                    .inspect_err(|_| beside.failed.store(true, Ordering::Relaxed))
            }
            false => Ok(Share::default()),
        };
        let (shares, done_beside, result) = std::thread::scope(|scope| {
            let player = |_| {
                scope.spawn(|| {
                    let share = play();
                    beside.free.fetch_add(1, Ordering::Relaxed);
                    share
                })
            };
            let threads: Vec<_> = (1..self.count).map(player).collect();
            let result = other(&beside);
            let done_beside = Instant::now();
            let mut shares = vec![play()];
            let share_of = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().expect("what panics in a worker is caught there")
            };
            shares.extend(threads.into_iter().map(share_of));
            (shares, done_beside, result)
        });
        let games = games.into_inner().unwrap_or_else(PoisonError::into_inner);
        (Work::of(games, shares, done_beside), result)
    }

    /// One worker's share of the games.
    fn play_alone(
        &self,
        selfplay: &SelfPlay,
        take: impl FnMut() -> Option<u64>,
        finished: impl FnMut(GameRecord),
        stop: impl Fn() -> bool,
    ) -> Share {
        let began = Instant::now();
        let evaluator = NetworkEvaluator::new(
            self.weights,
            Arc::clone(self.encoding),
            self.batch,
            &self.inference,
        );
        let mut evaluator = CachedEvaluator::new(evaluator, self.cache);
        selfplay.play(&mut evaluator, take, finished, stop);
        let network = evaluator.network();
        Share {
            evaluations: network.evaluations(),
            remembered: evaluator.hits(),
            playing: began.elapsed(),
            inside_network: network.busy(),
            ended: Some(Instant::now()),
        }
    }
}

/// What one worker did.
#[derive(Default)]
struct Share {
    evaluations: u64,
    remembered: u64,
    playing: Duration,
    inside_network: Duration,
    /// When its last game was over; nothing where it had none.
    ended: Option<Instant>,
}
