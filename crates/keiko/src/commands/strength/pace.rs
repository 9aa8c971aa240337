//! How fast networks think, so that those of different sizes can be given equal time.

use super::meetings::Hall;
use super::training::now;
use crate::Failure;
use crate::game_file::write_whole;
use crate::players::{BATCH, Contestant, Seated, Settings};
use keiko_network::NetworkEvaluator;
use keiko_rules::Game;
use keiko_selfplay::{Purpose, SearchConfig, generator, random_moves};
use keiko_trainer::arena::{Player, SearchPlayer, Turn};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A network in its seat.
type Thinker = Box<SearchPlayer<NetworkEvaluator>>;

/// What was measured, by the network's shape.
const FILE: &str = "paces.json";

/// Rounds in which all are measured in turn: the fastest one says how fast a network is, since what
/// else goes on only slows it down.
const ROUNDS: usize = 5;
/// Processor seconds of a round, at least.
const ROUND: f64 = 1.0;

/// Evaluations in a processor second by the networks' shapes, with all that a search does for one.
pub(super) type Paces = BTreeMap<String, f64>;

/// What the time of a network's simulations depends on.
pub(super) fn shape(contestant: &Contestant) -> Option<String> {
    match contestant {
        Contestant::Network(_, network, ..) => Some(format!("{:?}", network.card.architecture)),
        _ => None,
    }
}

/// How fast these are, by shape. What was measured before in this folder stands, so that a match goes
/// on as it began.
pub(super) fn paces(dir: &Path, hall: &Hall, networks: &[&Contestant]) -> Result<Paces, Failure> {
    let path = dir.join(FILE);
    let mut paces: Paces = match std::fs::read_to_string(&path) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| Failure::data(format!("{}: {error}", path.display())))?,
        Err(_) => Paces::new(),
    };
    let mut new: BTreeMap<String, Thinker> = BTreeMap::new();
    for network in networks {
        let shape = shape(network).filter(|shape| !paces.contains_key(shape));
        if let Some(shape) = shape.filter(|shape| !new.contains_key(shape)) {
            let settings = Settings { batch: BATCH, seed: hall.seed };
            if let Seated::Network(thinker) = network.seat(&hall.rules, &settings)? {
                new.insert(shape, thinker);
            }
        }
    }
    let games = games(hall);
    for _ in 0..ROUNDS {
        for (shape, thinker) in &mut new {
            let pace = pace(thinker, &games)?;
            let fastest = paces.entry(shape.clone()).or_insert(pace);
            *fastest = fastest.max(pace);
        }
    }
    let text = serde_json::to_string_pretty(&paces).expect("numbers are plain data");
    write_whole(&path, &text)?;
    Ok(paces)
}

/// Positions of random play, at all stages of a game.
fn games(hall: &Hall) -> Vec<Game> {
    let game = |number: usize| {
        let mut game = Game::new(Arc::clone(&hall.rules));
        game.set_ply_limit(Some(hall.ply_limit));
        let mut rng = generator(hall.seed, Purpose::Calibration, number as u64);
        random_moves(&mut game, number as u32, &mut rng);
        game
    };
    (0..BATCH).map(game).filter(|game| game.conclusion().is_none()).collect()
}

/// Evaluations in a processor second of searches in these games. What is done once for a move takes
/// no network its time, and is left out.
fn pace(thinker: &mut Thinker, games: &[Game]) -> Result<f64, Failure> {
    thinker.search = SearchConfig { root_mate_plies: 0, root_proof_nodes: 0, ..thinker.search };
    let turn = |(number, game)| Turn { game, number: number as u64, times: &[] };
    let turns: Vec<Turn<'_>> = games.iter().enumerate().map(turn).collect();
    let (began, before) = (now()?, thinker.evaluator.evaluations());
    loop {
        thinker.choose(&turns, &|| false)?;
        let seconds = now()? - began;
        if seconds >= ROUND {
            return Ok((thinker.evaluator.evaluations() - before) as f64 / seconds);
        }
    }
}
