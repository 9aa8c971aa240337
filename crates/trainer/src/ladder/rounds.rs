//! A run's own games on its ladder: rounds of a few, each between the two players whose games tell
//! most by all games before.

use super::{ANCHORS, Ladder, UNTRAINED};
use crate::arena::{Played, Player, tally};
use crate::elo::Tally;
use crate::experiment::Change;
use crate::measure::inference_of;
use crate::opponents::Opponent;
use crate::published::{folder_of, name_of, on_ladder};
use crate::run::{Run, RunError};
use crate::train::{Event, Watcher};
use keiko_network::{Inference, Network, Weights};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Pairs of games in a round: few enough that the next two players are chosen by what these said,
/// and games for some cores.
const ROUND: u64 = 4;

/// Players on the ladder at most: beyond it networks that no longer play are taken off, every second
/// first, the oldest first, then every second of the rest: the state stays small.
const MOST: usize = 512;

/// Settings that make other players of the same networks, or another network the zero of all ratings.
const OF_PLAYERS: [&str; 3] = ["arena.simulations", "search.", "seed"];

/// Whether the players of a ladder are others with these changes, so that it begins anew.
pub(crate) fn are_others(changes: &[Change]) -> bool {
    changes.iter().any(|change| OF_PLAYERS.iter().any(|key| change.key.starts_with(key)))
}

/// Plays the ladder's games that follow the newest network's publication, and rates that network;
/// nothing where a run plays none, `None` when it was stopped.
pub(crate) fn climb(
    run: &Run,
    ladder: &mut Ladder,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Vec<(String, f64)>>, RunError> {
    let newest = run.state.published.last().filter(|_| run.experiment.arena.ladder_pairs > 0);
    let Some(newest) = newest else {
        return Ok(Some(Vec::new()));
    };
    take_off_beyond(MOST, run, ladder);
    let newest = ladder.player(&name_of(newest.step));
    let rounds = Rounds { run, newest, watcher, stop, over: AtomicU64::new(0) };
    Ok(rounds.play(ladder)?.then(|| figures(ladder, newest)))
}

/// A network's rating with its interval, and those of the fixed players that it is to be seen among.
fn figures(ladder: &Ladder, newest: usize) -> Vec<(String, f64)> {
    let ratings = ladder.ratings();
    let elo = ratings.of(newest);
    let ends = [("elo", elo.value), ("elo_low", elo.low), ("elo_high", elo.high)];
    let ends = ends.map(|(name, value)| (format!("ladder/{name}"), value));
    let anchors = ladder.players().iter().enumerate().skip(1).take(ANCHORS.len());
    let anchors = anchors.filter(|&(player, _)| ladder.games_of(player) > 0);
    let tag = |name: &str| format!("ladder/{}", name.replace(':', "_"));
    let anchors = anchors.map(|(player, name)| (tag(name), ratings.of(player).value));
    ends.into_iter().chain(anchors).collect()
}

/// Takes networks off until there are no more than so many players, but none that plays.
fn take_off_beyond(most: usize, run: &Run, ladder: &mut Ladder) {
    let excess = ladder.players().len().saturating_sub(most);
    let playing: BTreeSet<u64> = on_ladder(&run.state).map(|one| one.step).collect();
    let known: BTreeSet<&str> = ladder.players().iter().map(String::as_str).collect();
    let mut others = Vec::new();
    for (number, one) in run.state.published.iter().enumerate() {
        let name = name_of(one.step);
        if known.contains(name.as_str()) && !playing.contains(&one.step) {
            others.push((number.trailing_zeros(), number, name));
        }
    }
    others.sort();
    let gone: BTreeSet<String> = others.into_iter().take(excess).map(|(.., name)| name).collect();
    if !gone.is_empty() {
        ladder.take_off(|name| gone.contains(name));
    }
}

/// The rounds that follow a network's publication.
struct Rounds<'a> {
    run: &'a Run,
    /// That network's number on the ladder.
    newest: usize,
    watcher: &'a dyn Watcher,
    stop: &'a AtomicBool,
    /// Games that are over.
    over: AtomicU64,
}

impl Rounds<'_> {
    /// Plays them all; whether they were, and not stopped.
    fn play(&self, ladder: &mut Ladder) -> Result<bool, RunError> {
        let mut among: Vec<usize> = (0..=ANCHORS.len()).collect();
        let networks = on_ladder(&self.run.state).map(|one| name_of(one.step));
        among.extend(networks.map(|name| ladder.player(&name)));
        let (mut played, of) = (0, self.run.experiment.arena.ladder_pairs);
        while played < of {
            let pairs = ROUND.min(of - played);
            let Some(players) = self.choose(ladder, &among, played / ROUND, 2 * pairs) else {
                break;
            };
            let names = players.map(|player| ladder.players()[player].clone());
            let seated = [self.rated(&names[0]), self.rated(&names[1])];
            let [Some(one), Some(other)] = &seated else {
                among.retain(|player| {
                    !players.iter().zip(&seated).any(|(it, seat)| it == player && seat.is_none())
                });
                continue;
            };
            let Some(games) = self.meet([one, other], played, pairs)? else {
                return Ok(false);
            };
            ladder.add_match(&names[0], &names[1], games);
            played += pairs;
        }
        Ok(true)
    }

    /// Who plays a round. In every second one, from the first, the newest network does: so it has at
    /// least half of the games, and the others firm up what it stands on.
    fn choose(
        &self,
        ladder: &Ladder,
        among: &[usize],
        round: u64,
        games: u64,
    ) -> Option<[usize; 2]> {
        let (ratings, games) = (ladder.ratings(), games as f64);
        if round.is_multiple_of(2) && among.contains(&self.newest) {
            let other = ratings.best_opponent(self.newest, among, games)?;
            return Some([self.newest, other]);
        }
        ratings.most_telling(among, games).map(|(one, other)| [one, other])
    }

    /// A player of the ladder; `None` for a network that cannot be read: somebody may have removed it.
    fn rated(&self, name: &str) -> Option<Rated> {
        let run = self.run;
        if name == UNTRAINED {
            let weights = run.experiment.initial_weights(&run.encoding);
            let inference = run.inference(&weights);
            return Some(Rated::Network(weights, inference));
        }
        if let Some(anchor) = ANCHORS.into_iter().find(|anchor| anchor.to_string() == name) {
            return Some(Rated::Anchor(anchor));
        }
        let network = Network::load(&folder_of(run, name)).map_err(RunError::from);
        let network = network.and_then(|it| Ok((inference_of(run, &it)?, it.weights)));
        let tell = |error: &RunError| {
            let message = format!("{error}; it does not play on the ladder");
            self.watcher.tell(&Event::Notice { message: &message });
        };
        let (inference, weights) = network.inspect_err(tell).ok()?;
        Some(Rated::Network(weights, inference))
    }

    /// Plays a round; `None` when it was stopped.
    fn meet(
        &self,
        players: [&Rated; 2],
        played: u64,
        pairs: u64,
    ) -> Result<Option<Tally>, RunError> {
        let run = self.run;
        let numbers = self.numbers(played, pairs);
        let threads = run.experiment.machine.workers.min(numbers.len());
        let mut seats: Vec<_> =
            (0..threads).map(|_| (players[0].seat(run), players[1].seat(run))).collect();
        let of = 2 * run.experiment.arena.ladder_pairs;
        let on_game = |_: &Played| {
            let done = self.over.fetch_add(1, Ordering::Relaxed) + 1;
            self.watcher.tell(&Event::Measuring { rival: "the ladder's players", done, of });
        };
        let stopped = || self.stop.load(Ordering::Relaxed);
        let games = run.arena_match(pairs).play_these(&numbers, &mut seats, on_game, stopped)?;
        Ok((games.len() == numbers.len()).then(|| tally(&games).games()))
    }

    /// The numbers of a round's games: no round has the openings of another one, or of the arena's
    /// matches, since the same two players would play the same games again.
    fn numbers(&self, played: u64, pairs: u64) -> Vec<u64> {
        let arena = &self.run.experiment.arena;
        let before = (self.run.state.published.len() as u64 - 1) * arena.ladder_pairs;
        let first = arena.random_pairs.max(arena.rival_pairs) + before + played;
        (2 * first..2 * (first + pairs)).collect()
    }
}

/// Somebody on the ladder.
enum Rated {
    Network(Weights, Inference),
    Anchor(Opponent),
}

impl Rated {
    /// One such player, for one thread.
    fn seat(&self, run: &Run) -> Box<dyn Player + Send> {
        match self {
            Rated::Network(weights, inference) => Box::new(run.search_player(weights, inference)),
            Rated::Anchor(opponent) => opponent.seat(&run.rules, run.experiment.seed),
        }
    }
}
