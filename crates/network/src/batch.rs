//! Training samples, ready for the learner.

use crate::{Architecture, Encoding};
use keiko_rules::{Game, Move, Position};
use keiko_selfplay::Wdl;
use std::sync::Arc;

/// One position to learn from.
#[derive(Copy, Clone, Debug)]
pub struct Sample<'a> {
    /// The game at the position.
    pub game: &'a Game,
    /// The position's legal moves.
    pub legal: &'a [Move],
    /// The policy's target over legal moves, scaled to a sum of 1; empty where there is none.
    pub policy: &'a [(Move, f32)],
    /// The value's target, for the side to move.
    pub wdl: Wdl,
    /// Plies to the end of the game.
    pub moves_left: f32,
    /// The opponent's reply: the position after the move that was played, and what is played
    /// there. Of no consequence unless the network has that head.
    pub reply: Option<(&'a Position, &'a [(Move, f32)])>,
    /// The chances some plies later, for the side to move. Of no consequence unless the network
    /// has that head.
    pub short_term: Wdl,
    /// Whether to learn the mirror image instead; only where rules are mirror-symmetric.
    pub mirror: bool,
}

/// Encoded samples: what the learner makes one gradient of.
#[derive(Clone, Debug)]
pub struct Batch {
    encoding: Arc<Encoding>,
    /// One after another, each `[planes, squares]`.
    pub(crate) inputs: Vec<f32>,
    /// Each sample's legal labels are `legal[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
    legal: Vec<u32>,
    /// Parallel to `legal`.
    policy: Vec<f32>,
    pub(crate) values: Vec<(Wdl, f32)>,
    learns: Architecture,
    /// Each sample's reply is `replies[reply_ends[i - 1]..reply_ends[i]]`.
    reply_ends: Vec<usize>,
    /// Labels as the side to move sees the board, with weights that sum to 1.
    replies: Vec<(u32, f32)>,
    short_terms: Vec<Wdl>,
}

/// One sample's targets.
pub(crate) struct Targets<'a> {
    /// Indices in the policy, `label * squares + square`.
    pub(crate) legal: &'a [u32],
    /// Parallel to `legal`: sums to 1, or to 0 where there is no target.
    pub(crate) policy: &'a [f32],
    pub(crate) wdl: Wdl,
    pub(crate) moves_left: f32,
    /// Labels and weights that sum to 1; empty where there is no reply.
    pub(crate) reply: &'a [(u32, f32)],
    pub(crate) short_term: Wdl,
}

impl Batch {
    /// An empty batch with room for this many samples, for a network with these heads.
    pub fn new(encoding: &Arc<Encoding>, learns: Architecture, capacity: usize) -> Batch {
        let size = encoding.planes() * encoding.squares();
        Batch {
            encoding: Arc::clone(encoding),
            inputs: Vec::with_capacity(capacity * size),
            ends: Vec::with_capacity(capacity),
            legal: Vec::new(),
            policy: Vec::new(),
            values: Vec::with_capacity(capacity),
            learns,
            reply_ends: Vec::with_capacity(capacity),
            replies: Vec::new(),
            short_terms: Vec::with_capacity(capacity),
        }
    }

    /// Adds a sample.
    ///
    /// # Panics
    /// When a policy's move is not legal, or a mirror image is asked for where there is none.
    pub fn push(&mut self, sample: Sample<'_>) {
        let encoding = Arc::clone(&self.encoding);
        let start = self.inputs.len();
        self.inputs.resize(start + encoding.planes() * encoding.squares(), 0.0);
        encoding.encode(sample.game, &mut self.inputs[start..]);
        let label = |mv: Move| encoding.label(sample.game.position(), mv) as u32;
        let first = self.legal.len();
        self.legal.extend(sample.legal.iter().map(|&mv| label(mv)));
        self.policy.resize(self.legal.len(), 0.0);
        let total: f32 = sample.policy.iter().map(|&(_, weight)| weight).sum();
        for &(mv, weight) in sample.policy {
            let wanted = label(mv);
            let place = self.legal[first..].iter().position(|&legal| legal == wanted);
            self.policy[first + place.expect("a policy's moves are legal")] += weight / total;
        }
        if sample.mirror {
            encoding.mirror_input(&mut self.inputs[start..]);
            let mirrored = |label: &mut u32| *label = encoding.mirror_label(*label as usize) as u32;
            self.legal[first..].iter_mut().for_each(mirrored);
        }
        self.ends.push(self.legal.len());
        self.values.push((sample.wdl, sample.moves_left));
        self.short_terms.push(sample.short_term);
        if let Some((position, reply)) = sample.reply.filter(|_| self.learns.reply) {
            self.push_reply(position, reply, sample.mirror);
        }
        self.reply_ends.push(self.replies.len());
    }

    /// Adds a reply, whose labels are the opponent's, on the squares of the side to move.
    fn push_reply(&mut self, position: &Position, reply: &[(Move, f32)], mirror: bool) {
        let squares = self.encoding.squares();
        let total: f32 = reply.iter().map(|&(_, weight)| weight).sum();
        for &(mv, weight) in reply {
            let theirs = self.encoding.label(position, mv);
            let (label, square) = (theirs / squares, theirs % squares);
            let mut ours = label * squares + squares - 1 - square;
            if mirror {
                ours = self.encoding.mirror_label(ours);
            }
            self.replies.push((ours as u32, weight / total));
        }
    }

    /// Removes all samples and keeps the room.
    pub fn clear(&mut self) {
        self.inputs.clear();
        self.ends.clear();
        self.legal.clear();
        self.policy.clear();
        self.values.clear();
        self.reply_ends.clear();
        self.replies.clear();
        self.short_terms.clear();
    }

    /// The positions as a network sees them, one after another, each `[planes, squares]`.
    pub fn inputs(&self) -> &[f32] {
        &self.inputs
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(crate) fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    pub(crate) fn learns_reply(&self) -> bool {
        self.learns.reply
    }

    pub(crate) fn learns_short_term(&self) -> bool {
        self.learns.short_term_value
    }

    pub(crate) fn targets(&self) -> impl Iterator<Item = Targets<'_>> {
        (0..self.len()).map(|index| {
            let part = |ends: &[usize]| index.checked_sub(1).map_or(0, |it| ends[it])..ends[index];
            let legal = part(&self.ends);
            let (wdl, moves_left) = self.values[index];
            Targets {
                legal: &self.legal[legal.clone()],
                policy: &self.policy[legal],
                wdl,
                moves_left,
                reply: &self.replies[part(&self.reply_ends)],
                short_term: self.short_terms[index],
            }
        })
    }

    /// How many samples have a reply.
    pub(crate) fn replies(&self) -> usize {
        self.targets().filter(|targets| !targets.reply.is_empty()).count()
    }

    /// How many samples have a policy target.
    pub(crate) fn policies(&self) -> usize {
        self.targets().filter(|targets| targets.has_policy()).count()
    }
}

impl Targets<'_> {
    pub(crate) fn has_policy(&self) -> bool {
        self.policy.iter().any(|&weight| weight > 0.0)
    }
}
