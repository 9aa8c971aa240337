//! A position and what was thought of it, as text and as JSON.

use super::{Named, padded, side_name};
use crate::analyst::{Candidate, Forced, Thought};
use keiko_rules::{Game, Move, Rules, Square, board_text};
use keiko_selfplay::{Proof, Wdl};
use serde::Serialize;

/// Moves of a line that are shown.
const LINE: usize = 8;

/// The board beside the policy on it, the chances, forced wins, and the best moves.
pub(super) fn text(game: &Game, thought: &Thought, step: u64, top: usize) -> String {
    let rules = game.rules();
    let simulations = thought.simulations;
    let mut text =
        format!("{}, network of step {step}, {simulations} simulations\n\n", rules.name());
    text += &boards(game, &thought.policy());
    let side = game.side_to_move();
    let (root, raw) = (chances(thought.root), chances(thought.raw));
    text += &format!("{side} to move {root}; by the network alone {raw}\n");
    if let Some(forced) = &thought.forced {
        text += &format!("{}: {}\n", forced.words(), line(rules, &forced.line, usize::MAX));
    }
    text += &table(game, thought, top);
    text.trim_end().to_owned()
}

fn chances(chances: Wdl) -> String {
    let [win, draw, loss] = percent(chances);
    format!("wins {win:.1}%, draws {draw:.1}%, loses {loss:.1}%")
}

fn percent(chances: Wdl) -> [f32; 3] {
    // Sums of floats may be less than nothing by rounding, and -0.0 is a strange figure.
    [chances.win, chances.draw, chances.loss].map(|share| (100.0 * share).max(0.0) + 0.0)
}

/// Pieces, and beside them how much of the policy goes to each square, in percent.
fn boards(game: &Game, policy: &[(Move, f32)]) -> String {
    let (rules, position) = (game.rules(), game.position());
    let board = board_text(rules, position);
    let mut lines = board.lines();
    let files: String = (1..=rules.files()).rev().map(|file| format!("{file:>4}")).collect();
    let mut text = String::new();
    // A line of files comes before the ranks.
    for row in 0..=rules.ranks() {
        let pieces = lines.next().unwrap_or_default();
        let shares = match row.checked_sub(1) {
            None => files.clone(),
            Some(rank) => (0..rules.files())
                .map(|column| share_to(policy, Square::new(rank * rules.files() + column)))
                .collect(),
        };
        text += &format!("{}{shares}\n", padded(pieces, 3 * rules.files() + 8));
    }
    let width = 3 * rules.files() + 8;
    text += &format!("{}{}\n", " ".repeat(width), "  policy to each square, %");
    text + &lines.map(|line| format!("{line}\n")).collect::<String>()
}

fn share_to(policy: &[(Move, f32)], square: Square) -> String {
    let share: f32 = policy.iter().filter(|it| it.0.to() == square).map(|it| it.1).sum();
    match (100.0 * share).round() {
        0.0 => "   .".to_owned(),
        percent => format!("{percent:>4.0}"),
    }
}

fn table(game: &Game, thought: &Thought, top: usize) -> String {
    let mut text = format!(
        "\n    {:7} {} policy  prior  visits    win   draw   loss  line\n",
        "move",
        padded("", 14)
    );
    for (index, it) in thought.moves.iter().take(top).enumerate() {
        text += &format!("{:>3} {}\n", index + 1, row(game, it).trim_end());
    }
    let others = thought.moves.len().saturating_sub(top);
    if others > 0 {
        text += &format!("    and {others} more\n");
    }
    text
}

fn row(game: &Game, it: &Candidate) -> String {
    let rules = game.rules();
    let named = Named::of(game, it.mv);
    let chances = match it.wdl.map(percent) {
        Some([win, draw, loss]) => format!("{win:5.1}% {draw:5.1}% {loss:5.1}%"),
        None => format!("{:>6} {:>6} {:>6}", "-", "-", "-"),
    };
    let proof = it.proof.map_or(String::new(), |proof| format!("[{}] ", short(proof)));
    format!(
        "{} {:5.1}% {:5.1}% {:>7} {chances}  {proof}{}",
        named.padded(7, 14),
        100.0 * it.policy,
        100.0 * it.prior,
        it.visits,
        line(rules, it.line.get(1..).unwrap_or_default(), LINE),
    )
}

/// What is proven, and its plies from the position that is looked at.
fn short(proof: Proof) -> String {
    match proof {
        Proof::Win(plies) => format!("wins in {plies}"),
        Proof::Loss(plies) => format!("loses in {plies}"),
        Proof::Draw(_) => "draws".to_owned(),
    }
}

fn line(rules: &Rules, moves: &[Move], most: usize) -> String {
    let texts: Vec<String> = moves.iter().take(most).map(|mv| mv.to_usi(rules)).collect();
    texts.join(" ")
}

/// A picture's lines below the board.
pub(super) fn caption(game: &Game, thought: &Thought, top: usize) -> Vec<String> {
    let side = game.side_to_move();
    let mut lines = vec![format!("{side} to move {}", chances(thought.root))];
    lines.extend(thought.forced.as_ref().map(Forced::words));
    let row = |it: &Candidate| {
        let score = it.wdl.map_or("    -".to_owned(), |wdl| format!("{:5.1}", 100.0 * wdl.score()));
        let proof = it.proof.map_or(String::new(), |proof| format!(", {}", short(proof)));
        let policy = 100.0 * it.policy;
        format!("{}{policy:5.1}%  score {score}{proof}", Named::of(game, it.mv).padded(7, 14))
    };
    lines.extend(thought.moves.iter().take(top).map(row));
    lines
}

#[derive(Serialize)]
struct PositionJson<'a> {
    game: &'a str,
    network: u64,
    sfen: String,
    side: &'static str,
    simulations: u32,
    /// Win, draw and loss of the side to move: by the network alone, and by the search.
    raw: [f32; 3],
    root: [f32; 3],
    forced: Option<ForcedJson>,
    moves: Vec<MoveJson>,
}

#[derive(Serialize)]
struct ForcedJson {
    result: &'static str,
    plies: u16,
    shortest: bool,
    line: Vec<String>,
}

#[derive(Serialize)]
struct MoveJson {
    #[serde(flatten)]
    mv: Named,
    policy: f32,
    prior: f32,
    visits: u32,
    chances: Option<[f32; 3]>,
    /// Plies to a win of the side to move that is proven; less than 0 those to a loss.
    mate: Option<i32>,
    line: Vec<String>,
}

/// Everything about all moves, on a line.
pub(super) fn json(game: &Game, thought: &Thought, step: u64) -> String {
    let rules = game.rules();
    let usi = |moves: &[Move]| moves.iter().map(|mv| mv.to_usi(rules)).collect();
    let chances = |it: Wdl| [it.win, it.draw, it.loss];
    let line = PositionJson {
        game: rules.name(),
        network: step,
        sfen: game.position().to_sfen(rules),
        side: side_name(game.side_to_move()),
        simulations: thought.simulations,
        raw: chances(thought.raw),
        root: chances(thought.root),
        forced: thought.forced.as_ref().map(|forced| ForcedJson {
            result: match forced.proof {
                Proof::Win(_) => "win",
                Proof::Loss(_) => "loss",
                Proof::Draw(_) => "draw",
            },
            plies: forced.proof.plies(),
            shortest: forced.is_shortest,
            line: usi(&forced.line),
        }),
        moves: thought
            .moves
            .iter()
            .map(|it| MoveJson {
                mv: Named::of(game, it.mv),
                policy: it.policy,
                prior: it.prior,
                visits: it.visits,
                chances: it.wdl.map(chances),
                mate: it.proof.and_then(|proof| match proof {
                    Proof::Win(plies) => Some(i32::from(plies)),
                    Proof::Loss(plies) => Some(-i32::from(plies)),
                    Proof::Draw(_) => None,
                }),
                line: usi(&it.line),
            })
            .collect(),
    };
    serde_json::to_string(&line).expect("it is plain data")
}
