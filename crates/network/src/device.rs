//! Where tensors are computed: this processor, or a GPU that burn can drive.

use crate::golden::{self, Answers};
use crate::model::{Model, host, input};
use crate::{Architecture, Encoding, Weights};
use burn::tensor::{Device, StreamId, Tensor};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// Rows of a pass on this processor: beyond the last activations leave the cache, and matrix
/// products of a single row take another path, with other rounding.
const CPU_PASSES: &[usize] = &[2, 4, 8, 16, 32];
/// Rows of a pass on a GPU, which compiles kernels for each shape it meets.
const GPU_PASSES: &[usize] = &[8, 32, 128, 512];

/// How far a GPU's answers may be from this processor's, in parts of the larger of the answer
/// and 1.
const TOLERANCE: f32 = 1e-3;

/// A kind of device, whether or not this program was built with it.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Kind {
    Cpu,
    Vulkan,
    Metal,
    Cuda,
    Rocm,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Cpu, Kind::Vulkan, Kind::Metal, Kind::Cuda, Kind::Rocm];

    fn name(self) -> &'static str {
        match self {
            Kind::Cpu => "cpu",
            Kind::Vulkan => "vulkan",
            Kind::Metal => "metal",
            Kind::Cuda => "cuda",
            Kind::Rocm => "rocm",
        }
    }

    fn is_built(self) -> bool {
        match self {
            Kind::Cpu => true,
            Kind::Vulkan => cfg!(feature = "vulkan"),
            Kind::Metal => cfg!(feature = "metal"),
            Kind::Cuda => cfg!(feature = "cuda"),
            Kind::Rocm => cfg!(feature = "rocm"),
        }
    }

    /// The devices of this kind that are here: GPUs of their own memory first, software last.
    fn devices(self) -> Vec<Device> {
        #[cfg(any(feature = "metal", feature = "cuda", feature = "rocm"))]
        use burn::tensor::DeviceType;
        match self {
            Kind::Cpu => vec![Device::flex()],
            #[cfg(feature = "vulkan")]
            Kind::Vulkan => vulkan_devices(),
            #[cfg(feature = "metal")]
            Kind::Metal => Device::enumerate(DeviceType::Metal).into_vec(),
            #[cfg(feature = "cuda")]
            Kind::Cuda => Device::enumerate(DeviceType::Cuda).into_vec(),
            #[cfg(feature = "rocm")]
            Kind::Rocm => Device::enumerate(DeviceType::Rocm).into_vec(),
            #[allow(unreachable_patterns, reason = "not when all features are on")]
            _ => Vec::new(),
        }
    }
}

/// burn lists Vulkan's devices only if it is built with a compiler that we do without.
#[cfg(feature = "vulkan")]
fn vulkan_devices() -> Vec<Device> {
    use burn_dispatch::devices::{CubeDevice, WgpuBackend, WgpuDevice, WgpuDeviceKind};
    let kinds = [
        WgpuDeviceKind::DiscreteGpu(0),
        WgpuDeviceKind::IntegratedGpu(0),
        WgpuDeviceKind::VirtualGpu(0),
        WgpuDeviceKind::Cpu,
    ];
    let first = |kind| CubeDevice::Wgpu(WgpuDevice::new(kind).on(WgpuBackend::Vulkan));
    // All that are of the kind of the first.
    let like = |kind| CubeDevice::enumerate(first(kind).to_id());
    kinds.into_iter().flat_map(like).map(|id| Device::new(CubeDevice::from_id(id))).collect()
}

/// Names of kinds, for a message.
fn listed(kinds: impl Iterator<Item = Kind>) -> String {
    kinds.map(Kind::name).collect::<Vec<_>>().join(", ")
}

/// A device as an experiment names it: `"cpu"`, or a kind of GPU and which of them, `"vulkan:0"`.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DeviceName {
    kind: Kind,
    index: usize,
}

impl DeviceName {
    /// This processor.
    pub const CPU: DeviceName = DeviceName { kind: Kind::Cpu, index: 0 };

    /// Whether it names a GPU.
    pub fn is_gpu(self) -> bool {
        self.kind != Kind::Cpu
    }

    /// Refuses a kind of device that this program was built without.
    ///
    /// # Errors
    /// Then.
    pub fn check_built(self) -> Result<(), DeviceError> {
        if self.kind.is_built() {
            return Ok(());
        }
        let has = listed(Kind::ALL.into_iter().filter(|kind| kind.is_built()));
        Err(DeviceError::NotBuilt { name: self, kind: self.kind.name(), has })
    }

    /// Opens the device.
    ///
    /// # Errors
    /// When this program was built without it, it is not here, or its driver refuses.
    pub fn open(self) -> Result<ComputeDevice, DeviceError> {
        self.check_built()?;
        let broken = |reason| DeviceError::Broken { name: self, reason };
        let devices = quietly(|| self.kind.devices()).map_err(broken)?;
        let count = devices.len();
        let Some(tensors) = devices.into_iter().nth(self.index) else {
            return Err(DeviceError::Absent { name: self, kind: self.kind.name(), count });
        };
        let mut device = ComputeDevice { name: self, tensors, hardware: None };
        // burn opens a device when it is first used.
        let first_use = || Tensor::<1>::zeros([1], device.tensors()).into_data();
        quietly(|| device.run(first_use)).map_err(broken)?;
        device.hardware = hardware(device.tensors());
        Ok(device)
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Cpu => f.write_str("cpu"),
            kind => write!(f, "{}:{}", kind.name(), self.index),
        }
    }
}

impl FromStr for DeviceName {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<DeviceName, DeviceError> {
        let (name, index) = text.split_once(':').unwrap_or((text, "0"));
        let unknown = || {
            let hint = keiko_rules::nearest(name, Kind::ALL.map(Kind::name));
            let hint = hint.map_or(String::new(), |found| format!("; did you mean `{found}`?"));
            DeviceError::Unknown { text: text.to_owned(), hint }
        };
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)?;
        let index = index.parse().map_err(|_| DeviceError::Index(text.to_owned()))?;
        if kind == Kind::Cpu && text != "cpu" {
            return Err(DeviceError::Index(text.to_owned()));
        }
        Ok(DeviceName { kind, index })
    }
}

impl TryFrom<String> for DeviceName {
    type Error = DeviceError;

    fn try_from(text: String) -> Result<DeviceName, DeviceError> {
        text.parse()
    }
}

impl JsonSchema for DeviceName {
    fn schema_name() -> Cow<'static, str> {
        "DeviceName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let gpus: Vec<&str> = Kind::ALL[1..].iter().map(|kind| kind.name()).collect();
        let pattern = format!("^(cpu|({})(:[0-9]+)?)$", gpus.join("|"));
        json_schema!({ "type": "string", "pattern": pattern })
    }
}

impl From<DeviceName> for String {
    fn from(name: DeviceName) -> String {
        name.to_string()
    }
}

/// Why a device cannot be used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum DeviceError {
    /// No kind of device has this name.
    #[error("`{text}` is no device: those are cpu, vulkan:0, metal:0, cuda:0 and rocm:0{hint}")]
    Unknown {
        /// The name.
        text: String,
        /// A suggestion, ready to print.
        hint: String,
    },
    /// What comes after the colon is no number, or `cpu` has one.
    #[error("`{0}` is no device: a GPU's number follows its kind, as in vulkan:0; cpu has none")]
    Index(String),
    /// This program cannot drive devices of this kind.
    #[error(
        "device = \"{name}\": this program was built without {kind}; it has {has} \
         (cargo build --release --features {kind})"
    )]
    NotBuilt {
        /// The device.
        name: DeviceName,
        /// Its kind.
        kind: &'static str,
        /// The kinds there are.
        has: String,
    },
    /// There is no such device here.
    #[error(
        "device = \"{name}\": there is no such device: the drivers of this machine show {count} of {kind}"
    )]
    Absent {
        /// The device.
        name: DeviceName,
        /// Its kind.
        kind: &'static str,
        /// How many of its kind there are.
        count: usize,
    },
    /// The driver refuses, or cannot do what the network needs.
    #[error("device = \"{name}\": it cannot be used: {reason}")]
    Broken {
        /// The device.
        name: DeviceName,
        /// What the driver says.
        reason: String,
    },
    /// It computes something else than this processor.
    #[error(
        "device = \"{name}\": it fails its self-test and is not used: in passes of {rows} its answers \
         to {positions} positions differ from this processor's by {difference:.1e}; allowed is {allowed:.0e}",
        positions = golden::POSITIONS,
        allowed = TOLERANCE
    )]
    Wrong {
        /// The device.
        name: DeviceName,
        /// Rows of the passes that differ.
        rows: usize,
        /// The largest difference; no number if an answer is none.
        difference: f32,
    },
}

/// A device that was opened.
#[derive(Clone, PartialEq, Debug)]
pub struct ComputeDevice {
    name: DeviceName,
    tensors: Device,
    /// What its driver calls it.
    hardware: Option<String>,
}

impl ComputeDevice {
    /// This processor.
    pub fn cpu() -> ComputeDevice {
        ComputeDevice { name: DeviceName::CPU, tensors: Device::flex(), hardware: None }
    }

    /// Whether it is a GPU.
    pub fn is_gpu(&self) -> bool {
        self.name.is_gpu()
    }

    /// Refuses a GPU whose answers to the golden positions differ from the exact kernels', for
    /// a network of this size with made-up weights, in every shape of pass.
    ///
    /// # Errors
    /// When answers differ by more than 1e-3, one is no number, or the device gives none.
    pub fn self_test(
        &self,
        encoding: &Encoding,
        architecture: Architecture,
    ) -> Result<(), DeviceError> {
        if !self.is_gpu() {
            return Ok(());
        }
        let weights = made_up_weights(encoding, architecture);
        let positions = golden::positions(encoding);
        let expected = Answers::of(&weights, encoding, &positions);
        let broken = |reason| DeviceError::Broken { name: self.name, reason };
        let model = quietly(|| self.run(|| Model::fixed(encoding, &weights, &self.tensors)))
            .map_err(broken)?;
        for &rows in self.passes() {
            let answers = || Answers::on(self, &model, encoding, &positions, rows);
            let difference = quietly(answers).map_err(broken)?.relative_difference(&expected);
            if difference.is_nan() || difference > TOLERANCE {
                return Err(DeviceError::Wrong { name: self.name, rows, difference });
            }
        }
        Ok(())
    }

    /// burn's name of it.
    pub(crate) fn tensors(&self) -> &Device {
        &self.tensors
    }

    /// Rows a pass through the network may have: few shapes, so that a position is always
    /// computed by the same kernels.
    pub(crate) fn passes(&self) -> &'static [usize] {
        if self.is_gpu() { GPU_PASSES } else { CPU_PASSES }
    }

    /// A network's outputs for up to `rows` positions, each `[planes, squares]`: policy logits
    /// `[rows, squares, labels]` and value outputs `[rows, 4]`.
    pub(crate) fn forward(
        &self,
        model: &Model,
        encoding: &Encoding,
        positions: &[f32],
        rows: usize,
    ) -> (Vec<f32>, Vec<f32>) {
        self.run(|| {
            let (policy, value) = model.forward(input(positions, rows, encoding, &self.tensors));
            (host(policy), host(value))
        })
    }

    /// Does work on the device, on a GPU in one queue whatever thread calls: burn gives each
    /// thread a queue with memory of its own, and every generation has new threads.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.is_gpu() { StreamId { value: 0 }.executes(work) } else { work() }
    }
}

impl fmt::Display for ComputeDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hardware {
            Some(hardware) => write!(f, "{} ({hardware})", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

/// What a GPU's driver calls it.
#[cfg(feature = "gpu")]
fn hardware(device: &Device) -> Option<String> {
    device.identity().map(|identity| identity.name)
}

#[cfg(not(feature = "gpu"))]
fn hardware(_: &Device) -> Option<String> {
    None
}

/// Fresh weights without zeros, and with answers about as strong as a learned network's: fresh
/// ones answer nearly the same to everything.
fn made_up_weights(encoding: &Encoding, architecture: Architecture) -> Weights {
    let mut weights = Weights::init(encoding, architecture, 0);
    for parameter in weights.parameters_mut() {
        let is_output = ["policy.output", "value.wdl", "value.moves_left"]
            .iter()
            .any(|layer| parameter.name.starts_with(layer));
        let factor = if is_output { 10.0 } else { 1.0 };
        let value = |x: &mut f32| *x = if *x == 0.0 { 0.1 } else { *x * factor };
        parameter.values.iter_mut().for_each(value);
    }
    weights
}

/// What `work` gives, or the message of its panic: burn has no other way to say that a driver
/// refuses. Nothing is printed.
fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // The process has one hook: two threads at this would lose it.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    std::panic::set_hook(hook);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("its driver gives no reason").to_owned()
    })
}

#[cfg(test)]
mod tests;
