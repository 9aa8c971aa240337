//! Counts and times move sequences: `perft VARIANT DEPTH [SFEN]`.

use keiko_rules::{Position, Rules, perft};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (variant, depth, rest) = match &arguments[..] {
        [variant, depth, rest @ ..] => (variant, depth.parse()?, rest.join(" ")),
        _ => return Err("usage: perft VARIANT DEPTH [SFEN]".into()),
    };
    let rules = Rules::load(variant)?;
    let sfen = if rest.is_empty() { rules.start_sfen() } else { &rest };
    let position = Position::from_sfen(&rules, sfen)?;
    let begin = std::time::Instant::now();
    let leaves = perft(&rules, &position, depth);
    let seconds = begin.elapsed().as_secs_f64();
    println!("{leaves} leaves in {seconds:.3} s: {:.1} million/s", leaves as f64 / seconds / 1e6);
    Ok(())
}
