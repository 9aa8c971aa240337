//! PUCT as pure functions over one node's edges.
//!
//! Silver et al., "A general reinforcement learning algorithm that masters chess, shogi and Go
//! through self-play" (Science 2018), and Wu, "Accelerating self-play learning in Go" (2019) for
//! forced playouts and what is left of them. Scores are expected scores in [0, 1]; the constants
//! are the usual ones, made for utilities in [-1, 1].

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Gamma};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[search.puct]`: the constants of PUCT.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Puct {
    /// What an unvisited move's prior is worth against scores.
    pub cpuct: f32,
    /// How much more that is with every factor e of visits.
    pub cpuct_growth: f32,
    /// Visits at about which `cpuct_growth` begins to count.
    pub cpuct_base: f32,
    /// How much worse than its position an unvisited move is taken to be, once the moves that
    /// were visited hold all of the prior; at the root it is not.
    pub fpu_reduction: f32,
    /// Share of Dirichlet noise in the root's prior, where the search explores.
    pub noise_share: f32,
    /// Concentration of the Dirichlet noise, divided among the legal moves.
    pub noise_total: f32,
    /// Temperature of the root's prior, where the search explores.
    pub root_temperature: f32,
    /// k in the playouts that an explored root move gets at least, the root of
    /// k * prior * visits; 0 forces none.
    pub forced_playouts: f32,
}

impl Puct {
    /// What AlphaZero and KataGo do.
    pub const USUAL: Puct = Puct {
        cpuct: 1.1,
        cpuct_growth: 0.45,
        cpuct_base: 500.0,
        fpu_reduction: 0.2,
        noise_share: 0.25,
        noise_total: 10.0,
        root_temperature: 1.1,
        forced_playouts: 2.0,
    };

    /// What priors are worth when a position has so many visits.
    pub(crate) fn worth(&self, visits: u32) -> f32 {
        let growth = ((visits as f32 + self.cpuct_base) / self.cpuct_base).ln();
        (self.cpuct + self.cpuct_growth * growth) * (visits.max(1) as f32).sqrt()
    }

    /// The score an unvisited move is taken to have, where moves with `explored` of the prior
    /// were visited.
    pub(crate) fn first_score(&self, raw: f32, explored: f32) -> f32 {
        // Half, because scores span half of what utilities do.
        raw - 0.5 * self.fpu_reduction * explored.sqrt()
    }

    /// Visits that a root move gets at least, once it has one (Wu 2019, section 3.2).
    pub(crate) fn forced(&self, prior: f32, visits: u32) -> f32 {
        (self.forced_playouts * prior * visits as f32).sqrt()
    }

    /// The root's visits without those that were only forced: from every move but the most
    /// visited one as many are taken as it was forced to have, while that leaves it behind the
    /// most visited one. Moves that come down to one visit lose that too (Wu 2019, section 3.2).
    pub(crate) fn pruned(&self, priors: &[f32], visits: &[u32], scores: &[f32]) -> Vec<u32> {
        let total = visits.iter().sum();
        let worth = self.worth(total);
        let urgency = |i: usize, visits: u32| urgency(scores[i], worth * priors[i], visits);
        let best = most_visited(visits);
        let least = urgency(best, visits[best]);
        let prune = |i: usize| {
            if i == best || visits[i] == 0 {
                return visits[i];
            }
            let floor = (visits[i] as f32 - self.forced(priors[i], total)).max(0.0).ceil() as u32;
            let mut left = visits[i];
            while left > floor && urgency(i, left - 1) < least {
                left -= 1;
            }
            if left <= 1 && left < visits[i] { 0 } else { left }
        };
        (0..visits.len()).map(prune).collect()
    }

    /// In place: the root's prior as an exploring search uses it, flatter and with Dirichlet noise.
    pub(crate) fn explore(&self, priors: &mut [f32], noise: &[f32]) {
        priors.iter_mut().for_each(|p| *p = p.powf(1.0 / self.root_temperature));
        let sum: f32 = priors.iter().sum();
        let share = self.noise_share;
        let all = priors.iter_mut().zip(noise);
        all.for_each(|(p, n)| *p = (1.0 - share) * *p / sum + share * n);
    }

    /// Dirichlet noise over so many moves.
    pub(crate) fn noise(&self, moves: usize, rng: &mut impl Rng) -> Vec<f32> {
        let gamma = Gamma::new(f64::from(self.noise_total) / moves as f64, 1.0);
        let gamma = gamma.expect("the concentration is checked to be above 0");
        // Small concentrations underflow; some number above 0 must be left to divide by.
        let draws: Vec<f64> = (0..moves).map(|_| gamma.sample(rng).max(1e-30)).collect();
        let sum: f64 = draws.iter().sum();
        draws.iter().map(|draw| (draw / sum) as f32).collect()
    }
}

/// How much a move asks to be visited next: its utility, and what is left of its prior's worth.
pub(crate) fn urgency(score: f32, worth: f32, visits: u32) -> f32 {
    2.0 * score - 1.0 + worth / (1 + visits) as f32
}

/// The first of the moves that have most visits.
pub(crate) fn most_visited(visits: &[u32]) -> usize {
    (1..visits.len()).fold(0, |best, i| if visits[i] > visits[best] { i } else { best })
}

/// A move by its visits to the power of 1 / temperature; the most visited at temperature 0.
/// `uniform`, from [0, 1), decides.
pub(crate) fn by_visits(visits: &[u32], temperature: f32, uniform: f32) -> usize {
    let most = visits.iter().copied().max().unwrap_or(0);
    if most == 0 || temperature <= 0.0 {
        return most_visited(visits);
    }
    // Against the most, so that no power overflows.
    let weight = |&n: &u32| (n as f32 / most as f32).powf(1.0 / temperature);
    let total: f32 = visits.iter().map(weight).sum();
    let mut left = uniform * total;
    for (index, n) in visits.iter().enumerate() {
        left -= weight(n);
        if left < 0.0 {
            return index;
        }
    }
    most_visited(visits)
}

/// A number from [0, 1).
pub(crate) fn uniform(rng: &mut impl Rng) -> f32 {
    rng.random_range(0.0..1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const PLAIN: Puct = Puct { cpuct: 1.0, cpuct_growth: 0.0, ..Puct::USUAL };

    #[test]
    fn a_prior_is_worth_more_with_visits() {
        assert_eq!(PLAIN.worth(0), 1.0);
        assert_eq!(PLAIN.worth(16), 4.0);
        // 1.1 + 0.45 * ln(2), times the root of 500.
        assert!((Puct::USUAL.worth(500) - 31.571).abs() < 1e-3);
        // Utility 2 * 0.75 - 1, and 4 * 0.5 / (1 + 3).
        assert_eq!(urgency(0.75, 2.0, 3), 1.0);
    }

    #[test]
    fn unvisited_moves_are_taken_to_be_worse_the_more_was_explored() {
        assert_eq!(Puct::USUAL.first_score(0.6, 0.0), 0.6);
        assert!((Puct::USUAL.first_score(0.6, 0.25) - 0.55).abs() < 1e-6);
    }

    /// Worked out by hand: 64 visits, so a prior's worth is 8.
    #[test]
    fn forced_playouts_are_taken_away_again() {
        let (priors, visits) = ([0.5, 0.25, 0.125, 0.125], [48, 10, 5, 1]);
        let scores = [0.75, 0.5, 0.25, 0.25];
        assert!((PLAIN.forced(0.125, 64) - 4.0).abs() < 1e-6);
        assert!((PLAIN.forced(0.25, 64) - 32f32.sqrt()).abs() < 1e-6);
        // The best has 0.5 + 4 / 49 = 0.5816. The second has 0 + 2 / (1 + n), which stays below
        // that down to n = 3; forced were 5.66 of its 10, so 5 are left. The third has
        // -0.5 + 1 / (1 + n), below that down to n = 0; forced were 4 of 5, so 1 is left, and goes
        // too. The last: -0.5 + 1 / (1 + 0) = 0.5 is behind as well, so it goes.
        assert_eq!(PLAIN.pruned(&priors, &visits, &scores), [48, 5, 0, 0]);
        // As good as the best, nothing may be taken: 0.5 + 2 / 11 is ahead of it already.
        assert_eq!(PLAIN.pruned(&priors, &visits, &[0.75, 0.75, 0.25, 0.25])[1], 10);
        let unforced = Puct { forced_playouts: 0.0, ..PLAIN };
        assert_eq!(unforced.pruned(&priors, &visits, &scores), visits);
    }

    #[test]
    fn noise_is_a_distribution_that_is_seldom_even() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut mean, mut square) = (0.0, 0.0);
        for _ in 0..4000 {
            let noise = Puct::USUAL.noise(20, &mut rng);
            assert!((noise.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            mean += noise[0] / 4000.0;
            square += noise[0] * noise[0] / 4000.0;
        }
        // Concentration 0.5 of 10: variance 0.05 * 0.95 / 11.
        assert!((mean - 0.05).abs() < 0.005, "{mean}");
        assert!((square - mean * mean - 0.004318).abs() < 0.0006, "{}", square - mean * mean);
        let mut explored = [0.9, 0.1];
        Puct::USUAL.explore(&mut explored, &[0.0, 1.0]);
        // 0.9 and 0.1 to the power of 1 / 1.1 are 0.8805 and 0.1195 of their sum.
        assert!((explored[0] - 0.75 * 0.8805).abs() < 1e-3, "{explored:?}");
        assert!((explored[1] - (0.75 * 0.1195 + 0.25)).abs() < 1e-3, "{explored:?}");
    }

    #[test]
    fn moves_are_chosen_by_visits_and_temperature() {
        let visits = [1, 6, 3];
        assert_eq!(by_visits(&visits, 0.0, 0.99), 1);
        let at = |temperature: f32, uniform: f32| by_visits(&visits, temperature, uniform);
        assert_eq!([at(1.0, 0.05), at(1.0, 0.5), at(1.0, 0.75)], [0, 1, 2]);
        // Squares: 1, 36, 9 of 46.
        assert_eq!([at(0.5, 0.02), at(0.5, 0.7), at(0.5, 0.82)], [0, 1, 2]);
        assert_eq!(by_visits(&[0, 0], 1.0, 0.5), 0);
    }
}
