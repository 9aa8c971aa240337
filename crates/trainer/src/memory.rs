//! The memory that a run may take: beyond it, it stops before the system ends it.

use crate::statistics::resident_mebibytes;
use crate::train::{Event, Watcher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Looks at the process's memory whenever a run has something to say, and stops the run when it is
/// more than allowed.
pub(crate) struct MemoryBound<'a> {
    /// In MiB; 0: none.
    bound: u64,
    watcher: &'a dyn Watcher,
    stop: &'a AtomicBool,
    found: OnceLock<u64>,
}

impl<'a> MemoryBound<'a> {
    pub(crate) fn new(bound: u64, watcher: &'a dyn Watcher, stop: &'a AtomicBool) -> Self {
        MemoryBound { bound, watcher, stop, found: OnceLock::new() }
    }

    /// The MiB found where they were too many.
    pub(crate) fn exceeded(&self) -> Option<u64> {
        self.found.get().copied()
    }
}

impl Watcher for MemoryBound<'_> {
    fn tell(&self, event: &Event<'_>) {
        self.watcher.tell(event);
        // An event is a game or a step: nothing is read where there is no bound.
        if self.bound > 0
            && let Some(found) = resident_mebibytes().map(|mebibytes| mebibytes as u64)
            && found > self.bound
        {
            self.found.get_or_init(|| found);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
