//! A table, as text for the terminal, as Markdown or as CSV.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, presets};

use crate::printer::{Tone, paint};

/// Characters between two columns.
const GAP: u16 = 2;
/// Narrower than this, in characters, text is not broken into lines any more.
const WRAPPED_MIN: u16 = 24;

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
    /// Left, and the only one that is broken into lines where the terminal is narrow.
    Wrapped,
}

/// A cell: its text and how it is coloured on a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell in a tone.
    pub(crate) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::toned(Tone::Plain, text)
    }
}

/// Rows under a header.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table of these columns.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// For a terminal: aligned columns without borders, wrapped to its width. The printer drops the colours where they
    /// are not wanted.
    pub(crate) fn terminal(&self) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(self.columns.iter().map(|(name, _)| paint(Tone::Head, name)));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| paint(cell.tone, &cell.text)));
        }
        for (column, (_, align)) in table.column_iter_mut().zip(&self.columns) {
            column.set_padding((0, GAP)).set_cell_alignment(match align {
                Align::Left | Align::Wrapped => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
            if *align != Align::Wrapped {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        if self.is_too_wide(&table) {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// Whether too little of the terminal is left for the wrapped column; the terminal breaks the lines better then.
    fn is_too_wide(&self, table: &comfy_table::Table) -> bool {
        let widths = table.column_max_content_widths();
        let fixed = self.columns.iter().zip(&widths).filter(|((_, align), _)| *align != Align::Wrapped);
        let fixed: u16 = fixed.map(|(_, width)| width + GAP).sum();
        table.width().is_some_and(|width| fixed + WRAPPED_MIN > width)
    }

    /// For a document.
    pub(crate) fn markdown(&self) -> String {
        let mut lines = vec![row_of(self.columns.iter().map(|(name, _)| name.as_str()))];
        lines.push(row_of(self.columns.iter().map(|(_, align)| match align {
            Align::Left | Align::Wrapped => "---",
            Align::Right => "---:",
        })));
        lines.extend(self.rows.iter().map(|row| row_of(row.iter().map(|cell| cell.text.as_str()))));
        lines.join("\n")
    }
}

/// A line of CSV, quoted by RFC 4180 where a text needs it.
pub(crate) fn csv_line<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = |value: &str| {
        if value.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", value.replace('"', "\"\""))
        } else {
            value.to_owned()
        }
    };
    values.into_iter().map(quoted).collect::<Vec<_>>().join(",")
}

fn row_of<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|").replace('<', "&lt;")).collect();
    format!("| {} |", cells.join(" | "))
}
