//! One subcommand per file.

pub(crate) mod analyze;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod engine;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod games;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod ladder;
pub(crate) mod matches;
pub(crate) mod measure;
pub(crate) mod openings;
pub(crate) mod perft;
pub(crate) mod report;
pub(crate) mod schema;
mod selection;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod strength;
pub(crate) mod train;
