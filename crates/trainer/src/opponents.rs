//! Players that need no network: the fixed marks that strength is measured by.

use crate::arena::{Answer, Player, PlayerError, Turn};
use keiko_rules::{Color, Game, Kind, Move, Outcome, Position, Role, Rules};
use keiko_selfplay::{Purpose, generator};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::fmt;

/// A player that needs no network, as it is called: `random`, `mate1`, `material:DEPTH`.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Opponent {
    /// Plays at random.
    Random,
    /// Mates in one, and plays at random otherwise.
    Mate,
    /// Looks so many plies ahead for material.
    Material(u32),
}

impl Opponent {
    /// One such player, with the seed of its choices.
    pub fn seat(self, rules: &Rules, seed: u64) -> Box<dyn Player + Send> {
        match self {
            Opponent::Random => Box::new(RandomPlayer { seed }),
            Opponent::Mate => Box::new(MatePlayer { seed }),
            Opponent::Material(depth) => Box::new(MaterialPlayer::new(rules, depth, seed)),
        }
    }
}

impl fmt::Display for Opponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Opponent::Random => write!(f, "random"),
            Opponent::Mate => write!(f, "mate1"),
            Opponent::Material(depth) => write!(f, "material:{depth}"),
        }
    }
}

/// The value of a won game, far above all material.
const WON: i32 = 1_000_000;

/// The generator of a player's choices at a turn: every move of every game has its own, since a ply
/// fits in 16 bits.
fn choices(seed: u64, turn: &Turn<'_>) -> ChaCha8Rng {
    generator(seed, Purpose::Play, turn.number << 16 | turn.game.ply() as u64)
}

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
    ) -> Result<Vec<Answer>, PlayerError> {
        let mut legal = Vec::new();
        let mut choose = |turn: &Turn<'_>| {
            turn.game.legal_moves(&mut legal);
            Answer::Move(legal[choices(self.seed, turn).random_range(0..legal.len())])
        };
        Ok(turns.iter().map(&mut choose).collect())
    }
}

/// Ends the game with a win where one move does that; else plays any legal move, each as likely as
/// another.
#[derive(Clone, Debug)]
pub struct MatePlayer {
    /// The seed of its choices.
    pub seed: u64,
}

impl Player for MatePlayer {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        _stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError> {
        let mut legal = Vec::new();
        let choose = |turn: &Turn<'_>| {
            let mut game = turn.game.clone();
            game.legal_moves(&mut legal);
            let winning = legal.iter().copied().find(|&mv| wins(&mut game, mv));
            let at = choices(self.seed, turn).random_range(0..legal.len());
            Answer::Move(winning.unwrap_or(legal[at]))
        };
        Ok(turns.iter().map(choose).collect())
    }
}

/// Whether a move wins at once.
fn wins(game: &mut Game, mv: Move) -> bool {
    let mover = game.side_to_move();
    game.play(mv);
    let won = game.conclusion().is_some_and(|ending| ending.outcome == Outcome::Win(mover));
    game.undo();
    won
}

/// Looks a fixed number of plies ahead, by alpha-beta search, for the most material. A piece is
/// worth as many squares as it reaches on an empty board on average; in the hand as much as its
/// front. Moves that are equally good are as likely.
#[derive(Clone, Debug)]
pub struct MaterialPlayer {
    depth: u32,
    seed: u64,
    /// By role, in hundredths of a square.
    values: Vec<i32>,
    /// What may lie in a hand, each worth its front.
    kinds: Vec<Kind>,
}

impl MaterialPlayer {
    /// A player of a game that looks `depth` plies ahead.
    pub fn new(rules: &Rules, depth: u32, seed: u64) -> MaterialPlayer {
        // Who loses the royal piece loses the game, which is worth more than any material.
        let value = |role| match rules.is_royal(role) {
            true => 0,
            false => (100.0 * rules.mean_reach(role)).round() as i32,
        };
        let (values, kinds) = (rules.roles().map(value).collect(), rules.kinds().collect());
        MaterialPlayer { depth, seed, values, kinds }
    }

    /// The best move. All are tried in random order, and only a better one replaces another.
    fn best(&self, turn: &Turn<'_>, stop: &dyn Fn() -> bool) -> Answer {
        let mut game = turn.game.clone();
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        moves.shuffle(&mut choices(self.seed, turn));
        self.sort(game.position(), &mut moves);
        let (mut best, mut value) = (moves[0], -2 * WON);
        for mv in moves {
            if stop() {
                break;
            }
            game.play(mv);
            let found = -self.search(&mut game, self.depth - 1, -2 * WON, -value);
            game.undo();
            if found > value {
                (best, value) = (mv, found);
            }
        }
        Answer::Move(best)
    }

    /// The value for the side to move, if it lies between two bounds; else one that is beyond the
    /// same bound.
    fn search(&self, game: &mut Game, depth: u32, mut low: i32, high: i32) -> i32 {
        if let Some(ending) = game.conclusion() {
            // The sooner a game is won the better: with more depth left.
            return match ending.outcome {
                Outcome::Draw => 0,
                Outcome::Win(side) if side == game.side_to_move() => WON + depth as i32,
                Outcome::Win(_) => -WON - depth as i32,
            };
        }
        if depth == 0 {
            return self.material(game.position());
        }
        let mut moves = Vec::new();
        game.legal_moves(&mut moves);
        self.sort(game.position(), &mut moves);
        for mv in moves {
            game.play(mv);
            let value = -self.search(game, depth - 1, -high, -low);
            game.undo();
            low = low.max(value);
            if low >= high {
                break;
            }
        }
        low
    }

    /// Puts captures first, of the most valuable pieces: what is found early spares most.
    fn sort(&self, position: &Position, moves: &mut [Move]) {
        let taken = |mv: &Move| position.piece_at(mv.to()).map_or(0, |it| self.value(it.role));
        moves.sort_by_key(|mv| -taken(mv));
    }

    fn value(&self, role: Role) -> i32 {
        self.values[role.index()]
    }

    /// The material of the side to move, less that of the other.
    fn material(&self, position: &Position) -> i32 {
        let sum = |color: Color| self.material_of(position, color);
        sum(position.side_to_move()) - sum(position.side_to_move().opponent())
    }

    fn material_of(&self, position: &Position, color: Color) -> i32 {
        let board: i32 = position
            .of_color(color)
            .iter()
            .filter_map(|square| position.piece_at(square))
            .map(|piece| self.value(piece.role))
            .sum();
        // Fronts are the first roles, in the order of the kinds.
        let held = |kind: &Kind| i32::from(position.hand(color, *kind)) * self.values[kind.index()];
        board + self.kinds.iter().map(held).sum::<i32>()
    }
}

impl Player for MaterialPlayer {
    fn choose(
        &mut self,
        turns: &[Turn<'_>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Answer>, PlayerError> {
        Ok(turns.iter().map(|turn| self.best(turn, stop)).collect())
    }
}
