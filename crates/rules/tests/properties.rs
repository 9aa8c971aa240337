//! Properties of whatever can be written down: texts, variants nobody has thought of, games.

#![allow(clippy::unwrap_used)]

use keiko_rules::{Color, Game, Move, Position, Rules};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::sync::Arc;

fn all_rules() -> Vec<Arc<Rules>> {
    Rules::variants().iter().map(|name| Arc::new(Rules::load(name).unwrap())).collect()
}

/// One to three atoms with modifiers and ranges; now and then nonsense.
fn movement() -> impl Strategy<Value = String> {
    let sound =
        "W F K D N A fW fF bF sW ffN fD bbN R B fR vR sB R2 fB3 frF blW frB mfW cfF mR cB mcfW"
            .split(' ')
            .map(str::to_owned)
            .collect::<Vec<_>>();
    let atom = prop_oneof![
        40 => prop::sample::select(sound),
        1 => "[mc]?[fblrvs]{0,2}[WFDNAHCZGRBKQ][2-3]?",
    ];
    prop::collection::vec(atom, 1..4).prop_map(|atoms| atoms.concat())
}

/// A piece's row of a table, without its letter.
fn piece() -> impl Strategy<Value = String> {
    (movement(), prop::option::of(movement()), prop::option::of(1u8..4)).prop_map(
        |(moves, promotes, per_file)| {
            let mut text = format!("{{ moves = \"{moves}\"");
            if let Some(promotes) = promotes {
                text += &format!(", promotes = \"{promotes}\"");
            }
            if let Some(per_file) = per_file {
                text += &format!(", per_file = {per_file}");
            }
            text + " }"
        },
    )
}

/// The sections after the pieces, each drawn from what the vocabulary allows.
fn sections() -> impl Strategy<Value = String> {
    let promotion = prop::sample::select(vec![
        "when = \"zone\"\nzone = 1",
        "when = \"zone\"\nzone = 2\nforced = true",
        "when = \"capture\"",
        "when = \"move\"",
    ]);
    let drops = prop::sample::select(vec![
        "",
        "[drops]\nfaces = \"front\"\n",
        "[drops]\nfaces = \"either\"\n",
        "[drops]\nfaces = \"front\"\nno_mate_by = [\"A\"]\n",
        "[drops]\nfaces = \"either\"\nhand_limit = 2\n",
    ]);
    let safety = prop::sample::select(vec![
        "[invariants]\nroyal_safe = true\nmovable = true\n[goals]\n",
        "[invariants]\nroyal_safe = true\n[goals]\n",
        "[goals]\nroyal_captured = \"loses\"\n",
        "[goals]\nroyal_captured = \"loses\"\nsafe_try = \"wins\"\n",
        "[goals]\nroyal_captured = \"loses\"\nbare_royal = \"loses\"\n",
    ]);
    let result = prop::sample::select(vec!["draw", "first_mover_loses", "last_mover_loses"]);
    (promotion, drops, safety, result).prop_map(|(promotion, drops, safety, result)| {
        format!(
            "[promotion]\n{promotion}\n{drops}{safety}no_moves = \"loses\"\nrepetition = \
             {{ count = 3, result = \"{result}\", perpetual_check = \"loses\" }}\n"
        )
    })
}

/// A variant on a small board: a royal piece and two others a side, anywhere.
fn variant() -> impl Strategy<Value = String> {
    let board = (3usize..7, 4usize..7, any::<u64>());
    (board, movement(), piece(), piece(), sections()).prop_map(
        |((files, ranks, place), royal, a, b, sections)| {
            // Black's three pieces on its first two ranks, White's the same turned round.
            let mut home: Vec<char> =
                "KAB".chars().chain("1".repeat(2 * files - 3).chars()).collect();
            let length = home.len();
            (0..length).for_each(|at| home.swap(at, (place >> at) as usize % length));
            let turned: String = home.iter().rev().map(char::to_ascii_lowercase).collect();
            let home: String = home.into_iter().collect();
            let empty = vec![files.to_string(); ranks - 4];
            let mut rows = vec![turned[..files].to_owned(), turned[files..].to_owned()];
            rows.extend(empty);
            rows.extend([home[..files].to_owned(), home[files..].to_owned()]);
            let start = rows.iter().map(|row| joined(row)).collect::<Vec<_>>().join("/");
            format!(
                "name = \"any\"\nboard = {{ files = {files}, ranks = {ranks} }}\n\
                 start = \"{start} b - 1\"\n[pieces]\nK = {{ moves = \"{royal}\", royal = true }}\n\
                 A = {a}\nB = {b}\n{sections}"
            )
        },
    )
}

/// Runs of single empty squares written as one number.
fn joined(row: &str) -> String {
    let squares: Vec<char> = row.chars().collect();
    let runs = squares.chunk_by(|one, other| (*one == '1') == (*other == '1'));
    runs.map(|run| match run[0] {
        '1' => run.len().to_string(),
        _ => run.iter().collect(),
    })
    .collect()
}

/// What must hold in any position of any game.
fn check_position(game: &Game, moves: &[Move]) -> Result<(), TestCaseError> {
    let (rules, position) = (game.rules(), game.position());
    let written = position.to_sfen(rules);
    prop_assert_eq!(Position::from_sfen(rules, &written), Ok(*position));
    prop_assert_eq!(rules.count_moves(position), moves.len() as u64);
    prop_assert_eq!(rules.ending(position).is_some(), moves.is_empty());
    let (mut checks, mut evasions) = (Vec::new(), Vec::new());
    rules.checks(position, &mut checks);
    rules.evasions(position, &mut evasions);
    let side = position.side_to_move();
    for &mv in moves {
        prop_assert_eq!(Move::from_usi(rules, position, &mv.to_usi(rules)), Ok(mv));
        let mut next = *position;
        rules.play(&mut next, mv);
        let gives_check = rules.in_check(&next);
        prop_assert_eq!(rules.gives_check(position, mv), gives_check, "{}", mv.to_usi(rules));
        prop_assert_eq!(checks.contains(&mv), gives_check, "{}", mv.to_usi(rules));
        let royal = next.royal(side).expect("a move does not lose its own royal piece");
        let safe = !rules.is_attacked(&next, royal, side.opponent());
        prop_assert!(safe || !rules.has_check(), "{} {}", written, mv.to_usi(rules));
        prop_assert_eq!(evasions.contains(&mv), game.in_check() && safe, "{}", mv.to_usi(rules));
    }
    prop_assert_eq!(moves.iter().filter(|mv| checks.contains(mv)).count(), checks.len());
    prop_assert_eq!(moves.iter().filter(|mv| evasions.contains(mv)).count(), evasions.len());
    Ok(())
}

/// Plays what the choices say, with a look at every position, and takes it all back.
fn check_game(rules: &Arc<Rules>, choices: &[u16]) -> Result<(), TestCaseError> {
    let mut game = Game::new(Arc::clone(rules));
    let mut moves = Vec::new();
    for &choice in choices {
        game.legal_moves(&mut moves);
        check_position(&game, &moves)?;
        if game.conclusion().is_some() {
            break;
        }
        game.play(moves[usize::from(choice) % moves.len()]);
    }
    while game.undo().is_some() {}
    prop_assert_eq!(game.position(), rules.start());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn variants_nobody_has_thought_of(text in variant(), choices in prop::collection::vec(any::<u16>(), 40)) {
        match Rules::from_toml(&text, "any.toml") {
            Ok(rules) => check_game(&Arc::new(rules), &choices)?,
            Err(error) => prop_assert!(error.to_string().starts_with("any.toml:"), "{error}\n{text}"),
        }
    }
}

/// The variants above are worth something only if many of them are games.
#[test]
fn many_of_those_variants_are_games() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = variant();
    let games = (0..500)
        .filter(|_| {
            let text = strategy.new_tree(&mut runner).unwrap().current();
            Rules::from_toml(&text, "any.toml").is_ok()
        })
        .count();
    assert!(games >= 100, "{games} of 500");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn games_of_every_variant(choices in prop::collection::vec(any::<u16>(), 60), number in any::<prop::sample::Index>()) {
        let rules = all_rules();
        check_game(&rules[number.index(rules.len())], &choices)?;
    }
}

proptest! {
    #[test]
    fn any_text_is_refused_or_read(text in "\\PC{0,80}") {
        for rules in all_rules() {
            let _ = Position::from_sfen(&rules, &text).map_err(|error| error.to_string());
            let _ = Move::from_usi(&rules, rules.start(), &text).map_err(|error| error.to_string());
        }
        let _ = Rules::from_toml(&text, "any.toml").map_err(|error| error.to_string());
    }

    #[test]
    fn sfen_fields_of_the_right_shape(
        board in "[kKrRbBgGsSpPlLnN+1-9/]{1,60}",
        side in "[bwx]",
        hands in "(-|([0-9]{0,3}[rRbBgGsSpPkK]){1,6})",
        number in 0u32..3,
    ) {
        let sfen = format!("{board} {side} {hands} {number}");
        for rules in all_rules() {
            if let Ok(position) = Position::from_sfen(&rules, &sfen) {
                prop_assert_eq!(Position::from_sfen(&rules, &position.to_sfen(&rules)), Ok(position));
                prop_assert!(Color::BOTH.iter().all(|&color| position.royal(color).is_some()) || !rules.has_check());
            }
        }
    }
}
