//! Evaluations kept by position: what one search has asked, the next one asks again.

use crate::NetworkEvaluator;
use keiko_rules::{Game, Move};
use keiko_selfplay::{Evaluation, Evaluator, Slot, Wdl};
use std::ops::Range;

/// A position's evaluation.
#[derive(Clone, Default, Debug)]
struct Entry {
    /// Of what the network sees.
    key: Option<u64>,
    wdl: Wdl,
    moves_left: f32,
    prior: Vec<f32>,
}

/// Where a slot's evaluation comes from.
#[derive(Clone, Debug)]
enum Source {
    /// From the table: a copy, because the table may forget it.
    Kept { wdl: Wdl, moves_left: f32, prior: Range<usize> },
    /// From the network, to be kept under the key.
    Network { slot: Slot, key: u64 },
}

/// A network's evaluator that remembers. An evaluation has the same bits wherever and whenever it
/// is made, so remembering changes time, not results. A new network needs a new one.
#[derive(Debug)]
pub struct CachedEvaluator {
    inner: NetworkEvaluator,
    /// A position's place is its key's remainder; the newest stays.
    entries: Vec<Entry>,
    sources: Vec<Source>,
    /// The priors of kept slots, one after another.
    priors: Vec<f32>,
    has_run: bool,
    hits: u64,
}

impl CachedEvaluator {
    /// One that remembers about so many positions; with 0, none.
    pub fn new(inner: NetworkEvaluator, positions: usize) -> CachedEvaluator {
        CachedEvaluator {
            inner,
            entries: vec![Entry::default(); positions],
            sources: Vec::new(),
            priors: Vec::new(),
            has_run: false,
            hits: 0,
        }
    }

    /// The evaluator behind it, with what it has to say of its work.
    pub fn network(&self) -> &NetworkEvaluator {
        &self.inner
    }

    /// How many positions needed no evaluation.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    fn place(&self, key: u64) -> Option<usize> {
        (!self.entries.is_empty()).then(|| (key % self.entries.len() as u64) as usize)
    }

    fn kept(&mut self, key: u64) -> Option<Source> {
        let entry = &self.entries[self.place(key)?];
        if entry.key != Some(key) {
            return None;
        }
        let start = self.priors.len();
        self.priors.extend_from_slice(&entry.prior);
        let prior = start..self.priors.len();
        Some(Source::Kept { wdl: entry.wdl, moves_left: entry.moves_left, prior })
    }

    /// Keeps what the network has just found.
    fn keep(&mut self, slot: Slot, key: u64) {
        let Some(place) = self.place(key) else { return };
        let Evaluation { wdl, moves_left, prior } = self.inner.read(slot);
        let entry = &mut self.entries[place];
        (entry.key, entry.wdl, entry.moves_left) = (Some(key), wdl, moves_left);
        entry.prior.clear();
        entry.prior.extend_from_slice(prior);
    }
}

impl Evaluator for CachedEvaluator {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        if std::mem::take(&mut self.has_run) {
            self.sources.clear();
            self.priors.clear();
        }
        let key = self.inner.encoding().key(game);
        let source = match self.kept(key) {
            Some(source) => {
                self.hits += 1;
                source
            }
            None => Source::Network { slot: self.inner.push(game, legal), key },
        };
        self.sources.push(source);
        Slot(self.sources.len() - 1)
    }

    fn run(&mut self) {
        let first = std::mem::replace(&mut self.has_run, true);
        self.inner.run();
        if first {
            return;
        }
        for index in 0..self.sources.len() {
            if let Source::Network { slot, key } = self.sources[index] {
                self.keep(slot, key);
            }
        }
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        match &self.sources[slot.0] {
            Source::Network { slot, .. } => self.inner.read(*slot),
            Source::Kept { wdl, moves_left, prior } => Evaluation {
                wdl: *wdl,
                moves_left: *moves_left,
                prior: &self.priors[prior.clone()],
            },
        }
    }

    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }
}
