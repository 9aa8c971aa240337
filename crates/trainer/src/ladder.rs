//! The ladder: ratings of players from all games between them, and who is to play next.

pub(crate) mod rounds;

use crate::checkpoint::peek;
use crate::elo::Tally;
use crate::opponents::Opponent;
use crate::ratings::{Encounter, Ratings};
use crate::run::{RunError, is_run};
use crate::scoresheet::{Scoresheet, Winner};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The network before its first step: the zero of all ratings.
pub const UNTRAINED: &str = "untrained";

/// Players that are on every ladder, beside the untrained network.
pub const ANCHORS: [Opponent; 4] =
    [Opponent::Random, Opponent::Mate, Opponent::Material(2), Opponent::Material(4)];

/// Players, and how often each two of them met. The first player is the zero of all ratings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ladder {
    players: Vec<String>,
    /// By both numbers, the lower one first.
    met: Vec<Encounter>,
}

impl Default for Ladder {
    /// A ladder of those who are on every one, on which nobody has played.
    fn default() -> Ladder {
        let anchors = ANCHORS.iter().map(Opponent::to_string);
        let players = std::iter::once(UNTRAINED.to_owned()).chain(anchors).collect();
        Ladder::new(players)
    }
}

impl Ladder {
    /// A ladder of these players, on which nobody has played.
    pub fn new(players: Vec<String>) -> Ladder {
        Ladder { players, met: Vec::new() }
    }

    /// The ladder of the run in `dir`, as of its newest checkpoint: the games that its arena played.
    ///
    /// # Errors
    /// When there is no run, or no checkpoint of it that can be read.
    pub fn of_run(dir: &Path) -> Result<Ladder, RunError> {
        if !is_run(dir)? {
            return Err(RunError::NoRun(dir.to_owned()));
        }
        let (state, ..) = peek(&dir.join("state"))?;
        Ok(state.ladder)
    }

    /// What the players are called, by number.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// A player's number. Who is not known yet is a player from now on.
    pub fn player(&mut self, name: &str) -> usize {
        let known = self.players.iter().position(|player| player == name);
        known.unwrap_or_else(|| {
            self.players.push(name.to_owned());
            self.players.len() - 1
        })
    }

    /// Counts a game.
    pub fn add(&mut self, game: &Scoresheet) {
        let points = match game.winner {
            Winner::Black => 1.0,
            Winner::Draw => 0.5,
            Winner::White => 0.0,
        };
        self.count(&game.black, &game.white, 1.0, points);
    }

    /// Counts the games of a match, as its first player sees them.
    pub(crate) fn add_match(&mut self, first: &str, second: &str, games: Tally) {
        self.count(first, second, f64::from(games.games()), games.points());
    }

    fn count(&mut self, one: &str, other: &str, games: f64, points: f64) {
        let [one, other] = [one, other].map(|name| self.player(name));
        let (one, other, points) =
            if one < other { (one, other, points) } else { (other, one, games - points) };
        match self.met.binary_search_by_key(&(one, other), |it| (it.one, it.other)) {
            Ok(index) => {
                self.met[index].games += games;
                self.met[index].points += points;
            }
            Err(index) => self.met.insert(index, Encounter { one, other, games, points }),
        }
    }

    /// Takes players off, with their games, as if they had never played.
    pub(crate) fn take_off(&mut self, is_gone: impl Fn(&str) -> bool) {
        let mut rest = Ladder { players: self.players.clone(), met: Vec::new() };
        rest.players.retain(|name| !is_gone(name));
        for it in &self.met {
            let [one, other] = [it.one, it.other].map(|player| self.players[player].as_str());
            if !is_gone(one) && !is_gone(other) {
                rest.count(one, other, it.games, it.points);
            }
        }
        *self = rest;
    }

    /// How many games a player has played.
    pub fn games_of(&self, player: usize) -> u64 {
        let mine = self.met.iter().filter(|it| it.one == player || it.other == player);
        mine.map(|it| it.games as u64).sum()
    }

    /// Everybody's rating.
    pub fn ratings(&self) -> Ratings {
        Ratings::fit(self.players.len(), &self.met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(black: &str, white: &str, winner: Winner) -> Scoresheet {
        Scoresheet {
            number: 0,
            black: black.to_owned(),
            white: white.to_owned(),
            sfen: String::new(),
            opening: 0,
            moves: Vec::new(),
            winner,
            reason: "mate".to_owned(),
            milliseconds: Vec::new(),
        }
    }

    #[test]
    fn games_count_whoever_was_black() {
        let mut ladder = Ladder::default();
        for _ in 0..10 {
            ladder.add(&game("untrained", "random", Winner::Black));
            ladder.add(&game("random", "untrained", Winner::White));
            ladder.add(&game("gone", "untrained", Winner::Draw));
        }
        assert_eq!(
            ladder.players(),
            ["untrained", "random", "mate1", "material:2", "material:4", "gone"]
        );
        assert_eq!([0, 1, 2, 5].map(|player| ladder.games_of(player)), [30, 20, 0, 10]);
        let ratings = ladder.ratings();
        assert!(ratings.of(1).high < 0.0);
        assert!(ratings.of(5).value.abs() < 1e-6);
    }

    #[test]
    fn a_match_counts_as_its_games_and_who_is_taken_off_never_played() {
        let mut ladder = Ladder::default();
        ladder.add_match("new", "mate1", Tally { wins: 3, draws: 2, losses: 1 });
        ladder.add_match("mate1", "new", Tally { wins: 1, draws: 0, losses: 1 });
        ladder.add_match("newer", "new", Tally { wins: 5, draws: 0, losses: 1 });
        let text = serde_json::to_string(&ladder).expect("it is plain data");
        let read: Ladder = serde_json::from_str(&text).expect("it was written");
        assert_eq!(read, ladder);
        let one_by_one = |wins: u32, losses: u32| {
            let mut ladder = Ladder::default();
            (0..wins).for_each(|_| ladder.add(&game("new", "mate1", Winner::Black)));
            (0..losses).for_each(|_| ladder.add(&game("mate1", "new", Winner::Black)));
            ladder.add(&game("mate1", "new", Winner::Draw));
            ladder.add(&game("new", "mate1", Winner::Draw));
            ladder
        };
        ladder.take_off(|name| name == "newer");
        assert_eq!(ladder, one_by_one(4, 2));
    }
}
