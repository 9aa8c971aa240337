//! A generation's figures: losses, games, rates, and the strength of published networks.

use crate::arena::{Match, Played, Player, SearchPlayer, tally};
use crate::checkpoint::{Phase, Published};
use crate::clock::{Clock, Stopwatch};
use crate::dashboard::{exhibit, is_exhibited};
use crate::elo::{Strength, Tally};
use crate::ladder::{Ladder, rounds};
use crate::metrics::SESSIONS_TAG;
use crate::opponents::{Opponent, RandomPlayer};
use crate::problems;
use crate::published::{Rival, name_of, publish};
use crate::run::{Run, RunError, now};
use crate::statistics::{self, StepSums};
use crate::train::{Event, Watcher};
use crate::workers::Workers;
use keiko_network::{
    Calibration, Encoding, Inference, Network, NetworkEvaluator, Precision, Snapshot, Weights,
    calibrate, evaluate_losses,
};
use keiko_rules::Game;
use keiko_selfplay::{Purpose, SelfPlay, generator, random_moves};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Held-out positions measured in each generation, the newest ones.
const HOLDOUT_POSITIONS: usize = 2048;

/// Positions that say what 8-bit activations have to hold.
const CALIBRATION_POSITIONS: usize = 512;

/// Figures by tag.
type Figures = Vec<(String, f64)>;

/// Writes the figures that are queued.
pub(crate) fn flush(run: &mut Run) -> Result<(), RunError> {
    Ok(run.metrics.flush(now())?)
}

/// Takes the generation's figures, now and then with a published network's strength, and
/// moves on to the next.
pub(crate) fn measure(
    run: &mut Run,
    clock: &mut Clock,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<bool, RunError> {
    let stopwatch = Stopwatch::start();
    let generation = run.state.generation;
    let mut figures = learned_figures(run);
    let mut ladder = run.state.ladder.clone();
    figures.extend(holdout_figures(run));
    let selfplay = run.experiment.selfplay(&run.rules, run.learner.steps(), generation);
    let games = statistics::of_games(&run.current, &selfplay);
    figures.extend(games.into_iter().map(|(tag, value)| (tag.to_owned(), value)));
    let published = run.generation_to_publish();
    if let Some(learned) = published {
        let network = run.patiently(watcher, stop, |run| publish(run))?;
        match measure_strength(run, learned, &network, &mut ladder, watcher, stop)? {
            Some(strength) => figures.extend(strength),
            None => return Ok(false),
        }
        match rounds::climb(run, &mut ladder, watcher, stop)? {
            Some(rating) => figures.extend(rating),
            None => return Ok(false),
        }
        match problems::figures(run, &network, stop)? {
            Some(solved) => figures.extend(solved),
            None => return Ok(false),
        }
    }
    clock.measured(&stopwatch);
    figures.extend(machine_figures(clock));
    figures.push((SESSIONS_TAG.to_owned(), run.metrics.sessions() as f64));
    let step = run.learner.steps();
    record(run, &figures, step, published)?;
    run.patiently(watcher, stop, flush)?;
    watcher.tell(&Event::Generation { generation, step, figures: &figures });
    *clock = Clock::start(run.experiment.machine.workers);
    // Not before: whatever interrupts this generation's figures, its games count once.
    run.state.ladder = ladder;
    begin_next_generation(run);
    run.patiently(watcher, stop, Run::save)?;
    keep_to_bounds(run, published.is_some(), watcher)?;
    Ok(true)
}

/// Removes what is beyond the bounds of the disk, and says so; there are more networks only where
/// one was published.
fn keep_to_bounds(run: &mut Run, published: bool, watcher: &dyn Watcher) -> Result<(), RunError> {
    let tell = |message: String| watcher.tell(&Event::Notice { message: &message });
    let removed = run.remove_old_games()?;
    if removed.segments > 0 {
        let (games, mebibytes) = (removed.games, removed.bytes >> 20);
        tell(format!("removed the oldest {games} games, {mebibytes} MiB: machine.games_mebibytes"));
    }
    if published {
        for step in run.remove_networks()? {
            tell(format!("removed network {step}: machine.networks_mebibytes"));
        }
    }
    Ok(())
}

fn begin_next_generation(run: &mut Run) {
    run.current.clear();
    run.state.learned = StepSums::default();
    run.state.generation += 1;
    run.state.phase = Phase::Play;
}

/// Writes the figures of a generation, and what is shown of some of the published networks.
fn record(
    run: &mut Run,
    figures: &[(String, f64)],
    step: u64,
    published: Option<u64>,
) -> Result<(), RunError> {
    // When more generations are asked for later, the steps of the first of them were taken, and
    // reported, when the run was to end.
    let is_reported = step > 0 && run.state.learned.steps() == 0;
    if is_reported {
        return Ok(());
    }
    let every = run.experiment.arena.every;
    for (tag, value) in figures {
        run.metrics.scalar(tag, step, *value)?;
    }
    if published.is_some_and(|learned| run.is_last() || is_exhibited(learned / every)) {
        exhibit(run, step)?;
    }
    Ok(())
}

/// What the learner did: means over the generation's steps, and how it keeps the balance.
fn learned_figures(run: &Run) -> Figures {
    let state = &run.state;
    let rate = run.learning_rate(run.learner.steps().saturating_sub(1));
    let others = [
        ("optim/learning_rate", f64::from(rate)),
        ("events/learning_retries", state.recovery.retries as f64),
        ("replay/games", run.replay.games() as f64),
        ("replay/games_left_out", run.games_left_out() as f64),
        ("replay/positions", run.replay.positions() as f64),
        ("replay/total_games", state.games as f64),
        ("replay/total_positions", state.positions as f64),
        ("ratio/samples_per_position", state.samples as f64 / state.positions.max(1) as f64),
    ];
    state.learned.means().chain(others).map(|(tag, value)| (tag.to_owned(), value)).collect()
}

/// Losses on the newest held-out games, and those of the network before its first step: the
/// games change from generation to generation, so only the two together say what was learned.
fn holdout_figures(run: &Run) -> Figures {
    let batches =
        run.holdout.newest(&run.encoding, HOLDOUT_POSITIONS, run.experiment.training.micro_batch);
    if batches.is_empty() {
        return Vec::new();
    }
    let workers = run.experiment.machine.workers;
    let losses = |weights| evaluate_losses(weights, &run.encoding, &batches, workers);
    let learned = losses(run.learner.average());
    let untrained = losses(&run.experiment.initial_weights(&run.encoding));
    let named = [
        ("policy", learned.policy_loss),
        ("policy_kl", learned.policy_kl),
        ("policy_kl_untrained", untrained.policy_kl),
        ("policy_accuracy", learned.policy_accuracy),
        ("value", learned.value_loss),
        ("value_untrained", untrained.value_loss),
        ("value_accuracy", learned.value_accuracy),
        ("moves_left", learned.moves_left_loss),
        ("reply", learned.reply_loss),
        ("short_term", learned.short_term_loss),
    ];
    named.into_iter().map(|(name, value)| (format!("loss_holdout/{name}"), value.into())).collect()
}

/// The only figures a machine may change.
fn machine_figures(clock: &Clock) -> Figures {
    let mut figures = clock.figures();
    figures
        .extend(statistics::resident_mebibytes().map(|mebibytes| ("system/memory_mib", mebibytes)));
    figures.into_iter().map(|(tag, value)| (tag.to_owned(), value)).collect()
}

/// Plays the published network, which learned from `generation` last, against uniform random play
/// and against the network of some generations ago, and rates it; the games count on the ladder, too.
/// `None` when it was stopped.
fn measure_strength(
    run: &mut Run,
    generation: u64,
    network: &Network,
    ladder: &mut Ladder,
    watcher: &dyn Watcher,
    stop: &AtomicBool,
) -> Result<Option<Figures>, RunError> {
    let arena = run.experiment.arena.clone();
    let name = name_of(run.learner.steps());
    let random = || RandomPlayer { seed: run.experiment.seed };
    let contest = Contest { run, generation, network, watcher, stop };
    let random = contest.play("uniform random", arena.random_pairs, random)?;
    let Some((games, against_random)) = random else {
        return Ok(None);
    };
    ladder.add_match(&name, &Opponent::Random.to_string(), games);
    let mut figures = strength_figures("random", &against_random);
    let rival = Rival::of(run, generation, watcher);
    let inference = run.inference(&rival.weights);
    let player = || run.search_player(&rival.weights, &inference);
    let Some((games, strength)) = contest.play(&rival.name(), arena.rival_pairs, player)? else {
        return Ok(None);
    };
    ladder.add_match(&name, &rival.name_on_ladder(), games);
    figures.extend(strength_figures("rival", &strength));
    let elo = rival.elo + strength.elo.value;
    // Errors of independent matches add up in squares along the chain.
    let margin = rival.margin.hypot((strength.elo.high - strength.elo.low) / 2.0);
    figures.push(("arena/elo".to_owned(), elo));
    figures.push(("arena/elo_low".to_owned(), elo - margin));
    figures.push(("arena/elo_high".to_owned(), elo + margin));
    let step = run.learner.steps();
    run.state.published.retain(|one| one.step != step);
    run.state.published.push(Published { generation, step, elo, margin });
    Ok(Some(figures))
}

fn strength_figures(rival: &str, strength: &Strength) -> Figures {
    let named = [
        ("score", strength.score.value),
        ("score_low", strength.score.low),
        ("score_high", strength.score.high),
        ("elo", strength.elo.value),
    ];
    named.into_iter().map(|(name, value)| (format!("arena/{rival}_{name}"), value)).collect()
}

/// How a network that was just published is computed in play.
pub(crate) fn inference_of(run: &Run, network: &Network) -> Result<Inference, RunError> {
    match Inference::on_gpu(&run.device) {
        Some(inference) => Ok(inference),
        // The card's calibration is of these weights and this window: `publish` has just made it.
        None => Ok(network.inference(Some(run.experiment.inference.precision))?),
    }
}

/// Matches of one network.
struct Contest<'a> {
    run: &'a Run,
    generation: u64,
    network: &'a Network,
    watcher: &'a dyn Watcher,
    stop: &'a AtomicBool,
}

impl Contest<'_> {
    fn play<P: Player + Send>(
        &self,
        rival: &str,
        pairs: u64,
        player: impl Fn() -> P,
    ) -> Result<Option<(Tally, Strength)>, RunError> {
        let run = self.run;
        let inference = inference_of(run, self.network)?;
        let mut players: Vec<_> = (0..run.experiment.machine.workers)
            .map(|_| (run.search_player(&self.network.weights, &inference), player()))
            .collect();
        let (done, of) = (AtomicU64::new(0), 2 * pairs);
        let on_game = |_: &Played| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            self.watcher.tell(&Event::Measuring { rival, done, of });
        };
        let stopped = || self.stop.load(Ordering::Relaxed);
        let played = run.arena_match(pairs).play(&mut players, on_game, stopped)?;
        if (played.len() as u64) < of {
            return Ok(None);
        }
        let tally = tally(&played);
        let strength = tally.strength().expect("a match has games");
        let generation = self.generation;
        self.watcher.tell(&Event::Strength { generation, rival, strength: &strength });
        Ok(Some((tally.games(), strength)))
    }
}

impl Run {
    /// Whether no generation is to follow the one in hand.
    pub(crate) fn is_last(&self) -> bool {
        self.state.generation + 1 == self.experiment.training.generations
    }

    /// The generation that was learned from last, if its network is to be published: every so many
    /// generations, and at the end. Where no step was taken there is no network to speak of.
    fn generation_to_publish(&self) -> Option<u64> {
        if self.state.learned.steps() == 0 {
            return None;
        }
        if self.is_last() {
            return Some(self.state.generation);
        }
        let learned = self.state.generation.checked_sub(self.experiment.training.overlap)?;
        learned.is_multiple_of(self.experiment.arena.every).then_some(learned)
    }

    /// What the games of this generation, played by the network of a step, have in common.
    pub(crate) fn selfplay(&self, step: u64) -> SelfPlay {
        SelfPlay {
            archive: self.replay.archive(self.experiment.selfplay.archive_games),
            ..self.experiment.selfplay(&self.rules, step, self.state.generation)
        }
    }

    /// The threads that play, on this network.
    pub(crate) fn workers<'a>(
        &self,
        player: &'a Snapshot,
        encoding: &'a Arc<Encoding>,
    ) -> Workers<'a> {
        Workers {
            count: self.experiment.machine.workers,
            batch: self.experiment.machine.batch,
            cache: self.experiment.machine.cache,
            weights: &player.weights,
            inference: self.inference(&player.weights),
            encoding,
        }
    }

    /// How these weights are computed in play: by burn on a GPU, else by our own kernels. What
    /// 8-bit activations have to hold is judged by positions of the window, before there are any
    /// by random play.
    pub(crate) fn inference(&self, weights: &Weights) -> Inference {
        if let Some(inference) = Inference::on_gpu(&self.device) {
            return inference;
        }
        let precision = self.experiment.inference.precision;
        let calibration = (precision == Precision::Int8).then(|| self.calibrate(weights));
        Inference::cpu(precision, calibration)
    }

    pub(crate) fn calibrate(&self, weights: &Weights) -> Calibration {
        let newest =
            self.replay.newest(&self.encoding, CALIBRATION_POSITIONS, CALIBRATION_POSITIONS);
        match newest.first() {
            Some(batch) => calibrate(weights, &self.encoding, batch.inputs()),
            None => calibrate(weights, &self.encoding, &self.random_positions()),
        }
    }

    /// Positions of random play, each `[planes, squares]`.
    fn random_positions(&self) -> Vec<f32> {
        let size = self.encoding.planes() * self.encoding.squares();
        let mut inputs = vec![0.0; CALIBRATION_POSITIONS * size];
        for (number, input) in inputs.chunks_exact_mut(size).enumerate() {
            let mut rng = generator(self.experiment.seed, Purpose::Calibration, number as u64);
            let mut game = Game::new(Arc::clone(&self.rules));
            game.set_ply_limit(Some(self.experiment.selfplay.ply_limit));
            let plies = number as u32 % self.experiment.selfplay.ply_limit;
            random_moves(&mut game, plies, &mut rng);
            self.encoding.encode(&game, input);
        }
        inputs
    }

    pub(crate) fn search_player(
        &self,
        weights: &Weights,
        inference: &Inference,
    ) -> SearchPlayer<NetworkEvaluator> {
        SearchPlayer {
            evaluator: NetworkEvaluator::new(
                weights,
                Arc::clone(&self.encoding),
                self.experiment.machine.batch,
                inference,
            ),
            search: self.experiment.search,
            simulations: self.experiment.arena.simulations,
        }
    }

    pub(crate) fn arena_match(&self, pairs: u64) -> Match {
        // Small enough that every worker has a share.
        let share = (2 * pairs).div_ceil(self.experiment.machine.workers as u64);
        Match {
            starts: vec![Game::new(Arc::clone(&self.rules))],
            seed: self.experiment.seed,
            pairs,
            opening_plies: self.experiment.arena.opening_plies,
            ply_limit: self.experiment.selfplay.ply_limit,
            side_by_side: share.min(2 * self.experiment.machine.batch as u64) as usize,
        }
    }
}
