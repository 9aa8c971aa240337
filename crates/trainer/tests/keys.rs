//! What is said of an experiment's keys: meanings, schema, and messages where one is wrong.
#![allow(clippy::unwrap_used)]

use keiko_trainer::{Experiment, Origin};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs")
}

fn shipped() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(configs()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect()
}

fn text_of(name: &str) -> String {
    std::fs::read_to_string(configs().join(name)).unwrap()
}

/// Compares with a file that is kept; the text found is written beside it if they differ.
#[track_caller]
fn expect_kept(found: &str, kept: &Path) {
    let expected = std::fs::read_to_string(kept).unwrap_or_default();
    if found != expected {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join(kept.file_name().unwrap());
        std::fs::write(&new, found).unwrap();
        panic!("it has changed; if that is meant: cp {} {}", new.display(), kept.display());
    }
}

#[test]
fn every_key_has_a_meaning_and_a_comment_in_the_default_job() {
    let (text, mut before) = (text_of("minishogi.toml"), "");
    let mut commented = Vec::new();
    for line in text.lines() {
        let name = line.split([' ', '=']).next().unwrap_or_default();
        if line.contains(" # ") || before.starts_with('#') {
            commented.push(name);
        }
        before = line;
    }
    for key in Experiment::keys() {
        assert!(key.meaning.ends_with('.') && key.meaning.len() > 8, "{key:?}");
        assert!(!key.allowed.is_empty(), "{key:?}");
        let name = key.name.split('.').next_back().unwrap();
        assert!(commented.contains(&name), "{}: no comment in configs/minishogi.toml", key.name);
    }
}

#[test]
fn values_are_told_with_where_they_come_from() {
    let set = ["search.puct.cpuct=2.1".to_owned()];
    let text = text_of("smoke.toml");
    let experiment = Experiment::parse(&text, "smoke", &set).unwrap();
    let all = experiment.explained(&text, &set);
    let find = |name: &str| all.iter().find(|it| it.key.name == name).unwrap();
    assert_eq!(find("search.puct.cpuct").origin, Origin::Set);
    assert_eq!(find("search.puct.cpuct").value, "2.1");
    for (place, line) in text.lines().enumerate() {
        if let Some(value) = line.strip_prefix("ply_limit = ") {
            let found = find("selfplay.ply_limit");
            assert_eq!(found.origin, Origin::Line(place + 1));
            assert!(value.starts_with(&found.value));
        }
    }
    assert!(all.iter().all(|it| it.origin != Origin::Older));
}

#[test]
fn the_schema_is_kept_up_to_date() {
    let schema = serde_json::to_string_pretty(&Experiment::schema()).unwrap() + "\n";
    expect_kept(&schema, &configs().join("experiment.schema.json"));
}

/// Whether a value is what a schema says, as far as ours say anything.
fn fits(schema: &Value, value: &Value) -> bool {
    let object = |name: &str| schema[name].as_object();
    let list = |name: &str| schema[name].as_array();
    let above = |name: &str, holds: fn(f64, f64) -> bool| match (&schema[name], value.as_f64()) {
        (Value::Number(end), Some(value)) => holds(value, end.as_f64().unwrap()),
        _ => true,
    };
    let kind = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        other => other.is_none(),
    };
    let known = |name: &String| object("properties").is_some_and(|all| all.contains_key(name));
    let fields = value.as_object().is_none_or(|fields| fields.keys().all(known));
    let required = list("required").into_iter().flatten();
    let properties = object("properties").into_iter().flatten();
    let items = value.as_array().into_iter().flatten().enumerate();
    let item = |(place, item): (usize, &Value)| match &schema["items"] {
        Value::Null => true,
        Value::Array(schemas) => fits(&schemas[place], item),
        one => fits(one, item),
    };
    kind && fields
        && required.into_iter().all(|name| value.get(name.as_str().unwrap()).is_some())
        && properties.into_iter().all(|(name, one)| value.get(name).is_none_or(|it| fits(one, it)))
        && items.into_iter().all(item)
        && list("anyOf").is_none_or(|all| all.iter().any(|one| fits(one, value)))
        && list("oneOf").is_none_or(|all| all.iter().filter(|one| fits(one, value)).count() == 1)
        && list("enum").is_none_or(|all| all.contains(value))
        && schema.get("const").is_none_or(|it| it == value)
        && above("minimum", |x, end| x >= end)
        && above("exclusiveMinimum", |x, end| x > end)
        && above("maximum", |x, end| x <= end)
        && above("exclusiveMaximum", |x, end| x < end)
}

#[test]
fn shipped_experiments_are_what_the_schema_says() {
    let schema = Experiment::schema();
    for path in shipped() {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("#:schema ./experiment.schema.json\n"), "{}", path.display());
        let value: Value = toml::from_str(&text).unwrap();
        assert!(fits(&schema, &value), "{}", path.display());
        for (key, wrong) in [("seed", Value::from(-1)), ("rules", Value::from(1))] {
            let mut value = value.clone();
            value[key] = wrong;
            assert!(!fits(&schema, &value));
            value.as_object_mut().unwrap().remove(key);
            assert!(!fits(&schema, &value));
        }
    }
}

/// The ends of a key's range that stand in the schema: what is the last allowed, what is not.
fn ends(node: &Value) -> Vec<(f64, f64)> {
    let is_whole = node["type"] == "integer";
    let step = |end: f64| if is_whole { 1.0 } else { 1e-3 * end.abs().max(1.0) };
    let beyond = |name: &str, way: f64| node[name].as_f64().map(|it| (it, it + way * step(it)));
    let inside = |name: &str, way: f64| node[name].as_f64().map(|it| (it + way * step(it), it));
    [
        beyond("minimum", -1.0),
        beyond("maximum", 1.0),
        inside("exclusiveMinimum", 1.0),
        inside("exclusiveMaximum", -1.0),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn the_schema_allows_what_the_checks_allow() {
    let (schema, text) = (Experiment::schema(), text_of("minishogi.toml"));
    let mut tried = 0;
    for key in Experiment::keys() {
        let pointer: String = key.name.split('.').map(|it| format!("/properties/{it}")).collect();
        let node = schema.pointer(&pointer).unwrap();
        let node = node.pointer("/anyOf/0").unwrap_or(node);
        let integer = node["type"] == "integer";
        let bound = key.allowed.split("; ").nth(1).unwrap_or_default();
        let message = |value: f64| {
            let value = if integer { format!("{value}") } else { format!("{value:?}") };
            let result = Experiment::parse(&text, "it", &[format!("{}={value}", key.name)]);
            result.err().map(|error| error.to_string())
        };
        // The largest seed is no number that a float holds.
        for (good, bad) in ends(node).into_iter().filter(|(good, _)| *good < 1e15) {
            // It may have to fit other keys, too: that is another complaint.
            let complaint = message(good).filter(|it| it.contains(&format!(" {} = ", key.name)));
            let complaint = complaint.filter(|it| it.ends_with(bound));
            assert_eq!(complaint, None);
            assert!(message(bad).is_some_and(|it| it.contains(&key.name)), "{} {bad}", key.name);
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

/// One line of an experiment each that is wrong, by section: the key misspelt, a value of a wrong
/// type, one out of range.
const WRONG: &[(&str, [&str; 3])] = &[
    ("rules = ", ["rulse = \"doubutsu\"", "rules = 5", "rules = \"dobutsu\""]),
    ("name = ", ["nmae = \"smoke\"", "name = [1]", "name = \"smo/ke\""]),
    ("channels = ", ["chanels = 16", "channels = \"many\"", "channels = 0"]),
    (
        "considered_moves = ",
        ["considred_moves = 8", "considered_moves = 8.5", "considered_moves = 0"],
    ),
    ("cpuct_base = ", ["cpuct_bas = 500.0", "cpuct_base = true", "cpuct_base = 0.0"]),
    ("precision = ", ["precison = \"int8\"", "precision = 8", "precision = \"int7\""]),
    (
        "full_simulations = ",
        ["full_simulation = 8", "full_simulations = \"8\"", "full_simulations = 0"],
    ),
    ("window_games = ", ["windows_games = 400", "window_games = -400", "window_games = 0"]),
    ("learning_rate = ", ["learning_rat = 0.1", "learning_rate = [[5]]", "learning_rate = 2"]),
    ("clip_norm = ", ["clipnorm = 2.0", "clip_norm = \"2\"", "clip_norm = 0.0"]),
    ("opening_plies = ", ["opening_ply = 2", "opening_plies = {}", "opening_plies = 800"]),
    ("device = ", ["devise = \"cpu\"", "device = 0", "device = \"vulcan:0\""]),
    ("workers = ", ["worker = 2", "workers = nine", "workers = 0"]),
];

#[test]
fn messages_are_those_that_were_read_and_found_good() {
    let text = text_of("smoke.toml");
    let mut told = String::new();
    let mut tell = |what: &str, text: &str, overrides: &[String]| {
        let experiment = Experiment::parse(text, "smoke.toml", overrides);
        let message = match experiment.map(|it| keiko_rules::Rules::load(&it.rules)) {
            Ok(rules) => rules.unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        told += &format!("{what}\n{message}\n\n");
    };
    for (key, wrong) in WRONG {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        for wrong in wrong {
            tell(&format!("=== {wrong}"), &text.replacen(line, wrong, 1), &[]);
        }
        tell("=== without it", &text.replacen(line, "", 1), &[]);
    }
    for section in ["[network]", "[search.puct]", "[machine]"] {
        let wrong = section.replacen(['e', 'p'], "a", 1);
        tell(&format!("=== {wrong}"), &text.replacen(section, &wrong, 1), &[]);
    }
    tell("=== [search.puckt]", &text.replacen("[search.puct]", "[search.puckt]", 1), &[]);
    for wrong in ["network.blcoks=2", "network.blocks", "network.blocks=two", "network.blocks=0"] {
        tell(&format!("=== --set {wrong}"), &text, &[wrong.to_owned()]);
    }
    expect_kept(&told, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages.txt"));
}
