//! The games of a run: the windows of the newest ones, and what goes for want of room.

use super::{GAMES, Run, RunError};
use crate::checkpoint::{Phase, State};
use crate::experiment::{Experiment, HOLDOUT_GAMES};
use crate::published::thin_out;
use crate::replay::ReplayBuffer;
use crate::store::{Removed, StoreError};
use keiko_selfplay::GameRecord;

impl Run {
    /// Fills the windows with the games the state knows of, block by block. Games beyond belong to
    /// the generation in hand: it was interrupted, or the checkpoint after it is lost. Says which
    /// games are damaged or missing.
    pub(super) fn load_games(&mut self) -> Result<Vec<String>, RunError> {
        let generation = self.experiment.training.games_per_generation;
        let first = match self.state.phase {
            Phase::Play => self.state.games,
            _ => self.state.games.saturating_sub(generation),
        };
        let in_use = self.experiment.games_in_use(self.state.games);
        let (mut known, mut warnings) = (0, Vec::new());
        for block in self.store.listing().read(in_use.start..first + generation) {
            let games = match block {
                Err(error @ StoreError::Decode { .. }) => {
                    warnings.push(error.to_string());
                    continue;
                }
                block => block?,
            };
            let current = games.iter().filter(|game| game.number >= first).cloned();
            self.current.extend(current);
            known += games.iter().filter(|game| game.number < in_use.end).count() as u64;
            let of_windows = games.into_iter().filter(|game| game.number < in_use.end);
            push(&mut self.replay, &mut self.holdout, &self.experiment, &self.state, of_windows);
        }
        self.replay.weigh();
        self.holdout.weigh();
        let expected = in_use.end - in_use.start;
        let missing = expected.saturating_sub(known);
        if missing > 0 {
            warnings.push(format!(
                "{}: {missing} of the last {expected} games are missing; going on without them",
                self.dir.join(GAMES).display()
            ));
        }
        Ok(warnings)
    }

    /// Removes the oldest games beyond the bound of the disk, none that a checkpoint needs.
    pub(crate) fn remove_old_games(&mut self) -> Result<Removed, RunError> {
        let Some(bytes) = self.experiment.machine.games_bytes() else {
            return Ok(Removed::default());
        };
        let needed = |state: &State| self.experiment.games_in_use(state.games);
        let mut needed: Vec<_> = self.checkpoints.states()?.iter().map(needed).collect();
        // What follows is of the generation in hand.
        needed.extend(needed.iter().map(|range| range.end).max().map(|end| end..u64::MAX));
        Ok(self.store.shrink(bytes, &needed)?)
    }

    /// Removes networks beyond the bound of the disk, none that a checkpoint needs: their steps.
    pub(crate) fn remove_networks(&self) -> Result<Vec<u64>, RunError> {
        match self.experiment.machine.networks_bytes() {
            Some(bytes) => thin_out(self, bytes, &self.checkpoints.states()?),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn drop_unfinished_generation(&mut self) -> Result<(), RunError> {
        if self.state.phase == Phase::Play {
            self.current.clear();
            self.store.truncate_to(self.state.games)?;
        }
        Ok(())
    }

    /// Adds games, already counted in the state, to the window they belong to.
    pub(crate) fn add_to_windows(&mut self, games: Vec<GameRecord>) {
        push(&mut self.replay, &mut self.holdout, &self.experiment, &self.state, games);
        self.replay.weigh();
        self.holdout.weigh();
    }

    /// Games that the window would hold, had it room for them or were they not lost.
    pub(crate) fn games_left_out(&self) -> u64 {
        let games = self.state.games;
        let trained_on = games - games / self.experiment.training.holdout_every;
        let wanted = trained_on.min(self.experiment.window(games) as u64);
        wanted.saturating_sub(self.replay.games() as u64)
    }
}

/// Whether a game is only measured: the last of every `every`, so that a run begins with games
/// to train on.
pub(crate) fn is_held_out(number: u64, every: u64) -> bool {
    number % every == every - 1
}

/// Puts games, already counted in the state, into the window they belong to.
fn push(
    replay: &mut ReplayBuffer,
    holdout: &mut ReplayBuffer,
    experiment: &Experiment,
    state: &State,
    games: impl IntoIterator<Item = GameRecord>,
) {
    let window = experiment.window(state.games);
    for game in games {
        if is_held_out(game.number, experiment.training.holdout_every) {
            holdout.push_game(game, HOLDOUT_GAMES);
        } else {
            replay.push_game(game, window);
        }
    }
}
