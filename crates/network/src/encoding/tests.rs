#![allow(clippy::unwrap_used)]

use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, HashSet};

fn encoding(name: &str) -> Encoding {
    Encoding::new(Arc::new(Rules::load(name).unwrap()))
}

/// Calls `visit` at every position of some random games.
fn random_games(encoding: &Encoding, games: u64, mut visit: impl FnMut(&Game, &[Move])) {
    let mut legal = Vec::new();
    for seed in 0..games {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut game = Game::new(encoding.rules().clone());
        game.set_ply_limit(Some(120));
        while game.ending().is_none() {
            game.legal_moves(&mut legal);
            visit(&game, &legal);
            game.play(legal[rng.random_range(0..legal.len())]);
        }
    }
}

fn encoded(encoding: &Encoding, game: &Game) -> Vec<f32> {
    let mut out = vec![7.0; encoding.planes() * encoding.squares()];
    encoding.encode(game, &mut out);
    out
}

#[test]
fn minishogi_has_21_labels_and_named_planes() {
    let encoding = encoding("minishogi");
    let expected = "move:N move:NE move:E move:SE move:S move:SW move:W move:NW \
                    move:N+ move:NE+ move:E+ move:SE+ move:S+ move:SW+ move:W+ move:NW+ \
                    drop:R drop:B drop:G drop:S drop:P";
    let expected: Vec<_> = expected.split_whitespace().collect();
    assert_eq!(encoding.label_names(), expected);
    let planes = encoding.plane_names();
    for name in ["own:K", "other:+R", "hand:own:B", "check", "repeat:2", "repeat:3", "checks:other"]
    {
        assert!(planes.iter().any(|plane| plane == name), "{name} in {planes:?}");
    }
    assert!(!planes.iter().any(|plane| plane == "repeat:4" || plane == "hand:own:K"));
    assert!(planes.iter().any(|plane| plane == "repetition:own-loses"));
}

#[test]
fn shogi_has_the_known_27_labels() {
    let encoding = encoding("shogi");
    assert_eq!(encoding.labels(), 27);
    assert!(encoding.label_names().iter().any(|name| name == "leap:+2-1+"));
    assert!(!encoding.plane_names().iter().any(|name| name.starts_with("repetition:")));
}

#[test]
fn names_are_unique_in_every_game() {
    for name in Rules::variants() {
        let encoding = encoding(name);
        for names in [encoding.plane_names(), encoding.label_names()] {
            assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{name}");
        }
    }
}

#[test]
fn legal_moves_have_distinct_labels_and_mirror() {
    for name in Rules::variants() {
        let encoding = encoding(name);
        let mut seen = HashSet::new();
        random_games(&encoding, 20, |game, legal| {
            seen.clear();
            for &mv in legal {
                let label = encoding.label(game.position(), mv);
                assert!(label < encoding.labels() * encoding.squares());
                assert!(seen.insert(label), "{name}: {legal:?}");
            }
        });
    }
}

/// The position with left and right exchanged, by way of its notation.
fn mirrored(game: &Game) -> Position {
    let rules = game.rules();
    let sfen = game.position().to_sfen(rules);
    let fields: Vec<&str> = sfen.split(' ').collect();
    let ranks: Vec<String> = fields[0].split('/').map(mirrored_rank).collect();
    // Pieces that are each other's mirror image change places, on the board and in hand.
    let partner = |letter: char| -> char {
        let name = letter.to_ascii_uppercase().to_string();
        let Some(role) = rules.roles().find(|&role| rules.role_name(role) == name) else {
            return letter;
        };
        let other = rules.role_name(rules.mirror_role(role)).chars().next().unwrap();
        if letter.is_ascii_lowercase() { other.to_ascii_lowercase() } else { other }
    };
    let swapped = |text: &str| text.chars().map(partner).collect::<String>();
    let (board, hands) = (swapped(&ranks.join("/")), swapped(fields[2]));
    Position::from_sfen(rules, &format!("{board} {} {hands} {}", fields[1], fields[3])).unwrap()
}

fn mirrored_rank(rank: &str) -> String {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (index, letter) in rank.char_indices() {
        if letter != '+' {
            pieces.push(&rank[start..=index]);
            start = index + 1;
        }
    }
    pieces.into_iter().rev().collect()
}

#[test]
fn mirror_images_agree_with_mirrored_positions() {
    for name in Rules::variants() {
        let encoding = encoding(name);
        assert!(encoding.is_mirror_symmetric(), "{name}");
        random_games(&encoding, 5, |game, legal| {
            if game.repetition().occurrences > 1 || game.repetition().series != [0, 0] {
                return;
            }
            let image = mirrored(game);
            let image_game = Game::from_position(encoding.rules().clone(), image);
            let mut x = encoded(&encoding, game);
            encoding.mirror_input(&mut x);
            assert_eq!(x, encoded(&encoding, &image_game), "{name}");
            for &mv in legal {
                let expected = encoding.label(&image, encoding.rules().mirror_move(mv));
                let label = encoding.mirror_label(encoding.label(game.position(), mv));
                assert_eq!(label, expected, "{name}: {mv:?}");
                assert_eq!(encoding.mirror_label(label), encoding.label(game.position(), mv));
            }
        });
    }
}

/// The position turned by half a turn, sides exchanged, by way of its notation.
fn turned(game: &Game) -> Position {
    let rules = game.rules();
    let swap = |text: &str| -> String {
        let flip = |c: char| {
            if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
        };
        text.chars().map(flip).collect()
    };
    let sfen = game.position().to_sfen(rules);
    let parts: Vec<&str> = sfen.split(' ').collect();
    let ranks: Vec<String> =
        parts[0].split('/').rev().map(|rank| swap(&mirrored_rank(rank))).collect();
    let side = if parts[1] == "b" { "w" } else { "b" };
    // Hands are written Black's first.
    let (own, other): (Vec<_>, Vec<_>) = hand_entries(parts[2])
        .into_iter()
        .partition(|entry| entry.ends_with(|c: char| c.is_ascii_lowercase()));
    let hands =
        if parts[2] == "-" { "-".to_owned() } else { swap(&own.concat()) + &swap(&other.concat()) };
    // The move number says who began: it must stay the same for the other side.
    let sfen = format!("{} {side} {hands} {}", ranks.join("/"), parts[3]);
    Position::from_sfen(rules, &sfen).unwrap()
}

fn hand_entries(hands: &str) -> Vec<String> {
    let mut entries = vec![String::new()];
    for letter in hands.chars() {
        entries.last_mut().unwrap().push(letter);
        if letter.is_ascii_alphabetic() {
            entries.push(String::new());
        }
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}

#[test]
fn both_sides_see_the_same() {
    for name in Rules::variants() {
        let encoding = encoding(name);
        random_games(&encoding, 5, |game, legal| {
            if game.repetition().occurrences > 1 || game.repetition().series != [0, 0] {
                return;
            }
            let here = Game::from_position(encoding.rules().clone(), *game.position());
            let there = Game::from_position(encoding.rules().clone(), turned(game));
            assert_eq!(encoded(&encoding, &here), encoded(&encoding, &there), "{name}");
            let labels = |game: &Game| {
                let mut moves = Vec::new();
                game.legal_moves(&mut moves);
                let label = |&mv| encoding.label(game.position(), mv);
                let mut labels: Vec<_> = moves.iter().map(label).collect();
                labels.sort_unstable();
                labels
            };
            assert_eq!(labels(&here), labels(&there), "{name}");
            assert_eq!(labels(&here).len(), legal.len());
        });
    }
}

#[test]
fn equal_keys_mean_equal_input() {
    for name in Rules::variants() {
        let encoding = encoding(name);
        let mut seen: HashMap<u64, Vec<f32>> = HashMap::new();
        let mut inputs = HashSet::new();
        random_games(&encoding, 10, |game, _| {
            let x = encoded(&encoding, game);
            inputs.insert((game.side_to_move(), x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()));
            let known = seen.entry(encoding.key(game)).or_insert_with(|| x.clone());
            assert_eq!(*known, x, "{name}");
        });
        assert_eq!(seen.len(), inputs.len(), "{name}: as many keys as inputs");
    }
}

#[test]
fn repetition_is_seen() {
    let encoding = encoding("minishogi");
    let mut game = Game::new(encoding.rules().clone());
    let plane = |game: &Game, name: &str| {
        let index = encoding.plane_names().iter().position(|plane| plane == name).unwrap();
        encoded(&encoding, game)[index * encoding.squares()]
    };
    let shuffle = ["1e1d", "5a5b", "1d1e", "5b5a"];
    assert_eq!(plane(&game, "repetition:own-loses"), 1.0);
    for round in 2..4 {
        for mv in shuffle {
            let mv = Move::from_usi(encoding.rules(), game.position(), mv).unwrap();
            game.play(mv);
        }
        assert_eq!(plane(&game, "repeat:2"), 1.0);
        assert_eq!(plane(&game, "repeat:3"), f32::from(u8::from(round == 3)));
    }
    let mv = Move::from_usi(encoding.rules(), game.position(), "1e1d").unwrap();
    game.play(mv);
    assert_eq!(plane(&game, "repetition:own-loses"), 0.0);
    assert_eq!(plane(&game, "repetition:other-loses"), 1.0);
}

/// A board of three files, on which the leaper reaches as far as a slider, and a piece that both
/// slides along a line and leaps along it.
#[test]
fn leaps_along_a_line_have_labels_of_their_own() {
    for moves in ["sWsD", "RD", "FA", "W2D", "KNZ"] {
        let text = Rules::load("doubutsu")
            .unwrap()
            .source()
            .replace(r#"E = { moves = "F" }"#, &format!("E = {{ moves = \"{moves}\" }}"));
        let encoding = Encoding::new(Arc::new(Rules::from_toml(&text, "test").unwrap()));
        let mut seen = HashSet::new();
        random_games(&encoding, 50, |game, legal| {
            seen.clear();
            for &mv in legal {
                assert!(seen.insert(encoding.label(game.position(), mv)), "{moves}: {legal:?}");
            }
        });
    }
}

#[test]
fn progress_is_seen_where_it_is_asked_for() {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let (plain, encoding) =
        (Encoding::new(rules.clone()), Encoding::with_progress(rules.clone(), true));
    assert_eq!(encoding.planes(), plain.planes() + 1);
    assert_eq!(encoding.plane_names().last().unwrap(), "progress");
    let mut game = Game::new(rules);
    let seen = |game: &Game| {
        let mut x = vec![0.0; encoding.planes() * encoding.squares()];
        encoding.encode(game, &mut x);
        x[plain.planes() * encoding.squares()..].to_vec()
    };
    let mut legal = Vec::new();
    game.legal_moves(&mut legal);
    game.play(legal[0]);
    assert_eq!(seen(&game), [0.0; 25]);
    let without = (plain.key(&game), encoding.key(&game));
    game.set_ply_limit(Some(4));
    assert_eq!(seen(&game), [0.25; 25]);
    assert_eq!(plain.key(&game), without.0);
    assert_ne!(encoding.key(&game), without.1);
}
