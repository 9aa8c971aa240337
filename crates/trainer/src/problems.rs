//! Positions whose truth is known, and how many of them a network gets right: figures of strength
//! that no rival can move.

use crate::measure::inference_of;
use crate::run::{Run, RunError};
use keiko_network::{Network, NetworkEvaluator};
use keiko_rules::{Game, Move, Rules};
use keiko_selfplay::{
    Evaluator, Proof, Purpose, Search, SearchConfig, Wdl, generator, search_together,
};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Root moves that searches here consider.
const CONSIDERED_MOVES: usize = 16;

/// Problems a run is measured by each time: the first ones, which cost less than its matches.
const PROBLEMS_IN_A_RUN: usize = 256;

/// What is known of a set's positions.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Subject {
    /// Who is to move mates with checks alone, in so many plies.
    Mates,
    /// Exact values, from an enumeration of the whole game.
    Values,
}

/// The sets, by the variant they are about.
const SETS: [(&str, Subject, &str); 2] = [
    ("minishogi", Subject::Mates, include_str!("../../rules/tests/oracle/mates_minishogi.jsonl")),
    ("doubutsu", Subject::Values, include_str!("../../rules/tests/oracle/doubutsu_values.jsonl")),
];

/// What the exact values leave open: moves that win as well, only not as soon, as far as df-pn
/// proves it within 5,000 to 20,000 positions. Others are taken to let the win go.
const LONGER_WINS: &str = include_str!("problems/doubutsu_wins.jsonl");

/// A position whose truth is known.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The position.
    pub game: Game,
    /// What it is for the side to move, and in how many plies of best play; a draw has no length.
    pub truth: Proof,
    /// The moves that keep that.
    pub right: Vec<Move>,
    /// Whether any move is wrong.
    pub asks_for_a_move: bool,
}

/// The problems of a game.
#[derive(Clone, Debug)]
pub struct Problems {
    subject: Subject,
    /// The problems.
    pub list: Vec<Problem>,
}

/// What was said to a problem.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Answer {
    /// The move to play.
    pub mv: Move,
    /// The chances of the side to move.
    pub value: Wdl,
}

/// How many problems of a kind were got right.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Mark {
    /// What they have in common, for people.
    pub name: String,
    /// The same for dashboards; none for a part of what another mark is about.
    pub tag: Option<&'static str>,
    /// Problems that were got right.
    pub right: usize,
    /// Problems there are.
    pub of: usize,
}

impl Mark {
    /// The share that was got right, in [0, 1].
    pub fn share(&self) -> f64 {
        self.right as f64 / self.of.max(1) as f64
    }
}

/// A line of the mates.
#[derive(Deserialize)]
struct MateLine {
    sfen: String,
    mate: u16,
    solutions: Vec<String>,
    also_mates: Vec<String>,
}

/// A line of the exact values.
#[derive(Deserialize)]
struct ValueLine {
    sfen: String,
    value: String,
    plies: u16,
    best: Vec<String>,
}

/// A line of what they leave open.
#[derive(Deserialize)]
struct LongerWins {
    sfen: String,
    also: Vec<String>,
}

impl Problems {
    /// The problems of the game these rules are of, if there are some.
    pub fn of(rules: &Arc<Rules>) -> Option<Problems> {
        let is_of = |name: &str| Rules::load(name).is_ok_and(|it| it.hash() == rules.hash());
        let &(_, subject, text) = SETS.iter().find(|(name, ..)| is_of(name))?;
        let list = match subject {
            Subject::Mates => mates(rules, text),
            Subject::Values => values(rules, text),
        };
        Some(Problems { subject, list })
    }

    /// The variants that have some.
    pub fn variants() -> impl Iterator<Item = &'static str> {
        SETS.iter().map(|&(name, ..)| name)
    }

    /// What a search of so many simulations says to each; without any it is the network alone.
    /// It looks for no forced wins by itself: that would measure the solver. `None` when `stop`
    /// says so.
    pub fn ask(
        &self,
        evaluator: &mut impl Evaluator,
        simulations: u32,
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<Answer>> {
        let config = SearchConfig::without_mates(CONSIDERED_MOVES);
        let begin = |problem: &Problem| {
            let mut search = Search::new(problem.game.clone(), config);
            let mut rng = generator(0, Purpose::Play, 0);
            search.begin(config.budget(simulations, 0.0), &mut rng);
            search
        };
        let mut answers = Vec::with_capacity(self.list.len());
        // As many at once as are evaluated together: no more trees than that are in memory.
        for group in self.list.chunks(evaluator.batch_size()) {
            let mut searches: Vec<Search> = group.iter().map(begin).collect();
            search_together(&mut searches, evaluator, stop);
            if stop() {
                return None;
            }
            answers.extend(searches.iter_mut().map(Search::finish).map(|found| Answer {
                mv: found.mv,
                // With simulations it is the search's opinion, without any the network's.
                value: found.root,
            }));
        }
        Some(answers)
    }

    /// How good these answers are, kind by kind.
    pub fn marks(&self, answers: &[Answer]) -> Vec<Mark> {
        let mark = |name: &str, tag, is_right: &dyn Fn(&Problem, &Answer) -> Option<bool>| {
            let judged: Vec<bool> = self
                .list
                .iter()
                .zip(answers)
                .filter_map(|(it, answer)| is_right(it, answer))
                .collect();
            let right = judged.iter().filter(|&&right| right).count();
            Mark { name: name.to_owned(), tag, right, of: judged.len() }
        };
        let kept = |wanted: &dyn Fn(Proof) -> bool, problem: &Problem, answer: &Answer| {
            let asked = problem.asks_for_a_move && wanted(problem.truth);
            asked.then(|| problem.right.contains(&answer.mv))
        };
        let is_win = |truth| matches!(truth, Proof::Win(_));
        let is_draw = |truth| matches!(truth, Proof::Draw(_));
        let mut marks = match self.subject {
            Subject::Mates => {
                let lengths: BTreeSet<u16> =
                    self.list.iter().map(|problem| problem.truth.plies()).collect();
                let of_length = |plies: u16| {
                    let wanted = move |truth: Proof| truth.plies() == plies;
                    mark(&format!("mates in {plies}"), None, &|it, answer| {
                        kept(&wanted, it, answer)
                    })
                };
                let mut marks: Vec<Mark> = lengths.into_iter().map(of_length).collect();
                let all = |it: &Problem, answer: &Answer| kept(&is_win, it, answer);
                marks.push(mark("mates solved", Some("mates_solved"), &all));
                marks
            }
            Subject::Values => vec![
                mark("wins kept", Some("wins_kept"), &|it, answer| kept(&is_win, it, answer)),
                mark("draws kept", Some("draws_kept"), &|it, answer| kept(&is_draw, it, answer)),
            ],
        };
        let side = |problem: &Problem, answer: &Answer| match problem.truth {
            Proof::Win(_) => Some(answer.value.score() > 0.5),
            Proof::Loss(_) => Some(answer.value.score() < 0.5),
            Proof::Draw(_) => None,
        };
        marks.push(mark("values on the right side", Some("value_sign"), &side));
        marks
    }
}

/// Problems of mates; those of the set that have none are left out.
fn mates(rules: &Arc<Rules>, text: &str) -> Vec<Problem> {
    let problem = |line: MateLine| {
        let game = position(rules, &line.sfen);
        let right = moves(&game, line.solutions.iter().chain(&line.also_mates));
        Problem { game, truth: Proof::Win(line.mate), right, asks_for_a_move: true }
    };
    lines::<MateLine>(text).filter(|line| line.mate > 0).map(problem).collect()
}

fn values(rules: &Arc<Rules>, text: &str) -> Vec<Problem> {
    let longer: BTreeMap<String, Vec<String>> =
        lines::<LongerWins>(LONGER_WINS).map(|line| (line.sfen, line.also)).collect();
    let problem = |line: ValueLine| {
        let game = position(rules, &line.sfen);
        let also = longer.get(&line.sfen).into_iter().flatten();
        let right = moves(&game, line.best.iter().chain(also));
        let mut legal = Vec::new();
        game.legal_moves(&mut legal);
        let truth = match line.value.as_str() {
            "win" => Proof::Win(line.plies),
            "loss" => Proof::Loss(line.plies),
            _ => Proof::Draw(0),
        };
        // What is lost stays lost, whatever is played.
        let asks_for_a_move = !matches!(truth, Proof::Loss(_)) && right.len() < legal.len();
        Problem { game, truth, right, asks_for_a_move }
    };
    lines::<ValueLine>(text).map(problem).collect()
}

fn lines<'a, T: Deserialize<'a>>(text: &'a str) -> impl Iterator<Item = T> {
    text.lines().map(|line| serde_json::from_str(line).expect("the sets are well formed"))
}

fn position(rules: &Arc<Rules>, sfen: &str) -> Game {
    Game::from_sfen(Arc::clone(rules), sfen).expect("the sets hold positions of their game")
}

fn moves<'a>(game: &Game, texts: impl Iterator<Item = &'a String>) -> Vec<Move> {
    let read = |text: &String| Move::from_usi(game.rules(), game.position(), text);
    texts.map(|text| read(text).expect("the sets hold legal moves")).collect()
}

/// What a published network gets right, alone and with the arena's simulations; nothing for a game
/// without problems, and `None` when it was stopped.
pub(crate) fn figures(
    run: &Run,
    network: &Network,
    stop: &AtomicBool,
) -> Result<Option<Vec<(String, f64)>>, RunError> {
    let Some(mut problems) = Problems::of(&run.rules) else {
        return Ok(Some(Vec::new()));
    };
    problems.list.truncate(PROBLEMS_IN_A_RUN);
    let (inference, encoding) = (inference_of(run, network)?, Arc::clone(&run.encoding));
    let batch = run.experiment.machine.batch;
    let mut evaluator = NetworkEvaluator::new(&network.weights, encoding, batch, &inference);
    let stop = || stop.load(Ordering::Relaxed);
    let mut figures = Vec::new();
    for (who, simulations) in [("network", 0), ("search", run.experiment.arena.simulations)] {
        let Some(answers) = problems.ask(&mut evaluator, simulations, &stop) else {
            return Ok(None);
        };
        let marks = problems.marks(&answers);
        let figure = |it: Mark| it.tag.map(|tag| (format!("measure/{tag}_{who}"), it.share()));
        figures.extend(marks.into_iter().filter_map(figure));
    }
    Ok(Some(figures))
}
