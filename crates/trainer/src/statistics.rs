//! Figures of a generation: its games, and its learner steps.

use keiko_network::StepReport;
use keiko_rules::{Color, Outcome, Reason};
use keiko_selfplay::{GameRecord, SelfPlay, SelfPlayConfig, StartKind, Wdl};
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

/// Tags and values that describe a generation's games, played as `selfplay` says.
pub(crate) fn of_games(games: &[GameRecord], selfplay: &SelfPlay) -> Vec<(&'static str, f64)> {
    let count = games.len().max(1) as f64;
    let share = |holds: &dyn Fn(&GameRecord) -> bool| {
        games.iter().filter(|game| holds(game)).count() as f64 / count
    };
    let began = |kind: StartKind| share(&|game| game.start.kind == kind);
    let ended_by = |reason: Reason| share(&|game| game.ending.reason == reason);
    let plies = || games.iter().flat_map(|game| &game.plies);
    let searched = plies().count().max(1) as f64;
    let full = plies().filter(|ply| ply.full).count().max(1) as f64;
    let mean_full = |value: &dyn Fn(&keiko_selfplay::Ply) -> f64| {
        plies().filter(|ply| ply.full).map(value).sum::<f64>() / full
    };
    let mut figures = vec![
        ("selfplay/length", games.iter().map(|game| game.len() as f64).sum::<f64>() / count),
        ("selfplay/starts_normal", began(StartKind::Normal)),
        ("selfplay/starts_handicap", began(StartKind::Handicap)),
        ("selfplay/starts_sampled", began(StartKind::Sampled)),
        ("selfplay/starts_random", began(StartKind::Random)),
        ("selfplay/starts_archive", began(StartKind::Archive)),
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
        ("selfplay/ends_proven", ended_by(Reason::Proven)),
        ("selfplay/ends_resignation", ended_by(Reason::Resignation)),
        (
            "selfplay/simulations",
            plies().map(|ply| f64::from(ply.simulations)).sum::<f64>() / searched,
        ),
        ("selfplay/full_simulations", selfplay.full_simulations.into()),
        ("selfplay/cheap_simulations", selfplay.cheap_simulations.into()),
        ("selfplay/surprise", mean_full(&|ply| f64::from(ply.surprise))),
        ("selfplay/policy_entropy", mean_full(&|ply| entropy(&ply.policy))),
    ];
    let normal = normal_starts_score(games);
    figures.extend(normal.map(|score| ("selfplay/first_player_score_normal", score)));
    let wrong = false_resignations(games, &selfplay.games);
    figures.extend(wrong.map(|share| ("selfplay/resign_false", share)));
    figures
}

/// The first player's mean score in games from the normal start; `None` where there are none.
fn normal_starts_score(games: &[GameRecord]) -> Option<f64> {
    let normal = games.iter().filter(|game| game.start.kind == StartKind::Normal);
    let scores: Vec<f64> = normal.map(first_players_score).collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

/// Of the games that went on although a side had reason to resign, the share that this side did
/// not lose; `None` where there are none.
fn false_resignations(games: &[GameRecord], config: &SelfPlayConfig) -> Option<f64> {
    let went_on: Vec<bool> = games
        .iter()
        .filter_map(|game| Some((game, first_to_resign(game, config)?)))
        .map(|(game, side)| game.ending.outcome != Outcome::Win(side.opponent()))
        .collect();
    let wrong = went_on.iter().filter(|&&wrong| wrong).count();
    (!went_on.is_empty()).then(|| wrong as f64 / went_on.len() as f64)
}

/// The side that was the first to have reason to resign, in a game that went on all the same.
fn first_to_resign(game: &GameRecord, config: &SelfPlayConfig) -> Option<Color> {
    let at = (1..game.plies.len()).find(|&plies| config.resigns(&game.plies[..plies]))?;
    Some(game.side_at(at - 1))
}

/// The score of the side that made the game's first move, the opening included.
fn first_players_score(game: &GameRecord) -> f64 {
    Wdl::of(game.ending.outcome, game.start.first_mover()).score().into()
}

/// The entropy of a policy, in nats.
pub(crate) fn entropy(policy: &[(keiko_rules::Move, f32)]) -> f64 {
    let term = |&(_, p): &(_, f32)| if p > 0.0 { -f64::from(p) * f64::from(p).ln() } else { 0.0 };
    policy.iter().map(term).sum()
}

/// What Linux counts processor time in.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor time of this process so far in seconds, all threads together, where the system tells
/// it.
pub fn processor_seconds() -> Option<f64> {
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
pub fn resident_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Experiment, samples};
    use keiko_rules::Ending;
    use keiko_selfplay::Ply;

    /// A game whose searches gave the sides to move, Black first, these scores.
    fn game(scores: &[f32], winner: Color, reason: Reason) -> GameRecord {
        let root = |score: f32| Wdl { win: score, draw: 0.0, loss: 1.0 - score };
        let ply = |&score: &f32| Ply { root: root(score), ..samples::ply() };
        let game = samples::game(scores.iter().map(ply).collect());
        GameRecord { ending: Ending { outcome: Outcome::Win(winner), reason }, ..game }
    }

    #[test]
    fn resignations_that_would_have_been_wrong_are_counted() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml");
        let set = ["selfplay.resign_below=0.1", "selfplay.resign_plies=2"].map(str::to_owned);
        let config = Experiment::load(path.as_ref(), &set).unwrap().selfplay;
        let share = |games: &[GameRecord]| false_resignations(games, &config);
        // Black has reason to resign at ply 2, White never.
        let scores = [0.05, 0.9, 0.05, 0.9, 0.3];
        let lost = game(&scores, Color::White, Reason::Mate);
        let won = game(&scores, Color::Black, Reason::Mate);
        // White has, before Black has, too.
        let turned = game(&[0.3, 0.0, 0.9, 0.0, 0.0, 0.9, 0.0, 0.9], Color::Black, Reason::Mate);
        // Nobody has, or does so at once.
        let even = game(&[0.05, 0.9, 0.2, 0.9, 0.05], Color::Black, Reason::Mate);
        let resigned = game(&scores[..3], Color::White, Reason::Resignation);
        assert_eq!(share(&[even.clone(), resigned.clone()]), None);
        assert_eq!(share(std::slice::from_ref(&won)), Some(1.0));
        assert_eq!(share(&[lost, won, turned, even, resigned]), Some(1.0 / 3.0));
    }

    #[test]
    fn ticks_are_two_fields() {
        assert_eq!(sum_of_ticks("cpu  1 2 3 450 50 6", 4), Some(5.0));
        assert_eq!(sum_of_ticks("cpu  1 2 3 450", 4), None);
        assert_eq!(sum_of_ticks("cpu  1 2 3 x 50", 4), None);
    }
}
