//! What command lines say: a failure to say it is an error, not a panic as with `println!`.
//!
//! ```
//! fn main() -> std::process::ExitCode {
//!     say::end(run())
//! }
//!
//! fn run() -> anyhow::Result<std::process::ExitCode> {
//!     say::line!("created {}", 3)?;
//!     Ok(std::process::ExitCode::SUCCESS)
//! }
//! ```

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// Standard output does not take what we say: its reader has gone, or its disk is full.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub struct Unheard(#[from] io::Error);

/// Says a line on standard output, which is formatted as by `println!`.
#[macro_export]
macro_rules! line {
    ($($text:tt)*) => {
        $crate::text(::std::format_args!("{}\n", ::std::format_args!($($text)*)))
    };
}

/// Says something on standard output.
///
/// # Errors
/// What standard output has against it.
pub fn text(text: fmt::Arguments<'_>) -> Result<(), Unheard> {
    Ok(io::stdout().lock().write_fmt(text)?)
}

/// Asks on standard output, and hears a line on standard input: whether it says yes. Where nobody
/// answers, the answer is no.
///
/// # Errors
/// What standard output has against it.
pub fn asked(question: &str) -> Result<bool, Unheard> {
    text(format_args!("{question}"))?;
    io::stdout().lock().flush()?;
    let mut answer = String::new();
    let heard = io::stdin().read_line(&mut answer);
    // What is typed ends the line; nothing else does.
    if !io::stdin().is_terminal() || !heard.is_ok_and(|bytes| bytes > 0) {
        text(format_args!("\n"))?;
    }
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Says what went wrong on standard error; where nobody listens there either, nobody is told.
pub fn error(error: &anyhow::Error) {
    let _ = writeln!(io::stderr().lock(), "error: {error:#}");
}

/// How a program ends: an error is said. Only a reader that has gone (`| head`) is none.
pub fn end(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    let flushed = io::stdout().lock().flush().map_err(Unheard);
    match outcome.and_then(|code| flushed.map(|()| code).map_err(anyhow::Error::new)) {
        Ok(code) => code,
        Err(error) if is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            self::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Whether an error says that whoever read our output has had enough.
fn is_gone(error: &anyhow::Error) -> bool {
    let unheard = error.downcast_ref::<Unheard>();
    unheard.is_some_and(|Unheard(source)| source.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_reader_that_has_gone_is_no_error() {
        let unheard = |kind: io::ErrorKind| anyhow::Error::new(Unheard(kind.into()));
        assert!(is_gone(&unheard(io::ErrorKind::BrokenPipe)));
        assert!(is_gone(
            &unheard(io::ErrorKind::BrokenPipe).context("the demo")
        ));
        assert!(!is_gone(&unheard(io::ErrorKind::StorageFull)));
        let elsewhere = anyhow::Error::new(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(!is_gone(&elsewhere));
        let full = unheard(io::ErrorKind::StorageFull);
        assert!(format!("{full:#}").starts_with("cannot write to standard output: "));
    }
}
