//! The result of a match, for people and as JSON.

use super::sheets::Sheets;
use super::standings::{Standing, Standings};
use keiko_rules::Color;
use keiko_trainer::arena::Fault;
use keiko_trainer::elo::{Estimate, Tally, elo_line};
use keiko_trainer::sprt::{Scale, Sprt, Verdict};
use serde_json::{Value, json};

const FAULTS: [(Fault, &str); 3] = [
    (Fault::IllegalMove, "illegal moves"),
    (Fault::Crash, "crashes"),
    (Fault::Time, "time losses"),
];

/// Prints the result: of two players all that their games say, of more a line or some for each two
/// and everybody's rating.
pub(super) fn print(standings: &Standings) {
    let mut lines = Vec::new();
    match standings.sheets() {
        [sheets] => lines = pairing_lines(sheets),
        all => {
            all.iter().for_each(|sheets| lines.extend(short_lines(sheets)));
            lines.push(String::new());
            lines.extend(rating_lines(standings));
        }
    }
    lines.iter().for_each(|line| say!("{line}"));
}

/// What two players' games say, where there are more players.
fn short_lines(sheets: &Sheets) -> Vec<String> {
    let [first, second] = sheets.players();
    let Some(strength) = sheets.tally().strength() else {
        return vec![format!("{first} against {second}: no pair of games was completed")];
    };
    let games = sheets.tally().games();
    let sides = Color::BOTH.map(|color| format!("as {color} {}", sheets.side(color)));
    let mut lines = vec![
        format!("{first} against {second}: {} games, {games}", games.games()),
        format!("  score {strength}; {}", sides.join("; ")),
    ];
    lines.extend(fault_lines(sheets).into_iter().map(|line| format!("  {line}")));
    lines
}

/// Everybody's rating, the best first.
fn rating_lines(standings: &Standings) -> Vec<String> {
    let order = standings.order();
    let width = order.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let head = ["Elo", "low", "high", "games", "points"].map(|word| format!("{word:>7}"));
    let mut lines = vec![format!("{:width$}{}", "player", head.concat())];
    for Standing { name, games, points, rating } in order {
        lines.push(format!(
            "{name:width$}{:>+7.0}{:>+7.0}{:>+7.0}{games:>7}{points:>7.1}",
            rating.value, rating.low, rating.high
        ));
    }
    lines
}

/// What two players' games say.
fn pairing_lines(sheets: &Sheets) -> Vec<String> {
    let tally = sheets.tally();
    let Some(strength) = tally.strength() else {
        return vec!["no pair of games was completed".to_owned()];
    };
    let [first, second] = sheets.players();
    let games = tally.games();
    let mut lines = vec![format!("{first} against {second}: {} games, {games}", games.games())];
    lines.push(format!("score {strength}"));
    for color in Color::BOTH {
        lines.push(format!("  as {color}: {}", side_line(&sheets.side(color))));
    }
    if let Some(normalised) = tally.normalised() {
        lines.push(format!("normalised {}", elo_line(&normalised, "Elo")));
    }
    let [none, half, one, more, both] = tally.pairs();
    lines.push(format!(
        "pairs by points: {none} of 0, {half} of 1/2, {one} of 1, {more} of 1 1/2, {both} of 2"
    ));
    if let Some((sprt, ratio)) = sheets.test() {
        lines.push(format!("test {}", test_line(&sprt, ratio, sheets.verdict())));
    }
    lines.extend(fault_lines(sheets));
    let reasons: Vec<String> =
        sheets.reasons().into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    lines.push(format!("ended by: {}", reasons.join(", ")));
    lines
}

/// What players lost off the board.
fn fault_lines(sheets: &Sheets) -> Vec<String> {
    let of = |(player, name)| {
        let counts = FAULTS.map(|(fault, what)| (sheets.faults(player, fault), what));
        let any = counts.iter().any(|(count, _)| *count > 0);
        let counts = counts.map(|(count, what)| format!("{count} {what}"));
        any.then(|| format!("lost by {name}: {}", counts.join(", ")))
    };
    sheets.players().into_iter().enumerate().filter_map(of).collect()
}

fn side_line(side: &Tally) -> String {
    match side.strength() {
        Some(strength) => format!("{side}; {strength}"),
        None => side.to_string(),
    }
}

fn test_line(sprt: &Sprt, ratio: f64, verdict: Verdict) -> String {
    let scale = scale_name(sprt.scale);
    let (low, high, bound) = (sprt.low, sprt.high, Sprt::bound());
    let says = match verdict {
        Verdict::Lower => format!("{low} is the likelier one"),
        Verdict::Open => "not decided".to_owned(),
        Verdict::Higher => format!("{high} is the likelier one"),
    };
    format!(
        "of {low} or {high} {scale}: {says}; ratio {ratio:.2}, bounds -{bound:.2} and {bound:.2}"
    )
}

fn scale_name(scale: Scale) -> &'static str {
    match scale {
        Scale::Logistic => "Elo",
        Scale::Normalised => "normalised Elo",
    }
}

/// What is worth knowing on the way of two players, behind the number of games.
pub(super) fn progress(sheets: &Sheets) -> String {
    let score = sheets.tally().strength().map(|strength| format!(", score {strength}"));
    let ratio = sheets.test().map(|(_, ratio)| format!(", ratio {ratio:.2}"));
    score.unwrap_or_default() + &ratio.unwrap_or_default()
}

/// The result as JSON.
pub(super) fn json(standings: &Standings) -> Value {
    if let [sheets] = standings.sheets() {
        return pairing_json(sheets);
    }
    let rating = |it: Standing<'_>| {
        let Standing { name, games, points, rating } = it;
        let (elo, low, high) = (rating.value, rating.low, rating.high);
        json!({ "player": name, "elo": elo, "low": low, "high": high, "games": games, "points": points })
    };
    json!({
        "players": standings.names(),
        "games": standings.len(),
        "pairings": standings.sheets().iter().map(pairing_json).collect::<Vec<_>>(),
        "ratings": standings.order().into_iter().map(rating).collect::<Vec<_>>(),
    })
}

fn pairing_json(sheets: &Sheets) -> Value {
    let tally = sheets.tally();
    let estimate = |it: Estimate| json!({ "value": it.value, "low": it.low, "high": it.high });
    let side = |side: Tally| json!({ "won": side.wins, "drawn": side.draws, "lost": side.losses });
    let faults = |player: usize| -> Value {
        FAULTS
            .map(|(fault, _)| (fault.to_string(), sheets.faults(player, fault).into()))
            .into_iter()
            .collect::<serde_json::Map<String, Value>>()
            .into()
    };
    json!({
        "players": sheets.players(),
        "games": sheets.len(),
        "counted": side(tally.games()),
        "as_black": side(sheets.side(Color::Black)),
        "as_white": side(sheets.side(Color::White)),
        "pairs_by_half_points": tally.pairs(),
        "score": tally.strength().map(|it| estimate(it.score)),
        "elo": tally.strength().map(|it| estimate(it.elo)),
        "normalised_elo": tally.normalised().map(estimate),
        "sprt": sheets.test().map(|(sprt, ratio)| json!({
            "low": sprt.low,
            "high": sprt.high,
            "scale": scale_name(sprt.scale),
            "ratio": ratio,
            "bound": Sprt::bound(),
            "verdict": match sheets.verdict() {
                Verdict::Lower => "lower",
                Verdict::Open => "open",
                Verdict::Higher => "higher",
            },
        })),
        "faults": [faults(0), faults(1)],
        "reasons": sheets.reasons(),
    })
}
