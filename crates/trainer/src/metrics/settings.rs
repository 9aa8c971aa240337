//! An experiment's settings for TensorBoard's table of runs (its hparams plugin).

use super::MetricsError;
use super::event::encode;
use protobuf::well_known_types::Value;
use std::collections::BTreeMap;
use tensorboard_proto::api::{DataType, HParamInfo, MetricInfo, Status};
use tensorboard_proto::plugin_hparams::HParamsPluginData;

/// The tag of what the table's columns are.
pub(super) const COLUMNS_TAG: &str = "_hparams_/experiment";
/// The tag of a run's own values.
pub(super) const VALUES_TAG: &str = "_hparams_/session_start_info";
/// The tag of how the run ended.
pub(super) const END_TAG: &str = "_hparams_/session_end_info";

/// The columns of the table: the settings by key, and the last values of some tags.
pub(super) fn columns(
    settings: &BTreeMap<String, String>,
    results: &[&str],
) -> Result<Vec<u8>, MetricsError> {
    let mut data = HParamsPluginData::new();
    for (key, text) in settings {
        let mut info = HParamInfo::new();
        info.set_name(key.clone());
        info.set_field_type(value_of(text).0);
        data.mut_experiment().mut_hparam_infos().push(info);
    }
    for &tag in results {
        let mut info = MetricInfo::new();
        info.mut_name().set_tag(tag.to_owned());
        data.mut_experiment().mut_metric_infos().push(info);
    }
    encode(&data)
}

/// A run's row of the table.
pub(super) fn values(settings: &BTreeMap<String, String>) -> Result<Vec<u8>, MetricsError> {
    let mut data = HParamsPluginData::new();
    let start = data.mut_session_start_info();
    for (key, text) in settings {
        start.mut_hparams().insert(key.clone(), value_of(text).1);
    }
    encode(&data)
}

/// The end of a run that is complete.
pub(super) fn success() -> Result<Vec<u8>, MetricsError> {
    let mut data = HParamsPluginData::new();
    data.mut_session_end_info().set_status(Status::STATUS_SUCCESS);
    encode(&data)
}

/// A TOML value as the plugin knows it: what is neither a number nor a truth is a text.
fn value_of(text: &str) -> (DataType, Value) {
    let mut value = Value::new();
    let kind = match (text.parse::<f64>(), text.parse::<bool>()) {
        (Ok(number), _) => {
            value.set_number_value(number);
            DataType::DATA_TYPE_FLOAT64
        }
        (_, Ok(truth)) => {
            value.set_bool_value(truth);
            DataType::DATA_TYPE_BOOL
        }
        _ => {
            value.set_string_value(text.trim_matches('"').to_owned());
            DataType::DATA_TYPE_STRING
        }
    };
    (kind, value)
}
