//! Panics as errors: a run ends with what was said, and with what is whole saved.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a thread said when it panicked.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{who} panicked: {message}")]
pub struct Panic {
    who: &'static str,
    message: String,
}

/// Does something that may panic, and says who did then. What it left half done is the caller's
/// to throw away.
pub(crate) fn caught<T>(who: &'static str, act: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|payload| Panic { who, message: text(&*payload) })
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let owned = payload.downcast_ref::<String>().map(String::as_str);
    text.or(owned).unwrap_or("it said nothing").to_owned()
}
