//! Where USI and UCI differ: two protocols of one shape.

use super::options::{Kind, Options};
use super::report::{Report, Score, thousandths};
use crate::position_line::Notation;
use keiko_rules::{Color, Move, Position, Rules, UsiError};
use std::fmt::Write;

/// A protocol.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    /// Of shogi programs.
    Usi,
    /// Of chess programs, as Fairy-Stockfish speaks it.
    Uci,
}

impl Dialect {
    /// What ends the introduction.
    pub(crate) fn ready_word(self) -> &'static str {
        match self {
            Dialect::Usi => "usiok",
            Dialect::Uci => "uciok",
        }
    }

    /// How it writes positions and moves.
    pub(crate) fn notation(self) -> Notation {
        match self {
            Dialect::Usi => Notation::Usi,
            Dialect::Uci => Notation::Uci,
        }
    }

    /// What is answered where there is no move.
    pub(crate) fn no_move(self) -> &'static str {
        match self {
            Dialect::Usi => "resign",
            Dialect::Uci => "(none)",
        }
    }

    /// The place of a side's clock among `btime` and `wtime`. Who moves first is Black in USI and
    /// white in UCI.
    pub(crate) fn clock_of(self, side: Color) -> usize {
        match self {
            Dialect::Usi => side.index(),
            Dialect::Uci => 1 - side.index(),
        }
    }

    /// The name that this protocol has for one of the options.
    fn option_name(self, name: &'static str) -> String {
        match (self, name) {
            (Dialect::Usi, "Hash" | "Ponder") => format!("USI_{name}"),
            _ => name.to_owned(),
        }
    }

    /// The lines that tell a GUI what it may choose.
    pub(crate) fn option_lines(self, rules: &Rules, options: &Options) -> Vec<String> {
        let variant = match self {
            Dialect::Usi => "USI_Variant",
            Dialect::Uci => "UCI_Variant",
        };
        let mut lines =
            vec![format!("option name {variant} type combo default {0} var {0}", rules.name())];
        for option in options.described() {
            let kind = match &option.kind {
                Kind::Spin { value, least, most } => {
                    format!("spin default {value} min {least} max {most}")
                }
                Kind::Check { value } => format!("check default {value}"),
                Kind::Combo { value, words } => {
                    let words: String = words.iter().map(|word| format!(" var {word}")).collect();
                    format!("combo default {value}{words}")
                }
                Kind::Folder { value } => {
                    let name = if self == Dialect::Usi { "filename" } else { "string" };
                    let value = if value.is_empty() { "<empty>" } else { value };
                    format!("{name} default {value}")
                }
            };
            lines.push(format!("option name {} type {kind}", self.option_name(option.name)));
        }
        lines
    }

    /// Writes a move.
    pub(crate) fn move_text(self, rules: &Rules, position: &Position, mv: Move) -> String {
        match self {
            Dialect::Usi => mv.to_usi(rules),
            Dialect::Uci => mv.to_uci(rules, position),
        }
    }

    /// Reads a move.
    pub(crate) fn read_move(
        self,
        rules: &Rules,
        position: &Position,
        text: &str,
    ) -> Result<Move, UsiError> {
        match self {
            Dialect::Usi => Move::from_usi(rules, position, text),
            Dialect::Uci => Move::from_uci(rules, position, text),
        }
    }

    /// The `info` lines of a report about a position, the best line's first.
    pub(crate) fn info_lines(
        self,
        rules: &Rules,
        position: &Position,
        report: &Report,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for (index, line) in report.lines.iter().enumerate() {
            let depth = line.moves.len();
            let mut text = format!("info depth {depth} seldepth {}", report.deepest.max(depth));
            let (time, nodes, rate) = (report.elapsed.as_millis(), report.nodes, report.rate());
            let _ = write!(text, " time {time} nodes {nodes} nps {rate:.0}");
            let _ = write!(text, " hashfull {} multipv {}", report.fullness, index + 1);
            let [win, draw, loss] = thousandths(line.value);
            let score = self.score_text(Score::of(line));
            let _ = write!(text, " score {score} wdl {win} {draw} {loss} pv");
            let mut position = *position;
            for &mv in &line.moves {
                text.push(' ');
                text += &self.move_text(rules, &position, mv);
                rules.play(&mut position, mv);
            }
            lines.push(text);
        }
        lines
    }

    /// A score: mates are counted in plies in USI, in moves of who wins in UCI.
    fn score_text(self, score: Score) -> String {
        let length = |plies: u16| match self {
            Dialect::Usi => plies,
            Dialect::Uci => plies.div_ceil(2),
        };
        match score {
            Score::Centipawns(value) => format!("cp {value}"),
            Score::Wins(plies) => format!("mate {}", length(plies)),
            Score::Loses(plies) => format!("mate -{}", length(plies)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use keiko_selfplay::{Line, Proof, Wdl};
    use std::time::Duration;

    #[test]
    fn reports_are_written_in_either_dialect() {
        let rules = Rules::load("minishogi").unwrap();
        let start = rules.start();
        let first = Move::from_usi(&rules, start, "5d5c").unwrap();
        let mut next = *start;
        rules.play(&mut next, first);
        let second = Move::from_usi(&rules, &next, "1b1c").unwrap();
        let value = Wdl { win: 0.5, draw: 0.0, loss: 0.5 };
        let report = Report {
            elapsed: Duration::from_millis(100),
            nodes: 50,
            deepest: 5,
            fullness: 7,
            lines: vec![
                Line { moves: vec![first, second], visits: 9, value, proof: None },
                Line { moves: vec![first], visits: 9, value, proof: Some(Proof::Loss(4)) },
            ],
        };
        assert_eq!(
            Dialect::Usi.info_lines(&rules, start, &report),
            [
                "info depth 2 seldepth 5 time 100 nodes 50 nps 500 hashfull 7 multipv 1 score cp 0 \
                 wdl 500 0 500 pv 5d5c 1b1c",
                "info depth 1 seldepth 5 time 100 nodes 50 nps 500 hashfull 7 multipv 2 score mate \
                 -4 wdl 500 0 500 pv 5d5c",
            ]
        );
        let uci = Dialect::Uci.info_lines(&rules, start, &report);
        assert!(uci[0].ends_with("score cp 0 wdl 500 0 500 pv a2a3 e4e3"), "{}", uci[0]);
        assert!(uci[1].contains("score mate -2 "), "{}", uci[1]);
    }
}
