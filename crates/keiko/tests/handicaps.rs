//! The engine mates as soon as can be where that is known: against the naked king and the
//! four-piece handicap of minishogi, whatever the defender's first move, and the longest defence
//! by exhaustive search.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Move, Position, Rules};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

const NETWORK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../checkpoints/published/minishogi");

/// Simulations a move.
const SIMULATIONS: u32 = 20_000;

/// Answers by search over all moves of both sides, remembered by position and plies.
struct FullWidth {
    rules: Arc<Rules>,
    known: HashMap<(u64, u32), bool>,
}

impl FullWidth {
    /// Whether the side to move, whatever it does, has no move left after at most so many plies.
    fn loses(&mut self, position: &Position, plies: u32) -> bool {
        if plies == 0 {
            return !self.rules.has_legal_move(position);
        }
        self.for_all(position, plies, |search, next| search.wins(next, plies - 1))
    }

    /// Whether the side to move can leave the other without a move within so many plies.
    fn wins(&mut self, position: &Position, plies: u32) -> bool {
        plies > 0 && !self.for_all(position, plies, |search, next| !search.loses(next, plies - 1))
    }

    fn for_all(
        &mut self,
        position: &Position,
        plies: u32,
        holds: impl Fn(&mut FullWidth, &Position) -> bool,
    ) -> bool {
        let key = (position.key(), plies);
        if let Some(&known) = self.known.get(&key).filter(|_| plies > 1) {
            return known;
        }
        let mut moves = Vec::new();
        self.rules.legal_moves(position, &mut moves);
        if plies > 1 {
            moves.sort_by_key(|&mv| !self.rules.gives_check(position, mv));
        }
        let rules = Arc::clone(&self.rules);
        let result = moves.iter().all(|&mv| {
            let mut next = *position;
            rules.play(&mut next, mv);
            holds(self, &next)
        });
        if plies > 1 {
            self.known.insert(key, result);
        }
        result
    }

    /// The reply that puts the mate off longest, or for ever, looking so far.
    fn longest_defence(&mut self, position: &Position, plies: u32) -> Move {
        let mut moves = Vec::new();
        self.rules.legal_moves(position, &mut moves);
        let rules = Arc::clone(&self.rules);
        let mut length = |mv: &Move| {
            let mut next = *position;
            rules.play(&mut next, *mv);
            (1..=plies).step_by(2).find(|&it| self.wins(&next, it)).unwrap_or(u32::MAX)
        };
        moves.into_iter().max_by_key(|mv| length(mv)).unwrap()
    }
}

struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn start() -> Engine {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keiko"))
            .args(["engine", "--network", NETWORK])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Engine { child, input, output: BufReader::new(output) }
    }

    fn best_move(&mut self, game: &Game) -> String {
        let moves: Vec<String> = game.moves().map(|mv| mv.to_usi(game.rules())).collect();
        let (start, moves) = (game.start_sfen(), moves.join(" "));
        writeln!(self.input, "position sfen {start} moves {moves}").unwrap();
        writeln!(self.input, "go nodes {SIMULATIONS}").unwrap();
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            if let Some(mv) = line.strip_prefix("bestmove ") {
                return mv.trim().to_owned();
            }
            line.clear();
        }
        panic!("the engine has ended");
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        drop(writeln!(self.input, "quit"));
        drop(self.child.wait());
    }
}

/// Plays every first move of the defender out; the mate must come within so many plies.
fn mates_within(handicap: &str, plies: u32) {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let (_, sfen) = rules.handicaps().find(|(name, _)| *name == handicap).unwrap();
    let start = Position::from_sfen(&rules, sfen).unwrap();
    let mut search = FullWidth { rules: Arc::clone(&rules), known: HashMap::new() };
    let mut first_moves = Vec::new();
    rules.legal_moves(&start, &mut first_moves);
    let (mut engine, mut late) = (Engine::start(), Vec::new());
    for first in first_moves {
        let mut game = Game::from_position(Arc::clone(&rules), start);
        game.play(first);
        while game.ending().is_none() && game.ply() < plies as usize + 4 {
            let mv = engine.best_move(&game);
            game.play(Move::from_usi(&rules, game.position(), &mv).unwrap());
            if game.ending().is_none() {
                let left = plies.saturating_sub(game.ply() as u32).max(2);
                game.play(search.longest_defence(game.position(), left));
            }
        }
        let moves: Vec<String> = game.moves().map(|mv| mv.to_usi(&rules)).collect();
        println!("{handicap}: {} plies: {}", game.ply(), moves.join(" "));
        if game.ply() > plies as usize {
            late.push(moves.join(" "));
        }
    }
    assert!(late.is_empty(), "{handicap}, later than ply {plies}:\n{}", late.join("\n"));
}

#[test]
fn the_naked_king_is_mated_by_ply_8() {
    mates_within("naked-king", 8);
}

#[test]
fn the_four_piece_handicap_is_mate_by_ply_10() {
    mates_within("four-piece", 10);
}
