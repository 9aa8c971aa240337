//! A network as an engine: one core, and thin front ends for the protocols of GUIs.

mod cecp;
mod clock;
mod command;
mod core;
mod dialect;
mod input;
mod loaded;
mod mate;
mod options;
mod plan;
mod report;
mod setup;
mod shortest;
mod usi;
mod xboard;

pub(crate) use self::core::Engine;
use crate::Failure;
use dialect::Dialect;
use input::Input;
pub(crate) use options::{FULL_STRENGTH, MOST_SIMULATIONS, MOST_THREADS, Options};

/// Talks to the GUI on standard input and output in the protocol of its first line; USI where
/// that says nothing.
///
/// # Errors
/// When a network was asked for that could not be loaded.
pub(crate) fn talk(engine: Engine) -> Result<(), Failure> {
    let mut input = Input::open();
    while let Some(line) = input.next() {
        match line.text.split_whitespace().next() {
            None if !line.is_too_long => {}
            Some("xboard" | "protover") => return xboard::talk(engine, input, line),
            Some("uci") => return usi::talk(engine, input, Dialect::Uci, line),
            _ => return usi::talk(engine, input, Dialect::Usi, line),
        }
    }
    Ok(())
}
