//! The store against interruptions and damage at every byte.
#![allow(clippy::unwrap_used)]

use super::*;
use keiko_rules::{Color, Ending, Move, Outcome, Reason, Square};
use keiko_selfplay::{Ply, Proof, Start, StartKind, Wdl};

fn game(number: u64) -> GameRecord {
    let mv = |from, to| Move::Board { from: Square::new(from), to: Square::new(to), turns: false };
    let ply = |turn: u64| Ply {
        mv: mv(turn as usize % 12, (number + turn) as usize % 12),
        full: turn.is_multiple_of(2),
        simulations: 32,
        raw: Wdl { win: 0.5, draw: 0.25, loss: 0.25 },
        root: Wdl::WIN,
        policy: vec![(mv(0, 1), 0.75), (mv(1, 2), 0.25)],
        surprise: number as f32 * 0.1,
        proof: (turn == 2).then_some(Proof::Win(3)),
    };
    GameRecord {
        number,
        rules_hash: 0xfeed,
        network: number / 10,
        start: Start {
            kind: StartKind::Random,
            sfen: "gle/1c1/1C1/ELG b - 1".into(),
            opening: vec![mv(10, 7)],
        },
        plies: (0..3 + number % 4).map(ply).collect(),
        ending: Ending { outcome: Outcome::Win(Color::Black), reason: Reason::Try },
    }
}

fn games(numbers: Range<u64>) -> Vec<GameRecord> {
    numbers.map(game).collect()
}

fn open(dir: &Path) -> (Store, OpenReport) {
    Store::open(dir).unwrap()
}

fn all(store: &Store) -> Vec<GameRecord> {
    store.read_all().collect::<Result<Vec<_>, _>>().unwrap().concat()
}

/// A store of three blocks in one segment, its bytes, and where each block ends.
fn three_blocks(dir: &Path) -> (PathBuf, Vec<u8>, Vec<u64>) {
    let (mut store, _) = open(dir);
    for numbers in [0..2, 2..5, 7..9] {
        store.append(&games(numbers)).unwrap();
    }
    let ends = store.blocks.iter().map(|block| block.bytes.end).collect();
    let path = store.segments[0].path.clone();
    let bytes = fs::read(&path).unwrap();
    (path, bytes, ends)
}

#[test]
fn round_trip_over_segments() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("games");
    let (mut store, report) = Store::open_with(&dir, 900).unwrap();
    assert!(report.is_clean() && store.games() == 0 && store.last_number().is_none());
    store.append(&[]).unwrap();
    for start in (0..60).step_by(6) {
        store.append(&games(start..start + 6)).unwrap();
    }
    assert!(store.segments.len() > 2, "{} segments", store.segments.len());
    assert_eq!(all(&store), games(0..60));
    let (store, report) = Store::open_with(&dir, 900).unwrap();
    assert!(report.is_clean());
    assert_eq!((report.games, store.games(), store.last_number()), (60, 60, Some(59)));
    assert_eq!(all(&store), games(0..60));
    assert_eq!(store.games_from(33).unwrap(), games(33..60));
    assert_eq!(store.games_from(60).unwrap(), games(0..0));
    let newest = store.read_all().next_back().unwrap().unwrap();
    assert_eq!(newest, games(54..60));
    let on_disk: u64 =
        fs::read_dir(&dir).unwrap().map(|f| f.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(store.bytes(), on_disk);
}

#[test]
fn big_appends_are_split() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path());
    store.append(&games(0..600)).unwrap();
    let sizes: Vec<_> = store.read_all().map(|block| block.unwrap().len()).collect();
    assert_eq!(sizes, [256, 256, 88]);
    assert_eq!(all(&open(dir.path()).0), games(0..600));
}

#[test]
fn order_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path());
    store.append(&games(5..7)).unwrap();
    for wrong in [games(6..8), vec![game(9), game(9)], vec![game(10), game(8)]] {
        assert!(matches!(store.append(&wrong), Err(StoreError::OutOfOrder { .. })));
    }
    assert_eq!(all(&store), games(5..7));
}

#[test]
fn a_torn_end_at_every_byte_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let (path, bytes, ends) = three_blocks(dir.path());
    for length in 0..bytes.len() as u64 {
        fs::write(&path, &bytes[..length as usize]).unwrap();
        let (mut store, report) = open(dir.path());
        let whole = ends.iter().filter(|&&end| end <= length).count();
        let expected = [0, 2, 5, 7][whole];
        assert_eq!(report.games, expected, "at {length}");
        let clean = length == 0 || length == SEGMENT_HEADER_BYTES || ends.contains(&length);
        assert_eq!(report.torn.is_none(), clean, "at {length}");
        assert!(report.damaged.is_empty());
        store.append(&games(20..21)).unwrap();
        let (store, report) = open(dir.path());
        assert!(report.is_clean(), "at {length}: {report}");
        assert_eq!((store.games(), store.last_number()), (expected + 1, Some(20)));
        all(&store);
    }
}

#[test]
fn zeros_after_a_crash_are_a_torn_end() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut bytes, ends) = three_blocks(dir.path());
    bytes[ends[1] as usize + 60..].fill(0);
    bytes.extend([0; 100]);
    fs::write(&path, &bytes).unwrap();
    let (store, report) = open(dir.path());
    assert_eq!(all(&store), games(0..5));
    let torn = report.torn.clone().unwrap();
    assert_eq!((torn.offset, torn.games), (ends[1], Some((7, 8))));
    assert!(report.to_string().contains("games 7 to 8"), "{report}");
}

#[test]
fn a_flipped_bit_never_gives_a_wrong_game() {
    let dir = tempfile::tempdir().unwrap();
    let (path, bytes, _) = three_blocks(dir.path());
    let originals = [games(0..5), games(7..9)].concat();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, &damaged).unwrap();
        let (store, report) = open(dir.path());
        let read = all(&store);
        assert!(!report.is_clean(), "at {at}");
        assert!(read.len() >= originals.len() - 3, "at {at}: {report}");
        let lost = originals.iter().filter(|game| !read.contains(game)).count();
        assert_eq!(lost, originals.len() - read.len(), "a wrong game at {at}");
    }
}

#[test]
fn damage_in_the_middle_costs_one_block_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut bytes, ends) = three_blocks(dir.path());
    bytes[ends[0] as usize + 50] ^= 4;
    fs::write(&path, &bytes).unwrap();
    let (mut store, report) = open(dir.path());
    assert_eq!(report.damaged.len(), 1);
    let damage = &report.damaged[0];
    assert_eq!((damage.offset, damage.bytes), (ends[0], ends[1] - ends[0]));
    assert_eq!(damage.games, Some((2, 4)));
    assert!(report.to_string().contains("games-000000.seg at byte"), "{report}");
    assert_eq!(fs::read(&path).unwrap(), bytes, "damage is left as it is");
    store.append(&games(9..11)).unwrap();
    assert_eq!(all(&store), [games(0..2), games(7..11)].concat());
}

#[test]
fn damage_after_opening_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut bytes, ends) = three_blocks(dir.path());
    let (store, _) = open(dir.path());
    bytes[ends[1] as usize - 1] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let results: Vec<_> = store.read_all().collect();
    assert!(results[0].is_ok() && results[2].is_ok());
    let error = results[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("games-000000.seg") && error.contains("checksum"), "{error}");
}

#[test]
fn a_newer_format_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, mut bytes, _) = three_blocks(dir.path());
    bytes[8] = 3;
    let checksum = crc32fast::hash(&bytes[..12]);
    bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    let error = Store::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("version 3") && error.contains("up to version 2"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes, "nothing was touched");
}

#[test]
fn truncates_at_every_number() {
    for number in 0..45 {
        let dir = tempfile::tempdir().unwrap();
        let (mut store, _) = Store::open_with(dir.path(), 2500).unwrap();
        for start in (0..40).step_by(5) {
            store.append(&games(start..start + 5)).unwrap();
        }
        let rest = store.games_from(number).unwrap();
        store.truncate_to(number).unwrap();
        let kept = number.min(40);
        assert_eq!(rest, games(kept..40));
        assert_eq!(all(&store), games(0..kept));
        store.append(&games(number..number + 3)).unwrap();
        let expected = [games(0..kept), games(number..number + 3)].concat();
        assert_eq!(all(&store), expected);
        let (store, report) = Store::open_with(dir.path(), 2500).unwrap();
        assert!(report.is_clean(), "{report}");
        assert_eq!(all(&store), expected);
    }
}

#[test]
fn errors_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("games");
    fs::write(&file, "not a folder").unwrap();
    let error = Store::open(&file).unwrap_err().to_string();
    assert!(error.contains(&file.display().to_string()), "{error}");
}

#[test]
fn a_failed_append_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path());
    store.append(&games(0..3)).unwrap();
    let (path, hidden) = (store.segments[0].path.clone(), dir.path().join("hidden"));
    fs::rename(&path, &hidden).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(store.append(&games(3..5)), Err(StoreError::Io { .. })));
    fs::remove_dir(&path).unwrap();
    fs::rename(&hidden, &path).unwrap();
    assert_eq!(store.last_number(), Some(2));
    store.append(&games(3..5)).unwrap();
    assert_eq!(all(&open(dir.path()).0), games(0..5));
}

#[test]
fn leftovers_of_a_rewrite_are_removed_and_other_files_left() {
    let dir = tempfile::tempdir().unwrap();
    let (leftover, other) = (dir.path().join("games-000000.tmp"), dir.path().join("notes.txt"));
    fs::write(&leftover, "half").unwrap();
    fs::write(&other, "mine").unwrap();
    open(dir.path());
    assert!(!leftover.exists() && other.exists());
}

/// A segment with one block, as programs wrote it that knew version 1 only.
fn version_1_segment(games: &[GameRecord]) -> Vec<u8> {
    let form = |it: &GameRecord| {
        let Start { sfen, opening, .. } = it.start.clone();
        (it.number, it.rules_hash, it.network, (sfen, opening), it.plies.clone(), it.ending)
    };
    let plain = postcard::to_stdvec(&games.iter().map(form).collect::<Vec<_>>()).unwrap();
    // What `the_stored_form_is_that_of_this_version` noted down for version 1.
    assert_eq!((plain.len(), crc32fast::hash(&plain)), (739, 2081989498));
    let payload = zstd::bulk::compress(&plain, 3).unwrap();
    let mut segment = [&b"KEIKOSEG"[..], &1u32.to_le_bytes()].concat();
    segment.extend(crc32fast::hash(&segment).to_le_bytes());
    let (first, last) = (games[0].number, games[games.len() - 1].number);
    let mut block = [&b"KBLK"[..], &1u32.to_le_bytes()].concat();
    block.extend((games.len() as u32).to_le_bytes());
    block.extend([first.to_le_bytes(), last.to_le_bytes()].concat());
    let words = [payload.len() as u32, plain.len() as u32, crc32fast::hash(&payload)];
    block.extend(words.map(u32::to_le_bytes).concat());
    block.extend(crc32fast::hash(&block).to_le_bytes());
    [segment, block, payload].concat()
}

#[test]
fn games_of_version_1_are_read_and_followed_by_newer_ones() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(segment_name(0)), version_1_segment(&games(0..3))).unwrap();
    let (mut store, report) = open(dir.path());
    assert!(report.is_clean(), "{report}");
    assert_eq!(all(&store), games(0..3));
    store.append(&games(3..5)).unwrap();
    assert_eq!(all(&open(dir.path()).0), games(0..5));
    store.truncate_to(2).unwrap();
    assert_eq!(all(&open(dir.path()).0), games(0..2));
}

/// The stored form names no fields: any change to `GameRecord` or what it holds changes what
/// old bytes mean.
#[test]
fn the_stored_form_is_that_of_this_version() {
    let bytes = postcard::to_stdvec(&games(0..3)).unwrap();
    let known = (FORMAT_VERSION, bytes.len(), crc32fast::hash(&bytes));
    assert_eq!(known, (2, 742, 4201616227), "raise FORMAT_VERSION and keep reading the older one");
}
