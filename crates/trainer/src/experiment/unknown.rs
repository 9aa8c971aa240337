//! Names in an experiment's text that no experiment has, where the parser stumbles over something
//! else first: over the key that is missing because its section is misspelt.

use super::Experiment;
use keiko_rules::nearest;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// What there is to say of the first such name of a text, with its line; nothing where all names are
/// known, or the text is not TOML.
pub(super) fn complaint(text: &str) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let whole = Table::try_from(Experiment::default_job()).expect("it is plain data");
    let (name, at, known) = find(table.get_ref(), &whole)?;
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let hint = nearest(&name, known.iter().map(String::as_str));
    let hint = hint.map_or(String::new(), |found| format!("\ndid you mean `{found}`?"));
    let problem = format!("unknown field `{name}`, expected one of {}{hint}", names.join(", "));
    Some(shown(text, &at) + &problem)
}

/// The first name of a table, or of a table in it, that a complete one has not; where it stands, and
/// those it may be.
fn find(table: &DeTable<'_>, whole: &Table) -> Option<(String, Range<usize>, Vec<String>)> {
    let mut all: Vec<_> = table.iter().collect();
    all.sort_by_key(|(name, _)| name.span().start);
    all.into_iter().find_map(|(name, value)| {
        let (text, known) = (name.get_ref().to_string(), whole.get(&**name.get_ref()));
        match (known, value.get_ref()) {
            (None, _) => Some((text, name.span(), whole.keys().cloned().collect())),
            (Some(Value::Table(whole)), DeValue::Table(inner)) => find(inner, whole),
            _ => None,
        }
    })
}

/// The line of a text where something stands, in the parser's manner.
fn shown(text: &str, at: &Range<usize>) -> String {
    let start = text[..at.start].rfind('\n').map_or(0, |end| end + 1);
    let number = (text[..start].lines().count() + 1).to_string();
    let line = text[start..].lines().next().unwrap_or_default();
    let column = text[start..at.start].chars().count();
    let (gap, dots) = (" ".repeat(number.len()), "^".repeat(at.len()));
    format!(
        "TOML parse error at line {number}, column {}\n{gap} |\n{number} | {line}\n{gap} | {}{dots}\n",
        column + 1,
        " ".repeat(column)
    )
}
