//! `keiko strength`: variations of an experiment learn for equal processor time, and are measured.

mod contenders;
mod meetings;
mod opponents;
mod pace;
mod table;
mod training;

use crate::external::Limit;
use crate::failure::STOPPED;
use crate::game_file::{cannot, hold, write_whole};
use crate::players::{Contestant, Means, split_option};
use crate::{Failure, stop};
use contenders::{Contender, Variation, contenders};
use keiko_rules::Rules;
use keiko_trainer::Experiment;
use meetings::{Games, Hall, Party};
use opponents::Opponent;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use table::{Entry, Report};
use training::{Graduate, Pupil, take_turns};

/// Longest that anybody learns, in minutes of a core.
const MOST_MINUTES: f64 = 1e6;

/// Lets variations of an experiment learn from nothing for equal processor time, and measures each
/// against the same opponents and against the first of them.
///
/// The time is that of all the process's threads together: core-minutes. It is given in turns of
/// some minutes, so that whatever else the machine does falls on all alike. Then each plays `random`,
/// every opponent named, and the first contender of the same seed, in pairs of games from random
/// openings that are the same for all. An experiment for a long run may be cut short with --set, for
/// all contenders alike.
///
/// The folder keeps everything; the same command goes on after a stop, and what is there counts as
/// well when more minutes, seeds, alternatives, opponents or games are asked for.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  keiko strength configs/minishogi.toml --minutes 20 --vary search.kind=gumbel,puct\n  \
    keiko strength configs/minishogi.toml --minutes 20 --seeds 2 --equal-time \\\n    \
    --vary 'network.channels=32 network.blocks=4, network.channels=64 network.blocks=5' \\\n    \
    --against checkpoints/published/minishogi --against usi:fairy-stockfish@1000\n  \
    keiko strength configs/minishogi.toml --minutes 20 \\\n    \
    --vary 'as-it-is, search.kind=puct, search.leaf_mate_plies=0,1,5'\n\n\
    --vary takes alternatives between commas: KEY=VALUE; several of them between spaces, to be changed\n\
    together; a value alone, of the key before it; or as-it-is. What stands in brackets belongs\n\
    together. Several --vary make every combination. The first alternatives are what the others are\n\
    compared with."
)]
pub(crate) struct Arguments {
    /// The experiment: a complete TOML file.
    experiment: PathBuf,
    /// Processor time for each contender, in minutes of one core.
    #[arg(long, value_name = "M", value_parser = minutes)]
    minutes: f64,
    /// Alternatives to compare, such as `KEY=A,B,C`; may be given many times.
    #[arg(long = "vary", value_name = "ALTERNATIVES")]
    vary: Vec<String>,
    /// Contenders of each combination, with the experiment's seed and those after it.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    seeds: u64,
    /// Override a value of the experiment for all; may be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// An opponent beside `random`: a player as `keiko match` takes it; behind an outside engine
    /// @NODES or @MILLISECONDSms a move [default: 1000 nodes]. May be given many times.
    #[arg(long = "against", value_name = "PLAYER")]
    against: Vec<String>,
    /// An option of outside engines; may be given many times.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Games of each contender against each opponent; an odd number is rounded up to whole pairs.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    games: u64,
    /// Games against the first contender [default: as --games]; 0: none.
    #[arg(long, value_name = "GAMES", value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    direct: Option<u64>,
    /// Simulations a move, for contenders and for networks they play.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    simulations: u32,
    /// Give contenders of other network sizes as many simulations as take the time that those of the
    /// first contender take, by how fast each is here. The number measured is kept.
    #[arg(long)]
    equal_time: bool,
    /// Where everything is kept [default: checkpoints/NAME-strength].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads that play when strength is measured [default: one a core].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    workers: Option<u64>,
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= MOST_MINUTES => Ok(minutes),
        _ => Err(format!("allowed is a number of minutes above 0, up to {MOST_MINUTES}")),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let parse = |text: &String| Variation::parse(text);
    let variations = arguments.vary.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let contenders =
        contenders(&arguments.experiment, &arguments.set, &variations, arguments.seeds)?;
    let base = Experiment::load(&arguments.experiment, &arguments.set)?;
    let dir = arguments.dir(&base);
    let hall = arguments.hall(&base, &dir)?;
    let opponents = arguments.opponents()?;
    opponents.iter().try_for_each(|opponent| hall.try_seat(&opponent.contestant))?;
    let _lock = lock(&dir)?;
    let open = |contender| Pupil::open(contender, &dir, arguments.minutes);
    let mut pupils = contenders.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let stop = stop::on_signal()?;
    stop::ignore_hangup()?;
    take_turns(&mut pupils, &stop, |pupil| tell!("{}", pupil.progress()))?;
    let graduates = pupils.iter().map(Pupil::graduate).collect::<Result<Option<Vec<_>>, _>>()?;
    let Some(graduates) = graduates else {
        tell!("stopped while contenders learn; the same command goes on");
        return Ok(ExitCode::from(STOPPED));
    };
    let candidates = arguments.candidates(&contenders, graduates, &hall, &dir)?;
    let report = Report {
        title: arguments.title(&base),
        minutes: arguments.minutes,
        entries: arguments.measure(&candidates, &opponents, &hall, &stop)?,
    };
    let text = report.markdown();
    say!("{}", text.trim_end());
    write_whole(&dir.join("table.md"), &text)?;
    let json = serde_json::to_string_pretty(&report.json()).expect("a report is plain data");
    write_whole(&dir.join("strength.json"), &(json + "\n"))?;
    if stop.load(Ordering::Relaxed) {
        tell!("stopped while games are missing; the same command goes on");
        return Ok(ExitCode::from(STOPPED));
    }
    Ok(ExitCode::SUCCESS)
}

/// A contender that has learned, ready to play.
struct Candidate<'a> {
    contender: &'a Contender,
    graduate: Graduate,
    contestant: Contestant,
    simulations: u32,
}

impl Candidate<'_> {
    fn party(&self) -> Party<'_> {
        Party { name: self.contender.title(), contestant: &self.contestant }
    }
}

impl Arguments {
    fn dir(&self, base: &Experiment) -> PathBuf {
        let usual = || Path::new("checkpoints").join(format!("{}-strength", base.name));
        self.out.clone().unwrap_or_else(usual)
    }

    /// All games are played as the experiment says that nobody has varied.
    fn hall(&self, base: &Experiment, dir: &Path) -> Result<Hall, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Hall {
            dir: dir.join("games"),
            rules: Arc::new(Rules::load(&base.rules)?),
            seed: base.seed,
            opening_plies: base.arena.opening_plies,
            ply_limit: base.selfplay.ply_limit,
            workers: self.workers.map_or(cores, |workers| workers as usize),
        })
    }

    fn opponents(&self) -> Result<Vec<Opponent>, Failure> {
        let options = self.options.iter().map(|text| split_option("--option", text));
        let options = options.collect::<Result<Vec<_>, _>>()?;
        let mut opponents: Vec<Opponent> = Vec::new();
        for name in ["random"].into_iter().chain(self.against.iter().map(String::as_str)) {
            if opponents.iter().any(|opponent| opponent.name == name) {
                return Err(Failure::usage(format!(
                    "--against {name}: everybody plays it already"
                )));
            }
            opponents.push(Opponent::parse(name, self.simulations, &options)?);
        }
        Ok(opponents)
    }

    /// What is compared, and how, for people.
    fn title(&self, base: &Experiment) -> String {
        let equal = if self.equal_time { " of the first contender, others as long" } else { "" };
        format!(
            "`{}`\n\n{} core-minutes for each contender; {} simulations a move{equal}; pairs of games \
             from openings of {} random plies. Intervals are 95% of what these games say; what seeds \
             differ by comes on top.",
            command_line(std::env::args().skip(1)),
            self.minutes,
            self.simulations,
            base.arena.opening_plies,
        )
    }

    /// The contenders with the networks they have learned.
    fn candidates<'a>(
        &self,
        contenders: &'a [Contender],
        graduates: Vec<Graduate>,
        hall: &Hall,
        dir: &Path,
    ) -> Result<Vec<Candidate<'a>>, Failure> {
        let simulations = self.simulations;
        let seat = |(contender, graduate): (&'a Contender, Graduate)| {
            let contestant = network(&graduate.network, simulations)?;
            Ok(Candidate { contender, graduate, contestant, simulations })
        };
        let pairs = contenders.iter().zip(graduates);
        let mut candidates = pairs.map(seat).collect::<Result<Vec<_>, Failure>>()?;
        if self.equal_time {
            equalise(&mut candidates, hall, dir)?;
        }
        Ok(candidates)
    }

    /// Plays all games, as far as nobody stops them.
    fn measure(
        &self,
        candidates: &[Candidate<'_>],
        opponents: &[Opponent],
        hall: &Hall,
        stop: &AtomicBool,
    ) -> Result<Vec<Entry>, Failure> {
        let mut entries = Vec::new();
        for candidate in candidates {
            let play = |other: &Party<'_>, games: u64| {
                let stopped = || stop.load(Ordering::Relaxed);
                let games = hall.play([&candidate.party(), other], games, stopped)?;
                tell_result(&candidate.party().name, &other.name, &games);
                Ok((other.name.clone(), games))
            };
            let against = |opponent: &Opponent| {
                let party = Party { name: opponent.name.clone(), contestant: &opponent.contestant };
                play(&party, self.games)
            };
            let direct = self.direct.unwrap_or(self.games);
            let rival = rival(candidates, candidate).filter(|_| direct > 0);
            entries.push(Entry {
                name: candidate.contender.name.clone(),
                seed: candidate.contender.seed,
                simulations: candidate.simulations,
                used: candidate.graduate.used,
                direct: rival.map(|rival| play(&rival.party(), direct)).transpose()?,
                against: opponents.iter().map(against).collect::<Result<_, Failure>>()?,
            });
        }
        Ok(entries)
    }
}

/// A command of this program as a shell takes it.
fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:@+".contains(letter);
    let quoted = |argument: String| match argument.chars().all(is_plain) {
        true => format!(" {argument}"),
        false => format!(" '{argument}'"),
    };
    format!("keiko{}", arguments.map(quoted).collect::<String>())
}

/// Whom a contender plays directly: the first one of its seed, and for those themselves the one of
/// the first seed, which says what seeds alone differ by.
fn rival<'a>(candidates: &'a [Candidate<'a>], of: &Candidate<'_>) -> Option<&'a Candidate<'a>> {
    let first = candidates.first()?;
    let is_of_first = of.contender.name == first.contender.name;
    let seed = if is_of_first { first.contender.seed } else { of.contender.seed };
    let is_rival = |it: &&Candidate<'_>| {
        it.contender.name == first.contender.name && it.contender.seed == seed
    };
    let is_itself = is_of_first && of.contender.seed == seed;
    candidates.iter().find(is_rival).filter(|_| !is_itself)
}

/// Gives every network the simulations that take it as long as the first one's.
fn equalise(candidates: &mut [Candidate<'_>], hall: &Hall, dir: &Path) -> Result<(), Failure> {
    let networks: Vec<&Contestant> = candidates.iter().map(|it| &it.contestant).collect();
    let paces = pace::paces(dir, hall, &networks)?;
    let pace = |it: &Contestant| pace::shape(it).and_then(|shape| paces.get(&shape).copied());
    let first = candidates.first().and_then(|it| pace(&it.contestant));
    for candidate in candidates {
        let factor = pace(&candidate.contestant).zip(first).map_or(1.0, |(own, first)| own / first);
        candidate.simulations = (f64::from(candidate.simulations) * factor).round().max(1.0) as u32;
        if let Contestant::Network(.., simulations) = &mut candidate.contestant {
            *simulations = candidate.simulations;
        }
    }
    Ok(())
}

fn network(path: &Path, simulations: u32) -> Result<Contestant, Failure> {
    let (limit, patience, options) = (Limit::Nodes(1), Duration::ZERO, Vec::new());
    Contestant::parse(&path.to_string_lossy(), Means { simulations, limit, patience, options })
}

fn tell_result(one: &str, other: &str, games: &Games) {
    if let Some(strength) = games.strength() {
        tell!("{one} against {other}: {} games, {strength}", games.0.len());
    }
}

/// Makes the folder, and holds it until the process ends.
fn lock(dir: &Path) -> Result<File, Failure> {
    std::fs::create_dir_all(dir).map_err(cannot(dir))?;
    let path = dir.join("lock");
    let file = File::create(&path).map_err(cannot(&path))?;
    hold(&file, dir, "compares contenders here")?;
    Ok(file)
}
