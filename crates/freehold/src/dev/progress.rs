//! Steps as they are performed: a bar on a terminal, and a line each everywhere.

use cloud_port::driver::Journal;
use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use ownership::time::Millis;
use ownership::{CloudError, Reason, Step};

use cloud_port::words;

use crate::show;

/// Shows Steps. The bar is on standard error, and only if that is a terminal; the lines are on
/// standard output.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Progress towards that many Steps.
    pub(crate) fn new(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:40.green/dim} {pos}/{len} Steps") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Time passes.
    pub(crate) fn waits(&self, span: Millis, reason: &Reason) {
        let line = format!("  … {span} of virtual time pass: {reason}");
        self.bar.suspend(|| println!("{}", style(line).dim()));
    }
}

impl Journal for Progress {
    fn step(&mut self, step: &Step, _: &Reason, outcome: Result<(), &CloudError>) {
        let (verb, deed) = (show::verb(step.verb()), words::deed(step));
        self.bar.suspend(|| match outcome {
            Ok(()) => println!("  {} {verb} {deed}", style("✓").green()),
            Err(error) => println!("  {} {verb} {deed}: {error}", style("✗").red()),
        });
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
