//! The sections of an experiment that are the run's own; the others belong to what they set up.

use keiko_network::{DeviceName, Precision};
use keiko_selfplay::Schedule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[inference]`: how the network is computed in play, in self-play and in the arena.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InferenceConfig {
    /// How numbers are held: `"f32"`, `"bf16"` or `"int8"`.
    pub precision: Precision,
}

/// `[training]`: how much is played and learned, and in what portions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// The run is done after this many generations.
    pub generations: u64,
    /// Games of one generation, all by one network.
    pub games_per_generation: u64,
    /// 0: a generation is played by the network learned from all before it. 1: from all but the
    /// last of these, so that the learner works on that one meanwhile.
    pub overlap: u64,
    /// Every how-many-th game is held out: never trained on, only measured.
    pub holdout_every: u64,
    /// Samples drawn for each position with a policy target.
    pub samples_per_position: f64,
    /// Games the replay window holds at first.
    pub window_games: u64,
    /// The window grows with the games played to this power; 0 keeps it, 1 keeps every game.
    pub window_exponent: f64,
    /// Share of the value target that comes from the search instead of the result.
    pub search_value_share: f32,
    /// Plies ahead, on average, that the chances in the short term are about.
    pub short_term_plies: f32,
    /// Share of a position's weight in these draws that goes by how surprising its search was,
    /// within its game.
    pub surprise_share: f64,
    /// Samples of one learner step.
    pub batch_size: usize,
    /// Samples whose gradient is computed at once; divides the batch.
    pub micro_batch: usize,
    /// The learning rate, by step.
    pub learning_rate: Schedule,
    /// How often in a run the learner goes back to before a generation's steps, where a loss or
    /// gradient is no number.
    pub learning_retries: u64,
    /// What the learning rate is multiplied by each time, from then on.
    pub retry_rate_factor: f32,
}

/// `[arena]`: how strength is measured on the way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArenaConfig {
    /// Every how-many-th generation is measured, from the first, and its network published.
    pub every: u64,
    /// The rival is the network of this many generations ago.
    pub rival_age: u64,
    /// Pairs of games (colours swapped) against uniform random play.
    pub random_pairs: u64,
    /// Pairs of games against the rival.
    pub rival_pairs: u64,
    /// Pairs of games on the ladder, each between the two of the run's networks and the fixed players
    /// whose games tell most about all ratings; 0: none, and no ladder.
    pub ladder_pairs: u64,
    /// Simulations a move.
    pub simulations: u32,
    /// Random legal moves each pair begins with.
    pub opening_plies: u32,
}

/// `[machine]`: what changes time, not results (but a GPU rounds in its own way).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineConfig {
    /// What plays and learns: `"cpu"`, or a GPU: `"vulkan:0"`, `"metal:0"`, `"cuda:0"`.
    pub device: DeviceName,
    /// Threads that play, and that learn; best one a core.
    pub workers: usize,
    /// Games a worker plays at once: the batch its network evaluates.
    pub batch: usize,
    /// Evaluations a worker remembers; 0: none.
    pub cache: usize,
    /// Checkpoints kept, the newest ones.
    pub keep_checkpoints: usize,
    /// And one of every how-many-th generation, from its beginning; 0: none.
    pub keep_every: u64,
    /// What the games on disk may take, in MiB: the oldest beyond it are removed, but none that a
    /// kept checkpoint needs; 0: any amount.
    pub games_mebibytes: u64,
    /// What the published networks may take on disk, in MiB: beyond it every second goes, the oldest
    /// first, then every second of the rest, but none that is still a rival; 0: any amount.
    pub networks_mebibytes: u64,
    /// What the games of the replay window may take in memory, in MiB: the window is the newest
    /// ones that fit, so where it is short it does change results; 0: any amount.
    pub replay_mebibytes: u64,
    /// MiB of the disk that the run leaves free: it waits until there are so many; 0: none.
    pub disk_reserve_mebibytes: u64,
    /// MiB of memory beyond which the run is saved and stops; 0: as much as there is.
    pub memory_mebibytes: u64,
}

/// Bytes of a MiB.
pub(crate) const MEBIBYTE: u64 = 1 << 20;

impl MachineConfig {
    /// Bytes that the games on disk may take.
    pub fn games_bytes(&self) -> Option<u64> {
        (self.games_mebibytes > 0).then_some(self.games_mebibytes * MEBIBYTE)
    }

    /// Bytes that the published networks may take.
    pub fn networks_bytes(&self) -> Option<u64> {
        (self.networks_mebibytes > 0).then_some(self.networks_mebibytes * MEBIBYTE)
    }

    /// Bytes that the games of the replay window may take in memory.
    pub fn replay_bytes(&self) -> Option<u64> {
        (self.replay_mebibytes > 0).then_some(self.replay_mebibytes * MEBIBYTE)
    }
}
