//! How far `keiko train` goes before it stops by itself: it saves and can be gone on with.

use keiko_trainer::{Event, Watcher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a call may do at most, counted from its own beginning.
#[derive(clap::Args, Copy, Clone, Debug)]
pub(crate) struct Limits {
    /// Stop after so many hours, and save; the same command goes on.
    #[arg(long, value_name = "H", value_parser = hours)]
    max_hours: Option<f64>,
    /// Stop after so many learner steps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_steps: Option<u64>,
    /// Stop after so many games.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_games: Option<u64>,
}

/// Longer than any machine runs, and short enough for the clock.
const MOST_HOURS: f64 = 1e6;

fn hours(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(hours) if hours > 0.0 && hours <= MOST_HOURS => Ok(hours),
        _ => Err(format!("allowed is a number of hours above 0, up to {MOST_HOURS}")),
    }
}

/// Counts what a run does, and stops it when that is as much as it may do.
pub(crate) struct Limited<'a> {
    limits: Limits,
    watcher: &'a dyn Watcher,
    stop: Arc<AtomicBool>,
    began: Instant,
    steps: AtomicU64,
    games: AtomicU64,
}

impl<'a> Limited<'a> {
    /// Begins to count.
    pub(crate) fn new(limits: Limits, watcher: &'a dyn Watcher, stop: &Arc<AtomicBool>) -> Self {
        if let Some(hours) = limits.max_hours {
            stop_after(duration(hours), Arc::clone(stop));
        }
        Limited {
            limits,
            watcher,
            stop: Arc::clone(stop),
            began: Instant::now(),
            steps: AtomicU64::new(0),
            games: AtomicU64::new(0),
        }
    }

    /// The limit that is reached, as it was given.
    pub(crate) fn reached(&self) -> Option<String> {
        let Limits { max_hours, max_steps, max_games } = self.limits;
        let count = |name, limit: Option<u64>, count: &AtomicU64| {
            let limit = limit.filter(|&limit| count.load(Ordering::Relaxed) >= limit)?;
            Some(format!("--max-{name} {limit}"))
        };
        let hours = max_hours.filter(|&hours| self.began.elapsed() >= duration(hours));
        count("steps", max_steps, &self.steps)
            .or_else(|| count("games", max_games, &self.games))
            .or_else(|| hours.map(|hours| format!("--max-hours {hours}")))
    }
}

impl Watcher for Limited<'_> {
    fn tell(&self, event: &Event<'_>) {
        self.watcher.tell(event);
        // There is one of these for each game and each step.
        let (count, limit) = match event {
            Event::Playing { .. } => (&self.games, self.limits.max_games),
            Event::Learning { .. } => (&self.steps, self.limits.max_steps),
            _ => return,
        };
        let counted = count.fetch_add(1, Ordering::Relaxed) + 1;
        if limit.is_some_and(|limit| counted >= limit) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn duration(hours: f64) -> Duration {
    Duration::from_secs_f64(hours * 3600.0)
}

fn stop_after(time: Duration, stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
    });
}
