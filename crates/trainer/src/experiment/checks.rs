//! Which values of an experiment can work.

mod machine;

use super::{Experiment, ExperimentError};
use keiko_rules::Rules;
use keiko_selfplay::Schedule;
use std::fmt::Debug;

/// One key with its value and what it may be.
struct Check {
    holds: bool,
    key: &'static str,
    found: String,
    allowed: &'static str,
}

fn check(key: &'static str, found: impl Debug, holds: bool, allowed: &'static str) -> Check {
    Check { holds, key, found: format!("{found:?}"), allowed }
}

/// The same for a number that changes as a run goes on.
fn check_all(
    key: &'static str,
    schedule: &Schedule,
    holds: impl Fn(f32) -> bool,
    allowed: &'static str,
) -> Check {
    Check { holds: schedule.values().all(holds), key, found: schedule.to_string(), allowed }
}

/// What every count may be: far more than a machine can do, far less than overflows.
const COUNT: &str = "1 to 1000000000";

/// A bound in MiB: less than the least would be in the way of anything, 0 is none.
const BOUND: &str = "0, or 16 to 1000000000";

fn is_bound(mebibytes: u64) -> bool {
    mebibytes == 0 || (16..=1_000_000_000).contains(&mebibytes)
}

fn is_count(n: u64) -> bool {
    (1..=1_000_000_000).contains(&n)
}

fn is_share(x: f64) -> bool {
    (0.0..=1.0).contains(&x)
}

fn is_folder_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

impl Experiment {
    /// Refuses the first value that cannot work; `place` says where a key's value comes from.
    pub(super) fn validate(&self, place: impl Fn(&str) -> String) -> Result<(), ExperimentError> {
        let impossible = |key: String, found: String, allowed: &'static str| {
            Err(ExperimentError::Impossible { origin: place(&key), key, found, allowed })
        };
        if let Err(error) = self.learner.check() {
            return impossible(
                format!("learner.{}", error.key),
                error.value.to_string(),
                error.allowed,
            );
        }
        match self.checks().into_iter().find(|check| !check.holds) {
            Some(check) => impossible(check.key.to_owned(), check.found, check.allowed),
            None => Ok(()),
        }
    }

    /// What every key must be, as in messages: first what holds whatever the others are.
    pub(super) fn bounds(&self) -> Vec<(String, &'static str)> {
        let checks = self.checks().into_iter().map(|check| (check.key.to_owned(), check.allowed));
        let numbers = self.learner.numbers().into_iter();
        checks.chain(numbers.map(|(key, _, allowed)| (format!("learner.{key}"), allowed))).collect()
    }

    fn checks(&self) -> Vec<Check> {
        let sections = [
            self.network_and_search(),
            self.puct(),
            self.games(),
            self.starts(),
            self.learning(),
            self.arena_and_machine(),
            self.device(),
        ];
        sections.into_iter().flatten().collect()
    }

    fn network_and_search(&self) -> Vec<Check> {
        const PLIES: &str = "0 to 99";
        const NODES: &str = "0 to 1000000000";
        let (n, s) = (&self.network, &self.search);
        let plies = |plies: u16| plies <= 99;
        let nodes = |nodes: u64| nodes <= 1_000_000_000;
        vec![
            // TOML's whole numbers are signed.
            check("seed", self.seed, self.seed <= i64::MAX as u64, "0 to 9223372036854775807"),
            check(
                "name",
                &self.name,
                is_folder_name(&self.name),
                "a folder's name: letters, digits, - and _",
            ),
            check("network.channels", n.channels, (1..=1024).contains(&n.channels), "1 to 1024"),
            check("network.blocks", n.blocks, (1..=64).contains(&n.blocks), "1 to 64"),
            check(
                "network.pooling_every",
                n.pooling_every,
                (1..=64).contains(&n.pooling_every),
                "1 to 64",
            ),
            check(
                "search.considered_moves",
                s.considered_moves,
                (1..=4096).contains(&s.considered_moves),
                "1 to 4096",
            ),
            check(
                "search.c_visit",
                s.c_visit,
                s.c_visit >= 0.0 && s.c_visit.is_finite(),
                "0 or more",
            ),
            check("search.c_scale", s.c_scale, s.c_scale > 0.0 && s.c_scale.is_finite(), "above 0"),
            check("search.leaf_mate_plies", s.leaf_mate_plies, plies(s.leaf_mate_plies), PLIES),
            check("search.leaf_mate_nodes", s.leaf_mate_nodes, nodes(s.leaf_mate_nodes), NODES),
            check("search.root_mate_plies", s.root_mate_plies, plies(s.root_mate_plies), PLIES),
            check("search.root_mate_nodes", s.root_mate_nodes, nodes(s.root_mate_nodes), NODES),
            check("search.root_proof_nodes", s.root_proof_nodes, nodes(s.root_proof_nodes), NODES),
        ]
    }

    fn puct(&self) -> Vec<Check> {
        let p = &self.search.puct;
        let positive = |key, x: f32| check(key, x, x > 0.0 && x.is_finite(), "above 0");
        let weight = |key, x: f32| check(key, x, x >= 0.0 && x.is_finite(), "0 or more");
        vec![
            positive("search.puct.cpuct", p.cpuct),
            weight("search.puct.cpuct_growth", p.cpuct_growth),
            positive("search.puct.cpuct_base", p.cpuct_base),
            weight("search.puct.fpu_reduction", p.fpu_reduction),
            check(
                "search.puct.noise_share",
                p.noise_share,
                is_share(p.noise_share.into()),
                "0 to 1",
            ),
            positive("search.puct.noise_total", p.noise_total),
            positive("search.puct.root_temperature", p.root_temperature),
            weight("search.puct.forced_playouts", p.forced_playouts),
        ]
    }

    fn games(&self) -> Vec<Check> {
        let s = &self.selfplay;
        let simulations = |n: f32| (1.0..=1e6).contains(&n);
        let noise = |x: f32| x >= 0.0 && x.is_finite();
        let halflife = s.temperature_halflife;
        vec![
            check_all(
                "selfplay.full_simulations",
                &s.full_simulations,
                simulations,
                "1 to 1000000",
            ),
            check_all(
                "selfplay.cheap_simulations",
                &s.cheap_simulations,
                simulations,
                "1 to 1000000",
            ),
            check(
                "selfplay.full_share",
                s.full_share,
                is_share(s.full_share) && s.full_share > 0.0,
                "above 0, up to 1",
            ),
            check("selfplay.temperature", s.temperature, noise(s.temperature), "0 or more"),
            check(
                "selfplay.final_temperature",
                s.final_temperature,
                noise(s.final_temperature),
                "0 or more",
            ),
            check("selfplay.temperature_halflife", halflife, halflife > 0.0, "above 0"),
            check(
                "selfplay.ply_limit",
                s.ply_limit,
                (2..=10_000).contains(&s.ply_limit),
                "2 to 10000",
            ),
            check(
                "selfplay.proven_playout_share",
                s.proven_playout_share,
                is_share(s.proven_playout_share),
                "0 to 1",
            ),
            check("selfplay.resign_below", s.resign_below, is_share(s.resign_below), "0 to 1"),
            check(
                "selfplay.resign_plies",
                s.resign_plies,
                (1..=10_000).contains(&s.resign_plies),
                "1 to 10000",
            ),
            check(
                "selfplay.resign_playout_share",
                s.resign_playout_share,
                is_share(s.resign_playout_share),
                "0 to 1",
            ),
        ]
    }

    /// How games begin.
    fn starts(&self) -> Vec<Check> {
        let s = &self.selfplay;
        let shares = [
            ("selfplay.handicap_share", s.handicap_share),
            ("selfplay.sampled_opening_share", s.sampled_opening_share),
            ("selfplay.random_opening_share", s.random_opening_share),
            ("selfplay.archive_share", s.archive_share),
        ];
        let plies = [
            ("selfplay.sampled_opening_plies", s.sampled_opening_plies),
            ("selfplay.random_opening_plies", s.random_opening_plies),
        ];
        // Sums of decimal fractions are not exact.
        let sum = (shares.iter().map(|(_, share)| share).sum::<f64>() * 1e9).round() / 1e9;
        // Rules that cannot be loaded are somebody else's complaint.
        let has_handicaps =
            || Rules::load(&self.rules).map_or(true, |rules| rules.handicaps().next().is_some());
        let is_short = |plies: u32| (1..s.ply_limit).contains(&plies);
        let share = |(key, share)| check(key, share, is_share(share), "0 to 1");
        let short = |(key, plies)| {
            check(key, plies, is_short(plies), "1 or more, below selfplay.ply_limit")
        };
        let others = [
            check(
                "selfplay.handicap_share + sampled_opening_share + random_opening_share + archive_share",
                sum,
                sum <= 1.0,
                "1 at most; what is left begins normally",
            ),
            check(
                "selfplay.handicap_share",
                s.handicap_share,
                s.handicap_share == 0.0 || has_handicaps(),
                "0 where the game has no handicaps",
            ),
            check(
                "selfplay.archive_games",
                s.archive_games,
                is_count(s.archive_games as u64),
                COUNT,
            ),
        ];
        shares.into_iter().map(share).chain(plies.into_iter().map(short)).chain(others).collect()
    }

    fn learning(&self) -> Vec<Check> {
        let t = &self.training;
        let games = t.games_per_generation;
        let ratio = t.samples_per_position;
        let divides = t.batch_size.is_multiple_of(t.micro_batch);
        let small = |rate: f32| (0.0..=1.0).contains(&rate);
        vec![
            check("training.generations", t.generations, is_count(t.generations), COUNT),
            check(
                "training.games_per_generation",
                games,
                (1..=1_000_000).contains(&games),
                "1 to 1000000",
            ),
            check("training.overlap", t.overlap, t.overlap <= 1, "0 or 1"),
            check(
                "training.holdout_every",
                t.holdout_every,
                is_count(t.holdout_every) && t.holdout_every >= 2,
                "2 to 1000000000",
            ),
            check(
                "training.samples_per_position",
                ratio,
                ratio > 0.0 && ratio <= 64.0,
                "above 0, up to 64",
            ),
            check("training.window_games", t.window_games, is_count(t.window_games), COUNT),
            check(
                "training.window_exponent",
                t.window_exponent,
                is_share(t.window_exponent),
                "0 to 1",
            ),
            check(
                "training.surprise_share",
                t.surprise_share,
                is_share(t.surprise_share),
                "0 to 1",
            ),
            check(
                "training.search_value_share",
                t.search_value_share,
                is_share(t.search_value_share.into()),
                "0 to 1",
            ),
            check(
                "training.batch_size",
                t.batch_size,
                (1..=65_536).contains(&t.batch_size),
                "1 to 65536",
            ),
            check(
                "training.micro_batch",
                t.micro_batch,
                (1..=65_536).contains(&t.micro_batch),
                "1 to 65536",
            ),
            check(
                "training.micro_batch",
                t.micro_batch,
                divides,
                "a divisor of training.batch_size",
            ),
            check(
                "training.short_term_plies",
                t.short_term_plies,
                (1.0..=1e6).contains(&t.short_term_plies),
                "1 to 1000000",
            ),
            check_all("training.learning_rate", &t.learning_rate, small, "rates from 0 to 1"),
            check(
                "training.learning_retries",
                t.learning_retries,
                t.learning_retries <= 1000,
                "0 to 1000",
            ),
            check(
                "training.retry_rate_factor",
                t.retry_rate_factor,
                t.retry_rate_factor > 0.0 && t.retry_rate_factor < 1.0,
                "above 0, below 1",
            ),
        ]
    }
}
