//! Self-play: many games at once on one evaluator, each a pure function of its number.

use crate::opening::sample;
use crate::{
    Budget, Evaluation, Evaluator, Findings, GameRecord, Ply, Proof, Purpose, Search, SearchConfig,
    SearchKind, SelfPlayConfig, Slot, Start, StartKind, generator,
};
use keiko_rules::{Color, Ending, Move, Outcome, Reason, Rules};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// What a generation's games have in common.
#[derive(Clone, Debug)]
pub struct SelfPlay {
    /// The law.
    pub rules: Arc<Rules>,
    /// Constants of the search.
    pub search: SearchConfig,
    /// How games are played.
    pub games: SelfPlayConfig,
    /// Simulations of a full search in this generation.
    pub full_simulations: u32,
    /// Simulations of a cheap one.
    pub cheap_simulations: u32,
    /// Starts for the games that begin like an earlier one.
    pub archive: Vec<Start>,
    /// The run's seed.
    pub seed: u64,
    /// Learner step of the network behind the evaluators.
    pub network: u64,
}

impl SelfPlay {
    /// Plays the games whose numbers `next` hands out, as many at once as the evaluator's
    /// batch takes, and gives each record to `finished`.
    ///
    /// Which games share a batch changes nothing in them. Returns when `next` has no more
    /// numbers and all games are over, or at once when `stop` says so: unfinished games are
    /// dropped then, to be replayed from their numbers.
    pub fn play(
        &self,
        evaluator: &mut impl Evaluator,
        mut next: impl FnMut() -> Option<u64>,
        mut finished: impl FnMut(GameRecord),
        stop: impl Fn() -> bool,
    ) {
        let mut tables: Vec<Option<Table>> = Vec::new();
        tables.resize_with(evaluator.batch_size(), || None);
        let mut slots: Vec<Option<Slot>> = vec![None; tables.len()];
        while !stop() {
            for (table, slot) in tables.iter_mut().zip(&mut slots) {
                *slot = self.next_leaf(table, evaluator, &mut next, &mut finished);
            }
            if slots.iter().all(Option::is_none) {
                return;
            }
            evaluator.run();
            for (table, slot) in tables.iter_mut().zip(&slots) {
                if let (Some(table), Some(slot)) = (table, slot) {
                    self.take_in(table, evaluator.read(*slot));
                }
            }
        }
    }

    /// Goes on with a table's game, or the next one, until a leaf needs its evaluation.
    fn next_leaf(
        &self,
        table: &mut Option<Table>,
        evaluator: &mut impl Evaluator,
        next: &mut impl FnMut() -> Option<u64>,
        finished: &mut impl FnMut(GameRecord),
    ) -> Option<Slot> {
        loop {
            let playing = match table {
                Some(playing) => playing,
                None => table.insert(self.seat(next()?)),
            };
            if let Some(slot) = playing.select(evaluator) {
                return Some(slot);
            }
            if let Some(record) = self.finish_ply(playing) {
                finished(record);
                *table = None;
            }
        }
    }

    /// Takes in what the evaluator says of a table's position.
    fn take_in(&self, table: &mut Table, evaluation: Evaluation<'_>) {
        if table.to_sample == 0 {
            return table.search.backup(evaluation);
        }
        table.search.play(sample(&table.legal, evaluation.prior, &mut table.rng));
        table.to_sample -= 1;
        if table.search.game().conclusion().is_some() {
            let (game, to_sample) = self.open(table.kind, &mut table.rng);
            table.search = Search::new(game, self.search);
            table.to_sample = to_sample;
        } else if table.to_sample == 0 {
            self.begin_search(table);
        }
    }

    /// Sets up game `number` and begins its first search, unless its opening is sampled first.
    fn seat(&self, number: u64) -> Table {
        let mut rng = generator(self.seed, Purpose::Game, number);
        let plays_proofs_out = rng.random_bool(self.games.proven_playout_share);
        let never_resigns = rng.random_bool(self.games.resign_playout_share);
        let kind = self.draw_kind(&mut rng);
        let (game, to_sample) = self.open(kind, &mut rng);
        let mut table = Table {
            number,
            rng,
            plays_proofs_out,
            never_resigns,
            kind,
            search: Search::new(game, self.search),
            to_sample,
            legal: Vec::new(),
            full: false,
            plies: Vec::new(),
        };
        if to_sample == 0 {
            self.begin_search(&mut table);
        }
        table
    }

    fn begin_search(&self, table: &mut Table) {
        table.full = table.rng.random_bool(self.games.full_share);
        let simulations = if table.full { self.full_simulations } else { self.cheap_simulations };
        let noise = self.games.temperature_at(table.plies.len());
        let budget = Budget { explores: table.full, ..self.search.budget(simulations, noise) };
        table.search.begin(budget, &mut table.rng);
    }

    /// Plays the move found; the record when that ended the game, else on to the next search.
    fn finish_ply(&self, table: &mut Table) -> Option<GameRecord> {
        let side = table.search.game().side_to_move();
        let found = table.search.finish();
        match self.search.kind {
            // Sequential halving wants moves that start alike.
            SearchKind::Gumbel => table.search.play(found.mv),
            SearchKind::Puct => table.search.advance(found.mv),
        }
        table.plies.push(ply_of(found, table.full));
        let Some(ending) = self.ending(table, side) else {
            self.begin_search(table);
            return None;
        };
        let game = table.search.game();
        let opening = game.moves().take(game.ply() - table.plies.len()).collect();
        Some(GameRecord {
            number: table.number,
            rules_hash: self.rules.hash(),
            network: self.network,
            start: Start { kind: table.kind, sfen: game.start_sfen(), opening },
            plies: std::mem::take(&mut table.plies),
            ending,
        })
    }

    /// How the game is over, if it is, now that `side` has moved: by law, because the result was
    /// proven before that move, or because that side resigns instead of making it.
    fn ending(&self, table: &Table, side: Color) -> Option<Ending> {
        let proof = table.plies.last().and_then(|ply| ply.proof);
        let proven = proof
            .filter(|_| !table.plays_proofs_out)
            .map(|proof| Ending { outcome: proof.outcome(side), reason: Reason::Proven });
        let resigned = || {
            let resigns = !table.never_resigns && self.games.resigns(&table.plies);
            let outcome = Outcome::Win(side.opponent());
            resigns.then_some(Ending { outcome, reason: Reason::Resignation })
        };
        table.search.game().conclusion().or(proven).or_else(resigned)
    }
}

/// A game being played.
struct Table {
    number: u64,
    rng: ChaCha8Rng,
    plays_proofs_out: bool,
    never_resigns: bool,
    kind: StartKind,
    search: Search,
    /// Moves that the network's policy has still to make before the first search.
    to_sample: u32,
    /// Legal moves of the position that the next of them is sampled in.
    legal: Vec<Move>,
    full: bool,
    plies: Vec<Ply>,
}

impl Table {
    /// Pushes the next position to evaluate; `None` when a search is done.
    fn select(&mut self, evaluator: &mut impl Evaluator) -> Option<Slot> {
        if self.to_sample == 0 {
            return self.search.select(evaluator);
        }
        self.search.game().legal_moves(&mut self.legal);
        Some(evaluator.push(self.search.game(), &self.legal))
    }
}

fn ply_of(found: Findings, full: bool) -> Ply {
    // A proven win teaches its move whatever the search cost; a proven loss teaches none.
    let teaches = match found.proof {
        Some(Proof::Win(_)) => true,
        Some(Proof::Loss(_)) => false,
        _ => full,
    };
    Ply {
        mv: found.mv,
        full,
        simulations: found.simulations,
        raw: found.raw,
        root: found.root,
        policy: if teaches { found.policy } else { Vec::new() },
        surprise: found.surprise,
        proof: found.proof,
    }
}

/// Runs searches that were begun, side by side, until all are done or `stop` says so: their leaves
/// share the evaluator's batches.
pub fn search_together(
    searches: &mut [Search],
    evaluator: &mut impl Evaluator,
    stop: &dyn Fn() -> bool,
) {
    for group in searches.chunks_mut(evaluator.batch_size()) {
        while !stop() {
            let slots: Vec<_> = group.iter_mut().map(|search| search.select(evaluator)).collect();
            if slots.iter().all(Option::is_none) {
                break;
            }
            evaluator.run();
            for (search, slot) in group.iter_mut().zip(slots) {
                if let Some(slot) = slot {
                    search.backup(evaluator.read(slot));
                }
            }
        }
    }
}
