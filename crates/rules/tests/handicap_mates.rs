//! Known truths of minishogi by full-width search: every move of both sides is tried, quiet ones
//! too.

#![allow(clippy::unwrap_used)]

use keiko_rules::{Move, Position, Rules};
use std::collections::HashMap;

/// A search for the shortest forced end, by position and plies.
struct FullWidth {
    rules: Rules,
    known: HashMap<(u64, u32), bool>,
    lists: Vec<Vec<Move>>,
}

impl FullWidth {
    fn new() -> FullWidth {
        let rules = Rules::load("minishogi").unwrap();
        FullWidth { rules, known: HashMap::new(), lists: vec![Vec::new(); 16] }
    }

    /// Whether the side to move, whatever it does, has no move left after at most so many plies.
    fn loses(&mut self, position: &Position, plies: u32) -> bool {
        if plies == 0 {
            return !self.rules.has_legal_move(position);
        }
        self.for_all(position, plies, |search, next| search.wins(next, plies - 1))
    }

    /// Whether the side to move can leave the other without a move within so many plies.
    fn wins(&mut self, position: &Position, plies: u32) -> bool {
        !self.for_all(position, plies, |search, next| !search.loses(next, plies - 1))
    }

    /// Whether something holds after every move; remembered.
    fn for_all(
        &mut self,
        position: &Position,
        plies: u32,
        holds: impl Fn(&mut FullWidth, &Position) -> bool,
    ) -> bool {
        let key = (position.key(), plies);
        // The last plies are faster searched than looked up.
        if let Some(&known) = self.known.get(&key).filter(|_| plies > 1) {
            return known;
        }
        let mut moves = std::mem::take(&mut self.lists[plies as usize]);
        self.rules.legal_moves(position, &mut moves);
        let checks = |mv: &Move| !self.rules.gives_check(position, *mv);
        if plies > 1 {
            moves.sort_by_key(checks);
        }
        let result = moves.iter().all(|&mv| {
            let mut next = *position;
            self.rules.play(&mut next, mv);
            holds(self, &next)
        });
        self.lists[plies as usize] = moves;
        if plies > 1 {
            self.known.insert(key, result);
        }
        result
    }

    /// The length of the shortest forced loss of the side to move from a handicap start.
    fn length(&mut self, handicap: &str) -> Option<u32> {
        let (_, sfen) = self.rules.handicaps().find(|(name, _)| *name == handicap).unwrap();
        let start = Position::from_sfen(&self.rules, sfen).unwrap();
        (0..=10).step_by(2).find(|&plies| self.loses(&start, plies))
    }
}

#[test]
fn the_naked_king_is_mated_in_exactly_8() {
    assert_eq!(FullWidth::new().length("naked-king"), Some(8));
}

#[test]
fn the_four_piece_handicap_is_mate_in_exactly_10() {
    assert_eq!(FullWidth::new().length("four-piece"), Some(10));
}
