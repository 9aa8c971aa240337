//! Figures of a generation: its games, and its learner steps.

use keiko_network::StepReport;
use keiko_rules::{Outcome, Reason};
use keiko_selfplay::GameRecord;
use serde::{Deserialize, Serialize};

/// Tags of a step's figures, in the order of `values_of`.
const STEP_TAGS: [&str; 12] = [
    "loss/total",
    "loss/policy",
    "loss/value",
    "loss/moves_left",
    "loss/reply",
    "loss/short_term",
    "policy/kl",
    "policy/accuracy",
    "value/accuracy",
    "optim/gradient_norm",
    "optim/update_norm",
    "optim/weight_norm",
];

fn values_of(report: &StepReport) -> [f32; STEP_TAGS.len()] {
    let losses = &report.losses;
    [
        report.total_loss,
        losses.policy_loss,
        losses.value_loss,
        losses.moves_left_loss,
        losses.reply_loss,
        losses.short_term_loss,
        losses.policy_kl,
        losses.policy_accuracy,
        losses.value_accuracy,
        report.gradient_norm,
        report.update_norm,
        report.weight_norm,
    ]
}

/// Sums over learner steps, so that a generation's means survive an interruption.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StepSums {
    steps: u64,
    sums: [f64; STEP_TAGS.len()],
}

impl StepSums {
    /// Adds a step.
    pub fn add(&mut self, report: &StepReport) {
        self.steps += 1;
        for (sum, value) in self.sums.iter_mut().zip(values_of(report)) {
            *sum += f64::from(value);
        }
    }

    /// Steps added.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Tags with their means; none before the first step.
    pub fn means(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let mean = |sum: f64| (self.steps > 0).then(|| sum / self.steps as f64);
        STEP_TAGS.into_iter().zip(self.sums).filter_map(move |(tag, sum)| Some((tag, mean(sum)?)))
    }
}

/// Tags and values that describe a generation's games.
pub(crate) fn of_games(games: &[GameRecord]) -> Vec<(&'static str, f64)> {
    let count = games.len().max(1) as f64;
    let share = |holds: &dyn Fn(&GameRecord) -> bool| {
        games.iter().filter(|game| holds(game)).count() as f64 / count
    };
    let ended_by = |reason: Reason| share(&|game| game.ending.reason == reason);
    let plies = || games.iter().flat_map(|game| &game.plies);
    let searched = plies().count().max(1) as f64;
    let full = plies().filter(|ply| ply.full).count().max(1) as f64;
    let mean_full = |value: &dyn Fn(&keiko_selfplay::Ply) -> f64| {
        plies().filter(|ply| ply.full).map(value).sum::<f64>() / full
    };
    vec![
        ("selfplay/length", games.iter().map(|game| game.len() as f64).sum::<f64>() / count),
        ("selfplay/first_player_score", games.iter().map(first_players_score).sum::<f64>() / count),
        ("selfplay/first_player_wins", share(&|game| first_players_score(game) == 1.0)),
        ("selfplay/ends_mate", ended_by(Reason::Mate)),
        ("selfplay/ends_stalemate", ended_by(Reason::Stalemate)),
        ("selfplay/ends_royal_captured", ended_by(Reason::RoyalCaptured)),
        ("selfplay/ends_bare_royal", ended_by(Reason::BareRoyal)),
        ("selfplay/ends_declaration", ended_by(Reason::Declaration)),
        ("selfplay/ends_try", ended_by(Reason::Try)),
        ("selfplay/ends_repetition", ended_by(Reason::Repetition)),
        ("selfplay/ends_perpetual_check", ended_by(Reason::PerpetualCheck)),
        ("selfplay/ends_ply_limit", ended_by(Reason::PlyLimit)),
        (
            "selfplay/simulations",
            plies().map(|ply| f64::from(ply.simulations)).sum::<f64>() / searched,
        ),
        ("selfplay/surprise", mean_full(&|ply| f64::from(ply.surprise))),
        ("selfplay/policy_entropy", mean_full(&|ply| entropy(&ply.policy))),
    ]
}

/// The score of the side that made the game's first move, the opening included.
fn first_players_score(game: &GameRecord) -> f64 {
    // The start position's SFEN names the side to move: the first mover of these games.
    let first_is_black = game.start.sfen.split(' ').nth(1) == Some("b");
    match game.ending.outcome {
        Outcome::Draw => 0.5,
        Outcome::Win(winner) => {
            f64::from(u8::from((winner == keiko_rules::Color::Black) == first_is_black))
        }
    }
}

fn entropy(policy: &[(keiko_rules::Move, f32)]) -> f64 {
    let term = |&(_, p): &(_, f32)| if p > 0.0 { -f64::from(p) * f64::from(p).ln() } else { 0.0 };
    policy.iter().map(term).sum()
}

/// What Linux counts processor time in.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time of this process so far in seconds, all threads together, where the system tells
/// it.
pub(crate) fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in brackets and may hold anything; user and system
    // time are the 14th and 15th.
    let (_, after_name) = stat.rsplit_once(')')?;
    sum_of_ticks(after_name, 11)
}

/// Time so far in seconds that this machine's cores had nothing to do, all together, where the
/// system tells it.
pub(crate) fn unused_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    // Idle, and idle while a disk is waited for.
    sum_of_ticks(stat.lines().next()?, 4)
}

/// The sum, in seconds, of the two counts behind `skip` fields.
fn sum_of_ticks(fields: &str, skip: usize) -> Option<f64> {
    let mut counts = fields.split_whitespace().skip(skip).map(|count| count.parse::<f64>().ok());
    Some((counts.next()?? + counts.next()??) / TICKS_PER_SECOND)
}

/// Resident memory of this process in MiB, where the system tells it.
pub(crate) fn resident_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_two_fields() {
        assert_eq!(sum_of_ticks("cpu  1 2 3 450 50 6", 4), Some(5.0));
        assert_eq!(sum_of_ticks("cpu  1 2 3 450", 4), None);
        assert_eq!(sum_of_ticks("cpu  1 2 3 x 50", 4), None);
    }
}
