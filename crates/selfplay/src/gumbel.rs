//! Gumbel AlphaZero as pure functions over one node's edges.
//!
//! Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel"
//! (ICLR 2022). Scores are expected scores in [0, 1].

use rand::{Rng, RngExt};

/// The two constants of the paper's monotone transformation sigma.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Sigma {
    /// Visits' worth of confidence in the scores before any visit (paper: 50).
    pub c_visit: f32,
    /// Scale of scores against logits (paper: 1).
    pub c_scale: f32,
}

impl Sigma {
    /// What a score difference of one is worth in logits, when the most visited child has
    /// `most_visits` (paper, equation 8).
    pub fn factor(self, most_visits: u32) -> f32 {
        (self.c_visit + most_visits as f32) * self.c_scale
    }
}

/// One draw from the standard Gumbel distribution.
pub(crate) fn gumbel_noise(rng: &mut impl Rng) -> f32 {
    // Open interval: neither logarithm may meet zero.
    let uniform: f64 = rng.random_range(f64::EPSILON..1.0);
    -(-uniform.ln()).ln() as f32
}

/// The score given to moves without a visit (paper, appendix D, "v_mix"): the network's own
/// opinion and the visited moves' scores, these weighted by prior.
///
/// Works for any linear quantity, so also for each entry of a WDL.
pub(crate) fn mixed_value(raw: f32, visits: &[u32], priors: &[f32], values: &[f32]) -> f32 {
    let (mut total, mut prior_sum, mut weighted) = (0u32, 0.0f32, 0.0f32);
    for ((&n, &p), &v) in visits.iter().zip(priors).zip(values) {
        if n > 0 {
            total += n;
            prior_sum += p;
            weighted += p * v;
        }
    }
    if total == 0 || prior_sum <= 0.0 {
        return raw;
    }
    (raw + total as f32 * weighted / prior_sum) / (1 + total) as f32
}

/// In place: logits to probabilities.
pub(crate) fn softmax(logits: &mut [f32]) {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in logits.iter_mut() {
        *x = (*x - highest).exp();
        sum += *x;
    }
    for x in logits.iter_mut() {
        *x /= sum;
    }
}

/// The improved policy: softmax(logits + sigma(completed scores)) (paper, equation 11).
pub(crate) fn improved_policy(logits: &[f32], completed: &[f32], factor: f32, out: &mut Vec<f32>) {
    out.clear();
    out.extend(logits.iter().zip(completed).map(|(l, q)| l + factor * q));
    softmax(out);
}

/// The interior rule: the move whose visits lag furthest behind the improved policy
/// (paper, equation 14).
pub(crate) fn most_lagging(policy: &[f32], visits: &[u32]) -> usize {
    let total: u32 = visits.iter().sum();
    let lag = |i: usize| policy[i] - visits[i] as f32 / (1 + total) as f32;
    (1..policy.len()).fold(0, |best, i| if lag(i) > lag(best) { i } else { best })
}

/// For each simulation, how many visits the root move to be simulated has already
/// (sequential halving among `considered` moves with `simulations` in all).
///
/// Each phase gives its survivors equally many visits; phases are equally long, and what is
/// left over goes round among the last two.
pub(crate) fn visit_schedule(considered: usize, simulations: u32) -> Vec<u32> {
    if considered <= 1 {
        return (0..simulations).collect();
    }
    let phases = usize::BITS - (considered - 1).leading_zeros(); // ceil(log2)
    let mut schedule = Vec::with_capacity(simulations as usize);
    let mut survivors = considered;
    let mut level = 0;
    while schedule.len() < simulations as usize {
        let rounds = (simulations / (phases * survivors as u32)).max(1);
        for _ in 0..rounds {
            schedule.extend(std::iter::repeat_n(level, survivors));
            level += 1;
        }
        survivors = (survivors / 2).max(2);
    }
    schedule.truncate(simulations as usize);
    schedule
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn schedule_halves_the_considered_moves() {
        assert_eq!(visit_schedule(1, 3), [0, 1, 2]);
        assert_eq!(visit_schedule(4, 8), [0, 0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(visit_schedule(4, 3), [0, 0, 0]);
        // 16 moves and 32 simulations: four phases, the first two of one round each.
        let schedule = visit_schedule(16, 32);
        assert_eq!(schedule.len(), 32);
        assert_eq!(schedule.iter().filter(|&&v| v == 0).count(), 16);
        assert_eq!(schedule.iter().filter(|&&v| v == 1).count(), 8);
    }

    #[test]
    fn mixed_value_is_the_raw_one_without_visits_and_moves_with_them() {
        assert_eq!(mixed_value(0.3, &[0, 0], &[0.5, 0.5], &[0.0, 0.0]), 0.3);
        // One visit to a move of score 1: (0.3 + 1 * 1) / 2.
        let mixed = mixed_value(0.3, &[1, 0], &[0.5, 0.5], &[1.0, 0.0]);
        assert!((mixed - 0.65).abs() < 1e-6);
        // Visited moves weigh by prior, not by visits: (0.5 + 4 * (0.2*1 + 0.6*0) / 0.8) / 5.
        let mixed = mixed_value(0.5, &[3, 1, 0], &[0.2, 0.6, 0.2], &[1.0, 0.0, 0.0]);
        assert!((mixed - 0.3).abs() < 1e-6);
    }

    /// The paper's central claim, on random bandits with exact scores.
    #[test]
    fn improved_policy_never_has_a_lower_expected_score_than_the_prior() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut improved = Vec::new();
        for _ in 0..1000 {
            let n = rng.random_range(1..20);
            let logits: Vec<f32> = (0..n).map(|_| rng.random_range(-3.0..3.0)).collect();
            let scores: Vec<f32> = (0..n).map(|_| rng.random_range(0.0..1.0)).collect();
            let mut prior = logits.clone();
            softmax(&mut prior);
            let factor = Sigma { c_visit: 50.0, c_scale: 1.0 }.factor(3);
            improved_policy(&logits, &scores, factor, &mut improved);
            let expected = |p: &[f32]| p.iter().zip(&scores).map(|(p, s)| p * s).sum::<f32>();
            assert!(expected(&improved) >= expected(&prior) - 1e-6);
        }
    }

    #[test]
    fn most_lagging_follows_the_policy_in_the_long_run() {
        let policy = [0.5, 0.3, 0.2];
        let mut visits = [0u32; 3];
        for _ in 0..1000 {
            visits[most_lagging(&policy, &visits)] += 1;
        }
        for (p, v) in policy.iter().zip(visits) {
            assert!((p - v as f32 / 1000.0).abs() < 0.01);
        }
    }

    #[test]
    fn gumbel_noise_has_the_mean_of_a_gumbel() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mean = (0..100_000).map(|_| gumbel_noise(&mut rng)).sum::<f32>() / 1e5;
        assert!((mean - 0.5772).abs() < 0.02, "{mean}");
    }
}
