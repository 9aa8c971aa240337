//! What is written, and that going back to a position undoes all that came after it.
#![allow(clippy::unwrap_used)]

use super::*;

fn open(run: &Path, position: &MetricsPosition) -> Metrics {
    let (metrics, missing) = Metrics::open(run, position, 1000.0).unwrap();
    assert_eq!(missing, Vec::<String>::new());
    metrics
}

fn report(metrics: &mut Metrics, step: u64) {
    metrics.scalar("loss/total", step, 1.0 / step as f64).unwrap();
    metrics.scalar("system/rate", step, step as f64).unwrap();
    metrics.flush(1000.0 + step as f64).unwrap();
}

/// Every file of the run folder with its bytes.
fn contents(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = [run.to_owned(), run.join(EVENTS)].into_iter().flat_map(|dir| {
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    });
    entries.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Checks the framing of an event file and returns the number of its records.
fn records(mut bytes: &[u8]) -> usize {
    let masked = tensorboard_rs::masked_crc32c::masked_crc32c;
    let mut count = 0;
    while !bytes.is_empty() {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        assert_eq!(masked(&bytes[..8]).to_le_bytes(), bytes[8..12]);
        let (data, rest) = bytes[12..].split_at(length);
        assert_eq!(masked(data).to_le_bytes(), rest[..4]);
        bytes = &rest[4..];
        count += 1;
    }
    count
}

#[test]
fn one_line_and_one_event_per_step() {
    let run = tempfile::tempdir().unwrap();
    let mut metrics = open(run.path(), &MetricsPosition::default());
    assert!(!metrics.has_layout());
    let charts = [
        Chart::Lines { title: "loss", tags: &["loss/.*"] },
        Chart::Band { title: "Elo", tag: "arena/elo" },
    ];
    metrics.layout(&[("Am I learning?", &charts)]).unwrap();
    assert!(metrics.has_layout());
    metrics.text("text/experiment", 0, "# smoke").unwrap();
    metrics.histogram("selfplay/lengths", 0, &[1.0, 2.0, f32::NAN]).unwrap();
    metrics.flush(1000.0).unwrap();
    metrics.scalar("a/x", 5, 0.1).unwrap();
    metrics.scalar("a/y", 5, f64::NAN).unwrap();
    metrics.scalar("a/x", 6, 2.0).unwrap();
    metrics.flush(1001.5).unwrap();
    let text = fs::read_to_string(run.path().join(LINES)).unwrap();
    let expected = concat!(
        r#"{"step":5,"wall_time":1001.5,"a/x":0.1,"a/y":null}"#,
        "\n",
        r#"{"step":6,"wall_time":1001.5,"a/x":2.0}"#,
        "\n"
    );
    assert_eq!(text, expected);
    let events = fs::read(run.path().join(EVENTS).join(event_file_name(0))).unwrap();
    assert_eq!(records(&events), 5);
}

#[test]
fn a_tag_never_has_two_values_at_a_step() {
    let run = tempfile::tempdir().unwrap();
    let mut metrics = open(run.path(), &MetricsPosition::default());
    metrics.scalar("a", 5, 1.0).unwrap();
    assert!(matches!(metrics.scalar("a", 5, 1.0), Err(MetricsError::StepBack { .. })));
    metrics.flush(0.0).unwrap();
    for step in [4, 5] {
        let error = metrics.scalar("a", step, 1.0).unwrap_err();
        assert!(error.to_string().contains("step 5"), "{error}");
    }
    metrics.scalar("b", 5, 1.0).unwrap();
    let position = metrics.position(0.0).unwrap();
    let mut metrics = open(run.path(), &position);
    assert!(metrics.scalar("b", 5, 1.0).is_err());
    for tag in ["", "step", "wall_time"] {
        assert!(matches!(metrics.scalar(tag, 9, 1.0), Err(MetricsError::Tag { .. })));
    }
}

#[test]
fn going_back_to_a_position_undoes_the_rest() {
    let run = tempfile::tempdir().unwrap();
    let mut metrics = open(run.path(), &MetricsPosition::default());
    (1..4).for_each(|step| report(&mut metrics, step));
    let position = metrics.position(1010.0).unwrap();
    let at_position = contents(run.path());
    (4..7).for_each(|step| report(&mut metrics, step));
    drop(metrics);
    for restart in 1..4 {
        let mut metrics = open(run.path(), &position);
        report(&mut metrics, 4);
        let mut files = contents(run.path());
        let name = run.path().join(EVENTS).join(event_file_name(restart));
        assert_eq!(records(&files.remove(&name).unwrap()), 3);
        let lines = files.get_mut(&run.path().join(LINES)).unwrap();
        lines.truncate(position.lines as usize);
        files.retain(|_, bytes| !bytes.is_empty());
        assert_eq!(files, at_position);
    }
    let lines = read_lines(run.path()).unwrap();
    assert_eq!(lines.iter().map(|line| line.step).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn a_position_names_all_event_files() {
    let run = tempfile::tempdir().unwrap();
    let mut position = MetricsPosition::default();
    for session in 1..4 {
        let mut metrics = open(run.path(), &position);
        report(&mut metrics, session);
        position = metrics.position(0.0).unwrap();
    }
    let names: Vec<_> = position.event_files.keys().cloned().collect();
    assert_eq!(names, (0..3).map(event_file_name).collect::<Vec<_>>());
    let text = serde_json::to_string(&position).unwrap();
    assert_eq!(serde_json::from_str::<MetricsPosition>(&text).unwrap(), position);
}

#[test]
fn a_missing_past_is_reported_and_no_hindrance() {
    let run = tempfile::tempdir().unwrap();
    let mut metrics = open(run.path(), &MetricsPosition::default());
    report(&mut metrics, 1);
    let position = metrics.position(0.0).unwrap();
    drop(metrics);
    fs::remove_dir_all(run.path().join(EVENTS)).unwrap();
    fs::write(run.path().join(LINES), "").unwrap();
    let (mut metrics, missing) = Metrics::open(run.path(), &position, 0.0).unwrap();
    assert_eq!(missing.len(), 2);
    report(&mut metrics, 2);
    assert_eq!(read_lines(run.path()).unwrap().len(), 1);
}

#[test]
fn others_files_are_left_alone() {
    let run = tempfile::tempdir().unwrap();
    let theirs = run.path().join(EVENTS).join("events.out.tfevents.1700000000.host");
    fs::create_dir_all(run.path().join(EVENTS)).unwrap();
    fs::write(&theirs, "theirs").unwrap();
    open(run.path(), &MetricsPosition::default());
    assert_eq!(fs::read(&theirs).unwrap(), b"theirs");
}

#[test]
fn comparable_lines_are_free_of_the_machine() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (run, speed) in [(&one, 10.0), (&two, 20.0)] {
        let mut metrics = open(run.path(), &MetricsPosition::default());
        metrics.scalar("loss/total", 1, 0.5).unwrap();
        metrics.scalar("system/rate", 1, speed).unwrap();
        metrics.flush(speed).unwrap();
        metrics.scalar("system/rate", 2, speed).unwrap();
        metrics.flush(speed).unwrap();
    }
    assert_ne!(read_lines(one.path()).unwrap(), read_lines(two.path()).unwrap());
    let lines = comparable(one.path()).unwrap();
    assert_eq!(lines, comparable(two.path()).unwrap());
    assert_eq!(lines.len(), 1);
    assert!(is_machine_dependent("system/memory") && !is_machine_dependent("systematic"));
}

#[test]
fn a_damaged_line_is_named_and_an_unfinished_one_left_out() {
    let run = tempfile::tempdir().unwrap();
    let path = run.path().join(LINES);
    fs::write(&path, "{\"step\":1,\"wall_time\":0.0,\"a\":1.5}\n{\"step\":2,\"wall").unwrap();
    assert_eq!(read_lines(run.path()).unwrap()[0].scalars["a"], Some(1.5));
    fs::write(&path, "{\"step\":1,\"wall_time\":0.0}\n{\"step\"\n{}\n").unwrap();
    let error = read_lines(run.path()).unwrap_err().to_string();
    assert!(error.contains("metrics.jsonl, line 2"), "{error}");
    // Who only looks makes do with the others.
    fs::write(&path, b"{\"step\":1,\"wall_time\":0.0}\n\xff\n{\"step\":3,\"wall_time\":0.0}\n")
        .unwrap();
    let (lines, damaged) = sound_lines(run.path()).unwrap();
    assert_eq!(lines.iter().map(|line| line.step).collect::<Vec<_>>(), [1, 3]);
    assert!(damaged[0].to_string().contains("metrics.jsonl, line 2"), "{damaged:?}");
    fs::write(&path, "").unwrap();
    assert!(sound_lines(run.path()).unwrap().0.is_empty());
}

#[test]
fn histograms_count_everything_finite() {
    let run = tempfile::tempdir().unwrap();
    let mut metrics = open(run.path(), &MetricsPosition::default());
    for (step, values) in [&[][..], &[3.0], &[f32::INFINITY], &[-1.0, 0.0, 1.0]].iter().enumerate()
    {
        metrics.histogram("h", step as u64, values).unwrap();
    }
    metrics.flush(0.0).unwrap();
}

#[test]
fn errors_name_the_file() {
    let run = tempfile::tempdir().unwrap();
    fs::write(run.path().join(EVENTS), "a file").unwrap();
    let error = Metrics::open(run.path(), &MetricsPosition::default(), 0.0).unwrap_err();
    assert!(error.to_string().contains("tensorboard"), "{error}");
}

#[test]
fn a_long_event_file_is_followed_by_another_behind_a_checkpoint() {
    let run = tempfile::tempdir().unwrap();
    let mut metrics = open(run.path(), &MetricsPosition::default());
    metrics.event_file_bytes = 200;
    let mut names = Vec::new();
    let mut positions = Vec::new();
    for step in 1..8 {
        report(&mut metrics, step);
        let position = metrics.position(1010.0).unwrap();
        names.push(position.event_files.len());
        positions.push((position, contents(run.path())));
    }
    // The first report alone is shorter than that, two are longer.
    assert_eq!(names[..3], [1, 2, 2], "{names:?}");
    assert!(names[6] > 2, "{names:?}");
    // Whichever checkpoint is gone back to: what came before it stays, what came later is void.
    for (position, then) in positions.into_iter().rev() {
        drop(open(run.path(), &position));
        let now = contents(run.path());
        for name in position.event_files.keys() {
            let path = run.path().join(EVENTS).join(name);
            assert_eq!(now[&path], then[&path], "{name}");
        }
        let new = now.iter().filter(|(path, bytes)| !then.contains_key(*path) && !bytes.is_empty());
        assert_eq!(new.count(), 1);
    }
}

#[test]
fn sessions_are_counted() {
    let run = tempfile::tempdir().unwrap();
    let mut position = MetricsPosition::default();
    for session in 1..4 {
        let mut metrics = open(run.path(), &position);
        assert_eq!(metrics.sessions(), session);
        position = metrics.position(0.0).unwrap();
    }
    // One that was killed before its first checkpoint counts no more.
    drop(open(run.path(), &position));
    assert_eq!(open(run.path(), &position).sessions(), 4);
}

/// The files of a run in which a tag stands.
fn mentions(run: &Path, tag: &str) -> usize {
    let files = contents(run).into_values();
    files.filter(|bytes| bytes.windows(tag.len()).any(|window| window == tag.as_bytes())).count()
}

#[test]
fn a_complete_run_says_so_until_it_is_gone_on_with() {
    let run = tempfile::tempdir().unwrap();
    let mut metrics = open(run.path(), &MetricsPosition::default());
    report(&mut metrics, 1);
    let position = metrics.position(0.0).unwrap();
    assert_eq!(mentions(run.path(), settings::END_TAG), 0);
    metrics.complete(1, 1.0).unwrap();
    drop(metrics);
    assert_eq!(mentions(run.path(), settings::END_TAG), 1);
    // As often as the run is asked to go on and finds itself complete, it says so once.
    for _ in 0..2 {
        let mut metrics = open(run.path(), &position);
        assert_eq!(mentions(run.path(), settings::END_TAG), 0);
        metrics.complete(1, 1.0).unwrap();
        assert_eq!(mentions(run.path(), settings::END_TAG), 1);
    }
}
