//! What is compared: an experiment's variations, each with several seeds.

use crate::Failure;
use keiko_trainer::{Experiment, ExperimentError};
use std::path::Path;

/// What leaves the experiment as it is.
const AS_IT_IS: &str = "as-it-is";

/// Keys that are no one's to vary, and why.
const FIXED: [(&str, &str); 5] = [
    ("seed", "--seeds says how many there are"),
    ("name", "it changes nothing"),
    ("rules", "contenders play the same game"),
    ("training.generations", "--minutes says when they end"),
    ("arena.", "contenders are measured when they have learned"),
];

/// A run publishes its first network whatever is set; that takes a moment.
const UNMEASURED: [&str; 5] = [
    "training.generations=1000000000",
    "arena.every=1000000000",
    "arena.rival_age=1000000000",
    "arena.random_pairs=1",
    "arena.rival_pairs=1",
];

/// Longest name of a contender's folder, before what tells it from others as long.
const LONGEST_FOLDER: usize = 100;

/// Alternatives that are tried, each of them some settings `KEY=VALUE`.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Variation(Vec<Vec<String>>);

impl Variation {
    /// Reads alternatives between commas. One is `KEY=VALUE`, several of them between spaces, or
    /// a value alone, of the key before it. What brackets or quotes hold belongs together.
    pub(super) fn parse(text: &str) -> Result<Variation, Failure> {
        let wrong = |what: &str| Failure::usage(format!("--vary {text}: {what}"));
        let mut alternatives: Vec<Vec<String>> = Vec::new();
        for alternative in split(text, |letter| letter == ',') {
            let settings: Vec<String> = split(&alternative, char::is_whitespace)
                .into_iter()
                .filter(|setting| !setting.is_empty())
                .collect();
            let before = alternatives.last().map(Vec::as_slice);
            alternatives.push(match (settings.as_slice(), before) {
                ([one], _) if one == AS_IT_IS => Vec::new(),
                (some, _) if !some.is_empty() && some.iter().all(|it| is_setting(it)) => settings,
                ([value], Some([setting])) if !value.contains('=') => {
                    let (key, _) = setting.split_once('=').expect("it is a setting");
                    vec![format!("{key}={value}")]
                }
                _ => {
                    return Err(wrong(
                        "expected KEY=VALUE,VALUE,... or `KEY=VALUE KEY=VALUE, ...`",
                    ));
                }
            });
        }
        match alternatives.iter().flatten().find_map(|setting| fixed(setting)) {
            Some(why) => Err(wrong(&why)),
            None => Ok(Variation(alternatives)),
        }
    }
}

/// Why a key stays as it is, if it has to.
fn fixed(setting: &str) -> Option<String> {
    let (key, _) = setting.split_once('=')?;
    let names = |fixed: &str| key == fixed || (fixed.ends_with('.') && key.starts_with(fixed));
    let (_, why) = FIXED.iter().find(|(fixed, _)| names(fixed))?;
    Some(format!("{key} cannot be varied: {why}"))
}

fn is_setting(text: &str) -> bool {
    text.split_once('=').is_some_and(|(key, value)| !key.is_empty() && !value.is_empty())
}

/// Splits a text where it `is_end`, but not inside brackets or quotes.
fn split(text: &str, is_end: impl Fn(char) -> bool) -> Vec<String> {
    let (mut depth, mut quoted) = (0i32, false);
    let ends = |letter: char| {
        quoted ^= letter == '"';
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        is_end(letter) && depth == 0 && !quoted
    };
    text.split(ends).map(|part| part.trim().to_owned()).collect()
}

/// One that learns: an experiment as it is varied, and a seed.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Contender {
    /// What it is compared as: the settings that make it.
    pub(super) name: String,
    /// Which of those of this name.
    pub(super) seed: u64,
    /// It learns by this until its time is up.
    pub(super) experiment: Experiment,
}

impl Contender {
    /// What it and its seed are called.
    pub(super) fn title(&self) -> String {
        format!("{}, seed {}", self.name, self.seed)
    }

    /// What its folder is called.
    pub(super) fn folder(&self) -> String {
        format!("{}-seed{}", plain(&self.name), self.seed)
    }
}

/// A name for files: other letters are dashes, and a hash stands in for what is too long.
pub(super) fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
    let text: String = name.chars().map(plain).collect();
    match text.len() > LONGEST_FOLDER {
        true => format!("{}-{:08x}", &text[..LONGEST_FOLDER], hash(name) as u32),
        false => text,
    }
}

/// A text's FNV-1a hash: the same in every version of this program.
pub(super) fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Every combination of alternatives, with the experiment's own seed and the `seeds - 1` after it;
/// those of a combination follow each other. Nothing is measured on the way, and no end is set:
/// time ends them.
pub(super) fn contenders(
    path: &Path,
    set: &[String],
    variations: &[Variation],
    seeds: u64,
) -> Result<Vec<Contender>, Failure> {
    let first_seed = Experiment::load(path, set)?.seed;
    let mut found: Vec<Contender> = Vec::new();
    for settings in combinations(variations)? {
        let name = if settings.is_empty() { AS_IT_IS.to_owned() } else { settings.join(" ") };
        let varied = [set, &settings].concat();
        Experiment::load(path, &varied).map_err(|error| refused(&name, error))?;
        for seed in first_seed..first_seed + seeds {
            let (endless, seeded) = (UNMEASURED.map(str::to_owned), [format!("seed={seed}")]);
            let all = [&varied[..], &endless, &seeded].concat();
            let (name, experiment) = (name.clone(), Experiment::load(path, &all)?);
            if let Some(other) = found.iter().find(|other| other.experiment == experiment) {
                return Err(Failure::usage(format!(
                    "--vary: `{}` and `{name}` are the same experiment",
                    other.name
                )));
            }
            found.push(Contender { name, seed, experiment });
        }
    }
    Ok(found)
}

fn refused(name: &str, error: ExperimentError) -> Failure {
    Failure::usage(match error {
        ExperimentError::UnknownOverride { key, hint } => {
            format!("--vary {key}: there is no such key{hint}")
        }
        error => format!("--vary {name}: {error}"),
    })
}

/// Every way to choose an alternative of each variation.
fn combinations(variations: &[Variation]) -> Result<Vec<Vec<String>>, Failure> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for Variation(alternatives) in variations {
        let extended = |settings: &Vec<String>| {
            let with = |more: &Vec<String>| [&settings[..], &more[..]].concat();
            alternatives.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extended).collect();
    }
    for settings in &all {
        let keys = || settings.iter().filter_map(|setting| Some(setting.split_once('=')?.0));
        if let Some((_, key)) =
            keys().enumerate().find(|(at, key)| keys().take(*at).any(|it| it == *key))
        {
            return Err(Failure::usage(format!(
                "--vary {}: {key} stands there twice",
                settings.join(" ")
            )));
        }
    }
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn smoke() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/smoke.toml"))
    }

    fn names(texts: &[&str], seeds: u64) -> Result<Vec<String>, String> {
        let read = texts.iter().map(|text| Variation::parse(text)).collect::<Result<Vec<_>, _>>();
        let found = read.and_then(|read| contenders(smoke(), &["seed=7".to_owned()], &read, seeds));
        found
            .map(|found| found.iter().map(Contender::title).collect())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn every_combination_is_a_contender_of_each_seed() {
        let kinds = "search.kind=gumbel,puct";
        let found = names(&[kinds, "selfplay.full_simulations=8,[[0, 4], [10, 8]]"], 2).unwrap();
        assert_eq!(found.len(), 8);
        assert_eq!(found[0], "search.kind=gumbel selfplay.full_simulations=8, seed 7");
        assert_eq!(
            found[7],
            "search.kind=puct selfplay.full_simulations=[[0, 4], [10, 8]], seed 8"
        );
        assert_eq!(names(&[], 1).unwrap(), ["as-it-is, seed 7"]);
    }

    #[test]
    fn alternatives_may_be_several_settings_or_of_several_keys() {
        let sizes = "network.channels=32 network.blocks=4, network.channels=64 network.blocks=5";
        let first = "network.channels=32 network.blocks=4, seed 7";
        assert_eq!(names(&[sizes], 1).unwrap()[0], first);
        let list = "as-it-is, search.leaf_mate_plies=0,1, search.kind=puct";
        let found = names(&[list], 1).unwrap();
        let last = ["search.leaf_mate_plies=1, seed 7", "search.kind=puct, seed 7"];
        assert_eq!(found[2..], last);
        assert_eq!(found[0], "as-it-is, seed 7");
    }

    #[test]
    fn what_cannot_be_varied_is_refused() {
        let cases: [(&[&str], &str); 9] = [
            (&["search.kind"], "expected KEY=VALUE"),
            (&["search.kind=gumbel,"], "expected KEY=VALUE"),
            (&["network.channels=32 network.blocks=4,64"], "expected KEY=VALUE"),
            (
                &["search.knid=gumbel"],
                "--vary search.knid: there is no such key; did you mean `search.kind`",
            ),
            (&["search.considered_moves=0"], "allowed is"),
            (&["seed=1,2"], "--seeds"),
            (&["arena.simulations=1,2"], "cannot be varied"),
            (&["search.kind=gumbel,gumbel"], "are the same experiment"),
            (&["search.kind=puct", "search.kind=gumbel"], "search.kind stands there twice"),
        ];
        for (texts, words) in cases {
            let message = names(texts, 1).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn folders_have_plain_names_of_a_bearable_length() {
        assert_eq!(plain("search.kind=puct x_y=[1, 2]"), "search.kind-puct-x_y--1--2-");
        let long = plain(&"a.b=1 ".repeat(50));
        assert_eq!(long.len(), LONGEST_FOLDER + 9);
        assert_ne!(long, plain(&"a.b=1 ".repeat(51)));
    }
}
