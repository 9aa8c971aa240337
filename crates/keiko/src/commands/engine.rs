//! `keiko engine`: a network as a USI engine, enough to play a game.

use crate::Failure;
use crate::players::SEARCH;
use keiko_network::{BurnEvaluator, Encoding, Network};
use keiko_rules::{Game, Move, Rules};
use keiko_selfplay::{Evaluator, Findings, Purpose, Search, generator};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::SplitWhitespace;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Simulations of a `go` without any limit, and of `go infinite` between looks at the input.
const MOST_SIMULATIONS: u32 = 1_000_000;

/// Share of a move's time that is planned; the rest is for what cannot be.
const PLANNED_SHARE: f64 = 0.8;

/// Moves that the remaining time is to last for.
const MOVES_TO_GO: f64 = 25.0;

/// Plays a network as a USI engine on standard input and output, for GUIs and matches.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko engine --network checkpoints/minishogi/networks/000001000")]
pub(crate) struct Arguments {
    /// The network's folder.
    #[arg(long, value_name = "DIR")]
    network: PathBuf,
    /// The game, where the network's is not an embedded variant: its variant file.
    #[arg(long)]
    rules: Option<String>,
    /// Simulations a move where the GUI gives no limit.
    #[arg(long, default_value_t = 800, value_parser = clap::value_parser!(u32).range(1..=MOST_SIMULATIONS as i64))]
    simulations: u32,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let network = Network::load(&arguments.network)?;
    let rules = Arc::new(Rules::load(arguments.rules.as_deref().unwrap_or(&network.card.game))?);
    let encoding = Arc::new(Encoding::new(Arc::clone(&rules))?);
    network.check(&encoding)?;
    let mut engine = Engine {
        evaluator: BurnEvaluator::new(&network.weights, encoding, 1),
        game: Game::new(Arc::clone(&rules)),
        rules,
        simulations: arguments.simulations,
        rate: None,
    };
    let input = read_lines();
    while let Ok(line) = input.recv() {
        if line.trim() == "quit" {
            break;
        }
        engine
            .obey(&line, &input)
            .map_err(|error| Failure::environment(format!("standard output: {error}")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Standard input, line by line, so that a search can look for `stop`.
fn read_lines() -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

struct Engine {
    evaluator: BurnEvaluator,
    rules: Arc<Rules>,
    game: Game,
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

impl Engine {
    fn obey(&mut self, line: &str, input: &Receiver<String>) -> std::io::Result<()> {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("usi") => self.introduce(),
            Some("isready") => say("readyok"),
            Some("setoption") => self.set_option(words),
            Some("usinewgame") => {
                self.game = Game::new(Arc::clone(&self.rules));
                Ok(())
            }
            Some("position") => match read_position(&self.rules, words) {
                Ok(game) => {
                    self.game = game;
                    Ok(())
                }
                Err(message) => say(&format!("info string {message}; the position before stays")),
            },
            Some("go") => self.go(words, input),
            Some("stop" | "ponderhit" | "gameover") | None => Ok(()),
            Some(other) => say(&format!("info string `{other}` is not known here")),
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

    fn go(&mut self, words: SplitWhitespace<'_>, input: &Receiver<String>) -> std::io::Result<()> {
        if self.game.ending().is_some() {
            return say("bestmove resign");
        }
        let limits = self.limits(words);
        let began = Instant::now();
        let (found, line) = self.think(&limits, input);
        if limits.infinite {
            wait_for_stop(input);
        }
        say(&self.info(&found, &line, began.elapsed()))?;
        say(&format!("bestmove {}", found.mv.to_usi(&self.rules)))
    }

    fn limits(&mut self, words: SplitWhitespace<'_>) -> Limits {
        let words: Vec<&str> = words.collect();
        let number = |name: &str| -> Option<f64> {
            let at = words.iter().position(|&word| word == name)?;
            words.get(at + 1)?.parse().ok()
        };
        if let Some(nodes) = number("nodes") {
            return Limits {
                simulations: nodes.clamp(1.0, MOST_SIMULATIONS.into()) as u32,
                deadline: None,
                infinite: false,
            };
        }
        if words.contains(&"infinite") {
            return Limits { simulations: MOST_SIMULATIONS, deadline: None, infinite: true };
        }
        let (time, increment) = match self.game.side_to_move() {
            keiko_rules::Color::Black => (number("btime"), number("binc")),
            keiko_rules::Color::White => (number("wtime"), number("winc")),
        };
        let share = time.unwrap_or(0.0) / MOVES_TO_GO
            + increment.unwrap_or(0.0)
            + number("byoyomi").unwrap_or(0.0);
        match number("movetime").or((share > 0.0).then_some(share)) {
            None => Limits { simulations: self.simulations, deadline: None, infinite: false },
            Some(milliseconds) => {
                let seconds = milliseconds / 1000.0 * PLANNED_SHARE;
                let simulations =
                    (self.rate() * seconds).clamp(1.0, MOST_SIMULATIONS.into()) as u32;
                let deadline = Some(Instant::now() + Duration::from_secs_f64(seconds));
                Limits { simulations, deadline, infinite: false }
            }
        }
    }

    /// Simulations a second, measured once: sequential halving has to know its budget first.
    fn rate(&mut self) -> f64 {
        if self.rate.is_none() {
            let (probe, began) =
                (Limits { simulations: 32, deadline: None, infinite: false }, Instant::now());
            self.think(&probe, &channel().1);
            self.rate = Some(32.0 / began.elapsed().as_secs_f64());
        }
        self.rate.expect("it was just measured")
    }

    /// Searches until the limits are reached or `stop` comes.
    fn think(&mut self, limits: &Limits, input: &Receiver<String>) -> (Findings, Vec<Move>) {
        let mut search = Search::new(self.game.clone(), SEARCH.sigma());
        search.begin(SEARCH.budget(limits.simulations, 0.0), &mut generator(0, Purpose::Play, 0));
        while let Some(slot) = search.select(&mut self.evaluator) {
            self.evaluator.run();
            search.backup(self.evaluator.read(slot));
            let late = limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late || input.try_recv().is_ok_and(|line| ["stop", "quit"].contains(&line.trim())) {
                break;
            }
        }
        (search.finish(), search.principal_variation())
    }

    fn info(&self, found: &Findings, line: &[Move], elapsed: Duration) -> String {
        let score = f64::from(found.root.score()).clamp(0.001, 0.999);
        // The usual logistic scale, on which 400 centipawns are ten to one.
        let centipawns = 400.0 * (score / (1.0 - score)).log10();
        let rate = f64::from(found.simulations) / elapsed.as_secs_f64().max(1e-6);
        let moves: Vec<String> = line.iter().map(|mv| mv.to_usi(&self.rules)).collect();
        format!(
            "info depth {} time {} nodes {} nps {rate:.0} score cp {centipawns:.0} pv {}",
            line.len(),
            elapsed.as_millis(),
            found.simulations,
            moves.join(" ")
        )
    }
}

fn wait_for_stop(input: &Receiver<String>) {
    while input.recv().is_ok_and(|line| !["stop", "quit"].contains(&line.trim())) {}
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
