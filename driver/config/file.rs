//! Reads a TOML file into dotted keys, each with its line.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::remote::HOST;

/// A key of a file with its value as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Dotted path from the root of the file.
    pub(super) path: String,
    /// The value; `None` for a table without keys.
    pub(super) value: Option<String>,
    /// Line, counted from 1.
    pub(super) number: usize,
}

/// What is wrong with the form of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) line: usize,
    pub(super) message: String,
}

/// All keys of a file, in the order of their lines.
pub(super) fn read(text: &str) -> Result<Vec<Line>, Damage> {
    let document = DeTable::parse(text).map_err(|error| Damage {
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        // Some messages of the parser go over several lines.
        message: error.message().lines().collect::<Vec<_>>().join(", "),
    })?;
    let mut lines = Vec::new();
    flatten(text, "", document.get_ref(), &mut lines)?;
    lines.sort_by_key(|line| line.number);
    Ok(lines)
}

fn flatten(text: &str, prefix: &str, table: &DeTable<'_>, lines: &mut Vec<Line>) -> Result<(), Damage> {
    for (key, value) in table {
        let path =
            if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        let number = line_of(text, key.span().start);
        if path == HOST {
            // The list of hosts is no setting, and is read elsewhere.
            continue;
        }
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => flatten(text, &path, inner, lines)?,
            DeValue::Table(_) => lines.push(Line { path, value: None, number }),
            _ => {
                let value = scalar(value).map_err(|kind| Damage {
                    line: number,
                    message: format!("{path} is {kind}, allowed is a number, a text or true and false"),
                })?;
                lines.push(Line { path, value: Some(value), number });
            }
        }
    }
    Ok(())
}

fn scalar(value: &Spanned<DeValue<'_>>) -> Result<String, &'static str> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(integer) if integer.radix() == 10 => Ok(integer.as_str().to_owned()),
        DeValue::Integer(integer) => {
            let number = u64::from_str_radix(integer.as_str(), integer.radix());
            Ok(number.map_or_else(|_huge| integer.as_str().to_owned(), |number| number.to_string()))
        }
        DeValue::Float(float) => Ok(float.as_str().to_owned()),
        DeValue::Boolean(boolean) => Ok(boolean.to_string()),
        DeValue::Datetime(_) => Err("a date"),
        DeValue::Array(_) => Err("a list"),
        DeValue::Table(_) => Err("a table"),
    }
}

/// Line of a place in a text, counted from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_lines() {
        let text = "# c\n[events]\nevent.rate = 1_000\n\n[engine.native]\npin = false\nhex = 0xff\n[empty]\n";
        let line = |path: &str, value: Option<&str>, number| Line {
            path: path.to_owned(),
            value: value.map(str::to_owned),
            number,
        };
        assert_eq!(
            read(text),
            Ok(vec![
                line("events.event.rate", Some("1000"), 3),
                line("engine.native.pin", Some("false"), 6),
                line("engine.native.hex", Some("255"), 7),
                line("empty", None, 8),
            ])
        );
    }

    #[test]
    fn damage_has_a_line_and_one_line_of_text() {
        let damage = read("[events]\nseed = = 3\n").unwrap_err();
        assert_eq!(damage.line, 2);
        assert!(!damage.message.contains('\n'));
        assert_eq!(read("a = 1\nb = [1]\n").unwrap_err().line, 2);
    }
}
