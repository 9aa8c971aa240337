//! The games of a match so far, and what they say.

use keiko_rules::Color;
use keiko_trainer::arena::{Fault, first_players_color, tally_of};
use keiko_trainer::elo::{PairTally, Tally};
use keiko_trainer::scoresheet::Scoresheet;
use keiko_trainer::sprt::{Sprt, Verdict};
use std::collections::BTreeMap;

/// The games of a match by number, and the test that may end it.
pub(super) struct Sheets {
    players: [String; 2],
    games: BTreeMap<u64, Scoresheet>,
    test: Option<Test>,
}

/// A sequential test on its way. It looks at the pairs in the order of their numbers, whichever was
/// played first: quick games would count for more else, and a match that was interrupted could end
/// in another way.
struct Test {
    sprt: Sprt,
    /// The first pair not counted yet.
    next: u64,
    pairs: [u32; 5],
    verdict: Verdict,
}

impl Sheets {
    pub(super) fn new(players: [String; 2], sprt: Option<Sprt>) -> Sheets {
        let test = sprt.map(|sprt| Test { sprt, next: 0, pairs: [0; 5], verdict: Verdict::Open });
        Sheets { players, games: BTreeMap::new(), test }
    }

    /// What the players are called, the first one first.
    pub(super) fn players(&self) -> [&str; 2] {
        self.players.each_ref().map(String::as_str)
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.games.contains_key(&number)
    }

    /// How many games there are.
    pub(super) fn len(&self) -> u64 {
        self.games.len() as u64
    }

    /// All games, in number order.
    pub(super) fn games(&self) -> impl Iterator<Item = &Scoresheet> {
        self.games.values()
    }

    pub(super) fn add(&mut self, game: Scoresheet) {
        self.games.insert(game.number, game);
        if let Some(test) = &mut self.test {
            test.go_on(&self.games);
        }
    }

    /// What the test says; open where there is none.
    pub(super) fn verdict(&self) -> Verdict {
        self.test.as_ref().map_or(Verdict::Open, |test| test.verdict)
    }

    /// The test with the log-likelihood ratio it has come to.
    pub(super) fn test(&self) -> Option<(Sprt, f64)> {
        self.test.as_ref().map(|test| (test.sprt, test.sprt.verdict(test.pairs).1))
    }

    /// The pairs both of whose games are over.
    pub(super) fn tally(&self) -> PairTally {
        tally_of(self.games().map(|game| (game.number, game.result())))
    }

    /// The first player's games of one colour.
    pub(super) fn side(&self, color: Color) -> Tally {
        let mut side = Tally::default();
        self.games()
            .filter(|game| first_players_color(game.number) == color)
            .for_each(|game| side.add(game.result()));
        side
    }

    /// How many games the first or the second player lost by a fault.
    pub(super) fn faults(&self, player: usize, fault: Fault) -> usize {
        use keiko_trainer::elo::GameResult::{Loss, Win};
        let lost = if player == 0 { Loss } else { Win };
        let reason = fault.to_string();
        self.games().filter(|game| game.reason == reason && game.result() == lost).count()
    }

    /// How many games ended for each reason.
    pub(super) fn reasons(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        self.games().for_each(|game| *reasons.entry(game.reason.as_str()).or_default() += 1);
        reasons
    }
}

impl Test {
    /// Counts the pairs that follow in order, until they decide.
    fn go_on(&mut self, games: &BTreeMap<u64, Scoresheet>) {
        while self.verdict == Verdict::Open {
            let pair = [2 * self.next, 2 * self.next + 1];
            let [Some(one), Some(other)] = pair.map(|number| games.get(&number)) else {
                return;
            };
            let mut tally = PairTally::default();
            tally.add(one.result(), other.result());
            let counted = tally.pairs();
            self.pairs.iter_mut().zip(counted).for_each(|(sum, count)| *sum += count);
            self.next += 1;
            self.verdict = self.sprt.verdict(self.pairs).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keiko_trainer::scoresheet::Winner;
    use keiko_trainer::sprt::Scale;

    fn game(number: u64) -> Scoresheet {
        // The first player wins all of its games but each third pair's second.
        let first_is_black = number.is_multiple_of(2);
        let wins = number % 6 != 5;
        Scoresheet {
            number,
            black: "A".to_owned(),
            white: "B".to_owned(),
            sfen: String::new(),
            opening: 0,
            moves: Vec::new(),
            winner: if first_is_black == wins { Winner::Black } else { Winner::White },
            reason: "mate".to_owned(),
            milliseconds: Vec::new(),
        }
    }

    #[test]
    fn a_test_ends_alike_in_whatever_order_games_end() {
        let sprt = Sprt { low: 0.0, high: 100.0, scale: Scale::Logistic };
        let new = || Sheets::new(["A".to_owned(), "B".to_owned()], Some(sprt));
        let (mut ordered, mut reversed) = (new(), new());
        (0..200).for_each(|number| ordered.add(game(number)));
        (0..200).rev().for_each(|number| reversed.add(game(number)));
        assert_eq!(ordered.verdict(), Verdict::Higher);
        assert_eq!(ordered.test(), reversed.test());
        let mut open = new();
        (1..200).for_each(|number| open.add(game(number)));
        assert_eq!((open.verdict(), open.len()), (Verdict::Open, 199));
    }

    #[test]
    fn faults_are_counted_for_who_made_them() {
        let mut sheets = Sheets::new(["A".to_owned(), "B".to_owned()], None);
        for number in [0, 5] {
            sheets.add(Scoresheet { reason: "crash".to_owned(), ..game(number) });
        }
        assert_eq!([0, 1].map(|player| sheets.faults(player, Fault::Crash)), [1, 1]);
        assert_eq!([0, 1].map(|player| sheets.faults(player, Fault::Time)), [0, 0]);
        assert_eq!(sheets.reasons(), [("crash", 2)].into());
    }
}
