//! Experiments written before some keys existed.

/// What having none of these keys meant when there were none, for keys that came together:
/// published experiments have to load, and runs of that time to go on.
const MEANT: [&str; 5] = [STARTS_AND_ENDS, BOUNDS, FAULTS, NETWORKS, LADDER];

const STARTS_AND_ENDS: &str = "
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

const FAULTS: &str = "
[training]
learning_retries = 0
retry_rate_factor = 0.5
[machine]
disk_reserve_mebibytes = 0
memory_mebibytes = 0
";

const NETWORKS: &str = "
[machine]
networks_mebibytes = 0
";

const LADDER: &str = "
[arena]
ladder_pairs = 0
";

/// Adds what an older experiment meant, where it has none of the keys that came together: whether
/// it did. A file that has some of them is a new one, and has to have them all.
pub(super) fn complete(experiment: &mut toml::Table) -> bool {
    // Each for itself: no age of a file is to spare another one its keys.
    let added = MEANT.map(|meant| complete_by(experiment, meant));
    added.contains(&true)
}

fn complete_by(experiment: &mut toml::Table, meant: &str) -> bool {
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
