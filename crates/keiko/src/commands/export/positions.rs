//! Positions of games as the rows of a Parquet file.

use crate::Failure;
use crate::commands::games::{opening, side_name, start_name};
use crate::commands::selection::Selection;
use keiko_selfplay::{GameRecord, Wdl};
use keiko_trainer::Records;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows that are written at a time.
const GROUP_ROWS: usize = 65_536;

/// A position of a game, before the move that was played there.
struct Row {
    game: i64,
    generation: i32,
    ply: i32,
    sfen: String,
    side: &'static str,
    mv: String,
    policy: Vec<(String, f32)>,
    root: Wdl,
    raw: Wdl,
    result: i32,
    plies_left: i32,
    surprise: f32,
    full: bool,
    simulations: i32,
    start: String,
    reason: String,
}

/// What a column holds of a row.
enum Cell {
    Long(fn(&Row) -> i64),
    Whole(fn(&Row) -> i32),
    Number(fn(&Row) -> f32),
    Flag(fn(&Row) -> bool),
    Text(fn(&Row) -> &str),
    /// A list of as many texts as the policy has moves.
    Moves,
    /// A list of as many numbers.
    Weights,
}

/// The file's columns in order. Chances and results are the side to move's.
const COLUMNS: [(&str, Cell); 21] = [
    ("game", Cell::Long(|row| row.game)),
    ("generation", Cell::Whole(|row| row.generation)),
    ("ply", Cell::Whole(|row| row.ply)),
    ("sfen", Cell::Text(|row| &row.sfen)),
    ("side", Cell::Text(|row| row.side)),
    ("move", Cell::Text(|row| &row.mv)),
    ("policy_moves", Cell::Moves),
    ("policy_weights", Cell::Weights),
    ("root_win", Cell::Number(|row| row.root.win)),
    ("root_draw", Cell::Number(|row| row.root.draw)),
    ("root_loss", Cell::Number(|row| row.root.loss)),
    ("raw_win", Cell::Number(|row| row.raw.win)),
    ("raw_draw", Cell::Number(|row| row.raw.draw)),
    ("raw_loss", Cell::Number(|row| row.raw.loss)),
    ("result", Cell::Whole(|row| row.result)),
    ("plies_left", Cell::Whole(|row| row.plies_left)),
    ("surprise", Cell::Number(|row| row.surprise)),
    ("full", Cell::Flag(|row| row.full)),
    ("simulations", Cell::Whole(|row| row.simulations)),
    ("start", Cell::Text(|row| &row.start)),
    ("reason", Cell::Text(|row| &row.reason)),
];

/// Writes the positions of the games that are meant; `path` must not be there yet. Returns the
/// numbers of games and of positions.
pub(super) fn write(
    records: &Records,
    selection: &Selection,
    path: &Path,
) -> Result<(u64, u64), Failure> {
    if path.exists() {
        return Err(Failure::usage(format!("{}: is there already", path.display())));
    }
    // One of its own for each that is at it.
    let temporary = path.with_added_extension(format!("tmp-{}", std::process::id()));
    let file = File::create(&temporary).map_err(|error| failure(path, error))?;
    let put_in_place =
        |file: File| file.sync_all().and_then(|()| std::fs::rename(&temporary, path));
    let written = write_file(records, selection, file, path).and_then(|(file, counts)| {
        put_in_place(file).map_err(|error| failure(path, error))?;
        Ok(counts)
    });
    // Half a file is of no use to anybody.
    written.inspect_err(|_| _ = std::fs::remove_file(&temporary))
}

fn write_file(
    records: &Records,
    selection: &Selection,
    file: File,
    path: &Path,
) -> Result<(File, (u64, u64)), Failure> {
    let failed = |error: ParquetError| failure(path, error);
    let schema = Arc::new(parse_message_type(&schema()).map_err(failed)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(failed)?;
    let (mut rows, mut positions) = (Vec::new(), 0);
    let games = selection.for_each(records, |game| {
        push_rows(&mut rows, game, records)?;
        positions += game.plies.len() as u64;
        if rows.len() >= GROUP_ROWS {
            write_group(&mut writer, &rows).map_err(failed)?;
            rows.clear();
        }
        Ok(())
    })?;
    if !rows.is_empty() {
        write_group(&mut writer, &rows).map_err(failed)?;
    }
    Ok((writer.into_inner().map_err(failed)?, (games, positions)))
}

fn failure(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
}

fn schema() -> String {
    let column = |(name, cell): &(&str, Cell)| match cell {
        Cell::Long(_) => format!("required int64 {name};"),
        Cell::Whole(_) => format!("required int32 {name};"),
        Cell::Number(_) => format!("required float {name};"),
        Cell::Flag(_) => format!("required boolean {name};"),
        Cell::Text(_) => format!("required binary {name} (UTF8);"),
        Cell::Moves => list(name, "binary element (UTF8)"),
        Cell::Weights => list(name, "float element"),
    };
    let columns: Vec<String> = COLUMNS.iter().map(column).collect();
    format!("message positions {{ {} }}", columns.join(" "))
}

fn list(name: &str, element: &str) -> String {
    format!("required group {name} (LIST) {{ repeated group list {{ required {element}; }} }}")
}

/// Adds a game's positions, all that were searched.
fn push_rows(rows: &mut Vec<Row>, game: &GameRecord, records: &Records) -> Result<(), Failure> {
    let rules = &records.rules;
    let mut position = opening(game, records)?;
    for (index, ply) in game.plies.iter().enumerate() {
        let side = position.side_to_move();
        let result = Wdl::of(game.ending.outcome, side);
        rows.push(Row {
            game: game.number as i64,
            generation: records.generation(game.number) as i32,
            ply: position.ply() as i32,
            sfen: position.position().to_sfen(rules),
            side: side_name(side),
            mv: ply.mv.to_usi(rules),
            policy: ply.policy.iter().map(|&(mv, weight)| (mv.to_usi(rules), weight)).collect(),
            root: ply.root,
            raw: ply.raw,
            result: (result.win - result.loss) as i32,
            plies_left: game.plies_left(index) as i32,
            surprise: ply.surprise,
            full: ply.full,
            simulations: ply.simulations as i32,
            start: start_name(game),
            reason: game.ending.reason.to_string(),
        });
        position.play(ply.mv);
    }
    Ok(())
}

fn write_group(writer: &mut SerializedFileWriter<File>, rows: &[Row]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (_, cell) in &COLUMNS {
        let column = group.next_column()?.expect("the schema has the columns of the table");
        write_column(column, cell, rows)?;
    }
    group.close().map(|_| ())
}

fn write_column(
    column: SerializedColumnWriter<'_>,
    cell: &Cell,
    rows: &[Row],
) -> Result<(), ParquetError> {
    match cell {
        Cell::Long(of) => plain::<Int64Type>(column, rows.iter().map(of)),
        Cell::Whole(of) => plain::<Int32Type>(column, rows.iter().map(of)),
        Cell::Number(of) => plain::<FloatType>(column, rows.iter().map(of)),
        Cell::Flag(of) => plain::<BoolType>(column, rows.iter().map(of)),
        Cell::Text(of) => plain::<ByteArrayType>(column, rows.iter().map(|row| of(row).into())),
        Cell::Moves => lists::<ByteArrayType>(column, rows, |(mv, _)| ByteArray::from(mv.as_str())),
        Cell::Weights => lists::<FloatType>(column, rows, |&(_, weight)| weight),
    }
}

/// A value a row.
fn plain<T: DataType>(
    mut column: SerializedColumnWriter<'_>,
    values: impl Iterator<Item = T::T>,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = values.collect();
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

/// A list a row: each value says whether it is there at all (an empty list has none) and whether
/// it goes on with the list of the one before.
fn lists<T: DataType>(
    mut column: SerializedColumnWriter<'_>,
    rows: &[Row],
    of: impl Fn(&(String, f32)) -> T::T,
) -> Result<(), ParquetError> {
    let (mut values, mut there, mut goes_on) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let count = row.policy.len();
        values.extend(row.policy.iter().map(&of));
        there.extend(std::iter::repeat_n(i16::from(count > 0), count.max(1)));
        goes_on.extend((0..count.max(1)).map(|place| i16::from(place > 0)));
    }
    column.typed::<T>().write_batch(&values, Some(&there), Some(&goes_on))?;
    column.close()
}
