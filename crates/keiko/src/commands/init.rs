//! `keiko init`: an experiment for a game and a machine, to begin with.

use crate::Failure;
use keiko_network::{DeviceName, Features, Precision};
use keiko_rules::Rules;
use keiko_selfplay::Schedule;
use keiko_trainer::Experiment;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Plies after which a game is a draw, for each square: six make 150 on 5x5 and 72 on 3x4, where
/// one game in 1,000 and one in 400 got so far.
const PLIES_A_SQUARE: usize = 6;

/// Writes a commented experiment for a game, sized for this machine.
///
/// It begins from the default job: larger boards get a deeper network, longer games and fewer of
/// them in a generation; more cores get more games.
#[derive(clap::Args)]
#[command(after_help = "Example: keiko init microshogi --out microshogi.toml")]
pub(crate) struct Arguments {
    /// A variant's name, or the path of a variant file.
    game: String,
    /// Where to; on standard output if not said. A file that is there is left alone.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Cores to size it for [default: this machine's].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    cores: Option<u16>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let rules = Rules::load(&arguments.game)?;
    let cores = arguments.cores.map_or_else(cores, usize::from);
    let experiment = sized(&rules, &arguments.game, cores, fastest(Features::detect()));
    let text = format!(
        "# {} from nothing, sized for {cores} {}. `keiko check` on this file sums it up, `keiko\n\
         # doctor` measures how fast it goes here, `keiko train` begins, and goes on after a stop.\n\n{}",
        rules.name(),
        if cores == 1 { "core" } else { "cores" },
        experiment.to_commented_toml()
    );
    Experiment::parse(&text, &arguments.game, &[])?;
    let Some(path) = &arguments.out else {
        say!("{}", text.trim_end());
        return Ok(ExitCode::SUCCESS);
    };
    let failed =
        |error: std::io::Error| Failure::environment(format!("{}: {error}", path.display()));
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes())
        .inspect_err(|_| _ = std::fs::remove_file(path))
        .map_err(failed)?;
    let (name, shown) = (rules.name(), path.display());
    tell!("{shown}: an experiment for {name}; keiko train {shown} begins it");
    Ok(ExitCode::SUCCESS)
}

/// The processor's cores, as far as this process may use them.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The precision that plays fastest on a processor.
pub(super) fn fastest(features: Features) -> Precision {
    let all = [Precision::Int8, Precision::Bf16];
    all.into_iter().find(|&it| features.has(it)).unwrap_or(Precision::F32)
}

/// The default job, made to measure. Only minishogi's numbers were found by trying; the others
/// follow from them by size.
fn sized(rules: &Rules, game: &str, cores: usize, precision: Precision) -> Experiment {
    let base = Experiment::default_job();
    let (squares, longest) = (rules.squares(), rules.files().max(rules.ranks()));
    let limit = (PLIES_A_SQUARE * squares).next_multiple_of(10);
    let channels = if squares <= 12 { 32 } else { 64 };
    // What a position costs, and a game's longest: in parts of minishogi's.
    let network = (channels as f64 / 64.0).powi(2) * longest as f64 / 5.0 * squares as f64 / 25.0;
    let game_cost = network * limit as f64 / 150.0;
    let games = 512.0 * (cores as f64 / 2.0 / game_cost).sqrt();
    let games = 1 << (games.log2().round() as u64).clamp(6, 11);
    let opening = (limit as u32 / 25).clamp(2, 10);
    let mut experiment =
        Experiment { name: folder_name(rules.name()), rules: game.to_owned(), ..base };
    experiment.network.channels = channels;
    experiment.network.blocks = longest;
    experiment.inference.precision = precision;
    experiment.selfplay.ply_limit = limit as u32;
    experiment.selfplay.random_opening_plies = opening;
    experiment.selfplay.sampled_opening_plies = opening + 2;
    experiment.selfplay.archive_games = games as usize / 2;
    experiment.training.games_per_generation = games;
    experiment.training.window_games = 4 * games;
    experiment.arena.opening_plies = opening / 2 + 1;
    experiment.machine.workers = cores;
    experiment.machine.device = DeviceName::CPU;
    // In generations, which have fewer games here than the default job's.
    let stretched = |schedule: &Schedule| schedule.stretched(512.0 / games as f64);
    experiment.selfplay.full_simulations = stretched(&experiment.selfplay.full_simulations);
    experiment.selfplay.cheap_simulations = stretched(&experiment.selfplay.cheap_simulations);
    experiment
}

/// A name that a folder may have.
fn folder_name(name: &str) -> String {
    let fits = |c: char| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    name.chars().map(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minishogi_on_two_cores_is_the_default_job() {
        let rules = Rules::load("minishogi").expect("it is shipped");
        let found = sized(&rules, "minishogi", 2, Precision::Int8);
        assert_eq!(Experiment::default_job().changes(&found), []);
    }

    #[test]
    fn every_game_gets_an_experiment_that_works_and_comes_back() {
        for &game in Rules::variants() {
            let rules = Rules::load(game).expect("it is shipped");
            for cores in [1, 2, 16, 256] {
                let made = sized(&rules, game, cores, Precision::F32);
                let text = made.to_commented_toml();
                let read = Experiment::parse(&text, game, &[]).expect("it works");
                assert_eq!(read, made);
                for key in Experiment::keys() {
                    let first = key.meaning.split(' ').next().expect("it has words");
                    assert!(text.contains(&format!("# {first}")), "{}", key.name);
                }
            }
        }
    }

    #[test]
    fn larger_boards_get_fewer_games_and_more_cores_more() {
        let games = |game: &str, cores| {
            let rules = Rules::load(game).expect("it is shipped");
            sized(&rules, game, cores, Precision::Int8).training.games_per_generation
        };
        assert!(games("doubutsu", 2) > games("minishogi", 2));
        assert!(games("minishogi", 2) > games("shogi", 2));
        assert!(games("shogi", 32) > games("shogi", 2));
    }
}
