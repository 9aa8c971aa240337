//! What a person sees of a run: bars on a terminal, plain lines elsewhere, and the log.

use crate::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use keiko_trainer::{Event, Watcher};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often a plain line tells of progress where there is no terminal.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(30);

/// Standard error and the run's log.
pub(crate) struct Terminal {
    inner: Mutex<Inner>,
    began: Instant,
}

struct Inner {
    log: File,
    /// Only on a terminal.
    bar: Option<ProgressBar>,
    /// What the bar shows.
    phase: String,
    /// Games are being played: steps taken beside them are not shown.
    plays: bool,
    last_plain: Instant,
}

impl Terminal {
    /// Appends to `RUN/log.txt`.
    pub(crate) fn new(run: &Path) -> Result<Terminal, Failure> {
        let path = run.join("log.txt");
        let log = File::options().create(true).append(true).open(&path);
        let log =
            log.map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
        let bar = std::io::stderr().is_terminal().then(ProgressBar::no_length);
        let now = Instant::now();
        Ok(Terminal {
            inner: Mutex::new(Inner {
                log,
                bar,
                phase: String::new(),
                plays: false,
                last_plain: now,
            }),
            began: now,
        })
    }

    /// A line for the reader and the log.
    pub(crate) fn say(&self, line: &str) {
        let line = format!("[{}] {line}", clock(self.began.elapsed()));
        let mut inner = self.lock();
        // A full disk must not end a run for the sake of its log.
        let _ = writeln!(inner.log, "{line}");
        match &inner.bar {
            Some(bar) => bar.suspend(|| tell!("{line}")),
            None => tell!("{line}"),
        }
        inner.last_plain = Instant::now();
    }

    fn progress(&self, phase: String, unit: &str, done: u64, of: u64) {
        let mut inner = self.lock();
        if let Some(bar) = inner.bar.clone() {
            if inner.phase != phase {
                let template = format!(
                    "{{prefix}} {{bar:30}} {{pos}}/{{len}} {unit}, {{per_sec}}, {{eta}} left"
                );
                bar.set_style(
                    ProgressStyle::with_template(&template).expect("the template is well formed"),
                );
                bar.reset();
                bar.set_length(of);
                bar.set_prefix(phase.clone());
                inner.phase = phase;
            }
            bar.set_position(done);
        } else if inner.last_plain.elapsed() >= PLAIN_LINE_EVERY {
            drop(inner);
            self.say(&format!("{phase}: {done} of {of} {unit}"));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panics while writing a line")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(bar) = &self.lock().bar {
            bar.finish_and_clear();
        }
    }
}

impl Watcher for Terminal {
    fn tell(&self, event: &Event<'_>) {
        match *event {
            Event::Playing { generation, done, of } => {
                self.lock().plays = done < of;
                self.progress(format!("generation {generation} plays"), "games", done, of);
            }
            Event::Learning { .. } if self.lock().plays => (),
            Event::Learning { generation, done, of } => {
                self.progress(format!("generation {generation} learns"), "steps", done, of);
            }
            Event::Measuring { rival, done, of } => {
                self.progress(format!("arena against {rival}"), "games", done, of);
            }
            Event::Strength { generation, rival, strength } => {
                self.say(&format!("generation {generation} against {rival}: {strength}"));
            }
            Event::Notice { message } => self.say(message),
            Event::Generation { generation, step, figures } => {
                self.say(&summary(generation, step, figures));
            }
        }
    }
}

/// The figures a person wants to see of every generation; TensorBoard has them all.
const SUMMARY: &[(&str, &str, usize)] = &[
    ("policy", "loss/policy", 3),
    ("value", "loss/value", 3),
    ("held-out kl", "loss_holdout/policy_kl", 3),
    ("held-out value", "loss_holdout/value", 3),
    ("length", "selfplay/length", 1),
    ("busy", "system/busy_share", 2),
    ("games/s", "system/games_per_second", 1),
    ("evaluations/s", "system/evaluations_per_second", 0),
    ("Elo", "arena/elo", 0),
];

fn summary(generation: u64, step: u64, figures: &[(String, f64)]) -> String {
    let value = |tag: &str| figures.iter().find(|(name, _)| name == tag).map(|&(_, value)| value);
    let mut line = format!("generation {generation} done, step {step}:");
    for &(name, tag, digits) in SUMMARY {
        if let Some(value) = value(tag) {
            line += &format!(" {name} {value:.digits$},");
        }
    }
    line.trim_end_matches(',').to_owned()
}

/// Hours, minutes and seconds.
fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
