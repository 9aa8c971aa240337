//! `keiko status`: how a run stands, from another terminal.

use crate::Failure;
use crate::watch::clock;
use keiko_trainer::Status;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Seconds without a sign of life after which a run that goes on is worth a look: its log gets a
/// line every five minutes.
const SILENCE: f64 = 900.0;

/// Says how a run stands: is it going on, how far and how fast, and how strong is it. Only reads.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko status checkpoints/minishogi")]
pub(crate) struct Arguments {
    /// The run's folder.
    run: PathBuf,
    /// One JSON object, for programs: what is not known yet is null, times are in seconds.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let status = Status::read(&arguments.run, SystemTime::now())?;
    if arguments.json {
        say!("{}", serde_json::to_string_pretty(&status).expect("a status is plain data"));
    } else {
        lines(&status).into_iter().for_each(|(name, words)| say!("{name:11} {words}"));
        status.damaged.iter().for_each(|one| tell!("skipped: {one}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a person reads: a name and words for each line.
fn lines(status: &Status) -> Vec<(&'static str, String)> {
    let known = |words: Option<String>| words.unwrap_or_else(|| "not known yet".to_owned());
    let left = match status.seconds_left {
        _ if status.complete => String::new(),
        Some(seconds) => format!(", {} left at this pace", days(seconds)),
        None => String::new(),
    };
    vec![
        ("run", format!("{} in {}: {}", status.name, status.dir.display(), state(status))),
        ("generation", format!("{} of {}{left}", status.generation, status.generations)),
        ("learned", format!("{} steps, from {} games", status.step, status.games)),
        ("pace", known(pace(status))),
        ("strength", known(strength(status))),
        ("losses", known(losses(status))),
        ("disk", format!("{:.1} MiB", status.disk_bytes as f64 / (1 << 20) as f64)),
        ("last sign", known(status.seconds_since_sign.map(|it| format!("{} ago", days(it))))),
    ]
}

fn state(status: &Status) -> &'static str {
    let is_silent = status.seconds_since_sign.is_some_and(|seconds| seconds > SILENCE);
    match (status.going_on, status.complete) {
        (true, _) if is_silent => "a process holds it, but nothing was written for long",
        (true, _) => "going on",
        (false, true) => "complete",
        (false, false) => "stopped; keiko train goes on with it",
    }
}

fn pace(status: &Status) -> Option<String> {
    let (games, steps) = (status.games_per_hour?, status.steps_per_second?);
    let busy = status.busy_share.map(|share| format!(", cores {:.0}% busy", 100.0 * share));
    Some(format!("{games:.0} games an hour, {steps:.2} steps a second{}", busy.unwrap_or_default()))
}

fn strength(status: &Status) -> Option<String> {
    let (elo, low, high) = (status.elo?, status.elo_low?, status.elo_high?);
    Some(format!("Elo {elo:.0} [{low:.0}, {high:.0}] above the untrained network"))
}

fn losses(status: &Status) -> Option<String> {
    let words = status.losses.iter().map(|(tag, value)| {
        let name = tag.replace("loss_holdout/", "held-out ").replace("loss/", "");
        format!("{name} {value:.3}")
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// A time with days, where it has some.
fn days(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e12));
    match whole.as_secs() / 86_400 {
        0 => clock(whole),
        1 => format!("1 day {}", clock(whole - Duration::from_secs(86_400))),
        days => format!("{days} days {}", clock(whole - Duration::from_secs(86_400 * days))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_have_days() {
        assert_eq!(days(59.9), "0:00:59");
        assert_eq!(days(90_061.0), "1 day 1:01:01");
        assert_eq!(days(200_000.0), "2 days 7:33:20");
    }
}
