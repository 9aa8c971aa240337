//! All games of a match so far: a pairing's together, and everybody's ratings.

use super::pairings::Pairings;
use super::sheets::Sheets;
use keiko_rules::Color;
use keiko_trainer::elo::Estimate;
use keiko_trainer::ladder::Ladder;
use keiko_trainer::scoresheet::Scoresheet;
use keiko_trainer::sprt::{Sprt, Verdict};

/// The games of a match, by pairing.
pub(super) struct Standings {
    names: Vec<String>,
    pairings: Pairings,
    sheets: Vec<Sheets>,
}

/// What all games say of a player.
pub(super) struct Standing<'a> {
    pub(super) name: &'a String,
    pub(super) games: u32,
    /// A win is 1, a draw one half.
    pub(super) points: f64,
    /// Elo; the first player is the zero of all.
    pub(super) rating: Estimate,
}

impl Standings {
    /// A match in which nothing is played yet; a test may end that of two players.
    pub(super) fn new(names: Vec<String>, pairings: Pairings, sprt: Option<Sprt>) -> Standings {
        let of = |players: [usize; 2]| Sheets::new(players.map(|it| names[it].clone()), sprt);
        let sheets = pairings.iter().map(of).collect();
        Standings { names, pairings, sheets }
    }

    pub(super) fn pairings(&self) -> &Pairings {
        &self.pairings
    }

    /// The games of each pairing.
    pub(super) fn sheets(&self) -> &[Sheets] {
        &self.sheets
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn has(&self, number: u64) -> bool {
        self.sheets[self.pairings.of(number)].has(number)
    }

    /// How many games there are.
    pub(super) fn len(&self) -> u64 {
        self.sheets.iter().map(Sheets::len).sum()
    }

    pub(super) fn add(&mut self, game: Scoresheet) {
        self.sheets[self.pairings.of(game.number)].add(game);
    }

    /// All games, in number order.
    pub(super) fn games(&self) -> impl Iterator<Item = &Scoresheet> {
        let mut games: Vec<&Scoresheet> = self.sheets.iter().flat_map(Sheets::games).collect();
        games.sort_by_key(|game| game.number);
        games.into_iter()
    }

    /// What the test of two players says; open where there is none.
    pub(super) fn verdict(&self) -> Verdict {
        self.sheets.first().map_or(Verdict::Open, Sheets::verdict)
    }

    /// Everybody, the best one first. Names have to differ.
    pub(super) fn order(&self) -> Vec<Standing<'_>> {
        let mut ladder = Ladder::new(self.names.clone());
        self.games().for_each(|game| ladder.add(game));
        let ratings = ladder.ratings();
        let of = |(player, name)| {
            let (games, points) = self.score(player);
            Standing { name, games, points, rating: ratings.of(player) }
        };
        let mut order: Vec<Standing<'_>> = self.names.iter().enumerate().map(of).collect();
        order.sort_by(|a, b| b.rating.value.total_cmp(&a.rating.value));
        order
    }

    /// A player's games and points.
    fn score(&self, player: usize) -> (u32, f64) {
        let (mut games, mut points) = (0, 0.0);
        for (sheets, [one, other]) in self.sheets.iter().zip(self.pairings.iter()) {
            if player != one && player != other {
                continue;
            }
            for color in Color::BOTH {
                let side = sheets.side(color);
                games += side.games();
                points += if player == one { side.points() } else { side.flipped().points() };
            }
        }
        (games, points)
    }
}
