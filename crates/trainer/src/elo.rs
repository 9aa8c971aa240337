//! Match results as scores and Elo differences, each with its 95% interval.

use std::fmt;

/// The 97.5% quantile of the normal distribution: two-sided 95%.
pub(crate) const Z: f64 = 1.959_963_984_540_054;

/// Elo differences are kept within this: a score of 99.99% or more says nothing finer.
pub const ELO_LIMIT: f64 = 1600.0;

/// Normalised Elo for each standard deviation of a game's points, as fishtest counts it: for small
/// differences without draws it is Elo.
pub const NORMALISED: f64 = 800.0 / std::f64::consts::LN_10;

/// Points per game of a pair, by its half points.
pub(crate) const PAIR_SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Wins, draws and losses of one side.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct Tally {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

/// The result of one game for one side.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum GameResult {
    /// This side won.
    Win,
    /// Nobody won.
    Draw,
    /// The other side won.
    Loss,
}

/// A value with its 95% interval.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Estimate {
    /// The best single guess.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// A score in [0, 1] and the Elo difference it amounts to.
///
/// `Display` writes `92.5% [85.7, 96.1], +436 Elo [+311, +559]`.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Strength {
    /// Points per game: a win is 1, a draw one half.
    pub score: Estimate,
    /// The Elo difference, within `ELO_LIMIT`.
    pub elo: Estimate,
}

/// Games played in pairs from the same opening with colours swapped. The two games of a pair
/// are alike, so the interval comes from the spread of the pairs' scores.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct PairTally {
    games: Tally,
    /// Number of pairs by half points: 0, 1/2, 1, 1 1/2 and 2 points.
    pairs: [u32; 5],
}

impl GameResult {
    /// Half points: 2 for a win, 1 for a draw.
    fn half_points(self) -> usize {
        match self {
            GameResult::Win => 2,
            GameResult::Draw => 1,
            GameResult::Loss => 0,
        }
    }
}

impl Tally {
    /// Counts one more game.
    pub fn add(&mut self, result: GameResult) {
        match result {
            GameResult::Win => self.wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Loss => self.losses += 1,
        }
    }

    /// Games counted.
    pub fn games(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Points: a win is 1, a draw one half.
    pub fn points(&self) -> f64 {
        f64::from(self.wins) + 0.5 * f64::from(self.draws)
    }

    /// The same games seen by the other side.
    pub fn flipped(self) -> Tally {
        Tally { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    /// Score and Elo with intervals, each game taken as independent; `None` without games.
    pub fn strength(&self) -> Option<Strength> {
        let score = self.score()?;
        let variance =
            score * (1.0 - score) - 0.25 * f64::from(self.draws) / f64::from(self.games());
        Some(Strength::new(score, variance, self.games()))
    }

    fn score(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / f64::from(self.games()))
    }
}

impl PairTally {
    /// Counts a pair: two games from one opening with colours swapped.
    pub fn add(&mut self, first: GameResult, second: GameResult) {
        self.games.add(first);
        self.games.add(second);
        self.pairs[first.half_points() + second.half_points()] += 1;
    }

    /// All games, one by one.
    pub fn games(&self) -> Tally {
        self.games
    }

    /// Number of pairs by half points: 0, 1/2, 1, 1 1/2 and 2 points.
    pub fn pairs(&self) -> [u32; 5] {
        self.pairs
    }

    /// Score and Elo with intervals from the spread of the pairs; `None` without games.
    pub fn strength(&self) -> Option<Strength> {
        let score = self.games.score()?;
        // The variance of a pair's mean is half of a game's, were its games independent.
        Some(Strength::new(score, 2.0 * self.moment(score, 2), self.games.games()))
    }

    /// The normalised Elo difference: what a game's score is above one half in standard deviations
    /// of a game's points (of pairs, times the root of 2), times 800 / ln 10. Draws and alike
    /// openings change Elo; this they leave as it is. The interval is that of a mean over its
    /// deviation (delta method). `None` as long as all pairs ended alike.
    pub fn normalised(&self) -> Option<Estimate> {
        let score = self.games.score()?;
        let variance = self.moment(score, 2);
        if variance == 0.0 {
            return None;
        }
        let deviation = variance.sqrt();
        let t = (score - 0.5) / deviation;
        let skewness = self.moment(score, 3) / deviation.powi(3);
        let kurtosis = self.moment(score, 4) / variance.powi(2);
        let pairs = f64::from(self.pairs.iter().sum::<u32>());
        let spread = (1.0 - t * skewness + t * t * (kurtosis - 1.0) / 4.0).max(0.0) / pairs;
        let [value, half] = [t, Z * spread.sqrt()].map(|it| it * NORMALISED / 2f64.sqrt());
        Some(Estimate { value, low: value - half, high: value + half })
    }

    /// The mean of (a pair's score per game - `middle`) to a power.
    fn moment(&self, middle: f64, power: i32) -> f64 {
        let pairs: f64 = self.pairs.iter().copied().map(f64::from).sum();
        let parts = PAIR_SCORES.iter().zip(self.pairs);
        parts.map(|(score, count)| f64::from(count) * (score - middle).powi(power)).sum::<f64>()
            / pairs
    }
}

impl Strength {
    /// Wilson's interval with the observed variance of a game's points in place of p(1-p):
    /// draws and alike pairs move its width, and it stays sound when the variance is zero.
    fn new(score: f64, variance: f64, games: u32) -> Strength {
        let k = Z * Z / f64::from(games);
        let middle = (score + 0.5 * k) / (1.0 + k);
        let half = (k * (4.0 * variance.max(0.0) + k)).sqrt() / (2.0 * (1.0 + k));
        let low = (middle - half).clamp(0.0, score);
        let high = (middle + half).clamp(score, 1.0);
        // Nobody wins every game for ever: a clean score counts as if half a game were missing.
        let margin = 0.5 / (f64::from(games) + 1.0);
        let value = elo_of(score.clamp(margin, 1.0 - margin));
        let elo = Estimate { value, low: elo_of(low).min(value), high: elo_of(high).max(value) };
        Strength { score: Estimate { value: score, low, high }, elo }
    }
}

/// The Elo difference that makes this score the expected one, within `ELO_LIMIT`.
pub fn elo_of(score: f64) -> f64 {
    let elo = 400.0 * (score / (1.0 - score)).log10();
    elo.clamp(-ELO_LIMIT, ELO_LIMIT)
}

/// The expected score of who is this much stronger.
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} won, {} drawn, {} lost", self.wins, self.draws, self.losses)
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { value, low, high } = self.score;
        write!(f, "{:.1}% [{:.1}, {:.1}], ", 100.0 * value, 100.0 * low, 100.0 * high)?;
        write!(f, "{}", elo_line(&self.elo, "Elo"))
    }
}

/// `+436 Elo [+311, +559]`, on the scale named.
pub fn elo_line(elo: &Estimate, scale: &str) -> String {
    let [value, low, high] = [elo.value, elo.low, elo.high].map(elo_text);
    format!("{value} {scale} [{low}, {high}]")
}

/// `+436`, `-20`, `0`; at the limit `inf`, since the score sets no bound there.
fn elo_text(elo: f64) -> String {
    match elo.round() {
        rounded if rounded >= ELO_LIMIT => "+inf".to_owned(),
        rounded if rounded <= -ELO_LIMIT => "-inf".to_owned(),
        0.0 => "0".to_owned(),
        rounded => format!("{rounded:+.0}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use GameResult::{Draw, Loss, Win};

    fn tally(wins: u32, draws: u32, losses: u32) -> Tally {
        Tally { wins, draws, losses }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 5e-4, "{a} is not {b}");
    }

    #[test]
    fn is_wilson_without_draws() {
        // Worked by hand: 81 of 263 is Wilson's own kind of example: [0.2553, 0.3662].
        let score = tally(81, 0, 182).strength().unwrap().score;
        close(score.value, 0.30799);
        close(score.low, 0.2553);
        close(score.high, 0.3662);
    }

    #[test]
    fn is_sound_at_the_ends() {
        let perfect = tally(100, 0, 0).strength().unwrap();
        close(perfect.score.low, 0.96301); // 1 / (1 + z^2 / n)
        close(perfect.score.high, 1.0);
        assert_eq!(perfect.to_string(), "100.0% [96.3, 100.0], +921 Elo [+566, +inf]");
        let hopeless = tally(0, 0, 100).strength().unwrap();
        assert_eq!(hopeless.to_string(), "0.0% [0.0, 3.7], -921 Elo [-inf, -566]");
        let one = tally(1, 0, 0).strength().unwrap();
        close(one.score.low, 0.2065);
        assert!(tally(0, 0, 0).strength().is_none());
    }

    #[test]
    fn draws_narrow_the_interval_but_never_to_nothing() {
        let drawn = tally(0, 10, 0).strength().unwrap().score;
        let even = tally(5, 0, 5).strength().unwrap().score;
        assert!(drawn.low > even.low && drawn.high < even.high);
        close(drawn.high - 0.5, 0.1387);
        assert_eq!(tally(0, 10, 0).strength().unwrap().elo.value, 0.0);
    }

    #[test]
    fn prints_a_line() {
        let text = tally(92, 1, 7).strength().unwrap().to_string();
        assert_eq!(text, "92.5% [85.7, 96.1], +436 Elo [+311, +559]");
        assert_eq!(tally(92, 1, 7).to_string(), "92 won, 1 drawn, 7 lost");
        let even = tally(1, 0, 1).strength().unwrap().to_string();
        assert_eq!(even, "50.0% [9.5, 90.5], 0 Elo [-393, +393]");
    }

    #[test]
    fn elo_of_known_scores() {
        close(elo_of(0.5), 0.0);
        close(elo_of(10.0 / 11.0), 400.0);
        close(elo_of(1.0), ELO_LIMIT);
        close(elo_of(0.0), -ELO_LIMIT);
    }

    #[test]
    fn flipping_mirrors() {
        let (ours, theirs) = (tally(7, 2, 3), tally(7, 2, 3).flipped());
        let (a, b) = (ours.strength().unwrap(), theirs.strength().unwrap());
        close(a.score.low, 1.0 - b.score.high);
        close(a.elo.value, -b.elo.value);
        close(a.elo.high, -b.elo.low);
    }

    #[test]
    fn pairs_as_different_as_chance_change_nothing() {
        // A quarter each of won-won and lost-lost, half of won-lost: independent games.
        let mut pairs = PairTally::default();
        for (first, second) in [(Win, Win), (Win, Loss), (Loss, Win), (Loss, Loss)] {
            (0..5).for_each(|_| pairs.add(first, second));
        }
        assert_eq!(pairs.games(), tally(20, 0, 20));
        assert_eq!(pairs.strength(), tally(20, 0, 20).strength());
    }

    #[test]
    fn alike_pairs_widen_and_unlike_pairs_narrow() {
        let mut alike = PairTally::default();
        let mut unlike = PairTally::default();
        for turn in 0..20 {
            let same = if turn % 2 == 0 { Win } else { Loss };
            alike.add(same, same);
            unlike.add(Win, Loss);
        }
        let plain = tally(20, 0, 20).strength().unwrap().score;
        let alike = alike.strength().unwrap().score;
        let unlike = unlike.strength().unwrap().score;
        assert!(alike.low < plain.low && plain.low < unlike.low && unlike.low < 0.5);
        let mut clean = PairTally::default();
        (0..50).for_each(|_| clean.add(Win, Win));
        assert_eq!(clean.strength(), tally(100, 0, 0).strength());
        let mut drawn = PairTally::default();
        drawn.add(Draw, Win);
        close(drawn.strength().unwrap().score.value, 0.75);
    }
}
