//! What the command line says of a match: players and what they may spend, openings, tests.

use super::pairings::Pairings;
use super::{Arguments, openings};
use crate::Failure;
use crate::external::{Control, Limit};
use crate::players::{BATCH, Contestant, Means, Seated, Settings, split_option};
use keiko_rules::{Game, Rules};
use keiko_trainer::arena::Match;
use keiko_trainer::sprt::{Scale, Sprt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// Longest an outside engine may think about a move where it is told no time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Milliseconds an engine may be late, where the command does not say: with so much for a move, and
/// with a clock, which has to be kept.
const LATE_MOVE: u64 = 1000;
const LATE_CLOCK: u64 = 50;

/// Games, where the command does not say how many.
const GAMES: u64 = 100;
/// The same where a sequential test ends the match.
const GAMES_OF_A_TEST: u64 = 100_000;

/// Random plies of openings, where the command does not say how many.
const OPENING_PLIES: u32 = 4;

impl Arguments {
    /// The players, with what each may spend.
    pub(super) fn contestants(&self) -> Result<Vec<Contestant>, Failure> {
        let own = self.own()?;
        let players = self.players.iter().zip(&own);
        players.map(|(name, own)| Contestant::parse(name, self.means(own)?)).collect()
    }

    /// What is said of each player alone, by name.
    fn own(&self) -> Result<Vec<Vec<(String, String)>>, Failure> {
        let mut own = vec![Vec::new(); self.players.len()];
        let mut add = |player: usize, flag: &str, text: &str| -> Result<(), Failure> {
            own[player].push(split_option(flag, text)?);
            Ok(())
        };
        self.for_a.iter().try_for_each(|text| add(0, "--a", text))?;
        self.for_b.iter().try_for_each(|text| add(1, "--b", text))?;
        for text in &self.for_one {
            let count = self.players.len();
            let parts = text.split_once(':').and_then(|(number, text)| {
                let number = number.parse().ok().filter(|number| (1..=count).contains(number))?;
                Some((number, text))
            });
            let (number, option) = parts.ok_or_else(|| {
                Failure::usage(format!(
                    "--of {text}: expected a player's number from 1 to {count}, and NAME=VALUE \
                     behind a colon"
                ))
            })?;
            add(number - 1, "--of", option)?;
        }
        Ok(own)
    }

    /// What a player may spend: what all may, and what is said of it alone.
    fn means(&self, own: &[(String, String)]) -> Result<Means, Failure> {
        let options = self.options.iter().map(|text| split_option("--option", text));
        let clock = |text: &String| {
            let control = Control::parse(text);
            control.map(Limit::Clock).map_err(|why| Failure::usage(format!("--clock {why}")))
        };
        let limit = match (self.movetime, &self.clock) {
            (Some(time), _) => Limit::Milliseconds(time),
            (None, Some(text)) => clock(text)?,
            (None, None) => Limit::Nodes(self.nodes),
        };
        let options = options.collect::<Result<Vec<_>, Failure>>()?;
        let mut means = Means { simulations: self.simulations, limit, patience: PATIENCE, options };
        for (name, value) in own {
            let number = |most: u64| {
                let number = value.parse().ok().filter(|number| (1..=most).contains(number));
                let message = format!("{name}={value}: expected a whole number from 1 to {most}");
                number.ok_or_else(|| Failure::usage(message))
            };
            match name.as_str() {
                "simulations" => means.simulations = number(u32::MAX.into())? as u32,
                "nodes" => means.limit = Limit::Nodes(number(u64::MAX)?),
                "movetime" => means.limit = Limit::Milliseconds(number(600_000)?),
                "clock" => means.limit = clock(value)?,
                _ => {
                    means.options.retain(|(known, _)| known != name);
                    means.options.push((name.clone(), value.clone()));
                }
            }
        }
        let late = |usual: u64| self.tolerance.unwrap_or(usual);
        match means.limit {
            Limit::Nodes(_) => {}
            Limit::Milliseconds(time) => {
                means.patience = Duration::from_millis(time + late(LATE_MOVE));
            }
            Limit::Clock(_) => means.patience = Duration::from_millis(late(LATE_CLOCK)),
        }
        Ok(means)
    }

    /// What the players are called: if there are more than two, each in its own way.
    pub(super) fn names(&self, players: &[Contestant]) -> Result<Vec<String>, Failure> {
        let mut names: Vec<String> = players.iter().map(Contestant::name).collect();
        if players.len() > 2 {
            let shared = names.clone();
            let is_shared = |name: &String| shared.iter().filter(|it| *it == name).count() > 1;
            for (name, own) in names.iter_mut().zip(self.own()?) {
                let own = own.iter().map(|(name, value)| format!(" {name}={value}"));
                let own: String = own.collect();
                name.push_str(if is_shared(name) { &own } else { "" });
            }
            let mut taken = BTreeSet::new();
            for (index, name) in names.iter_mut().enumerate() {
                if !taken.insert(name.clone()) {
                    name.push_str(&format!(" #{}", index + 1));
                    taken.insert(name.clone());
                }
            }
        }
        Ok(names)
    }

    /// Who meets whom.
    pub(super) fn pairings(&self) -> Pairings {
        Pairings::new(self.players.len(), self.gauntlet)
    }

    /// The test that ends the match, if one does.
    pub(super) fn sprt(&self) -> Result<Option<Sprt>, Failure> {
        let Some(text) = &self.sprt else {
            return Ok(None);
        };
        if self.players.len() > 2 {
            let players = self.players.len();
            let message = format!("--sprt ends a match of two players, and these are {players}");
            return Err(Failure::usage(message));
        }
        let scale = if self.normalised { Scale::Normalised } else { Scale::Logistic };
        let read = |text: &str| text.trim().parse::<f64>().ok().filter(|elo| elo.abs() <= 1000.0);
        let bounds = text.split_once(',').and_then(|(low, high)| read(low).zip(read(high)));
        match bounds.filter(|(low, high)| low < high) {
            Some((low, high)) => Ok(Some(Sprt { low, high, scale })),
            None => Err(Failure::usage(format!(
                "--sprt {text}: expected two numbers between -1000 and 1000, the lower one first, \
                 such as 0,10"
            ))),
        }
    }

    /// The games of each two players.
    pub(super) fn contest(&self, rules: &Arc<Rules>) -> Result<Match, Failure> {
        let starts = openings::starts(rules, self.book.as_deref(), self.handicap.as_deref())?;
        let plies = if self.book.is_some() { 0 } else { OPENING_PLIES };
        let opening_plies = self.opening_plies.unwrap_or(plies);
        let longest = starts.iter().map(Game::ply).max().unwrap_or(0) as u64;
        if longest + u64::from(opening_plies) >= self.ply_limit.into() {
            let (limit, longest) = (self.ply_limit, longest + u64::from(opening_plies));
            return Err(Failure::usage(format!(
                "an opening of {longest} plies (--opening-plies, --book) has to be shorter than \
                 --ply-limit, which is {limit}"
            )));
        }
        let games = self.sprt.as_ref().map_or(GAMES, |_| GAMES_OF_A_TEST);
        let pairs = self.games.unwrap_or(games).div_ceil(2);
        let (seed, ply_limit) = (self.seed, self.ply_limit);
        Ok(Match { starts, seed, pairs, opening_plies, ply_limit, side_by_side: 1 })
    }

    /// Two players on every thread, for so many games, and how they play them.
    pub(super) fn seats(
        &self,
        contest: &Match,
        players: [&Contestant; 2],
        games: usize,
    ) -> Result<(Match, Vec<(Seated, Seated)>), Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = self.workers.unwrap_or(cores).clamp(1, games.max(1));
        // An engine plays one game from its beginning to its end.
        let engines = players.iter().any(|player| player.is_external());
        let share = (2 * contest.pairs).div_ceil(workers as u64);
        let side_by_side = if engines { 1 } else { share.min(BATCH as u64) as usize };
        let contest = Match { side_by_side, ..contest.clone() };
        let settings = Settings { batch: side_by_side, seed: self.seed };
        let rules = contest.starts[0].rules();
        let seat = |player: &Contestant| player.seat(rules, &settings);
        let seats = (0..workers).map(|_| Ok((seat(players[0])?, seat(players[1])?)));
        let seats = seats.collect::<Result<Vec<_>, Failure>>()?;
        Ok((contest, seats))
    }

    /// All that the games depend on, by name: what a match has to have in common with the one it
    /// goes on with. More games may be asked for, by more threads.
    pub(super) fn description(
        &self,
        contest: &Match,
        players: &[Contestant],
        rules: &Rules,
    ) -> BTreeMap<String, String> {
        let start = |game: &Game| {
            let moves: Vec<String> = game.moves().map(|mv| mv.to_usi(rules)).collect();
            format!("{} {}", game.start_sfen(), moves.join(" "))
        };
        let starts: Vec<String> = contest.starts.iter().map(start).collect();
        let sprt = match (&self.sprt, self.normalised) {
            (None, _) => "none".to_owned(),
            (Some(bounds), false) => bounds.clone(),
            (Some(bounds), true) => format!("{bounds} normalised"),
        };
        let of = |name: &str, value: String| (name.to_owned(), value);
        let mut settings = BTreeMap::from([
            of("game", format!("{} {:016x}", rules.name(), rules.hash())),
            of("openings", starts.join("; ")),
            of("--opening-plies", contest.opening_plies.to_string()),
            of("--ply-limit", contest.ply_limit.to_string()),
            of("--seed", contest.seed.to_string()),
            of("--sprt", sprt),
        ]);
        for (index, player) in players.iter().enumerate() {
            let name = match index {
                0 => "first player".to_owned(),
                1 => "second player".to_owned(),
                _ => format!("player {}", index + 1),
            };
            settings.insert(name, player.description());
        }
        if players.len() > 2 {
            let who = if self.gauntlet { "the first player and each other" } else { "each two" };
            settings.insert("who meets".to_owned(), who.to_owned());
        }
        settings
    }
}
