//! Whom all contenders are measured against.

use crate::Failure;
use crate::external::Limit;
use crate::players::{Contestant, Means};
use std::time::Duration;

/// Nodes a move of an outside engine, where nobody says how many.
const NODES: u64 = 1000;

/// Longest an outside engine may think about a move where it is told no time, and how late it may
/// be where it is.
const PATIENCE: Duration = Duration::from_secs(60);
const TOLERANCE: Duration = Duration::from_secs(1);

/// Somebody fixed.
pub(super) struct Opponent {
    /// As the user named it.
    pub(super) name: String,
    pub(super) contestant: Contestant,
}

impl Opponent {
    /// Reads a player as `keiko match` takes it; behind an outside engine there may be `@NODES` or
    /// `@MILLISECONDSms`.
    pub(super) fn parse(
        name: &str,
        simulations: u32,
        options: &[(String, String)],
    ) -> Result<Opponent, Failure> {
        let (player, limit) = split_limit(name)?;
        let patience = match limit {
            Limit::Nodes(_) | Limit::Clock(_) => PATIENCE,
            Limit::Milliseconds(time) => Duration::from_millis(time) + TOLERANCE,
        };
        let means = Means { simulations, limit, patience, options: options.to_vec() };
        Ok(Opponent { name: name.to_owned(), contestant: Contestant::parse(player, means)? })
    }
}

/// A player, and what it may spend on a move if it is an outside engine.
fn split_limit(text: &str) -> Result<(&str, Limit), Failure> {
    let is_engine = ["usi:", "uci:", "xboard:"].iter().any(|it| text.starts_with(it));
    let Some((player, limit)) = text.rsplit_once('@').filter(|_| is_engine) else {
        return Ok((text, Limit::Nodes(NODES)));
    };
    let read =
        |number: &str, most: u64| number.parse().ok().filter(|number| (1..=most).contains(number));
    let limit = match limit.strip_suffix("ms") {
        Some(time) => read(time, 600_000).map(Limit::Milliseconds),
        None => read(limit, u64::MAX).map(Limit::Nodes),
    };
    let expected =
        || format!("--against {text}: expected nodes behind the @, or a time such as 100ms");
    limit.map(|limit| (player, limit)).ok_or_else(|| Failure::usage(expected()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_their_limit_behind_them() {
        let read = |text| split_limit(text).map_err(|failure| failure.to_string());
        assert_eq!(read("usi:fairy -x@100"), Ok(("usi:fairy -x", Limit::Nodes(100))));
        assert_eq!(read("xboard:fairy@50ms"), Ok(("xboard:fairy", Limit::Milliseconds(50))));
        assert_eq!(read("uci:fairy"), Ok(("uci:fairy", Limit::Nodes(NODES))));
        assert_eq!(read("some/network@f32"), Ok(("some/network@f32", Limit::Nodes(NODES))));
        assert!(read("usi:fairy@many").is_err_and(|message| message.contains("expected nodes")));
        assert!(read("usi:fairy@0").is_err());
    }
}
