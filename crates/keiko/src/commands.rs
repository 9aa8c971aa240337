//! One subcommand per file.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod engine;
pub(crate) mod export;
pub(crate) mod inspect;
pub(crate) mod matches;
pub(crate) mod perft;
pub(crate) mod report;
pub(crate) mod show;
pub(crate) mod train;
