//! How fast an experiment plays and learns here, by a few seconds of both.

use crate::Failure;
use crate::commands::bench::{Subject, one_round, training};
use crate::watch::clock;
use keiko_network::Learner;
use keiko_selfplay::GameRecord;
use keiko_trainer::{Experiment, Workers};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Games a worker plays to see how long they are, and for how long at most.
const GAMES_A_WORKER: u64 = 8;
const PLAYED_OUT: Duration = Duration::from_secs(10);
/// Seconds of self-play with all games at once.
const PLAYING: f64 = 3.0;
/// Learner steps are taken for so long.
const LEARNING: Duration = Duration::from_secs(2);

/// What the games of a generation are like.
struct Length {
    /// Positions evaluated in a game.
    evaluations: f64,
    /// Positions of a game that teach.
    positions: f64,
    /// Whether some games were seen to their end.
    is_measured: bool,
}

/// What was measured.
pub(super) struct Pace {
    experiment: Experiment,
    device: String,
    evaluations_per_second: f64,
    steps_per_second: f64,
    length: Length,
}

impl Pace {
    /// Plays with the experiment's untrained network, and learns from games without one.
    pub(super) fn measure(experiment: Experiment) -> Result<Pace, Failure> {
        let subject = Subject::of(experiment, None)?;
        let Subject { experiment, rules, encoding, weights, device, inference } = &subject;
        let workers = Workers {
            count: experiment.machine.workers,
            batch: experiment.machine.batch,
            cache: experiment.machine.cache,
            weights,
            inference: inference.clone(),
            encoding,
        };
        tell!("measuring for some seconds");
        let length = Length::of(&workers, &subject);
        let (work, elapsed) = one_round(&workers, experiment, rules, PLAYING);
        let learner = Learner::new(Arc::clone(encoding), experiment.learner, weights.clone());
        let batches = training::batches(experiment, rules, encoding);
        let mut learner = learner.on(device);
        let mut step = || {
            let rate = experiment.training.learning_rate.at(100);
            let taken = learner.step(&batches, rate, experiment.machine.workers);
            taken.expect("made-up games have finite losses");
        };
        // Not measured: the first step waits for its memory.
        step();
        let (began, mut steps) = (Instant::now(), 0);
        while began.elapsed() < LEARNING {
            step();
            steps += 1;
        }
        let steps_per_second = f64::from(steps) / began.elapsed().as_secs_f64();
        Ok(Pace {
            device: device.to_string(),
            evaluations_per_second: work.evaluations as f64 / elapsed.as_secs_f64(),
            steps_per_second,
            length,
            experiment: subject.experiment,
        })
    }

    pub(super) fn print(&self) {
        let training = &self.experiment.training;
        let games = training.games_per_generation as f64;
        let playing = games * self.length.evaluations / self.evaluations_per_second;
        let steps = self
            .experiment
            .steps_due(games * self.length.positions * training.samples_per_position);
        let seconds = playing + steps as f64 / self.steps_per_second;
        say!("device      {}", self.device);
        say!(
            "self-play   {:.0} evaluations a second, {:.0} games an hour if nothing is learned{}",
            self.evaluations_per_second,
            3600.0 * games / playing,
            if self.length.is_measured {
                ""
            } else {
                " (no game ended: half the ply limit assumed)"
            }
        );
        say!("learning    {:.2} steps a second if nothing is played", self.steps_per_second);
        say!(
            "expected    {:.0} games an hour at first: a generation of {games} games and {steps} steps in \
             {}, the arena apart",
            3600.0 * games / seconds,
            clock(Duration::from_secs_f64(seconds.min(1e9)))
        );
        say!(
            "            by the untrained network of {}; games change as it learns",
            self.experiment.name
        );
    }
}

impl Length {
    fn of(workers: &Workers<'_>, subject: &Subject) -> Length {
        let Subject { experiment, rules, .. } = subject;
        let selfplay = experiment.selfplay(rules, 0, 0);
        let numbers: Vec<u64> = (0..GAMES_A_WORKER * workers.count as u64).collect();
        let began = Instant::now();
        let work = workers.play(&selfplay, &numbers, || began.elapsed() > PLAYED_OUT, |_| ());
        // Games that end early are short ones: only all of them together are fair.
        if work.games.len() == numbers.len() {
            let games = numbers.len() as f64;
            let positions = |game: &GameRecord| game.target_plies().count();
            return Length {
                evaluations: work.evaluations as f64 / games,
                positions: work.games.iter().map(positions).sum::<usize>() as f64 / games,
                is_measured: true,
            };
        }
        let plies = f64::from(experiment.selfplay.ply_limit) / 2.0;
        let full = experiment.selfplay.full_share;
        let simulations = full * f64::from(selfplay.full_simulations)
            + (1.0 - full) * f64::from(selfplay.cheap_simulations);
        Length { evaluations: plies * simulations, positions: plies * full, is_measured: false }
    }
}
