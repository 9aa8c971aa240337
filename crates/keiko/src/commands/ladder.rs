//! `keiko ladder`: ratings of a run's networks and of fixed players, from more and more games.

use crate::external::Limit;
use crate::failure::STOPPED;
use crate::game_file::{GameFile, cannot, write_whole};
use crate::players::{Contestant, Means, Seated, Settings};
use crate::{Failure, stop};
use keiko_network::{CARD_FILE, Inference, Network, NetworkEvaluator, Precision, Weights};
use keiko_rules::Game;
use keiko_trainer::Records;
use keiko_trainer::arena::{Match, SearchPlayer};
use keiko_trainer::ladder::{ANCHORS, Ladder, UNTRAINED};
use keiko_trainer::ratings::Ratings;
use keiko_trainer::scoresheet::Scoresheet;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Games that two players play in one go, in pairs: enough for every core to play some side by
/// side, few enough that the next two are chosen by what these said.
const AT_ONCE: u64 = 16;

/// Rates a run's networks: plays games between those that are there, the untrained network (0 Elo)
/// and fixed players, chosen where they tell most, and prints everybody's rating.
///
/// All games ever played lie in the run's `ladder.jsonl`, a line each, and count, and so do those
/// that the run's own arena played; ratings are written to `ladder.json`. The run may be going on
/// meanwhile. Its networks play as in its arena: by its search, with `arena.simulations`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  keiko ladder checkpoints/minishogi --games 320\n  \
    keiko ladder checkpoints/minishogi --games 0\n  \
    keiko ladder checkpoints/minishogi --anchor checkpoints/published/minishogi")]
pub(crate) struct Arguments {
    /// The run's folder.
    run: PathBuf,
    /// So many more games, rounded up to multiples of 16; 0 only prints.
    #[arg(long, default_value_t = 160, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    games: u64,
    /// Another player to measure by: a network's folder, or `material:DEPTH`; may be given many
    /// times.
    #[arg(long = "anchor", value_name = "PLAYER")]
    anchors: Vec<String>,
    /// Threads that play [default: one a core].
    #[arg(long)]
    workers: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let records = Records::open(&arguments.run)?;
    let present = players(arguments, &records)?;
    let (file, games) = GameFile::open(&arguments.run.join("ladder.jsonl"), AT_ONCE)?;
    let mut ladder = Ladder::of_run(&arguments.run)?;
    let among: Vec<usize> = present.iter().map(|(name, _)| ladder.player(name)).collect();
    games.iter().for_each(|game| ladder.add(game));
    let seat_of = |player: usize| {
        let place = among.iter().position(|&it| it == player);
        &present[place.expect("they are among those that are there")]
    };
    let stopping = stop::on_signal()?;
    let (mut first, of) = (games.len() as u64, games.len() as u64 + arguments.games);
    while first < of && !stopping.load(Ordering::Relaxed) {
        let ratings = ladder.ratings();
        let Some((one, other)) = ratings.most_telling(&among, AT_ONCE as f64) else {
            break;
        };
        let meeting = Meeting { records: &records, arguments, first };
        let stopped = || stopping.load(Ordering::Relaxed);
        let players = [seat_of(one), seat_of(other)];
        let Some(games) = meeting.play(players, stopped)? else {
            break;
        };
        file.add(&games)?;
        file.sync()?;
        games.iter().for_each(|game| ladder.add(game));
        first += AT_ONCE;
        tell!("{first} games: {} against {}", players[0].0, players[1].0);
    }
    let ratings = ladder.ratings();
    print(&ladder, &ratings);
    write(&arguments.run, &ladder, &ratings)?;
    Ok(if first < of { ExitCode::from(STOPPED) } else { ExitCode::SUCCESS })
}

/// Somebody on the ladder.
enum Rated {
    /// A network of the run, the untrained one too.
    Own(Box<Weights>, Inference),
    /// Anybody else.
    Other(Contestant),
}

/// Everybody who can play now, by name, the untrained network first.
fn players(arguments: &Arguments, records: &Records) -> Result<Vec<(String, Rated)>, Failure> {
    let means = || Means {
        simulations: records.experiment.arena.simulations,
        limit: Limit::Nodes(1000),
        patience: Duration::from_secs(60),
        options: Vec::new(),
    };
    let Records { experiment, rules, .. } = records;
    let untrained = Box::new(experiment.initial_weights(&experiment.encoding(rules)));
    let exact = Inference::cpu(Precision::F32, None);
    let mut players = vec![(UNTRAINED.to_owned(), Rated::Own(untrained, exact))];
    for name in ANCHORS.map(|it| it.to_string()).iter().chain(&arguments.anchors) {
        let player = Contestant::parse(name, means())?;
        players.push((name.clone(), Rated::Other(player)));
    }
    for (name, dir) in networks(&arguments.run)? {
        let network = Network::load(&dir)?;
        let inference = network.inference(Some(experiment.inference.precision))?;
        players.push((name, Rated::Own(Box::new(network.weights), inference)));
    }
    Ok(players)
}

/// The run's published networks, oldest first.
fn networks(run: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let dir = run.join("networks");
    let entries = std::fs::read_dir(&dir).map_err(cannot(&dir))?;
    let mut networks = Vec::new();
    for entry in entries {
        let entry = entry.map_err(cannot(&dir))?;
        if entry.path().join(CARD_FILE).exists() {
            networks.push((entry.file_name().to_string_lossy().into_owned(), entry.path()));
        }
    }
    networks.sort();
    Ok(networks)
}

/// Two players who are to play some games.
struct Meeting<'a> {
    records: &'a Records,
    arguments: &'a Arguments,
    /// The number of the first game.
    first: u64,
}

impl Meeting<'_> {
    /// Their games; `None` when they were stopped.
    fn play(
        &self,
        players: [&(String, Rated); 2],
        stop: impl Fn() -> bool + Sync,
    ) -> Result<Option<Vec<Scoresheet>>, Failure> {
        let experiment = &self.records.experiment;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = self.arguments.workers.unwrap_or(cores).clamp(1, AT_ONCE as usize);
        let contest = Match {
            starts: vec![Game::new(Arc::clone(&self.records.rules))],
            // Not the openings of the run's own games, which count as well.
            seed: !experiment.seed,
            pairs: AT_ONCE / 2,
            opening_plies: experiment.arena.opening_plies,
            ply_limit: experiment.selfplay.ply_limit,
            side_by_side: (AT_ONCE as usize).div_ceil(workers),
        };
        let seat = |player: &Rated| self.seat(player, contest.side_by_side);
        let mut seats = (0..workers)
            .map(|_| Ok((seat(&players[0].1)?, seat(&players[1].1)?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        // Every two players meet from other openings than before.
        let numbers: Vec<u64> = (self.first..self.first + AT_ONCE).collect();
        let played = contest.play_these(&numbers, &mut seats, |_| (), stop)?;
        let names = [players[0].0.as_str(), players[1].0.as_str()];
        let games: Vec<Scoresheet> =
            played.iter().map(|game| Scoresheet::of(game, names)).collect();
        Ok((games.len() as u64 == AT_ONCE).then_some(games))
    }

    fn seat(&self, player: &Rated, batch: usize) -> Result<Seated, Failure> {
        let Records { experiment, rules, .. } = self.records;
        let settings = Settings { batch, seed: experiment.seed };
        match player {
            Rated::Other(contestant) => contestant.seat(rules, &settings),
            Rated::Own(weights, inference) => {
                let encoding = experiment.encoding(rules);
                let evaluator = NetworkEvaluator::new(weights, encoding, batch, inference);
                let (search, simulations) = (experiment.search, experiment.arena.simulations);
                Ok(Seated::Network(Box::new(SearchPlayer { evaluator, search, simulations })))
            }
        }
    }
}

/// Prints everybody's rating, the best first.
fn print(ladder: &Ladder, ratings: &Ratings) {
    let mut order: Vec<usize> = (0..ladder.players().len()).collect();
    order.sort_by(|&a, &b| ratings.of(b).value.total_cmp(&ratings.of(a).value));
    let width = ladder.players().iter().map(String::len).max().unwrap_or(0);
    say!("{:width$} {:>6} {:>6} {:>6} {:>6}", "player", "Elo", "low", "high", "games");
    for player in order {
        let rating = ratings.of(player);
        let (name, games) = (&ladder.players()[player], ladder.games_of(player));
        say!(
            "{name:width$} {:>+6.0} {:>+6.0} {:>+6.0} {games:>6}",
            rating.value,
            rating.low,
            rating.high
        );
    }
}

/// Writes everybody's rating as JSON.
fn write(run: &Path, ladder: &Ladder, ratings: &Ratings) -> Result<(), Failure> {
    let rating = |(player, name): (usize, &String)| {
        let elo = ratings.of(player);
        let games = ladder.games_of(player);
        json!({ "player": name, "elo": elo.value, "low": elo.low, "high": elo.high, "games": games })
    };
    let all: Vec<_> = ladder.players().iter().enumerate().map(rating).collect();
    let text = serde_json::to_string_pretty(&all).expect("ratings are plain data") + "\n";
    write_whole(&run.join("ladder.json"), &text)
}
