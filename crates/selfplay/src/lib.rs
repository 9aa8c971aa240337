//! Search and self-play: games that teach, knowing no network.
//!
//! A [`Search`] walks one game with the verbs `begin`, `select`, `backup`, `finish`; whoever
//! holds an [`Evaluator`] feeds it. [`SelfPlay`] runs many searches at once and turns each
//! game into a [`GameRecord`], from which all training targets are recomputed.

mod archive;
mod config;
mod dfpn;
mod evaluator;
mod gumbel;
mod lines;
mod mates;
mod opening;
mod puct;
mod random;
mod record;
mod root;
#[cfg(test)]
mod samples;
mod schedule;
mod search;
mod selfplay;
mod table;
mod targets;
mod tree;
mod walk;
mod wdl;

pub use archive::archive;
pub use config::{SearchConfig, SearchKind, SelfPlayConfig};
pub use dfpn::ProofSolver;
pub use evaluator::{Evaluation, Evaluator, Slot, UniformEvaluator};
pub use gumbel::Sigma;
pub use lines::Line;
pub use mates::{MateSolver, Verdict, Win};
pub use opening::random_moves;
pub use puct::Puct;
pub use random::{Purpose, generator};
pub use record::{GameRecord, Ply, Proof, Start, StartKind};
pub use schedule::Schedule;
pub use search::{Budget, Findings, RootMove, Search};
pub use selfplay::{SelfPlay, search_together};
pub use targets::Targets;
pub use wdl::Wdl;
