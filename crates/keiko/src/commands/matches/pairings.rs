//! Who meets whom, and which games are whose.

/// Which two players meet, by their numbers, and how their games are numbered: a pair of games of
/// each pairing in turns, so that more games can be added behind.
pub(super) struct Pairings(Vec<[usize; 2]>);

impl Pairings {
    /// Each player against each later one; of a gauntlet the first one against each other.
    pub(super) fn new(players: usize, is_gauntlet: bool) -> Pairings {
        let first = if is_gauntlet { 0..1 } else { 0..players };
        Pairings(first.flat_map(|one| (one + 1..players).map(move |other| [one, other])).collect())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The two players of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = [usize; 2]> {
        self.0.iter().copied()
    }

    /// The number in the whole match of a pairing's game.
    pub(super) fn number(&self, pairing: usize, game: u64) -> u64 {
        2 * (game / 2 * self.0.len() as u64 + pairing as u64) + game % 2
    }

    /// The pairing that a game of the whole match belongs to.
    pub(super) fn of(&self, number: u64) -> usize {
        (number / 2 % self.0.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_game_has_a_number_of_its_own() {
        let all = Pairings::new(4, false);
        assert_eq!(all.0, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(Pairings::new(4, true).0, [[0, 1], [0, 2], [0, 3]]);
        let mut numbers = Vec::new();
        for pairing in 0..all.len() {
            for game in 0..4 {
                let number = all.number(pairing, game);
                assert_eq!((all.of(number), number % 2), (pairing, game % 2));
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..24).collect::<Vec<_>>());
        // Two players' games have the numbers that they have alone.
        assert!((0..9).all(|game| Pairings::new(2, false).number(0, game) == game));
    }
}
