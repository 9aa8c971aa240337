//! The problems networks are measured by: who knows gets them right, who does not gets few.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Move, Outcome, Rules};
use keiko_selfplay::{
    Evaluation, Evaluator, MateSolver, Proof, Slot, UniformEvaluator, Verdict, Wdl,
};
use keiko_trainer::problems::{Mark, Problems};
use std::collections::BTreeMap;
use std::sync::Arc;

fn problems(variant: &str) -> Problems {
    Problems::of(&Arc::new(Rules::load(variant).unwrap())).unwrap()
}

fn marks(problems: &Problems, evaluator: &mut impl Evaluator, simulations: u32) -> Vec<Mark> {
    problems.marks(&problems.ask(evaluator, simulations, &|| false).unwrap())
}

/// Knows the answers, and whether it tells them or their opposite.
struct Knowing {
    known: BTreeMap<u64, (Vec<Move>, Proof)>,
    is_honest: bool,
    answers: Vec<(Vec<f32>, Wdl)>,
}

impl Knowing {
    fn of(problems: &Problems, is_honest: bool) -> Knowing {
        let known = problems.list.iter();
        let known = known.map(|it| (it.game.position().key(), (it.right.clone(), it.truth)));
        Knowing { known: known.collect(), is_honest, answers: Vec::new() }
    }
}

impl Evaluator for Knowing {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        let (right, truth) = &self.known[&game.position().key()];
        let weight = |mv| if right.contains(mv) == self.is_honest { 1.0 } else { 1e-3 };
        let prior = legal.iter().map(weight).collect();
        let value = truth.value();
        let value = if self.is_honest { value } else { value.flipped() };
        self.answers.push((prior, value));
        Slot(self.answers.len() - 1)
    }

    fn run(&mut self) {}

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        let (prior, wdl) = &self.answers[slot.0];
        Evaluation { wdl: *wdl, moves_left: 0.0, prior }
    }

    fn batch_size(&self) -> usize {
        1
    }
}

#[test]
fn who_knows_gets_all_right_and_who_errs_none() {
    for variant in Problems::variants() {
        let problems = problems(variant);
        for mark in marks(&problems, &mut Knowing::of(&problems, true), 0) {
            assert!(mark.of > 0 && mark.right == mark.of, "{variant}: {mark:?}");
        }
        for mark in marks(&problems, &mut Knowing::of(&problems, false), 0) {
            assert_eq!(mark.right, 0, "{variant}: {mark:?}");
        }
    }
}

#[test]
fn search_alone_solves_more_than_a_guess() {
    let problems = problems("minishogi");
    let solved = |simulations| {
        let marks = marks(&problems, &mut UniformEvaluator::default(), simulations);
        marks.into_iter().find(|mark| mark.tag == Some("mates_solved")).unwrap()
    };
    let (guessed, searched) = (solved(0), solved(200));
    assert_eq!((guessed.of, searched.of), (39, 39));
    assert!(searched.right > guessed.right, "{guessed:?} {searched:?}");
}

#[test]
fn a_stop_leaves_no_answers() {
    let problems = problems("minishogi");
    assert!(problems.ask(&mut UniformEvaluator::default(), 4, &|| true).is_none());
}

#[test]
fn games_without_problems_have_none() {
    let none = |variant: &str| Problems::of(&Arc::new(Rules::load(variant).unwrap())).is_none();
    // With a limit of pieces in hand it is another game, whose values nobody enumerated.
    assert!(none("shogi") && none("doubutsu_h5"));
}

/// What keeps a win or a draw lets the other side win neither at once nor soon.
#[test]
fn no_right_move_lets_the_other_side_win() {
    let problems = problems("doubutsu");
    let mut solver = MateSolver::default();
    let mut checked = 0;
    for problem in problems.list.iter().filter(|it| it.asks_for_a_move) {
        let us = problem.game.side_to_move();
        for &mv in &problem.right {
            let mut game = problem.game.clone();
            game.play(mv);
            let lets_win = match game.conclusion() {
                Some(ending) => ending.outcome != Outcome::Win(us),
                None => matches!(solver.solve(&mut game, 3, 100_000), Verdict::Win(_)),
            };
            assert!(!lets_win, "{} {mv:?}", problem.game.start_sfen());
            checked += 1;
        }
    }
    assert!(checked > 400, "{checked}");
}
