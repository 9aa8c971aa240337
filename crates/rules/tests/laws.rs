//! Laws that hold in every variant, tried on random games.

#![allow(clippy::unwrap_used)]

use keiko_rules::{Color, Game, Move, Position, Role, Rules, Square};
use std::collections::HashSet;
use std::sync::Arc;

/// A small generator (splitmix64), so that the games are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }
}

/// Plays random games of every variant and shows every position on the way.
fn visit(games: usize, check: impl Fn(&Game, &[Move], &mut Dice)) {
    for name in Rules::variants() {
        let rules = Arc::new(Rules::load(name).unwrap());
        let mut dice = Dice(rules.hash());
        for number in 0..games {
            let starts: Vec<&str> =
                rules.handicaps().map(|(_, sfen)| sfen).chain([rules.start_sfen()]).collect();
            let start = starts[number % starts.len()];
            let mut game = Game::from_sfen(rules.clone(), start).unwrap();
            game.set_ply_limit(Some(120));
            let mut moves = Vec::new();
            loop {
                game.legal_moves(&mut moves);
                check(&game, &moves, &mut dice);
                if game.ending().is_some() {
                    break;
                }
                game.play(moves[dice.below(moves.len())]);
            }
        }
    }
}

/// A position's text, move number left out.
fn text(game: &Game) -> String {
    let sfen = game.position().to_sfen(game.rules());
    sfen.rsplit_once(' ').unwrap().0.to_owned()
}

/// The squares of an SFEN's board, as texts: pieces, and dots for empty squares.
fn cells(board: &str) -> Vec<Vec<String>> {
    let rank = |text: &str| {
        let mut cells: Vec<String> = Vec::new();
        let mut plus = "";
        for letter in text.chars() {
            match letter {
                '+' => plus = "+",
                digit if digit.is_ascii_digit() => {
                    cells.extend((0..digit.to_digit(10).unwrap()).map(|_| ".".to_owned()));
                }
                letter => {
                    cells.push(format!("{plus}{letter}"));
                    plus = "";
                }
            }
        }
        cells
    };
    board.split('/').map(rank).collect()
}

fn board(cells: &[Vec<String>]) -> String {
    let rank = |row: &Vec<String>| row.concat().replace('.', "1");
    // Runs of empty squares, longest first, as one number each.
    let mut text = cells.iter().map(rank).collect::<Vec<_>>().join("/");
    for length in (2..=9).rev() {
        text = text.replace(&"1".repeat(length), &length.to_string());
    }
    text
}

fn swap_case(text: &str) -> String {
    let swap = |letter: char| match letter.is_ascii_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    text.chars().map(swap).collect()
}

fn set(moves: impl IntoIterator<Item = Move>) -> HashSet<Move> {
    moves.into_iter().collect()
}

fn legal(rules: &Rules, position: &Position) -> Vec<Move> {
    let mut moves = Vec::new();
    rules.legal_moves(position, &mut moves);
    moves
}

#[test]
fn undo_restores_every_bit() {
    visit(8, |game, moves, _| {
        let mut copy = game.clone();
        for &mv in moves {
            copy.play(mv);
            assert_eq!(copy.undo(), Some(mv));
            assert_eq!(copy.position(), game.position());
            assert_eq!(copy.repetition(), game.repetition());
            assert_eq!(copy.in_check(), game.in_check());
            assert_eq!(copy.ply(), game.ply());
        }
        assert_eq!(copy.ending(), game.ending());
        assert!(copy.moves().eq(game.moves()));
    });
}

#[test]
fn notation_goes_there_and_back() {
    visit(8, |game, moves, _| {
        let (rules, position) = (game.rules(), game.position());
        let read = Position::from_sfen(rules, &position.to_sfen(rules)).unwrap();
        // Equality includes the key: summed from scratch here, move by move there.
        assert_eq!(read, *position);
        for &mv in moves {
            assert_eq!(Move::from_usi(rules, position, &mv.to_usi(rules)), Ok(mv));
        }
    });
}

#[test]
fn the_ways_to_ask_for_moves_agree() {
    visit(4, |game, moves, _| {
        let (rules, position) = (game.rules(), game.position());
        assert_eq!(set(moves.iter().copied()).len(), moves.len(), "no move twice");
        assert_eq!(rules.has_legal_move(position), !moves.is_empty());
        assert_eq!(rules.count_moves(position), moves.len() as u64);
        assert_eq!(rules.ending(position).is_some(), moves.is_empty());
        let turned = |square: Square| Square::new(rules.squares() - 1 - square.index());
        let seen = |(role, mv): (Role, Move)| match (position.side_to_move(), mv) {
            (Color::Black, mv) => (role, mv),
            (_, Move::Drop { role, to }) => (role, Move::Drop { role, to: turned(to) }),
            (_, Move::Board { from, to, turns }) => {
                (role, Move::Board { from: turned(from), to: turned(to), turns })
            }
        };
        let fits = |(role, mv): &(Role, Move)| match mv {
            Move::Drop { .. } => true,
            Move::Board { from, .. } => {
                position.piece_at(*from).is_some_and(|piece| piece.role == *role)
            }
        };
        let conceivable = rules.conceivable_moves().into_iter().map(seen).filter(fits);
        let one_by_one = conceivable.map(|(_, mv)| mv).filter(|&mv| rules.is_legal(position, mv));
        assert_eq!(set(one_by_one), set(moves.iter().copied()));
    });
}

#[test]
fn check_is_what_would_capture() {
    visit(8, |game, moves, _| {
        let (rules, position) = (game.rules(), game.position());
        let sides = if text(game).contains(" b ") { (" b ", " w ") } else { (" w ", " b ") };
        let passed = text(game).replace(sides.0, sides.1);
        if rules.has_check() {
            assert_eq!(Position::from_sfen(rules, &passed).is_err(), game.in_check());
            return;
        }
        let Some(royal) = position.royal(position.side_to_move()) else {
            return;
        };
        if moves.is_empty() {
            return;
        }
        let passed = Position::from_sfen(rules, &passed).unwrap();
        if rules.ending(&passed).is_none() {
            let taken = legal(rules, &passed).iter().any(|mv| mv.to() == royal);
            assert_eq!(taken, game.in_check());
        }
    });
}

/// The letters of a piece's mirror image, or the text itself where it is no piece.
fn mirrored_name(rules: &Rules, name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    let Some(role) = rules.roles().find(|&role| rules.role_name(role) == upper) else {
        return name.to_owned();
    };
    let mirrored = rules.role_name(rules.mirror_role(role));
    if name == upper { mirrored.to_owned() } else { mirrored.to_ascii_lowercase() }
}

#[test]
fn checks_and_evasions_are_the_legal_moves_that_do_so() {
    let (checking, evading) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    visit(12, |game, moves, _| {
        let (rules, position) = (game.rules(), game.position());
        let (mut checks, mut evasions) = (Vec::new(), Vec::new());
        rules.checks(position, &mut checks);
        rules.evasions(position, &mut evasions);
        let after = |mv: Move| {
            let mut next = *position;
            rules.play(&mut next, mv);
            next
        };
        let side = position.side_to_move();
        let is_safe = |next: &Position| {
            let royal = next.royal(side).unwrap();
            !rules.is_attacked(next, royal, side.opponent())
        };
        let expected = moves.iter().copied().filter(|&mv| rules.in_check(&after(mv)));
        assert_eq!(set(checks.iter().copied()), set(expected), "{}", text(game));
        assert!(moves.iter().all(|&mv| rules.gives_check(position, mv) == checks.contains(&mv)));
        let expected = moves.iter().copied().filter(|&mv| game.in_check() && is_safe(&after(mv)));
        assert_eq!(set(evasions.iter().copied()), set(expected), "{}", text(game));
        checking.set(checking.get() + checks.len());
        evading.set(evading.get() + evasions.len());
    });
    assert!(checking.get() > 1000 && evading.get() > 1000, "{checking:?} {evading:?}");
}

#[test]
fn mirror_images_agree() {
    visit(8, |game, moves, _| {
        let (rules, sfen) = (game.rules(), text(game));
        assert!(rules.is_mirror_symmetric(), "{}", rules.name());
        let (there, rest) = sfen.split_once(' ').unwrap();
        let mut cells = cells(there);
        cells.iter_mut().for_each(|row| row.reverse());
        // Pieces that are each other's mirror image change places as well.
        cells.iter_mut().flatten().for_each(|cell| *cell = mirrored_name(rules, cell));
        let rest: Vec<String> =
            rest.chars().map(|c| mirrored_name(rules, &c.to_string())).collect();
        let mirrored = format!("{} {}", board(&cells), rest.concat());
        let mirrored = Position::from_sfen(rules, &mirrored).unwrap();

        let expected = set(moves.iter().map(|&mv| rules.mirror_move(mv)));
        assert_eq!(set(legal(rules, &mirrored)), expected);
        assert_eq!(rules.in_check(&mirrored), game.in_check());
        assert_eq!(rules.ending(&mirrored), rules.ending(game.position()));
    });
}

#[test]
fn the_sides_have_the_same_rights() {
    visit(8, |game, moves, _| {
        let (rules, sfen) = (game.rules(), text(game));
        let fields: Vec<&str> = sfen.split(' ').collect();
        let mut cells = cells(fields[0]);
        cells.reverse();
        cells.iter_mut().for_each(|row| row.reverse());
        let side = if fields[1] == "b" { "w" } else { "b" };
        let swapped = format!("{} {side} {}", swap_case(&board(&cells)), swap_case(fields[2]));
        let swapped = Position::from_sfen(rules, &swapped).unwrap();
        let turned = |square: Square| Square::new(rules.squares() - 1 - square.index());
        let expected = moves.iter().map(|&mv| match mv {
            Move::Drop { role, to } => Move::Drop { role, to: turned(to) },
            Move::Board { from, to, turns } => {
                Move::Board { from: turned(from), to: turned(to), turns }
            }
        });
        assert_eq!(set(legal(rules, &swapped)), set(expected));
        assert_eq!(rules.in_check(&swapped), game.in_check());
    });
}

#[test]
fn equal_positions_have_equal_keys_and_no_others() {
    use std::collections::HashMap;
    let seen = std::cell::RefCell::new(HashMap::new());
    visit(20, |game, _, _| {
        let identity = format!("{} {}", game.rules().name(), text(game));
        let name = game.rules().name().to_owned();
        let key = (name, game.position().key());
        let earlier = seen.borrow_mut().insert(key, identity.clone());
        assert!(earlier.is_none_or(|it| it == identity), "{identity}");
    });
}

#[test]
fn pieces_are_neither_lost_nor_made() {
    visit(8, |game, _, _| {
        let (rules, position) = (game.rules(), game.position());
        let start = game.start_position();
        for kind in rules.kinds() {
            let count = |position: &Position| -> usize {
                let board = rules.roles().filter(|&role| rules.kind_of(role) == kind);
                let board = board
                    .flat_map(|role| Color::BOTH.map(|color| position.pieces(color, role).len()));
                let hands = Color::BOTH.map(|color| position.hand(color, kind).into());
                board.sum::<usize>() + hands.iter().sum::<usize>()
            };
            let royal = rules.hand_maximum(kind) == 0;
            assert!(count(position) == count(start) || royal, "{}", text(game));
            assert!(royal || count(start) <= rules.hand_maximum(kind).into());
        }
    });
}

#[test]
fn repetition_counts_what_a_list_of_positions_counts() {
    visit(10, |game, moves, _| {
        let mut replay = Game::from_sfen(game.rules().clone(), &game.start_sfen()).unwrap();
        let mut earlier = vec![text(&replay)];
        for mv in game.moves() {
            replay.play(mv);
            earlier.push(text(&replay));
        }
        let times = earlier.iter().filter(|&it| *it == text(game)).count();
        assert_eq!(usize::from(game.repetition().occurrences), times);
        assert_eq!(replay.repetition(), game.repetition());
        assert_eq!(legal(game.rules(), replay.position()), moves);
    });
}

#[test]
fn games_can_be_sent_between_threads() {
    fn check<T: Send + Sync + Clone>() {}
    check::<Game>();
    assert!(size_of::<Move>() <= 4);
    assert!(size_of::<Position>() <= 400, "{}", size_of::<Position>());
}
