//! Steps as they are performed: a bar on a terminal, and a line each everywhere.

use cloud_port::driver::Journal;
use console::style;
use indicatif::{ProgressBar, ProgressStyle};
use ownership::time::Millis;
use ownership::{CloudError, Reason, Step};
use say::Unheard;

use cloud_port::words;

use crate::show;

/// Shows Steps. The bar is on standard error, and only if that is a terminal; the lines are on
/// standard output.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Why the last line could not be shown: a Journal cannot say so itself.
    unheard: Option<Unheard>,
}

impl Progress {
    /// Progress towards that many Steps.
    pub(crate) fn new(steps: usize) -> Self {
        let bar = ProgressBar::new(steps as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:40.green/dim} {pos}/{len} Steps") {
            bar.set_style(style);
        }
        Self { bar, unheard: None }
    }

    /// Time passes.
    pub(crate) fn waits(&mut self, span: Millis, reason: &Reason) {
        let line = format!("  … {span} of virtual time pass: {reason}");
        self.show(&style(line).dim().to_string());
    }

    /// Whether everything so far was shown.
    pub(crate) fn check(&mut self) -> Result<(), Unheard> {
        self.unheard.take().map_or(Ok(()), Err)
    }

    fn show(&mut self, line: &str) {
        let shown = self.bar.suspend(|| say::line!("{line}"));
        self.unheard = self.unheard.take().or(shown.err());
    }
}

impl Journal for Progress {
    fn step(&mut self, step: &Step, _: &Reason, outcome: Result<(), &CloudError>) {
        let (verb, deed) = (show::verb(step.verb()), words::deed(step));
        self.show(&match outcome {
            Ok(()) => format!("  {} {verb} {deed}", style("✓").green()),
            Err(error) => format!("  {} {verb} {deed}: {error}", style("✗").red()),
        });
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
