//! The page itself: words, charts, games and the configuration, in one file.

use super::Told;
use super::chart::{Chart, Kind, Series, number};
use keiko_rules::Rules;
use keiko_trainer::ladder::ANCHORS;
use keiko_trainer::metrics::Line;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Games played so far: what lies along the bottom of every chart.
pub(super) const GAMES: &str = "replay/total_games";

/// Seconds of work that are better told in hours.
const LONG: f64 = 4.0 * 3600.0;

/// How games end, in the order of the chart, by the ends of their tags.
const ENDS: [(&str, &str); 11] = [
    ("mate", "mate"),
    ("proven", "proven by a search"),
    ("resignation", "resignation"),
    ("royal_captured", "king taken"),
    ("try", "king on the last rank"),
    ("declaration", "declaration"),
    ("stalemate", "no moves"),
    ("bare_royal", "bare king"),
    ("perpetual_check", "perpetual check"),
    ("repetition", "repetition"),
    ("ply_limit", "ply limit"),
];

/// The whole page. It is allowed to load nothing, from nowhere.
pub(super) fn html(told: &Told) -> String {
    let name = escape(&told.experiment.name);
    let game = escape(told.rules.name());
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\
         <title>{name}: a run of keiko</title>\n<style>\n{STYLE}</style></head>\n<body>\n\
         <header><h1>{name}</h1><p>A network that learns {game} by playing against itself, from \
         nothing but the rules.</p></header>\n<main>\n{}{}{}{}</main>\n\
         <footer>Made by keiko {}. This page needs nothing from outside.</footer>\n\
         <script type=\"application/json\" id=\"games\">{}</script>\n<script>\n{SCRIPT}</script>\n\
         </body></html>\n",
        at_a_glance(told),
        charts(&told.lines),
        games(told),
        machine(told) + &configuration(told),
        env!("CARGO_PKG_VERSION"),
        games_data(told),
    )
}

/// For text within elements and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            other => escaped.push(other),
        }
    }
    escaped
}

/// A tag's last value.
fn last(lines: &[Line], tag: &str) -> Option<f64> {
    lines.iter().rev().find_map(|line| *line.scalars.get(tag)?)
}

/// The figures one asks for first.
fn at_a_glance(told: &Told) -> String {
    let lines = &told.lines;
    let generations = lines.iter().filter(|line| line.scalars.contains_key(GAMES)).count();
    if generations == 0 {
        return "<section><p>The run has not completed its first generation yet: there is nothing \
                to show but its configuration.</p></section>\n"
            .to_owned();
    }
    let of = told.experiment.training.generations;
    let tile = |name: &str, value: String, more: String| {
        format!("<div class=\"tile\"><b>{value}</b><span>{name}</span><small>{more}</small></div>")
    };
    let mut tiles = String::new();
    let by = if last(lines, "ladder/elo").is_some() { "ladder" } else { "arena" };
    let elo = ["elo", "elo_low", "elo_high"].map(|name| last(lines, &format!("{by}/{name}")));
    if let [Some(elo), Some(low), Some(high)] = elo {
        let interval = format!("95% within {low:+.0} to {high:+.0}");
        tiles += &tile("Elo above the untrained network", format!("{elo:+.0}"), interval);
    }
    if let Some(score) = last(lines, "arena/random_score") {
        tiles +=
            &tile("against uniform random play", format!("{:.1}%", 100.0 * score), String::new());
    }
    tiles += &tile("generations", format!("{generations} of {of}"), String::new());
    let positions = last(lines, "replay/total_positions").unwrap_or(0.0);
    let learned_from = format!("{} positions to learn from", figures(positions));
    tiles += &tile("games", figures(told.games as f64), learned_from);
    let step = lines.last().map_or(0, |line| line.step);
    tiles += &tile("learner steps", number(step as f64), String::new());
    tiles += &tile("of work", duration(seconds_of_work(lines)), speed(lines));
    let at = lines.last().map_or(0.0, |line| line.wall_time);
    format!(
        "<section><div class=\"tiles\">{tiles}</div>\
         <p class=\"quiet\">As of <time data-seconds=\"{at}\">the last generation</time>.</p></section>\n"
    )
}

/// A large number by its first three figures.
fn figures(value: f64) -> String {
    let digits = if value < 1e4 { 0 } else { value.log10().floor() as i32 - 2 };
    let unit = 10f64.powi(digits);
    number((value / unit).round() * unit)
}

/// What all generations took; the time the run stood still is not counted.
fn seconds_of_work(lines: &[Line]) -> f64 {
    lines.iter().map(seconds_of).sum()
}

fn seconds_of(line: &Line) -> f64 {
    let parts = ["playing", "learning", "measuring"].map(|part| format!("system/seconds_{part}"));
    parts.iter().filter_map(|part| line.scalars.get(part).copied().flatten()).sum()
}

fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 120.0 => format!("{short:.0} s"),
        minutes if minutes < 7200.0 => format!("{:.0} min", minutes / 60.0),
        hours if hours < 172_800.0 => format!("{:.1} h", hours / 3600.0),
        days => format!("{:.1} days", days / 86_400.0),
    }
}

fn speed(lines: &[Line]) -> String {
    last(lines, "system/games_per_second").map_or(String::new(), |rate| {
        format!("{} games an hour of playing", figures(3600.0 * rate))
    })
}

fn charts(lines: &[Line]) -> String {
    let one = |name: &str, tag: &str| Series {
        name: name.to_owned(),
        points: points(lines, tag),
        band: None,
    };
    let chart = |title, meaning, kind, series| Chart { title, meaning, kind, series }.html();
    let strength = ladder_chart(lines).html()
        + &elo_chart(lines)
        + &chart(
            "Score against uniform random play",
            "A player of random legal moves is soon too weak to measure by; at the beginning it shows whether anything is learned.",
            Kind::FromZero,
            vec![one("score", "arena/random_score")],
        );
    let learning = [
        chart(
            "Policy loss",
            "How far the network's moves are from the search's. The held-out games are never learned from: where their curve rises and the other falls, the network learns by heart.",
            Kind::Lines,
            vec![
                one("games learned from", "loss/policy"),
                one("held-out games", "loss_holdout/policy"),
            ],
        ),
        chart(
            "Value loss",
            "How far the network's chances are from how the games ended.",
            Kind::Lines,
            vec![
                one("games learned from", "loss/value"),
                one("held-out games", "loss_holdout/value"),
            ],
        ),
        chart(
            "Right guesses on held-out games",
            "How often the network's first move is the search's, and its likeliest result the game's.",
            Kind::FromZero,
            vec![
                one("move", "loss_holdout/policy_accuracy"),
                one("result", "loss_holdout/value_accuracy"),
            ],
        ),
    ];
    let selfplay = [
        ends_chart(lines),
        chart(
            "Length of games",
            "In plies, on average.",
            Kind::FromZero,
            vec![one("plies", "selfplay/length")],
        ),
        chart(
            "First player's score",
            "1: who moves first wins every game; 0.5: neither side is better off.",
            Kind::FromZero,
            vec![
                one("all games", "selfplay/first_player_score"),
                one("from the normal start", "selfplay/first_player_score_normal"),
            ],
        ),
        chart(
            "Openness of the policy",
            "The entropy of the search's moves and how much the search changed the network's mind, in nats. Both at 0: nothing new is tried or found.",
            Kind::FromZero,
            vec![one("entropy", "selfplay/policy_entropy"), one("surprise", "selfplay/surprise")],
        ),
    ];
    section("How strong it is", "", &strength)
        + &section("What it learns", "", &learning.concat())
        + &section("How it plays", "", &selfplay.concat())
}

fn machine(told: &Told) -> String {
    let lines = &told.lines;
    let machine = &told.experiment.machine;
    let workers = if machine.workers == 1 { "worker" } else { "workers" };
    let who = format!("{} {workers} on {}. ", machine.workers, machine.device);
    let chart = |title, meaning, name: &str, tag: &str| {
        let series = vec![Series { name: name.to_owned(), points: points(lines, tag), band: None }];
        Chart { title, meaning, kind: Kind::FromZero, series }.html()
    };
    let charts = [
        chart(
            "Games a second of playing",
            "They become longer and shorter, so evaluations are the steadier measure.",
            "games",
            "system/games_per_second",
        ),
        chart(
            "Evaluations a second of playing",
            "Positions that the network judged.",
            "evaluations",
            "system/evaluations_per_second",
        ),
        chart("Busy cores", "1: all cores had work all the time.", "share", "system/busy_share"),
        chart("Memory", "MiB held by the program.", "MiB", "system/memory_mib"),
    ];
    section("The machine", &who, &charts.concat())
}

fn section(title: &str, words: &str, charts: &str) -> String {
    match charts {
        "" => String::new(),
        charts => format!(
            "<section><h2>{title}</h2><p class=\"quiet\">{words}Along the bottom: games played.</p>\
             <div class=\"charts\">{charts}</div></section>\n"
        ),
    }
}

fn value(line: &Line, tag: &str) -> Option<f64> {
    line.scalars.get(tag).copied().flatten()
}

/// A tag's values by games played.
fn points(lines: &[Line], tag: &str) -> Vec<(f64, f64)> {
    lines.iter().filter_map(|line| Some((value(line, GAMES)?, value(line, tag)?))).collect()
}

/// The ratings by time of work, as a picture of its own; none where there are no ratings yet.
pub(super) fn elo_picture(lines: &[Line]) -> Option<String> {
    let (title, unit) = match seconds_of_work(lines) {
        long if long > LONG => ("Elo above the untrained network, by hours of work", 3600.0),
        _ => ("Elo above the untrained network, by minutes of work", 60.0),
    };
    // Curves go by what lines say of games: here that is time.
    let mut seconds = 0.0;
    let mut timed = lines.to_vec();
    for line in &mut timed {
        seconds += seconds_of(line);
        line.scalars.insert(GAMES.to_owned(), Some(seconds / unit));
    }
    Chart { title, ..ladder_chart(&timed) }.picture()
}

fn elo_chart(lines: &[Line]) -> String {
    Chart {
        title: "Elo by a chain of matches",
        meaning: "Above the untrained network, by matches against networks of some generations before, whose errors add up; with the 95% interval.",
        kind: Kind::Lines,
        series: vec![with_band(lines, "Elo", "arena/elo")],
    }
    .html()
}

fn ladder_chart(lines: &[Line]) -> Chart {
    let anchors = ANCHORS.iter().map(|anchor| Series {
        name: anchor.to_string(),
        points: points(lines, &format!("ladder/{}", anchor.to_string().replace(':', "_"))),
        band: None,
    });
    Chart {
        title: "Elo",
        meaning: "Above the untrained network, by all games of the run's networks and of fixed players together; with the 95% interval. material:N looks N plies ahead for captures.",
        kind: Kind::Lines,
        series: std::iter::once(with_band(lines, "network", "ladder/elo")).chain(anchors).collect(),
    }
}

/// A tag's curve, with its interval where all of it is there.
fn with_band(lines: &[Line], name: &str, tag: &str) -> Series {
    let ends = ["low", "high"].map(|end| points(lines, &format!("{tag}_{end}")));
    let band: Vec<_> = ends[0].iter().zip(&ends[1]).map(|(low, high)| (low.1, high.1)).collect();
    let points = points(lines, tag);
    let band = (band.len() == points.len()).then_some(band);
    Series { name: name.to_owned(), points, band }
}

fn ends_chart(lines: &[Line]) -> String {
    let named = ENDS.map(|(tag, name)| Series {
        name: name.to_owned(),
        points: points(lines, &format!("selfplay/ends_{tag}")),
        band: None,
    });
    let occurs = |series: &Series| series.points.iter().any(|point| point.1 > 0.0);
    Chart {
        title: "How games end",
        meaning: "Shares of all games. Many at the ply limit, or by repetition: games that teach little.",
        kind: Kind::Stacked,
        series: named.into_iter().filter(occurs).collect(),
    }
    .html()
}

/// The place for the board; the script fills it.
fn games(told: &Told) -> String {
    if told.samples.is_empty() {
        return String::new();
    }
    "<section><h2>Games</h2><p class=\"quiet\">Self-play games from the first to the newest. They \
     try things out, so not every move is the best one known. Arrows: where a full search wanted \
     to go, before the move was chosen; cheap searches have none. The arrow keys play too.</p>\
     <div class=\"viewer\" tabindex=\"0\"><noscript>The board needs JavaScript.</noscript></div>\
     </section>\n"
        .to_owned()
}

fn games_data(told: &Told) -> String {
    let rules = &*told.rules;
    let names: std::collections::BTreeMap<&str, &str> =
        rules.roles().map(|role| (rules.role_name(role), rules.kanji(role))).collect();
    let data = serde_json::json!({
        "files": rules.files(), "ranks": rules.ranks(), "names": names, "samples": told.samples,
    });
    // Nothing in it may end the script element.
    data.to_string().replace('<', "\\u003c")
}

fn configuration(told: &Told) -> String {
    format!(
        "<section><h2>Configuration</h2><details><summary>The experiment</summary><pre>{}</pre>\
         </details><details><summary>The game</summary><pre>{}</pre></details></section>\n",
        escape(&told.experiment.to_toml()),
        escape(&described(&told.rules)),
    )
}

fn described(rules: &Rules) -> String {
    format!("{}\n\n{}", rules.describe().trim_end(), rules.source().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_an_element_early() {
        assert_eq!(escape("</pre> & \"x\""), "&lt;/pre&gt; &amp; &quot;x&quot;");
    }

    #[test]
    fn large_numbers_have_three_figures() {
        let shown = [0.0, 9999.0, 37_376.0, 333_240.0, 1_234_567.0].map(figures);
        assert_eq!(shown, ["0", "9999", "37.4k", "333k", "1.23M"]);
    }

    #[test]
    fn durations_have_their_unit() {
        let shown = [59.0, 600.0, 36_000.0, 259_200.0].map(duration);
        assert_eq!(shown, ["59 s", "10 min", "10.0 h", "3.0 days"]);
    }
}
