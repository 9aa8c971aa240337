//! What is wrong is said with where, what was found and what is allowed.

#![allow(clippy::unwrap_used)]

use keiko_rules::{Move, Position, Rules};

/// The error of the minishogi definition with one text replaced by another.
fn error(old: &str, new: &str) -> String {
    let source = Rules::load("minishogi").unwrap().source().to_owned();
    assert!(source.contains(old), "{old}");
    Rules::from_toml(&source.replacen(old, new, 1), "my.toml").unwrap_err().to_string()
}

fn line_with(text: &str) -> usize {
    let source = Rules::load("minishogi").unwrap().source().to_owned();
    source.lines().position(|line| line.contains(text)).unwrap() + 1
}

/// Each row: replaced text, replacement, what the message must contain.
#[test]
fn definitions() {
    let rows: &[(&str, &str, &[&str])] = &[
        ("start =", "strat =", &["my.toml:", "unknown field `strat`", "did you mean `start`?"]),
        ("moves = \"K\"", "movse = \"K\"", &["`movse`", "did you mean `moves`?"]),
        ("\"zone\"", "\"zoen\"", &["`zoen`", "did you mean `zone`?"]),
        ("zone = 1", "zone = 6", &["promotion.zone: is 6", "from 1 to 5"]),
        ("zone = 1\n", "", &["promotion.when", "`zone` (far ranks) is missing"]),
        ("\"zone\"\nzone = 1", "\"capture\"\nforced = true", &["promotion.forced"]),
        ("\"zone\"", "\"capture\"", &["promotion.zone", "means nothing unless"]),
        ("[promotion]\nwhen = \"zone\"\nzone = 1", "", &["promotion: is missing"]),
        ("files = 5", "files = 0", &["board: files is 0", "from 1 to 26"]),
        ("files = 5", "files = -5", &["my.toml:3: board.files: ", "`-5`", "from 0 to 255"]),
        ("moves = \"R\"", "moves = 5", &["pieces.R.moves: invalid type", "a string"]),
        ("\"RF\"", "[1]", &["pieces.R.promotes: "]),
        (
            "no_moves",
            "declaration = 27\nno_moves",
            &["goals.declaration: expected a text in quotes"],
        ),
        ("[\"P\"]", "[\"P\", \"P\"]", &["drops.no_mate_by: has `P` twice"]),
        ("[\"P\"]", "[\"K\"]", &["drops.no_mate_by: has `K`, which is royal"]),
        ("royal = true", "royal = true, per_file = 1", &["pieces.K.per_file", "never dropped"]),
        ("files = 5, ranks = 5", "files = 12, ranks = 11", &["12x11 has 132 squares", "121"]),
        ("files = 5", "files = 6", &["start", "rank a is 5 squares long", "6 files"]),
        ("ranks = 5", "ranks = 6", &["start", "the board has 5 ranks", "has 6"]),
        ("rbsgk/4p", "rbsgx/4p", &["start", "rank a has `x`", "K R B G S P"]),
        ("rbsgk/4p", "rbs+gk/4p", &["start", "`+g`", "+R +B +S +P"]),
        ("rbsgk/4p", "rbsg1/4p", &["start", "White has 0 pieces `k`"]),
        ("rbsgk/4p", "rbkgk/4p", &["start", "White has 2 pieces `k`"]),
        ("/KGSBR b", "/KGSBR w", &[]),
        ("rbsgk/4p/5/P4/KGSBR b", "rbsgk/4P/5/P4/KGSB1 b", &["start", "White is in check"]),
        ("rbsgk/4p", "rbsPk/4p", &["start", "P on 2a could never move"]),
        (", royal = true", "", &["pieces", "exactly one must"]),
        ("\"WfF\" }", "\"WfF\", royal = true }", &["pieces", "K and G have `royal = true`"]),
        ("G = {", "K = {", &["duplicate key"]),
        ("G = {", "g = {", &["pieces.g", "A to Z"]),
        ("G = {", "GG = {", &["pieces.GG", "A to Z"]),
        ("\"RF\"", "\"RX\"", &["pieces.R.promotes: \"RX\" has `X`", "W F D N"]),
        ("\"FfW\"", "\"\"", &["pieces.S.moves", "never moves"]),
        ("\"FfW\"", "\"vF\"", &["pieces.S.moves", "`vF`"]),
        ("per_file = 1", "per_file = 0", &["pieces.P.per_file: is 0"]),
        ("per_file = 1", "per_file = \"x\"", &["pieces.P.per_file: invalid type", "0 to 255"]),
        ("[\"P\"]", "[\"Q\"]", &["drops.no_mate_by: has `Q`", "K R B G S P"]),
        ("\"front\"", "\"front\"\nhand_limit = 0", &["drops.hand_limit: is 0"]),
        ("royal_safe = true", "royal_safe = false", &["drops.no_mate_by", "royal_safe"]),
        ("no_moves", "royal_captured = \"loses\"\nno_moves", &["goals.royal_captured", "never"]),
        ("\"minishogi\"", "\"../x\"", &["my.toml:2: name: is \"../x\"", "letters, digits"]),
        ("\"minishogi\"", "\"\"", &["name: is \"\""]),
        ("per_file = 1", "per_file = 6", &["pieces.P.per_file: is 6", "5 squares"]),
        ("\"front\"", "\"front\"\nhand_limit = 99", &["drops.hand_limit: is 99", "are 10"]),
        ("\"RF\" }", "\"RF\", points = 5 }", &["pieces.R.points", "`goals.declaration`"]),
        ("no_moves", "declaration = \"25\"\nno_moves", &["`25`", "expected one of `27`, `24`"]),
        ("no_moves", "declaration = \"27\"\nno_moves", &["goals.declaration: can never", "are 10"]),
        ("no_moves", "safe_try = \"loses\"\nno_moves", &["`loses`", "wins"]),
        ("G = {", "N = { moves = \"N\" }\nG = {", &["pieces.N: is on no board"]),
        ("count = 4", "count = 1", &["goals.repetition: count is 1", "at least 2"]),
        ("\"first_mover_loses\"", "\"frist_mover_loses\"", &["did you mean `first_mover_loses`?"]),
        ("no_moves = \"loses\"\n", "", &["missing field `no_moves`"]),
        ("rook = \"1bsgk", "rook = \"2bsgk", &["handicaps.rook", "rank a is 6 squares long"]),
        ("rook = \"1bsgk/4p/5/P4/KGSBR w", "rook = \"3Rk/3G1/3P1/5/K4 w", &["before it begins"]),
    ];
    for (old, new, expected) in rows {
        if expected.is_empty() {
            let source = Rules::load("minishogi").unwrap().source().replacen(old, new, 1);
            assert!(Rules::from_toml(&source, "my.toml").is_ok(), "{new}");
            continue;
        }
        let message = error(old, new);
        for part in *expected {
            assert!(message.contains(part), "{new}: {message:?} lacks {part:?}");
        }
    }
}

#[test]
fn a_piece_that_can_never_move_is_none() {
    let source = Rules::load("doubutsu").unwrap().source().replacen("\"W\"", "\"A\"", 1);
    assert!(Rules::from_toml(&source, "x").is_ok(), "two ranks down there is room");
    let source = source.replacen("\"A\"", "\"H\"", 1);
    assert!(Rules::from_toml(&source, "x").is_ok(), "four ranks leave room for three steps");
    let source = source.replacen("\"H\"", "\"G\"", 1);
    let message = Rules::from_toml(&source, "x").unwrap_err().to_string();
    assert!(message.contains("pieces.G.moves: leads nowhere"), "{message}");
}

/// The error of a variant with one text replaced by another.
fn error_in(variant: &str, old: &str, new: &str) -> String {
    let source = Rules::load(variant).unwrap().source().to_owned();
    assert!(source.contains(old), "{old}");
    Rules::from_toml(&source.replacen(old, new, 1), "my.toml").unwrap_err().to_string()
}

#[test]
fn a_start_in_which_the_side_that_just_moved_can_be_taken() {
    let message = error_in("minishogi", "rbsgk/4p/5/P4/KGSBR b", "4k/5/5/5/K3R b");
    assert!(message.contains("my.toml:4: start") && message.contains("White is in check"));
    // Where lions may be left to be taken, a game still does not begin so.
    let message = error_in("doubutsu", "gle/1c1/1C1/ELG b", "g1e/1l1/1C1/ELG b");
    assert!(message.contains("my.toml:4: start"), "{message}");
    assert!(message.contains("White's L can be taken by the very first move"), "{message}");
}

#[test]
fn goals_that_can_never_be_met() {
    let message = error_in("doubutsu", "L = { moves = \"K\"", "L = { moves = \"sWbF\"");
    assert!(message.contains("goals.safe_try: can never happen: L never gets"), "{message}");
    // Pieces that only go forward, and never come back from a hand.
    let forward = "K = { moves = \"fK\", royal = true }\nP = { moves = \"fW\" }\n";
    let text = format!(
        "name = \"forward\"\nboard = {{ files = 3, ranks = 5 }}\nstart = \"kpp/3/3/3/PPK b - 1\"\n\
         [pieces]\n{forward}[goals]\nroyal_captured = \"loses\"\nno_moves = \"loses\"\n"
    );
    assert!(Rules::from_toml(&text, "my.toml").is_ok());
    let text = text + "repetition = { count = 3, result = \"draw\" }\n";
    let message = Rules::from_toml(&text, "my.toml").unwrap_err().to_string();
    assert!(message.starts_with("my.toml:10: goals.repetition: can never happen"), "{message}");
    // Nothing is ever captured.
    let still = text.replace("\"fK\"", "\"mK\"").replace("\"fW\"", "\"mW\"");
    let message = Rules::from_toml(&still, "my.toml").unwrap_err().to_string();
    assert!(message.contains("goals.royal_captured: can never happen"), "{message}");
    // A back that nobody sees.
    let shatranj = Rules::load("shatranj").unwrap().source().to_owned();
    let shatranj = shatranj.replace("\"zone\"\nzone = 1\nforced = true", "\"capture\"");
    let never = shatranj.replace("mfWcfF", "mfW");
    let message = Rules::from_toml(&never, "my.toml").unwrap_err().to_string();
    assert!(message.contains("pieces.P.promotes: is never seen"), "{message}");
    // An entering king that never enters, and one with no camp to enter.
    let message = error_in("shogi", "K = { moves = \"K\"", "K = { moves = \"bKsW\"");
    assert!(message.contains("goals.declaration: can never be made: K never"), "{message}");
    let message = error_in("kyoto", "no_moves", "declaration = \"24\"\nno_moves");
    assert!(message.contains("goals.declaration: needs a camp"), "{message}");
}

#[test]
fn errors_name_the_line() {
    let at = |text| format!("my.toml:{}: ", line_with(text));
    assert!(error("zone = 1", "zone = 6").starts_with(&at("zone = 1")));
    assert!(error("moves = \"fW\"", "moves = \"fX\"").starts_with(&at("P = {")));
    assert!(error("per_file", "per_fiel").starts_with(&at("P = {")));
    assert!(error("rbsgk/4p", "rbsgz/4p").starts_with(&at("start =")));
    assert!(error("rook = \"1bsgk", "rook = \"2bsgk").starts_with(&at("rook =")));
}

#[test]
fn variants_that_do_not_exist() {
    let message = Rules::load("mnishogi").unwrap_err().to_string();
    assert!(message.contains("did you mean `minishogi`?"), "{message}");
    assert!(message.contains("doubutsu"), "{message}");
    let message = Rules::load("no/such/file.toml").unwrap_err().to_string();
    assert!(message.contains("no/such/file.toml: cannot be read"), "{message}");
}

#[test]
fn positions() {
    let rules = Rules::load("minishogi").unwrap();
    let rows = [
        ("", "0 fields"),
        ("rbsgk/4p/5/P4/KGSBR", "1 fields"),
        ("rbsgk/4p/5/P4/KGSBR b - 1 2", "5 fields"),
        ("rbsgk/4p/5/P4 b - 1", "the board has 4 ranks; this game has 5"),
        ("rbsgk/4p/6/P4/KGSBR b - 1", "rank c is 6 squares long; this game has 5 files"),
        ("rbsgk/4p/99999999999999999999999/P4/KGSBR b - 1", "rank c"),
        ("rbsgk/4p/5/P3/KGSBR b - 1", "rank d is 4"),
        ("rbsgk/4p/5/P4+/KGSBR b - 1", "rank d has `+`"),
        ("rbsgk/4é/5/P4/KGSBR b - 1", "rank b has `é`"),
        ("rbsgk/4p/5/P4/KGSBR x - 1", "`x`; it must be `b` or `w`"),
        ("rbsgk/4p/5/P4/KGSBR b N 1", "a hand has `N`"),
        ("rbsgk/4p/5/P4/KGSBR b K 1", "`K`, which never gets into a hand"),
        ("rbsgk/4p/5/P4/KGSBR b 2 1", "end in a count without a letter"),
        ("rbsgk/4p/5/P4/KGSBR b 0P 1", "from 1 to 99"),
        ("rbsgk/4p/5/P4/KGSBR b 300P 1", "from 1 to 99"),
        ("rbsgk/4p/5/P4/KGSBR b PP 1", "`P` twice"),
        ("rbsgk/4p/5/P4/KGSBR b - 0", "move number is `0`"),
        ("rbsgk/4p/5/P4/KGSBR b - x", "move number is `x`"),
        ("rbsg1/4p/5/P4/KGSBR b - 1", "White has 0 pieces `k`; it must have one"),
        ("rbsgk/4K/5/P4/KGSBR b - 1", "Black has 2 pieces `K`"),
        ("4k/5/5/5/K3R b - 1", "White is in check although the other side is to move"),
    ];
    for (sfen, expected) in rows {
        let message = Position::from_sfen(&rules, sfen).unwrap_err().to_string();
        assert!(message.contains(expected), "{sfen}: {message:?} lacks {expected:?}");
    }
}

#[test]
fn moves() {
    let rules = Rules::load("minishogi").unwrap();
    let rows = [
        ("", "is no move"),
        ("5d", "is no move"),
        ("é", "is no move"),
        ("5d5c++", "is no move"),
        ("P*", "is no move"),
        ("P*3c+", "is no move"),
        ("6d5c", "no square `6d`; squares go from 1a to 5e"),
        ("5f5c", "no square `5f`"),
        ("K*3c", "`K` is never dropped; these are: R B G S P"),
        ("P*3c", "Black has no P in hand"),
        ("3c3d", "there is nothing on 3c"),
        ("1b1c", "the piece on 1b is White's"),
        ("5e5d", "Black has a piece on 5d"),
        ("5d4c", "P does not move from 5d to 4c"),
        ("1e1a", "R has something in its way"),
        ("5d5c+", "P does not turn over on this move"),
    ];
    for (text, expected) in rows {
        let message = Move::from_usi(&rules, rules.start(), text).unwrap_err().to_string();
        let blocked_is_fine = text == "2e5b" && message.contains("illegal");
        assert!(message.contains(expected) || blocked_is_fine, "{text}: {message:?}");
    }
}

/// Texts that are nearly right, and nearly anything else: errors, but no panic.
#[test]
fn no_text_is_too_strange() {
    let mut state = 1u64;
    let mut dice = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % sides
    };
    let alphabet: Vec<char> = "+-*/ 0919KkRrPpNabcei.\"={}[]\né".chars().collect();
    let rules = Rules::load("minishogi").unwrap();
    let texts = [rules.start_sfen(), "5d5c+", "P*3c", rules.source()];
    for _ in 0..20_000 {
        let mut text: Vec<char> = texts[dice(texts.len())].chars().collect();
        for _ in 0..=dice(3) {
            let at = dice(text.len());
            match dice(3) {
                0 => text[at] = alphabet[dice(alphabet.len())],
                1 => text.insert(at, alphabet[dice(alphabet.len())]),
                _ => text.truncate(at + 1),
            }
        }
        let text: String = text.into_iter().collect();
        let _ = Move::from_usi(&rules, rules.start(), &text);
        if let Ok(position) = Position::from_sfen(&rules, &text) {
            assert_eq!(Position::from_sfen(&rules, &position.to_sfen(&rules)), Ok(position));
        }
        if text.contains('=') {
            let _ = Rules::from_toml(&text, "x").map_err(|error| error.to_string());
        }
    }
}

#[test]
fn the_hash_is_of_the_law_and_not_of_its_text() {
    let rules = Rules::load("minishogi").unwrap();
    let same = [
        ("name = \"minishogi\"", "# A comment.\nname   = 'other'"),
        ("moves = \"K\", royal = true", "royal = true, moves = \"FW\""),
        ("\"RF\"", "\"RK\""),
        ("two-piece", "two"),
    ];
    let different = [
        ("\"RF\"", "\"R\""),
        ("zone = 1", "zone = 2"),
        ("count = 4", "count = 3"),
        ("no_mate_by = [\"P\"]", ""),
        (", per_file = 1", ""),
        ("movable = true", ""),
        ("/KGSBR b", "/KGSRB b"),
    ];
    for (old, new) in same {
        let other = Rules::from_toml(&rules.source().replacen(old, new, 1), "x").unwrap();
        assert_eq!(other.hash(), rules.hash(), "{new}");
    }
    for (old, new) in different {
        let other = Rules::from_toml(&rules.source().replacen(old, new, 1), "x").unwrap();
        assert_ne!(other.hash(), rules.hash(), "{new}");
    }
    let mut hashes: Vec<u64> =
        Rules::variants().iter().map(|name| Rules::load(name).unwrap().hash()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), Rules::variants().len());
}
