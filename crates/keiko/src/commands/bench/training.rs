//! `keiko bench training`: learner steps a second, by what computes the gradient.

use super::{ROUNDS, median};
use crate::Failure;
use keiko_network::{Batch, Encoding, Features, Learner};
use keiko_rules::Rules;
use keiko_selfplay::{Purpose, UniformEvaluator, generator};
use keiko_trainer::{Experiment, ReplayBuffer};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Games that the samples come from.
const GAMES: u64 = 32;
/// Steps of one measurement.
const STEPS: usize = 4;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The experiment.
    experiment: PathBuf,
    /// Override a value of the experiment; may be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Rounds, of which the medians are reported.
    #[arg(long, default_value_t = ROUNDS, value_parser = super::rounds)]
    rounds: usize,
}

/// One line of the table.
struct Path {
    name: &'static str,
    threads: usize,
    learner: Learner,
    rates: Vec<f64>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let experiment = Experiment::load(&arguments.experiment, &arguments.set)?;
    let rules = Arc::new(Rules::load(&experiment.rules)?);
    let encoding = experiment.encoding(&rules);
    let batches = batches(&experiment, &rules, &encoding);
    let mut paths = paths(&experiment, &encoding);
    let learning_rate = experiment.training.learning_rate.at(100);
    // Not measured: the first steps wait for their memory.
    paths.iter_mut().for_each(|path| _ = rate(path, &batches, learning_rate));
    for round in 1..=arguments.rounds {
        for path in &mut paths {
            let rate = rate(path, &batches, learning_rate);
            path.rates.push(rate);
        }
        tell!("round {round} of {}", arguments.rounds);
    }
    let training = &experiment.training;
    say!(
        "{}, {} channels x {} blocks, steps of {} samples, {} at a time;",
        rules.name(),
        experiment.network.channels,
        experiment.network.blocks,
        training.batch_size,
        training.micro_batch
    );
    say!(
        "samples a second: gradient, optimizer and average; medians of {} rounds",
        arguments.rounds
    );
    say!("that take turns; {:?}", Features::detect());
    for Path { name, threads, rates, .. } in &paths {
        let s = if *threads == 1 { "" } else { "s" };
        say!("{name:6} {threads} thread{s:1} {:9.0}", median(rates.clone()));
    }
    for pair in paths.chunks_exact(2) {
        let gains = pair[0].rates.iter().zip(&pair[1].rates).map(|(one, many)| many / one);
        let gain = median(gains.collect());
        say!("{}: {} threads against 1: {gain:.2} times", pair[0].name, pair[1].threads);
    }
    Ok(ExitCode::SUCCESS)
}

/// keiko's kernels and burn, each on one thread and on as many as the experiment says.
fn paths(experiment: &Experiment, encoding: &Arc<Encoding>) -> Vec<Path> {
    let weights = experiment.initial_weights(encoding);
    let learner = Learner::new(Arc::clone(encoding), experiment.learner, weights);
    let many = experiment.machine.workers.max(2);
    let lines = [("keiko", learner.clone()), ("burn", learner.by_burn())];
    let path = |(name, learner): (&'static str, Learner)| {
        [1, many].map(|threads| Path { name, threads, learner: learner.clone(), rates: Vec::new() })
    };
    lines.into_iter().flat_map(path).collect()
}

/// A step's samples, from games played by a search without a network.
pub(in crate::commands) fn batches(
    experiment: &Experiment,
    rules: &Arc<Rules>,
    encoding: &Arc<Encoding>,
) -> Vec<Batch> {
    let selfplay = experiment.selfplay(rules, 0, 0);
    let (numbers, games) = (Mutex::new(0..GAMES), Mutex::new(Vec::new()));
    let take = || numbers.lock().expect("no panic while it was held").next();
    let finished = |game| games.lock().expect("no panic while it was held").push(game);
    selfplay.play(&mut UniformEvaluator::default(), take, finished, || false);
    let training = &experiment.training;
    let mut replay = ReplayBuffer::new(Arc::clone(rules), experiment);
    replay.extend(games.into_inner().expect("no panic while it was held"), usize::MAX);
    let mut rng = generator(experiment.seed, Purpose::Batch, 0);
    let draws = replay.draw(training.batch_size, &mut rng);
    draws.chunks(training.micro_batch).map(|some| replay.batch(encoding, some)).collect()
}

fn rate(path: &mut Path, batches: &[Batch], learning_rate: f32) -> f64 {
    let samples: usize = batches.iter().map(Batch::len).sum();
    let began = Instant::now();
    for _ in 0..STEPS {
        let step = path.learner.step(batches, learning_rate, path.threads);
        step.expect("made-up games have finite losses");
    }
    (STEPS * samples) as f64 / began.elapsed().as_secs_f64()
}
