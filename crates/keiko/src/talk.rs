//! What the program says: data on standard output, talk on standard error.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// A line of data on standard output.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::talk::say(format_args!($($text)*))
    };
}

/// A line of talk on standard error.
macro_rules! tell {
    ($($text:tt)*) => {
        $crate::talk::tell(format_args!($($text)*))
    };
}

/// Writes a line of data. Where nobody reads on, as behind `| head`, the program is done; where
/// it cannot be written, it fails at once.
pub(crate) fn say(text: Arguments<'_>) {
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            let failure = crate::Failure::environment(format!("standard output: {error}"));
            failure.report();
            std::process::exit(failure.code().into());
        }
    }
}

/// Writes a line of talk. A terminal that has gone away must not end a run.
pub(crate) fn tell(text: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
