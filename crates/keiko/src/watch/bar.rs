//! A line on a terminal that is drawn over and over: a bar, and words beside it.

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io;

/// Columns left free at the right. indicatif fills a line to its end, where the `^C` that a
/// terminal echoes would begin another, and the old line would never be cleared.
const FREE: u16 = 3;
/// Cells of the bar.
const CELLS: usize = 8;
/// How often it is drawn in a second at most.
const A_SECOND: u8 = 20;

/// The line on standard error, where that is a terminal.
pub(super) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Nothing is drawn yet.
    pub(super) fn new() -> Bar {
        let term = Box::new(Narrow(Term::stderr()));
        let target = ProgressDrawTarget::term_like_with_hz(term, A_SECOND);
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template(&format!("{{bar:{CELLS}}} {{wide_msg}}"));
        bar.set_style(style.expect("the template is well formed"));
        Bar { bar }
    }

    /// Draws it over what stands there, unless that was a moment ago, with as many of the words,
    /// between commas, as have room.
    pub(super) fn draw(&self, done: u64, of: u64, words: &str) {
        let room = usize::from(Narrow(Term::stderr()).width()).saturating_sub(CELLS + 1);
        self.bar.set_length(of);
        self.bar.set_position(done);
        self.bar.set_message(fitting(words, room).to_owned());
    }

    /// Removes it while something else is written.
    pub(super) fn suspend(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Removes it.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// As much as has room, up to a comma: half a number would be another one.
fn fitting(words: &str, room: usize) -> &str {
    let ends = words.match_indices(", ").map(|(end, _)| end).chain([words.len()]);
    ends.filter(|&end| words[..end].chars().count() <= room).last().map_or("", |end| &words[..end])
}

/// A terminal that is less wide than it is.
#[derive(Debug)]
struct Narrow(Term);

impl TermLike for Narrow {
    fn width(&self) -> u16 {
        TermLike::width(&self.0).saturating_sub(FREE).max(1)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        TermLike::move_cursor_up(&self.0, lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        TermLike::move_cursor_down(&self.0, lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        TermLike::move_cursor_right(&self.0, columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        TermLike::move_cursor_left(&self.0, columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        TermLike::write_line(&self.0, text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        TermLike::write_str(&self.0, text)
    }

    fn clear_line(&self) -> io::Result<()> {
        TermLike::clear_line(&self.0)
    }

    fn flush(&self) -> io::Result<()> {
        TermLike::flush(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_cut() {
        let words = "generation 3 plays 79/100, 0:00:01 left, Elo 1352";
        assert_eq!(fitting(words, 49), words);
        assert_eq!(fitting(words, 48), "generation 3 plays 79/100, 0:00:01 left");
        assert_eq!(fitting(words, 25), "generation 3 plays 79/100");
        assert_eq!(fitting(words, 24), "");
    }

    #[test]
    fn a_line_never_fills_its_terminal() {
        let term = Term::stderr();
        assert!(Narrow(term.clone()).width() < TermLike::width(&term));
    }
}
