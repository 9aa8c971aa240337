//! Several evaluators of one network, a thread each, behind the seam as one: for a single game,
//! whose leaves are evaluated on all cores while its tree is walked on.

use crate::{Encoding, Inference, NetworkEvaluator, Weights};
use keiko_rules::{Game, Move};
use keiko_selfplay::{Evaluation, Evaluator, Slot, Wdl};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Evaluates positions on several threads, each as soon as it is pushed. A position has the same
/// bits whichever of them evaluates it.
///
/// Whoever pushes waits for one position at a time with [`TeamEvaluator::finish`], and evaluates
/// some meanwhile; or for all that was pushed with [`Evaluator::run`].
#[derive(Debug)]
pub struct TeamEvaluator {
    encoding: Arc<Encoding>,
    own: NetworkEvaluator,
    desk: Arc<Desk>,
    others: Vec<JoinHandle<()>>,
    /// By slot.
    places: Vec<Place>,
    /// The slot that was finished last.
    finished: Option<usize>,
    has_run: bool,
}

/// What stands at a slot.
#[derive(Debug)]
enum Place {
    /// Nothing that anybody waits for; its memory.
    Free(Job),
    /// A position that was pushed.
    Pushed,
    /// Its evaluation.
    Done(Job),
}

/// A position, and what the network says of it.
#[derive(Debug, Default)]
struct Job {
    slot: usize,
    /// `[planes, squares]`.
    input: Vec<f32>,
    /// Indices in the policy of every legal move.
    labels: Vec<u32>,
    prior: Vec<f32>,
    wdl: Wdl,
    moves_left: f32,
}

/// Where the threads meet.
#[derive(Debug)]
struct Desk {
    state: Mutex<State>,
    /// There is something to do.
    work: Condvar,
    /// Something was done.
    done: Condvar,
    /// Threads, the one that pushes among them.
    members: usize,
    /// Positions that one of them takes at a time, at most.
    batch: usize,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Job>,
    done: Vec<Job>,
    /// Whether a thread has panicked.
    is_broken: bool,
    is_over: bool,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while it is held")
    }

    /// Takes a share of what waits, the oldest first.
    fn take(&self, state: &mut State, jobs: &mut Vec<Job>) {
        let share = (state.queue.len() / self.members).clamp(1, self.batch);
        jobs.extend(std::iter::from_fn(|| state.queue.pop_front()).take(share));
    }

    /// What every thread but the caller's does until the team is dropped.
    fn work(&self, mut evaluator: NetworkEvaluator) {
        let _guard = Guard(self);
        let mut jobs = Vec::new();
        loop {
            let mut state = self.lock();
            while state.queue.is_empty() && !state.is_over {
                state = self.work.wait(state).expect("no panic while it is held");
            }
            if state.is_over {
                return;
            }
            self.take(&mut state, &mut jobs);
            drop(state);
            evaluate(&mut evaluator, &mut jobs);
            self.lock().done.append(&mut jobs);
            self.done.notify_all();
        }
    }
}

/// Tells the others that its thread has ended, and whether by a panic.
struct Guard<'a>(&'a Desk);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Ok(mut state) = self.0.state.lock()
        {
            state.is_broken = true;
            self.0.done.notify_all();
        }
    }
}

/// Evaluates some positions.
fn evaluate(evaluator: &mut NetworkEvaluator, jobs: &mut [Job]) {
    for job in &*jobs {
        evaluator.push_encoded(&job.input, &job.labels);
    }
    evaluator.run();
    for (index, job) in jobs.iter_mut().enumerate() {
        let Evaluation { wdl, moves_left, prior } = evaluator.read(Slot(index));
        (job.wdl, job.moves_left) = (wdl, moves_left);
        job.prior.clear();
        job.prior.extend_from_slice(prior);
    }
}

impl TeamEvaluator {
    /// A team of `threads`, which works best with `batch` positions for each.
    ///
    /// # Panics
    /// When the weights are not of the encoding's shapes.
    pub fn new(
        weights: &Weights,
        encoding: &Arc<Encoding>,
        (threads, batch): (usize, usize),
        inference: &Inference,
    ) -> TeamEvaluator {
        let (members, batch) = (threads.max(1), batch.max(1));
        let member = || NetworkEvaluator::new(weights, Arc::clone(encoding), batch, inference);
        let desk = Arc::new(Desk {
            state: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
            members,
            batch,
        });
        let other = |_| {
            let (desk, evaluator) = (Arc::clone(&desk), member());
            std::thread::spawn(move || desk.work(evaluator))
        };
        TeamEvaluator {
            encoding: Arc::clone(encoding),
            own: member(),
            others: (1..members).map(other).collect(),
            desk,
            places: Vec::new(),
            finished: None,
            has_run: false,
        }
    }

    /// Waits for the evaluation of a position that was pushed, and lends a hand meanwhile. It can
    /// be read until the next one is finished.
    ///
    /// # Panics
    /// When a thread of the team has panicked.
    pub fn finish(&mut self, slot: Slot) -> Evaluation<'_> {
        if let Some(before) = self.finished.replace(slot.0)
            && before != slot.0
        {
            self.free(before);
        }
        self.wait_for(slot.0);
        self.read(slot)
    }

    fn free(&mut self, slot: usize) {
        let place = std::mem::replace(&mut self.places[slot], Place::Pushed);
        self.places[slot] = match place {
            Place::Done(job) | Place::Free(job) => Place::Free(job),
            Place::Pushed => Place::Pushed,
        };
    }

    fn wait_for(&mut self, slot: usize) {
        let mut jobs = Vec::new();
        while matches!(self.places[slot], Place::Pushed) {
            let desk = Arc::clone(&self.desk);
            let mut state = desk.lock();
            assert!(!state.is_broken, "a thread that evaluates has panicked");
            jobs.append(&mut state.done);
            if jobs.is_empty() && state.queue.is_empty() {
                drop(desk.done.wait(state).expect("no panic while it is held"));
                continue;
            }
            if jobs.is_empty() {
                desk.take(&mut state, &mut jobs);
                drop(state);
                evaluate(&mut self.own, &mut jobs);
            }
            for job in jobs.drain(..) {
                let slot = job.slot;
                self.places[slot] = Place::Done(job);
            }
        }
    }

    /// A slot for one more position, and its memory.
    fn place(&mut self) -> Job {
        let free = self.places.iter().position(|place| matches!(place, Place::Free(_)));
        let slot = free.unwrap_or(self.places.len());
        let mut job = if slot == self.places.len() {
            self.places.push(Place::Pushed);
            Job::default()
        } else {
            match std::mem::replace(&mut self.places[slot], Place::Pushed) {
                Place::Free(job) => job,
                Place::Pushed | Place::Done(_) => unreachable!("the place is free"),
            }
        };
        job.slot = slot;
        job
    }
}

impl Evaluator for TeamEvaluator {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        if std::mem::take(&mut self.has_run) {
            (0..self.places.len()).for_each(|slot| self.free(slot));
            self.finished = None;
        }
        let mut job = self.place();
        let slot = job.slot;
        job.input.clear();
        job.input.resize(self.encoding.planes() * self.encoding.squares(), 0.0);
        self.encoding.encode(game, &mut job.input);
        job.labels.clear();
        let label = |&mv| self.encoding.label(game.position(), mv) as u32;
        job.labels.extend(legal.iter().map(label));
        self.desk.lock().queue.push_back(job);
        self.desk.work.notify_one();
        Slot(slot)
    }

    fn run(&mut self) {
        self.has_run = true;
        (0..self.places.len()).for_each(|slot| self.wait_for(slot));
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        match &self.places[slot.0] {
            Place::Done(job) => {
                Evaluation { wdl: job.wdl, moves_left: job.moves_left, prior: &job.prior }
            }
            Place::Pushed | Place::Free(_) => panic!("a slot that was evaluated"),
        }
    }

    fn batch_size(&self) -> usize {
        self.desk.members * self.desk.batch
    }
}

impl Drop for TeamEvaluator {
    fn drop(&mut self) {
        if let Ok(mut state) = self.desk.state.lock() {
            state.is_over = true;
        }
        self.desk.work.notify_all();
        for other in self.others.drain(..) {
            // A panic has been said already, and nobody is left to be told.
            _ = other.join();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Architecture, Precision};
    use keiko_rules::Rules;

    #[test]
    fn a_team_answers_as_one_evaluator_does() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        let encoding = Arc::new(Encoding::new(Arc::clone(&rules)));
        let weights = Weights::init(&encoding, Architecture::plain(16, 1), 3);
        let inference = Inference::cpu(Precision::F32, None);
        let mut team = TeamEvaluator::new(&weights, &encoding, (3, 4), &inference);
        let mut alone = NetworkEvaluator::new(&weights, Arc::clone(&encoding), 1, &inference);
        assert_eq!(team.batch_size(), 12);
        // Batches that fill some of the members, then all, then some again.
        for size in [2, 7, 1] {
            let mut game = Game::new(Arc::clone(&rules));
            let (mut legal, mut slots, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for index in 0..size {
                game.legal_moves(&mut legal);
                slots.push(team.push(&game, &legal));
                let slot = alone.push(&game, &legal);
                alone.run();
                let Evaluation { wdl, prior, .. } = alone.read(slot);
                expected.push((wdl, prior.to_vec()));
                game.play(legal[index % legal.len()]);
            }
            team.run();
            for (slot, (wdl, prior)) in slots.into_iter().zip(expected) {
                let found = team.read(slot);
                assert_eq!((found.wdl, found.prior), (wdl, &prior[..]));
            }
        }
    }

    /// As an engine uses it: some positions always wait, and each is taken as soon as it is due.
    #[test]
    fn positions_can_be_taken_one_by_one() {
        let rules = Arc::new(Rules::load("minishogi").unwrap());
        let encoding = Arc::new(Encoding::new(Arc::clone(&rules)));
        let weights = Weights::init(&encoding, Architecture::plain(16, 1), 3);
        let inference = Inference::cpu(Precision::F32, None);
        let mut alone = NetworkEvaluator::new(&weights, Arc::clone(&encoding), 1, &inference);
        for threads in [1, 3] {
            let mut team = TeamEvaluator::new(&weights, &encoding, (threads, 4), &inference);
            let (mut game, mut legal) = (Game::new(Arc::clone(&rules)), Vec::new());
            let mut waiting = VecDeque::new();
            for index in 0..60 {
                if index < 50 {
                    game.legal_moves(&mut legal);
                    let slot = alone.push(&game, &legal);
                    alone.run();
                    let Evaluation { wdl, prior, .. } = alone.read(slot);
                    waiting.push_back((team.push(&game, &legal), wdl, prior.to_vec()));
                    game.play(legal[index % legal.len()]);
                    if game.ending().is_some() {
                        game = Game::new(Arc::clone(&rules));
                    }
                }
                if index >= 10 {
                    let (slot, wdl, prior) = waiting.pop_front().unwrap();
                    let found = team.finish(slot);
                    assert_eq!((found.wdl, found.prior), (wdl, &prior[..]));
                }
            }
            // No more places than ever waited together, and the one that could still be read.
            assert!(team.places.len() <= 12);
        }
    }
}
