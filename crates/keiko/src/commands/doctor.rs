//! `keiko doctor`: what this machine gives, and what an experiment makes of it.

mod machine;
mod pace;

use super::init::{cores, fastest};
use crate::Failure;
use keiko_network::{Features, Precision};
use keiko_trainer::Experiment;
use machine::Machine;
use pace::Pace;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Memory that a run wants beside its window, in bytes.
const LITTLE_MEMORY: u64 = 1 << 30;
/// Disk that a run of a few days wants, in bytes.
const LITTLE_DISK: u64 = 5 << 30;
/// Share of the cores that other programs may have before measured rates say little.
const OTHERS: f64 = 0.25;

/// Says what this machine has, and measures how fast an experiment plays and learns on it.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko doctor configs/minishogi.toml")]
pub(crate) struct Arguments {
    /// The experiment; the default job if not said.
    experiment: Option<PathBuf>,
    /// Override a value of the experiment; may be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "experiment")]
    set: Vec<String>,
    /// Where runs are to be written.
    #[arg(long, value_name = "DIR", default_value = "checkpoints")]
    runs: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let experiment = match &arguments.experiment {
        Some(file) => Experiment::load(file, &arguments.set)?,
        None => Experiment::default_job(),
    };
    let (machine, features) = (Machine::look(&arguments.runs), Features::detect());
    print_machine(&machine, &arguments.runs, features);
    let advice = advice(&experiment, &machine, features);
    let pace = Pace::measure(experiment)?;
    pace.print();
    match advice.as_slice() {
        [] => say!("advice      none: nothing is amiss"),
        lines => lines.iter().for_each(|line| say!("advice      {line}")),
    }
    Ok(ExitCode::SUCCESS)
}

fn print_machine(machine: &Machine, runs: &Path, features: Features) {
    let gigabytes = |bytes: Option<u64>| {
        bytes.map_or("not told by this system".to_owned(), |it| {
            format!("{:.1} GiB", it as f64 / (1u64 << 30) as f64)
        })
    };
    say!("cores       {}", machine.cores);
    say!("memory      {}, free {}", gigabytes(machine.memory), gigabytes(machine.free_memory));
    say!("disk        free {} for {}", gigabytes(machine.free_disk), runs.display());
    say!("vectors     {}", describe(features));
    for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
        let how = match precision {
            _ if precision == fastest(features) => "fastest here",
            _ if features.has(precision) => "has instructions of its own here",
            _ => "slow here: no instructions for it",
        };
        say!("precision   {}: {how}", name(precision));
    }
}

fn name(precision: Precision) -> String {
    format!("{precision:?}").to_lowercase()
}

fn describe(features: Features) -> String {
    let all = [
        ("AVX2", features.avx2),
        ("AVX-512", features.avx512),
        ("AVX-512 bf16", features.bf16),
        ("AVX-512 VNNI", features.vnni),
        ("AVX-VNNI", features.avx_vnni),
    ];
    let has: Vec<&str> = all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
    if has.is_empty() { "none that keiko has kernels for".to_owned() } else { has.join(", ") }
}

/// A line for everything that is amiss.
fn advice(experiment: &Experiment, machine: &Machine, features: Features) -> Vec<String> {
    let (settings, cores) = (&experiment.machine, machine.cores);
    let mut lines = Vec::new();
    if !settings.device.is_gpu() && settings.workers != cores {
        let workers = settings.workers;
        lines.push(format!("machine.workers = {workers} on {cores} cores: one a core is best"));
    }
    lines.extend(super::train::slow(experiment.inference.precision, features));
    if machine.free_memory.is_some_and(|bytes| bytes < LITTLE_MEMORY) {
        lines.push("less than 1 GiB of memory is free: end other programs".to_owned());
    }
    if machine.free_disk.is_some_and(|bytes| bytes < LITTLE_DISK) {
        lines.push("less than 5 GiB of disk is free: a run of days may fill it".to_owned());
    }
    if let Some(load) = machine.load.filter(|load| *load > OTHERS * cores as f64) {
        lines.push(format!(
            "other programs keep about {load:.1} of {cores} cores busy: the measured rates are \
             lower than this machine's own"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_amiss_is_said() {
        let mut experiment = Experiment::default_job();
        experiment.inference.precision = Precision::F32;
        let cores = experiment.machine.workers;
        let machine = Machine {
            cores,
            memory: Some(8 << 30),
            free_memory: Some(4 << 30),
            free_disk: Some(100 << 30),
            load: Some(0.1),
        };
        assert!(advice(&experiment, &machine, Features::default()).is_empty());
        let poor = Machine {
            cores: cores + 1,
            free_memory: Some(1 << 20),
            free_disk: Some(1 << 20),
            load: Some(9.0),
            ..machine
        };
        let lines = advice(&experiment, &poor, Features::default());
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].contains("one a core is best"), "{lines:?}");
    }
}
