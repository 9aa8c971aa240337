//! Numbers that change as a run goes on.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A number that changes with a count (of steps, of generations): straight lines between points,
/// constant before the first and after the last. Written `[[0, 32], [400, 128]]`, or `32` where it
/// never changes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Schedule {
    /// At least one, the counts rising.
    points: Vec<(u64, f32)>,
}

/// As people write it.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, or points like [[0, 32], [400, 128]]")]
enum Written {
    Constant(Number),
    Points(Vec<(u64, Number)>),
}

/// A number that keeps its looks: 32 does not become 32.0.
#[derive(Copy, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Whole(u32),
    Real(f32),
}

impl Schedule {
    /// The same number always.
    pub fn constant(value: f32) -> Schedule {
        Schedule { points: vec![(0, value)] }
    }

    /// The value at a count.
    pub fn at(&self, count: u64) -> f32 {
        let after = self.points.partition_point(|&(at, _)| at <= count);
        let before = after.checked_sub(1).map(|i| self.points[i]);
        match (before, self.points.get(after)) {
            (Some((_, value)), None) | (None, Some(&(_, value))) => value,
            (Some((from, low)), Some(&(to, high))) => {
                low + (high - low) * ((count - from) as f32 / (to - from) as f32)
            }
            (None, None) => unreachable!("a schedule has a point"),
        }
    }

    /// The same values, at counts so many times as large.
    pub fn stretched(&self, times: f64) -> Schedule {
        // Rounded to whole ones, far fewer than a float holds exactly.
        let point = |&(at, value): &(u64, f32)| ((at as f64 * times).round() as u64, value);
        Schedule { points: self.points.iter().map(point).collect() }
    }

    /// The values at its points: between the least and the greatest of them are all others.
    pub fn values(&self) -> impl Iterator<Item = f32> {
        self.points.iter().map(|&(_, value)| value)
    }
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let [(0, value)] = self.points[..] {
            return write!(f, "{value}");
        }
        let points: Vec<String> =
            self.points.iter().map(|(at, value)| format!("[{at}, {value}]")).collect();
        write!(f, "[{}]", points.join(", "))
    }
}

impl JsonSchema for Schedule {
    fn schema_name() -> Cow<'static, str> {
        "Schedule".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "number" },
                {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "array",
                        "items": [{ "type": "integer", "minimum": 0 }, { "type": "number" }],
                        "minItems": 2,
                        "maxItems": 2
                    }
                }
            ]
        })
    }
}

impl TryFrom<Written> for Schedule {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Schedule, &'static str> {
        let points: Vec<(u64, f32)> = match written {
            Written::Constant(number) => return Ok(Schedule::constant(number.value())),
            Written::Points(points) => {
                points.into_iter().map(|(at, number)| (at, number.value())).collect()
            }
        };
        if points.is_empty() {
            return Err("a schedule needs a point, like [[0, 32]]");
        }
        if !points.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("a schedule's points must rise: [[0, 32], [400, 128]]");
        }
        Ok(Schedule { points })
    }
}

impl From<Schedule> for Written {
    fn from(schedule: Schedule) -> Written {
        match schedule.points[..] {
            [(0, value)] => Written::Constant(Number::of(value)),
            _ => {
                let points = schedule.points.into_iter();
                Written::Points(points.map(|(at, value)| (at, Number::of(value))).collect())
            }
        }
    }
}

impl Number {
    fn of(value: f32) -> Number {
        let whole = value as u32;
        if whole as f32 == value { Number::Whole(whole) } else { Number::Real(value) }
    }

    fn value(self) -> f32 {
        match self {
            Number::Whole(value) => value as f32,
            Number::Real(value) => value,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Schedule, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn straight_lines_run_between_points_and_constants_beyond() {
        let schedule = read("[[10, 32], [20, 128], [40, 0.5]]").unwrap();
        for (count, value) in
            [(0, 32.0), (10, 32.0), (15, 80.0), (20, 128.0), (30, 64.25), (40, 0.5), (99, 0.5)]
        {
            assert_eq!(schedule.at(count), value, "{count}");
        }
        for (count, value) in [(25, 32.0), (50, 128.0), (75, 64.25)] {
            assert_eq!(schedule.stretched(2.5).at(count), value, "{count}");
        }
        assert_eq!(read("8").unwrap().at(1000), 8.0);
        assert_eq!(read("[[7, 8]]").unwrap().at(0), 8.0);
    }

    #[test]
    fn it_is_written_as_it_was_read_and_refused_where_it_means_nothing() {
        for text in ["32", "0.001", "[[0,0.0001],[100,0.001]]", "[[0,32],[400,128]]", "[[5,1]]"] {
            let schedule = read(text).unwrap();
            assert_eq!(serde_json::to_string(&schedule).unwrap(), text);
            assert_eq!(schedule.to_string().replace(", ", ","), text);
        }
        for (text, words) in [
            ("[]", "needs a point"),
            ("[[5, 1], [5, 2]]", "must rise"),
            ("\"many\"", "expected a number, or points"),
            ("[[0.5, 1]]", "expected a number, or points"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }
}
