//! The engine client against shell scripts that pretend, and against fairy-stockfish where it
//! is installed.
#![allow(clippy::unwrap_used)]

use super::options::Kind;
use super::*;
use std::path::Path;

const MINISHOGI: &str = "rbsgk/4p/5/P4/KGSBR b - 1";

fn spec(command: Vec<String>, options: &[(&str, &str)]) -> EngineSpec {
    EngineSpec {
        protocol: Protocol::Usi,
        command,
        options: options.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect(),
        limit: Limit::Nodes(200),
        patience: Duration::from_secs(20),
    }
}

/// An engine that answers a line beginning with a word by the commands behind it.
fn pretend(answers: &[(&str, &str)]) -> EngineSpec {
    let cases: String = answers.iter().map(|(word, run)| format!("{word}*) {run};;\n")).collect();
    let script = format!("while read line; do case \"$line\" in\n{cases}quit) exit;; esac; done");
    spec(vec!["sh".into(), "-c".into(), script], &[])
}

const HELLO: (&str, &str) = ("usi", "echo 'id name Pretender'; echo usiok");
const READY: (&str, &str) = ("isready", "echo readyok");

fn start(spec: &EngineSpec) -> Result<ExternalEngine, ExternalError> {
    ExternalEngine::start(spec, "minishogi", MINISHOGI)
}

#[test]
fn commands_are_split_at_white_space_but_not_in_quotes() {
    let words = split_command("  ./a  'b c' d\"e f\"g '' ").unwrap();
    assert_eq!(words, ["./a", "b c", "de fg", ""]);
    for (wrong, reason) in [("", "empty"), ("  ", "empty"), ("a 'b", "not closed")] {
        let error = split_command(wrong).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn options_are_read_and_checked() {
    let read = |line| parse_advertised(line).unwrap();
    let skill = read("option name Skill Level type spin default 20 min -20 max 20");
    assert_eq!(skill.kind, Kind::Spin { min: -20, max: 20 });
    assert_eq!(skill.check("-5").unwrap(), "-5");
    assert_eq!(skill.check("21").unwrap_err(), "a whole number from -20 to 20");
    let combo = read("option name UCI_Variant type combo default shogi var 3check var two words");
    assert_eq!(combo.values(), ["3check", "two words"]);
    assert!(combo.is_variant() && !skill.is_variant());
    assert_eq!(combo.check("Two Words").unwrap(), "two words");
    assert!(combo.check("shogi").unwrap_err().contains("3check"));
    let check = read("option name Ponder type check default false");
    assert_eq!(check.check("TRUE").unwrap(), "true");
    assert!(check.check("1").is_err());
    let button = read("option name Clear Hash type button");
    assert!(button.check("").is_ok() && button.check("1").is_err());
    assert_eq!(read("option name EvalFile type string default <empty>").kind, Kind::Text);
    let all = [skill, combo, check, button];
    for (wanted, name) in [("Skill_Level", "Skill Level"), ("USI_Ponder", "Ponder")] {
        assert_eq!(find(&all, wanted).unwrap().name, name);
    }
    assert!(find(&all, "Skill").is_none());
    assert!(parse_advertised("info string option name").is_none());
}

#[test]
fn answers_are_understood() {
    let move_to = |mv: &str| Some(Reply::Move(mv.to_owned()));
    assert_eq!(parse_reply("bestmove 2e3d ponder 2a2b"), move_to("2e3d"));
    assert_eq!(parse_reply("bestmove P*1b"), move_to("P*1b"));
    assert_eq!(parse_reply("bestmove resign"), Some(Reply::Resign));
    assert_eq!(parse_reply("bestmove win"), Some(Reply::Win));
    assert_eq!(parse_reply("bestmove (none)"), Some(Reply::Nothing));
    assert_eq!(parse_reply("bestmove"), None);
}

#[test]
fn an_engine_without_variants_plays_what_it_plays() {
    let record = "echo \"$line\" >&2; echo info depth 1; echo bestmove 1e1d";
    let spec = pretend(&[("usinewgame", ":"), HELLO, READY, ("position", ":"), ("go", record)]);
    let mut engine = start(&spec).unwrap();
    assert_eq!(engine.name(), "Pretender");
    engine.new_game().unwrap();
    let reply = engine.best_move(MINISHOGI, &["5e5d".into()]).unwrap();
    assert_eq!(reply, Reply::Move("1e1d".into()));
}

#[test]
fn a_death_is_told_with_the_last_words() {
    let dying = "echo 'info string thinking'; echo 'out of luck' >&2; exit 3";
    let spec = pretend(&[HELLO, READY, ("position", ":"), ("go", dying)]);
    let mut engine = start(&spec).unwrap();
    let error = engine.best_move(MINISHOGI, &[]).unwrap_err().to_string();
    for part in ["go nodes 200", "exit status: 3", "out of luck", "info string thinking"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert!(matches!(engine.best_move(MINISHOGI, &[]), Err(ExternalError::Ended { .. })));
    let error = start(&spec_of("false")).unwrap_err();
    assert!(matches!(error, ExternalError::Ended { .. }), "{error}");
}

fn spec_of(command: &str) -> EngineSpec {
    spec(split_command(command).unwrap(), &[])
}

#[test]
fn silence_is_an_error_and_the_silent_are_ended() {
    let mut spec = pretend(&[HELLO, READY, ("position", ":"), ("go", "echo $$; exec sleep 60")]);
    spec.patience = Duration::from_millis(300);
    let mut engine = start(&spec).unwrap();
    let begun = Instant::now();
    let error = engine.best_move(MINISHOGI, &[]).unwrap_err();
    let ExternalError::Timeout { output, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().contains("within 0.3 s"), "{error}");
    let process = format!("/proc/{}", output.last().unwrap());
    drop(engine);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(!Path::new(&process).exists(), "{process} still lives");
}

#[test]
fn a_missing_program_is_named() {
    let error = start(&spec_of("no-such-engine-here --x")).unwrap_err().to_string();
    assert!(error.contains("no-such-engine-here") && error.contains("PATH"), "{error}");
}

#[test]
fn nonsense_is_an_error() {
    let spec = pretend(&[HELLO, READY, ("position", ":"), ("go", "echo bestmove")]);
    let error = start(&spec).unwrap().best_move(MINISHOGI, &[]).unwrap_err();
    assert!(matches!(error, ExternalError::Nonsense { .. }), "{error}");
}

/// fairy-stockfish, or `None` with a word about it where it is not installed.
fn fairy(options: &[(&str, &str)]) -> Option<EngineSpec> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(["/usr/games"]);
    let found = folders.map(|dir| Path::new(dir).join("fairy-stockfish")).find(|p| p.exists());
    if found.is_none() {
        eprintln!("skipped: fairy-stockfish is not installed (scripts/test.sh installs it)");
    }
    Some(spec(vec![found?.to_str().unwrap().to_owned()], options))
}

#[test]
fn fairy_stockfish_plays_minishogi() {
    let Some(spec) = fairy(&[("Skill_Level", "20"), ("USI_Hash", "8"), ("threads", "1")]) else {
        return;
    };
    let mut engine = start(&spec).unwrap();
    assert!(engine.name().starts_with("Fairy-Stockfish"));
    engine.new_game().unwrap();
    let mut moves = Vec::new();
    for _ in 0..6 {
        let Reply::Move(mv) = engine.best_move(MINISHOGI, &moves).unwrap() else {
            break;
        };
        assert!((4..=5).contains(&mv.len()), "{mv}");
        moves.push(mv);
    }
    assert_eq!(moves.len(), 6);
    let mated = engine.best_move("4k/4G/4G/5/K4 w - 1", &[]).unwrap();
    assert_eq!(mated, Reply::Resign);
    let mate = engine.best_move("4k/5/4P/5/K4 b G 1", &[]).unwrap();
    assert_eq!(mate, Reply::Move("G*1b".into()));
}

#[test]
fn fairy_stockfish_is_told_only_what_it_knows() {
    let fails = |game: &str, options: &[(&str, &str)]| {
        let spec = fairy(options)?;
        let rules = keiko_rules::Rules::load(game).unwrap();
        Some(ExternalEngine::start(&spec, game, rules.start_sfen()).unwrap_err().to_string())
    };
    let Some(error) = fails("doubutsu", &[]) else {
        return;
    };
    for part in ["\"doubutsu\"", "(but dobutsu, which begins alike)", "UCI_Variant=NAME"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    let error = fails("minishogi", &[("Skil Level", "3")]).unwrap();
    assert!(error.contains("did you mean \"Skill Level\""), "{error}");
    let error = fails("minishogi", &[("Skill Level", "30")]).unwrap();
    assert!(error.contains("from -20 to 20"), "{error}");
    let spec = fairy(&[("UCI_Variant", "dobutsu")]).unwrap();
    let mut engine = ExternalEngine::start(&spec, "doubutsu", "gle/1c1/1C1/ELG b - 1").unwrap();
    let reply = engine.best_move("gle/1c1/1C1/ELG b - 1", &[]).unwrap();
    assert!(matches!(reply, Reply::Move(_)));
}
