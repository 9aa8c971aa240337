//! A child process that is asked questions and answers in lines.

use super::{ExternalError, remaining};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Lines kept for error messages.
const KEPT_LINES: usize = 12;
/// How long a process that was told to quit may take before it is killed.
const FAREWELL: Duration = Duration::from_millis(300);

/// A child process. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Process {
    engine: String,
    child: Child,
    /// `None` once the process is told to end.
    input: Option<ChildStdin>,
    output: Receiver<Output>,
    /// The last lines it wrote, to either of its outputs.
    last: VecDeque<String>,
    /// The last command sent.
    asked: String,
}

/// A line the process wrote.
#[derive(Debug)]
enum Output {
    Answer(String),
    Complaint(String),
}

impl Process {
    /// Starts a program with its arguments.
    pub(super) fn spawn(command: &[String]) -> Result<Process, ExternalError> {
        let engine = command.join(" ");
        let Some((program, arguments)) = command.split_first() else {
            return Err(ExternalError::Command { command: engine, reason: "it is empty" });
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C on the terminal is for us; the engine ends when we let go of it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = command.spawn();
        let mut child =
            started.map_err(|source| ExternalError::Start { engine: engine.clone(), source })?;
        let (sender, output) = channel();
        if let Some(stdout) = child.stdout.take() {
            read_lines(stdout, sender.clone(), Output::Answer);
        }
        if let Some(stderr) = child.stderr.take() {
            read_lines(stderr, sender, Output::Complaint);
        }
        let input = child.stdin.take();
        let last = VecDeque::new();
        Ok(Process { engine, child, input, output, last, asked: String::new() })
    }

    /// The command it was started by.
    pub(super) fn engine(&self) -> &str {
        &self.engine
    }

    /// Sends a line.
    pub(super) fn send(&mut self, line: &str) -> Result<(), ExternalError> {
        line.clone_into(&mut self.asked);
        let sent = match &mut self.input {
            Some(input) => input.write_all(format!("{line}\n").as_bytes()).is_ok(),
            None => false,
        };
        if sent { Ok(()) } else { Err(self.ended()) }
    }

    /// Sends a line and returns what comes back, up to the line that is the answer.
    pub(super) fn ask(
        &mut self,
        question: &str,
        patience: Duration,
        is_answer: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, ExternalError> {
        self.send(question)?;
        let deadline = Instant::now() + patience;
        let mut lines = Vec::new();
        loop {
            match self.output.recv_timeout(remaining(deadline)) {
                Ok(Output::Complaint(line)) => self.keep(line),
                Ok(Output::Answer(line)) => {
                    self.keep(line.clone());
                    let is_last = is_answer(&line);
                    lines.push(line);
                    if is_last {
                        return Ok(lines);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(self.hung(patience)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    fn keep(&mut self, line: String) {
        if self.last.len() == KEPT_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The error of a process that does not answer. It is of no use any more: an answer that
    /// came later would be taken for that to another question.
    fn hung(&mut self, patience: Duration) -> ExternalError {
        self.input = None;
        drop(self.child.kill());
        ExternalError::Timeout {
            engine: self.engine.clone(),
            question: self.asked.clone(),
            seconds: patience.as_secs_f64(),
            output: self.last.iter().cloned().collect(),
        }
    }

    /// The error of a process that has ended.
    fn ended(&mut self) -> ExternalError {
        let status = match self.wait(FAREWELL) {
            Some(status) => status,
            None => "its output is closed".to_owned(),
        };
        let deadline = Instant::now() + FAREWELL;
        while let Ok(Output::Answer(line) | Output::Complaint(line)) =
            self.output.recv_timeout(remaining(deadline))
        {
            self.keep(line);
        }
        ExternalError::Ended {
            engine: self.engine.clone(),
            question: self.asked.clone(),
            status,
            output: self.last.iter().cloned().collect(),
        }
    }

    /// Waits a little for the process to end; how it did.
    fn wait(&mut self, patience: Duration) -> Option<String> {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status.to_string()),
                Ok(None) if remaining(deadline).is_zero() => return None,
                Ok(None) => thread::sleep(Duration::from_millis(5)),
                Err(error) => return Some(error.to_string()),
            }
        }
    }
}

impl Drop for Process {
    /// Asks the process to quit, then makes it.
    fn drop(&mut self) {
        if self.send("quit").is_ok() {
            self.input = None;
            self.wait(FAREWELL);
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Reads lines on a thread of its own, which ends with the stream.
fn read_lines(
    stream: impl Read + Send + 'static,
    sender: Sender<Output>,
    wrap: impl Fn(String) -> Output + Send + 'static,
) {
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if sender.send(wrap(text)).is_err() {
                return;
            }
        }
    });
}
