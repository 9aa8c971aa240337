//! Why an outside engine cannot be used, in words for people.

/// Why an engine cannot be used. Each message begins with the engine's command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExternalError {
    /// The command is empty or a quote in it is not closed.
    #[error("engine command {command:?}: {reason}")]
    Command {
        /// The command as given.
        command: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The program cannot be started.
    #[error("engine {engine:?} cannot be started: {source}{}", hint(.source))]
    Start {
        /// The program.
        engine: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// It did not answer in time.
    #[error("engine {engine:?} did not answer {question:?} within {seconds} s{}", said(.output))]
    Timeout {
        /// The program.
        engine: String,
        /// The command it left unanswered.
        question: String,
        /// How long was waited.
        seconds: f64,
        /// The last lines it wrote.
        output: Vec<String>,
    },
    /// It ended on its own.
    #[error("engine {engine:?} has ended ({status}) after {question:?}{}", said(.output))]
    Ended {
        /// The program.
        engine: String,
        /// The command before its end.
        question: String,
        /// How it ended.
        status: String,
        /// The last lines it wrote.
        output: Vec<String>,
    },
    /// It does not play the game.
    #[error(
        "engine {engine:?} does not offer the game {game:?} in its option {option}{}; it offers: \
         {}. If it has another name for the game, set {option}=NAME",
        meant, .offered.join(" ")
    )]
    Variant {
        /// The program.
        engine: String,
        /// The option that chooses the game.
        option: String,
        /// The game's name.
        game: String,
        /// What is probably meant, in words; empty where nothing is.
        meant: String,
        /// Every name offered.
        offered: Vec<String>,
    },
    /// It has no such option.
    #[error(
        "engine {engine:?} has no option {name:?}{}; it has: {}",
        suggestion(.nearest), .known.join(", ")
    )]
    UnknownOption {
        /// The program.
        engine: String,
        /// The option asked for.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// The names of its options.
        known: Vec<String>,
    },
    /// An option does not take the value.
    #[error("engine {engine:?}, option {name}: {value:?} is not {allowed}")]
    OptionValue {
        /// The program.
        engine: String,
        /// The option.
        name: String,
        /// The value asked for.
        value: String,
        /// What it takes.
        allowed: String,
    },
    /// It cannot be asked for what is wanted.
    #[error("engine {engine:?} {reason}")]
    Unable {
        /// The program.
        engine: String,
        /// What it cannot do, and what to do about it.
        reason: String,
    },
    /// It refused an option it was offered.
    #[error("engine {engine:?} refused an option: {reply}")]
    Refused {
        /// The program.
        engine: String,
        /// Its words.
        reply: String,
    },
    /// It wrote something that is no answer.
    #[error("engine {engine:?} answered {reply:?} to {question:?}")]
    Nonsense {
        /// The program.
        engine: String,
        /// What it was asked.
        question: String,
        /// What it said.
        reply: String,
    },
}

fn hint(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::NotFound => " (give its full path, or add its folder to PATH)",
        _ => "",
    }
}

pub(super) fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean {name:?}?)"))
}

fn said(output: &[String]) -> String {
    match output {
        [] => "; it wrote nothing".to_owned(),
        lines => format!("; its last output:\n  {}", lines.join("\n  ")),
    }
}
