//! Everything that knows tensors: encoding, network, learner, weights.
//!
//! [`Encoding`] turns a game into planes and moves into labels. [`Weights`] are named tensors
//! on the host, the one form that learner, average, checkpoint, published [`Network`] and
//! [`NetworkEvaluator`] share; burn lends its tensors, kernels and automatic differentiation. All
//! arithmetic stays on the caller's thread, in an order fixed by shapes alone.

mod batch;
mod cache;
mod card;
mod cpu;
mod device;
mod encoding;
mod evaluator;
mod golden;
mod learner;
mod losses;
mod model;
mod named;
mod network;
mod onnx;
mod optimizer;
mod parallel;
mod snapshot;
mod storage;
mod sums;
mod team;
mod weights;
mod winograd;

pub use batch::{Batch, Sample};
pub use cache::CachedEvaluator;
pub use card::{Card, Heads};
pub use cpu::{Calibration, Features, Precision};
pub use device::{ComputeDevice, DeviceError, DeviceName};
pub use encoding::Encoding;
pub use evaluator::{Inference, NetworkEvaluator, calibrate};
pub use learner::{LearnError, Learner, StepReport, evaluate_losses};
pub use losses::{Losses, MOVES_LEFT_SCALE};
pub use network::{
    CARD_FILE, FORMAT_VERSION, GOLDEN_FILE, Network, NetworkError, ONNX_FILE, Provenance,
    VARIANT_FILE, WEIGHTS_FILE,
};
pub use optimizer::{ConfigError, LearnerConfig};
pub use parallel::in_parallel;
pub use snapshot::Snapshot;
pub use storage::StorageError;
pub use sums::SUMS_FILE;
pub use team::TeamEvaluator;
pub use weights::{Architecture, Parameter, Pooling, Weights};
