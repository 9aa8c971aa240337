//! Which of a run's games a command is about.

use crate::Failure;
use keiko_rules::{Color, Outcome, Reason, nearest};
use keiko_selfplay::GameRecord;
use keiko_trainer::Records;
use keiko_trainer::store::StoreError;
use std::ops::Range;
use std::str::FromStr;

/// Options that choose games.
#[derive(clap::Args, PartialEq, Default)]
pub(crate) struct Selection {
    /// Only games of these generations, both ends included; `A..`, `..B` and `A` alone will do.
    #[arg(long, value_name = "A..B")]
    generation: Option<Span>,
    /// Only games with these numbers.
    #[arg(long, value_name = "A..B")]
    numbers: Option<Span>,
    /// Only games that ended so: mate, repetition, proven, ...
    #[arg(long, value_parser = read_reason)]
    reason: Option<Reason>,
    /// Only games with this result.
    #[arg(long, value_enum)]
    result: Option<Winner>,
    /// Only the newest N of them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
}

/// A game's result, as it is asked for.
#[derive(Copy, Clone, Eq, PartialEq, clap::ValueEnum)]
enum Winner {
    Black,
    White,
    Draw,
}

/// Numbers from one to another, both included.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
struct Span {
    first: u64,
    last: u64,
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let number = |text: &str, open: u64| match text {
            "" => Ok(open),
            text => text.parse().map_err(|_| "expected A..B, A.., ..B or a number".to_owned()),
        };
        let span = match text.split_once("..") {
            Some((first, last)) => Span { first: number(first, 0)?, last: number(last, u64::MAX)? },
            None => number(text, 0).map(|only| Span { first: only, last: only })?,
        };
        if text.is_empty() || span.first > span.last {
            return Err("there is nothing between its ends; both are included".to_owned());
        }
        Ok(span)
    }
}

impl Span {
    fn numbers(self) -> Range<u64> {
        self.first..self.last.saturating_add(1)
    }
}

fn read_reason(text: &str) -> Result<Reason, String> {
    let names = Reason::ALL.map(|reason| reason.to_string());
    if let Some(at) = names.iter().position(|name| name == text) {
        return Ok(Reason::ALL[at]);
    }
    let hint = nearest(text, names.iter().map(String::as_str));
    let hint = hint.map_or(String::new(), |found| format!("; did you mean `{found}`?"));
    Err(format!("games end by {}{hint}", names.join(", ")))
}

impl Selection {
    /// Whether any of the options was given.
    pub(crate) fn chooses(&self) -> bool {
        *self != Selection::default()
    }

    /// Hands over the games that are meant, in the order of their numbers, and says what of them
    /// cannot be read. Returns how many there were.
    pub(crate) fn for_each(
        &self,
        records: &Records,
        mut take: impl FnMut(&GameRecord) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        complain(records);
        let blocks = records.listing.read(self.range(records));
        let mut count = 0;
        let mut take_all = |games: &[GameRecord]| {
            count += games.len() as u64;
            games.iter().try_for_each(&mut take)
        };
        match self.last {
            Some(last) => take_all(&self.newest(records, blocks.rev(), last as usize)?)?,
            None => {
                for block in blocks {
                    take_all(&self.chosen(records, block)?)?;
                }
            }
        }
        if count == 0 {
            let none = records.listing.games() == 0;
            tell!("{}", if none { "the run has no games yet" } else { "no game is like that" });
        }
        Ok(count)
    }

    /// The numbers that games of these generations and numbers may have.
    fn range(&self, records: &Records) -> Range<u64> {
        let all = Span { first: 0, last: u64::MAX };
        let each = records.experiment.training.games_per_generation;
        let generations = self.generation.unwrap_or(all).numbers();
        let numbers = self.numbers.unwrap_or(all).numbers();
        let start = generations.start.saturating_mul(each).max(numbers.start);
        start..generations.end.saturating_mul(each).min(numbers.end)
    }

    /// The newest games that are meant, from blocks that come newest first.
    fn newest(
        &self,
        records: &Records,
        blocks: impl Iterator<Item = Result<Vec<GameRecord>, StoreError>>,
        most: usize,
    ) -> Result<Vec<GameRecord>, Failure> {
        let mut newest = Vec::new();
        for block in blocks {
            newest.extend(self.chosen(records, block)?.into_iter().rev());
            if newest.len() >= most {
                break;
            }
        }
        newest.truncate(most);
        newest.reverse();
        Ok(newest)
    }

    /// The games of a block that are meant; none where it cannot be read.
    fn chosen(
        &self,
        records: &Records,
        block: Result<Vec<GameRecord>, StoreError>,
    ) -> Result<Vec<GameRecord>, Failure> {
        let mut games = match block {
            Err(error @ StoreError::Decode { .. }) => {
                tell!("skipped: {error}");
                return Ok(Vec::new());
            }
            block => block?,
        };
        let others = games.iter().filter(|game| game.rules_hash != records.rules.hash()).count();
        if others > 0 {
            tell!("skipped: {others} games by other rules than the run's");
        }
        games.retain(|game| game.rules_hash == records.rules.hash() && self.includes(game));
        Ok(games)
    }

    fn includes(&self, game: &GameRecord) -> bool {
        let winner = match game.ending.outcome {
            Outcome::Win(Color::Black) => Winner::Black,
            Outcome::Win(Color::White) => Winner::White,
            Outcome::Draw => Winner::Draw,
        };
        self.reason.is_none_or(|reason| reason == game.ending.reason)
            && self.result.is_none_or(|result| result == winner)
    }
}

/// Says what was damaged when the games were listed.
pub(super) fn complain(records: &Records) {
    if let Some(torn) = &records.report.torn {
        tell!("left out: a write that is going on, or never finished: {torn}");
    }
    records.report.damaged.iter().for_each(|damage| tell!("skipped damaged games: {damage}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_include_both_ends() {
        let span = |text: &str| text.parse::<Span>().map(Span::numbers);
        assert_eq!(span("3..7"), Ok(3..8));
        assert_eq!(span("3"), Ok(3..4));
        assert_eq!(span("..7"), Ok(0..8));
        assert_eq!(span("3.."), Ok(3..u64::MAX));
        for wrong in ["", "7..3", "a..3", "3..b", "-1", "1...3", "1..2..3"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
