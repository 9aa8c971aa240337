//! Ctrl-C and SIGTERM: the first asks to stop, the second leaves at once.

use crate::failure::{Failure, STOPPED};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that the first signal sets. Every file is written under another name and renamed,
/// so leaving at once on the second tears nothing.
pub(crate) fn on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Order matters: the exit looks at the flag before the other handler sets it.
        flag::register_conditional_shutdown(signal, STOPPED.into(), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Failure::environment(format!("cannot listen to signals: {error}")))?;
    }
    Ok(stop)
}
