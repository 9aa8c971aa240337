//! `keiko bench`: how fast, in rounds that take turns.

mod inference;
mod mates;
mod perft;
mod store;
pub(super) mod training;

use crate::Failure;
use keiko_network::{ComputeDevice, Encoding, Inference, Network, Weights};
use keiko_rules::Rules;
use keiko_trainer::{Experiment, Work, Workers};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rounds of each measurement; medians are reported.
const ROUNDS: usize = 7;

/// Measures speed: medians of rounds that take turns, so that a noisy machine hits all alike.
#[derive(clap::Args)]
#[command(after_help = "Examples: keiko bench perft\n          \
    keiko bench perft minishogi microshogi=micro --against fairy-stockfish\n          \
    keiko bench training configs/minishogi.toml\n          \
    keiko bench mates configs/minishogi.toml\n          \
    keiko bench store configs/minishogi.toml --dir scratch\n          \
    keiko bench selfplay configs/minishogi.toml")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Leaves a second of perft from the start, and the time of a move, one core.
    Perft(perft::Arguments),
    /// Positions a second inside the network, by what computes them.
    Inference(inference::Arguments),
    /// Samples a second in learning, by what computes the gradient and on how many threads.
    Training(training::Arguments),
    /// What looking for forced wins costs self-play, by depth, and what it finds, one core.
    Mates(mates::Arguments),
    /// A replay store of many positions of random play: how long it takes to open, and to draw from.
    Store(store::Arguments),
    /// Self-play of an experiment's untrained network, or of a published one of its game,
    /// on one worker and on as many as it says.
    Selfplay {
        /// The experiment.
        experiment: PathBuf,
        /// A published network.
        #[arg(long, value_name = "DIR")]
        network: Option<PathBuf>,
        /// Override a value of the experiment; may be given many times.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Seconds of a round.
        #[arg(long, default_value_t = 5.0)]
        seconds: f64,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.what {
        What::Perft(arguments) => perft::run(arguments),
        What::Inference(arguments) => inference::run(arguments),
        What::Training(arguments) => training::run(arguments),
        What::Mates(arguments) => mates::run(arguments),
        What::Store(arguments) => store::run(arguments),
        What::Selfplay { experiment, network, set, seconds } => {
            bench_selfplay(experiment, network.as_deref(), set, *seconds)
        }
    }
}

/// Figures of one round.
#[derive(Clone, Default)]
struct Rates {
    evaluations: Vec<f64>,
    remembered: Vec<f64>,
    inside: Vec<f64>,
    games: Vec<f64>,
    positions: Vec<f64>,
}

/// A network that plays by an experiment.
pub(super) struct Subject {
    pub(super) experiment: Experiment,
    pub(super) rules: Arc<Rules>,
    pub(super) encoding: Arc<Encoding>,
    pub(super) weights: Weights,
    pub(super) device: ComputeDevice,
    pub(super) inference: Inference,
}

impl Subject {
    /// The experiment's untrained network, or a published one of its game.
    fn load(file: &Path, network: Option<&Path>, set: &[String]) -> Result<Subject, Failure> {
        Subject::of(Experiment::load(file, set)?, network)
    }

    /// The same of an experiment that was read.
    pub(super) fn of(experiment: Experiment, network: Option<&Path>) -> Result<Subject, Failure> {
        let rules = Arc::new(Rules::load(&experiment.rules)?);
        let (encoding, weights) = match network {
            Some(folder) => {
                let network = Network::load(folder)?;
                (network.encoding(Arc::clone(&rules))?, network.weights)
            }
            None => {
                let encoding = experiment.encoding(&rules);
                let weights = Weights::init(&encoding, experiment.network, experiment.seed);
                (encoding, weights)
            }
        };
        let device = experiment.machine.device.open()?;
        device.self_test(&encoding, weights.architecture())?;
        let kernels = || {
            let calibration = inference::calibration(&weights, &encoding);
            Inference::cpu(experiment.inference.precision, Some(calibration))
        };
        let inference = Inference::on_gpu(&device).unwrap_or_else(kernels);
        Ok(Subject { experiment, rules, encoding, weights, device, inference })
    }
}

fn bench_selfplay(
    file: &Path,
    network: Option<&Path>,
    set: &[String],
    seconds: f64,
) -> Result<ExitCode, Failure> {
    let subject = Subject::load(file, network, set)?;
    let Subject { experiment, rules, encoding, weights, device, inference } = &subject;
    let architecture = weights.architecture();
    let more = (!device.is_gpu()).then(|| experiment.machine.workers.max(2));
    let counts: Vec<usize> = std::iter::once(1).chain(more).collect();
    let mut rates = vec![Rates::default(); counts.len()];
    let round_of = |count: usize| {
        let workers = Workers {
            count,
            batch: experiment.machine.batch,
            cache: experiment.machine.cache,
            weights,
            inference: inference.clone(),
            encoding,
        };
        one_round(&workers, experiment, rules, seconds)
    };
    for round in 1..=ROUNDS {
        for (&count, rates) in counts.iter().zip(&mut rates) {
            let (work, elapsed) = round_of(count);
            rates.add(&work, elapsed, count);
        }
        tell!("round {round} of {ROUNDS}");
    }
    say!(
        "self-play of {} on {device}, {} blocks of {} channels, batches of {}, median of {ROUNDS} rounds of {seconds} s",
        rules.name(),
        architecture.blocks,
        architecture.channels,
        experiment.machine.batch
    );
    for (count, rates) in counts.iter().zip(&rates) {
        rates.print(*count);
    }
    if let [one, many] = rates.as_slice() {
        let pairs = one.evaluations.iter().zip(&many.evaluations);
        let ratio = median(pairs.map(|(one, many)| many / one).collect());
        say!("{} workers against 1: {ratio:.2} times the evaluations", counts[1]);
    }
    Ok(ExitCode::SUCCESS)
}

/// Plays until the time is over.
pub(super) fn one_round(
    workers: &Workers<'_>,
    experiment: &Experiment,
    rules: &Arc<Rules>,
    seconds: f64,
) -> (Work, Duration) {
    let selfplay = experiment.selfplay(rules, 0, 0);
    // More games than any machine plays in a round.
    let numbers: Vec<u64> = (0..1_000_000).collect();
    let began = Instant::now();
    let stop = || began.elapsed().as_secs_f64() > seconds;
    let work = workers.play(&selfplay, &numbers, stop, |_| ());
    (work, began.elapsed())
}

impl Rates {
    fn add(&mut self, work: &Work, elapsed: Duration, workers: usize) {
        let seconds = elapsed.as_secs_f64();
        self.evaluations.push(work.evaluations as f64 / seconds);
        let asked = (work.evaluations + work.remembered).max(1);
        self.remembered.push(work.remembered as f64 / asked as f64);
        self.inside.push(work.inside_network.as_secs_f64() / seconds / workers as f64);
        self.games.push(work.games.len() as f64 / seconds);
        self.positions
            .push(work.games.iter().map(|game| game.plies.len()).sum::<usize>() as f64 / seconds);
    }

    fn print(&self, workers: usize) {
        say!(
            "{workers} worker{}: {:.0} evaluations a second and {:.1}% more remembered, {:.1}% of the \
             time inside the network, {:.2} games and {:.0} positions a second",
            if workers == 1 { "" } else { "s" },
            median(self.evaluations.clone()),
            100.0 * median(self.remembered.clone()),
            100.0 * median(self.inside.clone()),
            median(self.games.clone()),
            median(self.positions.clone())
        );
    }
}

/// Reads a number of rounds.
fn rounds(text: &str) -> Result<usize, String> {
    let rounds = text.parse().ok().filter(|rounds| (1..=1000).contains(rounds));
    rounds.ok_or_else(|| "expected a number from 1 to 1000".to_owned())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
