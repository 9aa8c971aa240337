//! The ladder: ratings of players from all games between them, and who is to play next.

use crate::ratings::{Encounter, Ratings};
use crate::scoresheet::{Scoresheet, Winner};
use std::collections::BTreeMap;

/// Players, and how often each two of them met. The first player is the zero of all ratings.
#[derive(Clone, Debug)]
pub struct Ladder {
    players: Vec<String>,
    /// Games and points of the player with the lower number, by both numbers.
    met: BTreeMap<(usize, usize), (f64, f64)>,
}

impl Ladder {
    /// A ladder on which nobody has played.
    pub fn new(players: Vec<String>) -> Ladder {
        Ladder { players, met: BTreeMap::new() }
    }

    /// What the players are called, by number.
    pub fn players(&self) -> &[String] {
        &self.players
    }

    /// Counts a game. Who is not known yet is a player, too.
    pub fn add(&mut self, game: &Scoresheet) {
        let [black, white] = [&game.black, &game.white].map(|name| self.number(name));
        let points = match game.winner {
            Winner::Black => 1.0,
            Winner::Draw => 0.5,
            Winner::White => 0.0,
        };
        let (pair, points) =
            if black < white { ((black, white), points) } else { ((white, black), 1.0 - points) };
        let (games, sum) = self.met.entry(pair).or_default();
        *games += 1.0;
        *sum += points;
    }

    fn number(&mut self, name: &str) -> usize {
        let known = self.players.iter().position(|player| player == name);
        known.unwrap_or_else(|| {
            self.players.push(name.to_owned());
            self.players.len() - 1
        })
    }

    /// How many games a player has played.
    pub fn games_of(&self, player: usize) -> u64 {
        let mine = self.met.iter().filter(|((one, other), _)| *one == player || *other == player);
        mine.map(|(_, (games, _))| *games as u64).sum()
    }

    /// Everybody's rating.
    pub fn ratings(&self) -> Ratings {
        let encounters = self.met.iter().map(|(&(one, other), &(games, points))| Encounter {
            one,
            other,
            games,
            points,
        });
        Ratings::fit(self.players.len(), &encounters.collect::<Vec<_>>())
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
        let mut ladder = Ladder::new(["untrained", "random"].map(str::to_owned).to_vec());
        for _ in 0..10 {
            ladder.add(&game("untrained", "random", Winner::Black));
            ladder.add(&game("random", "untrained", Winner::White));
            ladder.add(&game("gone", "untrained", Winner::Draw));
        }
        assert_eq!(ladder.players(), ["untrained", "random", "gone"]);
        assert_eq!([0, 1, 2].map(|player| ladder.games_of(player)), [30, 20, 10]);
        let ratings = ladder.ratings();
        assert!(ratings.of(1).high < 0.0);
        assert!(ratings.of(2).value.abs() < 1e-6);
    }
}
