//! Files of commands that play: a growing one of games, a line of JSON each, that one process writes
//! at a time, and those that are there whole or not at all.

use crate::Failure;
use keiko_trainer::scoresheet::Scoresheet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Writes a file as a whole.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let unfinished = path.with_extension("part");
    std::fs::write(&unfinished, text)
        .and_then(|()| std::fs::rename(&unfinished, path))
        .map_err(cannot(path))
}

/// The file, open and locked.
pub(crate) struct GameFile {
    path: PathBuf,
    file: File,
}

impl GameFile {
    /// Opens or makes the file; the games in it. Games come `at_once`: what a crash left of others
    /// is taken away, a line cut short as well.
    pub(crate) fn open(path: &Path, at_once: u64) -> Result<(GameFile, Vec<Scoresheet>), Failure> {
        let options = OpenOptions::new().create(true).read(true).append(true).open(path);
        let mut file = options.map_err(cannot(path))?;
        hold(&file, path, "writes its games")?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(cannot(path))?;
        let lines: Vec<&str> =
            text.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
        let whole = &lines[..lines.len() - lines.len() % at_once as usize];
        let length: usize = whole.iter().map(|line| line.len()).sum();
        if length < text.len() {
            file.set_len(length as u64).map_err(cannot(path))?;
        }
        let read = |(index, line): (usize, &&str)| {
            serde_json::from_str(line).map_err(|error| {
                Failure::data(format!("{}, line {}: {error}", path.display(), index + 1))
            })
        };
        let games = whole.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok((GameFile { path: path.to_owned(), file }, games))
    }

    /// Writes games behind the others.
    pub(crate) fn add(&self, games: &[Scoresheet]) -> Result<(), Failure> {
        let line = |game| serde_json::to_string(game).expect("a scoresheet is plain data") + "\n";
        let lines: String = games.iter().map(line).collect();
        (&self.file).write_all(lines.as_bytes()).map_err(cannot(&self.path))
    }

    /// Has the disk keep all of them.
    pub(crate) fn sync(&self) -> Result<(), Failure> {
        self.file.sync_all().map_err(cannot(&self.path))
    }
}

/// Locks a file until the process ends, or says what another process does with this place.
pub(crate) fn hold(file: &File, place: &Path, does: &str) -> Result<(), Failure> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(Failure::environment(format!("{}: another process {does}", place.display())))
        }
        Err(TryLockError::Error(error)) => Err(cannot(place)(error)),
    }
}

/// The failure to do something with a file.
pub(crate) fn cannot(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let place = path.display().to_string();
    move |error| Failure::environment(format!("{place}: {error}"))
}
