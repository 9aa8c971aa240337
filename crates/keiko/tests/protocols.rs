//! What GUIs say and what the engine answers, protocol by protocol, and what it does with what no
//! GUI should say.
//!
//! In `transcripts/`, `>` is said to the engine and `<` has to be answered next, where `*` stands
//! for any text. How a search stands meanwhile may be left out.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

const NETWORK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../checkpoints/published/minishogi");

/// An engine that is talked to line by line.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Session {
    fn start(arguments: &[&str]) -> Session {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keiko"))
            .arg("engine")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Session { input: child.stdin.take(), child, lines }
    }

    fn with_network() -> Session {
        Session::start(&["--network", NETWORK, "--threads", "1", "--simulations", "64"])
    }

    fn say(&mut self, line: &str) {
        self.say_bytes(format!("{line}\n").as_bytes());
    }

    fn say_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// The next line that is like the pattern; only those may be passed over that say how a
    /// search stands.
    fn expect(&mut self, pattern: &str, context: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("{context}: no answer like `{pattern}`"));
            if is_like(&line, pattern) {
                return line;
            }
            let is_passing = line.starts_with("info depth")
                || line.starts_with(|c: char| c.is_ascii_digit() || c == '-');
            assert!(is_passing, "{context}: expected `{pattern}`, got `{line}`");
        }
    }

    /// What is left to read once the engine is told to leave, and its exit code.
    fn finish(mut self) -> (Vec<String>, Option<i32>) {
        drop(self.input.take());
        let mut rest = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            rest.push(line);
        }
        (rest, self.child.wait().unwrap().code())
    }
}

/// Whether a line has the pattern's parts between its stars, in order.
fn is_like(line: &str, pattern: &str) -> bool {
    let parts: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = &parts[..] else {
        return line == pattern;
    };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn follow(transcript: &str) {
    let mut session = Session::with_network();
    for (index, line) in transcript.lines().enumerate() {
        match line.split_at_checked(2) {
            Some(("> ", words)) => session.say(words),
            // A drop in USI has a star of its own.
            Some(("< ", words)) => {
                session.expect(words, &format!("line {}", index + 1));
            }
            _ => assert!(line.is_empty() || line.starts_with('#') || line == ">", "{line}"),
        }
    }
    let (rest, code) = session.finish();
    assert_eq!((rest, code), (Vec::new(), Some(0)));
}

#[test]
fn usi_goes_by_its_transcript() {
    follow(include_str!("transcripts/usi.txt"));
}

#[test]
fn uci_goes_by_its_transcript() {
    follow(include_str!("transcripts/uci.txt"));
}

#[test]
fn xboard_goes_by_its_transcript() {
    follow(include_str!("transcripts/xboard.txt"));
}

#[test]
fn garbage_is_refused_line_by_line_and_the_engine_plays_on() {
    let mut session = Session::with_network();
    session.say("usi");
    while session.lines.recv_timeout(PATIENCE).unwrap() != "usiok" {}
    session.say_bytes(&[0, 0xff, 0xfe, b'\n', b'\r', b'\n']);
    session.expect("info string error `*` is not known here", "bytes");
    session.say(&"x".repeat(100_000));
    session.expect("info string error a line is too long*", "long line");
    session.say(&format!("position startpos moves {}", "5d5c ".repeat(1000)));
    session.expect("info string error move 2: `5d5c` is illegal*", "illegal move");
    session.say("go nodes 8");
    session.expect("bestmove *", "go");
    // Two searches, then half a line and the end of the input.
    session.say("go nodes 64");
    session.say("go nodes 64");
    session.expect("bestmove *", "first go");
    session.expect("bestmove *", "second go");
    session.say_bytes(b"go nodes 16");
    let (rest, code) = session.finish();
    assert_eq!(rest.iter().filter(|line| line.starts_with("bestmove")).count(), 1, "{rest:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn what_cannot_be_loaded_is_said_and_answered_all_the_same() {
    let mut session = Session::start(&[]);
    session.say("usi");
    while session.lines.recv_timeout(PATIENCE).unwrap() != "usiok" {}
    session.say("isready");
    session.expect("info string error no network is chosen*", "no network");
    session.expect("readyok", "no network");
    session.say("setoption name Network value no-such-folder");
    session.say("isready");
    session.expect("info string error no-such-folder: not a network*", "no folder");
    session.expect("readyok", "no folder");
    session.say("go movetime 10");
    session.expect("info string error no-such-folder*", "go");
    session.expect("bestmove resign", "go");
    session.say(&format!("setoption name Network value {NETWORK}"));
    session.say("isready");
    session.expect("readyok", "a network");
    session.say("go nodes 8");
    session.expect("bestmove *", "a network");
    assert_eq!(session.finish().1, Some(0));

    // A network of another game than the one named.
    let mut session = Session::start(&["--network", NETWORK, "--rules", "doubutsu"]);
    session.say("isready");
    session.expect("info string error the network plays minishogi, not doubutsu", "other game");
    session.expect("readyok", "other game");
    session.say("quit");
    assert_eq!(session.finish().1, Some(4));

    let mut session = Session::start(&["--network", NETWORK, "--rules", "doubutsu"]);
    session.say("xboard");
    session.say("new");
    session.expect("tellusererror the network plays minishogi, not doubutsu", "other game");
    session.say("go");
    session.expect("tellusererror *", "other game");
    session.expect("resign", "other game");
}

#[test]
fn a_gui_that_goes_away_ends_the_engine() {
    let mut session = Session::with_network();
    session.say("usi");
    session.say("isready");
    session.expect("id name keiko*", "usi");
    let (sender, closed) = channel();
    drop(std::mem::replace(&mut session.lines, closed));
    drop(sender);
    // Nobody reads any more: the search's words meet a closed pipe.
    session.say("go infinite");
    for _ in 0..100 {
        let line = b"d\nisready\n";
        if session.input.as_mut().unwrap().write_all(line).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(session.input.take());
    assert!(session.child.wait().unwrap().success());
}
