//! The solvers against the oracle's mate problems and doubutsu's exact values.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Rules};
use keiko_selfplay::{MateSolver, ProofSolver, Verdict, Win};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// More than any of these problems needs.
const NODES: u64 = 50_000_000;

fn lines(file: &str) -> Vec<serde_json::Value> {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../rules/tests/oracle");
    let folder = std::env::var_os("KEIKO_ORACLE_DIR").map_or(PathBuf::from(here), PathBuf::from);
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'a>(value: &'a serde_json::Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn texts(value: &serde_json::Value, key: &str) -> Vec<String> {
    let array = value[key].as_array().unwrap();
    array.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_mate_is_found_with_its_shortest_length_and_no_other() {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let (mut mates, mut proofs) = (MateSolver::default(), ProofSolver::default());
    let (mut deepening, mut proving) = (0.0, 0.0);
    let problems = lines("mates_minishogi.jsonl");
    for problem in &problems {
        let (id, sfen) = (text(problem, "id"), text(problem, "sfen"));
        let mut game = Game::from_sfen(rules.clone(), sfen).unwrap();
        let mate = problem["mate"].as_u64().unwrap() as u16;
        let searched = problem["searched_checks_only"].as_u64().unwrap() as u16;
        let began = Instant::now();
        let verdict = mates.solve(&mut game, searched.max(mate), NODES);
        let mut found: Vec<String> = mates
            .shortest_wins(&mut game, searched.max(mate), NODES)
            .iter()
            .map(|win| win.mv.to_usi(&rules))
            .collect();
        deepening += began.elapsed().as_secs_f64();
        let began = Instant::now();
        let proof = proofs.solve(&mut game, NODES);
        proving += began.elapsed().as_secs_f64();
        assert_eq!(game.ply(), 0, "{id}: the game is as it was");
        let mut expected = texts(problem, "solutions");
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{id}");
        match (mate, verdict, proof) {
            (0, Verdict::NoWin, Verdict::NoWin) => {}
            // The data says nothing of longer mates: m-46 has one of 17 plies.
            (0, Verdict::NoWin, Verdict::Win(proven)) => {
                let verdict = mates.solve(&mut game, proven.plies, NODES);
                assert!(matches!(verdict, Verdict::Win(win) if win.plies > searched), "{id}");
            }
            (1.., Verdict::Win(Win { plies, .. }), Verdict::Win(proven)) => {
                assert_eq!(plies, mate, "{id}");
                assert!(proven.plies >= mate, "{id}: {proven:?}");
                let mv = proven.mv.to_usi(&rules);
                let all = [expected, texts(problem, "also_mates")].concat();
                assert!(all.contains(&mv) || proven.plies > mate + 4, "{id}: {mv} {proven:?}");
            }
            other => panic!("{id}: {other:?}"),
        }
    }
    println!("{} problems: deepening {deepening:.2} s, df-pn {proving:.2} s", problems.len());
}

#[test]
fn doubutsu_is_solved_on_its_own_goals() {
    let rules = Arc::new(Rules::load("doubutsu").unwrap());
    let mut solver = MateSolver::default();
    let (began, mut solved) = (Instant::now(), 0);
    for position in lines("doubutsu_values.jsonl") {
        let (sfen, plies) = (text(&position, "sfen"), position["plies"].as_u64().unwrap() as u16);
        if plies > 9 || text(&position, "value") == "draw" {
            continue;
        }
        let mut game = Game::from_sfen(rules.clone(), sfen).unwrap();
        solved += 1;
        if text(&position, "value") == "loss" {
            assert_eq!(solver.solve_loss(&mut game, plies, NODES), Some(plies), "{sfen}");
            continue;
        }
        let Verdict::Win(win) = solver.solve(&mut game, plies, NODES) else {
            panic!("{sfen}: no win in {plies}")
        };
        assert_eq!(win.plies, plies, "{sfen}");
        assert!(texts(&position, "best").contains(&win.mv.to_usi(&rules)), "{sfen} {win:?}");
    }
    println!("{solved} positions in {:.2} s", began.elapsed().as_secs_f64());
    assert!(solved > 50);
}
