//! The front end for USI and UCI: what a GUI says becomes what the engine does.

use super::clock::Clock;
use super::command::{Command, Go, parse};
use super::core::{Engine, Thought, Watcher, Wish};
use super::dialect::Dialect;
use super::input::{Closed, Input, Line};
use super::mate::{Mate, mate};
use super::plan::{Limits, Waits};
use super::report::Report;
use crate::Failure;
use keiko_rules::{Game, Move, Position, Reason, Rules, board_text};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Talks until the GUI says `quit` or goes away, beginning with a line that has come already.
///
/// # Errors
/// When a network was asked for that could not be loaded.
pub(crate) fn talk(
    engine: Engine,
    mut input: Input,
    dialect: Dialect,
    first: Line,
) -> Result<(), Failure> {
    let mut front = Front { engine, dialect, trouble: None };
    let mut next = Some(first);
    while let Some(line) = next {
        match read(&line, dialect) {
            Ok(Command::Quit) => break,
            Ok(command) => front.obey(command, line.at, &mut input),
            Err(problem) => complain(&problem),
        }
        next = input.next();
    }
    front.trouble.map_or(Ok(()), Err)
}

fn read(line: &Line, dialect: Dialect) -> Result<Command, String> {
    if line.is_too_long {
        return Err("a line is too long to be a command".to_owned());
    }
    parse(&line.text, dialect.notation())
}

fn complain(problem: &str) {
    // A message of several lines must not look like commands of its own.
    say!("info string error {}", problem.split_whitespace().collect::<Vec<_>>().join(" "));
}

struct Front {
    engine: Engine,
    dialect: Dialect,
    /// Why the network could not be loaded when it was asked for last.
    trouble: Option<Failure>,
}

impl Front {
    fn obey(&mut self, command: Command, at: Instant, input: &mut Input) {
        match command {
            Command::Hello => self.introduce(),
            Command::IsReady => {
                self.make_ready();
                say!("readyok");
            }
            Command::SetOption { name, value } => {
                if let Err(problem) = self.set_option(&name, &value) {
                    complain(&problem);
                }
            }
            Command::NewGame => {
                let rules = Arc::clone(self.engine.rules());
                self.engine.begin(Game::new(rules));
            }
            Command::Position(line) => {
                match line.game(self.engine.rules(), self.dialect.notation()) {
                    Ok(game) => self.engine.set_game(game),
                    Err(problem) => complain(&format!("{problem}; the position before stays")),
                }
            }
            Command::Go(go) => self.go(&go, at, input),
            Command::Mate { milliseconds } => self.mate(milliseconds, at, input),
            Command::Stop | Command::PonderHit => complain("nothing is being searched"),
            Command::Show => self.show(),
            Command::GameOver | Command::Nothing | Command::Quit => {}
        }
    }

    fn introduce(&self) {
        say!("id name keiko {}", env!("CARGO_PKG_VERSION"));
        say!("id author the keiko developers");
        for line in self.dialect.option_lines(self.engine.rules(), &self.engine.options) {
            say!("{line}");
        }
        say!("{}", self.dialect.ready_word());
    }

    fn make_ready(&mut self) {
        self.trouble = self.engine.make_ready().err();
        if let Some(trouble) = &self.trouble {
            complain(&trouble.to_string());
        }
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        // Chess programs' names have spaces.
        let name = name.replace(' ', "");
        if name == "USI_Variant" || name == "UCI_Variant" {
            let game = self.engine.rules().name();
            return if value == game {
                Ok(())
            } else {
                Err(format!("this network plays {game}, not {value}"))
            };
        }
        let own = name.strip_prefix("USI_").or_else(|| name.strip_prefix("UCI_"));
        self.engine.options.set(own.unwrap_or(&name), value)
    }

    fn show(&self) {
        let (rules, position) = (self.engine.rules(), self.engine.game().position());
        for line in board_text(rules, position).lines() {
            say!("info string {line}");
        }
        say!("info string sfen {}", position.to_sfen(rules));
        say!("info string fen {}", position.to_fen(rules));
    }

    fn go(&mut self, go: &Go, at: Instant, input: &mut Input) {
        go.problems.iter().for_each(|problem| complain(problem));
        let limits = self.limits(go, at);
        let mut listener = self.listener(input);
        if let Some(answer) = self.answer_without_thought() {
            while limits.waits.is_some() && listener.wait() == Wish::GoOn {}
            say!("bestmove {answer}");
            return;
        }
        match self.engine.think(&limits, &mut listener) {
            Ok(thought) => self.answer(&thought),
            Err(failure) => {
                complain(&failure.to_string());
                self.trouble = Some(failure);
                say!("bestmove {}", self.dialect.no_move());
            }
        }
    }

    fn listener<'a>(&self, input: &'a mut Input) -> Listener<'a> {
        Listener { input, dialect: self.dialect, position: *self.engine.game().position() }
    }

    /// What is answered where the game is over.
    fn answer_without_thought(&self) -> Option<&'static str> {
        let game = self.engine.game();
        let declares = game.conclusion().is_some_and(|it| it.reason == Reason::Declaration);
        if declares && self.dialect == Dialect::Usi {
            return Some("win");
        }
        let mut legal = Vec::new();
        game.legal_moves(&mut legal);
        legal.is_empty().then(|| self.dialect.no_move())
    }

    fn answer(&self, thought: &Thought) {
        let (rules, position) = (self.engine.rules(), self.engine.game().position());
        for line in self.dialect.info_lines(rules, position, &thought.report) {
            say!("{line}");
        }
        if thought.resigns && self.dialect == Dialect::Usi {
            say!("bestmove resign");
            return;
        }
        let mv = self.dialect.move_text(rules, position, thought.mv);
        let mut next = *position;
        rules.play(&mut next, thought.mv);
        match thought.reply.filter(|_| self.engine.options.ponders) {
            Some(reply) => {
                say!("bestmove {mv} ponder {}", self.dialect.move_text(rules, &next, reply));
            }
            None => say!("bestmove {mv}"),
        }
    }

    fn limits(&self, go: &Go, at: Instant) -> Limits {
        let side = self.dialect.clock_of(self.engine.game().side_to_move());
        let clock = Clock {
            movetime: go.movetime,
            left: go.left[side],
            increment: go.increments[side],
            byoyomi: go.byoyomi,
            moves_to_go: go.moves_to_go,
        };
        let waits = match (go.ponder, go.infinite) {
            (true, _) => Some(Waits::Pondering),
            (false, true) => Some(Waits::Analysis),
            (false, false) => None,
        };
        let read = go.searchmoves.iter().filter_map(|text| self.searchmove(text));
        let only: Vec<Move> = read.collect::<BTreeSet<_>>().into_iter().collect();
        Limits { clock, since: at, nodes: go.nodes, depth: go.depth, waits, only }
    }

    fn searchmove(&self, text: &str) -> Option<Move> {
        let (rules, position) = (self.engine.rules(), self.engine.game().position());
        let read = self.dialect.read_move(rules, position, text);
        read.inspect_err(|error| complain(&format!("searchmoves: {error}"))).ok()
    }

    fn mate(&mut self, milliseconds: Option<u64>, at: Instant, input: &mut Input) {
        if self.dialect == Dialect::Uci {
            // UCI asks for the best move all the same.
            return self.go(&Go::default(), at, input);
        }
        let mut listener = self.listener(input);
        let found =
            mate(self.engine.game(), milliseconds.map(Duration::from_millis), &mut listener);
        match found {
            Mate::Found(moves) => {
                let rules = self.engine.rules();
                let moves: Vec<String> = moves.iter().map(|mv| mv.to_usi(rules)).collect();
                say!("checkmate {}", moves.join(" "));
            }
            Mate::None => say!("checkmate nomate"),
            Mate::Unknown => say!("checkmate timeout"),
        }
    }
}

/// Listens to the GUI while the engine thinks about a position.
struct Listener<'a> {
    input: &'a mut Input,
    dialect: Dialect,
    position: Position,
}

impl Listener<'_> {
    /// What a line that came asks of the search; lines for later are kept.
    fn heard(&mut self, line: Line, waits: bool) -> Wish {
        // Behind another `go`, a `stop` is meant for that.
        let is_next = |line: &Line| line.text.starts_with("go");
        match read(&line, self.dialect) {
            Ok(Command::Stop) if !self.input.has_waiting(is_next) => return Wish::Answer,
            Ok(Command::IsReady) => say!("readyok"),
            Ok(Command::PonderHit) if waits => return Wish::Play,
            Ok(Command::PonderHit | Command::Nothing | Command::GameOver) => {}
            Ok(Command::Quit) => {
                self.input.keep(line);
                return Wish::Answer;
            }
            Ok(_) => {
                self.input.keep(line);
                // What ends only when it is told to ends for whatever comes next.
                return if waits { Wish::Answer } else { Wish::GoOn };
            }
            Err(problem) => complain(&problem),
        }
        Wish::GoOn
    }
}

impl Watcher for Listener<'_> {
    fn wish(&mut self, waits: bool) -> Wish {
        if self.input.take_if(|line| line.text == "stop") {
            return Wish::Answer;
        }
        if waits && self.input.is_waited_for() {
            return Wish::Answer;
        }
        loop {
            match self.input.arrived() {
                Ok(Some(line)) => match self.heard(line, waits) {
                    Wish::GoOn => {}
                    wish => return wish,
                },
                Err(Closed) if waits => return Wish::Answer,
                Ok(None) | Err(Closed) => return Wish::GoOn,
            }
        }
    }

    fn wait(&mut self) -> Wish {
        if self.input.take_if(|line| line.text == "stop") || self.input.is_waited_for() {
            return Wish::Answer;
        }
        match self.input.arrival() {
            Ok(line) => self.heard(line, true),
            Err(Closed) => Wish::Answer,
        }
    }

    fn report(&mut self, rules: &Rules, report: &Report) {
        for line in self.dialect.info_lines(rules, &self.position, report) {
            say!("{line}");
        }
    }
}
