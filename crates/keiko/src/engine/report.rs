//! What a search has found, for whoever shows it.

use keiko_selfplay::{Line, Proof, Wdl};
use std::time::Duration;

/// How a search stands.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Report {
    /// Time since it began.
    pub(crate) elapsed: Duration,
    /// Simulations.
    pub(crate) nodes: u64,
    /// Plies to the deepest leaf.
    pub(crate) deepest: usize,
    /// How full the tree's memory is, in thousandths.
    pub(crate) fullness: u32,
    /// The best lines, the best first; never empty.
    pub(crate) lines: Vec<Line>,
}

impl Report {
    /// Simulations a second.
    pub(crate) fn rate(&self) -> f64 {
        self.nodes as f64 / self.elapsed.as_secs_f64().max(1e-3)
    }
}

/// A line's worth to the side to move.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Score {
    /// Hundredths of a pawn, on the usual logistic scale: 400 are ten to one.
    Centipawns(i32),
    /// A forced win in so many plies.
    Wins(u16),
    /// A forced loss in so many plies.
    Loses(u16),
}

impl Score {
    /// The score of a line.
    pub(crate) fn of(line: &Line) -> Score {
        match line.proof {
            Some(Proof::Win(plies)) => Score::Wins(plies),
            Some(Proof::Loss(plies)) => Score::Loses(plies),
            Some(Proof::Draw(_)) => Score::Centipawns(0),
            None => {
                let score = f64::from(line.value.score()).clamp(0.001, 0.999);
                Score::Centipawns((400.0 * (score / (1.0 - score)).log10()).round() as i32)
            }
        }
    }
}

/// Chances in thousandths, which sum to 1000.
pub(crate) fn thousandths(value: Wdl) -> [u32; 3] {
    let sum = (value.win + value.draw + value.loss).max(f32::MIN_POSITIVE);
    let win = (1000.0 * value.win / sum).round() as u32;
    let loss = ((1000.0 * value.loss / sum).round() as u32).min(1000 - win.min(1000));
    [win.min(1000), 1000 - win.min(1000) - loss, loss]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_on_the_usual_scale() {
        let line = |win: f32, proof| Line {
            moves: Vec::new(),
            visits: 1,
            value: Wdl { win, draw: 0.0, loss: 1.0 - win },
            proof,
        };
        assert_eq!(Score::of(&line(0.5, None)), Score::Centipawns(0));
        assert_eq!(Score::of(&line(10.0 / 11.0, None)), Score::Centipawns(400));
        assert_eq!(Score::of(&line(0.0, None)), Score::Centipawns(-1200));
        assert_eq!(Score::of(&line(0.0, Some(Proof::Win(3)))), Score::Wins(3));
        assert_eq!(Score::of(&line(0.0, Some(Proof::Loss(4)))), Score::Loses(4));
    }

    #[test]
    fn chances_sum_to_a_thousand() {
        let wdl = |win, draw, loss| Wdl { win, draw, loss };
        assert_eq!(thousandths(wdl(0.5, 0.25, 0.25)), [500, 250, 250]);
        assert_eq!(thousandths(wdl(0.0005, 0.0, 0.9995)), [1, 0, 999]);
        for value in [wdl(0.3333, 0.3333, 0.3334), wdl(0.9995, 0.0, 0.0005), Wdl::default()] {
            assert_eq!(thousandths(value).iter().sum::<u32>(), 1000, "{value:?}");
        }
    }
}
