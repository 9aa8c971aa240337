//! Pictures for dashboards: a board with a policy drawn on it, and the curve of a game's values.
//! The same pixels on every machine: letters come from a font of bitmaps, not from the system.

mod board;
mod canvas;
mod curve;

pub use board::{Shown, policy_on_board};
pub use canvas::Picture;
pub use curve::value_curve;

/// Width of every picture, in pixels: TensorBoard shows pictures so wide. It stretches others
/// without smoothing, which makes letters of one pixel's width unreadable.
const WIDTH: i32 = 350;

#[cfg(test)]
mod tests;
