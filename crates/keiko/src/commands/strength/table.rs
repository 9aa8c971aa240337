//! What a comparison says, as tables for people and as JSON.

use super::meetings::Games;
use super::training::Used;
use keiko_rules::Color;
use keiko_trainer::elo::{Estimate, Strength, Tally, elo_line};
use serde_json::{Value, json};

/// A contender, and how it did.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) seed: u64,
    /// A move, in all its games.
    pub(super) simulations: u32,
    pub(super) used: Used,
    /// Against each opponent, in the same order for all.
    pub(super) against: Vec<(String, Games)>,
    /// Against the first contender of the same seed; for that one's other seeds against the first.
    pub(super) direct: Option<(String, Games)>,
}

impl Entry {
    /// All its games.
    fn meetings(&self) -> impl Iterator<Item = &(String, Games)> {
        self.against.iter().chain(&self.direct)
    }
}

/// What they have learned, and for how long.
pub(super) struct Report {
    /// For people: what is compared and how it was measured.
    pub(super) title: String,
    pub(super) minutes: f64,
    /// Those of a name follow each other, the first ones are those that others are compared with.
    pub(super) entries: Vec<Entry>,
}

impl Report {
    /// Everything, as Markdown that can be read as it is.
    pub(super) fn markdown(&self) -> String {
        let tables = [self.summary(), self.meetings(), self.used()];
        format!("{}\n\n{}", self.title, tables.map(|rows| table(&rows)).join("\n"))
    }

    /// The entries of each name.
    fn groups(&self) -> impl Iterator<Item = &[Entry]> {
        self.entries.chunk_by(|one, next| one.name == next.name)
    }

    /// A row for each name, all seeds together.
    fn summary(&self) -> Vec<Vec<String>> {
        let first = &self.entries[0];
        let several = self.groups().nth(1).is_some();
        let direct = several.then(|| format!("against {}", first.name));
        let opponents = first.against.iter().map(|(name, _)| format!("against {name}"));
        let titles = ["contender".to_owned()].into_iter().chain(direct).chain(opponents);
        let row = |(place, group): (usize, &[Entry])| {
            let direct = group.iter().filter_map(|entry| Some(&entry.direct.as_ref()?.1));
            // Those of the first name met each other.
            let direct = (place > 0).then(|| elo(Games::pooled(direct).strength()));
            let direct = several.then(|| direct.unwrap_or_default());
            let against = |at: usize| {
                let games = group.iter().filter_map(|entry| Some(&entry.against.get(at)?.1));
                elo(Games::pooled(games).strength())
            };
            let against = (0..first.against.len()).map(against);
            [group[0].name.clone()].into_iter().chain(direct).chain(against).collect()
        };
        [titles.collect()].into_iter().chain(self.groups().enumerate().map(row)).collect()
    }

    /// A row for each contender and opponent.
    fn meetings(&self) -> Vec<Vec<String>> {
        let titles = [
            "contender",
            "seed",
            "against",
            "games",
            "score",
            "as first player",
            "as second player",
        ];
        let row = |entry: &Entry, (opponent, games): &(String, Games)| {
            let [first, second] = Color::BOTH.map(|color| score(games.side(color).strength()));
            vec![
                entry.name.clone(),
                entry.seed.to_string(),
                opponent.clone(),
                games.0.len().to_string(),
                score(games.strength()),
                first,
                second,
            ]
        };
        let rows = self
            .entries
            .iter()
            .flat_map(|entry| entry.meetings().map(move |meeting| row(entry, meeting)));
        [titles.map(str::to_owned).to_vec()].into_iter().chain(rows).collect()
    }

    /// A row for each contender: what it took.
    fn used(&self) -> Vec<Vec<String>> {
        let titles = [
            "contender",
            "seed",
            "core-minutes",
            "generations",
            "games",
            "steps",
            "evaluations",
            "simulations a move",
        ];
        let row = |entry: &Entry| {
            let Used { seconds, evaluations, generations, games, steps } = entry.used;
            let minutes = format!("{:.2}", seconds / 60.0);
            let counts = [generations, games, steps, evaluations, entry.simulations.into()];
            let start = [entry.name.clone(), entry.seed.to_string(), minutes];
            start.into_iter().chain(counts.map(|count| count.to_string())).collect()
        };
        let titles = titles.map(str::to_owned).to_vec();
        [titles].into_iter().chain(self.entries.iter().map(row)).collect()
    }

    /// Everything as JSON.
    pub(super) fn json(&self) -> Value {
        let entry = |entry: &Entry| {
            let meeting = |(opponent, games): &(String, Games)| meeting_json(opponent, games);
            json!({
                "contender": entry.name,
                "seed": entry.seed,
                "simulations": entry.simulations,
                "used": entry.used,
                "against": entry.against.iter().map(meeting).collect::<Vec<_>>(),
                "direct": entry.direct.as_ref().map(meeting),
            })
        };
        let entries: Vec<Value> = self.entries.iter().map(entry).collect();
        json!({ "title": self.title, "minutes": self.minutes, "contenders": entries })
    }
}

fn meeting_json(opponent: &str, games: &Games) -> Value {
    let strength = games.strength();
    let side = |color| tally_json(&games.side(color));
    json!({
        "opponent": opponent,
        "games": games.0.len(),
        "score": strength.map(|it| estimate(it.score)),
        "elo": strength.map(|it| estimate(it.elo)),
        "as_first_player": side(Color::Black),
        "as_second_player": side(Color::White),
    })
}

fn tally_json(tally: &Tally) -> Value {
    json!({
        "won": tally.wins,
        "drawn": tally.draws,
        "lost": tally.losses,
        "elo": tally.strength().map(|it| estimate(it.elo)),
    })
}

fn estimate(it: Estimate) -> Value {
    json!({ "value": it.value, "low": it.low, "high": it.high })
}

fn elo(strength: Option<Strength>) -> String {
    strength.map_or(String::new(), |it| elo_line(&it.elo, "Elo"))
}

fn score(strength: Option<Strength>) -> String {
    strength.map_or(String::new(), |it| it.to_string())
}

/// A table in Markdown, its columns as wide as they need to be; the first row has the titles.
fn table(rows: &[Vec<String>]) -> String {
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!(" {cell:width$} |"));
        format!("|{}\n", cells.collect::<String>())
    };
    let rule: String = widths.iter().map(|width| format!("{}|", "-".repeat(width + 2))).collect();
    let rest: String = rows[1..].iter().map(line).collect();
    format!("{}|{rule}\n{rest}", line(&rows[0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use keiko_trainer::elo::GameResult::{Draw, Loss, Win};

    fn games(wins: u64) -> Games {
        let result = |number| match number {
            5 => Draw,
            _ if number < wins => Win,
            _ => Loss,
        };
        Games((0..10).map(|number| (number, result(number))).collect())
    }

    fn entry(name: &str, seed: u64, wins: u64, direct: Option<(&str, u64)>) -> Entry {
        let used = Used {
            seconds: 1203.4,
            evaluations: 98_765_432,
            generations: 21,
            games: 10_752,
            steps: 2_100,
        };
        let against = ["random", "usi:fairy@100"].map(|name| (name.to_owned(), games(wins)));
        let direct = direct.map(|(name, wins)| (name.to_owned(), games(wins)));
        Entry {
            name: name.to_owned(),
            seed,
            simulations: 200,
            used,
            against: against.to_vec(),
            direct,
        }
    }

    fn report(entries: Vec<Entry>) -> Report {
        Report { title: "A comparison.".to_owned(), minutes: 20.0, entries }
    }

    #[test]
    fn tables_show_all_seeds_together_and_each_alone() {
        let report = report(vec![
            entry("as-it-is", 1, 6, None),
            entry("as-it-is", 2, 8, Some(("as-it-is, seed 1", 5))),
            entry("search.kind=puct", 1, 2, Some(("as-it-is, seed 1", 3))),
            entry("search.kind=puct", 2, 9, Some(("as-it-is, seed 2", 2))),
        ]);
        assert_eq!(report.markdown(), include_str!("snapshot.md"));
    }

    #[test]
    fn one_contender_is_compared_with_nobody() {
        let text = report(vec![entry("as-it-is", 1, 6, None)]).markdown();
        let titles = text.lines().nth(2).unwrap_or_default();
        assert!(titles.starts_with("| contender | against random"), "{text}");
    }

    #[test]
    fn the_json_has_every_meeting() {
        let json = report(vec![entry("as-it-is", 1, 6, Some(("another", 5)))]).json();
        let contender = &json["contenders"][0];
        assert_eq!(contender["used"]["games"], 10_752);
        assert_eq!(contender["against"][1]["opponent"], "usi:fairy@100");
        assert_eq!(contender["against"][1]["as_first_player"]["won"], 3);
        assert_eq!(contender["direct"]["games"], 10);
    }
}
