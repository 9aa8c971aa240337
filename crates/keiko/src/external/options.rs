//! The options an engine advertises, and the command that starts it.

use super::ExternalError;

/// An option as the engine advertised it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Advertised {
    /// Its name, to be sent back exactly so.
    pub(super) name: String,
    /// What it takes.
    pub(super) kind: Kind,
}

/// What an option takes.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    Check,
    Spin { min: i64, max: i64 },
    Combo(Vec<String>),
    Button,
    Text,
}

/// Options every USI engine has without advertising them.
const IMPLIED: [&str; 2] = ["USI_Hash", "USI_Ponder"];

impl Advertised {
    /// Whether this option chooses the game.
    pub(super) fn is_variant(&self) -> bool {
        ["uci_variant", "usi_variant"].contains(&self.name.to_lowercase().as_str())
    }

    /// The values of a combo.
    pub(super) fn values(&self) -> &[String] {
        match &self.kind {
            Kind::Combo(values) => values,
            _ => &[],
        }
    }

    /// The value as the engine spells it, or what it would take instead. Engines tend to
    /// ignore what they do not take.
    pub(super) fn check(&self, value: &str) -> Result<String, String> {
        let same = |allowed: &&str| allowed.eq_ignore_ascii_case(value);
        match &self.kind {
            Kind::Text => Ok(value.to_owned()),
            Kind::Button if value.is_empty() => Ok(String::new()),
            Kind::Button => Err("empty, as a button takes no value".to_owned()),
            Kind::Check => ["true", "false"]
                .iter()
                .find(|allowed| same(allowed))
                .map(|&allowed| allowed.to_owned())
                .ok_or_else(|| "true or false".to_owned()),
            Kind::Spin { min, max } => match value.parse::<i64>() {
                Ok(number) if (*min..=*max).contains(&number) => Ok(number.to_string()),
                _ => Err(format!("a whole number from {min} to {max}")),
            },
            Kind::Combo(values) => values
                .iter()
                .find(|allowed| same(&allowed.as_str()))
                .cloned()
                .ok_or_else(|| format!("one of: {}", values.join(" "))),
        }
    }
}

/// The option a user means: case, `_` for a space and a leading `USI_` make no difference.
pub(super) fn find<'a>(options: &'a [Advertised], name: &str) -> Option<&'a Advertised> {
    let simple = |name: &str| {
        let name = name.to_lowercase().replace('_', " ");
        name.strip_prefix("usi ").map(str::to_owned).unwrap_or(name)
    };
    let exact = options.iter().find(|option| option.name == name);
    exact.or_else(|| options.iter().find(|option| simple(&option.name) == simple(name)))
}

/// The option that a line advertises, such as
/// `option name Skill Level type spin default 20 min -20 max 20`.
pub(super) fn parse_advertised(line: &str) -> Option<Advertised> {
    let rest = line.strip_prefix("option name ")?;
    let (name, rest) = rest.split_once(" type ")?;
    let mut words = rest.split_whitespace();
    let kind = match words.next()? {
        "check" => Kind::Check,
        "spin" => spin(words),
        "combo" => Kind::Combo(combo(words)),
        "button" => Kind::Button,
        _ => Kind::Text,
    };
    Some(Advertised { name: name.trim().to_owned(), kind })
}

fn spin<'a>(mut words: impl Iterator<Item = &'a str>) -> Kind {
    let (mut min, mut max) = (i64::MIN, i64::MAX);
    while let Some(word) = words.next() {
        let number = match word {
            "min" => &mut min,
            "max" => &mut max,
            _ => continue,
        };
        *number = words.next().and_then(|text| text.parse().ok()).unwrap_or(*number);
    }
    Kind::Spin { min, max }
}

/// Values of a combo; one may consist of several words.
fn combo<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    let mut in_value = false;
    for word in words {
        match (word, values.last_mut()) {
            ("var", _) => {
                values.push(String::new());
                in_value = true;
            }
            ("default", _) if !in_value => {}
            (word, Some(value)) if in_value => {
                if !value.is_empty() {
                    value.push(' ');
                }
                value.push_str(word);
            }
            _ => {}
        }
    }
    values
}

/// The options every engine takes, where it did not advertise them.
pub(super) fn implied(options: &[Advertised]) -> Vec<Advertised> {
    let missing = IMPLIED.iter().filter(|name| find(options, name).is_none());
    missing.map(|&name| Advertised { name: name.to_owned(), kind: Kind::Text }).collect()
}

/// Splits a command at white space. Single or double quotes keep a part together.
pub(crate) fn split_command(command: &str) -> Result<Vec<String>, ExternalError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in command.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    let wrong = |reason| ExternalError::Command { command: command.to_owned(), reason };
    match (quote, words.first()) {
        (Some(_), _) => Err(wrong("a quote is not closed")),
        (None, None) => Err(wrong("it is empty")),
        (None, Some(_)) => Ok(words),
    }
}
