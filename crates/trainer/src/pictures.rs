//! Pictures for dashboards: a board with a policy drawn on it, and the curve of a game's values.
//! The same pixels on every machine: letters come from a font of bitmaps, not from the system.

mod board;
mod canvas;
mod curve;

pub use board::policy_on_board;
pub use canvas::Picture;
pub use curve::value_curve;

#[cfg(test)]
mod tests;
