//! The statistics of matches against simulated ones: how often the test errs, how often intervals
//! hold the truth.
#![allow(clippy::unwrap_used)]

use keiko_selfplay::{Purpose, generator};
use keiko_trainer::elo::{Estimate, GameResult, NORMALISED, PairTally, elo_of, score_of};
use keiko_trainer::sprt::{Scale, Sprt, Verdict};
use rand::RngExt;
use std::thread;

const MATCHES: u64 = 10_000;

/// Pairs between equals as long engine games end: many draws, and openings that decide alike.
const DRAWISH: [f64; 5] = [0.03, 0.20, 0.54, 0.20, 0.03];
/// As short shogi games end: hardly a draw, and the opening often decides both games.
const DECISIVE: [f64; 5] = [0.20, 0.04, 0.52, 0.04, 0.20];

fn mean(shares: &[f64; 5]) -> f64 {
    (0..5).map(|half| shares[half] * half as f64 / 4.0).sum()
}

fn deviation(shares: &[f64; 5]) -> f64 {
    let middle = mean(shares);
    (0..5).map(|half| shares[half] * (half as f64 / 4.0 - middle).powi(2)).sum::<f64>().sqrt()
}

/// The shares tilted until their mean is that of a difference.
fn stronger(shares: [f64; 5], elo: f64) -> [f64; 5] {
    let tilted = |by: f64| {
        let weights: Vec<f64> =
            shares.iter().enumerate().map(|(half, p)| p * (by * half as f64).exp()).collect();
        let sum: f64 = weights.iter().sum();
        std::array::from_fn(|half| weights[half] / sum)
    };
    let (mut low, mut high) = (-5.0, 5.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        *(if mean(&tilted(middle)) < score_of(elo) { &mut low } else { &mut high }) = middle;
    }
    tilted(low)
}

/// Results of pairs as half points, without end.
fn pairs(shares: [f64; 5], number: u64) -> impl Iterator<Item = usize> {
    let mut rng = generator(1, Purpose::Arena, number);
    std::iter::repeat_with(move || {
        let mut left = rng.random_range(0.0..1.0);
        let found = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        found.unwrap_or(4)
    })
}

/// In how many of all simulated matches something is so, counted on two threads.
fn count(holds: impl Fn(u64) -> bool + Sync) -> u64 {
    let half = |odd: u64| (0..MATCHES / 2).filter(|number| holds(2 * number + odd)).count() as u64;
    thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        half(0) + odd.join().unwrap()
    })
}

fn verdict(sprt: &Sprt, shares: [f64; 5], number: u64) -> Verdict {
    let mut counts = [0; 5];
    for half in pairs(shares, number) {
        counts[half] += 1;
        let (verdict, _) = sprt.verdict(counts);
        if verdict != Verdict::Open {
            return verdict;
        }
    }
    unreachable!("pairs go on without end")
}

#[test]
fn the_test_errs_in_hardly_more_than_a_twentieth_of_all_matches() {
    let sprt = Sprt { low: 0.0, high: 10.0, scale: Scale::Logistic };
    for shares in [DRAWISH, DECISIVE] {
        for (elo, wrong) in [(0.0, Verdict::Higher), (10.0, Verdict::Lower)] {
            let made = stronger(shares, elo);
            let errors = count(|number| verdict(&sprt, made, number) == wrong);
            println!("{shares:?} at {elo} Elo: {errors} of {MATCHES} verdicts are wrong");
            assert!(errors as f64 <= 0.057 * MATCHES as f64, "{errors}");
        }
    }
}

#[test]
fn the_test_in_normalised_elo_errs_no_more() {
    let sprt = Sprt { low: 0.0, high: 10.0, scale: Scale::Normalised };
    // With this deviation of a game's points, a normalised difference is so much Elo.
    let elo = elo_of(0.5 + 10.0 / NORMALISED * 2f64.sqrt() * deviation(&DRAWISH));
    for (elo, wrong) in [(0.0, Verdict::Higher), (elo, Verdict::Lower)] {
        let made = stronger(DRAWISH, elo);
        let errors = count(|number| verdict(&sprt, made, number) == wrong);
        println!("at {elo:.2} Elo: {errors} of {MATCHES} verdicts are wrong");
        assert!(errors as f64 <= 0.057 * MATCHES as f64, "{errors}");
    }
}

fn tally(shares: [f64; 5], number: u64, length: usize) -> PairTally {
    use GameResult::{Draw, Loss, Win};
    let results = [(Loss, Loss), (Draw, Loss), (Draw, Draw), (Win, Draw), (Win, Win)];
    let mut tally = PairTally::default();
    pairs(shares, number).take(length).for_each(|half| tally.add(results[half].0, results[half].1));
    tally
}

fn holds(estimate: &Estimate, truth: f64) -> bool {
    (estimate.low..=estimate.high).contains(&truth)
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for (shares, elo) in [(DRAWISH, 0.0), (DRAWISH, 60.0), (DECISIVE, 0.0), (DECISIVE, 120.0)] {
        let made = stronger(shares, elo);
        let normalised = (mean(&made) - 0.5) / (2f64.sqrt() * deviation(&made)) * NORMALISED;
        let right = count(|number| holds(&tally(made, number, 300).strength().unwrap().elo, elo));
        let right_too =
            count(|number| holds(&tally(made, number, 300).normalised().unwrap(), normalised));
        println!("{shares:?} at {elo} Elo: {right} and, normalised, {right_too} of {MATCHES}");
        for right in [right, right_too] {
            assert!((9_400..=9_600).contains(&right), "{right}");
        }
    }
}
