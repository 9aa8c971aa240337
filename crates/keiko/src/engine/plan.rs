//! How long a search goes on: its limits, and what they allow as it stands.

use super::clock::Clock;
use super::options::{Options, Weakness};
use keiko_rules::Move;
use std::time::{Duration, Instant};

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
    /// How play is weakened, if it is.
    pub(super) weakness: Option<Weakness>,
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
            weakness,
            reported: Instant::now(),
        }
    }

    /// The other side has played what was expected: the clock runs.
    pub(super) fn play(&mut self) {
        self.deadline = self.later.map(|time| Instant::now() + time);
        self.waits = false;
    }

    /// How much of the choice of a move is left to chance.
    pub(super) fn noise(&self) -> f32 {
        self.weakness.map_or(0.0, |it| it.noise)
    }

    /// Simulations at most: something else ends a search that is not limited by them.
    pub(super) fn simulations(&self) -> u32 {
        self.nodes.map_or(u32::MAX, |nodes| u32::try_from(nodes.max(1)).unwrap_or(u32::MAX))
    }

    /// Whether no clock runs, and the play is neither weakened nor restricted.
    pub(super) fn may_take_longer(&self) -> bool {
        self.deadline.is_none() && self.allowed == 0 && self.weakness.is_none()
    }

    /// Whether so much more time would be too much.
    pub(super) fn is_late(&self, rest: Duration) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() + rest >= deadline)
    }
}
