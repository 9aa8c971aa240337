//! Standard input line by line, read in the background so that a search can look at it.

use std::collections::VecDeque;
use std::io::{BufRead, ErrorKind};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Instant;

/// Longest line that is taken. A game of a thousand moves is a fifth of it.
const LONGEST_LINE: usize = 1 << 16;

/// A line, and when it came.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The line without white space around it; too long a one is cut to nothing.
    pub(crate) text: String,
    /// When it was read.
    pub(crate) at: Instant,
    /// Whether it was longer than any command is.
    pub(crate) is_too_long: bool,
}

/// The lines that came and were not taken yet.
pub(crate) struct Input {
    lines: Receiver<Line>,
    /// What came during a search and has to wait for its end.
    waiting: VecDeque<Line>,
}

impl Input {
    /// Begins to read standard input.
    pub(crate) fn open() -> Input {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut input = std::io::stdin().lock();
            while let Some(line) = read_line(&mut input) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Input { lines, waiting: VecDeque::new() }
    }

    /// The next line; `None` at the end of the input.
    pub(crate) fn next(&mut self) -> Option<Line> {
        self.waiting.pop_front().or_else(|| self.lines.recv().ok())
    }

    /// A line that has just come, if one has; an error at the end of the input. What waits is not
    /// looked at.
    pub(crate) fn arrived(&mut self) -> Result<Option<Line>, Closed> {
        match self.lines.try_recv() {
            Ok(line) => Ok(Some(line)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Closed),
        }
    }

    /// Waits for a line to arrive.
    pub(crate) fn arrival(&mut self) -> Result<Line, Closed> {
        self.lines.recv().map_err(|_| Closed)
    }

    /// Keeps a line for after the search, behind those that wait.
    pub(crate) fn keep(&mut self, line: Line) {
        self.waiting.push_back(line);
    }

    /// Takes the first line that waits if it is such a one; whether it was.
    pub(crate) fn take_if(&mut self, is_wanted: impl Fn(&Line) -> bool) -> bool {
        let found = self.waiting.front().is_some_and(is_wanted);
        if found {
            self.waiting.pop_front();
        }
        found
    }

    /// Whether such a line waits for the end of the search.
    pub(crate) fn has_waiting(&self, is_wanted: impl Fn(&Line) -> bool) -> bool {
        self.waiting.iter().any(is_wanted)
    }

    /// Whether lines wait for the end of the search.
    pub(crate) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }
}

/// The input is at its end.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Closed;

/// Reads a line of whatever bytes; `None` at the end.
fn read_line(input: &mut impl BufRead) -> Option<Line> {
    let (mut bytes, mut is_too_long, mut is_empty) = (Vec::new(), false, true);
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        if buffer.is_empty() && is_empty {
            return None;
        }
        is_empty = false;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let used = end.unwrap_or(buffer.len());
        is_too_long |= bytes.len() + used > LONGEST_LINE;
        if is_too_long {
            bytes.clear();
        } else {
            bytes.extend_from_slice(&buffer[..used]);
        }
        let is_last = end.is_some() || buffer.is_empty();
        input.consume(used + usize::from(end.is_some()));
        if is_last {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            return Some(Line { text, at: Instant::now(), is_too_long });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whatever_they_are_made_of() {
        let long = "x".repeat(LONGEST_LINE + 1);
        let text = format!("usi\r\n\n  go  \n{long}\nlast\u{0}");
        let mut bytes = text.into_bytes();
        bytes.extend([0xff, b'\n', b'h', b'a', b'l', b'f']);
        let mut input = &bytes[..];
        let lines: Vec<Line> = std::iter::from_fn(|| read_line(&mut input)).collect();
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["usi", "", "go", "", "last\u{0}\u{fffd}", "half"]);
        assert!(lines[3].is_too_long && !lines[2].is_too_long);
    }
}
