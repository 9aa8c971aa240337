//! An outside engine: a child process that speaks USI, UCI or XBoard's protocol.

mod clock;
mod error;
mod letters;
mod options;
mod process;
mod xboard;

pub(crate) use clock::{Clocks, Control};
pub(crate) use error::ExternalError;
pub(crate) use letters::{Letters, written};
pub(crate) use options::split_command;
pub(crate) use xboard::XBoardEngine;

use error::suggestion;
use options::{Advertised, find, implied, parse_advertised};
use process::Process;
use std::time::{Duration, Instant};

/// How long an engine may take to say hello, to get ready and to come back from anything but
/// a search.
const HANDSHAKE: Duration = Duration::from_secs(20);

/// The language an engine speaks.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Protocol {
    /// USI: positions as SFEN, moves from Black's right.
    Usi,
    /// UCI in the dialect of Fairy-Stockfish: positions as FEN, moves from the left.
    Uci,
    /// XBoard's, version 2.
    XBoard,
}

/// How to start an engine and how it plays.
#[derive(Clone, Debug)]
pub(crate) struct EngineSpec {
    /// What it speaks.
    pub(crate) protocol: Protocol,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Options by name, set in this order.
    pub(crate) options: Vec<(String, String)>,
    /// What a search may spend.
    pub(crate) limit: Limit,
    /// How long a search may take before the engine counts as hung; with a clock, how long beyond
    /// that.
    pub(crate) patience: Duration,
}

/// What an engine may spend on a move.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Limit {
    /// This many nodes.
    Nodes(u64),
    /// This many milliseconds.
    Milliseconds(u64),
    /// What its clock has left.
    Clock(Control),
}

/// An engine's answer to a position.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) enum Reply {
    /// A move as its protocol writes it; nothing says that it is legal.
    Move(String),
    /// It gives up. Engines that are mated say so too.
    Resign,
    /// It declares a win.
    Win,
    /// It has no move to offer.
    Nothing,
}

/// A running engine of USI or UCI, ready to play one game. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct ExternalEngine {
    process: Process,
    protocol: Protocol,
    name: String,
    options: Vec<Advertised>,
    /// How it writes the game's pieces, if it has said.
    letters: Option<Letters>,
    limit: Limit,
    patience: Duration,
    /// What the clocks show, where there are some.
    clocks: Option<Clocks>,
}

impl ExternalEngine {
    /// Starts the engine and makes it ready to play `game`, a name its option for variants
    /// must know if it has such an option. `start` is the position that the game begins with.
    pub(crate) fn start(
        spec: &EngineSpec,
        game: &str,
        start: &str,
    ) -> Result<ExternalEngine, ExternalError> {
        let mut process = Process::spawn(&spec.command)?;
        let (greeting, answer) = match spec.protocol {
            Protocol::Uci => ("uci", "uciok"),
            _ => ("usi", "usiok"),
        };
        let hello = process.ask(greeting, HANDSHAKE, |line| line.trim() == answer)?;
        let name = hello.iter().find_map(|line| line.strip_prefix("id name "));
        let name = name.map_or_else(|| spec.command.join(" "), |name| name.trim().to_owned());
        let mut options: Vec<_> = hello.iter().filter_map(|line| parse_advertised(line)).collect();
        options.extend(implied(&options));
        let EngineSpec { protocol, limit, patience, .. } = *spec;
        if let (Limit::Clock(control), Protocol::Uci) = (limit, protocol) {
            control.without_byoyomi("UCI").map_err(|reason| unable(spec, reason))?;
        }
        let (letters, clocks) = (None, None);
        let mut engine =
            ExternalEngine { process, protocol, name, options, letters, limit, patience, clocks };
        let chosen = match engine.choose_options(&spec.options, game) {
            Ok(chosen) => chosen,
            Err(error) => return Err(engine.explained(error, start)?),
        };
        for (option, value) in chosen {
            engine.set_option(&option, &value)?;
        }
        let said = engine.make_ready()?;
        let begins = said.iter().filter_map(|line| stated_start(line)).next_back();
        engine.letters = begins.and_then(|(_, theirs)| Letters::between(start, theirs));
        Ok(engine)
    }

    /// What the engine calls itself.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What it speaks.
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// How it writes the game's pieces, if it has said how the game begins.
    pub(crate) fn letters(&self) -> Option<&Letters> {
        self.letters.as_ref()
    }

    /// An error, with the games that begin like ours where it is about the game's name.
    fn explained(
        &mut self,
        mut error: ExternalError,
        start: &str,
    ) -> Result<ExternalError, ExternalError> {
        if let ExternalError::Variant { option, offered, meant, .. } = &mut error {
            for name in offered.iter() {
                self.set_option(option, name)?;
            }
            let said = self.make_ready()?;
            let games = said.iter().filter_map(|line| stated_start(line));
            let same = games.filter(|(_, theirs)| Letters::between(start, theirs).is_some());
            let names: Vec<&str> = same.map(|(name, _)| name).collect();
            if !names.is_empty() {
                *meant = format!(" (but {}, which begins alike)", names.join(" or "));
            }
        }
        Ok(error)
    }

    /// All options to set: the game first, unless the user names it, then the user's.
    fn choose_options(
        &self,
        wanted: &[(String, String)],
        game: &str,
    ) -> Result<Vec<(String, String)>, ExternalError> {
        let mut chosen = Vec::new();
        for (name, value) in wanted {
            let option = self.option(name)?;
            let value = option.check(value).map_err(|allowed| ExternalError::OptionValue {
                engine: self.engine(),
                name: option.name.clone(),
                value: value.clone(),
                allowed,
            })?;
            chosen.push((option.name.clone(), value));
        }
        let variant = self.options.iter().find(|option| option.is_variant());
        if let Some(variant) = variant.filter(|option| !chosen.iter().any(|c| c.0 == option.name)) {
            chosen.insert(0, (variant.name.clone(), self.variant_value(variant, game)?));
        }
        Ok(chosen)
    }

    /// The engine's option that a user means by `name`.
    fn option(&self, name: &str) -> Result<&Advertised, ExternalError> {
        find(&self.options, name).ok_or_else(|| {
            let known = || self.options.iter().map(|option| option.name.as_str());
            ExternalError::UnknownOption {
                engine: self.engine(),
                name: name.to_owned(),
                nearest: keiko_rules::nearest(name, known()).map(str::to_owned),
                known: known().map(str::to_owned).collect(),
            }
        })
    }

    /// The game's name as the engine's option for variants spells it.
    fn variant_value(&self, variant: &Advertised, game: &str) -> Result<String, ExternalError> {
        variant.check(game).map_err(|_| {
            let offered = || variant.values().iter().map(String::as_str);
            ExternalError::Variant {
                engine: self.engine(),
                option: variant.name.clone(),
                game: game.to_owned(),
                meant: suggestion(&keiko_rules::nearest(game, offered()).map(str::to_owned)),
                offered: variant.values().to_vec(),
            }
        })
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), ExternalError> {
        match value {
            "" => self.process.send(&format!("setoption name {name}")),
            _ => self.process.send(&format!("setoption name {name} value {value}")),
        }
    }

    /// Waits until everything sent is done; what was said meanwhile.
    fn make_ready(&mut self) -> Result<Vec<String>, ExternalError> {
        let lines = self.process.ask("isready", HANDSHAKE, |line| line.trim() == "readyok")?;
        match lines.iter().find(|line| line.starts_with("No such option")) {
            Some(reply) => {
                Err(ExternalError::Refused { engine: self.engine(), reply: reply.clone() })
            }
            None => Ok(lines),
        }
    }

    /// Tells the engine that another game begins.
    pub(crate) fn new_game(&mut self) -> Result<(), ExternalError> {
        self.process.send(match self.protocol {
            Protocol::Uci => "ucinewgame",
            _ => "usinewgame",
        })?;
        self.make_ready().map(drop)
    }

    /// Tells what the clocks show before the next move.
    pub(crate) fn set_clocks(&mut self, clocks: Clocks) {
        self.clocks = Some(clocks);
    }

    /// The engine's move after `moves` from the position `start`, all of them as its protocol has
    /// them.
    pub(crate) fn best_move(
        &mut self,
        start: &str,
        moves: &[String],
    ) -> Result<Reply, ExternalError> {
        let kind = if self.protocol == Protocol::Uci { "fen" } else { "sfen" };
        let mut position = format!("position {kind} {start}");
        if !moves.is_empty() {
            position += " moves ";
            position += &moves.join(" ");
        }
        self.process.send(&position)?;
        let (go, patience) = match (self.limit, &self.clocks) {
            (Limit::Nodes(nodes), _) => (format!("go nodes {nodes}"), self.patience),
            (Limit::Milliseconds(time), _) => (format!("go movetime {time}"), self.patience),
            (Limit::Clock(control), clocks) => {
                let clocks = clocks.clone().unwrap_or_else(|| control.begun());
                (control.go(&clocks, self.protocol), control.most(&clocks) + self.patience)
            }
        };
        let is_answer = |line: &str| line.split_whitespace().next() == Some("bestmove");
        let lines = self.process.ask(&go, patience, is_answer)?;
        let answer = lines.last().map_or("", String::as_str);
        parse_reply(answer).ok_or_else(|| ExternalError::Nonsense {
            engine: self.engine(),
            question: go,
            reply: answer.to_owned(),
        })
    }

    /// The number of move sequences from the start, as engines count that know `go perft`.
    pub(crate) fn perft(&mut self, depth: u32) -> Result<u64, ExternalError> {
        self.process.send("position startpos")?;
        let question = format!("go perft {depth}");
        let count = |line: &str| line.strip_prefix("Nodes searched:")?.trim().parse().ok();
        let answers = self.process.ask(&question, self.patience, |line| count(line).is_some())?;
        Ok(answers.last().and_then(|line| count(line)).expect("the last line is the answer"))
    }

    fn engine(&self) -> String {
        self.process.engine().to_owned()
    }
}

/// The error of an engine that cannot be asked for what is wanted.
fn unable(spec: &EngineSpec, reason: String) -> ExternalError {
    ExternalError::Unable { engine: spec.command.join(" "), reason }
}

/// What a line `bestmove ...` says.
fn parse_reply(line: &str) -> Option<Reply> {
    Some(match line.split_whitespace().nth(1)? {
        "resign" => Reply::Resign,
        "win" => Reply::Win,
        "none" | "(none)" | "null" | "0000" => Reply::Nothing,
        mv => Reply::Move(mv.to_owned()),
    })
}

/// The name and the start of a game, where a line tells them as Fairy-Stockfish does:
/// `info string variant NAME files 4 ... startpos POSITION`.
fn stated_start(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("info string variant ")?.split_once(' ')?;
    Some((name, rest.split_once(" startpos ")?.1))
}

/// The time left until `deadline`.
fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests;
