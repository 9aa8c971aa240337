//! Where the values of an experiment come from.

use super::{Experiment, Key, entries};
use std::fmt;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Where a value comes from.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Origin {
    /// A line of the file, counted from 1.
    Line(usize),
    /// An override.
    Set,
    /// The file is older than the key: what having none meant.
    Older,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Line(line) => write!(f, "line {line}"),
            Origin::Set => f.write_str("--set"),
            Origin::Older => f.write_str("what having none meant"),
        }
    }
}

/// A value of an experiment, and all there is to say of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Explained {
    /// Its key.
    pub key: Key,
    /// As TOML.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

impl Experiment {
    /// Every value of this experiment, which was read from this text with these overrides, in the
    /// order of experiment files.
    pub fn explained(&self, text: &str, overrides: &[String]) -> Vec<Explained> {
        // By way of the text: there 1.1 is 1.1, whatever is nearest to it in 32 bits.
        let written: toml::Table = toml::from_str(&self.to_toml()).expect("it was just written");
        let values = entries(&written).into_iter().map(|(_, value)| value.to_string());
        let explained = |(key, value): (Key, String)| {
            let origin = origin(text, overrides, &key.name);
            Explained { key, value, origin }
        };
        Experiment::keys().into_iter().zip(values).map(explained).collect()
    }
}

/// Where a key's value comes from.
pub(super) fn origin(text: &str, overrides: &[String], key: &str) -> Origin {
    let is_set = |one: &String| one.split_once('=').is_some_and(|(path, _)| path.trim() == key);
    if overrides.iter().any(is_set) {
        return Origin::Set;
    }
    let place = places(text).into_iter().find(|(name, _)| name == key);
    place.map_or(Origin::Older, |(_, at)| Origin::Line(text[..at.start].lines().count()))
}

/// The key whose value holds these bytes of a text.
pub(super) fn key_at(text: &str, bytes: &Range<usize>) -> Option<String> {
    let holds = |at: &Range<usize>| at.start <= bytes.start && bytes.end <= at.end;
    places(text).into_iter().find(|(_, at)| holds(at)).map(|(key, _)| key)
}

/// Every key and section of a text and the bytes of its value, inner ones first; none where it is
/// not TOML.
fn places(text: &str) -> Vec<(String, Range<usize>)> {
    let mut places = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        collect(table.get_ref(), "", &mut places);
    }
    places
}

fn collect(table: &DeTable<'_>, before: &str, places: &mut Vec<(String, Range<usize>)>) {
    for (name, value) in table {
        let key = format!("{before}{}", name.get_ref());
        if let DeValue::Table(section) = value.get_ref() {
            collect(section, &format!("{key}."), places);
        }
        places.push((key, value.span()));
    }
}
