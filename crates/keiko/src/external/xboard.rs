//! An outside engine that speaks XBoard's protocol, version 2.

use super::process::Process;
use super::{
    Clocks, EngineSpec, ExternalError, HANDSHAKE, Letters, Limit, Protocol, Reply, written,
};
use keiko_rules::Game;
use std::time::Duration;

/// What names the game, where the engine has another name for it. It is no option of the engine's.
const VARIANT: &str = "variant";

/// A running engine of XBoard's protocol, between its moves always in force mode. It is ended when
/// this is dropped.
#[derive(Debug)]
pub(crate) struct XBoardEngine {
    process: Process,
    features: Features,
    game: String,
    /// The position that the game begins with, in our letters.
    start: String,
    /// How it writes the game's pieces, if it has said.
    letters: Option<Letters>,
    limit: Limit,
    patience: Duration,
    /// What the clocks show, where there are some.
    clocks: Option<Clocks>,
    /// How many moves of the game in hand it knows; `None` before it knows where that begins.
    told: Option<usize>,
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
    /// Starts the engine and makes it ready to play `game`, or what the option `variant` names,
    /// which it must offer. `start` is the position that the game begins with.
    pub(crate) fn start(
        spec: &EngineSpec,
        game: &str,
        start: &str,
    ) -> Result<XBoardEngine, ExternalError> {
        let unable = |reason: String| super::unable(spec, reason);
        match spec.limit {
            Limit::Nodes(_) => {
                let reason = "speaks XBoard's protocol, which knows no nodes: give --movetime or \
                              --clock";
                return Err(unable(reason.to_owned()));
            }
            Limit::Clock(control) => {
                control.without_byoyomi("XBoard's protocol").map_err(unable)?;
            }
            Limit::Milliseconds(_) => {}
        }
        let mut process = Process::spawn(&spec.command)?;
        process.send("xboard")?;
        let is_done = |line: &str| line.starts_with("feature") && line.contains("done=1");
        let lines = process.ask("protover 2", HANDSHAKE, is_done)?;
        let features = Features::read(lines.iter().map(String::as_str));
        let named = spec.options.iter().find(|(name, _)| name == VARIANT);
        let game = named.map_or(game, |(_, name)| name);
        if let Some(offered) = &features.variants
            && !offered.split(',').any(|it| it.trim() == game)
        {
            return Err(unable(format!(
                "does not offer the game {game:?}; it offers: {offered}. If it has another name for \
                 the game, give {VARIANT}=NAME"
            )));
        }
        if !features.setboard {
            return Err(unable("takes no positions (feature setboard)".to_owned()));
        }
        for (name, value) in spec.options.iter().filter(|(name, _)| name != VARIANT) {
            if !features.options.contains(name) {
                let known = features.options.join(", ");
                return Err(unable(format!("has no option {name:?}; it has: {known}")));
            }
            process.send(&format!("option {name}={value}"))?;
        }
        let (game, start) = (game.to_owned(), start.to_owned());
        let EngineSpec { limit, patience, .. } = *spec;
        Ok(XBoardEngine {
            process,
            features,
            game,
            start,
            letters: None,
            limit,
            patience,
            clocks: None,
            told: None,
            pings: 0,
        })
    }

    /// What the engine calls itself.
    pub(crate) fn name(&self) -> &str {
        self.features.name.as_deref().unwrap_or(self.process.engine())
    }

    /// Tells the engine that another game begins.
    pub(crate) fn new_game(&mut self) -> Result<(), ExternalError> {
        // `new` goes back to chess, `easy` forbids to think on the other's time.
        for line in ["new", &format!("variant {}", self.game), "easy", "nopost", "force"] {
            self.process.send(line)?;
        }
        match self.limit {
            Limit::Clock(control) => self.process.send(&control.level())?,
            Limit::Milliseconds(time) => {
                self.process.send(&format!("st {}", time as f64 / 1000.0))?;
            }
            Limit::Nodes(_) => {}
        }
        self.told = None;
        let said = self.wait()?;
        let theirs = said.iter().find_map(|line| stated_start(line));
        self.letters = theirs.and_then(|theirs| Letters::between(&self.start, theirs));
        Ok(())
    }

    /// How it writes the game's pieces, if it has said how the game begins.
    pub(crate) fn letters(&self) -> Option<&Letters> {
        self.letters.as_ref()
    }

    /// Waits until everything sent is done; what was said meanwhile, as far as that is known.
    fn wait(&mut self) -> Result<Vec<String>, ExternalError> {
        if !self.features.ping {
            return Ok(Vec::new());
        }
        self.pings += 1;
        let pong = format!("pong {}", self.pings);
        let ping = format!("ping {}", self.pings);
        self.process.ask(&ping, HANDSHAKE, |line| line.trim() == pong)
    }

    /// Tells what the clocks show before the next move.
    pub(crate) fn set_clocks(&mut self, clocks: Clocks) {
        self.clocks = Some(clocks);
    }

    /// The engine's move in a game.
    pub(crate) fn best_move(&mut self, game: &Game) -> Result<Reply, ExternalError> {
        let (start, moves) = written(Protocol::XBoard, self.letters(), game);
        if self.told.is_none() {
            self.process.send(&format!("setboard {start}"))?;
        }
        let known = self.told.take().unwrap_or_default();
        let verb = if self.features.usermove { "usermove " } else { "" };
        for mv in moves.iter().skip(known) {
            self.process.send(&format!("{verb}{mv}"))?;
        }
        let mut patience = self.patience;
        if let Limit::Clock(control) = self.limit {
            let clocks = self.clocks.clone().unwrap_or_else(|| control.begun());
            for line in clocks.cecp() {
                self.process.send(&line)?;
            }
            patience += control.most(&clocks);
        }
        self.wait()?;
        let lines = self.process.ask("go", patience, |line| read_reply(line).is_some())?;
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
        // It has made its own move already.
        self.told = Some(moves.len() + 1);
        Ok(Reply::Move(text.clone()))
    }
}

/// The start of a game, where a line tells it: `setup (TABLE) 4x5+10_shogi POSITION`.
fn stated_start(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("setup (")?.split_once(") ")?;
    Some(rest.split_once(' ')?.1)
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
