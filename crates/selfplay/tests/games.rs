//! Laws of self-play: a game is a pure function of its number.
#![allow(clippy::unwrap_used)]

use keiko_rules::{Game, Move, Outcome, Reason, Rules};
use keiko_selfplay::{
    Evaluation, Evaluator, GameRecord, Proof, Schedule, SearchConfig, SelfPlay, SelfPlayConfig,
    Slot, StartKind, UniformEvaluator, Wdl, archive,
};
use std::sync::Arc;

/// An evaluator with opinions of its own about every position, in batches of any size.
struct Opinionated {
    batch: usize,
    pushed: Vec<(Wdl, Vec<f32>)>,
    ran: bool,
}

impl Evaluator for Opinionated {
    fn push(&mut self, game: &Game, legal: &[Move]) -> Slot {
        if std::mem::take(&mut self.ran) {
            self.pushed.clear();
        }
        assert!(self.pushed.len() < self.batch, "more was pushed than a batch holds");
        let key = game.position().key();
        let win = (key % 97) as f32 / 100.0;
        let wdl = Wdl { win, draw: 0.01, loss: 0.99 - win };
        let weights: Vec<f32> =
            (0..legal.len()).map(|i| 1.0 + ((key >> (i % 50)) % 7) as f32).collect();
        let sum: f32 = weights.iter().sum();
        self.pushed.push((wdl, weights.iter().map(|w| w / sum).collect()));
        Slot(self.pushed.len() - 1)
    }

    fn run(&mut self) {
        self.ran = true;
    }

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        let (wdl, prior) = &self.pushed[slot.0];
        Evaluation { wdl: *wdl, moves_left: 0.0, prior }
    }

    fn batch_size(&self) -> usize {
        self.batch
    }
}

/// All that self-play can do, with an archive of twenty games.
fn selfplay(variant: &str) -> SelfPlay {
    let rules = Arc::new(Rules::load(variant).unwrap());
    let handicap_share = if rules.handicaps().next().is_some() { 0.1 } else { 0.0 };
    let first = SelfPlay {
        rules,
        search: SearchConfig {
            leaf_mate_plies: 3,
            leaf_mate_nodes: 200,
            root_mate_plies: 5,
            root_mate_nodes: 1000,
            root_proof_nodes: 200,
            ..SearchConfig::without_mates(16)
        },
        full_simulations: 16,
        cheap_simulations: 4,
        archive: Vec::new(),
        games: SelfPlayConfig {
            full_simulations: Schedule::constant(16.0),
            cheap_simulations: Schedule::constant(4.0),
            full_share: 0.25,
            temperature: 1.0,
            final_temperature: 0.25,
            temperature_halflife: 8.0,
            handicap_share,
            sampled_opening_share: 0.25,
            sampled_opening_plies: 8,
            random_opening_share: 0.25,
            random_opening_plies: 6,
            archive_share: 0.2,
            archive_games: 8,
            ply_limit: 60,
            proven_playout_share: 0.5,
            resign_below: 0.2,
            resign_plies: 2,
            resign_playout_share: 0.5,
        },
        seed: 5,
        network: 0,
    };
    let earlier = play(&first, 1000..1020, 8);
    SelfPlay { archive: archive(&earlier, first.games.archive_games), ..first }
}

fn play(selfplay: &SelfPlay, numbers: std::ops::Range<u64>, batch: usize) -> Vec<GameRecord> {
    let mut evaluator = Opinionated { batch, pushed: Vec::new(), ran: false };
    let (mut numbers, mut records) = (numbers, Vec::new());
    selfplay.play(&mut evaluator, || numbers.next(), |record| records.push(record), || false);
    records.sort_by_key(|record| record.number);
    records
}

#[test]
fn a_game_depends_on_its_number_alone() {
    for variant in Rules::variants().iter().filter(|name| !name.starts_with("shogi")) {
        let selfplay = selfplay(variant);
        let together = play(&selfplay, 0..12, 8);
        assert_eq!(together, play(&selfplay, 0..12, 1), "{variant}");
        assert_eq!(together[7..9], play(&selfplay, 7..9, 3), "{variant}");
    }
}

#[test]
fn records_replay_to_their_endings_and_hold_complete_targets() {
    for variant in ["minishogi", "doubutsu"] {
        let selfplay = selfplay(variant);
        for record in play(&selfplay, 0..20, 8) {
            let mut game = record.opening(&selfplay.rules).unwrap();
            game.set_ply_limit(Some(selfplay.games.ply_limit));
            let mut legal = Vec::new();
            for (index, ply) in record.plies.iter().enumerate() {
                assert_eq!(game.conclusion(), None);
                game.legal_moves(&mut legal);
                assert!(legal.contains(&ply.mv));
                let teaches = match ply.proof {
                    Some(Proof::Win(_)) => true,
                    Some(Proof::Loss(_)) => false,
                    _ => ply.full,
                };
                assert_eq!(teaches, !ply.policy.is_empty());
                assert!(ply.full || ply.simulations <= selfplay.cheap_simulations);
                let sum = |w: Wdl| w.win + w.draw + w.loss;
                assert!((sum(ply.root) - 1.0).abs() < 1e-4 && (sum(ply.raw) - 1.0).abs() < 1e-4);
                let targets = record.targets(index, game.side_to_move(), 0.25, 6.0);
                assert!((sum(targets.wdl) - 1.0).abs() < 1e-4);
                if teaches {
                    let total: f32 = targets.policy.iter().map(|(_, weight)| weight).sum();
                    assert!((total - 1.0).abs() < 1e-4);
                    assert!(targets.policy.iter().all(|(mv, _)| legal.contains(mv)));
                }
                assert_eq!(record.side_at(index), game.side_to_move());
                game.play(ply.mv);
            }
            let last = record.plies.last().unwrap();
            let side = game.side_to_move().opponent();
            match record.ending.reason {
                Reason::Proven => {
                    assert_eq!(record.ending.outcome, last.proof.unwrap().outcome(side));
                    let targets = record.targets(record.plies.len() - 1, side, 0.25, 6.0);
                    assert_eq!(targets.moves_left, f32::from(last.proof.unwrap().plies()));
                }
                Reason::Resignation => {
                    assert_eq!(record.ending.outcome, Outcome::Win(side.opponent()));
                    assert!(selfplay.games.resigns(&record.plies));
                }
                _ => assert_eq!(game.conclusion(), Some(record.ending)),
            }
            assert_eq!(game.ply() + record.spared(), record.len());
        }
    }
}

/// Sure of the first legal move everywhere.
#[derive(Default)]
struct Decided(Vec<Vec<f32>>);

impl Evaluator for Decided {
    fn push(&mut self, _: &Game, legal: &[Move]) -> Slot {
        let prior = (0..legal.len()).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        self.0 = vec![prior];
        Slot(0)
    }

    fn run(&mut self) {}

    fn read(&self, slot: Slot) -> Evaluation<'_> {
        Evaluation { wdl: Wdl::DRAW, moves_left: 0.0, prior: &self.0[slot.0] }
    }

    fn batch_size(&self) -> usize {
        1
    }
}

/// Games of a few plies, for their starts.
fn short_games() -> SelfPlay {
    let mut short = selfplay("minishogi");
    short.search = SearchConfig::without_mates(2);
    (short.full_simulations, short.cheap_simulations) = (2, 1);
    short.games.ply_limit = 80;
    short.games.resign_below = 1.0;
    short.games.resign_plies = 1;
    short.games.resign_playout_share = 0.0;
    short
}

#[test]
fn games_begin_as_their_shares_say() {
    let selfplay = short_games();
    let records = play(&selfplay, 0..1000, 8);
    let count = |kind| records.iter().filter(|record| record.start.kind == kind).count();
    let kinds = [
        (StartKind::Normal, 200),
        (StartKind::Handicap, 100),
        (StartKind::Sampled, 250),
        (StartKind::Random, 250),
        (StartKind::Archive, 200),
    ];
    for (kind, expected) in kinds {
        // Four standard deviations of the widest.
        assert!(count(kind).abs_diff(expected) < 60, "{kind:?}: {}", count(kind));
    }
    let handicaps: Vec<&str> = selfplay.rules.handicaps().map(|(_, sfen)| sfen).collect();
    for record in &records {
        let start = &record.start;
        let normal = start.sfen == selfplay.rules.start_sfen();
        let plies = start.opening.len() as u32;
        assert!(match start.kind {
            StartKind::Normal => normal && plies == 0,
            StartKind::Handicap => handicaps.contains(&start.sfen.as_str()) && plies == 0,
            StartKind::Sampled =>
                normal && (1..=selfplay.games.sampled_opening_plies).contains(&plies),
            StartKind::Random =>
                normal && (1..=selfplay.games.random_opening_plies).contains(&plies),
            StartKind::Archive => selfplay.archive.contains(start),
        });
    }
    // Every handicap and every start of the archive is somebody's.
    assert!(handicaps.iter().all(|sfen| records.iter().any(|record| record.start.sfen == *sfen)));
    assert!(selfplay.archive.iter().all(|it| records.iter().any(|record| record.start == *it)));
}

#[test]
fn an_empty_archive_leaves_its_share_to_random_moves() {
    let selfplay = SelfPlay { archive: Vec::new(), ..short_games() };
    let with = play(&short_games(), 0..200, 8);
    for (record, with) in play(&selfplay, 0..200, 8).iter().zip(&with) {
        let kind =
            if with.start.kind == StartKind::Archive { StartKind::Random } else { with.start.kind };
        assert_eq!(record.start.kind, kind);
    }
}

#[test]
fn openings_are_sampled_from_the_policy() {
    let mut selfplay = short_games();
    selfplay.games.handicap_share = 0.0;
    selfplay.games.archive_share = 0.0;
    selfplay.games.random_opening_share = 0.0;
    selfplay.games.sampled_opening_share = 1.0;
    let (mut numbers, mut records) = (0..20, Vec::new());
    let finished = |record| records.push(record);
    selfplay.play(&mut Decided::default(), || numbers.next(), finished, || false);
    for record in &records {
        let mut game = Game::new(Arc::clone(&selfplay.rules));
        let mut legal = Vec::new();
        for &mv in &record.start.opening {
            game.legal_moves(&mut legal);
            assert_eq!(mv, legal[0]);
            game.play(mv);
        }
    }
    assert!(records.iter().any(|record| record.start.opening.len() > 3));
}

#[test]
fn a_hopeless_game_is_resigned_unless_it_is_played_out() {
    let mut selfplay = selfplay("minishogi");
    let mut play_out = |share| {
        selfplay.games.resign_playout_share = share;
        play(&selfplay, 0..20, 8)
    };
    let resigned = |record: &GameRecord| record.ending.reason == Reason::Resignation;
    let (ended, played_out, mixed) = (play_out(0.0), play_out(1.0), play_out(0.5));
    let goes_on = |record: &GameRecord| {
        (1..record.plies.len()).any(|plies| selfplay.games.resigns(&record.plies[..plies]))
    };
    assert!(ended.iter().any(resigned) && !ended.iter().any(goes_on));
    assert!(!played_out.iter().any(resigned) && played_out.iter().any(goes_on));
    assert!(mixed.iter().any(resigned) && mixed.iter().any(goes_on));
}

#[test]
fn a_proven_game_ends_there_unless_it_is_played_out() {
    let mut selfplay = selfplay("minishogi");
    let mut play_out = |share| {
        selfplay.games.proven_playout_share = share;
        play(&selfplay, 0..20, 8)
    };
    let proven = |record: &GameRecord| record.plies.iter().position(|ply| ply.proof.is_some());
    let (ended, played_out) = (play_out(0.0), play_out(1.0));
    assert!(ended.iter().any(|record| record.ending.reason == Reason::Proven));
    for record in &ended {
        assert!(proven(record).is_none_or(|at| at + 1 == record.plies.len()));
    }
    assert!(played_out.iter().all(|record| record.ending.reason != Reason::Proven));
    let goes_on = |it: &GameRecord| proven(it).is_some_and(|at| at + 1 < it.plies.len());
    assert!(played_out.iter().any(goes_on));
    let mixed = play_out(0.5);
    assert!(mixed.iter().any(|record| record.ending.reason == Reason::Proven));
    assert!(mixed.iter().any(goes_on));
}

#[test]
fn stopping_drops_what_is_unfinished() {
    let selfplay = selfplay("doubutsu");
    let mut records = Vec::new();
    let mut numbers = 0..1000;
    let rounds = std::cell::Cell::new(0);
    let stop = || {
        rounds.set(rounds.get() + 1);
        rounds.get() > 500
    };
    let mut evaluator = UniformEvaluator::default();
    selfplay.play(&mut evaluator, || numbers.next(), |record| records.push(record), stop);
    assert!(records.len() < 1000);
}
