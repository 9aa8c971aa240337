//! Games between two players, from the same openings for all, kept in files.

use super::contenders::{hash, plain};
use crate::Failure;
use crate::game_file::{GameFile, cannot};
use crate::players::{BATCH, Contestant, Seated, Settings};
use keiko_network::Inference;
use keiko_rules::{Color, Game, Rules};
use keiko_trainer::arena::{Match, Played, first_players_color, tally_of};
use keiko_trainer::elo::{GameResult, Strength, Tally};
use keiko_trainer::scoresheet::Scoresheet;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A player with its name.
pub(super) struct Party<'a> {
    pub(super) name: String,
    pub(super) contestant: &'a Contestant,
}

/// What all games have in common.
pub(super) struct Hall {
    /// Where the games are kept.
    pub(super) dir: PathBuf,
    pub(super) rules: Arc<Rules>,
    /// The seed of the openings.
    pub(super) seed: u64,
    /// Random legal moves each pair begins with.
    pub(super) opening_plies: u32,
    /// A game of this many plies is a draw.
    pub(super) ply_limit: u32,
    /// Threads that play.
    pub(super) workers: usize,
}

/// The results of some games for one of two players, by their numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Games(pub(super) Vec<(u64, GameResult)>);

impl Hall {
    /// Seats somebody and lets it go: whoever cannot play is known before anybody learns.
    pub(super) fn try_seat(&self, contestant: &Contestant) -> Result<(), Failure> {
        contestant.seat(&self.rules, &Settings { batch: 1, seed: self.seed }).map(drop)
    }

    /// So many games of the first player against the other, as far as nobody stops them. Those
    /// that were played before are taken; games of other networks lie in other files.
    pub(super) fn play(
        &self,
        parties: [&Party<'_>; 2],
        games: u64,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<Games, Failure> {
        std::fs::create_dir_all(&self.dir).map_err(cannot(&self.dir))?;
        let (file, before) = GameFile::open(&self.dir.join(self.file_name(parties)), 1)?;
        let mut sheets: BTreeMap<u64, Scoresheet> =
            before.into_iter().map(|game| (game.number, game)).collect();
        let have: HashSet<u64> = sheets.keys().copied().collect();
        let of = 2 * games.div_ceil(2);
        let missing: Vec<u64> = (0..of).filter(|number| !have.contains(number)).collect();
        if !missing.is_empty() {
            for game in self.play_these(&missing, parties, &file, stop)? {
                sheets.insert(game.number, game);
            }
            file.sync()?;
        }
        Ok(Games(sheets.range(..of).map(|(&number, game)| (number, game.result())).collect()))
    }

    fn play_these(
        &self,
        numbers: &[u64],
        parties: [&Party<'_>; 2],
        file: &GameFile,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<Vec<Scoresheet>, Failure> {
        let workers = self.workers.clamp(1, numbers.len());
        // An engine plays one game from its beginning to its end.
        let has_engine = parties.iter().any(|party| party.contestant.is_external());
        let side_by_side = if has_engine { 1 } else { numbers.len().div_ceil(workers).min(BATCH) };
        let contest = Match {
            starts: vec![Game::new(Arc::clone(&self.rules))],
            seed: self.seed,
            pairs: 0,
            opening_plies: self.opening_plies,
            ply_limit: self.ply_limit,
            side_by_side,
        };
        let settings = Settings { batch: side_by_side, seed: self.seed };
        let seat = |party: &Party<'_>| party.contestant.seat(&self.rules, &settings);
        let mut seats = (0..workers)
            .map(|_| Ok((seat(parties[0])?, seat(parties[1])?)))
            .collect::<Result<Vec<(Seated, Seated)>, Failure>>()?;
        let names = parties.map(|party| party.name.as_str());
        let kept: Mutex<Result<Vec<Scoresheet>, Failure>> = Mutex::new(Ok(Vec::new()));
        let on_game = |played: &Played| {
            let game = Scoresheet::of(played, names);
            let mut kept = kept.lock().expect("nobody panics with the games in hand");
            let added = file.add(std::slice::from_ref(&game));
            match (&mut *kept, added) {
                (Ok(games), Ok(())) => games.push(game),
                (Ok(_), Err(failure)) => *kept = Err(failure),
                (Err(_), _) => (),
            }
        };
        let failed = || kept.lock().expect("nobody panics with the games in hand").is_err();
        contest.play_these(numbers, &mut seats, on_game, || stop() || failed())?;
        kept.into_inner().expect("nobody panics with the games in hand")
    }

    /// A file's name, with all that its games depend on.
    fn file_name(&self, parties: [&Party<'_>; 2]) -> String {
        let [one, other] = parties.map(|party| plain(&party.name));
        let players = parties.map(|party| match party.contestant {
            // Wherever its folder lies.
            Contestant::Network(_, network, inference, simulations) => {
                format!("{} {} {simulations}", network.card.sha256, precision(inference))
            }
            other => other.description(),
        });
        let Hall { seed, opening_plies, ply_limit, .. } = self;
        let rules = self.rules.hash();
        let all = format!("{players:?} {rules:016x} {seed} {opening_plies} {ply_limit}");
        format!("{one}-against-{other}-{:016x}.jsonl", hash(&all))
    }
}

/// How a network's numbers are held.
fn precision(inference: &Inference) -> String {
    match inference {
        Inference::Cpu { precision, .. } => format!("{precision:?}"),
        Inference::Burn(device) => device.to_string(),
    }
}

impl Games {
    /// All games of several meetings; pairs stay pairs.
    pub(super) fn pooled<'a>(all: impl IntoIterator<Item = &'a Games>) -> Games {
        let mut pooled = Vec::new();
        let mut first = 0;
        for Games(games) in all {
            pooled.extend(games.iter().map(|(number, result)| (first + number, *result)));
            first = pooled.last().map_or(0, |(number, _)| 2 * (number / 2 + 1));
        }
        Games(pooled)
    }

    /// Score and Elo, by the pairs both of whose games are over.
    pub(super) fn strength(&self) -> Option<Strength> {
        tally_of(self.0.iter().copied()).strength()
    }

    /// The same of the games in which one had this colour.
    pub(super) fn side(&self, color: Color) -> Tally {
        let mut side = Tally::default();
        let of_color = self.0.iter().filter(|(number, _)| first_players_color(*number) == color);
        of_color.for_each(|(_, result)| side.add(*result));
        side
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GameResult::{Draw, Loss, Win};

    #[test]
    fn games_of_several_meetings_keep_their_pairs_and_colours() {
        let one = Games(vec![(0, Win), (1, Loss), (2, Win)]);
        let other = Games(vec![(0, Draw), (1, Draw)]);
        let pooled = Games::pooled([&one, &other, &Games::default(), &other]);
        let numbers: Vec<u64> = pooled.0.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [0, 1, 2, 4, 5, 6, 7]);
        assert_eq!(pooled.side(Color::Black), Tally { wins: 2, draws: 2, losses: 0 });
        assert_eq!(pooled.side(Color::White), Tally { wins: 0, draws: 2, losses: 1 });
        let three_pairs = tally_of(pooled.0.iter().copied());
        assert_eq!(three_pairs.pairs(), [0, 0, 3, 0, 0]);
        assert_eq!(Games::default().strength(), None);
    }
}
