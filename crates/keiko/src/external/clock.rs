//! Clocks: how much time a game gives, what of it is left, and how engines are told.

use super::Protocol;
use keiko_rules::Color;
use std::fmt;
use std::time::Duration;

/// Longest time that a part of a clock may be set to, in seconds.
const LONGEST: f64 = 86_400.0;

/// The time that a side has for a game.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct Control {
    /// For all moves together.
    main: Duration,
    /// Added after each move.
    increment: Duration,
    /// For each move, once nothing else is left.
    byoyomi: Duration,
}

/// What the clocks show when a side is to move.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct Clocks {
    /// What Black and White have left.
    left: [Duration; 2],
    /// Who is to move.
    side: Color,
}

impl Control {
    /// Reads `MAIN`, `MAIN+INCREMENT`, or either with `/BYOYOMI` behind it, in seconds.
    pub(crate) fn parse(text: &str) -> Result<Control, String> {
        let seconds = |text: &str| {
            let number = text.trim().parse().ok().filter(|it| (0.0..=LONGEST).contains(it));
            number.map(|seconds| Duration::from_millis((1000.0f64 * seconds).round() as u64))
        };
        let (sum, byoyomi) = text.split_once('/').unwrap_or((text, "0"));
        let (main, increment) = sum.split_once('+').unwrap_or((sum, "0"));
        let read = (seconds(main), seconds(increment), seconds(byoyomi));
        let (Some(main), Some(increment), Some(byoyomi)) = read else {
            return Err(format!(
                "{text}: expected seconds for the game, for each move behind a `+`, and for moves \
                 beyond that behind a `/`, such as 60, 60+0.5 or 60/10; each from 0 to {LONGEST}"
            ));
        };
        if main + byoyomi == Duration::ZERO {
            return Err(format!("{text}: gives no time for the first move"));
        }
        Ok(Control { main, increment, byoyomi })
    }

    /// Refuses seconds for each move where a protocol has no word for them.
    pub(super) fn without_byoyomi(&self, protocol: &str) -> Result<(), String> {
        match self.byoyomi.is_zero() {
            true => Ok(()),
            false => Err(format!(
                "speaks {protocol}, which knows no byoyomi: give seconds that are added, such as \
                 60+0.5"
            )),
        }
    }

    /// The clocks when a game begins.
    pub(super) fn begun(&self) -> Clocks {
        self.after(&[], Color::Black)
    }

    /// The clocks after moves that took so long, both sides' in turns, when `side` is to move.
    pub(crate) fn after(&self, times: &[Duration], side: Color) -> Clocks {
        let mut left = [self.main; 2];
        let mut mover = if times.len().is_multiple_of(2) { side } else { side.opponent() };
        for &time in times {
            let clock = &mut left[mover.index()];
            *clock = clock.saturating_sub(time) + self.increment;
            mover = mover.opponent();
        }
        Clocks { left, side }
    }

    /// The longest that who is to move may take.
    pub(super) fn most(&self, clocks: &Clocks) -> Duration {
        clocks.left[clocks.side.index()] + self.byoyomi
    }

    /// The command that starts a search. Who moves first is Black in USI and white in UCI.
    pub(super) fn go(&self, clocks: &Clocks, protocol: Protocol) -> String {
        let [black, white] = match protocol {
            Protocol::Uci => [1, 0].map(|side| clocks.left[side].as_millis()),
            Protocol::Usi | Protocol::XBoard => clocks.left.map(|left| left.as_millis()),
        };
        let (increment, byoyomi) = (self.increment.as_millis(), self.byoyomi.as_millis());
        let mut go = format!("go btime {black} wtime {white}");
        if increment > 0 || protocol == Protocol::Uci {
            go += &format!(" binc {increment} winc {increment}");
        }
        // Where nothing is added engines of USI expect the word even if it is 0.
        if byoyomi > 0 || (increment == 0 && protocol == Protocol::Usi) {
            go += &format!(" byoyomi {byoyomi}");
        }
        go
    }

    /// The command that tells an XBoard engine of the clock: minutes and seconds for the game, and
    /// seconds for each move.
    pub(super) fn level(&self) -> String {
        let seconds = self.main.as_secs();
        let increment = self.increment.as_secs_f64();
        format!("level 0 {}:{:02} {increment}", seconds / 60, seconds % 60)
    }
}

impl Clocks {
    /// The commands that tell an XBoard engine what is left to it and to the other side, in
    /// hundredths of a second.
    pub(super) fn cecp(&self) -> [String; 2] {
        let left = |side: Color| self.left[side.index()].as_millis() / 10;
        [format!("time {}", left(self.side)), format!("otim {}", left(self.side.opponent()))]
    }
}

/// As it is read.
impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.main.as_secs_f64(), self.increment.as_secs_f64())?;
        if self.byoyomi > Duration::ZERO {
            write!(f, "/{}", self.byoyomi.as_secs_f64())?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn milliseconds(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|&time| Duration::from_millis(time)).collect()
    }

    #[test]
    fn controls_are_read() {
        for text in ["60+0", "60+0.5", "0+0/10", "2.5+0.05/0.1"] {
            assert_eq!(Control::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Control::parse("60").unwrap().to_string(), "60+0");
        assert_eq!(Control::parse("60/10").unwrap().to_string(), "60+0/10");
        for (text, words) in [
            ("", "expected seconds"),
            ("a+b", "expected seconds"),
            ("-1", "expected seconds"),
            ("1e9", "0 to 86400"),
            ("NaN", "expected seconds"),
            ("0+1", "no time for the first move"),
        ] {
            assert!(Control::parse(text).unwrap_err().contains(words), "{text}");
        }
    }

    #[test]
    fn clocks_run_for_who_is_to_move() {
        let control = Control::parse("2+0.05").unwrap();
        // White moved first: 100, 300 and 10 ms were White's.
        let clocks = control.after(&milliseconds(&[100, 200, 300, 400, 10]), Color::Black);
        assert_eq!(clocks.left.to_vec(), milliseconds(&[1500, 1740]));
        assert_eq!(control.most(&clocks), Duration::from_millis(1500));
        let go = |protocol| control.go(&clocks, protocol);
        assert_eq!(go(Protocol::Usi), "go btime 1500 wtime 1740 binc 50 winc 50");
        assert_eq!(go(Protocol::Uci), "go btime 1740 wtime 1500 binc 50 winc 50");
        assert_eq!(clocks.cecp(), ["time 150", "otim 174"]);
        assert_eq!(control.level(), "level 0 0:02 0.05");
        let byoyomi = Control::parse("1/3").unwrap();
        let clocks = byoyomi.after(&milliseconds(&[2500, 0]), Color::Black);
        assert_eq!(byoyomi.most(&clocks), Duration::from_secs(3));
        assert_eq!(byoyomi.go(&clocks, Protocol::Usi), "go btime 0 wtime 1000 byoyomi 3000");
        assert!(byoyomi.without_byoyomi("UCI").unwrap_err().contains("60+0.5"));
    }
}
