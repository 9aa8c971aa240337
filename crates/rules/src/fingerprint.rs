//! The hash of compiled rules: over a canonical row of bytes, so that only the law counts.

use crate::Rules;
use crate::betza::{Paths, UNLIMITED};
use crate::compile::RoleDefinition;
use crate::movegen::Turning;

/// Changes whenever the row of bytes means something else.
const FORMAT: u8 = 1;

/// FNV-1a, 64 bits.
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// A text with its length, so that two texts never read as another two.
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(&(text.len() as u32).to_le_bytes());
        self.bytes(text.as_bytes());
    }

    pub(crate) fn option(&mut self, value: Option<u8>) {
        self.bytes(&[u8::from(value.is_some()), value.unwrap_or_default()]);
    }
}

/// The hash of the rules with these roles.
pub(crate) fn of(rules: &Rules, roles: &[RoleDefinition]) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.bytes(&[FORMAT, rules.files() as u8, rules.ranks() as u8, rules.royal_kind.0]);
    hash.text(rules.start_sfen());
    for (role, per_file) in roles.iter().zip(&rules.per_file) {
        hash_role(&mut hash, role);
        hash.option(*per_file);
    }
    hash_turning(&mut hash, rules);
    hash_drops(&mut hash, rules);
    hash.bytes(&[u8::from(rules.royal_safe), u8::from(rules.movable)]);
    rules.goals.hash_into(&mut hash);
    hash_points(&mut hash, rules);
    hash.0
}

fn hash_role(hash: &mut Fnv, role: &RoleDefinition) {
    hash.text(&role.name);
    hash.bytes(&[role.kind.0]);
    hash.option(role.other.map(|other| other.0));
    hash_paths(hash, &role.movement.captures);
    if role.movement.quiet != role.movement.captures {
        hash.text("quiet");
        hash_paths(hash, &role.movement.quiet);
    }
}

fn hash_paths(hash: &mut Fnv, paths: &Paths) {
    hash.bytes(&[paths.leaps.len() as u8, paths.slides.len() as u8]);
    for &(right, forward) in &paths.leaps {
        hash.bytes(&[right as u8, forward as u8]);
    }
    for &((right, forward), range) in &paths.slides {
        hash.bytes(&[right as u8, forward as u8]);
        hash.option((range != UNLIMITED).then_some(range));
    }
}

/// Only where something is worth more than the usual point.
fn hash_points(hash: &mut Fnv, rules: &Rules) {
    if rules.points.iter().any(|&points| points != 1) {
        hash.text("points");
        hash.bytes(&rules.points);
    }
}

fn hash_turning(hash: &mut Fnv, rules: &Rules) {
    match rules.turning {
        Turning::Never => hash.bytes(&[0]),
        Turning::Zone { zones, forced } => {
            hash.bytes(&[1, u8::from(forced), zones[0].len() as u8]);
        }
        Turning::Capture => hash.bytes(&[2]),
        Turning::Move => hash.bytes(&[3]),
    }
}

fn hash_drops(hash: &mut Fnv, rules: &Rules) {
    hash.bytes(&[rules.droppable.len() as u8]);
    rules.droppable.iter().for_each(|role| hash.bytes(&[role.0]));
    let mut no_mate_by: Vec<u8> = rules.no_mate_by.iter().map(|kind| kind.0).collect();
    no_mate_by.sort_unstable();
    no_mate_by.dedup();
    hash.bytes(&[no_mate_by.len() as u8]);
    hash.bytes(&no_mate_by);
    hash.option(rules.hand_limit);
}
