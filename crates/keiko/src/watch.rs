//! What a person sees of a run: bars on a terminal, plain lines elsewhere, and the log.

mod bar;

use crate::Failure;
use bar::Bar;
use keiko_trainer::{Event, Watcher};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often a plain line tells of progress where there is no terminal.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(30);
/// How often the log alone is told where there is one, or where nobody wants to hear.
const LOG_LINE_EVERY: Duration = Duration::from_secs(300);

/// How much a person wants to hear; the log has all that `Normal` says at least.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Loudness {
    /// Warnings, and how it ended.
    Quiet,
    /// Progress, and a line for every generation.
    Normal,
    /// Every figure of every generation, too.
    Verbose,
}

/// Standard error and the run's log.
pub(crate) struct Terminal {
    inner: Mutex<Inner>,
    began: Instant,
    loudness: Loudness,
}

struct Inner {
    log: File,
    /// Only on a terminal.
    bar: Option<Bar>,
    /// What is being done, since when, and how much of it was done then.
    phase: String,
    since: Instant,
    first: u64,
    /// The newest strength, where it is known.
    elo: Option<f64>,
    /// Games are being played: steps taken beside them are not shown.
    plays: bool,
    last_line: Instant,
}

impl Terminal {
    /// Appends to `RUN/log.txt`; the newest strength may be known from before.
    pub(crate) fn new(
        run: &Path,
        loudness: Loudness,
        elo: Option<f64>,
    ) -> Result<Terminal, Failure> {
        let path = run.join("log.txt");
        let log = File::options().create(true).append(true).open(&path);
        let log =
            log.map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
        let shows_bar = loudness != Loudness::Quiet && std::io::stderr().is_terminal();
        let bar = shows_bar.then(Bar::new);
        let now = Instant::now();
        Ok(Terminal {
            inner: Mutex::new(Inner {
                log,
                bar,
                phase: String::new(),
                since: now,
                first: 0,
                elo,
                plays: false,
                last_line: now,
            }),
            began: now,
            loudness,
        })
    }

    /// A line for the log, and for a reader who wants to hear.
    pub(crate) fn say(&self, line: &str) {
        self.write(line, self.loudness != Loudness::Quiet);
    }

    /// A line that every reader should see.
    pub(crate) fn insist(&self, line: &str) {
        self.write(line, true);
    }

    /// A line for the log alone, of what is told otherwise.
    pub(crate) fn note(&self, line: &str) {
        self.write(line, false);
    }

    fn write(&self, line: &str, is_told: bool) {
        let line = format!("[{}] {line}", clock(self.began.elapsed()));
        let mut inner = self.lock();
        // A full disk must not end a run for the sake of its log.
        let _ = writeln!(inner.log, "{} {line}", date(SystemTime::now()));
        match &inner.bar {
            _ if !is_told => {}
            Some(bar) => bar.suspend(|| tell!("{line}")),
            None => tell!("{line}"),
        }
        inner.last_line = Instant::now();
    }

    fn progress(&self, phase: String, unit: &str, done: u64, of: u64) {
        let mut inner = self.lock();
        if inner.phase != phase {
            (inner.phase, inner.since, inner.first) = (phase, Instant::now(), done);
        }
        inner.draw(unit, done, of);
        let is_told = inner.bar.is_none() && self.loudness != Loudness::Quiet;
        let every = if is_told { PLAIN_LINE_EVERY } else { LOG_LINE_EVERY };
        if inner.last_line.elapsed() >= every {
            let line = inner.plain_line(unit, done, of);
            drop(inner);
            self.write(&line, is_told);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().expect("nobody panics while writing a line")
    }
}

impl Inner {
    /// Draws the bar anew, where there is one.
    fn draw(&self, unit: &str, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            bar.draw(done, of, &self.bar_line(unit, done, of));
        }
    }

    /// What stands beside the bar: what matters most comes first, since a narrow terminal has no
    /// room for all of it.
    fn bar_line(&self, unit: &str, done: u64, of: u64) -> String {
        let mut line = format!("{} {done}/{of}", self.phase);
        let pace = self.pace(done, of);
        if let Some((_, left)) = pace {
            line += &format!(", {} left", clock(left));
        }
        line += &self.strength();
        if let Some((rate, _)) = pace {
            line += &format!(", {rate:.1} {unit}/s");
        }
        line
    }

    fn plain_line(&self, unit: &str, done: u64, of: u64) -> String {
        let mut line = format!("{}: {done} of {of} {unit}", self.phase);
        if let Some((rate, left)) = self.pace(done, of) {
            line += &format!(", {rate:.2} a second, {} left", clock(left));
        }
        line + &self.strength()
    }

    /// How many a second since this began, and how long it will take still; nothing before there
    /// is something to tell it by.
    fn pace(&self, done: u64, of: u64) -> Option<(f64, Duration)> {
        let rate = (done - self.first.min(done)) as f64 / self.since.elapsed().as_secs_f64();
        let left = (of - done.min(of)) as f64 / rate;
        (rate > 0.0).then(|| (rate, Duration::from_secs_f64(left.min(1e9))))
    }

    fn strength(&self) -> String {
        self.elo.map_or(String::new(), |elo| format!(", Elo {elo:.0}"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.lock().bar.iter().for_each(Bar::clear);
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
            Event::Notice { message } => self.insist(message),
            Event::Stopped { .. } => (),
            Event::Generation { generation, step, figures } => {
                if let Some(elo) = elo(figures) {
                    self.lock().elo = Some(elo);
                }
                self.say(&summary(generation, step, figures));
                // The log does without them otherwise: `metrics.jsonl` has them all.
                let all = if self.loudness == Loudness::Verbose { figures } else { &[] };
                for (tag, value) in all {
                    self.say(&format!("generation {generation}, {tag}: {value}"));
                }
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
];

fn summary(generation: u64, step: u64, figures: &[(String, f64)]) -> String {
    let mut line = format!("generation {generation} done, step {step}:");
    for &(name, tag, digits) in SUMMARY {
        if let Some(value) = figure(figures, tag) {
            line += &format!(" {name} {value:.digits$},");
        }
    }
    if let Some(elo) = elo(figures) {
        line += &format!(" Elo {elo:.0}");
    }
    line.trim_end_matches(',').to_owned()
}

/// The ladder's Elo where there is one: it tells more than the arena's.
fn elo(figures: &[(String, f64)]) -> Option<f64> {
    figure(figures, "ladder/elo").or_else(|| figure(figures, "arena/elo"))
}

fn figure(figures: &[(String, f64)], tag: &str) -> Option<f64> {
    figures.iter().find(|(name, _)| name == tag).map(|&(_, value)| value)
}

/// Hours, minutes and seconds.
pub(crate) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Day and time of day in Greenwich.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    let time = clock(Duration::from_secs(seconds % 86_400));
    format!("{year}-{month:02}-{day:02} {time:0>8}Z")
}

/// Year, month and day of so many days after the first of January 1970, by counting in cycles of
/// 400 years that begin in March (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (cycle * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let at = |seconds: u64| date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01 00:00:00Z");
        assert_eq!(at(951_827_696), "2000-02-29 12:34:56Z");
        assert_eq!(at(951_868_800), "2000-03-01 00:00:00Z");
        assert_eq!(at(1_798_761_599), "2026-12-31 23:59:59Z");
    }

    #[test]
    fn a_plain_line_has_a_rate_and_the_time_left() {
        let run = tempfile::tempdir().expect("there is room");
        let terminal = Terminal::new(run.path(), Loudness::Quiet, Some(345.4)).expect("it opens");
        let mut inner = terminal.lock();
        (inner.phase, inner.first) = ("generation 3 plays".to_owned(), 100);
        assert_eq!(inner.bar_line("games", 100, 512), "generation 3 plays 100/512, Elo 345");
        assert_eq!(
            inner.plain_line("games", 100, 512),
            "generation 3 plays: 100 of 512 games, Elo 345"
        );
        inner.since = inner.since.checked_sub(Duration::from_secs(100)).expect("it was so long up");
        let line = inner.plain_line("games", 312, 512);
        assert!(line.starts_with("generation 3 plays: 312 of 512 games, 2.1"), "{line}");
        assert!(line.contains("0:01:3") && line.ends_with("left, Elo 345"), "{line}");
        let line = inner.bar_line("games", 312, 512);
        assert!(line.starts_with("generation 3 plays 312/512, 0:01:3"), "{line}");
        assert!(line.ends_with(" left, Elo 345, 2.1 games/s"), "{line}");
    }
}
