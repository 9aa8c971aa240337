//! The experiment: training loop, replay store, checkpoints, arena, metrics.
//!
//! [`Run::open`] opens or creates a run folder from an [`Experiment`]; [`train`] goes on with
//! it until it is complete or stopped. [`arena`] plays matches between any players.

pub mod arena;
mod checkpoint;
mod clock;
mod dashboard;
mod disk;
pub mod elo;
mod experiment;
mod files;
pub mod ladder;
mod measure;
mod memory;
pub mod metrics;
pub mod opponents;
mod origin;
mod panics;
pub mod pictures;
pub mod problems;
mod published;
pub mod ratings;
mod records;
mod recovery;
mod replay;
mod run;
#[cfg(test)]
mod samples;
pub mod scoresheet;
pub mod sprt;
mod statistics;
mod status;
pub mod store;
mod train;
mod workers;

pub use checkpoint::{CheckpointError, Phase, Published, State};
pub use experiment::{
    ArenaConfig, Change, Experiment, ExperimentError, Explained, InferenceConfig, Key,
    MachineConfig, Origin, TrainingConfig,
};
pub use origin::{Forked, begin_with, fork};
pub use panics::Panic;
pub use records::Records;
pub use recovery::Recovery;
pub use replay::ReplayBuffer;
pub use run::{Opened, Run, RunError};
pub use statistics::{processor_seconds, resident_mebibytes};
pub use status::Status;
pub use train::{Event, Finish, Watcher, train};
pub use workers::{Beside, Work, Workers};
