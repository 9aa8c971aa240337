//! The shortest win by search over all moves of both sides. The search of the tree knows wins by
//! checks alone, which may be longer; where a game is nearly won, this finds what is quicker.

use keiko_rules::{Game, Move, Outcome, Position, Rules};
use keiko_selfplay::Win;
use std::collections::{HashMap, HashSet};

/// A search by position and plies left, which remembers.
struct FullWidth<'a> {
    rules: &'a Rules,
    /// Positions that the game has had: whoever wins need not come back to them.
    earlier: HashSet<u64>,
    known: HashMap<(u64, u16), bool>,
    nodes: u64,
    limit: u64,
}

/// The shortest win of the side to move within `plies`, visiting at most `nodes` positions.
pub(crate) fn shortest_win(game: &Game, plies: u16, nodes: u64) -> Option<Win> {
    let (mut past, mut earlier) = (game.clone(), HashSet::new());
    while past.undo().is_some() {
        earlier.insert(past.position().key());
    }
    let rules = game.rules();
    let mut search = FullWidth { rules, earlier, known: HashMap::new(), nodes: 0, limit: nodes };
    let position = game.position();
    (1..=plies).step_by(2).find_map(|within| {
        let mv = search.moves(position, within).into_iter().find(|&mv| {
            let next = search.after(position, mv);
            search.loses(&next, within - 1)
        });
        // What was cut short has proven nothing.
        mv.filter(|_| !search.is_spent()).map(|mv| Win { mv, plies: within })
    })
}

impl FullWidth<'_> {
    fn is_spent(&self) -> bool {
        self.nodes >= self.limit
    }

    fn after(&self, position: &Position, mv: Move) -> Position {
        let mut next = *position;
        self.rules.play(&mut next, mv);
        next
    }

    /// The moves worth trying with so many plies left, checks first: with one left, nothing else
    /// wins where check is known.
    fn moves(&self, position: &Position, left: u16) -> Vec<Move> {
        let mut moves = Vec::new();
        if left == 1 && self.rules.has_check() {
            self.rules.checks(position, &mut moves);
            return moves;
        }
        self.rules.legal_moves(position, &mut moves);
        moves.sort_by_key(|&mv| !self.rules.gives_check(position, mv));
        moves
    }

    /// Whether the side to move has lost within so many plies, whatever it does.
    fn loses(&mut self, position: &Position, left: u16) -> bool {
        self.nodes += 1;
        if let Some(ending) = self.rules.ending(position) {
            return ending.outcome == Outcome::Win(position.side_to_move().opponent());
        }
        if left < 2 || self.is_spent() || self.earlier.contains(&position.key()) {
            return false;
        }
        self.remember(position, left, |search, position| {
            let mut replies = Vec::new();
            search.rules.legal_moves(position, &mut replies);
            replies.into_iter().all(|mv| {
                let next = search.after(position, mv);
                search.wins(&next, left - 1)
            })
        })
    }

    /// Whether the side to move wins within so many plies.
    fn wins(&mut self, position: &Position, left: u16) -> bool {
        if let Some(ending) = self.rules.ending(position) {
            return ending.outcome == Outcome::Win(position.side_to_move());
        }
        self.remember(position, left, |search, position| {
            search.moves(position, left).into_iter().any(|mv| {
                let next = search.after(position, mv);
                search.loses(&next, left - 1)
            })
        })
    }

    fn remember(
        &mut self,
        position: &Position,
        left: u16,
        answer: impl Fn(&mut Self, &Position) -> bool,
    ) -> bool {
        let key = (position.key(), left);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let found = answer(self, position);
        if !self.is_spent() {
            self.known.insert(key, found);
        }
        found
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn quiet_moves_win_the_naked_king_as_soon_as_can_be() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        let mut game = Game::from_sfen(Arc::clone(&rules), "4k/5/5/P4/KGSBR w - 1").unwrap();
        game.play(Move::from_usi(&rules, game.position(), "1a2b").unwrap());
        assert_eq!(shortest_win(&game, 5, 100_000_000), None);
        assert_eq!(shortest_win(&game, 9, 10), None, "too few positions");
        let near = Game::from_sfen(rules, "4k/5/4P/5/K4 b G 1").unwrap();
        assert_eq!(shortest_win(&near, 3, 1000).unwrap().plies, 1);
    }
}
