//! The arena: pairs of games, colours swapped, from varied openings.

use crate::elo::{GameResult, PairTally};
use crate::panics::caught;
use keiko_rules::{Color, Ending, Game, Move, Outcome, Rules};
use keiko_selfplay::{
    Evaluator, Purpose, Search, SearchConfig, generator, random_moves, search_together,
};
use rand::RngExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Openings tried for a pair before it is given up.
const OPENING_ATTEMPTS: u32 = 1000;

/// A game that waits for a move, with the number that fixes whatever is random about it.
#[derive(Copy, Clone, Debug)]
pub struct Turn<'a> {
    /// The game.
    pub game: &'a Game,
    /// Its number in the match.
    pub number: u64,
}

/// Somebody who can be asked for moves, in many games at once.
pub trait Player {
    /// One move for each turn; `None` resigns the game. Once `stop` says so the moves are of no
    /// consequence: any answer will do, soon.
    ///
    /// # Errors
    /// When the player can no longer play at all; its text says why.
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Move>>, PlayerError>;
}

/// Why a player cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlayerError(pub String);

/// Plays any legal move, each as likely as another.
#[derive(Clone, Debug)]
pub struct RandomPlayer {
    /// The seed of its choices.
    pub seed: u64,
}

impl Player for RandomPlayer {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        _stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Move>>, PlayerError> {
        let mut legal = Vec::new();
        let mut choose = |turn: &Turn<'_>| {
            // The ply fits in 16 bits, so every move of every game has a generator of its own.
            let number = turn.number << 16 | turn.game.ply() as u64;
            turn.game.legal_moves(&mut legal);
            let at = generator(self.seed, Purpose::Play, number).random_range(0..legal.len());
            Some(legal[at])
        };
        Ok(turns.iter().map(&mut choose).collect())
    }
}

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
    ) -> Result<Vec<Option<Move>>, PlayerError> {
        let budget = self.search.budget(self.simulations, 0.0);
        let begin = |turn: &Turn<'_>| {
            let mut search = Search::new(turn.game.clone(), self.search);
            search.begin(budget, &mut generator(0, Purpose::Play, turn.number));
            search
        };
        let mut searches: Vec<Search> = turns.iter().map(begin).collect();
        search_together(&mut searches, &mut self.evaluator, stop);
        if stop() {
            return Ok(vec![None; turns.len()]);
        }
        Ok(searches.iter_mut().map(|search| Some(search.finish().mv)).collect())
    }
}

/// What both games of every pair have in common.
#[derive(Clone, Debug)]
pub struct Match {
    /// The law.
    pub rules: Arc<Rules>,
    /// The seed of the openings.
    pub seed: u64,
    /// Number of pairs.
    pub pairs: u64,
    /// Random legal moves each pair begins with.
    pub opening_plies: u32,
    /// A game of this many plies is a draw.
    pub ply_limit: u32,
    /// Games played side by side by one pair of players.
    pub side_by_side: u64,
}

/// A game of a match that has ended.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its number: pair `number / 2`; the first player is Black in even games.
    pub number: u64,
    /// The game.
    pub game: Game,
    /// How it ended; a resigned game, or one with an illegal move, ends without one.
    pub ending: Option<Ending>,
    /// The result for the first player.
    pub result: GameResult,
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
        let next = AtomicU64::new(0);
        let games = 2 * self.pairs;
        let take = || {
            let first = next.fetch_add(self.side_by_side, Ordering::Relaxed);
            (first < games).then(|| first..(first + self.side_by_side).min(games))
        };
        let failed = AtomicBool::new(false);
        let stop = || stop() || failed.load(Ordering::Relaxed);
        let play_all = |(first, second): &mut (A, B)| {
            let mut played = Vec::new();
            while let Some(numbers) = take() {
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
        numbers: std::ops::Range<u64>,
        first: &mut impl Player,
        second: &mut impl Player,
        on_game: &impl Fn(&Played),
        stop: &impl Fn() -> bool,
    ) -> Result<Vec<Played>, PlayerError> {
        let mut running: Vec<(u64, Game)> = numbers
            .map(|number| Ok((number, self.opening(number / 2)?)))
            .collect::<Result<_, PlayerError>>()?;
        let mut played = Vec::new();
        let mut end = |number, game, ending, result| {
            let one = Played { number, game, ending, result };
            on_game(&one);
            played.push(one);
        };
        while !running.is_empty() && !stop() {
            let moves = ask(&running, first, second, stop)?;
            if stop() {
                break;
            }
            let mut still = Vec::with_capacity(running.len());
            for ((number, mut game), mv) in running.into_iter().zip(moves) {
                let mover = game.side_to_move();
                match mv {
                    Some(mv) if game.rules().is_legal(game.position(), mv) => game.play(mv),
                    // Resigned, or illegal: lost at once.
                    _ => {
                        end(number, game, None, result_of(Outcome::Win(mover.opponent()), number));
                        continue;
                    }
                }
                match game.conclusion() {
                    Some(ending) => {
                        end(number, game, Some(ending), result_of(ending.outcome, number))
                    }
                    None => still.push((number, game)),
                }
            }
            running = still;
        }
        Ok(played)
    }

    /// The opening of a pair: random moves that do not end the game.
    fn opening(&self, pair: u64) -> Result<Game, PlayerError> {
        let mut rng = generator(self.seed, Purpose::Arena, pair);
        for _ in 0..OPENING_ATTEMPTS {
            let mut game = Game::new(Arc::clone(&self.rules));
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

/// Asks each player for its moves, and puts them in the order of the games.
fn ask(
    running: &[(u64, Game)],
    first: &mut impl Player,
    second: &mut impl Player,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Option<Move>>, PlayerError> {
    let firsts_turn =
        |&(number, ref game): &(u64, Game)| game.side_to_move() == first_players_color(number);
    let turns_of = |of_first: bool| -> Vec<Turn<'_>> {
        let mine = running.iter().filter(|one| firsts_turn(one) == of_first);
        mine.map(|&(number, ref game)| Turn { game, number }).collect()
    };
    let mut firsts = first.choose(&turns_of(true), stop)?.into_iter();
    let mut seconds = second.choose(&turns_of(false), stop)?.into_iter();
    let next = |one| if firsts_turn(one) { firsts.next() } else { seconds.next() };
    Ok(running.iter().map(next).map(|mv| mv.expect("one move for each turn")).collect())
}

/// The pairs both of whose games were played, counted for the first player.
pub fn tally(played: &[Played]) -> PairTally {
    let mut tally = PairTally::default();
    for pair in played.chunk_by(|a, b| a.number / 2 == b.number / 2) {
        if let [one, other] = pair {
            tally.add(one.result, other.result);
        }
    }
    tally
}
