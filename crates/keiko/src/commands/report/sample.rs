//! Sample games for the page's board: positions, moves, and what was thought of them.

use keiko_network::{Inference, Network, NetworkEvaluator};
use keiko_rules::{Color, Game, Move, Outcome, Rules};
use keiko_selfplay::{Evaluator, GameRecord, Ply, Proof, StartKind, Wdl};
use keiko_trainer::store::{Listing, StoreError};
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Games shown, from the run's first to its newest.
const GAMES: u64 = 10;
/// Games looked at for one that began normally.
const NEARBY: u64 = 64;
/// Moves of a policy that are shown.
const MOVES: usize = 5;

/// A game on the page, or one position.
#[derive(Serialize)]
pub(super) struct Sample {
    title: String,
    /// How it ended; empty for a position.
    ending: String,
    /// Black's score; none for a position.
    result: Option<f32>,
    /// The positions as SFEN: before the first move shown, and after each.
    positions: Vec<String>,
    /// What was played from each position but the last; or from a lone one might be.
    plies: Vec<Shown>,
}

/// A ply: the move, and what the search and the network thought before it.
#[derive(Serialize)]
struct Shown {
    /// The move in USI notation; none where a position stands alone.
    #[serde(rename = "move")]
    mv: Option<String>,
    /// Black's expected score by the search; none for a move of the opening.
    search: Option<f32>,
    /// Black's expected score by the network alone.
    network: Option<f32>,
    /// The likeliest moves with their shares.
    policy: Vec<(String, f32)>,
    note: String,
}

/// What a network would play from the start.
pub(super) fn opening(network: &Network, rules: &Arc<Rules>) -> Option<Sample> {
    let encoding = network.encoding(Arc::clone(rules)).ok()?;
    let mut evaluator = NetworkEvaluator::new(&network.weights, encoding, 1, &Inference::exact());
    let game = Game::new(Arc::clone(rules));
    let mut legal = Vec::new();
    game.legal_moves(&mut legal);
    let slot = evaluator.push(&game, &legal);
    evaluator.run();
    let evaluation = evaluator.read(slot);
    let policy: Vec<_> = legal.into_iter().zip(evaluation.prior.iter().copied()).collect();
    let shown = Shown {
        mv: None,
        search: None,
        network: Some(blacks_score(evaluation.wdl, game.side_to_move())),
        policy: likeliest(rules, &policy),
        note: format!("about {:.0} plies to the end of the game", evaluation.moves_left),
    };
    Some(Sample {
        title: format!("The start, as network {} sees it", network.card.step),
        ending: String::new(),
        result: None,
        positions: vec![game.position().to_sfen(rules)],
        plies: vec![shown],
    })
}

/// Some games that began normally, evenly from the first to the newest, and which cannot be read.
pub(super) fn games(
    listing: &Listing,
    rules: &Arc<Rules>,
) -> Result<(Vec<Sample>, BTreeSet<String>), StoreError> {
    let Some((first, last)) = listing.first_number().zip(listing.last_number()) else {
        return Ok((Vec::new(), BTreeSet::new()));
    };
    let from = |index: u64| first + index * (last - first) / (GAMES - 1);
    let usable =
        |game: &GameRecord| game.start.kind == StartKind::Normal && game.rules_hash == rules.hash();
    let (mut samples, mut damaged): (Vec<GameRecord>, _) = (Vec::new(), BTreeSet::new());
    // Backwards, so that the newest game is among them.
    for number in (0..GAMES).rev().map(from) {
        for block in listing.read(number.saturating_sub(NEARBY)..number + 1).rev() {
            let games = match block {
                Err(error @ StoreError::Decode { .. }) => {
                    damaged.insert(error.to_string());
                    continue;
                }
                block => block?,
            };
            if let Some(game) = games.into_iter().rev().find(usable) {
                samples.push(game);
                break;
            }
        }
    }
    samples.dedup_by_key(|game| game.number);
    samples.reverse();
    Ok((samples.iter().filter_map(|record| replay(record, rules)).collect(), damaged))
}

/// A stored game, ply by ply; `None` where its start is no position of the rules.
fn replay(record: &GameRecord, rules: &Arc<Rules>) -> Option<Sample> {
    let mut game = Game::from_sfen(Arc::clone(rules), &record.start.sfen).ok()?;
    let sfen = |game: &Game| game.position().to_sfen(rules);
    let mut positions = vec![sfen(&game)];
    let mut plies = Vec::new();
    let opening = record.start.opening.iter().map(|&mv| (mv, None));
    for (mv, ply) in opening.chain(record.plies.iter().map(|ply| (ply.mv, Some(ply)))) {
        plies.push(shown(rules, mv, ply, game.side_to_move()));
        game.play(mv);
        positions.push(sfen(&game));
    }
    let number = record.number;
    Some(Sample {
        title: format!("Game {number}, played by network {}", record.network),
        ending: ending(record),
        result: Some(Wdl::of(record.ending.outcome, Color::Black).score()),
        positions,
        plies,
    })
}

fn shown(rules: &Rules, mv: Move, ply: Option<&Ply>, side: Color) -> Shown {
    Shown {
        mv: Some(mv.to_usi(rules)),
        search: ply.map(|ply| blacks_score(ply.root, side)),
        network: ply.map(|ply| blacks_score(ply.raw, side)),
        policy: ply.map(|ply| likeliest(rules, &ply.policy)).unwrap_or_default(),
        note: ply.map_or_else(|| "a move of the opening".to_owned(), note),
    }
}

fn blacks_score(chances: Wdl, side: Color) -> f32 {
    let blacks = if side == Color::Black { chances } else { chances.flipped() };
    (1000.0 * blacks.score()).round() / 1000.0
}

fn likeliest(rules: &Rules, policy: &[(Move, f32)]) -> Vec<(String, f32)> {
    let mut sorted = policy.to_vec();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    sorted.truncate(MOVES);
    let short = |share: f32| (1000.0 * share).round() / 1000.0;
    sorted.into_iter().map(|(mv, share)| (mv.to_usi(rules), short(share))).collect()
}

fn note(ply: &Ply) -> String {
    let search = if ply.full { "full" } else { "cheap" };
    let proven = match ply.proof {
        Some(Proof::Win(plies)) => format!(", proven to be won in {plies} plies"),
        Some(Proof::Loss(plies)) => format!(", proven to be lost in {plies} plies"),
        Some(Proof::Draw(_)) => ", proven to be drawn".to_owned(),
        None => String::new(),
    };
    format!("a {search} search of {} simulations{proven}", ply.simulations)
}

fn ending(record: &GameRecord) -> String {
    let reason = record.ending.reason.to_string().replace('_', " ");
    let result = match record.ending.outcome {
        Outcome::Win(Color::Black) => "Black won",
        Outcome::Win(Color::White) => "White won",
        Outcome::Draw => "Drawn",
    };
    // A proven game ends where it is proven: what is left is not played.
    let played = record.start.opening.len() + record.plies.len();
    let left = match record.len() - played {
        0 => String::new(),
        left => format!(" {left} plies before the end"),
    };
    format!("{result} after {} plies: {reason}{left}", record.len())
}
