//! Errors as people see them: one message and an exit code.

use crate::external::ExternalError;
use keiko_network::{DeviceError, NetworkError, StorageError};
use keiko_rules::{RulesError, SfenError, UsiError};
use keiko_trainer::arena::PlayerError;
use keiko_trainer::metrics::MetricsError;
use keiko_trainer::store::StoreError;
use keiko_trainer::{CheckpointError, ExperimentError, RunError};
use std::fmt::Display;
use std::process::ExitCode;

/// Usage or configuration.
const USAGE: u8 = 2;
/// Device, disk or an outside program.
const ENVIRONMENT: u8 = 3;
/// Data or format.
const DATA: u8 = 4;

/// Stopped, and can be resumed.
pub(crate) const STOPPED: u8 = 10;

/// Why a command failed, for people, and the exit code for scripts.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// Something the user asked for wrongly.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure { message: message.to_string(), code: USAGE }
    }

    /// Something the machine does not give.
    pub(crate) fn environment(message: impl Display) -> Failure {
        Failure { message: message.to_string(), code: ENVIRONMENT }
    }

    /// Something that is not what it should be.
    pub(crate) fn data(message: impl Display) -> Failure {
        Failure { message: message.to_string(), code: DATA }
    }

    /// The exit code for scripts.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    /// Says it on standard error.
    pub(crate) fn report(&self) -> ExitCode {
        tell!("keiko: {}", self.message);
        ExitCode::from(self.code)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<RulesError> for Failure {
    fn from(error: RulesError) -> Failure {
        Failure::usage(error)
    }
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Failure {
        Failure::usage(error)
    }
}

impl From<SfenError> for Failure {
    fn from(error: SfenError) -> Failure {
        Failure::usage(error)
    }
}

impl From<UsiError> for Failure {
    fn from(error: UsiError) -> Failure {
        Failure::usage(error)
    }
}

impl From<NetworkError> for Failure {
    fn from(error: NetworkError) -> Failure {
        match error {
            NetworkError::Exists(_) => Failure::usage(error),
            NetworkError::Storage(StorageError::Io { .. }) => Failure::environment(error),
            _ => Failure::data(error),
        }
    }
}

impl From<ExternalError> for Failure {
    fn from(error: ExternalError) -> Failure {
        Failure::environment(error)
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Failure {
        Failure::environment(format!("machine.{error}"))
    }
}

impl From<PlayerError> for Failure {
    fn from(error: PlayerError) -> Failure {
        Failure::environment(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        RunError::from(error).into()
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        let code = match &error {
            RunError::Experiment(_) | RunError::Rules(_) => USAGE,
            RunError::NothingToLearn
            | RunError::NotARun(_)
            | RunError::NoRun(_)
            | RunError::Exists(_)
            | RunError::OtherOrigin { .. }
            | RunError::OtherShapes { .. }
            | RunError::OtherGame { .. }
            | RunError::Changed { .. }
            | RunError::RulesChanged { .. } => USAGE,
            RunError::Locked(_) | RunError::Player(_) | RunError::Device(_) => ENVIRONMENT,
            RunError::Memory { .. } => ENVIRONMENT,
            RunError::Checkpoint(CheckpointError::Io { .. } | CheckpointError::Storage(_)) => {
                ENVIRONMENT
            }
            RunError::Store(StoreError::Io { .. }) => ENVIRONMENT,
            RunError::Metrics(MetricsError::Io { .. }) => ENVIRONMENT,
            RunError::Network(NetworkError::Storage(StorageError::Io { .. })) => ENVIRONMENT,
            RunError::RunExperiment(_) | RunError::RunRules(_) => DATA,
            RunError::Checkpoint(_) | RunError::Store(_) | RunError::Metrics(_) => DATA,
            RunError::Network(_) | RunError::Learn { .. } => DATA,
            RunError::Panicked(_) | RunError::Torn { .. } => DATA,
        };
        Failure { message: error.to_string(), code }
    }
}
