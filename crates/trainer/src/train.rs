//! The loop: play a generation, store it, take the learner's share of steps, measure, save.

use crate::checkpoint::Phase;
use crate::clock::{Clock, Stopwatch};
use crate::dashboard::describe;
use crate::elo::Strength;
use crate::measure::measure;
use crate::memory::MemoryBound;
use crate::panics::caught;
use crate::run::{Run, RunError, is_held_out, now};
use crate::workers::{Beside, Work};
use keiko_network::{LearnError, in_parallel};
use keiko_selfplay::{Purpose, generator};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

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
    /// Some of the learner steps of a generation's report are taken.
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
    /// Something that a person should know of.
    Notice {
        /// It, in words.
        message: &'a str,
    },
    /// The run stops in the middle of a generation.
    Stopped {
        /// Positions evaluated in play that no generation's figures tell of.
        evaluations: u64,
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

/// Hears what a run has to say; also from the threads that play.
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

/// Goes on with a run until its generations are complete or `stop` is set.
///
/// Everything but the rates follows from the experiment: neither threads nor interruptions
/// change a bit of games, weights and figures.
///
/// While the disk has no room it waits. Beyond the memory it may take it stops; where a thread of
/// it panics it stops, too: both are errors, and the run is saved, or its last checkpoint stands.
///
/// # Errors
/// When something cannot be read or written, the learner meets numbers that are none again and
/// again, a thread panics, or the run takes too much memory.
pub fn train(run: &mut Run, watcher: &dyn Watcher, stop: &AtomicBool) -> Result<Finish, RunError> {
    let bound = run.experiment.machine.memory_mebibytes;
    let memory = MemoryBound::new(bound, watcher, stop);
    match (go_on(run, &memory, stop)?, memory.exceeded()) {
        (Finish::Stopped, Some(found)) => Err(RunError::Memory { found, bound }),
        (finish, _) => Ok(finish),
    }
}

fn go_on(run: &mut Run, watcher: &dyn Watcher, stop: &AtomicBool) -> Result<Finish, RunError> {
    let mut clock = Clock::start(run.experiment.machine.workers);
    describe(run, watcher, stop)?;
    while run.state.generation < run.experiment.training.generations {
        let state = run.dir.join("state");
        let complete = caught("the run", || match run.state.phase {
            Phase::Play => play(run, &mut clock, watcher, stop),
            Phase::Learn => learn(run, &mut clock, watcher, stop),
            Phase::Measure => measure(run, &mut clock, watcher, stop),
        });
        match complete.unwrap_or_else(|panic| Err(RunError::Torn { panic, state })) {
            Ok(true) => (),
            Ok(false) => {
                run.patiently(watcher, stop, Run::save)?;
                watcher.tell(&Event::Stopped { evaluations: clock.evaluations() });
                return Ok(Finish::Stopped);
            }
            Err(error) => {
                // Who plays touches nothing of the run.
                if let RunError::Panicked(_) | RunError::Player(_) = error {
                    run.save()?;
                }
                return Err(error);
            }
        }
    }
    run.patiently(watcher, stop, |run| {
        let step = run.learner.steps();
        Ok(run.metrics.complete(step, now())?)
    })?;
    Ok(Finish::Done)
}

/// Plays what is missing of the generation's games, takes the steps due beside them, and stores
/// the games.
fn play(
    run: &mut Run,
    clock: &mut Clock,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<bool, RunError> {
    let of = run.experiment.training.games_per_generation;
    let have: HashSet<u64> = run.current.iter().map(|game| game.number).collect();
    let missing: Vec<u64> =
        (run.state.games..run.state.games + of).filter(|number| !have.contains(number)).collect();
    let already = have.len() as u64;
    let generation = run.state.generation;
    let on_game = |done| watcher.tell(&Event::Playing { generation, done: already + done, of });
    let (work, learned) = play_and_learn(run, &missing, clock, watcher, stop, on_game);
    run.current.extend(work.games);
    run.current.sort_by_key(|game| game.number);
    run.patiently(watcher, stop, |run| {
        run.store.truncate_to(run.state.games)?;
        Ok(run.store.append(&run.current)?)
    })?;
    learned?;
    if let Some(panic) = work.panic {
        return Err(RunError::Panicked(panic));
    }
    if (run.current.len() as u64) < of || run.state.due > 0 {
        return Ok(false);
    }
    count_generation(run);
    Ok(true)
}

/// Plays games while the steps due are taken, on all cores together: one thread learns and the
/// others play; who is done first helps the other. Fewer games come back where it was stopped, or
/// something failed.
fn play_and_learn(
    run: &mut Run,
    numbers: &[u64],
    clock: &mut Clock,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
    on_game: impl Fn(u64) + Sync,
) -> (Work, Result<(), RunError>) {
    let stopwatch = Stopwatch::start();
    let (player, encoding) = (run.player(), Arc::clone(&run.encoding));
    let (workers, selfplay) = (run.workers(&player, &encoding), run.selfplay(player.step));
    let failed = AtomicBool::new(false);
    let stopped = || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
    let due = run.state.due;
    let learn = |beside: &Beside| {
        let stopped = || stop.load(Ordering::Relaxed) || beside.failed();
        let taken = take_steps(run, &|| beside.free(), clock, watcher, &stopped);
        taken.inspect_err(|_| failed.store(true, Ordering::Relaxed))
    };
    let (work, learned) = workers.play_beside(learn, &selfplay, numbers, stopped, on_game);
    clock.played(&work, due > 0, &stopwatch);
    (work, learned)
}

/// Takes the generation's games, now complete, into the counters and windows.
fn count_generation(run: &mut Run) {
    let training = &run.experiment.training;
    let every = training.holdout_every;
    let trained_on = run.current.iter().filter(|game| !is_held_out(game.number, every));
    let positions: usize = trained_on.map(|game| game.target_plies().count()).sum();
    let overlaps = training.overlap > 0;
    let is_last = run.is_last();
    run.state.positions += positions as u64;
    run.state.owed += positions as f64 * run.experiment.training.samples_per_position;
    run.state.due = run.experiment.steps_due(run.state.owed);
    run.state.owed -= run.experiment.samples_of(run.state.due);
    run.note_due();
    run.state.games += run.current.len() as u64;
    run.add_to_windows(run.current.clone());
    // Kept before the last generation's steps as well: more generations may be asked for later,
    // and are the same then as if they had been asked for at once.
    run.player = overlaps.then(|| run.learner.snapshot());
    run.state.phase = if overlaps && !is_last { Phase::Measure } else { Phase::Learn };
}

/// Takes the steps due, on all cores.
fn learn(
    run: &mut Run,
    clock: &mut Clock,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<bool, RunError> {
    let stopwatch = Stopwatch::start();
    let workers = run.experiment.machine.workers;
    take_steps(run, &|| workers, clock, watcher, &|| stop.load(Ordering::Relaxed))?;
    clock.learned(&stopwatch);
    if run.state.due > 0 {
        return Ok(false);
    }
    run.state.phase = Phase::Measure;
    Ok(true)
}

/// Takes the steps due, each on the threads that are free when it begins.
fn take_steps(
    run: &mut Run,
    free: &dyn Fn() -> usize,
    clock: &mut Clock,
    watcher: &dyn Watcher,
    stopped: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    if run.state.due > 0 && run.replay.positions() == 0 {
        return Err(RunError::NothingToLearn);
    }
    let of = run.state.learned.steps() + run.state.due;
    let state = run.dir.join("state");
    // A step that is half taken leaves a learner that nobody may save.
    caught("the learner", || {
        while run.state.due > 0 && !stopped() {
            take_step(run, free(), clock, watcher, of)?;
        }
        Ok(())
    })
    .unwrap_or_else(|panic| Err(RunError::Torn { panic, state }))
}

/// Takes one of the steps due, or goes back to a good learner where it cannot be taken.
fn take_step(
    run: &mut Run,
    threads: usize,
    clock: &mut Clock,
    watcher: &dyn Watcher,
    of: u64,
) -> Result<(), RunError> {
    let (began, maybe_good) = (Instant::now(), run.maybe_good());
    if let Err(error) = step(run, threads) {
        return run.take_back(error, watcher);
    }
    if let Some(good) = maybe_good {
        run.good = good;
    }
    run.state.due -= 1;
    clock.stepped(began.elapsed(), threads);
    let (generation, done) = (run.state.generation, run.state.learned.steps());
    watcher.tell(&Event::Learning { generation, done, of });
    Ok(())
}

/// One learner step on samples that follow from the step's number; the threads change no bit of it.
fn step(run: &mut Run, threads: usize) -> Result<(), LearnError> {
    let training = &run.experiment.training;
    let at = run.learner.steps();
    let mut rng = generator(run.experiment.seed, Purpose::Batch, at);
    let draws = run.replay.draw(training.batch_size, &mut rng);
    let micro_batches =
        in_parallel(draws.chunks(training.micro_batch), &mut vec![(); threads], |(), some| {
            run.replay.batch(&run.encoding, some)
        });
    let rate = run.learning_rate(at);
    let report = run.learner.step(&micro_batches, rate, threads)?;
    run.state.learned.add(&report);
    run.state.samples += run.experiment.training.batch_size as u64;
    Ok(())
}
