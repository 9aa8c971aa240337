//! How long to think about a move so that no game is lost on time.

use std::time::Duration;

/// Moves that the remaining time is to last for, where nobody says.
const MOVES_TO_GO: u64 = 25;

/// Least time for a move, however little is left.
const LEAST: u64 = 5;

/// Longest time for a move.
const MOST: u64 = 3_600_000;

/// What is on the clock of who is to move, in milliseconds.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Clock {
    /// Exactly so long for this move, whatever else is said.
    pub(crate) movetime: Option<u64>,
    /// What is left.
    pub(crate) left: Option<u64>,
    /// What is added after each move.
    pub(crate) increment: u64,
    /// What each move may take once nothing is left.
    pub(crate) byoyomi: u64,
    /// Moves to the next time control, this one among them.
    pub(crate) moves_to_go: Option<u64>,
}

impl Clock {
    /// How long this move may take, where `overhead` milliseconds are lost on the way; `None`
    /// where there is no clock.
    pub(crate) fn time_for_move(&self, overhead: u64) -> Option<Duration> {
        let milliseconds = match (self.movetime, self.left) {
            (Some(movetime), _) => movetime.saturating_sub(overhead),
            (None, None) if self.byoyomi + self.increment == 0 => return None,
            (None, left) => self.share(left.unwrap_or(0), overhead),
        };
        Some(Duration::from_millis(milliseconds.clamp(LEAST, MOST)))
    }

    /// A share of what is left, and what this move brings along.
    fn share(&self, left: u64, overhead: u64) -> u64 {
        let moves = self.moves_to_go.filter(|&moves| moves > 0).unwrap_or(MOVES_TO_GO);
        // Each of the moves to come loses the overhead as well.
        let lost = overhead.saturating_mul(moves.saturating_sub(1));
        let main = left.saturating_sub(lost) / moves;
        // An increment counts after the move only: of the clock, it must be there before.
        let share = main.saturating_add(self.increment / 5 * 4).saturating_add(self.byoyomi);
        let most = left.saturating_add(self.byoyomi).saturating_sub(overhead);
        // The last move of a session may take what is left, less a little; others half of it.
        let most = if moves == 1 || self.byoyomi > 0 { most } else { most / 2 };
        share.saturating_sub(overhead).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(clock: Clock, overhead: u64) -> u64 {
        clock.time_for_move(overhead).map_or(0, |it| it.as_millis() as u64)
    }

    #[test]
    fn every_kind_of_clock_gives_a_time() {
        let none = Clock::default();
        assert_eq!(none.time_for_move(20), None);
        let clock = |left, increment, byoyomi| Clock { left, increment, byoyomi, ..none };
        assert_eq!(milliseconds(Clock { movetime: Some(100), ..none }, 20), 80);
        assert_eq!(milliseconds(clock(Some(60_000), 0, 0), 0), 2_400);
        assert_eq!(milliseconds(clock(Some(60_000), 1_000, 0), 0), 3_200);
        assert_eq!(milliseconds(clock(Some(0), 0, 1_000), 20), 980);
        assert_eq!(milliseconds(clock(None, 0, 1_000), 20), 980);
        assert_eq!(milliseconds(clock(Some(25_000), 0, 10_000), 0), 11_000);
        let last = Clock { moves_to_go: Some(1), ..clock(Some(1_000), 0, 0) };
        assert_eq!(milliseconds(last, 50), 950);
        assert_eq!(milliseconds(clock(Some(u64::MAX), u64::MAX, u64::MAX), 20), MOST);
    }

    /// A player who takes all he is given, and the overhead, never runs out of time.
    #[test]
    fn no_game_is_lost_on_time() {
        for overhead in [0, 20] {
            for (start, increment, byoyomi) in
                [(1_000, 0, 0), (60_000, 0, 0), (1_000, 100, 0), (0, 0, 1_000), (500, 0, 300)]
            {
                let mut left = start;
                for ply in 0..300 {
                    let clock = Clock { left: Some(left), increment, byoyomi, ..Clock::default() };
                    let used = milliseconds(clock, overhead) + overhead;
                    let is_least = used == LEAST + overhead;
                    assert!(used <= left + byoyomi || is_least, "{start} {increment} {ply} {left}");
                    // Where no increment feeds the clock it must run out some day: not soon.
                    if used > left + byoyomi {
                        assert!(ply >= 40, "{start} {increment} {byoyomi} {overhead} {ply}");
                        break;
                    }
                    left = left.saturating_sub(used.saturating_sub(byoyomi)) + increment;
                }
            }
        }
    }
}
