//! Where a generation's time went: for rates and for the idle time only, never for results.

use crate::statistics::{processor_seconds, unused_seconds};
use crate::workers::Work;
use std::time::{Duration, Instant};

/// Seconds that are taken for none at all: no rate is counted by less.
const TICK: f64 = 1e-9;

/// Time, this process's processor time, and the whole machine's unused time since a moment.
pub(crate) struct Stopwatch {
    began: Instant,
    /// Where the system tells it, as the next.
    processor: Option<f64>,
    unused: Option<f64>,
}

impl Stopwatch {
    /// From now on.
    pub(crate) fn start() -> Stopwatch {
        let (processor, unused) = (processor_seconds(), unused_seconds());
        Stopwatch { began: Instant::now(), processor, unused }
    }

    /// Seconds that so many cores had since then.
    fn offered(&self, cores: usize) -> f64 {
        self.began.elapsed().as_secs_f64() * cores as f64
    }

    /// Seconds of these in which the process had nothing to do. Where another program had the core
    /// it had: no more counts than the machine left unused.
    fn idle(&self, cores: usize) -> Option<f64> {
        let used = processor_seconds()? - self.processor?;
        let unused = unused_seconds()? - self.unused?;
        Some((self.offered(cores) - used).min(unused).max(0.0))
    }
}

/// Time spent and work done since the process began or the last report. One worker of two that
/// plays for a second counts as half a second of playing.
pub(crate) struct Clock {
    cores: usize,
    since: Stopwatch,
    playing: Duration,
    inside_network: Duration,
    evaluations: u64,
    remembered: u64,
    games: u64,
    positions: u64,
    learning: Duration,
    steps: u64,
    measuring: Duration,
    /// Seconds of all cores.
    idle_playing: f64,
    idle_learning: f64,
    idle_measuring: f64,
}

impl Clock {
    /// Begins to count, for a run on so many cores.
    pub(crate) fn start(cores: usize) -> Clock {
        Clock {
            cores,
            since: Stopwatch::start(),
            playing: Duration::ZERO,
            inside_network: Duration::ZERO,
            evaluations: 0,
            remembered: 0,
            games: 0,
            positions: 0,
            learning: Duration::ZERO,
            steps: 0,
            measuring: Duration::ZERO,
            idle_playing: 0.0,
            idle_learning: 0.0,
            idle_measuring: 0.0,
        }
    }

    /// Counts games, and the idle time since they began: beside a learner all of it that is not
    /// the wait for the last games is the learner's.
    pub(crate) fn played(&mut self, work: &Work, learned: bool, since: &Stopwatch) {
        self.playing += work.playing / self.cores as u32;
        self.inside_network += work.inside_network;
        self.evaluations += work.evaluations;
        self.remembered += work.remembered;
        self.games += work.games.len() as u64;
        self.positions += work.games.iter().map(|game| game.plies.len() as u64).sum::<u64>();
        let idle = since.idle(self.cores).unwrap_or(0.0);
        let waited = if learned { idle.min(work.waited.as_secs_f64()) } else { idle };
        self.idle_playing += waited;
        self.idle_learning += idle - waited;
    }

    /// Positions evaluated in play.
    pub(crate) fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Counts a learner step on so many threads.
    pub(crate) fn stepped(&mut self, elapsed: Duration, threads: usize) {
        self.learning += elapsed * threads as u32 / self.cores as u32;
        self.steps += 1;
    }

    /// Counts the idle time of learning alone.
    pub(crate) fn learned(&mut self, since: &Stopwatch) {
        self.idle_learning += since.idle(self.cores).unwrap_or(0.0);
    }

    /// Counts the time of measuring.
    pub(crate) fn measured(&mut self, since: &Stopwatch) {
        self.measuring += since.began.elapsed();
        self.idle_measuring += since.idle(self.cores).unwrap_or(0.0);
    }

    /// The figures, by tag: finite whatever the clocks say.
    pub(crate) fn figures(&self) -> Vec<(&'static str, f64)> {
        let (playing, learning) = (self.playing.as_secs_f64(), self.learning.as_secs_f64());
        let mut figures = vec![
            ("system/seconds_playing", playing),
            ("system/seconds_learning", learning),
            ("system/seconds_measuring", self.measuring.as_secs_f64()),
        ];
        // After a resume there may have been nothing left to play or to learn.
        if self.games > 0 {
            let rate = |count: u64| count as f64 / playing.max(TICK);
            figures.push(("system/games_per_second", rate(self.games)));
            figures.push(("system/positions_per_second", rate(self.positions)));
            figures.push(("system/evaluations_per_second", rate(self.evaluations)));
            let asked = (self.evaluations + self.remembered).max(1);
            figures.push(("system/evaluations_remembered", self.remembered as f64 / asked as f64));
            let inside = self.inside_network.as_secs_f64();
            figures.push(("system/workers_inside_network", inside / playing.max(TICK)));
        }
        if self.steps > 0 {
            figures.push(("system/steps_per_second", self.steps as f64 / learning.max(TICK)));
        }
        if let Some(idle) = self.since.idle(self.cores) {
            let known = self.idle_playing + self.idle_learning + self.idle_measuring;
            let offered = self.since.offered(self.cores).max(TICK);
            figures.push(("system/busy_share", 1.0 - idle / offered));
            figures.push(("system/idle_playing", self.idle_playing));
            figures.push(("system/idle_learning", self.idle_learning));
            figures.push(("system/idle_measuring", self.idle_measuring));
            figures.push(("system/idle_saving", (idle - known).max(0.0)));
        }
        figures
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_figure_is_negative_or_none_where_no_time_has_passed() {
        let stopwatch = Stopwatch::start();
        let mut clock = Clock::start(2);
        clock.games = 3;
        clock.stepped(Duration::ZERO, 1);
        clock.measured(&stopwatch);
        for (tag, value) in clock.figures() {
            assert!(value.is_finite() && value >= 0.0, "{tag}: {value}");
        }
    }
}
