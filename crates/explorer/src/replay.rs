//! Runs a stored schedule again, and says what happened.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use ownership::Freehold;

use crate::chooser::Chooser;
use crate::fault::Choice;
use crate::mutants;
use crate::run::{self, Outcome};
use crate::scenario;
use crate::stored::Stored;

/// Replays a file; fails if a law is broken.
pub(crate) fn replay(file: &Path) -> anyhow::Result<ExitCode> {
    let here = || file.display().to_string();
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", here()))?;
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{}: this is not text, so it is no stored schedule", here());
    };
    let stored: Stored = text.parse().with_context(here)?;
    let outcome = run(&stored).with_context(here)?;
    if let Some(idle) = first_idle(&stored.schedule.choices, &outcome.fired) {
        bail!(
            "{}: nothing comes of `{} {}`: the run has no such point, or that cannot happen there",
            here(),
            idle.point,
            idle.fault.word()
        );
    }
    for line in &outcome.log {
        say::line!("{line}")?;
    }
    say::text(format_args!("{stored}"))?;
    if let Some(violation) = outcome.violation {
        say::line!("violation of law {}: {}", violation.law, violation.what)?;
        Ok(ExitCode::FAILURE)
    } else {
        say::line!("no violation")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Runs a stored schedule, and takes note of what happens.
pub(crate) fn run(stored: &Stored) -> anyhow::Result<Outcome> {
    let all = scenario::all();
    let Some(known) = all.iter().find(|known| known.name == stored.scenario) else {
        bail!("{}", unknown_scenario(&all, &stored.scenario));
    };
    let mut scenario = known.clone();
    scenario.logs = true;
    let (chooser, turns) = (
        Chooser::script(&stored.schedule, false),
        &stored.schedule.turns,
    );
    if stored.mutant.is_empty() {
        return Ok(run::run(&scenario, &Freehold, chooser, turns));
    }
    let all = mutants::all();
    let Some(mutant) = all.iter().find(|mutant| mutant.name == stored.mutant) else {
        let names: Vec<&str> = all.iter().map(|mutant| mutant.name).collect();
        bail!(
            "no mutant is called {:?}; there are:\n{}",
            stored.mutant,
            names.join("\n")
        );
    };
    scenario.flaw = mutant.flaw;
    Ok((mutant.runner)(&scenario, chooser, turns))
}

/// The scenarios of the same Kind if there is such a Kind, else the Kinds.
fn unknown_scenario(all: &[scenario::Scenario], name: &str) -> String {
    let near: Vec<&str> = all
        .iter()
        .map(|known| known.name.as_str())
        .filter(|known| scenario::kind(known) == scenario::kind(name))
        .collect();
    if near.is_empty() {
        let kinds = scenario::kinds(all);
        return format!("no scenario is called {name:?}; they begin with:\n{kinds}");
    }
    format!(
        "no scenario is called {name:?}; there are:\n{}",
        near.join("\n")
    )
}

/// The first choice that did not happen.
fn first_idle<'a>(wanted: &'a [Choice], fired: &[Choice]) -> Option<&'a Choice> {
    wanted.iter().find(|choice| !fired.contains(choice))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn refusal(name: &str, bytes: &[u8]) -> String {
        let file: PathBuf = std::env::temp_dir().join(format!(
            "freehold-replay-{}-{name}.schedule",
            std::process::id()
        ));
        std::fs::write(&file, bytes).unwrap();
        let said = format!("{:#}", replay(&file).unwrap_err());
        std::fs::remove_file(&file).unwrap();
        assert!(said.starts_with(&file.display().to_string()), "{said}");
        said
    }

    #[test]
    fn what_cannot_be_replayed_is_refused_by_file_and_reason() {
        assert!(refusal("binary", &[0, 159, 146, 150]).contains("not text"));
        let said = refusal("line", b"scenario kkp/cluster/alone\n3 explode\n");
        assert!(
            said.contains(": line 2 (\"3 explode\"): \"explode\" is no fault"),
            "{said}"
        );
        let said = refusal("near", b"scenario kkp/cluster/aloen\n");
        assert!(said.contains("\nkkp/cluster/alone"), "{said}");
        let said = refusal("far", b"scenario gcp/network/alone\n");
        assert!(
            said.contains("they begin with:\n") && said.contains("\nkkp/cluster"),
            "{said}"
        );
        let said = refusal("mutant", b"scenario kkp/cluster/alone\nmutant nobody\n");
        assert!(said.contains("\nno intent\n"), "{said}");
        let said = refusal("idle", b"scenario kkp/cluster/alone\n100000 fail\n");
        assert!(said.contains("nothing comes of `100000 fail`"), "{said}");
        // A read cannot be refused by an API server.
        let said = refusal(
            "impossible",
            b"scenario kkp/cluster/alone\n0 late-at-restart\n",
        );
        assert!(
            said.contains("nothing comes of `0 late-at-restart`"),
            "{said}"
        );
        let missing = format!("{:#}", replay(Path::new("no such file")).unwrap_err());
        assert!(
            missing.starts_with("cannot read no such file: "),
            "{missing}"
        );
    }

    #[test]
    fn a_schedule_whose_faults_happen_is_replayed() {
        let stored = "scenario kkp/cluster/alone\n3 crash-before\n"
            .parse()
            .unwrap();
        let outcome = run(&stored).unwrap();
        assert_eq!(first_idle(&stored.schedule.choices, &outcome.fired), None);
        assert_eq!(outcome.violation, None);
        let words = outcome.log.join("\n");
        assert!(
            !words.contains(" { ") && !words.contains("Some("),
            "{words}"
        );
    }
}
