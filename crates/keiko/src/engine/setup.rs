//! A game as XBoard is told of it: the board, its letters, and how pieces move.
//!
//! XBoard draws a piece by its place in a table of eleven pieces and the backs of the first six,
//! and knows the rest from `piece` lines in Betza's letters, which are also ours.

use keiko_rules::{Definition, Kind, Rules};

/// The first letters of XBoard's table: who has one of these takes its usual place.
const USUAL: [&str; 11] = ["P", "N", "B", "R", "L", "S", "", "", "", "G", ""];

/// Places whose pieces turn over.
const TURNING: usize = 6;

/// What XBoard is to be told of a game: `setup`, then a `piece` for each face. `None` where it has
/// too few kinds of piece.
pub(crate) fn setup(rules: &Rules) -> Option<Vec<String>> {
    let letters = letters(rules)?;
    let parent = if has_hands(rules) { "shogi" } else { "fairy" };
    let held = rules.kinds().filter(|&kind| rules.hand_maximum(kind) > 0).count();
    let (files, ranks) = (rules.files(), rules.ranks());
    let start = rules.start().to_fen(rules).replace("[]", "[-]");
    let table = format!("{letters}{}", letters.to_lowercase());
    let first = format!("setup ({table}) {files}x{ranks}+{held}_{parent} {start}");
    let definition: Definition = toml::from_str(rules.source()).ok()?;
    let mut lines = vec![first];
    for (letter, piece) in &definition.pieces {
        let drop = drop_text(rules, letter, piece.per_file == Some(1));
        lines.push(format!("piece {letter}& {}{drop}", piece.moves));
        if let Some(back) = &piece.promotes {
            lines.push(format!("piece +{letter}& {back}"));
        }
    }
    Some(lines)
}

fn has_hands(rules: &Rules) -> bool {
    rules.kinds().any(|kind| rules.hand_maximum(kind) > 0)
}

/// How a piece is dropped: anywhere on so many ranks, perhaps once a file.
fn drop_text(rules: &Rules, letter: &str, once_a_file: bool) -> String {
    let dropped = |kind: Kind| rules.kind_name(kind) == letter && rules.hand_maximum(kind) > 0;
    if !rules.kinds().any(dropped) {
        return String::new();
    }
    let file = if once_a_file { "f" } else { "" };
    format!("{file}@{}", rules.ranks())
}

/// The white half of XBoard's table: a letter for each place that a kind has, `+` for its back.
fn letters(rules: &Rules) -> Option<String> {
    let mut places: [Option<Kind>; USUAL.len()] = [None; USUAL.len()];
    let turns =
        |kind: Kind| rules.roles().any(|it| rules.kind_of(it) == kind && is_back(rules, it));
    let royal =
        |kind: Kind| rules.roles().any(|it| rules.kind_of(it) == kind && rules.is_royal(it));
    let fits = |kind: Kind, place: usize| place < TURNING || !turns(kind);
    let mut rest = Vec::new();
    for kind in rules.kinds().filter(|&kind| !royal(kind)) {
        let usual = USUAL.iter().position(|&letter| letter == rules.kind_name(kind));
        match usual.filter(|&place| fits(kind, place)) {
            Some(place) => places[place] = Some(kind),
            None => rest.push(kind),
        }
    }
    // Those that turn over first: they have fewer places.
    rest.sort_by_key(|&kind| !turns(kind));
    for kind in rest {
        // From behind, so that the few places where pieces turn over are taken last.
        let free = |&place: &usize| places[place].is_none() && fits(kind, place);
        let place = (0..USUAL.len()).rev().find(free)?;
        places[place] = Some(kind);
    }
    let front = |place: &Option<Kind>| place.map_or(".", |kind| rules.kind_name(kind)).to_owned();
    let back = |place: &Option<Kind>| {
        if place.is_some_and(turns) { "+".to_owned() } else { ".".to_owned() }
    };
    let fronts: String = places.iter().map(front).collect();
    let backs: String = places[..TURNING].iter().map(back).collect();
    let king = rules.kinds().find(|&kind| royal(kind)).map(|kind| rules.kind_name(kind))?;
    Some(format!("{fronts}{backs}{king}"))
}

fn is_back(rules: &Rules, role: keiko_rules::Role) -> bool {
    role.index() >= rules.kinds().count()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn xboard_is_told_of_minishogi_as_fairy_stockfish_tells_it() {
        let lines = setup(&Rules::load("minishogi").unwrap()).unwrap();
        assert_eq!(
            lines[0],
            "setup (P.BR.S...G.+.++.+Kp.br.s...g.+.++.+k) 5x5+5_shogi \
             rbsgk/4p/5/P4/KGSBR[-] w - - 0 1"
        );
        for line in ["piece P& fWf@5", "piece +P& WfF", "piece S& FfW@5", "piece G& WfF@5"] {
            assert!(lines.iter().any(|it| it == line), "{line}: {lines:?}");
        }
        assert!(lines.iter().any(|it| it == "piece K& K"), "{lines:?}");
    }

    #[test]
    fn every_game_can_be_shown() {
        for name in Rules::variants() {
            let rules = Rules::load(name).unwrap();
            let lines = setup(&rules).unwrap();
            let table = lines[0].split(['(', ')']).nth(1).unwrap();
            assert_eq!(table.len(), 36, "{name}: {table}");
            for kind in rules.kinds() {
                let letter = rules.kind_name(kind);
                assert_eq!(table[..18].matches(letter).count(), 1, "{name}: {table} {letter}");
            }
            let backs = rules.roles().count() - rules.kinds().count();
            assert_eq!(table[..18].matches('+').count(), backs, "{name}: {table}");
        }
    }
}
