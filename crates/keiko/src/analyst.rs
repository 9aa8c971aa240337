//! What a network thinks of a position, for people: searched on all cores, forced wins apart.

use crate::Failure;
use crate::players::{SEARCH, parse_precision};
use keiko_network::{Network, TeamEvaluator};
use keiko_rules::{Game, Move, Rules};
use keiko_selfplay::{
    MateSolver, Proof, ProofSolver, Purpose, Search, SearchConfig, Verdict, Wdl, Win, generator,
};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

/// Leaves of a tree that wait together. They are as many on every machine, so that a position is
/// thought the same of whatever the number of threads.
const LEAVES: usize = 8;

/// Positions that each thread evaluates at a time.
const BATCH: usize = 8;

/// Threads at most.
const MOST_THREADS: usize = 256;

/// Most simulations of a search: the tree stays in memory.
pub(crate) const MOST_SIMULATIONS: i64 = 100_000;

/// The longest forced win whose shortest length is looked for.
const FORCED_PLIES: u16 = 15;

/// Positions visited at most in looking for a forced win, and for each reply of its line.
const FORCED_NODES: u64 = 20_000;

/// The search of positions that are shown: it looks for no forced win at its root, so that there
/// is a tree to show.
const SHOWN: SearchConfig =
    SearchConfig { root_mate_plies: 0, root_mate_nodes: 0, root_proof_nodes: 0, ..SEARCH };

/// The network that is asked, and how it is computed.
#[derive(clap::Args)]
pub(crate) struct Seat {
    /// The network's folder.
    network: PathBuf,
    /// The variant, where the network's folder does not say: a name or a file.
    #[arg(long)]
    rules: Option<String>,
    /// How numbers are held: f32, bf16 or int8 [default: the fastest that keeps the strength].
    #[arg(long)]
    precision: Option<String>,
    /// Threads that evaluate positions [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS as i64))]
    threads: Option<u16>,
}

impl Seat {
    /// Loads the network.
    pub(crate) fn analyst(&self) -> Result<Analyst, Failure> {
        let network = Network::load(&self.network)?;
        let rules = Arc::new(match &self.rules {
            Some(name) => Rules::load(name)?,
            None => network.rules()?,
        });
        let encoding = network.encoding(Arc::clone(&rules))?;
        let wish = self.precision.as_deref().map(parse_precision).transpose()?;
        let inference = network.inference(wish)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or(cores.min(MOST_THREADS), usize::from);
        let shape = (threads, BATCH);
        Ok(Analyst {
            evaluator: TeamEvaluator::new(&network.weights, &encoding, shape, &inference),
            rules,
            step: network.card.step,
            mates: MateSolver::default(),
            proofs: ProofSolver::default(),
        })
    }
}

/// A network that can be asked about positions.
pub(crate) struct Analyst {
    /// The game it plays.
    pub(crate) rules: Arc<Rules>,
    /// The learner's step that the network is of.
    pub(crate) step: u64,
    /// Evaluates positions.
    pub(crate) evaluator: TeamEvaluator,
    mates: MateSolver,
    proofs: ProofSolver,
}

/// What was thought of a position. All from the side to move's view.
pub(crate) struct Thought {
    /// The network's own opinion.
    pub(crate) raw: Wdl,
    /// The search's, or what is proven.
    pub(crate) root: Wdl,
    /// Simulations spent.
    pub(crate) simulations: u32,
    /// What is proven, if anything.
    pub(crate) forced: Option<Forced>,
    /// All legal moves, the best first.
    pub(crate) moves: Vec<Candidate>,
}

/// What best play leads to, whatever the other side does.
pub(crate) struct Forced {
    /// The result, and the plies to it.
    pub(crate) proof: Proof,
    /// Whether no shorter way is there: of mates, none that gives check with every move.
    pub(crate) is_shortest: bool,
    /// Best play of both sides, as far as it was found.
    pub(crate) line: Vec<Move>,
}

/// A legal move.
pub(crate) struct Candidate {
    /// The move.
    pub(crate) mv: Move,
    /// The network's own probability.
    pub(crate) prior: f32,
    /// The search's.
    pub(crate) policy: f32,
    /// Simulations that began with it.
    pub(crate) visits: u32,
    /// What those came to; none without a visit.
    pub(crate) wdl: Option<Wdl>,
    /// What is proven of it.
    pub(crate) proof: Option<Proof>,
    /// The line that is expected, the move included.
    pub(crate) line: Vec<Move>,
}

impl Thought {
    /// The move to play.
    pub(crate) fn best(&self) -> &Candidate {
        &self.moves[0]
    }

    /// The search's policy over all moves.
    pub(crate) fn policy(&self) -> Vec<(Move, f32)> {
        self.moves.iter().map(|it| (it.mv, it.policy)).collect()
    }
}

impl Forced {
    /// The result and its length in words.
    pub(crate) fn words(&self) -> String {
        let at_most = if self.is_shortest { "" } else { "at most " };
        let plies = self.proof.plies();
        let unit = if plies == 1 { "ply" } else { "plies" };
        match self.proof {
            Proof::Win(_) => format!("forced win in {at_most}{plies} {unit}"),
            Proof::Loss(_) => format!("forced loss in {plies} {unit}"),
            Proof::Draw(_) => "forced draw".to_owned(),
        }
    }
}

impl Analyst {
    /// Thinks about the position of a game that is not over.
    pub(crate) fn think(&mut self, game: &Game, simulations: u32) -> Thought {
        let (wins, forced) = self.forced(&mut game.clone());
        let mut search = Search::new(game.clone(), SHOWN);
        search.begin(SHOWN.budget(simulations, 0.0), &mut generator(0, Purpose::Play, 0));
        let mut waiting = VecDeque::new();
        loop {
            search.gather(&mut self.evaluator, LEAVES, &mut waiting);
            let Some(slot) = waiting.pop_front() else { break };
            search.backup(self.evaluator.finish(slot));
        }
        let found = search.finish();
        let policy = match wins.len() {
            0 => found.policy,
            count => wins.iter().map(|win| (win.mv, 1.0 / count as f32)).collect(),
        };
        let mut moves = candidates(&search, &policy, &wins);
        moves.sort_by_key(|it| Reverse(worth(it, found.mv)));
        let by_search = || {
            let line = moves[0].line.clone();
            found.proof.map(|proof| Forced { proof, is_shortest: false, line })
        };
        let forced = forced.or_else(by_search);
        if let Some(Forced { line, .. }) = &forced
            && let Some(best) = moves.iter_mut().find(|it| line.first() == Some(&it.mv))
        {
            best.line.clone_from(line);
        }
        Thought {
            raw: found.raw,
            root: forced.as_ref().map_or(found.root, |forced| forced.proof.value()),
            simulations: found.simulations,
            forced,
            moves,
        }
    }

    /// The moves that begin a forced win, and what is proven of the position.
    fn forced(&mut self, game: &mut Game) -> (Vec<Win>, Option<Forced>) {
        let wins = self.mates.shortest_wins(game, FORCED_PLIES, FORCED_NODES);
        if let Some(&win) = wins.first() {
            let line = self.winning_line(game, win);
            return (wins, Some(Forced { proof: Proof::Win(win.plies), is_shortest: true, line }));
        }
        if let Verdict::Win(win) = self.proofs.solve(game, FORCED_NODES) {
            let (proof, line) = (Proof::Win(win.plies), vec![win.mv]);
            return (vec![win], Some(Forced { proof, is_shortest: false, line }));
        }
        let lost = self.mates.solve_loss(game, FORCED_PLIES, FORCED_NODES);
        let forced = lost.map(|plies| Forced {
            proof: Proof::Loss(plies),
            is_shortest: true,
            line: self.losing_line(game, plies),
        });
        (wins, forced)
    }

    /// A forced win's moves, with the replies that hold out longest.
    fn winning_line(&mut self, game: &mut Game, win: Win) -> Vec<Move> {
        let mut line = vec![win.mv];
        game.play(win.mv);
        if let Some((reply, next)) = self.longest_defence(game, win.plies - 1) {
            line.push(reply);
            game.play(reply);
            line.extend(self.winning_line(game, next));
            game.undo();
        }
        game.undo();
        line
    }

    fn losing_line(&mut self, game: &mut Game, plies: u16) -> Vec<Move> {
        let Some((reply, next)) = self.longest_defence(game, plies) else {
            return Vec::new();
        };
        game.play(reply);
        let line = std::iter::once(reply).chain(self.winning_line(game, next)).collect();
        game.undo();
        line
    }

    /// The reply after which the win, within so many plies from here, takes longest, and that win.
    fn longest_defence(&mut self, game: &mut Game, plies: u16) -> Option<(Move, Win)> {
        if plies < 2 || game.conclusion().is_some() {
            return None;
        }
        let mut replies = Vec::new();
        game.legal_moves(&mut replies);
        let mut longest: Option<(Move, Win)> = None;
        for reply in replies {
            game.play(reply);
            let verdict = match game.conclusion() {
                Some(_) => Verdict::NoWin,
                None => self.mates.solve(game, plies - 1, FORCED_NODES),
            };
            game.undo();
            if let Verdict::Win(win) = verdict
                && longest.is_none_or(|(_, before)| win.plies > before.plies)
            {
                longest = Some((reply, win));
            }
        }
        longest
    }
}

fn candidates(search: &Search, policy: &[(Move, f32)], wins: &[Win]) -> Vec<Candidate> {
    let share = |mv| policy.iter().find(|it| it.0 == mv).map_or(0.0, |it| it.1);
    let win = |mv| wins.iter().find(|win| win.mv == mv).map(|win| Proof::Win(win.plies));
    let moves = search.root_moves().into_iter();
    moves
        .map(|it| Candidate {
            mv: it.mv,
            prior: it.prior,
            policy: share(it.mv),
            visits: it.visits,
            wdl: (it.visits > 0).then_some(it.wdl),
            proof: win(it.mv).or(it.proof),
            line: search.line(it.mv),
        })
        .collect()
}

/// What candidates are ordered by: wins, the shortest first; then what the search would play, what
/// it looked at most, and what the network finds likely; then losses, the longest first.
fn worth(it: &Candidate, played: Move) -> (i32, bool, u32, u32) {
    let proven = match it.proof {
        Some(Proof::Win(plies)) => i32::from(u16::MAX) - i32::from(plies),
        Some(Proof::Loss(plies)) => i32::from(plies) - i32::from(u16::MAX),
        Some(Proof::Draw(_)) | None => 0,
    };
    // Bits of floats that are not negative are ordered as the floats are.
    (proven, it.mv == played, it.visits, it.prior.to_bits())
}
