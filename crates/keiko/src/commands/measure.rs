//! `keiko measure`: how many positions whose truth is known a network gets right.

use crate::Failure;
use crate::analyst::{MOST_SIMULATIONS, Seat};
use keiko_trainer::problems::{Mark, Problems};
use serde::Serialize;
use std::process::ExitCode;

/// Measures a network by positions whose truth is known: figures that no rival can move.
///
/// Minishogi has problems of mates: a move counts that begins the shortest mate or one that the
/// set knows to be a little longer. Doubutsu has exact values: a move counts that keeps the win or
/// the draw; what is lost counts for the values alone. Searches look for no forced wins by
/// themselves here: that would measure the solver.
#[derive(clap::Args)]
#[command(after_help = "Examples: keiko measure checkpoints/published/minishogi\n          \
    keiko measure NETWORK --simulations 100,1000 --json")]
pub(crate) struct Arguments {
    #[command(flatten)]
    seat: Seat,
    /// Simulations of the searches, beside the network alone.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [32, 200],
        value_parser = clap::value_parser!(u32).range(1..=MOST_SIMULATIONS))]
    simulations: Vec<u32>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut analyst = arguments.seat.analyst()?;
    let Some(problems) = Problems::of(&analyst.rules) else {
        let games: Vec<&str> = Problems::variants().collect();
        return Err(Failure::usage(format!(
            "there are no problems of {}; there are some of {}",
            analyst.rules.name(),
            games.join(" and ")
        )));
    };
    let mut asked = vec![0];
    asked.extend(&arguments.simulations);
    let mut ask = |simulations: u32| {
        let answers = problems.ask(&mut analyst.evaluator, simulations, &|| false);
        problems.marks(&answers.expect("nobody stops it"))
    };
    let columns: Vec<(u32, Vec<Mark>)> = asked.into_iter().map(|it| (it, ask(it))).collect();
    let (name, step) = (analyst.rules.name(), analyst.step);
    match arguments.json {
        true => say!("{}", json(name, step, &columns)),
        false => say!("{name}, network of step {step}\n\n{}", table(&columns)),
    }
    Ok(ExitCode::SUCCESS)
}

fn table(columns: &[(u32, Vec<Mark>)]) -> String {
    let title = |&(simulations, _): &(u32, Vec<Mark>)| match simulations {
        0 => format!("{:>18}", "network alone"),
        simulations => format!("{:>18}", format!("{simulations} simulations")),
    };
    let titles: String = columns.iter().map(title).collect();
    let mut text = format!("{:25} {:>8}{titles}\n", "", "problems");
    for (row, Mark { name, of, .. }) in columns[0].1.iter().enumerate() {
        let cell = |(_, marks): &(u32, Vec<Mark>)| {
            format!("{:>9} {:7.1}%", marks[row].right, 100.0 * marks[row].share())
        };
        text += &format!("{name:25} {of:>8}{}\n", columns.iter().map(cell).collect::<String>());
    }
    text.trim_end().to_owned()
}

#[derive(Serialize)]
struct MeasureJson<'a> {
    game: &'a str,
    network: u64,
    /// 0 simulations: the network alone.
    measures: Vec<ColumnJson>,
}

#[derive(Serialize)]
struct ColumnJson {
    simulations: u32,
    marks: Vec<MarkJson>,
}

#[derive(Serialize)]
struct MarkJson {
    name: String,
    right: usize,
    of: usize,
    share: f64,
}

fn json(game: &str, network: u64, columns: &[(u32, Vec<Mark>)]) -> String {
    let mark = |it: &Mark| MarkJson {
        name: it.name.clone(),
        right: it.right,
        of: it.of,
        share: it.share(),
    };
    let measures = columns.iter().map(|(simulations, marks)| ColumnJson {
        simulations: *simulations,
        marks: marks.iter().map(mark).collect(),
    });
    let line = MeasureJson { game, network, measures: measures.collect() };
    serde_json::to_string(&line).expect("it is plain data")
}
