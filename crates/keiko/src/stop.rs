//! Ctrl-C and SIGTERM: the first asks to stop, another one leaves at once.

use crate::failure::{Failure, STOPPED};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Signals this soon after the first are the same wish: `timeout` and some terminals send
/// theirs to the process and to its group.
const SAME_WISH: Duration = Duration::from_secs(1);

/// Lets a run go on when its terminal is closed.
pub(crate) fn ignore_hangup() -> Result<(), Failure> {
    let unread = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGHUP, unread).map(drop).map_err(cannot_listen)
}

fn cannot_listen(error: std::io::Error) -> Failure {
    Failure::environment(format!("cannot listen to signals: {error}"))
}

/// A flag that the first signal sets, which is said: safe points may be some seconds apart. Every file is written under another name and renamed,
/// so leaving at once on a later one tears nothing.
pub(crate) fn on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(cannot_listen)?;
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            if first.get_or_insert_with(Instant::now).elapsed() > SAME_WISH {
                std::process::exit(STOPPED.into());
            }
            if !flag.swap(true, Ordering::Relaxed) {
                // Over a bar that may stand there.
                let clear = if stderr().is_terminal() { "\r\x1b[2K" } else { "" };
                tell!("{clear}stopping at the next safe point; another signal leaves at once");
            }
        }
    });
    Ok(stop)
}
