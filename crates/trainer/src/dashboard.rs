//! What a dashboard shows beside the curves: its layout, the experiment, distributions, pictures
//! and a sample game. All of it follows from counts.

use crate::measure::flush;
use crate::metrics::Chart;
use crate::pictures::{Shown, policy_on_board, value_curve};
use crate::run::{Run, RunError};
use crate::statistics::entropy;
use crate::train::Watcher;
use keiko_network::{Inference, NetworkEvaluator};
use keiko_rules::{Game, Move, Outcome, kif_text};
use keiko_selfplay::{Evaluator, GameRecord, Ply, StartKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Sections of TensorBoard's custom scalars, with their charts.
const LAYOUT: &[(&str, &[Chart<'_>])] = &[
    (
        "Am I learning?",
        &[
            Chart::Band { title: "Elo above the untrained network", tag: "arena/elo" },
            Chart::Band { title: "Elo by all games of the ladder", tag: "ladder/elo" },
            Chart::Lines {
                title: "Elo among fixed players",
                tags: &["ladder/elo", "ladder/random", "ladder/mate1", "ladder/material_.*"],
            },
            Chart::Lines { title: "problems got right", tags: &["measure/.*"] },
            Chart::Lines { title: "policy loss", tags: &["loss/policy", "loss_holdout/policy"] },
            Chart::Lines { title: "value loss", tags: &["loss/value", "loss_holdout/value"] },
            Chart::Lines {
                title: "right guesses on held-out games",
                tags: &["loss_holdout/policy_accuracy", "loss_holdout/value_accuracy"],
            },
        ],
    ),
    (
        "Is self-play healthy?",
        &[
            Chart::Lines { title: "ends", tags: &["selfplay/ends_.*"] },
            Chart::Lines { title: "length", tags: &["selfplay/length"] },
            Chart::Lines {
                title: "first player",
                tags: &["selfplay/first_player_score", "selfplay/first_player_score_normal"],
            },
            Chart::Lines {
                title: "policy",
                tags: &["selfplay/policy_entropy", "selfplay/surprise"],
            },
        ],
    ),
    (
        "Is training starved?",
        &[
            Chart::Lines { title: "samples per position", tags: &["ratio/.*"] },
            Chart::Lines { title: "games in the window", tags: &["replay/games"] },
            Chart::Lines { title: "positions in the window", tags: &["replay/positions"] },
            Chart::Lines {
                title: "seconds",
                tags: &["system/seconds_playing", "system/seconds_learning"],
            },
        ],
    ),
    (
        "Is the machine healthy?",
        &[
            Chart::Lines { title: "games a second", tags: &["system/games_per_second"] },
            Chart::Lines {
                title: "evaluations a second",
                tags: &["system/evaluations_per_second"],
            },
            Chart::Lines { title: "steps a second", tags: &["system/steps_per_second"] },
            Chart::Lines { title: "busy", tags: &["system/busy_share"] },
            Chart::Lines { title: "idle seconds", tags: &["system/idle_.*"] },
            Chart::Lines { title: "memory", tags: &["system/memory_mib"] },
            Chart::Lines { title: "events", tags: &["events/.*"] },
        ],
    ),
];

/// Tags whose last values stand beside the settings in TensorBoard's table of runs.
const RESULTS: &[&str] =
    &["ladder/elo", "arena/elo", "arena/random_score", "loss_holdout/policy", "loss_holdout/value"];

/// Writes what does not change, once in a run.
pub(crate) fn describe(
    run: &mut Run,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<(), RunError> {
    if run.metrics.has_layout() {
        return Ok(());
    }
    run.metrics.layout(LAYOUT)?;
    run.metrics.settings(&run.experiment.flat(), RESULTS)?;
    let text = format!("```toml\n{}```", run.experiment.to_toml());
    run.metrics.text("experiment", 0, &text)?;
    run.patiently(watcher, stop, flush)
}

/// Of the first 32 published networks all are exhibited; of the next 32 every second, of the next
/// 64 every fourth, and so on.
const EXHIBITED_AT_FIRST: u64 = 32;

/// Whether the published network of this number, counted from 0, is exhibited: ever fewer of them,
/// as networks change ever more slowly. All of them
/// were 479 kB in ten minutes of minishogi.
pub(crate) fn is_exhibited(number: u64) -> bool {
    let spacing = number.next_power_of_two() / EXHIBITED_AT_FIRST;
    number.is_multiple_of(spacing.max(1))
}

/// Queues what is shown of a published network: distributions, pictures and a sample game.
pub(crate) fn exhibit(run: &mut Run, step: u64) -> Result<(), RunError> {
    games(run, step)?;
    weights(run, step)?;
    pictures(run, step)
}

/// Queues the distributions of a generation's games.
fn games(run: &mut Run, step: u64) -> Result<(), RunError> {
    let plies = || run.current.iter().flat_map(|game| &game.plies);
    let full = || plies().filter(|ply| ply.full);
    let all: [(&str, Vec<f32>); 5] = [
        ("selfplay/lengths", run.current.iter().map(|game| game.len() as f32).collect()),
        ("value/searched", plies().map(|ply| ply.root.score()).collect()),
        ("value/network", plies().map(|ply| ply.raw.score()).collect()),
        ("policy/entropies", full().map(|ply| entropy(&ply.policy) as f32).collect()),
        ("policy/surprises", full().map(|ply| ply.surprise).collect()),
    ];
    for (tag, values) in all {
        run.metrics.histogram(tag, step, &values)?;
    }
    Ok(())
}

/// Queues the distribution of the network's weights, part by part. Biases and gains are left out:
/// there are too few of them to move a histogram.
fn weights(run: &mut Run, step: u64) -> Result<(), RunError> {
    let mut parts: BTreeMap<String, Vec<f32>> = BTreeMap::new();
    for parameter in run.learner.average().parameters() {
        if parameter.shape.len() >= 2 {
            parts.entry(part_of(&parameter.name)).or_default().extend(&parameter.values);
        }
    }
    for (part, values) in parts {
        run.metrics.histogram(&format!("weights/{part}"), step, &values)?;
    }
    Ok(())
}

/// The part of the network a parameter belongs to: its block, its head, or the stem.
fn part_of(name: &str) -> String {
    let levels = if name.starts_with("blocks.") { 2 } else { 1 };
    name.split('.').take(levels).collect::<Vec<_>>().join(".")
}

/// Queues the network's policy at the start and in a sample game, and that game.
fn pictures(run: &mut Run, step: u64) -> Result<(), RunError> {
    let inference = Inference::exact();
    let weights = run.learner.average();
    let mut evaluator = NetworkEvaluator::new(weights, Arc::clone(&run.encoding), 1, &inference);
    let mut draw = |game: &Game, title: &str, searched: &[(Move, f32)]| {
        let policy = &policy_of(&mut evaluator, game);
        policy_on_board(&run.rules, &Shown { title, position: game.position(), policy, searched })
    };
    let start = draw(&Game::new(Arc::clone(&run.rules)), "", &[]);
    run.metrics.picture("policy/start", step, start)?;
    let Some(sample) = sample(&run.current) else {
        return Ok(());
    };
    let ply = most_surprising(sample);
    let title = format!("Game {}, ply {}", sample.number, sample.start.opening.len() + ply + 1);
    let picture = draw(&replayed(run, sample, ply), &title, &sample.plies[ply].policy);
    run.metrics.picture("policy/sample_game", step, picture)?;
    run.metrics.picture("value/sample_game", step, value_curve(sample))?;
    let text = in_words(run, sample);
    run.metrics.text("selfplay/sample_game", step, &text)?;
    Ok(())
}

/// The first game from the normal start that was searched at all; else the first.
fn sample(games: &[GameRecord]) -> Option<&GameRecord> {
    let searched = || games.iter().filter(|game| !game.plies.is_empty());
    searched().find(|game| game.start.kind == StartKind::Normal).or_else(|| searched().next())
}

fn policy_of(evaluator: &mut NetworkEvaluator, game: &Game) -> Vec<(Move, f32)> {
    let mut legal = Vec::new();
    game.legal_moves(&mut legal);
    if legal.is_empty() {
        return Vec::new();
    }
    let slot = evaluator.push(game, &legal);
    evaluator.run();
    legal.iter().copied().zip(evaluator.read(slot).prior.iter().copied()).collect()
}

/// Before which searched ply of a game the search changed the network's mind most.
fn most_surprising(record: &GameRecord) -> usize {
    // The first of equals.
    let surprise = |ply: &Ply| if ply.full { ply.surprise } else { f32::NEG_INFINITY };
    let plies = record.plies.iter().enumerate().rev();
    let most = plies.max_by(|(_, a), (_, b)| surprise(a).total_cmp(&surprise(b)));
    most.map_or(0, |(index, _)| index)
}

/// A game before its searched ply `plies`.
fn replayed(run: &Run, record: &GameRecord, plies: usize) -> Game {
    let mut game =
        record.opening(&run.rules).expect("a stored game starts from a position of its rules");
    for ply in &record.plies[..plies] {
        game.play(ply.mv);
    }
    game
}

/// A game as Markdown.
fn in_words(run: &Run, record: &GameRecord) -> String {
    let game = replayed(run, record, record.plies.len());
    let result = match record.ending.outcome {
        Outcome::Win(color) => format!("{color:?} won"),
        Outcome::Draw => "drawn".to_owned(),
    };
    let moves: Vec<String> = game.moves().map(|mv| mv.to_usi(&run.rules)).collect();
    format!(
        "Game {} by network {}: {result} after {} plies ({})\n\n`position sfen {} moves {}`\n\n```\n{}```",
        record.number,
        record.network,
        record.len(),
        record.ending.reason.to_string().replace('_', " "),
        record.start.sfen,
        moves.join(" "),
        kif_text(&game, ["keiko", "keiko"]),
    )
}

#[cfg(test)]
mod tests {
    use super::is_exhibited;

    #[test]
    fn ever_fewer_networks_are_exhibited() {
        let exhibited =
            |numbers: std::ops::Range<u64>| numbers.filter(|&number| is_exhibited(number)).count();
        assert_eq!(exhibited(0..33), 33);
        assert_eq!(exhibited(33..65), 16);
        assert_eq!(exhibited(65..129), 16);
        assert_eq!(exhibited(0..10_000), 164);
    }
}
