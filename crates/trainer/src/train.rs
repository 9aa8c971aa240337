//! The loop: play a generation, store it, take the learner's share of steps, measure, save.

use crate::checkpoint::Phase;
use crate::elo::Strength;
use crate::measure::{self, measure};
use crate::run::{Run, RunError, is_held_out};
use crate::workers::Work;
use keiko_network::in_parallel;
use keiko_selfplay::{Purpose, generator};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a run has to say while it goes on.
#[derive(Debug)]
pub enum Event<'a> {
    /// Some of a generation's games are over.
    Playing {
        /// The generation.
        generation: u64,
        /// Games over.
        done: u64,
        /// Games in all.
        of: u64,
    },
    /// Some of a generation's learner steps are taken.
    Learning {
        /// The generation.
        generation: u64,
        /// Steps taken.
        done: u64,
        /// Steps due.
        of: u64,
    },
    /// Some of the arena's games are over.
    Measuring {
        /// Who the network plays.
        rival: &'a str,
        /// Games over.
        done: u64,
        /// Games in all.
        of: u64,
    },
    /// The network's strength against someone.
    Strength {
        /// The generation.
        generation: u64,
        /// Who it played.
        rival: &'a str,
        /// Score and Elo difference.
        strength: &'a Strength,
    },
    /// A generation is complete.
    Generation {
        /// The generation.
        generation: u64,
        /// The learner's step.
        step: u64,
        /// Its figures, by tag.
        figures: &'a [(String, f64)],
    },
}

/// Hears what a run has to say; also from the arena's threads.
pub trait Watcher: Sync {
    /// Takes in an event.
    fn tell(&self, event: &Event<'_>);
}

/// Why a run came back.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Finish {
    /// Its generations are complete.
    Done,
    /// It was stopped, and saved.
    Stopped,
}

/// Time spent and work done since the process began or the last report: for rates only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) playing: Duration,
    /// Summed over the workers.
    pub(crate) inside_network: Duration,
    pub(crate) evaluations: u64,
    pub(crate) remembered: u64,
    pub(crate) games: u64,
    pub(crate) positions: u64,
    pub(crate) learning: Duration,
    pub(crate) steps: u64,
    pub(crate) measuring: Duration,
}

impl Clock {
    fn played(&mut self, work: &Work, elapsed: Duration) {
        self.playing += elapsed;
        self.inside_network += work.inside_network;
        self.evaluations += work.evaluations;
        self.remembered += work.remembered;
        self.games += work.games.len() as u64;
        self.positions += work.games.iter().map(|game| game.plies.len() as u64).sum::<u64>();
    }
}

/// Goes on with a run until its generations are complete or `stop` is set.
///
/// Everything but the rates follows from the experiment: neither threads nor interruptions
/// change a bit of games, weights and figures.
///
/// # Errors
/// When something cannot be read or written, or the learner meets a number that is none.
pub fn train(run: &mut Run, watcher: &dyn Watcher, stop: &AtomicBool) -> Result<Finish, RunError> {
    let mut clock = Clock::default();
    measure::describe(run)?;
    while run.state.generation < run.experiment.training.generations {
        let complete = match run.state.phase {
            Phase::Play => play(run, &mut clock, watcher, stop)?,
            Phase::Learn => learn(run, &mut clock, watcher, stop)?,
            Phase::Measure => measure(run, &mut clock, watcher, stop)?,
        };
        if !complete {
            run.save()?;
            return Ok(Finish::Stopped);
        }
    }
    Ok(Finish::Done)
}

/// Plays what is missing of the generation's games and stores them all.
fn play(
    run: &mut Run,
    clock: &mut Clock,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<bool, RunError> {
    let began = Instant::now();
    let of = run.experiment.training.games_per_generation;
    let have: HashSet<u64> = run.current.iter().map(|game| game.number).collect();
    let missing: Vec<u64> =
        (run.state.games..run.state.games + of).filter(|number| !have.contains(number)).collect();
    let already = have.len() as u64;
    let generation = run.state.generation;
    let stopped = || stop.load(Ordering::Relaxed);
    let work = run.workers().play(&run.selfplay(), &missing, stopped, |done| {
        watcher.tell(&Event::Playing { generation, done: already + done, of });
    });
    clock.played(&work, began.elapsed());
    run.current.extend(work.games);
    run.current.sort_by_key(|game| game.number);
    run.store.truncate_to(run.state.games)?;
    run.store.append(&run.current)?;
    if (run.current.len() as u64) < of {
        return Ok(false);
    }
    count_generation(run);
    Ok(true)
}

/// Takes the generation's games, now complete, into the counters and windows.
fn count_generation(run: &mut Run) {
    let every = run.experiment.training.holdout_every;
    let trained_on = run.current.iter().filter(|game| !is_held_out(game.number, every));
    let positions: usize = trained_on.map(|game| game.target_plies().count()).sum();
    run.state.positions += positions as u64;
    run.state.owed += positions as f64 * run.experiment.training.samples_per_position;
    run.state.games += run.current.len() as u64;
    run.add_to_windows(run.current.clone());
    run.state.phase = Phase::Learn;
}

/// Takes the learner's share of steps.
fn learn(
    run: &mut Run,
    clock: &mut Clock,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<bool, RunError> {
    let began = Instant::now();
    let generation = run.state.generation;
    let of = run.experiment.steps_due(run.state.owed);
    if run.replay.positions() == 0 {
        return Err(RunError::NothingToLearn);
    }
    while run.state.learned.steps() < of {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        step(run)?;
        clock.steps += 1;
        watcher.tell(&Event::Learning { generation, done: run.state.learned.steps(), of });
    }
    clock.learning += began.elapsed();
    run.state.owed -= (of * run.experiment.training.batch_size as u64) as f64;
    run.state.phase = Phase::Measure;
    Ok(true)
}

/// One learner step on samples that follow from the step's number.
fn step(run: &mut Run) -> Result<(), RunError> {
    let training = &run.experiment.training;
    let at = run.learner.steps();
    let mut rng = generator(run.experiment.seed, Purpose::Batch, at);
    let draws = run.replay.draw(training.batch_size, &mut rng);
    let workers = run.experiment.machine.workers;
    let micro_batches =
        in_parallel(draws.chunks(training.micro_batch), &mut vec![(); workers], |(), some| {
            run.replay.batch(&run.encoding, some)
        });
    let rate = run.experiment.training.learning_rate.at(at);
    let report = run
        .learner
        .step(&micro_batches, rate, workers)
        .map_err(|source| RunError::Learn { source, state: run.dir.join("state") })?;
    run.state.learned.add(&report);
    run.state.samples += training.batch_size as u64;
    Ok(())
}
