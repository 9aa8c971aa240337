//! Bradley-Terry ratings: one number a player, such that all games between all players are as likely
//! as can be; and which games would tell most about them.

use crate::elo::{Estimate, Z};

/// Elo for each unit of a player's log-odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// What is taken for granted before any game: ratings lie around the zero of all with this standard
/// deviation in Elo. So who won or lost every game has a rating, too.
const PRIOR_DEVIATION: f64 = 1000.0;

/// The largest part of a rating changed in one step, in log-odds: far from the solution Newton's
/// steps lead too far.
const LONGEST_STEP: f64 = 2.0;

/// Games that two players played against each other.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Encounter {
    /// One player's number.
    pub one: usize,
    /// The other's.
    pub other: usize,
    /// How many games.
    pub games: f64,
    /// The points of `one`: a win is 1, a draw one half.
    pub points: f64,
}

/// Ratings of players by their number. Player 0 is the zero of all.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// Log-odds.
    values: Vec<f64>,
    /// Rows of the covariance of the values.
    covariance: Vec<Vec<f64>>,
}

impl Ratings {
    /// The ratings that make the games likeliest (their posterior mode, by Newton's method), with
    /// the covariance that the curvature there amounts to. A draw counts as half a win.
    pub fn fit(players: usize, encounters: &[Encounter]) -> Ratings {
        let mut values = vec![0.0; players];
        loop {
            let (slope, curvature) = slope_and_curvature(&values, encounters);
            let covariance = inverse(curvature);
            let steps: Vec<f64> = covariance.iter().map(|row| product(row, &slope)).collect();
            let longest = steps.iter().fold(0.0f64, |longest, step| longest.max(step.abs()));
            let shortened = (LONGEST_STEP / longest).min(1.0);
            values.iter_mut().zip(&steps).for_each(|(value, step)| *value += shortened * step);
            if longest < 1e-9 {
                return Ratings { values, covariance };
            }
        }
    }

    /// A player's rating in Elo, with its 95% interval: how far it is from player 0.
    pub fn of(&self, player: usize) -> Estimate {
        let value = ELO * self.values[player];
        let margin = Z * ELO * self.covariance[player][player].sqrt();
        Estimate { value, low: value - margin, high: value + margin }
    }

    /// The two of these players whose next `games` games would tell most: those that most reduce
    /// the sum of all ratings' variances. Games between equals tell more than games that one side is
    /// sure to win, and games of players little known more than games of well-known ones.
    pub fn most_telling(&self, among: &[usize], games: f64) -> Option<(usize, usize)> {
        let later =
            |index: usize| among[index + 1..].iter().map(move |&other| (among[index], other));
        let pairs = (0..among.len()).flat_map(later);
        let telling = |&(one, other): &(usize, usize)| self.reduction(one, other, games);
        pairs.max_by(|a, b| telling(a).total_cmp(&telling(b)))
    }

    /// By how much games of two players would reduce the sum of all variances. They add their
    /// information along the difference of both ratings: a change of rank one of the inverse.
    fn reduction(&self, one: usize, other: usize, games: f64) -> f64 {
        let chance = chance(self.values[one] - self.values[other]);
        let information = games * chance * (1.0 - chance);
        let along = |row: &Vec<f64>| row[one] - row[other];
        let variance = along(&self.covariance[one]) - along(&self.covariance[other]);
        let moved: f64 = self.covariance.iter().map(|row| along(row).powi(2)).sum();
        information * moved / (1.0 + information * variance)
    }
}

/// The chance to win of who has so much better log-odds.
fn chance(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Of the logarithm of the posterior, the curvature with its sign turned. Player 0 has no slope, so
/// it stays at zero.
fn slope_and_curvature(values: &[f64], encounters: &[Encounter]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let prior = (ELO / PRIOR_DEVIATION).powi(2);
    let players = values.len();
    let mut slope: Vec<f64> = values.iter().map(|value| -prior * value).collect();
    let mut curvature = vec![vec![0.0; players]; players];
    (0..players).for_each(|player| curvature[player][player] = prior);
    for &Encounter { one, other, games, points } in encounters {
        let chance = chance(values[one] - values[other]);
        slope[one] += points - games * chance;
        slope[other] -= points - games * chance;
        let information = games * chance * (1.0 - chance);
        curvature[one][one] += information;
        curvature[other][other] += information;
        curvature[one][other] -= information;
        curvature[other][one] -= information;
    }
    if let Some(zero) = slope.first_mut() {
        *zero = 0.0;
    }
    (slope, curvature)
}

/// The inverse of a symmetric, positive matrix without its first row and column, which are zeros in
/// the result: what is known for certain varies with nothing.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut inverse = vec![vec![0.0; size]; size];
    (1..size).for_each(|row| inverse[row][row] = 1.0);
    // Gauss and Jordan; the diagonal of a positive matrix needs no search for pivots.
    for pivot in 1..size {
        let scale = matrix[pivot][pivot].recip();
        [&mut matrix, &mut inverse]
            .into_iter()
            .for_each(|it| it[pivot].iter_mut().for_each(|value| *value *= scale));
        for row in (1..size).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot];
            if factor != 0.0 {
                subtract(&mut matrix, row, pivot, factor);
                subtract(&mut inverse, row, pivot, factor);
            }
        }
    }
    inverse
}

/// Takes a multiple of one row from another.
fn subtract(matrix: &mut [Vec<f64>], row: usize, from: usize, factor: f64) {
    let source = std::mem::take(&mut matrix[from]);
    matrix[row].iter_mut().zip(&source).for_each(|(value, other)| *value -= factor * other);
    matrix[from] = source;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elo::{elo_of, score_of};

    fn met(one: usize, other: usize, games: f64, score: f64) -> Encounter {
        Encounter { one, other, games, points: games * score }
    }

    #[test]
    fn two_players_differ_by_their_score() {
        let ratings = Ratings::fit(2, &[met(1, 0, 4000.0, 0.75)]);
        let one = ratings.of(1);
        assert!((one.value - elo_of(0.75)).abs() < 0.5, "{one:?}");
        // The interval of a proportion, in Elo: 1.96 * ELO / sqrt(n p q).
        let margin = Z * ELO / (4000.0f64 * 0.75 * 0.25).sqrt();
        assert!(((one.high - one.low) / 2.0 - margin).abs() < 0.2, "{one:?}");
        assert_eq!(ratings.of(0), Estimate { value: 0.0, low: 0.0, high: 0.0 });
    }

    #[test]
    fn a_chain_of_exact_scores_gives_back_its_ratings() {
        let truth = [0.0, 150.0, 400.0, 380.0, -300.0];
        let games = |one: usize, other: usize| {
            met(one, other, 100_000.0, score_of(truth[one] - truth[other]))
        };
        let ratings = Ratings::fit(5, &[games(0, 1), games(2, 1), games(2, 3), games(0, 4)]);
        for (player, elo) in truth.into_iter().enumerate() {
            assert!((ratings.of(player).value - elo).abs() < 1.0, "{player}");
        }
        // Errors add up along the chain.
        let width = |player| ratings.of(player).high - ratings.of(player).low;
        assert!(width(1) < width(2) && width(2) < width(3));
    }

    #[test]
    fn who_never_lost_has_a_rating_too() {
        let ratings = Ratings::fit(3, &[met(1, 0, 20.0, 1.0)]);
        let [won, unknown] = [ratings.of(1), ratings.of(2)];
        assert!((400.0..1500.0).contains(&won.value), "{won:?}");
        assert!(won.low > 0.0 && won.high > won.value);
        assert!(unknown.value.abs() < 1e-6 && unknown.high > 1500.0, "{unknown:?}");
    }

    #[test]
    fn games_are_played_where_they_tell_most() {
        // Nobody knows anything of player 3; 1 and 2 are close and well known.
        let known = [met(0, 1, 1000.0, 0.4), met(1, 2, 1000.0, 0.5), met(0, 2, 1000.0, 0.4)];
        let (_, other) =
            Ratings::fit(4, &known).most_telling(&[0, 1, 2, 3], 16.0).expect("there are players");
        assert_eq!(other, 3);
        // 3 is far above 0 and near 2: only games against 2 place it.
        let above = [met(0, 1, 400.0, 0.1), met(1, 2, 400.0, 0.1), met(2, 3, 20.0, 0.5)];
        let ratings = Ratings::fit(4, &above);
        assert_eq!(ratings.most_telling(&[0, 1, 2, 3], 16.0), Some((2, 3)));
        // 2 is gone; the next one is.
        assert_eq!(ratings.most_telling(&[0, 1, 3], 16.0), Some((1, 3)));
        assert_eq!(ratings.most_telling(&[1], 16.0), None);
    }
}
