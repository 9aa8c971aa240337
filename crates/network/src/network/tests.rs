#![allow(clippy::unwrap_used)]

use super::*;
use crate::Architecture;
use keiko_selfplay::{Purpose, generator};
use rand::RngExt;
use std::sync::Arc;

fn encoding(name: &str) -> Encoding {
    Encoding::new(Arc::new(Rules::load(name).unwrap()))
}

fn network(encoding: &Encoding) -> Network {
    let weights = Weights::init(encoding, Architecture::plain(8, 1), 3);
    let provenance =
        Provenance { step: 7, games: 20, positions: 300, licence: "CC0-1.0".to_owned() };
    Network::new(encoding, weights, Calibration { largest: vec![1.5, 2.25] }, provenance)
}

/// A published network and its folder, which the closure spoils; the error of loading it then.
fn spoiled(spoil: impl FnOnce(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net");
    network(&encoding("doubutsu")).save(&path).unwrap();
    spoil(&path);
    Network::load(&path).unwrap_err().to_string()
}

fn edit(path: &Path, from: &str, to: &str) {
    let card = path.join(CARD_FILE);
    let text = std::fs::read_to_string(&card).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(card, text.replace(from, to)).unwrap();
    // As a careful forger would, or somebody who was before there were sums.
    std::fs::remove_file(path.join(SUMS_FILE)).unwrap();
}

/// Replaces the weights and signs them, as a careful forger would.
fn resign(path: &Path, bytes: &[u8]) {
    let old = sums::sum(&std::fs::read(path.join(WEIGHTS_FILE)).unwrap());
    std::fs::write(path.join(WEIGHTS_FILE), bytes).unwrap();
    edit(path, &old, &sums::sum(bytes));
}

#[test]
fn what_is_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net");
    let encoding = encoding("minishogi");
    let network = network(&encoding);
    network.save(&path).unwrap();
    let loaded = Network::load(&path).unwrap();
    assert_eq!(loaded, network);
    loaded.check(&encoding).unwrap();
    let entries: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(entries.len(), 1, "nothing temporary is left");
    assert!(matches!(network.save(&path), Err(NetworkError::Exists(_))));
    let first = std::fs::read(path.join(WEIGHTS_FILE)).unwrap();
    let again = folder.path().join("again");
    network.save(&again).unwrap();
    assert_eq!(first, std::fs::read(again.join(WEIGHTS_FILE)).unwrap(), "the same bytes");
}

#[test]
fn a_network_brings_its_rules_along() {
    let folder = tempfile::tempdir().unwrap();
    let text = Rules::load("doubutsu").unwrap().source().replace("\"doubutsu\"", "\"mine\"");
    let rules = Arc::new(Rules::from_toml(&text, "mine.toml").unwrap());
    let path = folder.path().join("net");
    network(&Encoding::new(Arc::clone(&rules))).save(&path).unwrap();
    let loaded = Network::load(&path).unwrap();
    assert_eq!(loaded.rules().unwrap().source(), rules.source());
    loaded.check_rules(&rules).unwrap();
    std::fs::remove_file(path.join(VARIANT_FILE)).unwrap();
    let message = Network::load(&path).unwrap_err().to_string();
    assert!(message.contains(VARIANT_FILE) && message.contains("missing"), "{message}");
    // Networks of before had no table: an embedded variant is found by its name.
    std::fs::remove_file(path.join(SUMS_FILE)).unwrap();
    let message = Network::load(&path).unwrap().rules().unwrap_err().to_string();
    assert!(message.contains("plays `mine`") && message.contains("--rules"), "{message}");
}

#[test]
fn what_is_missing_is_named() {
    let message = Network::load(Path::new("no/such/folder")).unwrap_err().to_string();
    assert!(message.contains("no such folder"), "{message}");
    for file in [CARD_FILE, WEIGHTS_FILE] {
        let message = spoiled(|path| std::fs::remove_file(path.join(file)).unwrap());
        assert!(message.contains(file) && message.contains("missing"), "{message}");
    }
}

#[test]
fn truncated_or_changed_weights_are_refused() {
    let message = spoiled(|path| {
        let weights = path.join(WEIGHTS_FILE);
        let bytes = std::fs::read(&weights).unwrap();
        std::fs::write(&weights, &bytes[..bytes.len() - 5]).unwrap();
    });
    assert!(message.contains("truncated or changed"), "{message}");
    let message = spoiled(|path| {
        let bytes = std::fs::read(path.join(WEIGHTS_FILE)).unwrap();
        resign(path, &bytes[..bytes.len() - 5]);
    });
    assert!(message.contains("truncated or damaged"), "{message}");
    let message = spoiled(|path| resign(path, b"short"));
    assert!(message.contains("more channels and blocks"), "{message}");
}

#[test]
fn other_versions_are_refused() {
    let message = spoiled(|path| edit(path, "format_version = 1", "format_version = 2\nnew = 1"));
    assert!(message.contains("format version 2"), "{message}");
    let message = spoiled(|path| {
        let bytes = std::fs::read(path.join(WEIGHTS_FILE)).unwrap();
        let text = b"\"keiko_format_version\":\"1\"";
        let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
        let mut bytes = bytes.clone();
        bytes[at + text.len() - 2] = b'9';
        resign(path, &bytes);
    });
    assert!(message.contains("format version 9"), "{message}");
    let message = spoiled(|path| edit(path, "format_version = 1", "format = 1"));
    assert!(message.contains("no format_version"), "{message}");
}

#[test]
fn wrong_shapes_are_refused() {
    let message = spoiled(|path| edit(path, "channels = 8", "channels = 16"));
    assert!(message.contains("stem.weight") && message.contains("expected"), "{message}");
    let message = spoiled(|path| edit(path, "blocks = 1", "blocks = 2"));
    assert!(message.contains("tensors"), "{message}");
    for (from, to) in
        [("channels = 8", "channels = 8000000000"), ("blocks = 1", "blocks = 1000000")]
    {
        let message = spoiled(|path| edit(path, from, to));
        assert!(message.contains("more channels and blocks"), "{message}");
    }
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    for value in [f32::NAN, f32::INFINITY] {
        let message = spoiled(|path| {
            let mut weights = Network::load(path).unwrap().weights;
            weights.parameters_mut()[3].values[1] = value;
            resign(path, &storage::weights_to_bytes(&weights));
        });
        assert!(message.contains("NaN or an infinity"), "{message}");
    }
}

#[test]
fn other_games_and_rules_are_refused() {
    let network = network(&encoding("doubutsu"));
    let message = network.check(&encoding("minishogi")).unwrap_err().to_string();
    assert!(message.contains("plays doubutsu, not minishogi"), "{message}");
    let source = Rules::load("doubutsu").unwrap().source().replace("count = 3", "count = 4");
    let rules = Rules::from_toml(&source, "test").unwrap();
    let message = network.check_rules(&rules).unwrap_err().to_string();
    assert!(message.contains("other rules of doubutsu"), "{message}");
}

#[test]
fn other_planes_and_labels_are_refused() {
    let encoding = encoding("doubutsu");
    let mut network = network(&encoding);
    network.card.planes[2] = "own:X".to_owned();
    let message = network.check(&encoding).unwrap_err().to_string();
    assert!(message.contains("planes") && message.contains("own:X"), "{message}");
    network.card.planes = encoding.plane_names().to_vec();
    network.card.labels.pop();
    let message = network.check(&encoding).unwrap_err().to_string();
    assert!(message.contains("labels"), "{message}");
}

/// The files of a published network.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        paths.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

/// Damages a published network in a hundred ways for each of its files, which are whole in between:
/// what is loaded is what was published, or an error names a file of the folder.
fn damage_each(spoil: impl Fn(&mut Vec<u8>, usize, u8)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net");
    let encoding = encoding("doubutsu");
    let published = network(&encoding);
    published.save(&path).unwrap();
    let files = contents(&path);
    assert_eq!(files.len(), 6);
    assert_eq!(Network::check_files(&path).unwrap(), Some(5));
    let mut rng = generator(7, Purpose::Batch, 0);
    for (file, bytes) in &files {
        for _ in 0..100 {
            let mut damaged = bytes.clone();
            let at = rng.random_range(0..bytes.len());
            spoil(&mut damaged, at, rng.random_range(1..=u8::MAX));
            std::fs::write(file, damaged).unwrap();
            let name = folder.path().display().to_string();
            let checked = Network::check_files(&path).unwrap_err().to_string();
            assert!(checked.contains(&name), "{checked}");
            match Network::load(&path) {
                Ok(loaded) => assert_eq!(loaded, published, "{}", file.display()),
                Err(error) => assert!(error.to_string().contains(&name), "{error}"),
            }
            let is_read =
                [WEIGHTS_FILE, CARD_FILE, VARIANT_FILE].iter().any(|it| file.ends_with(it));
            assert!(!is_read || Network::load(&path).is_err(), "{}", file.display());
            let is_golden = file.ends_with(GOLDEN_FILE);
            assert!(!is_golden || published.compare_with_golden(&encoding, &path).is_err());
            // One from before there were sums is no reason to panic either.
            std::fs::remove_file(path.join(SUMS_FILE)).unwrap();
            if let Ok(older) = Network::load(&path) {
                let _ = older.rules();
                let _ = is_golden.then(|| older.compare_with_golden(&encoding, &path));
            }
            files.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
        }
    }
}

#[test]
fn a_flipped_byte_is_found_wherever_it_is() {
    damage_each(|bytes, at, bits| bytes[at] ^= bits);
}

#[test]
fn a_file_that_was_cut_is_found_wherever_it_was() {
    // Now and then all of it is gone.
    damage_each(|bytes, at, _| bytes.truncate(at.saturating_sub(bytes.len() / 20)));
}
