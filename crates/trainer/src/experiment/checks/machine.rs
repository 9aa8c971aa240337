//! How strength is measured, and what computes: which values can work.

use super::{BOUND, COUNT, Check, check, is_bound, is_count};
use crate::experiment::Experiment;
use keiko_network::Precision;

impl Experiment {
    pub(super) fn arena_and_machine(&self) -> Vec<Check> {
        let (a, m) = (&self.arena, &self.machine);
        let age = a.rival_age.is_multiple_of(a.every.max(1));
        let short = a.opening_plies < self.selfplay.ply_limit;
        vec![
            check("arena.every", a.every, a.every >= 1, "1 or more"),
            check("arena.rival_age", a.rival_age, is_count(a.rival_age), COUNT),
            check("arena.rival_age", a.rival_age, age, "a multiple of arena.every"),
            check("arena.random_pairs", a.random_pairs, is_count(a.random_pairs), COUNT),
            check("arena.rival_pairs", a.rival_pairs, is_count(a.rival_pairs), COUNT),
            check(
                "arena.ladder_pairs",
                a.ladder_pairs,
                a.ladder_pairs <= 1_000_000_000,
                "0 to 1000000000",
            ),
            check(
                "arena.simulations",
                a.simulations,
                (1..=1_000_000).contains(&a.simulations),
                "1 to 1000000",
            ),
            check("arena.opening_plies", a.opening_plies, short, "below selfplay.ply_limit"),
            check("machine.workers", m.workers, (1..=256).contains(&m.workers), "1 to 256"),
            check("machine.batch", m.batch, (1..=4096).contains(&m.batch), "1 to 4096"),
            check("machine.cache", m.cache, m.cache <= 100_000_000, "0 to 100000000"),
            check(
                "machine.keep_checkpoints",
                m.keep_checkpoints,
                (2..=1000).contains(&m.keep_checkpoints),
                "2 to 1000",
            ),
            check(
                "machine.keep_every",
                m.keep_every,
                m.keep_every == 0 || is_count(m.keep_every),
                "0 to 1000000000",
            ),
            check("machine.games_mebibytes", m.games_mebibytes, is_bound(m.games_mebibytes), BOUND),
            check(
                "machine.networks_mebibytes",
                m.networks_mebibytes,
                is_bound(m.networks_mebibytes),
                BOUND,
            ),
            check(
                "machine.replay_mebibytes",
                m.replay_mebibytes,
                is_bound(m.replay_mebibytes),
                BOUND,
            ),
            check(
                "machine.disk_reserve_mebibytes",
                m.disk_reserve_mebibytes,
                m.disk_reserve_mebibytes <= 1_000_000_000,
                "0 to 1000000000",
            ),
            check(
                "machine.memory_mebibytes",
                m.memory_mebibytes,
                m.memory_mebibytes <= 1_000_000_000,
                "0 to 1000000000",
            ),
        ]
    }

    /// What a GPU needs: a CPU takes anything.
    pub(super) fn device(&self) -> Vec<Check> {
        let (m, precision) = (&self.machine, self.inference.precision);
        let gpu = m.device.is_gpu();
        vec![
            check(
                "machine.workers",
                m.workers,
                !gpu || m.workers == 1,
                "1 where machine.device is a GPU: one thread owns it, machine.batch makes it busy",
            ),
            Check {
                holds: !gpu || precision == Precision::F32,
                key: "inference.precision",
                found: format!("{precision:?}").to_lowercase(),
                allowed: "f32 where machine.device is a GPU",
            },
        ]
    }
}
