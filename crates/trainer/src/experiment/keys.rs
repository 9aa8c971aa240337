//! What every key of an experiment means and may be. Nothing of it is written twice: meanings are
//! the doc comments of the fields, types are the fields' own, and ranges are the checks' words.

use super::{Experiment, entries};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Number, Value, json};

/// The default job as it came with this program.
const DEFAULT_JOB: &str = include_str!("../../../../configs/minishogi.toml");

/// Characters of a comment's line.
const COMMENT_WIDTH: usize = 96;

/// A key of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Key {
    /// With its sections: `search.puct.cpuct`.
    pub name: String,
    /// What it means, in a sentence or two.
    pub meaning: String,
    /// What it may be: a type, and a range if it has one.
    pub allowed: String,
}

impl Experiment {
    /// The default job, `configs/minishogi.toml`, as it came with this program.
    pub fn default_job() -> Experiment {
        toml::from_str(DEFAULT_JOB).expect("the experiment that is shipped works")
    }

    /// Every key, in the order of an experiment file.
    pub fn keys() -> Vec<Key> {
        let (schema, bounds) = (Experiment::schema(), Experiment::default_job().bounds());
        let table = toml::Table::try_from(Experiment::default_job()).expect("it is plain data");
        let key = |name: String| {
            let node = schema.pointer(&pointer(&name)).expect("every key is in the schema");
            let words = bounds.iter().filter(|(key, _)| *key == name).map(|&(_, words)| words);
            Key { meaning: text(node, "description"), allowed: allowed(node, words), name }
        };
        entries(&table).into_iter().map(|(name, _)| key(name)).collect()
    }

    /// The complete file, every value with what it means and may be above it.
    pub fn to_commented_toml(&self) -> String {
        let keys = Experiment::keys();
        let (mut section, mut commented) = (String::new(), String::new());
        for line in self.to_toml().lines() {
            if let Some(name) = line.strip_prefix('[') {
                section = name.replace(']', ".");
            }
            let name = line.split_once(" = ").map(|(name, _)| format!("{section}{name}"));
            for key in keys.iter().filter(|key| Some(&key.name) == name.as_ref()) {
                let words = format!("{} ({})", key.meaning, key.allowed);
                commented += &wrapped(&words, COMMENT_WIDTH, "# ");
            }
            commented += &format!("{line}\n");
        }
        commented
    }

    /// A JSON schema (draft 7) of experiment files, for editors.
    pub fn schema() -> Value {
        let settings = SchemaSettings::draft07().with(|it| it.inline_subschemas = true);
        let mut schema = settings.into_generator().into_root_schema_for::<Experiment>().to_value();
        schema["title"] = json!("An experiment of keiko");
        tidy(&mut schema);
        for (key, words) in Experiment::default_job().bounds() {
            // A sum of several keys is no key.
            if let (Some(node), Some(range)) = (schema.pointer_mut(&pointer(&key)), range(words)) {
                restrict(node, &range);
            }
        }
        schema
    }
}

/// A text in lines of about so many characters at most, each with something before it.
fn wrapped(text: &str, width: usize, before: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        match line.is_empty() {
            true => *line = word.to_owned(),
            false if line.len() + word.len() < width => *line += &format!(" {word}"),
            false => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().map(|line| format!("{before}{line}\n")).collect()
}

/// Where a key stands in the schema.
fn pointer(key: &str) -> String {
    key.split('.').map(|name| format!("/properties/{name}")).collect()
}

fn text(node: &Value, name: &str) -> String {
    node[name].as_str().unwrap_or_default().to_owned()
}

/// Descriptions on one line, and no formats: editors know none of Rust's.
fn tidy(node: &mut Value) {
    match node {
        Value::Object(fields) => {
            fields.remove("format");
            if let Some(Value::String(words)) = fields.get_mut("description") {
                *words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            fields.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// The range that a check's words say, in the schema's terms; nothing where they depend on more
/// than the value.
fn range(words: &str) -> Option<Map<String, Value>> {
    let words: Vec<&str> = words.split_whitespace().map(|it| it.trim_end_matches(',')).collect();
    let ends: Vec<(&str, &str)> = match words[..] {
        ["above", low, "up", "to", high] => vec![("exclusiveMinimum", low), ("maximum", high)],
        ["above", low] => vec![("exclusiveMinimum", low)],
        ["at", "least", low, "and", "below", high] => {
            vec![("minimum", low), ("exclusiveMaximum", high)]
        }
        [low, "or", "more", ..] => vec![("minimum", low)],
        // A number that stands apart, below the others.
        [low, "or", _, "to", high] => vec![("minimum", low), ("maximum", high)],
        [.., low, "to" | "or", high] => vec![("minimum", low), ("maximum", high)],
        _ => return None,
    };
    let number = |(end, text): (&str, &str)| Some((end.to_owned(), text.parse::<Number>().ok()?));
    let ends: Option<Vec<_>> = ends.into_iter().map(number).collect();
    Some(ends?.into_iter().map(|(end, number)| (end, Value::Number(number))).collect())
}

/// Puts a range on a number, or on the values of a schedule.
fn restrict(node: &mut Value, range: &Map<String, Value>) {
    if node.get("anyOf").is_some() {
        for place in ["/anyOf/0", "/anyOf/1/items/items/1"] {
            restrict(node.pointer_mut(place).expect("a schedule is a number or points"), range);
        }
    } else if let Some(fields) = node.as_object_mut() {
        fields.extend(range.clone());
    }
}

/// A node's type and its bounds, for people.
fn allowed(node: &Value, bounds: impl Iterator<Item = &'static str>) -> String {
    let choices: Vec<&Value> = choices(node);
    let kind = match node["type"].as_str() {
        _ if !choices.is_empty() => {
            choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
        }
        Some("integer") => "a whole number".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "a text in quotes".to_owned(),
        _ => "a number, or points like [[0, 32], [400, 128]]".to_owned(),
    };
    std::iter::once(kind).chain(bounds.map(str::to_owned)).collect::<Vec<_>>().join("; ")
}

/// The texts that a choice has.
fn choices(node: &Value) -> Vec<&Value> {
    let listed = node["enum"].as_array().into_iter().flatten();
    let described = node["oneOf"].as_array().into_iter().flatten();
    listed.chain(described.filter_map(|one| one.get("const"))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_from_the_words_of_checks() {
        let read = |words| Value::from(range(words).unwrap());
        assert_eq!(read("1 to 64"), json!({ "minimum": 1, "maximum": 64 }));
        assert_eq!(read("0 or 1"), json!({ "minimum": 0, "maximum": 1 }));
        assert_eq!(read("rates from 0 to 1"), json!({ "minimum": 0, "maximum": 1 }));
        assert_eq!(read("0 or more"), json!({ "minimum": 0 }));
        assert_eq!(read("0, or 16 to 64"), json!({ "minimum": 0, "maximum": 64 }));
        assert_eq!(read("1 or more, below selfplay.ply_limit"), json!({ "minimum": 1 }));
        assert_eq!(read("above 0"), json!({ "exclusiveMinimum": 0 }));
        assert_eq!(read("above 0, up to 64"), json!({ "exclusiveMinimum": 0, "maximum": 64 }));
        let share = json!({ "minimum": 0, "exclusiveMaximum": 1 });
        assert_eq!(read("at least 0 and below 1"), share);
        for words in ["a divisor of training.batch_size", "0 where the game has no handicaps"] {
            assert_eq!(range(words), None);
        }
    }
}
