//! Any text as what a GUI says in each protocol: every line is refused with a short message, or
//! understood, and the positions and moves in it are read or refused. The first byte chooses the
//! game.
#![no_main]
#![allow(dead_code)]

#[path = "../../../keiko/src/engine/cecp.rs"]
mod cecp;
#[path = "../../../keiko/src/engine/clock.rs"]
mod clock;
#[path = "../../../keiko/src/engine/command.rs"]
mod command;
#[path = "../../../keiko/src/position_line.rs"]
mod position_line;

use keiko_rules::{Game, Move, Position, Rules};
use libfuzzer_sys::fuzz_target;
use position_line::Notation;
use std::sync::{Arc, LazyLock};

static GAMES: LazyLock<Vec<Arc<Rules>>> = LazyLock::new(|| {
    let load = |name: &&str| Arc::new(Rules::load(name).expect("embedded variants load"));
    Rules::variants().iter().map(load).collect()
});

/// Longest message, for it is one line of a GUI's log.
const LONGEST: usize = 400;

fn usi(rules: &Arc<Rules>, line: &str, notation: Notation) {
    match command::parse(line, notation) {
        Ok(command::Command::Position(line)) => {
            let read = line.game(rules, notation);
            assert!(read.is_ok() || read.is_err_and(|problem| !problem.is_empty()));
            position(rules, line.start, &line.moves, notation);
        }
        Ok(command::Command::Go(go)) => {
            for side in 0..2 {
                let clock = clock::Clock {
                    movetime: go.movetime,
                    left: go.left[side],
                    increment: go.increments[side],
                    byoyomi: go.byoyomi,
                    moves_to_go: go.moves_to_go,
                };
                for overhead in [0, 20, u64::MAX] {
                    let time = clock.time_for_move(overhead);
                    assert!(time.is_none_or(|it| it.as_secs() <= 3600));
                }
            }
        }
        Ok(_) => {}
        Err(problem) => assert!(!problem.is_empty() && problem.len() < LONGEST, "{problem}"),
    }
}

fn position(rules: &Arc<Rules>, start: Option<String>, moves: &[String], notation: Notation) {
    let is_sfen = notation == Notation::Usi;
    let read = match &start {
        None => Some(*rules.start()),
        Some(sfen) if is_sfen => Position::from_sfen(rules, sfen).ok(),
        Some(fen) => Position::from_fen(rules, fen).ok(),
    };
    let Some(start) = read else { return };
    let again = Position::from_fen(rules, &start.to_fen(rules)).map(|it| it.to_fen(rules));
    assert_eq!(again.as_ref(), Ok(&start.to_fen(rules)));
    let mut game = Game::from_position(Arc::clone(rules), start);
    for text in moves {
        let position = *game.position();
        let mv = match is_sfen {
            true => Move::from_usi(rules, &position, text),
            false => Move::from_uci(rules, &position, text),
        };
        let Ok(mv) = mv else { return };
        let written = mv.to_uci(rules, &position);
        assert_eq!(Move::from_uci(rules, &position, &written), Ok(mv), "{written}");
        game.play(mv);
    }
}

fn xboard(rules: &Arc<Rules>, line: &str) {
    match cecp::parse(line) {
        Ok(cecp::Command::SetBoard(fen)) => position(rules, Some(fen), &[], Notation::Uci),
        Ok(cecp::Command::Move(text)) => {
            let _ = Move::from_uci(rules, rules.start(), &text).map_err(|it| it.to_string());
        }
        Ok(_) => {}
        Err(problem) => assert!(!problem.is_empty() && problem.len() < LONGEST, "{problem}"),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let rules = &GAMES[usize::from(first) % GAMES.len()];
    for line in String::from_utf8_lossy(rest).lines() {
        usi(rules, line.trim(), Notation::Usi);
        usi(rules, line.trim(), Notation::Uci);
        xboard(rules, line.trim());
    }
});
