//! What is known of positions, by their keys.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Positions' keys are spread well already.
#[derive(Copy, Clone, Default, Debug)]
struct Unhashed(u64);

impl Hasher for Unhashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are whole numbers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// Entries by key. It keeps its memory when it is cleared.
#[derive(Clone, Debug)]
pub(crate) struct Table<T>(HashMap<u64, T, BuildHasherDefault<Unhashed>>);

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table(HashMap::default())
    }
}

impl<T: Copy> Table<T> {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn get(&self, key: u64) -> Option<T> {
        self.0.get(&key).copied()
    }

    pub(crate) fn put(&mut self, key: u64, entry: T) {
        self.0.insert(key, entry);
    }
}
