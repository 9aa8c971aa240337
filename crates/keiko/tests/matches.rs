//! Matches as a user meets them: tables, folders that are gone on with, engines that misbehave.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

const DONE: i32 = 0;
const USAGE: i32 = 2;
const DATA: i32 = 4;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.arg("match").args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn expect_output(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(DONE), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[track_caller]
fn expect_failure(arguments: &[&str], code: i32, words: &[&str]) {
    let output = run(arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
}

/// The lines of a match's games without what a clock changes, in number order.
fn games(folder: &Path) -> Vec<serde_json::Value> {
    let lines = std::fs::read_to_string(folder.join("games.jsonl")).unwrap();
    let mut games: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    games.iter_mut().for_each(|game| drop(game.as_object_mut().unwrap().remove("milliseconds")));
    games.sort_by_key(|game| game["number"].as_u64());
    games
}

const BUILT_IN: [&str; 7] =
    ["material:1", "mate1", "--rules", "minishogi", "--games", "40", "--workers=2"];

#[test]
fn a_table_says_what_a_match_says() {
    let expected = "\
material:1 against mate1: 40 games, 39 won, 0 drawn, 1 lost
score 97.5% [87.2, 99.5], +636 Elo [+333, +926]
  as Black: 19 won, 0 drawn, 1 lost; 95.0% [76.4, 99.1], +512 Elo [+204, +819]
  as White: 20 won, 0 drawn, 0 lost; 100.0% [83.9, 100.0], +645 Elo [+287, +inf]
normalised +1071 Elo [-6, +inf]
pairs by points: 0 of 0, 0 of 1/2, 1 of 1, 0 of 1 1/2, 19 of 2
ended by: 33 mate, 7 stalemate
";
    assert_eq!(expect_output(&BUILT_IN), expected);
}

#[test]
fn a_match_goes_on_where_it_was_and_comes_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let with =
        |out: &Path| expect_output(&[&BUILT_IN[..], &["--out", out.to_str().unwrap()]].concat());
    let table = with(&whole);
    for name in ["result.json", "games.usi", "games.pgn", "kif/000039.kif", "match.toml"] {
        assert!(whole.join(name).exists(), "{name}");
    }
    // What a crash leaves behind: some games, and a line cut short.
    with(&parts);
    let path = parts.join("games.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = lines.lines().take(14).collect();
    std::fs::write(&path, kept.join("\n") + "\n{\"number\":30,\"bla").unwrap();
    assert_eq!(with(&parts), table);
    assert_eq!(games(&parts), games(&whole));
    for name in ["result.json", "games.usi", "games.pgn"] {
        let [one, other] = [&whole, &parts].map(|dir| std::fs::read_to_string(dir.join(name)));
        assert_eq!(one.unwrap(), other.unwrap(), "{name}");
    }
    let out = parts.to_str().unwrap();
    expect_failure(
        &[&BUILT_IN[..], &["--out", out, "--seed", "2"]].concat(),
        USAGE,
        &["holds another match", "--seed: `1` there, `2` now"],
    );
    let other = ["material:2", "mate1", "--rules", "minishogi", "--out", out];
    expect_failure(&other, USAGE, &["first player: `material:1` there, `material:2` now"]);
    std::fs::write(&path, "{}\n").unwrap();
    expect_failure(&[&BUILT_IN[..], &["--out", out]].concat(), DATA, &["games.jsonl, line 1"]);
    std::fs::write(folder.path().join("letter"), "dear").unwrap();
    let full = folder.path().to_str().unwrap();
    expect_failure(
        &[&BUILT_IN[..], &["--out", full]].concat(),
        USAGE,
        &["something else than a match"],
    );
}

#[test]
fn a_test_ends_a_match_when_it_knows() {
    let sprt = ["material:1", "mate1", "--rules", "minishogi", "--sprt", "0,100"];
    let output = expect_output(&sprt);
    assert!(output.contains("test of 0 or 100 Elo: 100 is the likelier one"), "{output}");
    for (bounds, word) in [("10", "two numbers"), ("10,0", "lower one first"), ("a,b", "0,10")] {
        let arguments = ["random", "mate1", "--rules", "minishogi", "--sprt", bounds];
        expect_failure(&arguments, USAGE, &["--sprt", word]);
    }
}

#[test]
fn openings_come_from_books_and_handicaps() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("book.txt");
    std::fs::write(&book, "# two\nstartpos moves 5d5c\n\nsfen 4k/5/5/P4/KGSBR w - 1\n").unwrap();
    let book = book.to_str().unwrap();
    let random = ["random", "random", "--rules", "minishogi", "--moves", "--games", "4"];
    let output = expect_output(&[&random[..], &["--book", book]].concat());
    let lines: Vec<&str> = output.lines().collect();
    for line in &lines[..2] {
        assert!(line.contains("sfen rbsgk/4p/5/P4/KGSBR b - 1 moves 5d5c "), "{line}");
    }
    for line in &lines[2..4] {
        assert!(line.contains("sfen 4k/5/5/P4/KGSBR w - 1 moves "), "{line}");
    }
    let output = expect_output(&[&random[..], &["--handicap", "four-piece"]].concat());
    assert_eq!(output.matches("sfen 4k/4p/5/P4/KGSBR w - 1").count(), 4, "{output}");
    for (arguments, words) in [
        (["--handicap", "four-pice"], &["did you mean `four-piece`", "naked-king"][..]),
        (["--book", "no-such-file"], &["--book no-such-file"]),
    ] {
        let output = run(&[&random[..], &arguments].concat());
        let message = text(&output.stderr);
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
    std::fs::write(folder.path().join("bad"), "startpos\nstartpos moves 5d5b\n").unwrap();
    let bad = folder.path().join("bad");
    let arguments = [&random[..], &["--book", bad.to_str().unwrap()]].concat();
    expect_failure(&arguments, USAGE, &["line 2", "5d5b", "illegal"]);
}

#[test]
fn more_than_two_players_meet_and_are_rated_together() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let players = ["random", "mate1", "material:1", "random", "--rules", "minishogi"];
    let rest = ["--games", "6", "--seed", "3", "--workers", "2"];
    let with = |out: &Path, more: &[&str]| {
        let out = ["--out", out.to_str().unwrap()];
        expect_output(&[&players[..], &rest, &out, more].concat())
    };
    let table = with(&whole, &[]);
    for line in ["random against mate1: 6 games", "material:1 against random #4: 6 games"] {
        assert!(table.contains(line), "{table}");
    }
    let (_, ratings) = table.split_once("\n\nplayer").unwrap();
    let names: Vec<&str> =
        ratings.lines().skip(1).map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!((names[0], names[1]), ("material:1", "mate1"), "{table}");
    assert!(
        table.lines().any(|line| line.starts_with("random ") && line.contains(" +0 ")),
        "{table}"
    );
    assert_eq!(games(&whole).len(), 36);
    // Every two players have the same openings.
    let opening = |number: usize| games(&whole)[number]["moves"].as_array().unwrap()[..4].to_vec();
    assert!((1..12).all(|number| opening(number) == opening(0)));
    // What was interrupted comes to the same.
    with(&parts, &[]);
    let path = parts.join("games.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap();
    let kept: String = lines.split_inclusive('\n').step_by(3).collect();
    std::fs::write(&path, kept).unwrap();
    assert_eq!(with(&parts, &[]), table);
    assert_eq!(games(&parts), games(&whole));
    let result = std::fs::read_to_string(parts.join("result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["pairings"].as_array().unwrap().len(), 6);
    assert_eq!(result["ratings"][0]["player"], "material:1");
    let gauntlet = expect_output(&[&players[..], &rest, &["--gauntlet"]].concat());
    assert_eq!(gauntlet.matches(" against ").count(), 3, "{gauntlet}");
    let out = parts.to_str().unwrap();
    let other = [&players[..], &rest, &["--gauntlet", "--out", out]].concat();
    expect_failure(&other, USAGE, &["holds another match", "who meets"]);
    for (more, words) in [
        (["--sprt", "0,10"], &["--sprt", "these are 4"][..]),
        (["--of", "5:nodes=1"], &["--of 5:nodes=1", "from 1 to 4"]),
        (["--of", "3:nodes"], &["--of nodes", "NAME=VALUE"]),
    ] {
        expect_failure(&[&players[..], &more].concat(), USAGE, words);
    }
}

#[test]
fn a_fallen_flag_loses() {
    let folder = tempfile::tempdir().unwrap();
    let play = |go: &str, clock: &str| {
        let player = pretend(folder.path(), "clock.sh", go);
        let games = ["--rules", "minishogi", "--games", "2", "--workers", "1"];
        let clock = ["--clock", clock, "--tolerance", "0"];
        expect_output(&[&[player.as_str(), "random"], &games[..], &clock].concat())
    };
    let late = play("sleep 5", "0.2");
    assert!(late.contains("0 illegal moves, 0 crashes, 2 time losses"), "{late}");
    // It resigns where it is told its clock, else its move is illegal.
    let told = play(
        "case \"$line\" in *' binc 500 winc 500'*) echo bestmove resign;; \
         *) echo bestmove 9z9z;; esac",
        "60+0.5",
    );
    assert!(told.contains("2 resignation"), "{told}");
    let wrong = ["random", "mate1", "--rules", "minishogi", "--clock"];
    expect_failure(&[&wrong[..], &["fast"]].concat(), USAGE, &["--clock fast", "60+0.5"]);
    expect_failure(&[&wrong[..], &["60", "--nodes", "5"]].concat(), USAGE, &["--clock"]);
}

/// An engine that answers the first `go` of its life as it does, by a shell's commands.
fn pretend(folder: &Path, name: &str, go: &str) -> String {
    let script = format!(
        "while read line; do case \"$line\" in\nusi) echo usiok;;\nisready) echo readyok;;\n\
         go*) {go};;\nquit) exit;; esac; done"
    );
    let path = folder.join(name);
    std::fs::write(&path, script).unwrap();
    format!("usi:sh {}", path.to_str().unwrap())
}

#[test]
fn faults_are_counted_apart_and_the_match_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let play = |name: &str, go: &str| {
        let player = pretend(folder.path(), name, go);
        let games = ["--rules", "minishogi", "--games", "4", "--workers", "1"];
        let time = ["--movetime", "50", "--tolerance", "100"];
        expect_output(&[&[player.as_str(), "random"], &games[..], &time].concat())
    };
    let illegal = play("illegal.sh", "echo bestmove 9z9z");
    assert!(illegal.contains("4 games, 0 won, 0 drawn, 4 lost"), "{illegal}");
    assert!(illegal.contains("4 illegal moves, 0 crashes, 0 time losses"), "{illegal}");
    let crash = play("crash.sh", "exit 3");
    assert!(crash.contains("0 illegal moves, 4 crashes, 0 time losses"), "{crash}");
    let late = play("late.sh", "sleep 5");
    assert!(late.contains("0 illegal moves, 0 crashes, 4 time losses"), "{late}");
    assert!(late.contains("ended by: 4 time"), "{late}");
    let resigned = play("resigns.sh", "echo bestmove resign");
    assert!(!resigned.contains("crashes") && resigned.contains("4 resignation"), "{resigned}");
}

/// fairy-stockfish, where it is installed.
fn fairy() -> Option<&'static str> {
    let found = ["/usr/games/fairy-stockfish", "/usr/bin/fairy-stockfish"];
    let found = found.into_iter().find(|path| Path::new(path).exists());
    if found.is_none() {
        eprintln!("fairy-stockfish is not installed: not played");
    }
    found
}

#[test]
fn engines_of_every_protocol_play() {
    let Some(engine) = fairy() else {
        return;
    };
    for (protocol, limit) in
        [("usi", ["--nodes", "200"]), ("uci", ["--nodes", "200"]), ("xboard", ["--movetime", "50"])]
    {
        let player = format!("{protocol}:{engine}");
        let games = ["random", &player, "--rules", "minishogi", "--games", "4"];
        let score = expect_output(&[&games[..], &limit].concat());
        assert!(score.contains("0 won, 0 drawn, 4 lost"), "{protocol}: {score}");
        assert!(!score.contains("lost by"), "{protocol}: {score}");
    }
    let player = format!("xboard:{engine}");
    let nodes = ["random", &player, "--rules", "minishogi"];
    expect_failure(&nodes, 3, &["knows no nodes: give --movetime"]);
}

#[test]
fn engines_may_have_other_letters_for_the_pieces() {
    let Some(engine) = fairy() else {
        return;
    };
    for (protocol, name, limit) in [
        ("usi", "UCI_Variant", ["--nodes", "100"]),
        ("uci", "UCI_Variant", ["--nodes", "100"]),
        ("xboard", "variant", ["--clock", "60+0.05"]),
    ] {
        // Its pieces turn over when they capture, and drop either face up.
        let player = format!("{protocol}:{engine}");
        let games = ["random", &player, "--rules", "microshogi", "--games", "6"];
        let option = format!("{name}=micro");
        let score = expect_output(&[&games[..], &limit, &["--b", &option]].concat());
        assert!(score.contains("6 lost") && !score.contains("lost by"), "{protocol}: {score}");
    }
    let unnamed = ["random", &format!("usi:{engine}"), "--rules", "microshogi"];
    expect_failure(&unnamed, 3, &["\"microshogi\"", "but micro, which begins alike"]);
}

#[test]
fn players_that_are_none_are_explained() {
    let games = ["--rules", "minishogi"];
    for (player, words) in [
        ("material:0", "from 1 to 8"),
        ("material:x", "from 1 to 8"),
        ("nobody", "`mate1`, `material:DEPTH`"),
    ] {
        expect_failure(&[&[player, "random"], &games[..]].concat(), USAGE, &[player, words]);
    }
    let own = ["random", "mate1", "--rules", "minishogi", "--a", "nodes=0"];
    expect_failure(&own, USAGE, &["nodes=0", "from 1"]);
}
