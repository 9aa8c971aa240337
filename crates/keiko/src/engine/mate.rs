//! Forced wins for who asks about nothing else.

use super::core::{Watcher, Wish};
use keiko_rules::{Game, Move};
use keiko_selfplay::{MateSolver, ProofSolver, Verdict, Win};
use std::time::{Duration, Instant};

/// Positions of the first look; each look has twice as many as the one before.
const FIRST_LOOK: u64 = 20_000;

/// Positions of a look at most: they are remembered.
const LAST_LOOK: u64 = 20_000_000;

/// Longest win of which the shortest is looked for.
const PLIES: u16 = 31;

/// Positions looked at for each reply of a line that is written out.
const A_REPLY: u64 = 200_000;

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Mate {
    /// A win, with the longest defence.
    Found(Vec<Move>),
    /// There is none.
    None,
    /// It was not found out in time.
    Unknown,
}

/// Looks for a forced win, for so long if it is said how long.
pub(crate) fn mate(game: &Game, patience: Option<Duration>, watcher: &mut impl Watcher) -> Mate {
    if game.conclusion().is_some() {
        return Mate::None;
    }
    let (began, mut game) = (Instant::now(), game.clone());
    let mut nodes = FIRST_LOOK;
    while nodes <= LAST_LOOK {
        let look = Instant::now();
        match solve(&mut game, nodes) {
            Verdict::Win(win) => return Mate::Found(line(&mut game, win)),
            Verdict::NoWin => return Mate::None,
            Verdict::Unknown => {}
        }
        // The next look takes about twice as long.
        let late = patience.is_some_and(|it| began.elapsed() + 2 * look.elapsed() > it);
        if late || watcher.wish(patience.is_none()) != Wish::GoOn {
            break;
        }
        nodes *= 2;
    }
    Mate::Unknown
}

/// The shortest win there is, or one of any length.
fn solve(game: &mut Game, nodes: u64) -> Verdict {
    match MateSolver::default().solve(game, PLIES, nodes) {
        win @ Verdict::Win(_) => win,
        _ => ProofSolver::default().solve(game, nodes),
    }
}

/// A win written out, as far as it can be: the defender lasts as long as he can.
fn line(game: &mut Game, win: Win) -> Vec<Move> {
    let (mut moves, mut next) = (vec![win.mv], Some(win));
    while let Some(win) = next.take() {
        game.play(win.mv);
        if game.conclusion().is_some() {
            break;
        }
        if let Some((reply, win)) = longest_defence(game) {
            game.play(reply);
            moves.extend([reply, win.mv]);
            next = Some(win);
        }
    }
    moves
}

/// The reply that puts the end off longest, and the win behind it; `None` where the game ends or
/// too much would have to be searched.
fn longest_defence(game: &mut Game) -> Option<(Move, Win)> {
    let (mut replies, mut longest) = (Vec::new(), None::<(Move, Win)>);
    game.legal_moves(&mut replies);
    for reply in replies {
        game.play(reply);
        let verdict = match game.conclusion() {
            Some(_) => Verdict::NoWin,
            None => solve(game, A_REPLY),
        };
        game.undo();
        let Verdict::Win(win) = verdict else { return None };
        if longest.is_none_or(|(_, known)| win.plies > known.plies) {
            longest = Some((reply, win));
        }
    }
    longest
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::engine::report::Report;
    use keiko_rules::{Reason, Rules};
    use std::sync::Arc;

    struct Patient;

    impl Watcher for Patient {
        fn wish(&mut self, _waits: bool) -> Wish {
            Wish::GoOn
        }

        fn wait(&mut self) -> Wish {
            Wish::Answer
        }

        fn report(&mut self, _rules: &Rules, _report: &Report) {}
    }

    #[test]
    fn wins_are_written_out_to_the_mate() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        for (sfen, plies) in [("4k/5/3KP/5/5 b G 1", 1), ("4k/5/5/5/K1GSB b RGr2bsp 1", 0)] {
            let game = Game::from_sfen(Arc::clone(&rules), sfen).unwrap();
            let Mate::Found(moves) = mate(&game, Some(Duration::from_secs(20)), &mut Patient)
            else {
                assert_eq!(plies, 0, "{sfen}");
                continue;
            };
            let mut game = game;
            moves.iter().for_each(|&mv| game.play(mv));
            assert_eq!(game.ending().unwrap().reason, Reason::Mate, "{sfen}");
            assert!(plies == 0 || moves.len() == plies, "{sfen}");
        }
        let alone = Game::from_sfen(rules, "4k/5/5/5/K4 b - 1").unwrap();
        assert_eq!(mate(&alone, Some(Duration::from_secs(5)), &mut Patient), Mate::None);
    }
}
