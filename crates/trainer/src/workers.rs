//! Self-play on all cores: a worker a core, each with its own games and its own evaluator.

use keiko_network::{CachedEvaluator, Encoding, Inference, NetworkEvaluator, Weights};
use keiko_selfplay::{GameRecord, SelfPlay};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ScopedJoinHandle;
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
}

impl Work {
    /// Takes the workers' shares together, now that the last game is over. Whose games were over
    /// before `done_beside` was free for what was done beside them until then.
    fn of(games: Vec<GameRecord>, shares: &[Share], done_beside: Instant) -> Work {
        let now = Instant::now();
        let mut work = Work { games, ..Work::default() };
        for share in shares {
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
    /// after that. What it does may ask how many threads are free for it, its own included: those
    /// whose games are over.
    pub fn play_beside<T>(
        &self,
        other: impl FnOnce(&dyn Fn() -> usize) -> T,
        selfplay: &SelfPlay,
        numbers: &[u64],
        stop: impl Fn() -> bool + Sync,
        on_game: impl Fn(u64) + Sync,
    ) -> (Work, T) {
        let (next, games) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let finished = |game| {
            let mut games = games.lock().expect("no panic while a game is added");
            games.push(game);
            on_game(games.len() as u64);
        };
        let take = || numbers.get(next.fetch_add(1, Ordering::Relaxed)).copied();
        let play = || match next.load(Ordering::Relaxed) < numbers.len() {
            true => self.play_alone(selfplay, &take, &finished, &stop),
            false => Share::default(),
        };
        let free = AtomicUsize::new(1);
        let (shares, done_beside, result) = std::thread::scope(|scope| {
            let player = |_| {
                scope.spawn(|| {
                    let share = play();
                    free.fetch_add(1, Ordering::Relaxed);
                    share
                })
            };
            let threads: Vec<_> = (1..self.count).map(player).collect();
            let result = other(&|| free.load(Ordering::Relaxed));
            let done_beside = Instant::now();
            let mut shares = vec![play()];
            shares.extend(threads.into_iter().map(share_of));
            (shares, done_beside, result)
        });
        let games = games.into_inner().expect("no panic while a game is added");
        (Work::of(games, &shares, done_beside), result)
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

fn share_of(thread: ScopedJoinHandle<'_, Share>) -> Share {
    thread.join().expect("a self-play worker panicked")
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
