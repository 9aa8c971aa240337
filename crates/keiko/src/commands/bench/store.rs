//! `keiko bench store`: a store of many positions, opened and drawn from.

use crate::Failure;
use keiko_rules::{Game, Rules};
use keiko_selfplay::{GameRecord, Ply, Purpose, Start, StartKind, Wdl, generator, random_moves};
use keiko_trainer::store::{Store, StoreError};
use keiko_trainer::{Experiment, ReplayBuffer, resident_mebibytes};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Games that are made; a store of more has them again and again, under other numbers.
const DIFFERENT_GAMES: u64 = 4096;
/// Games stored at a time, as a generation's are.
const GENERATION: usize = 512;
/// Batches that are drawn.
const BATCHES: u64 = 40;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The experiment.
    experiment: PathBuf,
    /// Override a value of the experiment; may be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Positions in the store.
    #[arg(long, default_value_t = 10_000_000)]
    positions: u64,
    /// The folder to make it in; it must not be there yet, and is removed in the end.
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let experiment = Experiment::load(&arguments.experiment, &arguments.set)?;
    if arguments.dir.exists() {
        let message = format!("{}: is there already", arguments.dir.display());
        return Err(Failure::usage(message));
    }
    let measured = measure(&experiment, arguments.positions, &arguments.dir);
    std::fs::remove_dir_all(&arguments.dir)
        .map_err(|error| Failure::environment(format!("{}: {error}", arguments.dir.display())))?;
    measured.map(|()| ExitCode::SUCCESS)
}

fn measure(experiment: &Experiment, positions: u64, dir: &Path) -> Result<(), Failure> {
    let rules = Arc::new(Rules::load(&experiment.rules)?);
    fill(dir, &games(experiment, &rules), positions)?;
    for how in ["by its indexes", "without them"] {
        let began = Instant::now();
        let (store, report) = Store::open(dir)?;
        let mebibytes = store.listing().bytes() >> 20;
        let seconds = began.elapsed().as_secs_f64();
        say!("opened in {seconds:.2} s {how}: {report}, {mebibytes} MiB");
        if how == "by its indexes" {
            draw(experiment, &rules, &store)?;
            remove_indexes(dir)?;
        }
    }
    Ok(())
}

/// Fills a window as the experiment has it with the newest games, and draws from it.
fn draw(experiment: &Experiment, rules: &Arc<Rules>, store: &Store) -> Result<(), Failure> {
    let before = resident_mebibytes().unwrap_or(f64::NAN);
    let began = Instant::now();
    let mut replay = ReplayBuffer::new(Arc::clone(rules), experiment);
    let window = experiment.window(store.games());
    let first = store.games().saturating_sub(window as u64);
    let mut unread = None;
    let blocks = store.listing().read(first..u64::MAX);
    let games = blocks.map_while(|block| block.map_err(|error| unread = Some(error)).ok());
    replay.extend(games.flatten(), window);
    if let Some(error) = unread {
        return Err(error.into());
    }
    say!(
        "filled the window in {:.2} s: {} games, {} positions to draw; {} MiB counted, {:.0} MiB more \
         resident",
        began.elapsed().as_secs_f64(),
        replay.games(),
        replay.positions(),
        replay.bytes() >> 20,
        resident_mebibytes().unwrap_or(f64::NAN) - before
    );
    let (encoding, size) = (experiment.encoding(rules), experiment.training.batch_size);
    let began = Instant::now();
    for number in 0..BATCHES {
        let draws = replay.draw(size, &mut generator(experiment.seed, Purpose::Batch, number));
        std::hint::black_box(replay.batch(&encoding, &draws));
    }
    let rate = (BATCHES * size as u64) as f64 / began.elapsed().as_secs_f64();
    say!("draws {rate:.0} samples a second on one core: {:.1} steps of {size}", rate / size as f64);
    Ok(())
}

fn fill(dir: &Path, games: &[GameRecord], positions: u64) -> Result<(), StoreError> {
    let (mut store, _) = Store::open(dir)?;
    let (mut stored, mut next, mut generation) = (0, 0, Vec::new());
    while stored < positions {
        let game = &games[(next % DIFFERENT_GAMES) as usize];
        stored += game.plies.len() as u64;
        generation.push(GameRecord { number: next, ..game.clone() });
        next += 1;
        if generation.len() == GENERATION || stored >= positions {
            store.append(&generation)?;
            generation.clear();
        }
    }
    tell!("a store of {stored} positions in {next} games");
    Ok(())
}

fn remove_indexes(dir: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::environment(format!("{}: {error}", dir.display()));
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|it| it == "idx") {
            std::fs::remove_file(path).map_err(failed)?;
        }
    }
    Ok(())
}

/// Games of random moves, with searches that found out nothing in particular.
fn games(experiment: &Experiment, rules: &Arc<Rules>) -> Vec<GameRecord> {
    let game = |number| {
        let mut rng = generator(experiment.seed, Purpose::Game, number);
        let mut game = Game::new(Arc::clone(rules));
        game.set_ply_limit(Some(experiment.selfplay.ply_limit));
        let mut plies = Vec::new();
        while game.conclusion().is_none() {
            plies.push(ply(&mut game, experiment, &mut rng));
        }
        let ending = game.conclusion().expect("it has just ended");
        let start = Start { kind: StartKind::Normal, sfen: game.start_sfen(), opening: Vec::new() };
        GameRecord { number, rules_hash: rules.hash(), network: 0, start, plies, ending }
    };
    (0..DIFFERENT_GAMES).map(game).collect()
}

/// Plays a random move, as if after a search.
fn ply(game: &mut Game, experiment: &Experiment, rng: &mut ChaCha8Rng) -> Ply {
    let mut legal = Vec::new();
    game.legal_moves(&mut legal);
    let full = rng.random_bool(experiment.selfplay.full_share);
    let mut policy: Vec<_> = legal.iter().map(|&mv| (mv, rng.random_range(0.0..1.0f32))).collect();
    policy.retain(|_| full);
    let chances = Wdl::DRAW.blended(rng.random_range(0.0..1.0), Wdl::WIN);
    let mv = random_moves(game, 1, rng)[0];
    let (raw, root) = (chances, chances.flipped());
    let surprise = rng.random_range(0.0..1.0);
    Ply { mv, full, simulations: 32, raw, root, policy, surprise, proof: None }
}
