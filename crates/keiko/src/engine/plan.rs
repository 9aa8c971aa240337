//! How long a search goes on: its limits, and what they allow as it stands.

use super::clock::Clock;
use super::options::{MOST_SIMULATIONS, Options};
use keiko_rules::Move;
use std::time::{Duration, Instant};

/// Fewest simulations that say something about the speed.
pub(super) const TELLING: u64 = 64;

/// Simulations that a search without a limit begins with; each of its rounds has twice as many.
const FIRST_ROUND: u32 = 512;

/// What a search may take, and what it is about.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// The clock of who is to move.
    pub(crate) clock: Clock,
    /// When the clock began to run.
    pub(crate) since: Instant,
    /// Simulations.
    pub(crate) nodes: Option<u64>,
    /// Plies of the main line.
    pub(crate) depth: Option<u64>,
    /// Not before it is asked for.
    pub(crate) waits: Option<Waits>,
    /// These moves alone, each once; empty: all.
    pub(crate) only: Vec<Move>,
}

/// Why a search does not end by itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Waits {
    /// To be looked at.
    Analysis,
    /// The other side is thinking.
    Pondering,
}

impl Limits {
    /// No limit but the options', from now.
    pub(crate) fn none() -> Limits {
        let clock = Clock::default();
        Limits { clock, since: Instant::now(), nodes: None, depth: None, waits: None, only: vec![] }
    }
}

/// How a search is to go on: its limits as they stand.
pub(super) struct Plan {
    pub(super) began: Instant,
    pub(super) deadline: Option<Instant>,
    /// What the clock will allow once the other side has moved.
    pub(super) later: Option<Duration>,
    pub(super) nodes: Option<u64>,
    pub(super) depth: Option<u64>,
    /// Root moves that are allowed; 0: all.
    pub(super) allowed: usize,
    pub(super) waits: bool,
    /// Whether the search is a move of the engine's own.
    pub(super) counts: bool,
    pub(super) noise: f32,
    pub(super) next_round: u32,
    pub(super) reported: Instant,
}

impl Plan {
    pub(super) fn new(limits: &Limits, options: &Options) -> Plan {
        let analysis = limits.waits == Some(Waits::Analysis);
        let weakness = options.weakness().filter(|_| !analysis);
        let waits = limits.waits.is_some();
        let time = limits.clock.time_for_move(options.overhead.into());
        let usual = (time.is_none() && limits.depth.is_none() && !analysis)
            .then_some(u64::from(options.simulations));
        let mut nodes = limits.nodes.or(usual);
        if let Some(weakness) = weakness {
            let most = u64::from(weakness.simulations);
            nodes = Some(nodes.map_or(most, |nodes| nodes.min(most)));
        }
        Plan {
            began: Instant::now(),
            deadline: time.filter(|_| !waits).map(|time| limits.since + time),
            later: time.filter(|_| waits),
            nodes,
            depth: limits.depth,
            allowed: limits.only.len(),
            waits,
            counts: !analysis,
            noise: weakness.map_or(0.0, |it| it.noise),
            next_round: FIRST_ROUND,
            reported: Instant::now(),
        }
    }

    /// The other side has played what was expected: the clock runs.
    pub(super) fn play(&mut self) {
        self.deadline = self.later.map(|time| Instant::now() + time);
        self.waits = false;
    }

    /// Simulations of the next round, after so many; `None` where enough is known.
    pub(super) fn round(&mut self, done: u64, rate: f64) -> Option<u32> {
        let left = self.nodes.map(|nodes| nodes.max(1).saturating_sub(done));
        if left == Some(0) {
            return None;
        }
        let timed = self.deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
            (rate * left) as u64
        });
        // The rest of a clock that is too short for a round worth its while is saved.
        if done > 0 && timed.is_some_and(|timed| timed < TELLING.max(done / 4)) {
            return None;
        }
        let growing = (timed.is_none() && left.is_none()).then(|| {
            self.next_round = self.next_round.saturating_mul(2).min(MOST_SIMULATIONS);
            u64::from(self.next_round / 2)
        });
        let most = u64::from(MOST_SIMULATIONS);
        let simulations = [left, timed, growing].into_iter().flatten().min().unwrap_or(most);
        Some(simulations.clamp(1, most) as u32)
    }

    /// Whether no clock runs, and the play is neither weakened nor restricted.
    pub(super) fn may_take_longer(&self) -> bool {
        self.deadline.is_none() && self.allowed == 0 && self.noise == 0.0
    }

    /// Whether another batch like the last one would end too late.
    pub(super) fn is_late(&self, batch: Duration) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() + batch >= deadline)
    }
}
