//! The arena: pairs of games, colours swapped, from varied openings.

use crate::elo::{GameResult, PairTally};
use crate::panics::caught;
use keiko_rules::{Color, Game, Move, Outcome, Reason};
use keiko_selfplay::{
    Evaluator, Purpose, Search, SearchConfig, generator, random_moves, search_together,
};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Openings tried for a pair before it is given up.
const OPENING_ATTEMPTS: u32 = 1000;

/// A game that waits for a move, with the number that fixes whatever is random about it.
#[derive(Copy, Clone, Debug)]
pub struct Turn<'a> {
    /// The game.
    pub game: &'a Game,
    /// Its number in the match.
    pub number: u64,
    /// How long each move after the opening took, of both sides in turns.
    pub times: &'a [Duration],
}

/// What a player does when it is to move.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Answer {
    /// It plays this; nothing says that it is legal.
    Move(Move),
    /// It gives the game up.
    Resign,
    /// It loses the game by something no player should do.
    Fault(Fault),
}

/// How a game is lost off the board.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Fault {
    /// By a move that the rules forbid, or a win declared where there is none.
    IllegalMove,
    /// The player's program ended, or said what nobody understands.
    Crash,
    /// It did not answer in time.
    Time,
}

/// Somebody who can be asked for moves, in many games at once.
pub trait Player {
    /// Gets ready to be asked about these turns. How long that takes counts for nobody.
    ///
    /// # Errors
    /// When the player can no longer play at all.
    fn prepare(&mut self, _turns: &[Turn<'_>]) -> Result<(), PlayerError> {
        Ok(())
    }

    /// One answer for each turn. Once `stop` says so the answers are of no consequence: any will
    /// do, soon.
    ///
    /// # Errors
    /// When the player can no longer play at all; its text says why.
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError>;
}

impl<P: Player + ?Sized> Player for Box<P> {
    fn prepare(&mut self, turns: &[Turn<'_>]) -> Result<(), PlayerError> {
        (**self).prepare(turns)
    }

    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError> {
        (**self).choose(turns, stop)
    }
}

/// Why a player cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlayerError(pub String);

/// Searches with an evaluator, without noise: always the same move in the same game.
pub struct SearchPlayer<E> {
    /// The evaluator.
    pub evaluator: E,
    /// Constants of the search.
    pub search: SearchConfig,
    /// Simulations a move.
    pub simulations: u32,
}

impl<E: Evaluator> Player for SearchPlayer<E> {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError> {
        let budget = self.search.budget(self.simulations, 0.0);
        let begin = |turn: &Turn<'_>| {
            let mut search = Search::new(turn.game.clone(), self.search);
            search.begin(budget, &mut generator(0, Purpose::Play, turn.number));
            search
        };
        let mut searches: Vec<Search> = turns.iter().map(begin).collect();
        search_together(&mut searches, &mut self.evaluator, stop);
        if stop() {
            return Ok(vec![Answer::Resign; turns.len()]);
        }
        Ok(searches.iter_mut().map(|search| Answer::Move(search.finish().mv)).collect())
    }
}

/// What all pairs of games have in common.
#[derive(Clone, Debug)]
pub struct Match {
    /// What pairs begin with, in turns.
    pub starts: Vec<Game>,
    /// The seed of the openings.
    pub seed: u64,
    /// Number of pairs.
    pub pairs: u64,
    /// Random legal moves each pair begins with, after its start.
    pub opening_plies: u32,
    /// A game of this many plies is a draw.
    pub ply_limit: u32,
    /// Games played side by side by one pair of players.
    pub side_by_side: usize,
}

/// A game of a match that has ended.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its number: pair `number / 2`; the first player is Black in even games.
    pub number: u64,
    /// The game.
    pub game: Game,
    /// How many of its moves are its opening.
    pub opening: usize,
    /// How long each move after the opening took; of several games played together each has its
    /// share. The last one may have led to no move.
    pub times: Vec<Duration>,
    /// Who has won.
    pub outcome: Outcome,
    /// Why.
    pub cause: Cause,
    /// The result for the first player.
    pub result: GameResult,
}

/// Why a game of a match is over.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Cause {
    /// By law, or given up.
    Reason(Reason),
    /// Lost off the board.
    Fault(Fault),
}

/// A game going on.
struct Running {
    number: u64,
    game: Game,
    opening: usize,
    times: Vec<Duration>,
}

impl Running {
    fn is_firsts_turn(&self) -> bool {
        self.game.side_to_move() == first_players_color(self.number)
    }

    /// Goes on by the answer of who is to move; how the game ends by that, if it does.
    fn answer(&mut self, answer: Answer) -> Option<(Outcome, Cause)> {
        let lost = Outcome::Win(self.game.side_to_move().opponent());
        match answer {
            Answer::Move(mv) if self.game.rules().is_legal(self.game.position(), mv) => {
                self.game.play(mv);
                let ending = self.game.conclusion()?;
                Some((ending.outcome, Cause::Reason(ending.reason)))
            }
            Answer::Move(_) => Some((lost, Cause::Fault(Fault::IllegalMove))),
            Answer::Resign => Some((lost, Cause::Reason(Reason::Resignation))),
            Answer::Fault(fault) => Some((lost, Cause::Fault(fault))),
        }
    }

    fn end(self, (outcome, cause): (Outcome, Cause)) -> Played {
        let Running { number, game, opening, times } = self;
        let result = result_of(outcome, number);
        Played { number, game, opening, times, outcome, cause, result }
    }
}

impl Match {
    /// Plays all pairs on as many threads as `players` holds; games come in number order.
    /// Which thread plays a game changes nothing in it. `on_game` hears of each as it ends;
    /// when `stop` says so nothing more is played and what is unfinished is missing.
    ///
    /// # Errors
    /// When a player can no longer play, or panics; nobody plays on then.
    pub fn play<A: Player + Send, B: Player + Send>(
        &self,
        players: &mut [(A, B)],
        on_game: impl Fn(&Played) + Sync,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<Vec<Played>, PlayerError> {
        let numbers: Vec<u64> = (0..2 * self.pairs).collect();
        self.play_these(&numbers, players, on_game, stop)
    }

    /// The same of some of the games alone, by their numbers.
    ///
    /// # Errors
    /// Like [`Match::play`].
    pub fn play_these<A: Player + Send, B: Player + Send>(
        &self,
        numbers: &[u64],
        players: &mut [(A, B)],
        on_game: impl Fn(&Played) + Sync,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<Vec<Played>, PlayerError> {
        let next = AtomicUsize::new(0);
        let groups: Vec<&[u64]> = numbers.chunks(self.side_by_side).collect();
        let take = || groups.get(next.fetch_add(1, Ordering::Relaxed));
        let failed = AtomicBool::new(false);
        let stop = || stop() || failed.load(Ordering::Relaxed);
        let play_all = |(first, second): &mut (A, B)| {
            let mut played = Vec::new();
            while let Some(numbers) = take().filter(|_| !stop()) {
                played.extend(self.play_group(numbers, first, second, &on_game, &stop)?);
            }
            Ok(played)
        };
        let play_all = |pair: &mut (A, B)| {
            let played = caught("an arena thread", || play_all(pair));
            let played = played.unwrap_or_else(|panic| Err(PlayerError(panic.to_string())));
            played.inspect_err(|_| failed.store(true, Ordering::Relaxed))
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let play_all = &play_all;
            let threads: Vec<_> =
                players.iter_mut().map(|pair| scope.spawn(move || play_all(pair))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("what panics in a thread is caught there"))
                .collect()
        });
        let mut played: Vec<Played> =
            results.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        played.sort_by_key(|game| game.number);
        Ok(played)
    }

    /// Plays some games in lockstep, so that each player is asked for many moves at once.
    fn play_group(
        &self,
        numbers: &[u64],
        first: &mut impl Player,
        second: &mut impl Player,
        on_game: &impl Fn(&Played),
        stop: &impl Fn() -> bool,
    ) -> Result<Vec<Played>, PlayerError> {
        let mut running: Vec<Running> =
            numbers.iter().map(|&number| self.begin(number)).collect::<Result<_, _>>()?;
        let mut played = Vec::new();
        while !running.is_empty() && !stop() {
            let answers = ask(&mut running, first, second, stop)?;
            if stop() {
                break;
            }
            let mut still = Vec::with_capacity(running.len());
            for (mut one, answer) in running.into_iter().zip(answers) {
                match one.answer(answer) {
                    Some(ending) => {
                        let ended = one.end(ending);
                        on_game(&ended);
                        played.push(ended);
                    }
                    None => still.push(one),
                }
            }
            running = still;
        }
        Ok(played)
    }

    fn begin(&self, number: u64) -> Result<Running, PlayerError> {
        let game = self.opening(number / 2)?;
        Ok(Running { number, opening: game.ply(), game, times: Vec::new() })
    }

    /// The opening of a pair: its start, and random moves that do not end the game.
    fn opening(&self, pair: u64) -> Result<Game, PlayerError> {
        let mut rng = generator(self.seed, Purpose::Arena, pair);
        let start = &self.starts[(pair % self.starts.len() as u64) as usize];
        for _ in 0..OPENING_ATTEMPTS {
            let mut game = start.clone();
            game.set_ply_limit(Some(self.ply_limit));
            random_moves(&mut game, self.opening_plies, &mut rng);
            if game.conclusion().is_none() {
                return Ok(game);
            }
        }
        let plies = self.opening_plies;
        Err(PlayerError(format!(
            "no game goes on after an opening of {plies} random plies: take a shorter one"
        )))
    }
}

/// The colour the first player has in a game.
pub fn first_players_color(number: u64) -> Color {
    if number.is_multiple_of(2) { Color::Black } else { Color::White }
}

fn result_of(outcome: Outcome, number: u64) -> GameResult {
    match outcome {
        Outcome::Draw => GameResult::Draw,
        Outcome::Win(color) if color == first_players_color(number) => GameResult::Win,
        Outcome::Win(_) => GameResult::Loss,
    }
}

/// Asks each player for its answers, puts them in the order of the games, and notes how long each
/// took.
fn ask(
    running: &mut [Running],
    first: &mut impl Player,
    second: &mut impl Player,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Answer>, PlayerError> {
    let mut answers = vec![Answer::Resign; running.len()];
    for is_first in [true, false] {
        let mine = |one: &&Running| one.is_firsts_turn() == is_first;
        let turns: Vec<Turn<'_>> = running
            .iter()
            .filter(mine)
            .map(|one| Turn { game: &one.game, number: one.number, times: &one.times })
            .collect();
        if is_first {
            first.prepare(&turns)?
        } else {
            second.prepare(&turns)?
        }
        let began = Instant::now();
        let chosen =
            if is_first { first.choose(&turns, stop)? } else { second.choose(&turns, stop)? };
        let each = began.elapsed() / turns.len().max(1) as u32;
        assert_eq!(chosen.len(), turns.len(), "one answer for each turn");
        let places = running.iter_mut().zip(&mut answers);
        let mine = places.filter(|(one, _)| one.is_firsts_turn() == is_first);
        for ((one, answer), chosen) in mine.zip(chosen) {
            *answer = chosen;
            one.times.push(each);
        }
    }
    Ok(answers)
}

/// The pairs both of whose games were played, counted for the first player.
pub fn tally(played: &[Played]) -> PairTally {
    tally_of(played.iter().map(|game| (game.number, game.result)))
}

/// The same of results by the games' numbers, which ascend.
pub fn tally_of(results: impl IntoIterator<Item = (u64, GameResult)>) -> PairTally {
    let mut tally = PairTally::default();
    let mut waiting: Option<(u64, GameResult)> = None;
    for (number, result) in results {
        match waiting.take() {
            Some((one, first)) if one / 2 == number / 2 => tally.add(first, result),
            _ => waiting = Some((number, result)),
        }
    }
    tally
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Reason(reason) => write!(f, "{reason}"),
            Cause::Fault(fault) => write!(f, "{fault}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::IllegalMove => "illegal_move",
            Fault::Crash => "crash",
            Fault::Time => "time",
        })
    }
}
