//! An outside engine that speaks XBoard's protocol, version 2.

use super::process::Process;
use super::{EngineSpec, ExternalError, HANDSHAKE, Limit, Reply};
use keiko_rules::{Game, Move};
use std::time::Duration;

/// A running engine of XBoard's protocol, between its moves always in force mode. It is ended when
/// this is dropped.
#[derive(Debug)]
pub(crate) struct XBoardEngine {
    process: Process,
    features: Features,
    game: String,
    limit: Duration,
    patience: Duration,
    /// The moves of the game in hand that it knows; `None` before the first.
    told: Option<Vec<Move>>,
    pings: u32,
}

/// What an engine says of itself.
#[derive(Clone, PartialEq, Debug, Default)]
struct Features {
    name: Option<String>,
    variants: Option<String>,
    options: Vec<String>,
    ping: bool,
    setboard: bool,
    usermove: bool,
}

impl XBoardEngine {
    /// Starts the engine and makes it ready to play `game`, which it must offer.
    pub(crate) fn start(spec: &EngineSpec, game: &str) -> Result<XBoardEngine, ExternalError> {
        let unable =
            |reason: String| ExternalError::Unable { engine: spec.command.join(" "), reason };
        let Limit::Milliseconds(limit) = spec.limit else {
            let reason = "speaks XBoard's protocol, which knows no nodes: give --movetime";
            return Err(unable(reason.to_owned()));
        };
        let mut process = Process::spawn(&spec.command)?;
        process.send("xboard")?;
        let is_done = |line: &str| line.starts_with("feature") && line.contains("done=1");
        let lines = process.ask("protover 2", HANDSHAKE, is_done)?;
        let features = Features::read(lines.iter().map(String::as_str));
        if let Some(offered) = &features.variants
            && !offered.split(',').any(|it| it.trim() == game)
        {
            return Err(unable(format!("does not offer the game {game:?}; it offers: {offered}")));
        }
        if !features.setboard {
            return Err(unable("takes no positions (feature setboard)".to_owned()));
        }
        for (name, value) in &spec.options {
            if !features.options.contains(name) {
                let known = features.options.join(", ");
                return Err(unable(format!("has no option {name:?}; it has: {known}")));
            }
            process.send(&format!("option {name}={value}"))?;
        }
        let limit = Duration::from_millis(limit);
        let (game, patience) = (game.to_owned(), spec.patience);
        Ok(XBoardEngine { process, features, game, limit, patience, told: None, pings: 0 })
    }

    /// What the engine calls itself.
    pub(crate) fn name(&self) -> &str {
        self.features.name.as_deref().unwrap_or(self.process.engine())
    }

    /// Tells the engine that another game begins.
    pub(crate) fn new_game(&mut self) -> Result<(), ExternalError> {
        // `new` goes back to chess, `easy` forbids to think on the other's time.
        let seconds = self.limit.as_secs_f64();
        for line in ["new", &format!("variant {}", self.game), "easy", "nopost", "force"] {
            self.process.send(line)?;
        }
        self.process.send(&format!("st {seconds}"))?;
        self.told = None;
        self.wait()
    }

    /// Waits until everything sent is done, and forgets what was said meanwhile.
    fn wait(&mut self) -> Result<(), ExternalError> {
        if self.features.ping {
            self.pings += 1;
            let pong = format!("pong {}", self.pings);
            let ping = format!("ping {}", self.pings);
            self.process.ask(&ping, HANDSHAKE, |line| line.trim() == pong)?;
        }
        Ok(())
    }

    /// The engine's move in a game.
    pub(crate) fn best_move(&mut self, game: &Game) -> Result<Reply, ExternalError> {
        let rules = game.rules();
        let mut position = *game.start_position();
        if self.told.is_none() {
            self.process.send(&format!("setboard {}", position.to_fen(rules)))?;
        }
        let mut told = self.told.take().unwrap_or_default();
        let known = told.len();
        for (index, mv) in game.moves().enumerate() {
            if index >= known {
                let verb = if self.features.usermove { "usermove " } else { "" };
                self.process.send(&format!("{verb}{}", mv.to_uci(rules, &position)))?;
                told.push(mv);
            }
            rules.play(&mut position, mv);
        }
        self.wait()?;
        let lines = self.process.ask("go", self.patience, |line| read_reply(line).is_some())?;
        self.process.send("force")?;
        let line = lines.last().map_or("", String::as_str);
        let reply = read_reply(line).expect("the last line is the answer");
        let Some(Reply::Move(text)) = &reply else {
            return reply.ok_or_else(|| ExternalError::Nonsense {
                engine: self.process.engine().to_owned(),
                question: "go".to_owned(),
                reply: line.to_owned(),
            });
        };
        // It has made the move already, if it is one.
        told.extend(Move::from_uci(rules, &position, text).ok());
        self.told = Some(told);
        Ok(Reply::Move(text.clone()))
    }
}

/// What a line says that ends a search: a reply, or (the inner `None`) that it did not understand
/// the game.
fn read_reply(line: &str) -> Option<Option<Reply>> {
    let mut words = line.split_whitespace();
    match words.next()? {
        "move" => Some(words.next().map(|mv| Reply::Move(mv.to_owned()))),
        "resign" => Some(Some(Reply::Resign)),
        // It says that the game is over, before its move: it sees no move.
        "1-0" | "0-1" | "1/2-1/2" => Some(Some(Reply::Nothing)),
        "Illegal" | "Error" => Some(None),
        _ => None,
    }
}

impl Features {
    /// Reads lines such as `feature ping=1 variants="shogi,minishogi"`.
    fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Features {
        let mut features = Features::default();
        for line in lines.filter_map(|line| line.strip_prefix("feature ")) {
            let mut rest = line;
            while let Some((name, after)) = rest.split_once('=') {
                let (value, left) = match after.strip_prefix('"') {
                    Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                    None => after.split_once(' ').unwrap_or((after, "")),
                };
                features.note(name.trim(), value);
                rest = left;
            }
        }
        features
    }

    fn note(&mut self, name: &str, value: &str) {
        match name {
            "myname" => self.name = Some(value.to_owned()),
            "variants" => self.variants = Some(value.to_owned()),
            "ping" => self.ping = value == "1",
            "setboard" => self.setboard = value == "1",
            "usermove" => self.usermove = value == "1",
            // NAME -kind and more.
            "option" => {
                let name = value.split_once(" -").map_or(value, |(name, _)| name);
                self.options.push(name.to_owned());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read() {
        let lines = [
            "# hello",
            "feature done=0 ping=1 setboard=1 usermove=1",
            "feature myname=\"An Engine 1.0\" variants=\"normal,shogi,minishogi\"",
            "feature option=\"Skill Level -spin 20 0 20\" option=\"Clear -button\"",
            "feature done=1",
        ];
        let features = Features::read(lines.into_iter());
        assert_eq!(features.name.as_deref(), Some("An Engine 1.0"));
        assert_eq!(features.variants.as_deref(), Some("normal,shogi,minishogi"));
        assert_eq!(features.options, ["Skill Level", "Clear"]);
        assert!(features.ping && features.setboard && features.usermove);
    }

    #[test]
    fn replies_are_understood() {
        let moves = |mv: &str| Some(Some(Reply::Move(mv.to_owned())));
        assert_eq!(read_reply("move P@c3"), moves("P@c3"));
        assert_eq!(read_reply("resign"), Some(Some(Reply::Resign)));
        assert_eq!(read_reply("0-1 {White mates}"), Some(Some(Reply::Nothing)));
        assert_eq!(read_reply("Illegal move: a1a2"), Some(None));
        assert_eq!(read_reply("9 156 1084 48000 Nf3"), None);
        assert_eq!(read_reply("move"), Some(None));
    }
}
