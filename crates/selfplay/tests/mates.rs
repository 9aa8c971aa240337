//! The search against the mate problems of the oracle, knowing nothing but the rules.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Rules};
use keiko_selfplay::{
    Budget, Evaluator, Purpose, Search, SearchConfig, UniformEvaluator, generator,
};
use std::path::PathBuf;
use std::sync::Arc;

struct Problem {
    sfen: String,
    mate: u64,
    solutions: Vec<String>,
}

fn problems() -> Vec<Problem> {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../rules/tests/oracle");
    let folder = std::env::var_os("KEIKO_ORACLE_DIR").map_or(PathBuf::from(here), PathBuf::from);
    let text = std::fs::read_to_string(folder.join("mates_minishogi.jsonl")).unwrap();
    let problem = |line: &str| {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let texts = |key: &str| -> Vec<String> {
            json[key].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
        };
        Problem {
            sfen: json["sfen"].as_str().unwrap().to_owned(),
            mate: json["mate"].as_u64().unwrap(),
            solutions: texts("solutions"),
        }
    };
    text.lines().map(problem).collect()
}

/// The move a search with every legal move considered plays.
fn answer(rules: &Arc<Rules>, sfen: &str, simulations: u32) -> String {
    let game = Game::from_sfen(Arc::clone(rules), sfen).unwrap();
    let mut search = Search::new(game, SearchConfig::without_mates(16));
    let budget = Budget { simulations, considered: usize::MAX, noise: 0.0, explores: false };
    search.begin(budget, &mut generator(1, Purpose::Play, 0));
    let mut evaluator = UniformEvaluator::default();
    while let Some(slot) = search.select(&mut evaluator) {
        evaluator.run();
        search.backup(evaluator.read(slot));
    }
    search.finish().mv.to_usi(rules)
}

fn solved(mate: u64, simulations: u32) -> (usize, usize) {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let asked: Vec<_> = problems().into_iter().filter(|problem| problem.mate == mate).collect();
    let right = |p: &&Problem| p.solutions.contains(&answer(&rules, &p.sfen, simulations));
    (asked.iter().filter(right).count(), asked.len())
}

#[test]
fn finds_every_mate_in_one_within_2000_simulations() {
    let (found, asked) = solved(1, 2_000);
    assert!(asked > 0);
    assert_eq!(found, asked);
}

/// A report, not a promise: the share is printed with `--nocapture`.
#[test]
fn reports_mates_in_three_at_20000_simulations() {
    let (found, asked) = solved(3, 20_000);
    println!("mates in three at 20,000 simulations: {found} of {asked}");
    assert!(asked > 0 && found > 0);
}
