//! `keiko engine`: a network as a USI engine, enough to play a game.

use crate::Failure;
use crate::players::SEARCH;
use crate::players::parse_precision;
use keiko_network::{Network, TeamEvaluator};
use keiko_rules::{Color, Game, Move, Reason, Rules};
use keiko_selfplay::{Evaluator, Findings, Proof, Purpose, Search, generator};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::SplitWhitespace;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// Most simulations of a search, `go infinite` included: the tree stays in memory.
const MOST_SIMULATIONS: u32 = 100_000;

/// Simulations that measure the speed.
const PROBE: u32 = 256;

/// Leaves of the tree that each thread evaluates at a time.
const LEAVES_A_THREAD: usize = 4;

/// Threads at most.
const MOST_THREADS: usize = 256;

/// Share of a move's time that is planned; the rest is for what cannot be.
const PLANNED_SHARE: f64 = 0.8;

/// Moves that the remaining time is to last for.
const MOVES_TO_GO: u64 = 25;

/// Seconds that no search exceeds, whatever the clock says.
const LONGEST_SEARCH: f64 = 3600.0;

/// Plays a network as a USI engine on standard input and output, for GUIs and matches.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko engine --network checkpoints/minishogi/networks/000001000")]
pub(crate) struct Arguments {
    /// The network's folder.
    #[arg(long, value_name = "DIR")]
    network: PathBuf,
    /// The variant, where the network's folder does not say: a name or a file.
    #[arg(long)]
    rules: Option<String>,
    /// How numbers are held: f32, bf16 or int8 [default: the fastest that keeps the strength].
    #[arg(long)]
    precision: Option<String>,
    /// Simulations a move where the GUI gives no limit.
    #[arg(long, default_value_t = 800, value_parser = clap::value_parser!(u32).range(1..=MOST_SIMULATIONS as i64))]
    simulations: u32,
    /// Threads that evaluate positions [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS as i64))]
    threads: Option<u16>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let network = Network::load(&arguments.network)?;
    let rules = Arc::new(match &arguments.rules {
        Some(name) => Rules::load(name)?,
        None => network.rules()?,
    });
    let encoding = network.encoding(Arc::clone(&rules))?;
    let wish = arguments.precision.as_deref().map(parse_precision).transpose()?;
    let inference = network.inference(wish)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.map_or(cores.min(MOST_THREADS), usize::from);
    let shape = (threads, LEAVES_A_THREAD);
    let mut engine = Engine {
        evaluator: TeamEvaluator::new(&network.weights, &encoding, shape, &inference),
        search: Search::new(Game::new(Arc::clone(&rules)), SEARCH),
        rules,
        simulations: arguments.simulations,
        rate: None,
    };
    let mut input = Input::open();
    while let Some(line) = input.next() {
        if line == "quit" {
            break;
        }
        engine
            .obey(&line, &mut input)
            .map_err(|error| Failure::environment(format!("standard output: {error}")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Standard input, line by line, read in the background so that a search can look for `stop`.
struct Input {
    lines: Receiver<String>,
    /// What came during a search and has to wait for its end.
    waiting: Option<String>,
}

impl Input {
    fn open() -> Input {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).trim().to_owned()).is_err() {
                    break;
                }
            }
        });
        Input { lines, waiting: None }
    }

    /// The next line; `None` at the end of the input.
    fn next(&mut self) -> Option<String> {
        self.waiting.take().or_else(|| self.lines.recv().ok())
    }

    /// Whether a search is to end that otherwise ends by itself, or (`endless`) does not.
    ///
    /// Lines keep their order: behind another command, a `stop` is not meant for this search.
    /// An endless search ends for any command, and with the input.
    fn asks_to_stop(&mut self, endless: bool) -> std::io::Result<bool> {
        if self.waiting.is_none() {
            match self.lines.try_recv() {
                Ok(line) => self.waiting = Some(line),
                Err(TryRecvError::Disconnected) => return Ok(endless),
                Err(TryRecvError::Empty) => return Ok(false),
            }
        }
        match self.waiting.as_deref() {
            Some("stop") => {
                self.waiting = None;
                Ok(true)
            }
            Some("isready") => {
                self.waiting = None;
                say("readyok").map(|()| false)
            }
            Some("quit") => Ok(true),
            _ => Ok(endless),
        }
    }

    /// Waits until an endless search is to end.
    fn wait_for_stop(&mut self) -> std::io::Result<()> {
        while !self.asks_to_stop(true)? {
            self.waiting = self.lines.recv().ok();
        }
        Ok(())
    }
}

struct Engine {
    evaluator: TeamEvaluator,
    rules: Arc<Rules>,
    /// Of the game in hand; it goes on with what it knows from move to move.
    search: Search,
    simulations: u32,
    /// Simulations a second, once measured.
    rate: Option<f64>,
}

/// What a `go` allows.
struct Limits {
    simulations: u32,
    deadline: Option<Instant>,
    /// Whether `bestmove` waits for `stop`.
    infinite: bool,
}

impl Limits {
    /// So many simulations, as far as they are possible.
    fn simulations(wanted: f64) -> Limits {
        let simulations = wanted.clamp(1.0, MOST_SIMULATIONS.into()) as u32;
        Limits { simulations, deadline: None, infinite: false }
    }
}

impl Engine {
    fn obey(&mut self, line: &str, input: &mut Input) -> std::io::Result<()> {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("usi") => self.introduce(),
            Some("isready") => say("readyok"),
            Some("setoption") => self.set_option(words),
            Some("usinewgame") => {
                self.search = Search::new(Game::new(Arc::clone(&self.rules)), SEARCH);
                Ok(())
            }
            Some("position") => match read_position(&self.rules, words) {
                Ok(game) => {
                    self.set_position(game);
                    Ok(())
                }
                Err(message) => say(&format!("info string {message}; the position before stays")),
            },
            Some("go") => self.go(words, input),
            Some("stop" | "ponderhit" | "gameover") | None => Ok(()),
            Some(other) => say(&format!("info string `{other}` is not known here")),
        }
    }

    /// Goes on from a game; where it is the one in hand, played on, with what is known of it.
    fn set_position(&mut self, game: Game) {
        match moves_ahead(self.search.game(), &game) {
            Some(moves) if self.search.nodes() <= MOST_SIMULATIONS as usize => {
                moves.into_iter().for_each(|mv| self.search.advance(mv));
            }
            _ => self.search = Search::new(game, SEARCH),
        }
    }

    fn introduce(&self) -> std::io::Result<()> {
        say(&format!("id name keiko {}", env!("CARGO_PKG_VERSION")))?;
        say("id author the keiko developers")?;
        say(&format!("option name USI_Variant type combo default {0} var {0}", self.rules.name()))?;
        say(&format!(
            "option name Simulations type spin default {} min 1 max {MOST_SIMULATIONS}",
            self.simulations
        ))?;
        say("usiok")
    }

    fn set_option(&mut self, words: SplitWhitespace<'_>) -> std::io::Result<()> {
        let words: Vec<&str> = words.collect();
        match words[..] {
            ["name", "Simulations", "value", value] => match value.parse() {
                Ok(simulations @ 1..=MOST_SIMULATIONS) => {
                    self.simulations = simulations;
                    Ok(())
                }
                _ => say(&format!(
                    "info string Simulations: {value} is not from 1 to {MOST_SIMULATIONS}"
                )),
            },
            ["name", "USI_Variant" | "UCI_Variant", "value", value]
                if value != self.rules.name() =>
            {
                say(&format!("info string this network plays {}, not {value}", self.rules.name()))
            }
            // GUIs set what every engine has, such as USI_Hash; it does no harm.
            _ => Ok(()),
        }
    }

    fn go(&mut self, words: SplitWhitespace<'_>, input: &mut Input) -> std::io::Result<()> {
        match self.search.game().conclusion().map(|ending| ending.reason) {
            Some(Reason::Declaration) => return say("bestmove win"),
            Some(_) => return say("bestmove resign"),
            None => {}
        }
        let limits = self.limits(words)?;
        let began = Instant::now();
        let stop = || input.asks_to_stop(limits.infinite);
        let (found, line) = think(&mut self.search, &mut self.evaluator, &limits, stop)?;
        if limits.infinite {
            input.wait_for_stop()?;
        }
        say(&self.info(&found, &line, began.elapsed()))?;
        say(&format!("bestmove {}", found.mv.to_usi(&self.rules)))
    }

    fn limits(&mut self, words: SplitWhitespace<'_>) -> std::io::Result<Limits> {
        let words: Vec<&str> = words.collect();
        let number = |name: &str| -> Option<u64> {
            let at = words.iter().position(|&word| word == name)?;
            words.get(at + 1)?.parse().ok()
        };
        if let Some(nodes) = number("nodes") {
            return Ok(Limits::simulations(nodes as f64));
        }
        if words.contains(&"infinite") {
            return Ok(Limits { infinite: true, ..Limits::simulations(f64::INFINITY) });
        }
        let (time, increment) = match self.search.game().side_to_move() {
            Color::Black => (number("btime"), number("binc")),
            Color::White => (number("wtime"), number("winc")),
        };
        let share = time.unwrap_or(0) / MOVES_TO_GO;
        let share = share
            .saturating_add(increment.unwrap_or(0))
            .saturating_add(number("byoyomi").unwrap_or(0));
        let Some(milliseconds) = number("movetime").or((share > 0).then_some(share)) else {
            return Ok(Limits::simulations(self.simulations.into()));
        };
        let seconds = (milliseconds as f64 / 1000.0 * PLANNED_SHARE).min(LONGEST_SEARCH);
        let limits = Limits::simulations(self.rate()? * seconds);
        Ok(Limits { deadline: Some(Instant::now() + Duration::from_secs_f64(seconds)), ..limits })
    }

    /// Simulations a second, measured once: sequential halving has to know its budget first.
    fn rate(&mut self) -> std::io::Result<f64> {
        if let Some(rate) = self.rate {
            return Ok(rate);
        }
        let probe = Limits::simulations(PROBE.into());
        let mut search = Search::new(Game::new(Arc::clone(&self.rules)), SEARCH);
        let began = Instant::now();
        think(&mut search, &mut self.evaluator, &probe, || Ok(false))?;
        Ok(*self.rate.insert(f64::from(PROBE) / began.elapsed().as_secs_f64()))
    }

    fn info(&self, found: &Findings, line: &[Move], elapsed: Duration) -> String {
        let score = score_text(found);
        let rate = f64::from(found.simulations) / elapsed.as_secs_f64().max(1e-6);
        let moves: Vec<String> = line.iter().map(|mv| mv.to_usi(&self.rules)).collect();
        format!(
            "info depth {} time {} nodes {} nps {rate:.0} score {score} pv {}",
            line.len(),
            elapsed.as_millis(),
            found.simulations,
            moves.join(" ")
        )
    }
}

/// Searches until the limits are reached or `stop` says so.
fn think(
    search: &mut Search,
    evaluator: &mut TeamEvaluator,
    limits: &Limits,
    mut stop: impl FnMut() -> std::io::Result<bool>,
) -> std::io::Result<(Findings, Vec<Move>)> {
    search.begin(SEARCH.budget(limits.simulations, 0.0), &mut generator(0, Purpose::Play, 0));
    let (most, mut slots) = (evaluator.batch_size(), Vec::new());
    loop {
        search.gather(evaluator, most, &mut slots);
        if slots.is_empty() {
            break;
        }
        evaluator.run();
        slots.iter().for_each(|&slot| search.backup(evaluator.read(slot)));
        let late = limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late || stop()? {
            break;
        }
    }
    Ok((search.finish(), search.principal_variation()))
}

/// The moves that lead from one game to another, if that is the same game played on.
fn moves_ahead(from: &Game, to: &Game) -> Option<Vec<Move>> {
    let (known, all): (Vec<Move>, Vec<Move>) = (from.moves().collect(), to.moves().collect());
    let same = from.start_sfen() == to.start_sfen();
    all.strip_prefix(&known[..]).filter(|_| same).map(<[Move]>::to_vec)
}

/// Plies to the end where that is proven, else centipawns on the usual logistic scale, on which
/// 400 are ten to one.
fn score_text(found: &Findings) -> String {
    match found.proof {
        Some(Proof::Win(plies)) => format!("mate {plies}"),
        Some(Proof::Loss(plies)) => format!("mate -{plies}"),
        _ => {
            let score = f64::from(found.root.score()).clamp(0.001, 0.999);
            format!("cp {:.0}", 400.0 * (score / (1.0 - score)).log10())
        }
    }
}

/// `startpos` or `sfen S`, then `moves M...`.
fn read_position(rules: &Arc<Rules>, words: SplitWhitespace<'_>) -> Result<Game, String> {
    let words: Vec<&str> = words.collect();
    let moves_at = words.iter().position(|&word| word == "moves").unwrap_or(words.len());
    let mut game = match words[..moves_at] {
        ["startpos"] => Game::new(Arc::clone(rules)),
        ["sfen", ref sfen @ ..] => Game::from_sfen(Arc::clone(rules), &sfen.join(" "))
            .map_err(|error| error.to_string())?,
        _ => return Err("`position` is followed by `startpos` or `sfen`".to_owned()),
    };
    for text in words.iter().skip(moves_at + 1) {
        let mv = Move::from_usi(rules, game.position(), text).map_err(|error| error.to_string())?;
        game.play(mv);
    }
    Ok(game)
}

fn say(line: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}
