//! `keiko bench inference`: positions a second, by what computes them and how many at a time.

use super::{ROUNDS, median};
use crate::Failure;
use keiko_network::{
    Architecture, Calibration, ComputeDevice, Encoding, Features, Inference, Network,
    NetworkEvaluator, Precision, Weights, calibrate,
};
use keiko_rules::{Game, Move, Rules};
use keiko_selfplay::{Evaluator, Purpose, Wdl, generator, random_moves};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Positions evaluated in a round at least.
const POSITIONS: usize = 512;
/// How long one measurement takes at least.
const LONG_ENOUGH: Duration = Duration::from_millis(200);

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The variant.
    #[arg(default_value = "minishogi")]
    variant: String,
    /// A published network instead of a fresh one of the variant.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["channels", "blocks"])]
    network: Option<PathBuf>,
    /// Channels of the network.
    #[arg(long, default_value_t = 64)]
    channels: usize,
    /// Blocks of the network.
    #[arg(long, default_value_t = 5)]
    blocks: usize,
    /// Rounds, of which the medians are reported.
    #[arg(long, default_value_t = ROUNDS, value_parser = super::rounds)]
    rounds: usize,
    /// Positions a call.
    #[arg(long, value_delimiter = ',', default_value = "1,32")]
    batch: Vec<usize>,
}

/// One line of the table.
struct Path {
    name: String,
    inference: Inference,
    /// By batch size.
    rates: Vec<Vec<f64>>,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let (encoding, weights) = network(arguments)?;
    let rules = encoding.rules();
    let positions = positions(rules);
    let mut paths = paths(&weights, &encoding, &positions, arguments.batch.len());
    for round in 1..=arguments.rounds {
        for path in &mut paths {
            for (batch, rates) in arguments.batch.iter().zip(&mut path.rates) {
                let encoding = Arc::clone(&encoding);
                let mut evaluator =
                    NetworkEvaluator::new(&weights, encoding, *batch, &path.inference);
                rates.push(rate(&mut evaluator, &positions, *batch));
            }
        }
        tell!("round {round} of {}", arguments.rounds);
    }
    say!(
        "{} {}x{}, {} channels x {} blocks; positions a second inside the network, one core,",
        rules.name(),
        rules.files(),
        rules.ranks(),
        weights.architecture().channels,
        weights.architecture().blocks
    );
    say!("median of {} rounds that take turns; {:?}", arguments.rounds, Features::detect());
    let sizes: String = arguments.batch.iter().map(|batch| format!(" {batch:>9}")).collect();
    say!("{:16}{sizes}   policy KL and largest WDL difference to burn", "batch");
    let exact = answers(&mut evaluator(&weights, &encoding, &paths[0]), &positions);
    for path in paths {
        let found = answers(&mut evaluator(&weights, &encoding, &path), &positions);
        let (divergence, wdl) = differences(&exact, &found);
        let rates: String =
            path.rates.into_iter().map(|rates| format!(" {:9.0}", median(rates))).collect();
        say!("{:16}{rates}   {divergence:.1e} {wdl:.1e}", path.name);
    }
    Ok(ExitCode::SUCCESS)
}

/// The network to measure: a published one, or a fresh one.
fn network(arguments: &Arguments) -> Result<(Arc<Encoding>, Weights), Failure> {
    if let Some(folder) = &arguments.network {
        let network = Network::load(folder)?;
        let encoding = network.encoding(Arc::new(network.rules()?))?;
        return Ok((encoding, network.weights));
    }
    let encoding = Arc::new(Encoding::new(Arc::new(Rules::load(&arguments.variant)?)));
    let architecture = Architecture::plain(arguments.channels, arguments.blocks);
    let weights = Weights::init(&encoding, architecture, 1);
    Ok((encoding, weights))
}

fn evaluator(weights: &Weights, encoding: &Arc<Encoding>, path: &Path) -> NetworkEvaluator {
    NetworkEvaluator::new(weights, Arc::clone(encoding), 32, &path.inference)
}

/// What an evaluator says of positions: priors, and the chances.
fn answers(
    evaluator: &mut NetworkEvaluator,
    positions: &[(Game, Vec<Move>)],
) -> Vec<(Vec<f32>, Wdl)> {
    positions
        .iter()
        .map(|(game, legal)| {
            let slot = evaluator.push(game, legal);
            evaluator.run();
            let answer = evaluator.read(slot);
            (answer.prior.to_vec(), answer.wdl)
        })
        .collect()
}

/// The mean divergence of the policies, and the largest difference of a chance.
fn differences(exact: &[(Vec<f32>, Wdl)], found: &[(Vec<f32>, Wdl)]) -> (f32, f32) {
    let (mut divergence, mut most) = (0.0f32, 0.0f32);
    for ((prior, wdl), (other_prior, other)) in exact.iter().zip(found) {
        divergence += prior.iter().zip(other_prior).map(|(p, q)| p * (p / q).ln()).sum::<f32>();
        let pairs = [(wdl.win, other.win), (wdl.draw, other.draw), (wdl.loss, other.loss)];
        most = pairs.iter().fold(most, |most, (a, b)| most.max((a - b).abs()));
    }
    (divergence / exact.len() as f32, most)
}

/// Positions of random games, with their legal moves.
fn positions(rules: &Arc<Rules>) -> Vec<(Game, Vec<Move>)> {
    let mut found = Vec::new();
    for number in 0.. {
        let mut game = Game::new(Arc::clone(rules));
        let mut rng = generator(1, Purpose::Arena, number);
        random_moves(&mut game, number as u32 % 30, &mut rng);
        if game.conclusion().is_none() {
            let mut legal = Vec::new();
            game.legal_moves(&mut legal);
            found.push((game, legal));
        }
        if found.len() == POSITIONS {
            break;
        }
    }
    found
}

/// A calibration by positions of random games.
pub(super) fn calibration(weights: &Weights, encoding: &Encoding) -> Calibration {
    calibration_by(weights, encoding, &positions(encoding.rules()))
}

fn calibration_by(
    weights: &Weights,
    encoding: &Encoding,
    positions: &[(Game, Vec<Move>)],
) -> Calibration {
    let size = encoding.planes() * encoding.squares();
    let mut inputs = vec![0.0; positions.len() * size];
    for ((game, _), input) in positions.iter().zip(inputs.chunks_exact_mut(size)) {
        encoding.encode(game, input);
    }
    calibrate(weights, encoding, &inputs)
}

/// All paths this machine has, and those it would have with AVX2 and nothing newer.
fn paths(
    weights: &Weights,
    encoding: &Arc<Encoding>,
    positions: &[(Game, Vec<Move>)],
    sizes: usize,
) -> Vec<Path> {
    let calibration = calibration_by(weights, encoding, positions);
    let full = Features::detect();
    let avx2 = Features { avx2: full.avx2, ..Features::default() };
    let cpu = |precision, features| Inference::Cpu {
        precision,
        calibration: Some(calibration.clone()),
        features,
    };
    let mut paths = vec![("burn".to_owned(), Inference::Burn(ComputeDevice::cpu()))];
    for precision in [Precision::F32, Precision::Bf16, Precision::Int8] {
        if full.has(precision) {
            paths.push((format!("cpu {precision:?}").to_lowercase(), cpu(precision, full)));
        }
    }
    if full.avx2 && full != avx2 {
        for precision in [Precision::F32, Precision::Int8] {
            paths.push((format!("cpu {precision:?} avx2").to_lowercase(), cpu(precision, avx2)));
        }
    }
    let path = |(name, inference)| Path { name, inference, rates: vec![Vec::new(); sizes] };
    paths.into_iter().map(path).collect()
}

fn rate(evaluator: &mut NetworkEvaluator, positions: &[(Game, Vec<Move>)], batch: usize) -> f64 {
    let began = Instant::now();
    let mut all = positions.iter().cycle();
    while began.elapsed() < LONG_ENOUGH {
        for (game, legal) in all.by_ref().take(batch) {
            evaluator.push(game, legal);
        }
        evaluator.run();
    }
    evaluator.evaluations() as f64 / evaluator.busy().as_secs_f64()
}
