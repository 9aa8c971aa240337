//! A job that can be left alone: limits, signals, disks without room, forks, many who start at once.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const DONE: i32 = 0;
const USAGE: i32 = 2;
const ENVIRONMENT: i32 = 3;
const DATA: i32 = 4;
const STOPPED: i32 = 10;

/// What a slow machine may take for what is soon done.
const PATIENCE: Duration = Duration::from_secs(120);

/// How soon a run that is told to stops.
const SOON: Duration = Duration::from_secs(20);

/// `keiko train` with the smoke experiment, smaller still.
fn train(dir: &Path, more: &[&str]) -> Command {
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/smoke.toml");
    let smaller = [
        "training.games_per_generation=20",
        "network.channels=8",
        "arena.random_pairs=2",
        "arena.rival_pairs=3",
        "machine.disk_reserve_mebibytes=0",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_keiko"));
    command.arg("train").arg(smoke).arg("--run").arg(dir).stdin(Stdio::null());
    command.args(smaller.iter().flat_map(|set| ["--set", set])).args(more);
    command
}

fn keiko(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keiko")).args(arguments).output().unwrap()
}

#[track_caller]
fn expect(output: &Output, code: i32, words: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    for word in words {
        assert!(message.contains(word), "no `{word}` in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

fn send(signal: &str, process: &Child) {
    let sent = Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[track_caller]
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what} for too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The exit code of a process that has to end within a time.
#[track_caller]
fn end_of(process: &mut Child, within: Duration) -> i32 {
    let began = Instant::now();
    loop {
        if let Some(status) = process.try_wait().unwrap() {
            return status.code().unwrap();
        }
        assert!(began.elapsed() < within, "it goes on after {within:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn learner(dir: &Path) -> Vec<u8> {
    let newest = std::fs::read_dir(dir.join("state")).unwrap().map(|it| it.unwrap().path()).max();
    std::fs::read(newest.unwrap().join("learner.safetensors")).unwrap()
}

fn has_networks(dir: &Path) -> bool {
    dir.join("networks").read_dir().is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn a_run_stops_at_its_limits_and_goes_on_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, dir) = (folder.path().join("unbroken"), folder.path().join("run"));
    expect(&train(&unbroken, &[]).output().unwrap(), DONE, &["done"]);
    let limited = |more: &[&str]| train(&dir, more).output().unwrap();
    let words = ["stopped by --max-games 5", "the same command goes on"];
    expect(&limited(&["--max-games", "5"]), STOPPED, &words);
    let words = ["stopped by --max-steps 3 in generation 0 at step 3"];
    expect(&limited(&["--max-steps", "3"]), STOPPED, &words);
    expect(&limited(&[]), DONE, &["goes on"]);
    assert!(learner(&dir) == learner(&unbroken));
    let long = ["--set", "training.generations=100000", "--max-hours", "0.0003"];
    expect(&limited(&long), STOPPED, &["stopped by --max-hours 0.0003"]);
    expect(&limited(&["--max-hours", "0"]), USAGE, &["hours above 0"]);
    expect(&limited(&["--max-steps", "0"]), USAGE, &["--max-steps"]);
}

#[test]
fn a_closed_terminal_does_not_end_a_run_and_a_long_match_does_not_keep_it() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let endless = ["--set", "arena.simulations=1000000"];
    let mut training = train(&dir, &endless).stderr(Stdio::null()).spawn().unwrap();
    wait_for("no network is published", || has_networks(&dir));
    send("-HUP", &training);
    std::thread::sleep(Duration::from_millis(500));
    assert!(training.try_wait().unwrap().is_none(), "it hung up");
    send("-TERM", &training);
    assert_eq!(end_of(&mut training, SOON), STOPPED);
    assert!(newest_checkpoint(&dir).starts_with("00000000-2-"), "it is saved where it measures");
}

/// Generation, phase and step.
fn newest_checkpoint(dir: &Path) -> String {
    let names = std::fs::read_dir(dir.join("state")).unwrap().map(|it| it.unwrap().file_name());
    names.max().unwrap().into_string().unwrap()
}

#[test]
fn a_long_time_of_learning_does_not_keep_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    // Tens of thousands of steps are due.
    let long = [
        "--set",
        "training.games_per_generation=200",
        "--set",
        "training.samples_per_position=64",
        "--set",
        "training.batch_size=1",
        "--set",
        "training.micro_batch=1",
    ];
    let mut training = train(&dir, &long).stderr(Stdio::null()).spawn().unwrap();
    let games = dir.join("games/games-000000.seg");
    wait_for("no games are stored", || games.metadata().is_ok_and(|file| file.len() > 200));
    std::thread::sleep(Duration::from_millis(500));
    send("-INT", &training);
    assert_eq!(end_of(&mut training, SOON), STOPPED);
    let saved = newest_checkpoint(&dir);
    let step: u64 = saved.strip_prefix("00000000-1-").unwrap().parse().unwrap();
    assert!(step > 0, "{saved}");
    let words = [format!("step {step}, with 200 games"), format!("at step {}", step + 3)];
    let goes_on = train(&dir, &[&long[..], &["--max-steps", "3"]].concat()).output().unwrap();
    expect(&goes_on, STOPPED, &words.each_ref().map(String::as_str));
}

#[test]
fn a_long_generation_does_not_keep_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let long = [
        "--set",
        "training.games_per_generation=1000000",
        "--set",
        "selfplay.full_simulations=2000",
        "--set",
        "selfplay.cheap_simulations=2000",
    ];
    let mut training = train(&dir, &long).stderr(Stdio::null()).spawn().unwrap();
    wait_for("there is no log", || dir.join("log.txt").exists());
    std::thread::sleep(Duration::from_millis(500));
    send("-INT", &training);
    assert_eq!(end_of(&mut training, SOON), STOPPED);
}

#[test]
fn a_second_signal_leaves_at_once_and_tears_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    // One step takes a minute or so: no safe point is near.
    let heavy = [
        "--set",
        "training.batch_size=65536",
        "--set",
        "training.micro_batch=512",
        "--set",
        "network.channels=64",
        "--set",
        "network.blocks=8",
    ];
    let mut training = train(&dir, &heavy).stderr(Stdio::null()).spawn().unwrap();
    let games = dir.join("games/games-000000.seg");
    wait_for("no games are stored", || games.metadata().is_ok_and(|file| file.len() > 200));
    send("-TERM", &training);
    std::thread::sleep(Duration::from_millis(1200));
    if training.try_wait().unwrap().is_none() {
        send("-TERM", &training);
    }
    assert_eq!(end_of(&mut training, Duration::from_secs(5)), STOPPED);
    // The games are whole: they are not played again.
    let mut training = train(&dir, &heavy);
    let mut training = training.arg("--max-games=1").stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert!(training.try_wait().unwrap().is_none(), "a game was played");
    training.kill().unwrap();
    training.wait().unwrap();
}

#[test]
fn twenty_starts_make_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let start = |number: usize| {
        let said = folder.path().join(format!("said-{number}"));
        let mut command = train(&dir, &["--set", "training.generations=100000"]);
        (command.stderr(File::create(&said).unwrap()).spawn().unwrap(), said)
    };
    let mut all: Vec<(Child, PathBuf)> = (0..20).map(start).collect();
    wait_for("there is more than one", || {
        all.iter_mut().filter_map(|(process, _)| process.try_wait().unwrap()).count() == 19
    });
    let mut winners = 0;
    for (process, said) in &mut all {
        match process.try_wait().unwrap() {
            None => {
                winners += 1;
                send("-TERM", process);
                assert_eq!(end_of(process, SOON), STOPPED);
            }
            Some(status) => {
                let said = std::fs::read_to_string(said).unwrap();
                assert_eq!(status.code(), Some(ENVIRONMENT), "{said}");
                assert!(said.contains("another process is working on this run"), "{said}");
            }
        }
    }
    assert_eq!(winners, 1);
}

#[test]
fn a_fork_goes_on_with_other_settings_and_keeps_what_it_must() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (unbroken, dir) = (path("unbroken"), path("run"));
    expect(&train(&unbroken, &[]).output().unwrap(), DONE, &[]);
    expect(&train(&dir, &["--max-games", "27"]).output().unwrap(), STOPPED, &[]);
    let fork = |from: &Path, name: &str, set: &[&str]| {
        let (from, to) = (from.display().to_string(), path(name).display().to_string());
        let mut arguments = vec!["fork", &from, "--out", &to];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        keiko(&arguments)
    };
    // With the same settings it is the same run.
    expect(&fork(&dir, "same", &[]), DONE, &["forked at generation 1"]);
    expect(&train(&path("same"), &[]).output().unwrap(), DONE, &["goes on"]);
    assert!(learner(&path("same")) == learner(&unbroken));
    let set = ["training.batch_size=32", "seed=5", "training.overlap=1", "training.generations=4"];
    expect(&fork(&unbroken, "other", &set), DONE, &["training.batch_size: 64 -> 32"]);
    let origin = std::fs::read_to_string(path("other").join("origin.toml")).unwrap();
    assert!(origin.contains("kind = \"run\"") && origin.contains("seed: 1 -> 5"), "{origin}");
    let other = path("other").join("experiment.toml");
    let on = ["train", other.to_str().unwrap(), "--run", path("other").to_str().unwrap()]
        .map(str::to_owned);
    let on: Vec<&str> = on.iter().map(String::as_str).collect();
    expect(&keiko(&on), DONE, &["at generation 2 of 4", "done: 4 generations"]);

    let refused = |name: &str, set: &[&str], words: &[&str]| {
        expect(&fork(&dir, name, set), USAGE, words);
    };
    refused("wider", &["network.channels=16"], &["network.channels: 8 -> 16"]);
    refused("chess", &["rules=minishogi"], &["is a run of doubutsu, not of minishogi"]);
    refused("other", &[], &["exists already"]);
    refused("odd", &["training.batch_siez=3"], &["did you mean `training.batch_size`"]);
    expect(&fork(folder.path(), "none", &[]), USAGE, &["there is no run in this folder"]);
    assert!(!path("wider").exists() && !path("chess").exists() && !path("none").exists());
}

#[test]
fn a_run_may_begin_with_a_published_network() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    expect(&train(&path("first"), &[]).output().unwrap(), DONE, &[]);
    let mut networks: Vec<_> = std::fs::read_dir(path("first").join("networks"))
        .unwrap()
        .map(|entry| entry.unwrap().path().to_string_lossy().into_owned())
        .collect();
    networks.sort();
    let begin = |name: &str, network: &str, more: &[&str]| {
        train(&path(name), &[&["--init", network], more].concat()).output().unwrap()
    };
    expect(&begin("second", &networks[1], &["--max-games", "5"]), STOPPED, &["begins"]);
    // The same command goes on.
    expect(&begin("second", &networks[1], &[]), DONE, &["done"]);
    assert!(learner(&path("second")) != learner(&path("first")));
    let origin = std::fs::read_to_string(path("second").join("origin.toml")).unwrap();
    assert!(origin.contains("kind = \"network\"") && origin.contains("sha256"), "{origin}");
    expect(&begin("second", &networks[0], &[]), USAGE, &["did not begin with"]);
    expect(&begin("first", &networks[0], &[]), USAGE, &["did not begin with"]);
    let wider = begin("wider", &networks[0], &["--set", "network.channels=16"]);
    expect(&wider, USAGE, &["other shapes", "network.channels: 8 -> 16"]);
    let chess = begin("chess", &networks[0], &["--set", "rules=minishogi"]);
    expect(&chess, DATA, &["the network plays doubutsu, not minishogi"]);
    expect(&begin("none", "no/such/network", &[]), DATA, &["no/such/network"]);
    assert!(!path("wider").exists() && !path("chess").exists() && !path("none").exists());
}

/// A small disk of its own, in memory, until it is dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Nothing where one may not mount any.
    fn mount(mebibytes: u64) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={mebibytes}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder.path()).stderr(Stdio::null());
        let mounted = mount.status().is_ok_and(|status| status.success());
        if !mounted {
            eprintln!("no disk can be mounted here: not tested");
        }
        mounted.then_some(SmallDisk(folder))
    }

    /// Fills it but for so many bytes.
    fn fill(&self, but: u64) -> PathBuf {
        let path = self.0.path().join("ballast");
        let mut file = File::create(&path).unwrap();
        while file.write_all(&[7; 4096]).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len(length - but).unwrap();
        path
    }

    fn make_read_only(&self) {
        let mut mount = Command::new("mount");
        assert!(mount.args(["-o", "remount,ro"]).arg(self.0.path()).status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_run_waits_while_its_disk_has_no_room_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(16) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, dir) = (folder.path().join("unbroken"), disk.0.path().join("run"));
    let (notes, wide) = (folder.path().join("said"), ["--set", "network.channels=32"]);
    let said = || std::fs::read_to_string(&notes).unwrap_or_default();
    let start = |more: &[&str]| {
        let mut command = train(&dir, &[&wide, more].concat());
        command.stderr(File::create(&notes).unwrap()).spawn().unwrap()
    };
    expect(&train(&unbroken, &wide).output().unwrap(), DONE, &[]);
    assert_eq!(end_of(&mut start(&["--max-games", "5"]), PATIENCE), STOPPED);

    // A checkpoint does not fit.
    let ballast = disk.fill(100_000);
    let mut training = start(&[]);
    wait_for("it does not wait", || said().contains("waiting until there is room"));
    std::thread::sleep(Duration::from_secs(4));
    assert!(training.try_wait().unwrap().is_none(), "{}", said());
    assert_eq!(said().matches("waiting until there is room").count(), 1, "{}", said());
    std::fs::remove_file(ballast).unwrap();
    assert_eq!(end_of(&mut training, PATIENCE), DONE, "{}", said());
    assert!(said().contains("there is room on the disk again"), "{}", said());
    assert!(learner(&dir) == learner(&unbroken));

    // Less is free than is to be left free: a signal ends the wait.
    let reserve = ["--set", "machine.disk_reserve_mebibytes=17", "--set", "training.generations=9"];
    let mut training = start(&reserve);
    wait_for("it does not wait", || said().contains("machine.disk_reserve_mebibytes is 17"));
    send("-TERM", &training);
    assert_eq!(end_of(&mut training, SOON), STOPPED, "{}", said());

    disk.make_read_only();
    assert_eq!(end_of(&mut start(&[]), PATIENCE), ENVIRONMENT, "{}", said());
    assert!(said().contains("Read-only file system"), "{}", said());
}

#[test]
fn a_run_waits_for_room_to_go_on_and_one_that_begins_says_what_it_lacks() {
    let Some(disk) = SmallDisk::mount(16) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, dir) = (folder.path().join("unbroken"), disk.0.path().join("run"));
    let notes = folder.path().join("said");
    let said = || std::fs::read_to_string(&notes).unwrap_or_default();
    let start = || train(&dir, &[]).stderr(File::create(&notes).unwrap()).spawn().unwrap();
    let waits = || said().contains("waiting until there is room");
    expect(&train(&unbroken, &[]).output().unwrap(), DONE, &[]);

    let ballast = disk.fill(8192);
    expect(&train(&dir, &[]).output().unwrap(), ENVIRONMENT, &["No space left on device"]);
    assert_eq!(std::fs::read_dir(disk.0.path()).unwrap().count(), 1, "something is left behind");
    std::fs::remove_file(ballast).unwrap();
    expect(&train(&dir, &["--max-games", "27"]).output().unwrap(), STOPPED, &[]);

    let ballast = disk.fill(0);
    let mut training = start();
    wait_for("it does not wait", waits);
    send("-TERM", &training);
    assert_eq!(end_of(&mut training, SOON), STOPPED, "{}", said());
    let events = || std::fs::read_dir(dir.join("tensorboard")).unwrap().count();
    let before = events();
    let mut training = start();
    wait_for("it does not wait", waits);
    std::thread::sleep(Duration::from_secs(4));
    assert!(training.try_wait().unwrap().is_none(), "{}", said());
    assert_eq!(events(), before);
    std::fs::remove_file(ballast).unwrap();
    assert_eq!(end_of(&mut training, PATIENCE), DONE, "{}", said());
    assert_eq!(said().matches("waiting until there is room").count(), 1, "{}", said());
    assert!(learner(&dir) == learner(&unbroken));
}

/// A command that may not do what the rights of files forbid; nothing where that cannot be had: root
/// may do it all.
fn without_privileges(command: &Command) -> Option<Command> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|it| it.stdout == b"0\n");
    let held = || {
        let mut held = Command::new(if is_root { "setpriv" } else { "env" });
        let dropped = ["--bounding-set", "--inh-caps"]
            .map(|set| format!("{set}=-dac_override,-dac_read_search"));
        held.args(dropped.iter().filter(|_| is_root)).stdin(Stdio::null());
        held
    };
    if !held().arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("root's privileges cannot be dropped here: not tested");
        return None;
    }
    let mut unprivileged = held();
    unprivileged.arg(command.get_program()).args(command.get_args());
    Some(unprivileged)
}

/// Sets the rights of a file or folder, and of all in it.
fn chmod(rights: &str, path: &Path) {
    let set = Command::new("chmod").args(["-R", rights]).arg(path).status().unwrap();
    assert!(set.success());
}

#[test]
fn where_nobody_may_write_a_run_says_so_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (unbroken, locked) = (folder.path().join("unbroken"), folder.path().join("locked"));
    let dir = folder.path().join("run");
    std::fs::create_dir(&locked).unwrap();
    let Some(mut begin) = without_privileges(&train(&locked.join("run"), &[])) else { return };
    let mut go_on = without_privileges(&train(&dir, &[])).unwrap();
    expect(&train(&unbroken, &[]).output().unwrap(), DONE, &[]);
    let words = ["Permission denied"];

    chmod("a-w", &locked);
    expect(&begin.output().unwrap(), ENVIRONMENT, &words);
    assert_eq!(std::fs::read_dir(&locked).unwrap().count(), 0);
    chmod("u+w", &locked);

    expect(&train(&dir, &["--max-games", "5"]).output().unwrap(), STOPPED, &[]);
    let saved = newest_checkpoint(&dir);
    chmod("a-w", &dir);
    expect(&go_on.output().unwrap(), ENVIRONMENT, &words);
    // It goes on, and finds out when it is to save.
    chmod("u+w", &dir);
    chmod("a-w", &dir.join("state"));
    expect(&go_on.output().unwrap(), ENVIRONMENT, &["state", words[0]]);
    assert_eq!(newest_checkpoint(&dir), saved);
    let log = std::fs::read_to_string(dir.join("log.txt")).unwrap();
    assert!(log.contains("failed: ") && log.contains(words[0]), "{log}");

    chmod("a-rwx", &dir);
    expect(&go_on.output().unwrap(), ENVIRONMENT, &["experiment.toml", words[0]]);
    chmod("u+rwX", &dir);
    expect(&go_on.output().unwrap(), DONE, &[]);
    assert!(learner(&dir) == learner(&unbroken));
}
