//! Experiments written before some keys existed.

/// What having none of these keys meant when there were none: published experiments have to load,
/// and runs of that time to go on. Keys that came together stand together, the oldest first.
const MEANT: [&str; 2] = [FORCED_WINS_AND_STARTS, BOUNDS];

const FORCED_WINS_AND_STARTS: &str = "
[search]
kind = \"gumbel\"
[search.puct]
cpuct = 1.1
cpuct_growth = 0.45
cpuct_base = 500.0
fpu_reduction = 0.2
noise_share = 0.25
noise_total = 10.0
root_temperature = 1.1
forced_playouts = 2.0
[selfplay]
handicap_share = 0.0
sampled_opening_share = 0.0
sampled_opening_plies = 1
archive_share = 0.0
archive_games = 1
proven_playout_share = 1.0
resign_below = 0.0
resign_plies = 1
resign_playout_share = 1.0
[training]
surprise_share = 0.0
overlap = 0
";

const BOUNDS: &str = "
[machine]
keep_every = 0
games_mebibytes = 0
replay_mebibytes = 0
";

/// Adds what an older experiment meant, where it has none of the keys that came together: whether it
/// did. A file that has some of them is a new one, and has to have them all.
pub(super) fn complete(experiment: &mut toml::Table) -> bool {
    // All of them, not only up to the first that did.
    MEANT.iter().filter(|meant| add(experiment, meant)).count() > 0
}

fn add(experiment: &mut toml::Table, meant: &str) -> bool {
    let meant: toml::Table = toml::from_str(meant).expect("what was meant is well formed");
    let sections = meant.iter().map(|(name, keys)| {
        let keys = keys.as_table().expect("what was meant is in sections");
        (experiment.get(name).and_then(toml::Value::as_table), keys)
    });
    let is_older = |(section, keys): (Option<&toml::Table>, &toml::Table)| {
        section.is_some_and(|section| keys.keys().all(|key| !section.contains_key(key)))
    };
    if !sections.into_iter().all(is_older) {
        return false;
    }
    for (name, keys) in meant {
        let section = experiment.get_mut(&name).and_then(toml::Value::as_table_mut);
        if let (Some(section), toml::Value::Table(keys)) = (section, keys) {
            section.extend(keys);
        }
    }
    true
}
