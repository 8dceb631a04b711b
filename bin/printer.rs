//! The only place that prints. Data goes to stdout and nothing else does, so that it can be piped; progress, warnings
//! and errors go to stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar};

use crate::args::Color;

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

/// What a text is, as far as its colour goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Head,
    Good,
    Doubtful,
    Bad,
    Quiet,
}

/// Says once for all when output is coloured.
pub(crate) fn choose(color: Color) {
    match color {
        // anstream follows the terminal, NO_COLOR and CLICOLOR.
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
}

/// Text in the colour of its tone; stdout and stderr drop the colour where it is not wanted.
pub(crate) fn paint(tone: Tone, text: &str) -> String {
    let style = match tone {
        Tone::Plain => return text.to_owned(),
        Tone::Head => BOLD,
        Tone::Good => GREEN,
        Tone::Doubtful => YELLOW,
        Tone::Bad => RED,
        Tone::Quiet => DIM,
    };
    format!("{style}{text}{style:#}")
}

/// Prints data with its colours.
pub(crate) fn data(text: impl Display) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

/// Stdout for much data without colours.
pub(crate) fn bulk() -> impl Write {
    io::BufWriter::with_capacity(1 << 20, io::stdout().lock())
}

/// Stdout for a stream that ends when its reader goes away.
pub(crate) fn stream() -> io::StdoutLock<'static> {
    io::stdout().lock()
}

/// Says on stderr what is going on.
pub(crate) fn note(text: impl Display) {
    say(&text.to_string());
}

/// Warns on stderr.
pub(crate) fn warning(text: impl Display) {
    say(&format!("{YELLOW}nexmark: warning:{YELLOW:#} {text}"));
}

/// Says on stderr why the command ends.
pub(crate) fn error(text: impl Display) {
    say(&format!("{RED}nexmark:{RED:#} {text}"));
}

/// Whether an error is that of a reader of stdout who went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Bars on stderr. They give way to every line that is printed there.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// Puts a bar on stderr; `None` where nobody would see it move.
pub(crate) fn bar(steps: u64) -> Option<ProgressBar> {
    io::stderr().is_terminal().then(|| BARS.add(ProgressBar::new(steps)))
}

fn say(text: &str) {
    // Nobody is left to be told that stderr is closed.
    BARS.suspend(|| drop(writeln!(anstream::stderr().lock(), "{text}")));
}
