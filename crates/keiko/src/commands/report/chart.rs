//! Charts as SVG inside the page, where a few lines of its script show values under the mouse, or as
//! pictures of their own.

use std::fmt::Write;

/// Points of a line at most: more than a screen's width can show is averaged.
const MOST_POINTS: usize = 400;

/// The picture and the place of the curves in it.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;

/// What a picture of its own has above the curves: a line for its title, one for the curves' names.
const HEADING: f64 = 44.0;
/// Space for a letter of a curve's name.
const LETTER: f64 = 7.0;
/// How a picture of its own looks; on paper of its own, since nobody knows what lies behind it.
const PICTURE: &str = include_str!("picture.css");

/// A curve: points (x, y), x going up.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// Lower and upper ends of an interval at each point, where there is one.
    pub(super) band: Option<Vec<(f64, f64)>>,
}

/// How the curves of a chart go together.
#[derive(Copy, Clone, Eq, PartialEq)]
pub(super) enum Kind {
    /// Each by itself, on an axis that fits them.
    Lines,
    /// Each by itself, on an axis that begins at 0.
    FromZero,
    /// Shares of a whole, one upon the other.
    Stacked,
}

/// A chart with its title, and what it shows in a sentence.
pub(super) struct Chart {
    pub(super) title: &'static str,
    pub(super) meaning: &'static str,
    pub(super) kind: Kind,
    pub(super) series: Vec<Series>,
}

/// An axis: from the first value to the last, and the values that are marked.
struct Axis {
    from: f64,
    to: f64,
    marks: Vec<f64>,
}

impl Axis {
    /// An axis over these values that ends at round ones.
    fn over(from: f64, to: f64, marks: f64) -> Axis {
        let span = if to > from { to - from } else { from.abs().max(1.0) };
        let rough = 10f64.powf((span / marks).log10().floor());
        let fits = |&step: &f64| span / step <= marks;
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * rough);
        let step = steps.into_iter().find(fits).unwrap_or(10.0 * rough);
        let (first, last) =
            ((from / step).floor(), (to / step).ceil().max((from / step).floor() + 1.0));
        let marks = (0..=(last - first) as u32).map(|mark| (first + f64::from(mark)) * step);
        Axis { from: first * step, to: last * step, marks: marks.collect() }
    }

    fn share(&self, value: f64) -> f64 {
        (value - self.from) / (self.to - self.from)
    }
}

impl Chart {
    /// The chart as a figure; nothing where there is nothing to draw.
    pub(super) fn html(mut self) -> String {
        let Some((svg, x)) = self.drawn() else {
            return String::new();
        };
        let named = self.series.iter().enumerate().filter(|_| self.series.len() > 1);
        let keys: String = named.map(key).collect();
        format!(
            "<figure class=\"chart\" data-chart=\"{}\"><figcaption><h3>{}</h3><p>{}</p>\
             <p class=\"keys\">{keys}</p></figcaption>\
             <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">{svg}</svg>\
             <output></output></figure>\n",
            super::page::escape(&self.data(&x)),
            self.title,
            self.meaning,
            self.title,
        )
    }

    /// The chart as a picture of its own; none where there is nothing to draw.
    pub(super) fn picture(mut self) -> Option<String> {
        let (svg, _) = self.drawn()?;
        let mut keys = String::new();
        let mut left = LEFT;
        for (index, series) in self.series.iter().enumerate() {
            let name = super::page::escape(&series.name);
            let _ = write!(
                keys,
                "<rect class=\"key s{index}\" x=\"{left}\" y=\"30\" width=\"10\" height=\"10\"/>\
                 <text x=\"{}\" y=\"39\">{name}</text>",
                left + 15.0
            );
            left += 30.0 + LETTER * series.name.chars().count() as f64;
        }
        let height = HEIGHT + HEADING;
        Some(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n\
             <style>\n{PICTURE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" \
             height=\"{height}\"/>\n<text class=\"title\" x=\"{LEFT}\" y=\"20\">{title}</text>\n\
             {keys}\n<g transform=\"translate(0 {HEADING})\">{svg}</g>\n</svg>\n",
            title = self.title,
        ))
    }

    /// What is drawn, and where x lies in it; none where there is nothing to draw.
    fn drawn(&mut self) -> Option<(String, Axis)> {
        self.series.retain(|series| !series.points.is_empty());
        if self.series.is_empty() {
            return None;
        }
        self.series.iter_mut().for_each(Series::thin);
        let (x, y) = self.axes();
        let mut svg = grid(&x, &y);
        match self.kind {
            Kind::Stacked => svg += &self.areas(&x, &y),
            _ => svg += &self.curves(&x, &y),
        }
        Some((svg, x))
    }

    fn axes(&self) -> (Axis, Axis) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bands = self.series.iter().flat_map(|series| series.band.iter().flatten());
        let ys = points().map(|point| point.1).chain(bands.flat_map(|&(low, high)| [low, high]));
        let (low, high) = range(ys);
        let y = match self.kind {
            Kind::Lines => Axis::over(low, high, 5.0),
            Kind::FromZero => Axis::over(0.0, high.max(0.0), 5.0),
            Kind::Stacked => Axis::over(0.0, 1.0, 5.0),
        };
        let (first, last) = range(points().map(|point| point.0));
        let mut x = Axis::over(first, last, 6.0);
        // Along the bottom the curves fill the whole width.
        (x.from, x.to) = (first, if last > first { last } else { first + 1.0 });
        x.marks.retain(|&mark| (x.from..=x.to).contains(&mark));
        (x, y)
    }

    fn curves(&self, x: &Axis, y: &Axis) -> String {
        let mut svg = String::new();
        for (index, series) in self.series.iter().enumerate() {
            if let Some(band) = &series.band {
                let place = |((at, _), value): (&(f64, f64), f64)| (*at, value);
                let upper = series.points.iter().zip(band.iter().map(|it| it.1)).map(place);
                let lower = series.points.iter().zip(band.iter().map(|it| it.0)).map(place);
                let around: Vec<_> = upper.chain(lower.rev()).collect();
                let _ =
                    write!(svg, "<path class=\"band s{index}\" d=\"{}Z\"/>", path(&around, x, y));
            }
            if let [(at, value)] = series.points[..] {
                let (cx, cy) = place(at, value, x, y);
                let _ = write!(
                    svg,
                    "<circle class=\"dot s{index}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\"/>"
                );
            }
            let line = path(&series.points, x, y);
            let _ = write!(svg, "<path class=\"line s{index}\" d=\"{line}\"/>");
        }
        svg
    }

    /// All series have the same points along the bottom.
    fn areas(&self, x: &Axis, y: &Axis) -> String {
        let mut svg = String::new();
        let mut floor: Vec<(f64, f64)> =
            self.series[0].points.iter().map(|&(at, _)| (at, 0.0)).collect();
        for (index, series) in self.series.iter().enumerate() {
            let roof: Vec<(f64, f64)> = floor
                .iter()
                .zip(&series.points)
                .map(|(low, point)| (low.0, low.1 + point.1))
                .collect();
            let around: Vec<_> = roof.iter().chain(floor.iter().rev()).copied().collect();
            let _ = write!(svg, "<path class=\"area s{index}\" d=\"{}Z\"/>", path(&around, x, y));
            floor = roof;
        }
        svg
    }

    /// What the script needs to tell values: the curves, and where x lies in the picture.
    fn data(&self, x: &Axis) -> String {
        let series: Vec<_> = self
            .series
            .iter()
            .map(|series| serde_json::json!({ "name": series.name, "points": rounded(&series.points) }))
            .collect();
        serde_json::json!({
            "from": x.from, "to": x.to,
            "left": LEFT / WIDTH, "right": (WIDTH - RIGHT) / WIDTH, "series": series,
        })
        .to_string()
    }
}

impl Series {
    /// Averages neighbouring points where there are too many.
    fn thin(&mut self) {
        let size = self.points.len().div_ceil(MOST_POINTS);
        self.points = self.points.chunks(size).map(mean).collect();
        self.band = self.band.take().map(|band| band.chunks(size).map(mean).collect());
    }
}

fn mean(pairs: &[(f64, f64)]) -> (f64, f64) {
    let sum = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    (sum.0 / pairs.len() as f64, sum.1 / pairs.len() as f64)
}

/// Four figures are all that a tooltip shows.
fn rounded(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let digits = |value: f64| format!("{value:.4e}").parse().unwrap_or(value);
    points.iter().map(|&(x, y)| (x.round(), digits(y))).collect()
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

fn place(at: f64, value: f64, x: &Axis, y: &Axis) -> (f64, f64) {
    (
        LEFT + x.share(at) * (WIDTH - LEFT - RIGHT),
        TOP + (1.0 - y.share(value)) * (HEIGHT - TOP - BOTTOM),
    )
}

fn path(points: &[(f64, f64)], x: &Axis, y: &Axis) -> String {
    let step = |(index, &(at, value)): (usize, &(f64, f64))| {
        let (px, py) = place(at, value, x, y);
        format!("{}{px:.1} {py:.1}", if index == 0 { 'M' } else { 'L' })
    };
    points.iter().enumerate().map(step).collect()
}

fn grid(x: &Axis, y: &Axis) -> String {
    let mut svg = String::new();
    for &mark in &y.marks {
        let (_, at) = place(x.from, mark, x, y);
        let end = WIDTH - RIGHT;
        let (label, text) = (LEFT - 6.0, number(mark));
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{end}\"/>\
             <text class=\"y\" x=\"{label}\" y=\"{:.1}\">{text}</text>",
            at + 4.0
        );
    }
    for &mark in &x.marks {
        let (at, _) = place(mark, y.from, x, y);
        let (label, text) = (HEIGHT - 8.0, number(mark));
        let _ = write!(svg, "<text class=\"x\" x=\"{at:.1}\" y=\"{label}\">{text}</text>");
    }
    svg
}

fn key((index, series): (usize, &Series)) -> String {
    format!("<span class=\"key s{index}\">{}</span>", super::page::escape(&series.name))
}

/// A number as short as it can be read: 1.5k, 2M, 0.25.
pub(super) fn number(value: f64) -> String {
    let short = |value: f64, unit: &str| {
        let text = format!("{value:.2}");
        format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
    };
    match value.abs() {
        size if size >= 1e9 => short(value / 1e9, "G"),
        size if size >= 1e6 => short(value / 1e6, "M"),
        size if size >= 1e4 => short(value / 1e3, "k"),
        size if size > 0.0 && size < 0.01 => format!("{value:.0e}"),
        _ => short(value, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_values_around_all_there_is() {
        for (low, high) in
            [(0.0, 1.0), (3.2, 3.3), (-40.0, 911.0), (5.0, 5.0), (0.0, 0.0), (-1e-5, 1e9)]
        {
            let axis = Axis::over(low, high, 5.0);
            assert!(axis.from <= low && axis.to >= high && axis.to > axis.from, "{low} {high}");
            assert!((2..=8).contains(&axis.marks.len()), "{low} {high}: {:?}", axis.marks);
            assert!((0.0..=1.0).contains(&axis.share(low)));
        }
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.25, 1200.0, 25_000.0, 1.5e6, 0.0001, -40.0].map(number);
        assert_eq!(shown, ["0", "0.25", "1200", "25k", "1.5M", "1e-4", "-40"]);
    }

    #[test]
    fn many_points_become_few_and_keep_their_mean() {
        let points: Vec<_> = (0..5000).map(|at| (f64::from(at), f64::from(at % 2))).collect();
        let mut series = Series { name: "a".into(), points, band: None };
        series.thin();
        assert!(series.points.len() <= MOST_POINTS);
        let mean =
            series.points.iter().map(|point| point.1).sum::<f64>() / series.points.len() as f64;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }

    #[test]
    fn a_chart_of_nothing_is_nothing() {
        let chart = Chart { title: "t", meaning: "m", kind: Kind::Lines, series: Vec::new() };
        assert_eq!(chart.html(), "");
        let chart = Chart { title: "t", meaning: "m", kind: Kind::Lines, series: Vec::new() };
        assert_eq!(chart.picture(), None);
    }
}
