//! Contenders learn in turns, for equal processor time: what else the machine does, and when, falls
//! on all of them alike. A run goes on exactly as if it had never stopped, so turns cost little.

use super::contenders::Contender;
use crate::Failure;
use crate::game_file::{cannot, write_whole};
use keiko_trainer::{Event, Experiment, Run, Watcher, processor_seconds, train};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Processor seconds of a turn, about: it ends with a generation.
const TURN: f64 = 120.0;

/// The folder of a contender's run.
const RUN: &str = "run";
/// What a contender has used so far.
const USED: &str = "used.json";
/// The folder of the networks it had after each time that was asked for, and what it had used.
const NETWORKS: &str = "networks";

/// What a contender has used.
#[derive(Copy, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Used {
    /// Processor seconds.
    pub(super) seconds: f64,
    /// Positions evaluated in play.
    pub(super) evaluations: u64,
    /// Generations that are complete.
    pub(super) generations: u64,
    /// Games of complete generations.
    pub(super) games: u64,
    /// Learner steps.
    pub(super) steps: u64,
}

/// A contender and where it lies.
pub(super) struct Pupil<'a> {
    pub(super) contender: &'a Contender,
    dir: PathBuf,
    used: Used,
    /// How long it is to learn in the end.
    minutes: f64,
}

/// What a contender is after its time.
pub(super) struct Graduate {
    /// The network it has learned.
    pub(super) network: PathBuf,
    /// What that took.
    pub(super) used: Used,
}

impl Pupil<'_> {
    /// A contender in a folder of all of them, with what it used when it was there before.
    pub(super) fn open<'a>(
        contender: &'a Contender,
        all: &Path,
        minutes: f64,
    ) -> Result<Pupil<'a>, Failure> {
        let dir = all.join(contender.folder());
        let networks = dir.join(NETWORKS);
        std::fs::create_dir_all(&networks).map_err(cannot(&networks))?;
        let path = dir.join(USED);
        let used = if path.exists() { read(&path)? } else { Used::default() };
        let pupil = Pupil { contender, dir, used, minutes };
        pupil.check_experiment()?;
        if pupil.used.seconds >= 60.0 * minutes && !pupil.network().exists() {
            return Err(Failure::usage(format!(
                "{} has learned for {:.1} minutes, and no network was kept after {minutes} of them; \
                 there are those after {} minutes",
                contender.title(),
                pupil.used.seconds / 60.0,
                pupil.kept()?.join(", ")
            )));
        }
        Ok(pupil)
    }

    /// Whether the run there, if there is one, is of this contender.
    fn check_experiment(&self) -> Result<(), Failure> {
        let path = self.dir.join(RUN).join("experiment.toml");
        if !path.exists() {
            return Ok(());
        }
        let changes = Experiment::load(&path, &[])?.changes(&self.contender.experiment);
        let other: Vec<String> = changes
            .iter()
            .filter(|change| !change.key.starts_with("machine."))
            .map(|change| format!("\n  {change}"))
            .collect();
        match other.is_empty() {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "{}: was made from another experiment:{}\ngive another folder with --out DIR",
                self.dir.display(),
                other.concat()
            ))),
        }
    }

    /// The times after which its network was kept, in minutes.
    fn kept(&self) -> Result<Vec<String>, Failure> {
        let dir = self.dir.join(NETWORKS);
        let mut kept = Vec::new();
        for entry in std::fs::read_dir(&dir).map_err(cannot(&dir))? {
            let name = entry.map_err(cannot(&dir))?.file_name().to_string_lossy().into_owned();
            kept.extend(name.strip_suffix("-minutes").map(str::to_owned));
        }
        kept.sort();
        Ok(kept)
    }

    /// Where the network it has in the end lies.
    fn network(&self) -> PathBuf {
        self.dir.join(NETWORKS).join(format!("{}-minutes", self.minutes))
    }

    /// The file beside it that says what it took.
    fn used_in_the_end(&self) -> PathBuf {
        self.dir.join(NETWORKS).join(format!("{}-minutes.json", self.minutes))
    }

    /// What it is after its time; none as long as it learns.
    pub(super) fn graduate(&self) -> Result<Option<Graduate>, Failure> {
        let network = self.network();
        if !network.exists() {
            return Ok(None);
        }
        let used = read(&self.used_in_the_end())?;
        Ok(Some(Graduate { network, used }))
    }

    /// How far it is, for people.
    pub(super) fn progress(&self) -> String {
        let Used { seconds, generations, games, .. } = self.used;
        let (title, minutes) = (self.contender.title(), seconds / 60.0);
        format!(
            "{title}: {minutes:.1} of {} minutes, {generations} generations, {games} games",
            self.minutes
        )
    }

    /// Learns on, to the end of the first generation behind `until` processor seconds, but not
    /// beyond its time.
    fn learn(&mut self, until: f64, stop: &AtomicBool) -> Result<(), Failure> {
        let (mut run, opened) = Run::open(&self.dir.join(RUN), &self.contender.experiment)?;
        opened.warnings.iter().for_each(|warning| tell!("{}: {warning}", self.contender.title()));
        let turn = Turn {
            began: now()?,
            before: self.used,
            until,
            end: 60.0 * self.minutes,
            used: Mutex::new(self.used),
            keep: self.dir.join(USED),
            failure: Mutex::new(None),
            over: AtomicBool::new(false),
            stop,
        };
        train(&mut run, &turn, &turn.over)?;
        turn.failure.into_inner().expect("no holder of this lock panics").map_or(Ok(()), Err)?;
        let counted = turn.used.into_inner().expect("no holder of this lock panics");
        let seconds = self.used.seconds + now()? - turn.began;
        self.used = Used { seconds, games: run.state().games, steps: run.steps(), ..counted };
        if seconds >= turn.end {
            write(&self.used_in_the_end(), &self.used)?;
            run.network().save(&self.network())?;
        }
        write(&self.dir.join(USED), &self.used)
    }
}

/// All learn, in turns, until each has used its time; `tell` hears of each after its turn.
pub(super) fn take_turns(
    pupils: &mut [Pupil<'_>],
    stop: &AtomicBool,
    tell: impl Fn(&Pupil<'_>),
) -> Result<(), Failure> {
    let is_over = |pupil: &Pupil<'_>| pupil.used.seconds >= 60.0 * pupil.minutes;
    let mut until = 0.0;
    while !pupils.iter().all(is_over) && !stop.load(Ordering::Relaxed) {
        until += TURN;
        for pupil in &mut *pupils {
            let has_turn = pupil.used.seconds < until && !is_over(pupil);
            if has_turn && !stop.load(Ordering::Relaxed) {
                let learned = pupil.learn(until, stop);
                learned.inspect_err(|_| tell!("{} cannot go on", pupil.contender.title()))?;
                tell(pupil);
            }
        }
    }
    Ok(())
}

/// Ends a turn behind the generation in which its time is up, or at once when the contender's time
/// is up or somebody stops it.
struct Turn<'a> {
    /// This process's processor seconds, and what was used, when it began.
    began: f64,
    before: Used,
    /// Processor seconds of the contender, as are those in `used`.
    until: f64,
    end: f64,
    used: Mutex<Used>,
    /// Where that is kept after each generation, lest a crash give time for nothing.
    keep: PathBuf,
    failure: Mutex<Option<Failure>>,
    over: AtomicBool,
    stop: &'a AtomicBool,
}

impl Turn<'_> {
    fn seconds(&self) -> f64 {
        // A turn does not begin where the system does not tell it.
        self.before.seconds + processor_seconds().unwrap_or(f64::INFINITY) - self.began
    }

    /// Counts a generation that is complete.
    fn count(&self, step: u64, figures: &[(String, f64)]) {
        let figure = |tag: &str| figures.iter().find(|(name, _)| name == tag).map(|(_, it)| *it);
        let rate = figure("system/evaluations_per_second").unwrap_or(0.0);
        let evaluated = rate * figure("system/seconds_playing").unwrap_or(0.0);
        let mut used = self.used.lock().expect("no holder of this lock panics");
        used.seconds = self.seconds();
        used.evaluations += evaluated.round() as u64;
        used.generations += 1;
        used.games = figure("replay/total_games").unwrap_or(0.0) as u64;
        used.steps = step;
        // Behind its time the network is written first.
        if used.seconds < self.end
            && let Err(failure) = write(&self.keep, &used)
        {
            *self.failure.lock().expect("no holder of this lock panics") = Some(failure);
            self.over.store(true, Ordering::Relaxed);
        }
    }
}

impl Watcher for Turn<'_> {
    fn tell(&self, event: &Event<'_>) {
        let seconds = self.seconds();
        if self.stop.load(Ordering::Relaxed) || seconds >= self.end {
            self.over.store(true, Ordering::Relaxed);
        }
        match *event {
            Event::Generation { step, figures, .. } => {
                self.count(step, figures);
                if seconds >= self.until {
                    self.over.store(true, Ordering::Relaxed);
                }
            }
            Event::Stopped { evaluations } => {
                self.used.lock().expect("no holder of this lock panics").evaluations += evaluations;
            }
            Event::Notice { message } => tell!("{message}"),
            _ => (),
        }
    }
}

/// Processor seconds of this process so far.
pub(super) fn now() -> Result<f64, Failure> {
    processor_seconds()
        .ok_or_else(|| Failure::environment("this system does not tell a program's processor time"))
}

fn read(path: &Path) -> Result<Used, Failure> {
    let text = std::fs::read_to_string(path).map_err(cannot(path))?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::data(format!("{}: {error}", path.display())))
}

fn write(path: &Path, used: &Used) -> Result<(), Failure> {
    let text = serde_json::to_string(used).expect("counts are plain data");
    write_whole(path, &text)
}
