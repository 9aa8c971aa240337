//! The front end for XBoard and WinBoard (CECP, version 2).

use super::cecp::{Command, parse};
use super::clock::Clock;
use super::core::{Engine, Thought, Watcher, Wish};
use super::input::{Closed, Input, Line};
use super::options::Kind;
use super::plan::{Limits, Waits};
use super::report::{Report, Score};
use super::setup::setup;
use crate::Failure;
use keiko_rules::{Color, Game, Move, Outcome, Position, Rules, UsiError};
use std::sync::Arc;
use std::time::Instant;

/// What a forced win is worth: this, and its moves.
const MATE: i64 = 100_000;

/// Talks until the GUI says `quit` or goes away, beginning with a line that has come already.
///
/// # Errors
/// When a network was asked for that could not be loaded.
pub(crate) fn talk(engine: Engine, mut input: Input, first: Line) -> Result<(), Failure> {
    let mut front = Front {
        engine,
        plays: None,
        clock: Clocks::default(),
        posts: false,
        analyzes: false,
        is_over: false,
        expected: None,
        trouble: None,
    };
    let mut next = Some(first);
    while let Some(line) = next {
        match read(&line) {
            Ok(Command::Quit) => break,
            Ok(command) => front.obey(command, &line),
            Err(problem) => complain(&problem, &line.text),
        }
        front.move_if_it_is_its_turn(line.at, &mut input);
        front.think_meanwhile(&mut input);
        next = input.next();
    }
    front.trouble.map_or(Ok(()), Err)
}

fn read(line: &Line) -> Result<Command, String> {
    if line.is_too_long { Err("line too long".to_owned()) } else { parse(&line.text) }
}

fn complain(problem: &str, line: &str) {
    const SHOWN: usize = 80;
    let shown: String = line.chars().take(SHOWN).collect();
    say!("Error ({problem}): {shown}");
}

/// A message that the GUI shows its user.
fn tell_user(message: &str) {
    say!("tellusererror {}", message.split_whitespace().collect::<Vec<_>>().join(" "));
}

/// The time control as the GUI has described it, in milliseconds.
#[derive(Default)]
struct Clocks {
    /// Moves of a session; 0: the whole game.
    session: u64,
    increment: u64,
    left: Option<u64>,
    movetime: Option<u64>,
    depth: Option<u64>,
}

struct Front {
    engine: Engine,
    /// For whom the engine plays; nobody in force mode.
    plays: Option<Color>,
    clock: Clocks,
    posts: bool,
    analyzes: bool,
    /// Whether the GUI knows that the game is over.
    is_over: bool,
    /// What the other side is expected to play.
    expected: Option<Move>,
    /// Why the network could not be loaded.
    trouble: Option<Failure>,
}

impl Front {
    fn obey(&mut self, command: Command, line: &Line) {
        let game = self.engine.game();
        match command {
            Command::Version(_) => self.introduce(),
            Command::Variant(name) => self.choose_variant(&name, &line.text),
            Command::New => self.new_game(),
            Command::SetBoard(fen) => self.set_board(&fen),
            Command::Move(text) => self.take_move(&text),
            Command::Force => self.plays = None,
            Command::Go => self.plays = Some(game.side_to_move()),
            Command::PlayOther => self.plays = Some(game.side_to_move().opponent()),
            Command::Time(hundredths) => self.clock.left = Some(hundredths.saturating_mul(10)),
            Command::Level { moves, base, increment } => {
                let depth = self.clock.depth;
                let left = Some(base);
                self.clock = Clocks { session: moves, increment, left, movetime: None, depth };
            }
            Command::MoveTime(milliseconds) => self.clock.movetime = Some(milliseconds),
            Command::Depth(plies) => self.clock.depth = Some(plies),
            Command::Ping(number) => say!("pong {number}"),
            Command::Post(posts) => self.posts = posts,
            Command::Ponder(ponders) => self.engine.options.ponders = ponders,
            Command::Analyze => (self.analyzes, self.plays) = (true, None),
            Command::Exit => self.analyzes = false,
            Command::Undo => self.undo(1, &line.text),
            Command::Remove => self.undo(2, &line.text),
            Command::Hint => self.hint(),
            Command::Result => self.plays = None,
            Command::Memory(value) => self.set_option("Hash", &value, line),
            Command::Cores(value) => self.set_option("Threads", &value, line),
            Command::SetOption { name, value } => self.set_option(&name, &value, line),
            Command::MoveNow | Command::Status | Command::OpponentTime(_) => {}
            Command::Nothing | Command::Quit => {}
        }
    }

    fn introduce(&self) {
        say!("feature done=0");
        say!("feature setboard=1 usermove=1 ping=1 time=1 colors=0 sigint=0 sigterm=0 reuse=1");
        say!("feature analyze=1 playother=1 memory=1 smp=1 draw=0 name=0 debug=1");
        say!("feature myname=\"keiko {}\"", env!("CARGO_PKG_VERSION"));
        say!("feature variants=\"{}\"", self.engine.rules().name());
        for option in self.engine.options.described() {
            let kind = match &option.kind {
                // XBoard has commands of its own for these.
                _ if matches!(option.name, "Hash" | "Threads" | "Ponder") => continue,
                Kind::Spin { value, least, most } => format!("-spin {value} {least} {most}"),
                Kind::Check { value } => format!("-check {}", u8::from(*value)),
                Kind::Combo { value, words } => {
                    let mark = |word: &String| if word == value { "*" } else { "" };
                    let words = words.iter().map(|word| format!("{}{word}", mark(word)));
                    format!("-combo {}", words.collect::<Vec<_>>().join(" /// "))
                }
                Kind::Folder { value } => format!("-path {value}"),
            };
            say!("feature option=\"{} {kind}\"", option.name);
        }
        say!("feature done=1");
    }

    fn choose_variant(&mut self, name: &str, line: &str) {
        let rules = self.engine.rules();
        if name != rules.name() {
            return complain(&format!("this network plays {}", rules.name()), line);
        }
        match setup(rules) {
            Some(lines) => lines.iter().for_each(|line| say!("{line}")),
            None => tell_user("the game has more kinds of piece than XBoard"),
        }
    }

    /// The usual start; the engine moves second.
    fn new_game(&mut self) {
        self.trouble = self.engine.make_ready().err();
        if let Some(trouble) = &self.trouble {
            tell_user(&trouble.to_string());
        }
        let rules = Arc::clone(self.engine.rules());
        self.engine.begin(Game::new(rules));
        self.plays = Some(Color::White);
        (self.analyzes, self.is_over, self.expected) = (false, false, None);
        self.clock.depth = None;
    }

    fn set_board(&mut self, fen: &str) {
        match Position::from_fen(self.engine.rules(), fen) {
            Ok(position) => {
                let rules = Arc::clone(self.engine.rules());
                self.engine.begin(Game::from_position(rules, position));
                (self.is_over, self.expected) = (false, None);
            }
            Err(error) => tell_user(&format!("Illegal position: {error}")),
        }
    }

    fn take_move(&mut self, text: &str) {
        match Move::from_uci(self.engine.rules(), self.engine.game().position(), text) {
            Ok(mv) => {
                self.engine.play(mv);
                self.expected = None;
                self.announce();
            }
            Err(UsiError::Illegal { reason, .. }) => say!("Illegal move ({reason}): {text}"),
            Err(error) => say!("Illegal move ({error}): {text}"),
        }
    }

    fn undo(&mut self, plies: usize, line: &str) {
        if self.engine.undo(plies) {
            (self.is_over, self.expected) = (false, None);
        } else {
            complain("command not legal now", line);
        }
    }

    fn hint(&self) {
        let (rules, position) = (self.engine.rules(), self.engine.game().position());
        if let Some(mv) = self.expected.filter(|&mv| is_legal(self.engine.game(), mv)) {
            say!("Hint: {}", mv.to_uci(rules, position));
        }
    }

    fn set_option(&mut self, name: &str, value: &str, line: &Line) {
        if let Err(problem) = self.engine.options.set(name, value) {
            complain(&problem, &line.text);
        }
    }

    /// Says how the game has ended, once, where the engine plays it.
    fn announce(&mut self) {
        let ending = self.engine.game().ending().filter(|_| !self.is_over && self.plays.is_some());
        let Some(ending) = ending else { return };
        let result = match ending.outcome {
            Outcome::Win(Color::Black) => "1-0",
            Outcome::Win(Color::White) => "0-1",
            Outcome::Draw => "1/2-1/2",
        };
        self.is_over = true;
        say!("{result} {{{}}}", ending.reason);
    }

    fn move_if_it_is_its_turn(&mut self, at: Instant, input: &mut Input) {
        let game = self.engine.game();
        if self.is_over || self.analyzes || self.plays != Some(game.side_to_move()) {
            return;
        }
        if !has_move(game) {
            return self.announce();
        }
        let limits = self.limits(at);
        let mut listener = Listener::new(input, &self.engine, &mut self.posts);
        match self.engine.think(&limits, &mut listener) {
            Ok(thought) if thought.aborted => {}
            Ok(thought) => self.make_move(&thought),
            Err(failure) => {
                tell_user(&failure.to_string());
                self.trouble = Some(failure);
                self.resign();
            }
        }
    }

    fn limits(&self, since: Instant) -> Limits {
        let Clocks { session, increment, left, movetime, depth } = self.clock;
        let played = self.engine.game().ply() as u64 / 2;
        let moves_to_go = (session > 0).then(|| session - played % session);
        let clock = Clock { movetime, left, increment, byoyomi: 0, moves_to_go };
        Limits { clock, since, depth, ..Limits::none() }
    }

    fn make_move(&mut self, thought: &Thought) {
        let (rules, position) = (Arc::clone(self.engine.rules()), *self.engine.game().position());
        if self.posts {
            post(&rules, &position, &thought.report);
        }
        if thought.resigns {
            return self.resign();
        }
        say!("move {}", thought.mv.to_uci(&rules, &position));
        self.engine.play(thought.mv);
        self.expected = thought.reply;
        self.announce();
    }

    fn resign(&mut self) {
        self.is_over = true;
        say!("resign");
    }

    /// Thinks while nothing else is to be done: about a position to be looked at, or while the
    /// other side does.
    fn think_meanwhile(&mut self, input: &mut Input) {
        let game = self.engine.game();
        let ponders = self.engine.options.ponders && self.plays.is_some() && game.ply() > 0;
        let waits = match (self.analyzes, ponders && !self.is_over) {
            (true, _) => Waits::Analysis,
            (false, true) => Waits::Pondering,
            (false, false) => return,
        };
        if input.is_waited_for() || !has_move(game) {
            return;
        }
        let limits = Limits { waits: Some(waits), ..Limits::none() };
        let mut silent = false;
        let posts = if waits == Waits::Analysis { &mut self.posts } else { &mut silent };
        let mut listener = Listener::new(input, &self.engine, posts);
        if let Err(failure) = self.engine.think(&limits, &mut listener) {
            tell_user(&failure.to_string());
            self.trouble = Some(failure);
            (self.analyzes, self.plays) = (false, None);
        }
    }
}

fn has_move(game: &Game) -> bool {
    game.rules().has_legal_move(game.position())
}

fn is_legal(game: &Game, mv: Move) -> bool {
    game.rules().is_legal(game.position(), mv)
}

/// `PLY SCORE TIME NODES LINE`, the time in hundredths of a second.
fn post(rules: &Rules, position: &Position, report: &Report) {
    let hundredths = report.elapsed.as_millis() / 10;
    for line in &report.lines {
        let moves = |plies: u16| i64::from(plies.div_ceil(2));
        let score = match Score::of(line) {
            Score::Centipawns(value) => value.into(),
            Score::Wins(plies) => MATE + moves(plies),
            Score::Loses(plies) => -MATE - moves(plies),
        };
        let (mut position, mut text) = (*position, String::new());
        for &mv in &line.moves {
            text.push(' ');
            text += &mv.to_uci(rules, &position);
            rules.play(&mut position, mv);
        }
        say!("{} {score} {hundredths} {}{text}", line.moves.len(), report.nodes);
    }
}

/// Listens to the GUI while the engine thinks.
struct Listener<'a> {
    input: &'a mut Input,
    position: Position,
    posts: &'a mut bool,
    last: Option<String>,
}

impl<'a> Listener<'a> {
    fn new(input: &'a mut Input, engine: &Engine, posts: &'a mut bool) -> Listener<'a> {
        Listener { input, position: *engine.game().position(), posts, last: None }
    }

    /// What a line that came asks of the search; lines for later are kept.
    fn heard(&mut self, line: Line, waits: bool) -> Wish {
        match read(&line) {
            Ok(Command::MoveNow) if !waits => return Wish::Answer,
            Ok(Command::Ping(number)) => say!("pong {number}"),
            Ok(Command::Post(posts)) => *self.posts = posts,
            Ok(Command::Status) => {
                if let Some(status) = self.last.take() {
                    say!("{status}");
                }
            }
            Ok(Command::MoveNow | Command::Nothing) => {}
            Ok(command) => {
                self.input.keep(line);
                if ends(&command, waits) {
                    return Wish::Abort;
                }
            }
            Err(problem) => complain(&problem, &line.text),
        }
        Wish::GoOn
    }
}

/// Whether a command makes a search pointless: a move of the engine's own unless the clock or an
/// option is all it is about, any other one always.
fn ends(command: &Command, waits: bool) -> bool {
    let goes_on = matches!(
        command,
        Command::Time(_)
            | Command::OpponentTime(_)
            | Command::Level { .. }
            | Command::MoveTime(_)
            | Command::Depth(_)
            | Command::Ponder(_)
            | Command::Memory(_)
            | Command::Cores(_)
            | Command::SetOption { .. }
            | Command::Hint
            | Command::Go
            | Command::Move(_)
    );
    waits || !goes_on
}

impl Watcher for Listener<'_> {
    fn wish(&mut self, waits: bool) -> Wish {
        loop {
            match self.input.arrived() {
                Ok(Some(line)) => match self.heard(line, waits) {
                    Wish::GoOn => {}
                    wish => return wish,
                },
                Err(Closed) if waits => return Wish::Abort,
                Ok(None) | Err(Closed) => return Wish::GoOn,
            }
        }
    }

    fn wait(&mut self) -> Wish {
        match self.input.arrival() {
            Ok(line) => self.heard(line, true),
            Err(Closed) => Wish::Abort,
        }
    }

    fn report(&mut self, rules: &Rules, report: &Report) {
        let hundredths = report.elapsed.as_millis() / 10;
        let depth = report.lines.first().map_or(0, |line| line.moves.len());
        self.last = Some(format!("stat01: {hundredths} {} {depth} 0 0", report.nodes));
        if *self.posts {
            post(rules, &self.position, report);
        }
    }
}
