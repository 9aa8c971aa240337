//! The program as a user meets it: commands, messages, exit codes.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const DONE: i32 = 0;
const USAGE: i32 = 2;
const ENVIRONMENT: i32 = 3;
const DATA: i32 = 4;
const STOPPED: i32 = 10;

fn keiko(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    keiko(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The message and exit code of a command that fails.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    (output.status.code().unwrap(), text(&output.stderr))
}

#[track_caller]
fn expect_failure(arguments: &[&str], code: i32, words: &[&str]) {
    let (found, message) = failure(arguments);
    assert_eq!(found, code, "{message}");
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

#[track_caller]
fn expect_output(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(DONE), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn smoke() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../configs/smoke.toml")
        .to_string_lossy()
        .into_owned()
}

/// A copy of the smoke experiment with one text replaced by another.
fn edited_smoke(folder: &Path, from: &str, to: &str) -> String {
    let source = std::fs::read_to_string(smoke()).unwrap();
    assert!(source.contains(from), "{from}");
    let path = folder.join("edited.toml");
    std::fs::write(&path, source.replacen(from, to, 1)).unwrap();
    path.to_string_lossy().into_owned()
}

/// Trains the smoke experiment in `folder` and returns the run and its last network.
fn train_smoke(folder: &Path, more: &[&str]) -> (PathBuf, String) {
    let dir = folder.join("run");
    let experiment = smoke();
    let arguments = [&["train", &experiment, "--run", dir.to_str().unwrap()], more].concat();
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(DONE), "{}", text(&output.stderr));
    let mut networks: Vec<_> =
        std::fs::read_dir(dir.join("networks")).unwrap().map(|e| e.unwrap().path()).collect();
    networks.sort();
    (dir, networks.pop().unwrap().to_string_lossy().into_owned())
}

#[test]
fn perft_counts() {
    assert_eq!(expect_output(&["perft", "minishogi", "4"]), "35401\n");
    assert_eq!(expect_output(&["perft", "doubutsu", "6"]), "71677\n");
    let naked = ["perft", "minishogi", "3", "--sfen", "4k/5/5/P4/KGSBR w - 1", "--divide"];
    let output = expect_output(&naked);
    assert_eq!(output.lines().count(), 3, "{output}");
    assert_eq!(output.lines().last(), Some("112"));
}

#[test]
fn shows_variants_and_positions() {
    assert!(expect_output(&["show", "doubutsu"]).contains("gle/1c1/1C1/ELG b - 1"));
    let position = expect_output(&["show", "4k/2K2/3G1/5/5 b P 1"]);
    assert!(position.contains("27 legal moves") && !position.contains("P*1b"), "{position}");
    let encoding = expect_output(&["show", "minishogi", "--encoding"]);
    assert!(encoding.contains("own:+R") && encoding.contains("drop:G"), "{encoding}");
    expect_failure(&["show", "4k/2K2/3G1/5/4 b P 1", "--rules", "minishogi"], USAGE, &["5"]);
}

#[test]
fn every_command_has_help_with_an_example() {
    let newer =
        ["games", "fork", "report", "init", "doctor", "status", "schema", "completions", "ladder"];
    let older =
        ["train", "match", "engine", "export", "inspect", "show", "check", "perft", "bench"];
    for command in older.into_iter().chain(newer) {
        let help = expect_output(&[command, "--help"]);
        assert!(help.contains("Example"), "{command}: {help}");
    }
}

#[test]
fn variants_that_are_not_there_are_named() {
    expect_failure(
        &["perft", "minishoji", "3"],
        USAGE,
        &["minishoji", "did you mean `minishogi`", "doubutsu"],
    );
    expect_failure(&["perft", "no/such.toml", "3"], USAGE, &["no/such.toml"]);
    expect_failure(&["perft", "minishogi", "3", "--sfen", "5/5/5/5/5 b - 1"], USAGE, &["piece"]);
    expect_failure(
        &["perft", "minishogi", "3", "--sfen", "rbsgx/4p/5/P4/KGSBR b - 1"],
        USAGE,
        &["x"],
    );
}

#[test]
fn experiments_that_cannot_be_meant_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let edits: [(&str, &str, &[&str]); 10] = [
        ("channels", "chanels", &["line 10", "chanels", "did you mean `channels`"]),
        ("[search]", "[serach]", &["serach", "did you mean `search`"]),
        ("blocks = 1", "blocks = \"one\"", &["blocks", "invalid type"]),
        ("blocks = 1", "", &["missing field `blocks`"]),
        ("full_share = 0.5", "full_share = 1.5", &["selfplay.full_share = 1.5", "up to 1"]),
        ("micro_batch = 32", "micro_batch = 33", &["training.micro_batch = 33", "divisor"]),
        ("overlap = ", "overlap = 2 # ", &["training.overlap = 2", "0 or 1"]),
        ("clip_norm = 2.0", "clip_norm = 0.0", &["learner.clip_norm", "above 0"]),
        ("rules = \"doubutsu\"", "rules = \"dobutsu\"", &["dobutsu", "did you mean `doubutsu`"]),
        ("name = \"smoke\"", "name = \"smo/ke\"", &["name", "folder"]),
    ];
    for (from, to, words) in edits {
        let file = edited_smoke(folder.path(), from, to);
        expect_failure(&["check", &file], USAGE, words);
        let dir = folder.path().join("run");
        expect_failure(&["train", &file, "--run", dir.to_str().unwrap()], USAGE, words);
        assert!(!dir.exists());
    }
    let smoke = smoke();
    expect_failure(
        &["check", &smoke, "--set", "network.blcoks=2"],
        USAGE,
        &["did you mean `network.blocks`"],
    );
    expect_failure(&["check", &smoke, "--set", "network.blocks"], USAGE, &["KEY=VALUE"]);
    expect_failure(
        &["check", &smoke, "--set", "network.blocks=0"],
        USAGE,
        &["network.blocks = 0", "1 to 64"],
    );
    expect_failure(&["check", "no-such.toml"], USAGE, &["no-such.toml"]);
    assert!(expect_output(&["check", &smoke]).contains("doubutsu"));
}

#[test]
fn a_run_plays_matches_and_is_an_engine() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, network) = train_smoke(folder.path(), &[]);
    let score =
        expect_output(&["match", &network, "random", "--games", "20", "--simulations", "8"]);
    assert!(
        score.contains("20 games") && score.contains("Elo") && score.contains("as Black"),
        "{score}"
    );

    let mut engine = keiko(&["engine", "--network", &network]);
    let mut engine = engine.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let session = "usi\nisready\nusinewgame\nposition startpos\ngo nodes 16\n\
        position startpos moves 2c2b\ngo movetime 50\nposition startpos moves 9z9z\ngo nodes 4\n\
        position sfen 1l1/3/3/1L1 b G 1\ngo infinite\nstop\nquit\n";
    engine.stdin.take().unwrap().write_all(session.as_bytes()).unwrap();
    let answer = text(&engine.wait_with_output().unwrap().stdout);
    assert!(answer.contains("usiok") && answer.contains("readyok"), "{answer}");
    assert_eq!(answer.matches("bestmove").count(), 4, "{answer}");
    assert!(answer.contains("info string error move 1: `9z9z`"), "{answer}");

    // A network of another game, a damaged one, and what is none.
    expect_failure(
        &["match", &network, "random", "--rules", "minishogi"],
        DATA,
        &["doubutsu", "minishogi"],
    );
    expect_failure(&["engine", "--network", dir.to_str().unwrap()], DATA, &["card.toml"]);
    let weights = Path::new(&network).join("weights.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    bytes.truncate(bytes.len() - 7);
    std::fs::write(&weights, bytes).unwrap();
    let mut engine = keiko(&["engine", "--network", &network]);
    let engine = engine.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut engine = engine.spawn().unwrap();
    engine.stdin.take().unwrap().write_all(b"isready\n").unwrap();
    let output = engine.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(DATA));
    assert!(text(&output.stdout).contains("SHA-256"), "{}", text(&output.stdout));
    expect_failure(&["match", "nobody", "random"], USAGE, &["nobody"]);
    expect_failure(&["match", "random", "random"], USAGE, &["--rules"]);
    expect_failure(
        &["match", "random", "usi:no-such-engine", "--rules", "minishogi"],
        ENVIRONMENT,
        &["no-such-engine"],
    );
}

#[test]
fn a_run_is_stopped_by_a_signal_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let experiment = smoke();
    let arguments = [
        "train",
        &experiment,
        "--run",
        dir.to_str().unwrap(),
        "--set",
        "training.generations=1000",
    ];
    let mut training = keiko(&arguments).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while !dir.join("networks").read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        assert!(began.elapsed() < Duration::from_secs(60), "no network within a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
    expect_failure(&arguments, ENVIRONMENT, &["another process"]);
    // Who only looks does not disturb.
    let status = expect_output(&["status", dir.to_str().unwrap(), "--json"]);
    assert!(status.contains("\"going_on\": true"), "{status}");
    // Twice at once, as `timeout` does it: still one wish.
    for _ in 0..2 {
        let killed =
            Command::new("kill").args(["-TERM", &training.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }
    let stopped = Instant::now();
    assert_eq!(training.wait().unwrap().code(), Some(STOPPED));
    assert!(stopped.elapsed() < Duration::from_secs(20));
    // It goes on, to an end it may be given now.
    let state = std::fs::read_dir(dir.join("state"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .max()
        .unwrap();
    let generation: u64 = state.to_str().unwrap()[..8].parse().unwrap();
    let last = format!("training.generations={}", generation + 1);
    let output = run(&["train", &experiment, "--run", dir.to_str().unwrap(), "--set", &last]);
    assert_eq!(output.status.code(), Some(DONE), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("goes on"));
    let refused =
        ["train", &experiment, "--run", dir.to_str().unwrap(), "--set", "seed=9", "--set", &last];
    expect_failure(&refused, USAGE, &["seed: 1 -> 9"]);
}

#[test]
fn folders_that_cannot_be_used_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let experiment = smoke();
    let inside = file.join("run");
    expect_failure(
        &["train", &experiment, "--run", inside.to_str().unwrap()],
        ENVIRONMENT,
        &["file"],
    );
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("letter.txt"), "dear").unwrap();
    expect_failure(&["train", &experiment, "--run", full.to_str().unwrap()], USAGE, &["no run"]);
    assert_eq!(std::fs::read_to_string(full.join("letter.txt")).unwrap(), "dear");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn devices_that_cannot_be_used_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let (experiment, run) = (smoke(), dir.to_str().unwrap());
    let train = |device: &str, code: i32, words: &[&str]| {
        let device = format!("machine.device={device}");
        let set = ["--set", &device, "--set", "machine.workers=1"];
        let exact = ["--set", "inference.precision=f32"];
        let arguments = ["train", &experiment, "--run", run];
        expect_failure(&[&arguments[..], &set, &exact].concat(), code, words);
        assert!(!dir.exists());
    };
    train("vulcan:0", USAGE, &["`vulcan:0` is no device", "did you mean `vulkan`?"]);
    train("cuda:x", USAGE, &["a GPU's number follows its kind"]);
    if cfg!(not(feature = "cuda")) {
        let words = ["machine.device = \"cuda:0\"", "built without cuda", "it has cpu"];
        train("cuda:0", ENVIRONMENT, &words);
        let check = ["check", &experiment, "--set", "machine.device=cuda:0"];
        let rest = ["--set", "machine.workers=1", "--set", "inference.precision=f32"];
        expect_failure(&[&check[..], &rest].concat(), ENVIRONMENT, &words);
    }
}

#[test]
fn a_users_own_variant_is_one_more_table() {
    let folder = tempfile::tempdir().unwrap();
    let variant = folder.path().join("tiny.toml");
    let table = r#"
        name = "tiny"
        board = { files = 3, ranks = 4 }
        start = "gk1/1p1/1P1/1KG b - 1"
        [pieces]
        K = { moves = "K", royal = true }
        G = { moves = "WfF" }
        P = { moves = "fW", promotes = "WfF", per_file = 1 }
        [promotion]
        when = "zone"
        zone = 1
        [drops]
        faces = "front"
        no_mate_by = ["P"]
        [invariants]
        royal_safe = true
        movable = true
        [goals]
        no_moves = "loses"
        repetition = { count = 4, result = "draw", perpetual_check = "loses" }
    "#;
    std::fs::write(&variant, table).unwrap();
    let variant = variant.to_str().unwrap();
    assert!(expect_output(&["check", variant]).contains("tiny on 3x4"));
    assert!(expect_output(&["perft", variant, "3"]).trim().parse::<u64>().unwrap() > 100);
    let set = format!("rules={variant}");
    let (_, network) = train_smoke(folder.path(), &["--set", &set]);
    let score = expect_output(&["match", &network, "random", "--rules", variant, "--games", "4"]);
    assert!(score.contains("4 games"), "{score}");
}

#[test]
fn plays_an_outside_engine_where_one_is_installed() {
    let engine = ["/usr/games/fairy-stockfish", "/usr/bin/fairy-stockfish"];
    let Some(engine) = engine.iter().find(|path| Path::new(path).exists()) else {
        eprintln!("fairy-stockfish is not installed: not played");
        return;
    };
    let player = format!("usi:{engine}");
    let arguments =
        ["match", "random", &player, "--rules", "minishogi", "--games", "2", "--nodes", "100"];
    let score = expect_output(&arguments);
    assert!(score.contains("0 won, 0 drawn, 2 lost"), "{score}");
}

#[test]
fn a_run_may_be_named_by_a_bare_word() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        keiko(&["train", &smoke(), "--run", "bare"]).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(DONE), "{}", text(&output.stderr));
    assert!(folder.path().join("bare/experiment.toml").exists());
}

#[test]
fn what_leaves_nothing_to_learn_or_to_play_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let smoke = smoke();
    // Cheap searches alone, in games too short for a proven win, which would teach, too.
    let short = [
        "selfplay.ply_limit=2",
        "selfplay.random_opening_plies=1",
        "selfplay.sampled_opening_plies=1",
        "arena.opening_plies=1",
    ];
    let set = short.iter().chain(&["selfplay.full_share=1e-300"]).flat_map(|it| ["--set", it]);
    let train = ["train", &smoke, "--run", dir.to_str().unwrap()];
    let none: Vec<&str> = train.into_iter().chain(set).collect();
    let (code, message) = failure(&none);
    assert_eq!(code, USAGE, "{message}");
    assert!(message.contains("nothing to learn from"), "{message}");
    let huge = edited_smoke(folder.path(), "seed = 1", "seed = 18446744073709551615");
    expect_failure(&["check", &huge], USAGE, &["seed"]);
    let long =
        ["match", "random", "random", "--rules", "doubutsu", "--games", "2", "--opening-plies"];
    expect_failure(&[&long[..], &["300"]].concat(), USAGE, &["--ply-limit", "256"]);
    let longer = [&long[..], &["5000", "--ply-limit", "9000"]].concat();
    expect_failure(&longer, ENVIRONMENT, &["5000 random plies"]);
}

#[test]
fn games_that_are_gone_are_missed() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, _) = train_smoke(folder.path(), &[]);
    std::fs::remove_file(dir.join("games/games-000000.seg")).unwrap();
    let arguments =
        ["train", &smoke(), "--run", dir.to_str().unwrap(), "--set", "training.generations=3"];
    let message = text(&run(&arguments).stderr);
    assert!(message.contains("200 of the last 200 games are missing"), "{message}");
}

#[test]
fn an_endless_search_ends_for_any_command_and_with_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let (_, network) = train_smoke(folder.path(), &[]);
    for session in
        ["position startpos\ngo infinite\nposition startpos\ngo nodes 4\n", "go infinite\n"]
    {
        let mut engine = keiko(&["engine", "--network", &network]);
        let mut engine = engine.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        engine.stdin.take().unwrap().write_all(session.as_bytes()).unwrap();
        let answer = text(&engine.wait_with_output().unwrap().stdout);
        assert_eq!(answer.matches("bestmove").count(), session.matches("go ").count(), "{answer}");
    }
}
