//! The sequential probability ratio test on pairs of games: a match is over as soon as it tells
//! which of two differences is the likelier one.

use crate::elo::{NORMALISED, PAIR_SCORES, score_of};

/// How often either verdict may be wrong, at most about.
pub const ERROR: f64 = 0.05;

/// Pairs counted for a result that never occurred, as fishtest does: nothing is impossible.
const RARE: f64 = 1e-3;

/// Scores are kept this far from 0 and 1, which no finite difference amounts to.
const EDGE: f64 = 1e-3;

/// Two differences of strength, of which a match is to tell the better one.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Sprt {
    /// The lower difference, in Elo.
    pub low: f64,
    /// The higher difference.
    pub high: f64,
    /// What both are counted in.
    pub scale: Scale,
}

/// What a difference of strength is counted in.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Scale {
    /// Elo, a logistic function of the expected score.
    Logistic,
    /// Normalised Elo: standard deviations of a game's points.
    Normalised,
}

/// What a match says so far.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Verdict {
    /// The lower difference is the likelier one.
    Lower,
    /// Not enough to tell.
    Open,
    /// The higher difference is the likelier one.
    Higher,
}

impl Sprt {
    /// What these pairs (by half points of the first player) say, and by which log-likelihood
    /// ratio.
    pub fn verdict(&self, pairs: [u32; 5]) -> (Verdict, f64) {
        let ratio = self.log_ratio(pairs);
        let verdict = if ratio >= Sprt::bound() {
            Verdict::Higher
        } else if ratio <= -Sprt::bound() {
            Verdict::Lower
        } else {
            Verdict::Open
        };
        (verdict, ratio)
    }

    /// The ratio at which the test is over, in either direction (Wald).
    pub fn bound() -> f64 {
        ((1.0 - ERROR) / ERROR).ln()
    }

    /// The generalised log-likelihood ratio: how much likelier the pairs are made by the likeliest
    /// distribution of the higher mean than by that of the lower one.
    fn log_ratio(&self, pairs: [u32; 5]) -> f64 {
        if pairs.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let counts = pairs.map(|count| f64::from(count).max(RARE));
        let [low, high] = self.scores(&counts);
        let (low_tilt, high_tilt) = (tilt(&counts, low), tilt(&counts, high));
        let each = counts.iter().zip(PAIR_SCORES).map(|(count, score)| {
            count * ((1.0 + low_tilt * (score - low)) / (1.0 + high_tilt * (score - high))).ln()
        });
        each.sum()
    }

    /// The expected scores of both differences; normalised ones have the deviation of the counts.
    fn scores(&self, counts: &[f64; 5]) -> [f64; 2] {
        let of = |elo| match self.scale {
            Scale::Logistic => score_of(elo),
            Scale::Normalised => 0.5 + elo / NORMALISED * (2.0 * variance(counts)).sqrt(),
        };
        [self.low, self.high].map(|elo| of(elo).clamp(EDGE, 1.0 - EDGE))
    }
}

fn variance(counts: &[f64; 5]) -> f64 {
    let pairs: f64 = counts.iter().sum();
    let mean = |of: &dyn Fn(f64) -> f64| {
        counts.iter().zip(PAIR_SCORES).map(|(count, score)| count * of(score)).sum::<f64>() / pairs
    };
    let middle = mean(&|score| score);
    mean(&|score| (score - middle).powi(2))
}

/// The likeliest distribution with mean `score` gives each result its count over
/// `1 + tilt * (its score - score)`; this is the tilt, the root of a decreasing function (found by
/// Newton's steps, or by halving where one leads too far).
fn tilt(counts: &[f64; 5], score: f64) -> f64 {
    let (mut low, mut high) = (-1.0 / (1.0 - score), 1.0 / score);
    let mut tilt = 0.0;
    // Halving alone comes to the last bit in so many steps.
    for _ in 0..64 {
        let (mut value, mut slope) = (0.0, 0.0);
        for (count, at) in counts.iter().zip(PAIR_SCORES) {
            let share = (at - score) / (1.0 + tilt * (at - score));
            value += count * share;
            slope -= count * share * share;
        }
        *(if value > 0.0 { &mut low } else { &mut high }) = tilt;
        let mut next = tilt - value / slope;
        if !(low..high).contains(&next) {
            next = (low + high) / 2.0;
        }
        let moved = (next - tilt).abs();
        tilt = next;
        if moved < 1e-9 {
            break;
        }
    }
    tilt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-2, "{a} is not {b}");
    }

    fn test(low: f64, high: f64, scale: Scale) -> Sprt {
        Sprt { low, high, scale }
    }

    #[test]
    fn agrees_with_the_normal_approximation_where_it_holds() {
        // N (s1 - s0) (2 mean - s0 - s1) / (2 variance), for many pairs and a small difference.
        let pairs = [100, 400, 1000, 420, 110];
        let (low, high) = (score_of(0.0), score_of(5.0));
        let mean = (400.0 * 0.25 + 1000.0 * 0.5 + 420.0 * 0.75 + 110.0) / 2030.0;
        let spread = variance(&pairs.map(f64::from));
        let normal = 2030.0 * (high - low) * (2.0 * mean - low - high) / (2.0 * spread);
        close(test(0.0, 5.0, Scale::Logistic).log_ratio(pairs), normal);
        // A game's deviation makes the one scale from the other.
        let normalised =
            5.0 * NORMALISED * std::f64::consts::LN_10 / 1600.0 / (2.0 * spread).sqrt();
        let ratio = test(0.0, normalised, Scale::Normalised).log_ratio(pairs);
        close(ratio, normal);
    }

    #[test]
    fn few_or_equal_pairs_say_little() {
        let sprt = test(0.0, 10.0, Scale::Logistic);
        assert_eq!(sprt.verdict([0; 5]), (Verdict::Open, 0.0));
        let (verdict, ratio) = sprt.verdict([0, 0, 100, 0, 0]);
        assert_eq!(verdict, Verdict::Open);
        assert!(ratio < 0.0, "{ratio}");
        assert_eq!(sprt.verdict([0, 0, 0, 0, 400]).0, Verdict::Higher);
        assert_eq!(sprt.verdict([400, 0, 0, 0, 0]).0, Verdict::Lower);
    }

    #[test]
    fn is_antisymmetric() {
        let pairs = [3, 10, 40, 21, 6];
        let mirrored = [6, 21, 40, 10, 3];
        let ratio = test(-3.0, 8.0, Scale::Logistic).log_ratio(pairs);
        close(ratio, -test(-8.0, 3.0, Scale::Logistic).log_ratio(mirrored));
    }
}
