//! Positions that were judged wrongly, to begin games from again.

use crate::{GameRecord, Start, StartKind, Wdl};

/// Plies that were left of the earlier game, so that there is something to play.
const PLIES_LEFT: usize = 4;

/// Starts from the positions of these games whose searches were most wrong about the result: one
/// of each game, so many of all at most, the worst first.
pub fn archive<'a>(games: impl IntoIterator<Item = &'a GameRecord>, most: usize) -> Vec<Start> {
    let mut found: Vec<(f32, &GameRecord, usize)> = games
        .into_iter()
        .filter_map(|game| game.most_wrong().map(|(wrong, index)| (wrong, game, index)))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.iter().take(most).map(|&(_, game, index)| game.start_before(index)).collect()
}

impl GameRecord {
    /// The open position whose search was furthest from the result, and how far, in score.
    fn most_wrong(&self) -> Option<(f32, usize)> {
        let is_open = |&index: &usize| {
            self.plies[index].proof.is_none() && self.plies_left(index) >= PLIES_LEFT
        };
        let wrong = |index: usize| {
            let result = Wdl::of(self.ending.outcome, self.side_at(index));
            ((self.plies[index].root.score() - result.score()).abs(), index)
        };
        let open = (0..self.plies.len()).filter(is_open).map(wrong);
        open.reduce(|worst, next| if next.0 > worst.0 { next } else { worst })
    }

    /// This game up to ply `index`, not played any more: its moves keep the repetition state.
    fn start_before(&self, index: usize) -> Start {
        let played = self.plies[..index].iter().map(|ply| ply.mv);
        Start {
            kind: StartKind::Archive,
            sfen: self.start.sfen.clone(),
            opening: self.start.opening.iter().copied().chain(played).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ply, Proof, samples};
    use keiko_rules::{Move, Reason, Square};

    /// A game won by Black, who moved first, after an opening move, with these opinions.
    fn game(scores: &[f32]) -> GameRecord {
        let mv = |number: usize| {
            let (from, to) = (Square::new(number), Square::new(20));
            Move::Board { from, to, turns: false }
        };
        let ply = |(index, &score): (usize, &f32)| Ply {
            mv: mv(index + 1),
            root: Wdl { win: score, draw: 0.0, loss: 1.0 - score },
            ..samples::ply()
        };
        let mut game = samples::game(scores.iter().enumerate().map(ply).collect());
        game.start.opening = vec![mv(0)];
        game
    }

    #[test]
    fn games_begin_again_where_they_were_most_wrong() {
        // White is to move at even plies and loses: its score is the error, one less Black's is.
        let mild = game(&[0.5, 0.75, 0.25, 0.9, 0.9, 0.0, 0.9]);
        let wrong = game(&[0.5, 0.5, 0.9, 0.05, 0.3, 0.2, 0.9, 0.0]);
        let short = game(&[0.9, 0.0, 0.9]);
        let cut = |game: &GameRecord, index: usize| game.start_before(index);
        // Ply 3 of the second, 0.95, before ply 0 of the first, 0.5; the last three never count.
        let found = archive([&mild, &short, &wrong], 10);
        assert_eq!(found, [cut(&wrong, 3), cut(&mild, 0)]);
        let plies = wrong.plies[..3].iter().map(|ply| ply.mv);
        let moves: Vec<Move> = wrong.start.opening.iter().copied().chain(plies).collect();
        assert_eq!((found[0].kind, &found[0].opening), (StartKind::Archive, &moves));
        assert_eq!(archive([&mild, &short, &wrong], 1), [cut(&wrong, 3)]);
        // What is proven has nothing to find out any more.
        let mut proven = wrong.clone();
        proven.plies[3].proof = Some(Proof::Win(9));
        assert_eq!(archive([&proven], 10), [cut(&wrong, 2)]);
        // Plies that a proof spared were left to play.
        let mut spared = short.clone();
        spared.plies[2].proof = Some(Proof::Loss(3));
        spared.ending.reason = Reason::Proven;
        assert_eq!(archive([&spared], 10), [cut(&short, 1)]);
    }
}
