//! The disk that a run is written to: while it has no room the run waits, and loses nothing.

use crate::experiment::{Experiment, MEBIBYTE};
use crate::run::{Opened, Run, RunError, is_run};
use crate::train::{Event, Watcher};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a run that waits looks whether there is room again.
const LOOK_EVERY: Duration = Duration::from_secs(3);
/// How soon it notices that it is to stop.
const NOTICE: Duration = Duration::from_millis(100);

impl Run {
    /// Opens the run in `dir`, or creates it there. One that is there already waits while its disk is
    /// full, and says so once; nothing comes back where it was stopped meanwhile. A new one is not
    /// waited for: who begins it is there to make room.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open_patiently(
        dir: &Path,
        experiment: &Experiment,
        stop: &AtomicBool,
        tell: impl Fn(&str),
    ) -> Result<Option<(Run, Opened)>, RunError> {
        let is_there = is_run(dir)?;
        let mut waited = false;
        loop {
            let trouble = match Run::open(dir, experiment) {
                Err(error) if is_there && is_full(&error) => error,
                opened => return opened.map(Some),
            };
            if !waited {
                tell(&waiting(&trouble.to_string()));
                waited = true;
            }
            wait(|| stop.load(Ordering::Relaxed));
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
    }

    /// Writes something, all or nothing, once there is room for it: as long as the disk is full, or
    /// less than the reserve is free, the run waits, and says so once. Who is to stop does not
    /// wait, and tries its luck.
    pub(crate) fn patiently<T>(
        &mut self,
        watcher: &dyn Watcher,
        stop: &AtomicBool,
        write: impl Fn(&mut Run) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let say = |message: String| watcher.tell(&Event::Notice { message: &message });
        let mut waited = false;
        loop {
            let stopped = || stop.load(Ordering::Relaxed);
            let trouble = match self.shortage().filter(|_| !stopped()) {
                Some(shortage) => shortage,
                None => match write(self) {
                    Err(error) if is_full(&error) && !stopped() => error.to_string(),
                    result => {
                        if waited && result.is_ok() {
                            say("there is room on the disk again: going on".to_owned());
                        }
                        return result;
                    }
                },
            };
            if !waited {
                say(waiting(&trouble));
                waited = true;
            }
            wait(stopped);
        }
    }

    /// What is wrong where less is free than the run must leave.
    fn shortage(&self) -> Option<String> {
        let reserve = self.experiment.machine.disk_reserve_mebibytes;
        if reserve == 0 {
            return None;
        }
        // Where the system does not say, a full disk is noticed when it is.
        let free = fs4::available_space(&self.dir).ok()? / MEBIBYTE;
        (free < reserve).then(|| {
            format!(
                "{}: {free} MiB of the disk are free, and machine.disk_reserve_mebibytes is {reserve}",
                self.dir.display()
            )
        })
    }
}

fn waiting(trouble: &str) -> String {
    format!("{trouble}; waiting until there is room, then going on")
}

/// Until it is time to look again, or to stop.
fn wait(stopped: impl Fn() -> bool) {
    let began = Instant::now();
    while began.elapsed() < LOOK_EVERY && !stopped() {
        std::thread::sleep(NOTICE);
    }
}

/// Whether the cause of an error is that nothing more fits on the disk.
fn is_full(error: &(dyn Error + 'static)) -> bool {
    let full = |cause: &io::Error| {
        matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
    };
    error.downcast_ref().is_some_and(full) || error.source().is_some_and(is_full)
}
