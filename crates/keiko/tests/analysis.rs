//! What people read about a network: positions, games, openings, problems. What the commands print
//! on a small network is compared with texts in `tests/analysis`, its figures left out: processors
//! round differently.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const USAGE: i32 = 2;
const DATA: i32 = 4;

fn keiko(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn output(arguments: &[&str]) -> String {
    let output = keiko(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[track_caller]
fn expect_failure(arguments: &[&str], code: i32, words: &[&str]) {
    let output = keiko(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The network of minishogi that is shipped.
fn published() -> String {
    here("../../checkpoints/published/minishogi").to_string_lossy().into_owned()
}

/// A run of doubutsu with a tiny network, and that network.
fn train(folder: &Path) -> (String, String) {
    let (dir, smoke) = (folder.join("run"), here("../../configs/smoke.toml"));
    let run = dir.to_str().unwrap().to_owned();
    let smaller = [
        "training.games_per_generation=10",
        "network.channels=8",
        "arena.random_pairs=1",
        "arena.rival_pairs=1",
    ];
    let set = smaller.iter().flat_map(|&one| ["--set", one]);
    let arguments = ["train", smoke.to_str().unwrap(), "--run", &run].into_iter().chain(set);
    output(&arguments.collect::<Vec<_>>());
    let networks = std::fs::read_dir(dir.join("networks")).unwrap();
    let last = networks.map(|entry| entry.unwrap().path()).max().unwrap();
    (run, last.to_str().unwrap().to_owned())
}

/// The text with `#` for every figure, and without the room that they take.
fn without_figures(text: &str) -> String {
    let is_figure = |word: &str| {
        let word = word.trim_end_matches(['%', ',', ';']);
        word.contains(|it: char| it.is_ascii_digit())
            && word.chars().all(|it| it.is_ascii_digit() || it == '.')
    };
    let masked = |line: &str| {
        let words = line.split_whitespace().map(|word| if is_figure(word) { "#" } else { word });
        let indent: String = line.chars().take_while(|it| it.is_whitespace()).collect();
        let words: Vec<&str> = words.collect();
        if words.first() == Some(&"#") { words.join(" ") } else { indent + &words.join(" ") }
    };
    text.lines().map(|line| masked(line) + "\n").collect()
}

#[track_caller]
fn expect_snapshot(name: &str, found: &str) {
    let (kept, found) = (here("tests/analysis").join(name), without_figures(found));
    let expected = std::fs::read_to_string(&kept).unwrap_or_default();
    if expected != found {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&new, &found).unwrap();
        panic!("{found}\nif that is meant: cp {} {}", new.display(), kept.display());
    }
}

/// How little is thought in these tests, in the same way everywhere.
const QUICK: [&str; 4] = ["--precision", "f32", "--threads", "1"];

#[test]
fn a_position_is_shown_with_its_moves() {
    let network = published();
    let start = ["analyze", &network, "startpos", "--simulations", "64", "--top", "3"];
    let start = [&start[..], &QUICK].concat();
    expect_snapshot("start.txt", &output(&start));
    let json: serde_json::Value =
        serde_json::from_str(&output(&[&start[..], &["--json"]].concat())).unwrap();
    assert_eq!(json["side"], "black");
    let moves = json["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 14);
    let sum = |key: &str| moves.iter().map(|it| it[key].as_f64().unwrap()).sum::<f64>();
    assert!((sum("policy") - 1.0).abs() < 1e-3 && (sum("prior") - 1.0).abs() < 1e-3);
    assert_eq!(sum("visits"), 64.0);
    // The side to move is who moves: after one move it is White.
    let moved =
        ["analyze", &network, "position", "startpos", "moves", "5d5c", "--simulations", "8"];
    assert!(output(&moved).contains("White to move wins"));
}

#[test]
fn forced_wins_are_named_with_their_length_and_line() {
    let network = published();
    let analyze = |what: &[&str]| {
        let arguments = ["--simulations", "32", "--top", "2"];
        output(&[&["analyze", &network], what, &arguments, &QUICK].concat())
    };
    let mate = analyze(&[MATE_IN_FIVE]);
    assert!(mate.contains("forced win in 5 plies: "), "{mate}");
    expect_snapshot("mate.txt", &mate);
    // The side that is mated next sees it too.
    let lost = analyze(&[MATE_IN_FIVE, "moves", "B*3b"]);
    assert!(lost.contains("forced loss in 4 plies: "), "{lost}");
}

/// `m-17` of the oracle's mates.
const MATE_IN_FIVE: &str = "3s1/p4/1K3/3p1/2g1k w 2RBbgs 1";

#[test]
fn a_game_is_judged_move_by_move() {
    let (folder, network) = (tempfile::tempdir().unwrap(), published());
    let file = folder.path().join("games.usi");
    let games = "position startpos moves 5d5c 1b1c 2e3d\nposition startpos moves 1e1d\n";
    std::fs::write(&file, games).unwrap();
    let game = format!("{}#1", file.display());
    let svg = folder.path().join("curve.svg");
    let arguments =
        ["analyze", &network, &game, "--simulations", "32", "--svg", svg.to_str().unwrap()];
    let arguments = [&arguments[..], &QUICK].concat();
    let shown = output(&arguments).replace(folder.path().to_str().unwrap(), "");
    expect_snapshot("game.txt", &without_bars(&shown));
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    let json: serde_json::Value =
        serde_json::from_str(&output(&[&arguments[..], &["--json"]].concat())).unwrap();
    assert_eq!(json["scores"].as_array().unwrap().len(), 4);
    for ply in json["plies"].as_array().unwrap() {
        let lost = ply["lost"].as_f64().unwrap();
        let is_best = ply["played"]["usi"] == ply["better"]["usi"];
        assert!(lost >= 0.0 && (lost == 0.0 || !is_best), "{ply}");
    }
    // One position of it, and a picture of that.
    let board = folder.path().join("board.svg");
    let one = ["analyze", &network, &game, "--ply", "2", "--svg", board.to_str().unwrap()];
    assert!(output(&[&one[..], &["--simulations", "8"]].concat()).contains("Black to move"));
    assert!(std::fs::read_to_string(board).unwrap().contains("class=\"m\""));
}

/// The curve without its bars, whose heights are figures.
fn without_bars(text: &str) -> String {
    text.chars().filter(|it| !('▁'..='█').contains(it)).collect()
}

#[test]
fn openings_are_a_tree_of_lines() {
    let network = published();
    let arguments = ["openings", &network, "--depth", "2", "--width", "2", "--simulations", "64"];
    let arguments = [&arguments[..], &QUICK].concat();
    expect_snapshot("openings.txt", &output(&arguments));
    let json: serde_json::Value =
        serde_json::from_str(&output(&[&arguments[..], &["--json"]].concat())).unwrap();
    assert_eq!(json["first_moves"].as_array().unwrap().len(), 14);
    let lines = json["lines"].as_array().unwrap();
    assert!(!lines.is_empty() && lines.len() <= 2);
    for line in lines {
        assert!(!line["replies"].as_array().unwrap().is_empty());
        assert!((0.0..=1.0).contains(&line["score"].as_f64().unwrap()));
    }
}

#[test]
fn problems_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (run, network) = train(folder.path());
    for (name, network) in [("mates.txt", &published()), ("values.txt", &network)] {
        let arguments = ["measure", network, "--simulations", "4"];
        let shown = output(&[&arguments[..], &QUICK].concat());
        expect_snapshot(name, &shown);
    }
    let json = output(&["measure", &published(), "--simulations", "4", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["measures"][1]["simulations"], 4);
    assert_eq!(json["measures"][0]["marks"].as_array().unwrap().last().unwrap()["of"], 39);
    // A run says the same beside its other figures.
    let metrics = std::fs::read_to_string(Path::new(&run).join("metrics.jsonl")).unwrap();
    for tag in ["wins_kept", "draws_kept", "value_sign"] {
        assert!(metrics.contains(&format!("measure/{tag}_network")), "{tag}");
        assert!(metrics.contains(&format!("measure/{tag}_search")), "{tag}");
    }
    // Its games can be looked at, by its own network.
    let game = format!("{run}#3");
    let shown = output(&["analyze", &network, &game, "--simulations", "8"]);
    assert!(shown.starts_with(&format!("{game}: doubutsu, network of step")), "{shown}");
    let other = published();
    expect_failure(&["analyze", &other, &game], DATA, &["is of doubutsu", "plays minishogi"]);
    expect_failure(&["analyze", &network, &run], USAGE, &["#NUMBER", "keiko games"]);
    expect_failure(&["analyze", &network, &format!("{run}#99")], USAGE, &["no game 99"]);
    expect_failure(&["analyze", &network, &game, "--ply", "9999"], USAGE, &["--ply 9999", "plies"]);
    let record = folder.path().join("game.json");
    let line = output(&["games", &run, "--numbers", "3", "--as", "json"]);
    std::fs::write(&record, line).unwrap();
    let record = record.to_str().unwrap();
    let shown = output(&["analyze", &network, record, "--simulations", "8"]);
    assert!(shown.contains("doubutsu"));
    // The same game out of a file of KIF records.
    let kif = folder.path().join("games.kif");
    std::fs::write(&kif, output(&["games", &run, "--numbers", "2..3", "--as", "kif"])).unwrap();
    let kif = kif.to_str().unwrap();
    let read = output(&["analyze", &network, &format!("{kif}#2"), "--simulations", "8"]);
    assert_eq!(read.replace(&format!("{kif}#2"), record), shown);
    expect_failure(&["analyze", &network, kif], USAGE, &["holds 2 games"]);
    expect_failure(&["analyze", &other, record], DATA, &["is of doubutsu", "plays minishogi"]);
    expect_failure(
        &["measure", &network, "--rules", "minishogi"],
        DATA,
        &["plays doubutsu", "not minishogi"],
    );
}

#[test]
fn what_cannot_be_meant_is_said() {
    let (folder, network) = (tempfile::tempdir().unwrap(), published());
    let analyze = |what: &[&str], code, words: &[&str]| {
        expect_failure(&[&["analyze", &network], what].concat(), code, words);
    };
    analyze(&["startpos", "moves", "9z9z"], USAGE, &["move 1", "9z9z"]);
    analyze(&["startpos", "moves", "5d5c", "5d5c"], USAGE, &["move 2", "nothing on 5d"]);
    analyze(&["rbsgx/4p/5/P4/KGSBR b - 1"], USAGE, &["x"]);
    analyze(&["gle/1c1/1C1/ELG b - 1"], USAGE, &["rank"]);
    let mated = ["4k/5/3KP/5/5 b G 1", "moves", "G*1b"];
    analyze(&mated, USAGE, &["nothing to think about", "Black has won: mate"]);
    analyze(&[&mated[..], &["1a1b"]].concat(), USAGE, &["`1a1b`: the game is over"]);
    analyze(&["no-such-file"], USAGE, &["no-such-file", "RUN#NUMBER"]);
    analyze(&["startpos", "--ply", "1"], USAGE, &["--ply goes with a game"]);
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    analyze(&[&file("empty", "\n")], DATA, &["holds no game"]);
    analyze(&[&file("garbage", "dear diary")], DATA, &["garbage"]);
    analyze(&[&file("illegal", "startpos moves 5d5c 5d5c")], DATA, &["move 2"]);
    analyze(&[&file("start", "startpos")], DATA, &["without a move"]);
    analyze(&[&file("kif", "手合割：その他\n")], DATA, &["without a move"]);
    analyze(
        &[&file("handicap", "手合割：角落ち\n   1 ５二玉(51)\n")],
        DATA,
        &["角落ち", "no board"],
    );
    analyze(&[&file("broken", "{\"game\": 3}")], DATA, &["broken"]);
    let two = file("two", "startpos moves 5d5c\nstartpos moves 1e1d\n");
    analyze(&[&two], USAGE, &["holds 2 games", "#1 to"]);
    analyze(&[&format!("{two}#3")], USAGE, &["#3", "holds 2 games"]);
    let nowhere = folder.path().join("no/board.svg");
    let nowhere = ["startpos", "--simulations", "1", "--svg", nowhere.to_str().unwrap()];
    analyze(&nowhere, 3, &["board.svg"]);
    expect_failure(&["analyze", "no-such-network", "startpos"], DATA, &["no-such-network"]);
    expect_failure(&["openings", &network, "startpos", "moves", "9z9z"], USAGE, &["9z9z"]);
    expect_failure(&["openings", &network, &two, "--depth", "1"], USAGE, &["holds 2 games"]);
    expect_failure(&["measure", "no-such-network"], DATA, &["no-such-network"]);
}
