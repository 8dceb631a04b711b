//! `generate`: the events of the stream as NDJSON on stdout, or as three CSV files.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use nexmark_driver::config::{Config, count};
use nexmark_queries::generator::Generator;
use nexmark_queries::ndjson::{self, Table};

use crate::args::{EventFormat, GenerateArguments, Global};
use crate::printer;

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 1 << 20;
/// Positions end here, as in the configuration.
const POSITION_MAX: u64 = 1 << 53;

/// Prints or writes the events.
pub(crate) fn command(global: &Global, arguments: &GenerateArguments) -> Result<ExitCode> {
    let mut config = crate::config::load(global)?;
    if let Some(events) = &arguments.events {
        config.apply_flag("--events", "workload.events", events)?;
    }
    let positions = positions(&config, &arguments.from)?;
    let generator = Generator::new(config.options()?)?;
    match (arguments.format, &arguments.out) {
        (EventFormat::Ndjson, None) => print(&generator, positions)?,
        (EventFormat::Csv, Some(directory)) => write_csv(&generator, positions, directory)?,
        (EventFormat::Ndjson, Some(_)) => {
            bail!("--out has no effect with --format ndjson, which goes to stdout")
        }
        (EventFormat::Csv, None) => {
            bail!("--format csv needs --out DIR, since it makes a file for each kind of event")
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn positions(config: &Config, from: &str) -> Result<std::ops::Range<u64>> {
    let events = config.events();
    let allowed = POSITION_MAX - events;
    match count(from).filter(|from| *from <= allowed) {
        Some(from) => Ok(from..from + events),
        None => bail!("--from is {from:?}, allowed is a whole number from 0 to {allowed}"),
    }
}

fn print(generator: &Generator, positions: std::ops::Range<u64>) -> Result<()> {
    let mut stdout = printer::bulk();
    let mut chunk = String::with_capacity(2 * CHUNK_BYTES);
    for position in positions {
        ndjson::write(&generator.event(position), generator.texts(), &mut chunk);
        if chunk.len() >= CHUNK_BYTES {
            stdout.write_all(chunk.as_bytes())?;
            chunk.clear();
        }
    }
    stdout.write_all(chunk.as_bytes())?;
    Ok(stdout.flush()?)
}

fn write_csv(generator: &Generator, positions: std::ops::Range<u64>, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot make --out {}", directory.display()))?;
    let mut files = Vec::new();
    for table in Table::ALL {
        files.push(CsvFile::create(directory, table)?);
    }
    for position in positions {
        let event = generator.event(position);
        let table = Table::of(&event);
        if let Some(file) = files.iter_mut().find(|file| file.table == table) {
            ndjson::csv_row(&event, generator.texts(), &mut file.row);
            file.write()?;
        }
    }
    files.iter_mut().try_for_each(CsvFile::finish)
}

/// The file of one table.
struct CsvFile {
    table: Table,
    path: String,
    file: BufWriter<File>,
    row: String,
}

impl CsvFile {
    fn create(directory: &Path, table: Table) -> Result<Self> {
        let path = directory.join(format!("{}.csv", table.name()));
        let shown = path.display().to_string();
        let file = File::create(&path).with_context(|| format!("cannot write {shown}"))?;
        let mut row = String::new();
        ndjson::csv_header(table, &mut row);
        let mut file = Self { table, path: shown, file: BufWriter::with_capacity(CHUNK_BYTES, file), row };
        file.write()?;
        Ok(file)
    }

    fn write(&mut self) -> Result<()> {
        let written = self.file.write_all(self.row.as_bytes());
        self.row.clear();
        written.with_context(|| format!("cannot write {}", self.path))
    }

    fn finish(&mut self) -> Result<()> {
        self.file.flush().with_context(|| format!("cannot write {}", self.path))
    }
}
