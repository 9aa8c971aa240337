//! Bradley-Terry ratings: one number a player, such that all games between all players are as likely
//! as can be; and which games would tell most about them.

use crate::elo::{Estimate, Z};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Elo for each unit of a player's log-odds.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// What is taken for granted before any game: a player is as strong as those it meets, with this
/// standard deviation in Elo. So who won or lost every game has a rating, too. (Were players taken to
/// be as strong as the zero of all, hundreds of networks far above it would be drawn down together.)
const PRIOR_DEVIATION: f64 = 1000.0;

/// The same for all players together, whom no game may link to player 0 yet.
const WIDEST_DEVIATION: f64 = 100_000.0;

/// The largest part of a rating changed in one step, in log-odds: far from the solution Newton's
/// steps lead too far.
const LONGEST_STEP: f64 = 2.0;

/// A linear system is solved once its error, squared, is this part of what it was.
const EXACT: f64 = 1e-24;

/// Games that two players played against each other.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, Deserialize)]
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
    /// The covariance of the values is its inverse.
    curvature: Curvature,
}

impl Ratings {
    /// The ratings that make the games likeliest (their posterior mode, by Newton's method), with
    /// the covariance that the curvature there amounts to. A draw counts as half a win.
    pub fn fit(players: usize, encounters: &[Encounter]) -> Ratings {
        let mut values = vec![0.0; players];
        loop {
            let (slope, curvature) = slope_and_curvature(&values, encounters);
            let steps = curvature.solve(&slope);
            let longest = steps.iter().fold(0.0f64, |longest, step| longest.max(step.abs()));
            let shortened = (LONGEST_STEP / longest).min(1.0);
            add(&mut values, shortened, &steps);
            if longest < 1e-9 {
                return Ratings { values, curvature };
            }
        }
    }

    /// A player's rating in Elo, with its 95% interval: how far it is from player 0.
    pub fn of(&self, player: usize) -> Estimate {
        let value = ELO * self.values[player];
        let margin = Z * ELO * self.covariances(player)[player].sqrt();
        Estimate { value, low: value - margin, high: value + margin }
    }

    /// The two of these players whose next `games` games would tell most: those that most reduce
    /// the sum of all ratings' variances. Games between equals tell more than games that one side is
    /// sure to win, and games of players little known more than games of well-known ones.
    pub fn most_telling(&self, among: &[usize], games: f64) -> Option<(usize, usize)> {
        let later =
            |index: usize| among[index + 1..].iter().map(move |&other| (among[index], other));
        self.most_telling_of((0..among.len()).flat_map(later), among, games)
    }

    /// Whom of these players one is to meet, for their next `games` games to tell most.
    pub fn best_opponent(&self, of: usize, among: &[usize], games: f64) -> Option<usize> {
        let others = among.iter().filter(|&&other| other != of);
        let pairs = others.map(|&other| (of, other));
        self.most_telling_of(pairs, &[among, &[of]].concat(), games).map(|(_, other)| other)
    }

    fn most_telling_of(
        &self,
        pairs: impl Iterator<Item = (usize, usize)>,
        among: &[usize],
        games: f64,
    ) -> Option<(usize, usize)> {
        let covariances: BTreeMap<usize, Vec<f64>> =
            among.iter().map(|&player| (player, self.covariances(player))).collect();
        let telling = pairs.map(|(one, other)| {
            let players = [(one, &covariances[&one]), (other, &covariances[&other])];
            (self.reduction(players, games), (one, other))
        });
        telling.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, pair)| pair)
    }

    /// By how much games of two players, with their covariances, would reduce the sum of all
    /// variances. They add their information along the difference of both ratings: a change of rank
    /// one of the inverse.
    fn reduction(&self, [(one, its), (other, others)]: [(usize, &Vec<f64>); 2], games: f64) -> f64 {
        let chance = chance(self.values[one] - self.values[other]);
        let information = games * chance * (1.0 - chance);
        let along = |player: usize| its[player] - others[player];
        let variance = along(one) - along(other);
        let moved: f64 = (0..its.len()).map(|player| along(player).powi(2)).sum();
        information * moved / (1.0 + information * variance)
    }

    /// How a player's rating varies with everybody's: what is known for certain varies with nothing.
    fn covariances(&self, player: usize) -> Vec<f64> {
        let mut unit = vec![0.0; self.values.len()];
        if player > 0 {
            unit[player] = 1.0;
        }
        self.curvature.solve(&unit)
    }
}

/// Of the logarithm of the posterior, the curvature with its sign turned: a symmetric, positive
/// matrix, most of which is zero since few players ever met. Player 0 stands apart in it.
#[derive(Clone, Debug)]
struct Curvature {
    diagonal: Vec<f64>,
    /// Two players' numbers, and the entry of both.
    others: Vec<(usize, usize, f64)>,
}

impl Curvature {
    fn product(&self, vector: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> = self.diagonal.iter().zip(vector).map(|(a, b)| a * b).collect();
        for &(one, other, entry) in &self.others {
            product[one] += entry * vector[other];
            product[other] += entry * vector[one];
        }
        product
    }

    /// The vector whose product is `product`, by conjugate gradients scaled by the diagonal: with
    /// hundreds of players far quicker than an inverse.
    fn solve(&self, product: &[f64]) -> Vec<f64> {
        let scaled = |vector: &[f64]| -> Vec<f64> {
            vector.iter().zip(&self.diagonal).map(|(value, scale)| value / scale).collect()
        };
        let (mut solution, mut rest) = (vec![0.0; product.len()], product.to_vec());
        let mut direction = scaled(&rest);
        let mut size = dot(&rest, &direction);
        let enough = EXACT * size;
        while size > enough {
            let turned = self.product(&direction);
            let length = size / dot(&direction, &turned);
            add(&mut solution, length, &direction);
            add(&mut rest, -length, &turned);
            let next = scaled(&rest);
            let (before, now) = (size, dot(&rest, &next));
            direction.iter_mut().for_each(|value| *value *= now / before);
            add(&mut direction, 1.0, &next);
            size = now;
        }
        solution
    }
}

/// The chance to win of who has so much better log-odds.
fn chance(difference: f64) -> f64 {
    1.0 / (1.0 + (-difference).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds a multiple of another vector.
fn add(vector: &mut [f64], factor: f64, other: &[f64]) {
    vector.iter_mut().zip(other).for_each(|(value, other)| *value += factor * other);
}

/// The slope of the logarithm of the posterior, and its curvature. Player 0 has neither games nor
/// slope in them, so it stays at zero.
fn slope_and_curvature(values: &[f64], encounters: &[Encounter]) -> (Vec<f64>, Curvature) {
    let [prior, widest] =
        [PRIOR_DEVIATION, WIDEST_DEVIATION].map(|deviation| (ELO / deviation).powi(2));
    let mut played = vec![0.0; values.len()];
    for it in encounters {
        played[it.one] += it.games;
        played[it.other] += it.games;
    }
    let diagonal: Vec<f64> =
        played.iter().map(|&games| if games > 0.0 { widest } else { prior }).collect();
    let mut slope: Vec<f64> = values.iter().zip(&diagonal).map(|(value, it)| -it * value).collect();
    let mut curvature = Curvature { diagonal, others: Vec::new() };
    for &Encounter { one, other, games, points } in encounters {
        let difference = values[one] - values[other];
        let chance = chance(difference);
        let prior = prior * (games / played[one] + games / played[other]);
        let pull = points - games * chance - prior * difference;
        slope[one] += pull;
        slope[other] -= pull;
        let information = games * chance * (1.0 - chance) + prior;
        curvature.diagonal[one] += information;
        curvature.diagonal[other] += information;
        if one > 0 && other > 0 {
            curvature.others.push((one, other, -information));
        }
    }
    if let Some(zero) = slope.first_mut() {
        *zero = 0.0;
    }
    (slope, curvature)
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
        // Who has to play meets, of two as strong as each other, the one less known.
        assert_eq!(ratings.best_opponent(1, &[0, 1, 2, 3], 16.0), Some(3));
        assert_eq!(ratings.best_opponent(0, &[1, 2], 16.0), Some(1));
        assert_eq!(ratings.best_opponent(0, &[0], 16.0), None);
    }

    /// A ladder of a long run: each player met the one before and, of those 2, 4, 8 and so on before,
    /// as many as its number is a multiple of.
    #[test]
    fn hundreds_of_players_have_the_ratings_that_explain_their_games() {
        let truth = |player: usize| 4.0 * player as f64;
        let game = |one: usize, step: usize| {
            met(one, one - step, 100.0, score_of(truth(one) - truth(one - step)))
        };
        let steps = |one: usize| {
            let fits = move |step: &usize| one.is_multiple_of(*step);
            (0..9).map(|power| 1 << power).take_while(fits).map(move |step| (one, step))
        };
        let games: Vec<Encounter> =
            (1..500).flat_map(steps).map(|(one, step)| game(one, step)).collect();
        let ratings = Ratings::fit(500, &games);
        for player in [0, 1, 99, 256] {
            let found = ratings.of(player);
            // The prior draws players towards each other.
            let error = truth(player) - found.value;
            assert!((-1e-6..0.05 * truth(player) + 1e-6).contains(&error), "{player}: {found:?}");
        }
        let (one, other) =
            ratings.most_telling(&[0, 256, 384, 499], 8.0).expect("there are players");
        assert!(one == 256 || other == 499, "{one} {other}");
    }
}
