//! Generators that depend on nothing but what they are for.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a generator is for: the same number serves each purpose with other bits.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Purpose {
    /// A self-play game, by its number.
    Game,
    /// An arena game, by its pair's number.
    Arena,
    /// The initial weights.
    Weights,
    /// A learner step's samples, by the step.
    Batch,
    /// An engine's or a match player's own choices, by the game.
    Play,
    /// A position of random play that an untrained network is calibrated on, by its number.
    Calibration,
}

/// The generator of `purpose` number `number` in a run seeded with `seed`. Stateless: nothing
/// of it needs saving, and no thread can disturb another's.
pub fn generator(seed: u64, purpose: Purpose, number: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    key[16] = purpose as u8;
    ChaCha8Rng::from_seed(key)
}
