//! TensorBoard's events as bytes. Uses only the record framing and the event types of
//! tensorboard-rs; its own file writer panics on a full disk and buffers nothing.

use super::MetricsError;
use crate::pictures::Picture;
use protobuf::Message;
use tensorboard_proto::event::{Event, SessionLog, SessionLog_SessionStatus};
use tensorboard_proto::layout::{Category, Chart as ChartProto, Layout, MarginChartContent_Series};
use tensorboard_proto::summary::{HistogramProto, Summary, Summary_Image, Summary_Value};
use tensorboard_proto::tensor::TensorProto;
use tensorboard_proto::tensor_shape::TensorShapeProto_Dim;
use tensorboard_proto::types::DataType;
use tensorboard_rs::record_writer::RecordWriter;

/// The tag under which TensorBoard looks for the layout of custom scalars.
pub(super) const LAYOUT_TAG: &str = "custom_scalars__config__";

/// TensorBoard's number for pictures of red, green and blue.
const RGB: i32 = 3;

/// Buckets of a histogram.
const BUCKETS: usize = 30;

/// A chart of TensorBoard's custom scalars.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Chart<'a> {
    /// A line for each tag.
    Lines {
        /// The chart's title.
        title: &'a str,
        /// Tags, as regular expressions of whole tags.
        tags: &'a [&'a str],
    },
    /// A line with a band around it: the tag, and the same with `_low` and with `_high`.
    Band {
        /// The chart's title.
        title: &'a str,
        /// The tag.
        tag: &'a str,
    },
}

impl Chart<'_> {
    fn to_proto(self) -> ChartProto {
        let mut proto = ChartProto::new();
        match self {
            Chart::Lines { title, tags } => {
                proto.set_title(title.to_owned());
                // Else every tag that begins so would match.
                let whole = tags.iter().map(|tag| format!("{tag}$"));
                proto.mut_multiline().mut_tag().extend(whole);
            }
            Chart::Band { title, tag } => {
                proto.set_title(title.to_owned());
                let mut series = MarginChartContent_Series::new();
                series.set_value(tag.to_owned());
                series.set_lower(format!("{tag}_low"));
                series.set_upper(format!("{tag}_high"));
                proto.mut_margin().mut_series().push(series);
            }
        }
        proto
    }
}

/// A value of a tag at a step.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Scalar(f64),
    Text(String),
    Histogram(Histogram),
    Image(Picture),
    Layout(Vec<u8>),
    /// The experiment's settings as TensorBoard's plugin for them wants them.
    Settings(Vec<u8>),
}

impl Value {
    /// The number, if it is one; within, `None` if it is not finite.
    pub(super) fn scalar(&self) -> Option<Option<f64>> {
        match self {
            Value::Scalar(value) => Some(value.is_finite().then_some(*value)),
            _ => None,
        }
    }
}

/// A distribution of values. Those that are not finite are not counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Histogram {
    min: f64,
    max: f64,
    count: f64,
    sum: f64,
    sum_of_squares: f64,
    /// Upper ends of the buckets.
    limits: Vec<f64>,
    counts: Vec<f64>,
}

impl Histogram {
    /// Buckets of equal width from the smallest to the largest value.
    pub(super) fn of(values: &[f32]) -> Histogram {
        let values = || values.iter().copied().filter(|value| value.is_finite()).map(f64::from);
        let count = values().count() as f64;
        if count == 0.0 {
            return Histogram::default();
        }
        let min = values().fold(f64::INFINITY, f64::min);
        let max = values().fold(f64::NEG_INFINITY, f64::max);
        let width = if max > min { (max - min) / BUCKETS as f64 } else { 1.0 };
        let mut counts = vec![0.0; BUCKETS];
        for value in values() {
            counts[(((value - min) / width) as usize).min(BUCKETS - 1)] += 1.0;
        }
        let limits = (1..=BUCKETS).map(|bucket| min + width * bucket as f64).collect();
        let (sum, sum_of_squares) = (values().sum(), values().map(|value| value * value).sum());
        Histogram { min, max, count, sum, sum_of_squares, limits, counts }
    }

    fn to_proto(&self) -> HistogramProto {
        let mut proto = HistogramProto::new();
        proto.set_min(self.min);
        proto.set_max(self.max);
        proto.set_num(self.count);
        proto.set_sum(self.sum);
        proto.set_sum_squares(self.sum_of_squares);
        proto.set_bucket_limit(self.limits.clone());
        proto.set_bucket(self.counts.clone());
        proto
    }
}

/// The record every event file begins with.
pub(super) fn file_version(wall_time: f64) -> Result<Vec<u8>, MetricsError> {
    let mut event = Event::new();
    event.set_wall_time(wall_time);
    event.set_file_version("brain.Event:2".to_owned());
    record(&event)
}

/// The record that says: what was seen of this step and later ones is void.
pub(super) fn session_start(step: u64, wall_time: f64) -> Result<Vec<u8>, MetricsError> {
    let mut session = SessionLog::new();
    session.set_status(SessionLog_SessionStatus::START);
    let mut event = Event::new();
    event.set_wall_time(wall_time);
    event.set_step(step as i64);
    event.set_session_log(session);
    record(&event)
}

/// The record of the values of some tags at a step.
pub(super) fn summary<'a>(
    step: u64,
    wall_time: f64,
    values: impl Iterator<Item = (&'a str, &'a Value)>,
) -> Result<Vec<u8>, MetricsError> {
    let mut summary = Summary::new();
    for (tag, value) in values {
        summary.mut_value().push(summary_value(tag, value));
    }
    let mut event = Event::new();
    event.set_wall_time(wall_time);
    event.set_step(step as i64);
    event.set_summary(summary);
    record(&event)
}

fn summary_value(tag: &str, value: &Value) -> Summary_Value {
    let mut proto = Summary_Value::new();
    proto.set_tag(tag.to_owned());
    match value {
        Value::Scalar(value) => proto.set_simple_value(*value as f32),
        Value::Histogram(histogram) => proto.set_histo(histogram.to_proto()),
        Value::Text(text) => {
            set_plugin(&mut proto, "text");
            let mut dimension = TensorShapeProto_Dim::new();
            dimension.set_size(1);
            let mut tensor = string_tensor(text.clone().into_bytes());
            tensor.mut_tensor_shape().mut_dim().push(dimension);
            proto.set_tensor(tensor);
        }
        Value::Image(picture) => {
            let mut image = Summary_Image::new();
            image.set_width(picture.width as i32);
            image.set_height(picture.height as i32);
            image.set_colorspace(RGB);
            image.set_encoded_image_string(picture.png.clone());
            proto.set_image(image);
        }
        Value::Settings(settings) => {
            set_plugin(&mut proto, "hparams");
            proto.mut_metadata().mut_plugin_data().set_content(settings.clone());
        }
        Value::Layout(layout) => {
            set_plugin(&mut proto, "custom_scalars");
            proto.set_tensor(string_tensor(layout.clone()));
        }
    }
    proto
}

fn set_plugin(proto: &mut Summary_Value, name: &str) {
    proto.mut_metadata().mut_plugin_data().set_plugin_name(name.to_owned());
}

fn string_tensor(bytes: Vec<u8>) -> TensorProto {
    let mut tensor = TensorProto::new();
    tensor.set_dtype(DataType::DT_STRING);
    tensor.mut_string_val().push(bytes);
    // An empty shape: a single value.
    tensor.mut_tensor_shape();
    tensor
}

/// The layout of custom scalars, as the bytes of its protocol buffer.
pub(super) fn layout(sections: &[(&str, &[Chart<'_>])]) -> Result<Vec<u8>, MetricsError> {
    let mut layout = Layout::new();
    for (title, charts) in sections {
        let mut category = Category::new();
        category.set_title((*title).to_owned());
        category.mut_chart().extend(charts.iter().map(|chart| chart.to_proto()));
        layout.mut_category().push(category);
    }
    encode(&layout)
}

pub(super) fn encode(message: &impl Message) -> Result<Vec<u8>, MetricsError> {
    message.write_to_bytes().map_err(|error| MetricsError::Encode(error.to_string()))
}

/// An event with the framing of a record.
fn record(event: &Event) -> Result<Vec<u8>, MetricsError> {
    let mut bytes = Vec::new();
    let written = RecordWriter::new(&mut bytes).write(&encode(event)?);
    written.map_err(|error| MetricsError::Encode(error.to_string()))?;
    Ok(bytes)
}
