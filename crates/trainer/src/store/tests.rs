//! The store against interruptions and damage at every byte.
#![allow(clippy::unwrap_used)]

use super::*;
use keiko_rules::{Color, Ending, Move, Outcome, Reason, Square};
use keiko_selfplay::{Ply, Proof, Purpose, Start, StartKind, Wdl, generator};
use rand::RngExt;

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
    store.games_from(0).unwrap()
}

/// A store of three blocks in one segment, its bytes, and where each block ends.
fn three_blocks(dir: &Path) -> (PathBuf, Vec<u8>, Vec<u64>) {
    let (mut store, _) = open(dir);
    for numbers in [0..2, 2..5, 7..9] {
        store.append(&games(numbers)).unwrap();
    }
    let ends = store.listing.blocks.iter().map(|block| block.bytes.end).collect();
    let path = store.listing.segments[0].path.clone();
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
    assert!(store.listing.segments.len() > 2, "{} segments", store.listing.segments.len());
    assert_eq!(all(&store), games(0..60));
    let (store, report) = Store::open_with(&dir, 900).unwrap();
    assert!(report.is_clean());
    assert_eq!((report.games, store.games(), store.last_number()), (60, 60, Some(59)));
    assert_eq!(all(&store), games(0..60));
    assert_eq!(store.games_from(33).unwrap(), games(33..60));
    assert_eq!(store.games_from(60).unwrap(), games(0..0));
    let newest = store.listing.read(0..u64::MAX).next_back().unwrap().unwrap();
    assert_eq!(newest, games(54..60));
    let files = fs::read_dir(&dir).unwrap().map(|file| file.unwrap().path());
    let segments = files.filter(|path| path.extension().is_some_and(|it| it == "seg"));
    let on_disk: u64 = segments.map(|path| path.metadata().unwrap().len()).sum();
    assert_eq!(store.listing.bytes(), on_disk);
}

#[test]
fn big_appends_are_split() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path());
    store.append(&games(0..600)).unwrap();
    let sizes: Vec<_> = store.listing.read(0..u64::MAX).map(|block| block.unwrap().len()).collect();
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
    let results: Vec<_> = store.listing.read(0..u64::MAX).collect();
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
    let (path, hidden) = (store.listing.segments[0].path.clone(), dir.path().join("hidden"));
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

/// The games that can be read, in whatever way, and whether anything was complained about.
fn readable(dir: &Path) -> (Vec<GameRecord>, bool) {
    let (listing, report) = Listing::open(dir).unwrap();
    let mut complained = !report.is_clean();
    let mut found = Vec::new();
    for block in listing.read(0..u64::MAX) {
        match block {
            Ok(games) => found.extend(games),
            Err(StoreError::Decode { damage, .. }) => {
                assert!(damage.games.is_some());
                complained = true;
            }
            Err(error) => panic!("{error}"),
        }
    }
    (found, complained)
}

/// A store of three sealed segments, with what lies in its folder.
fn sealed(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut store, _) = Store::open_with(dir, 900).unwrap();
    while store.listing.segments.iter().filter(|segment| segment.indexed).count() < 3 {
        let next = store.last_number().map_or(0, |last| last + 1);
        store.append(&games(next..next + 4)).unwrap();
    }
    assert_eq!(store.listing.segments.len(), 3);
    let paths = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

#[test]
fn a_sealed_store_is_opened_by_its_indexes() {
    let dir = tempfile::tempdir().unwrap();
    let files = sealed(dir.path());
    let (before, _) = readable(dir.path());
    let indexed = || {
        let (store, report) = Store::open_with(dir.path(), 900).unwrap();
        assert!(report.is_clean() && all(&store) == before);
        let listing = Listing::open(dir.path()).unwrap().0;
        listing.segments.iter().filter(|segment| segment.indexed).count()
    };
    assert_eq!(indexed(), 3);
    // One that is missing, or of another file, is made again.
    let is_index = |path: &Path| path.extension().is_some_and(|it| it == "idx");
    let indexes: Vec<_> = files.iter().filter(|(path, _)| is_index(path)).collect();
    fs::remove_file(&indexes[0].0).unwrap();
    fs::write(&indexes[1].0, &indexes[2].1).unwrap();
    assert_eq!(indexed(), 3);
    let mut now: Vec<_> = files.iter().map(|(path, _)| fs::read(path).unwrap()).collect();
    assert!(files.iter().all(|(_, bytes)| now.remove(0) == *bytes));
    // What was sealed can be cut all the same, and goes on.
    let (mut store, _) = Store::open_with(dir.path(), 900).unwrap();
    store.truncate_to(1).unwrap();
    store.append(&games(1..30)).unwrap();
    assert_eq!(all(&open(dir.path()).0), games(0..30));
}

/// Damages one file after the other of a sealed store, a hundred times each: a block is lost at most,
/// never is a game another one, and the store can be gone on with.
fn damage_each(spoil: impl Fn(&mut Vec<u8>, usize, u8), most_lost: usize) {
    let dir = tempfile::tempdir().unwrap();
    let files = sealed(dir.path());
    let (originals, complained) = readable(dir.path());
    assert!(!complained && originals.len() > 8 && files.len() == 6);
    let mut rng = generator(1, Purpose::Batch, 0);
    for round in 0..100 * files.len() {
        let (path, bytes) = &files[round % files.len()];
        let at = rng.random_range(0..bytes.len());
        let mut damaged = bytes.clone();
        spoil(&mut damaged, at, rng.random_range(1..=u8::MAX));
        fs::write(path, &damaged).unwrap();
        let (found, complained) = readable(dir.path());
        let lost = originals.iter().filter(|game| !found.contains(game)).count();
        assert_eq!(lost, originals.len() - found.len(), "a wrong game: {path:?} at {at}");
        // An index costs none.
        let is_index = path.extension().is_some_and(|it| it == "idx");
        let most_lost = if is_index { 0 } else { most_lost };
        assert!(lost <= most_lost && (lost == 0 || complained), "{lost} lost: {path:?} at {at}");
        // It can be gone on with, whatever is damaged; that takes long on some disks.
        if round.is_multiple_of(7) {
            let (mut store, _) = Store::open_with(dir.path(), 900).unwrap();
            store.truncate_to(originals.len() as u64 - 1).unwrap();
            store.append(&games(100..101)).unwrap();
        }
        for file in fs::read_dir(dir.path()).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    }
}

#[test]
fn a_flipped_byte_in_a_sealed_store_never_gives_a_wrong_game() {
    // A block has four games.
    damage_each(|bytes, at, bits| bytes[at] ^= bits, 4);
}

#[test]
fn a_cut_in_a_sealed_store_never_gives_a_wrong_game() {
    // Now and then all of it is gone: a segment's games at most.
    damage_each(|bytes, at, _| bytes.truncate(at.saturating_sub(bytes.len() / 20)), 16);
}

#[test]
fn who_only_lists_games_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Listing::open(&dir.path().join("none")).is_err());
    let (path, bytes, _) = three_blocks(dir.path());
    let leftover = dir.path().join("games-000000.seg.tmp");
    fs::write(&leftover, "half").unwrap();
    fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
    let (listing, report) = Listing::open(dir.path()).unwrap();
    assert_eq!((listing.games(), report.torn.unwrap().games), (5, Some((7, 8))));
    assert_eq!(fs::read(&path).unwrap().len(), bytes.len() - 3);
    assert!(leftover.exists() && fs::read_dir(dir.path()).unwrap().count() == 2);
    // What a run removes meanwhile is missing, no more.
    fs::remove_file(&path).unwrap();
    let block = listing.read(0..u64::MAX).next().unwrap();
    assert!(matches!(block, Err(StoreError::Decode { .. })), "{block:?}");
}

#[test]
fn numbers_are_read_from_both_ends() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path());
    (0..30).step_by(5).for_each(|first| store.append(&games(first..first + 5)).unwrap());
    for (start, end) in [(0, 0), (0, 30), (7, 23), (7, 8), (12, 11), (28, 99), (40, 50)] {
        let blocks = || store.listing.read(start..end).map(Result::unwrap);
        let expected = games(start..end.min(30));
        assert_eq!(blocks().collect::<Vec<_>>().concat(), expected);
        let mut backwards = blocks().rev().collect::<Vec<_>>();
        backwards.reverse();
        assert_eq!(backwards.concat(), expected);
    }
}

#[test]
fn the_oldest_segments_go_first_and_none_that_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = Store::open_with(dir.path(), 900).unwrap();
    (0..200).step_by(4).for_each(|first| store.append(&games(first..first + 4)).unwrap());
    let segments = store.listing.segments.len();
    assert!(segments > 5);
    let before = store.listing.bytes();
    assert_eq!(store.shrink(before, &[]).unwrap(), Removed::default());
    // One segment, the first, is enough; the next removal spares what is needed of the second.
    let removed = store.shrink(before - 1, &[]).unwrap();
    assert_eq!((removed.segments, removed.bytes), (1, before - store.listing.bytes()));
    let first = removed.games;
    assert_eq!(all(&store), games(first..200));
    let second =
        store.shrink(store.listing.bytes() - 1, std::slice::from_ref(&(first..first + 1))).unwrap();
    let kept = all(&store);
    assert_eq!((second.segments, kept[0].number), (1, first));
    assert!(kept.len() as u64 == 200 - first - second.games);
    // Never the last, whatever the bound; and all of it can be opened.
    store.shrink(0, std::slice::from_ref(&(190..200))).unwrap();
    let left = all(&store);
    assert!(left[0].number <= 190 && left.len() < 60 && left[left.len() - 1].number == 199);
    let (mut store, report) = Store::open_with(dir.path(), 900).unwrap();
    assert!(report.is_clean() && all(&store) == left);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), {
        let indexed = store.listing.segments.iter().filter(|segment| segment.indexed).count();
        store.listing.segments.len() + indexed
    });
    store.append(&games(200..210)).unwrap();
    store.truncate_to(190).unwrap();
    assert!(all(&store).iter().all(|game| game.number < 190));
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
