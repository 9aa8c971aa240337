//! The experiment: training loop, replay store, checkpoints, arena, metrics.
//!
//! [`Run::open`] opens or creates a run folder from an [`Experiment`]; [`train`] goes on with
//! it until it is complete or stopped. [`arena`] plays matches between any players.

pub mod arena;
mod checkpoint;
mod clock;
pub mod elo;
mod experiment;
mod measure;
pub mod metrics;
mod replay;
mod run;
mod statistics;
mod status;
pub mod store;
mod train;
mod workers;

pub use checkpoint::{CheckpointError, Phase, Published, State};
pub use experiment::{
    ArenaConfig, Change, Experiment, ExperimentError, Explained, Key, MachineConfig, Origin,
    TrainingConfig,
};
pub use replay::ReplayBuffer;
pub use run::{Opened, Run, RunError};
pub use status::Status;
pub use train::{Event, Finish, Watcher, train};
pub use workers::{Work, Workers};
