//! Counting move sequences: the test of a move generator.

use crate::{Move, Position, Rules};

/// The number of sequences of `depth` legal moves.
///
/// ```
/// let rules = keiko_rules::Rules::load("minishogi")?;
/// assert_eq!(keiko_rules::perft(&rules, rules.start(), 3), 2512);
/// # Ok::<(), keiko_rules::RulesError>(())
/// ```
pub fn perft(rules: &Rules, position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut lists = vec![Vec::with_capacity(128); depth as usize - 1];
    count(rules, position, &mut lists)
}

/// For each legal move, the number of sequences of `depth` moves that begin with it.
pub fn divide(rules: &Rules, position: &Position, depth: u32) -> Vec<(Move, u64)> {
    let Some(rest) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let mut moves = Vec::new();
    rules.legal_moves(position, &mut moves);
    let after = |mv| {
        let mut next = *position;
        rules.play(&mut next, mv);
        perft(rules, &next, rest)
    };
    moves.into_iter().map(|mv| (mv, after(mv))).collect()
}

/// One list of moves for each ply above the last, which is counted without a list.
fn count(rules: &Rules, position: &Position, lists: &mut [Vec<Move>]) -> u64 {
    let Some((moves, deeper)) = lists.split_first_mut() else {
        return rules.count_moves(position);
    };
    rules.legal_moves(position, moves);
    let after = |&mv| {
        let mut next = *position;
        rules.play(&mut next, mv);
        count(rules, &next, deeper)
    };
    moves.iter().map(after).sum()
}
