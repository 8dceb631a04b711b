//! Ctrl-C and SIGTERM: the first one ends the run and keeps what was measured, the second one ends the program at once.

use anyhow::{Context as _, Result};
use nexmark_driver::run::{Interrupt, Interrupter};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::printer;

/// Exit code of an interrupted command: 128 and the number of SIGINT, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// Listens for signals from now on; `doing` is what the first one does. Needs a runtime that goes on while a run blocks one
/// of its threads.
pub(crate) fn listen(doing: &'static str) -> Result<Interrupt> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let signals = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let (interrupter, interrupt) = Interrupter::new();
    tokio::spawn(wait(signals, interrupter, doing));
    Ok(interrupt)
}

async fn wait((mut interrupts, mut terminations): (Signal, Signal), interrupter: Interrupter, doing: &str) {
    next(&mut interrupts, &mut terminations).await;
    printer::note(format!("nexmark: interrupted: {doing}; once more quits at once"));
    interrupter.interrupt();
    next(&mut interrupts, &mut terminations).await;
    quit();
}

async fn next(interrupts: &mut Signal, terminations: &mut Signal) {
    tokio::select! {
        _ = interrupts.recv() => {}
        _ = terminations.recv() => {}
    }
}

#[expect(clippy::exit, reason = "an engine that hangs must not keep the user from leaving")]
fn quit() -> ! {
    std::process::exit(i32::from(INTERRUPTED))
}
