//! Stored schedules: what a file holds that `--replay` reruns.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context as _, bail, ensure};

use crate::fault::{Choice, Schedule};

/// A schedule with what it is a schedule of. As text:
///
/// ```text
/// scenario aws/vpc/alone
/// mutant no intent
/// turns ABBA
/// 12 crash-after
/// ```
///
/// `mutant` and `turns` may be missing; a line that begins with `#` is a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The scenario's name.
    pub scenario: String,
    /// The mutant's name; empty for the product's own rules.
    pub mutant: String,
    /// The schedule.
    pub schedule: Schedule,
}

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "scenario {}", self.scenario)?;
        if !self.mutant.is_empty() {
            writeln!(f, "mutant {}", self.mutant)?;
        }
        if !self.schedule.turns.is_empty() {
            let turns: String = self
                .schedule
                .turns
                .iter()
                .map(|second| if *second { 'B' } else { 'A' })
                .collect();
            writeln!(f, "turns {turns}")?;
        }
        for choice in &self.schedule.choices {
            writeln!(f, "{} {}", choice.point, choice.fault.word())?;
        }
        Ok(())
    }
}

impl Stored {
    /// The name of its file: a-z, 0-9 and `-` only.
    pub(crate) fn file(&self) -> PathBuf {
        let mut name = String::new();
        for c in format!("{} {}", self.mutant, self.scenario).chars() {
            if c.is_ascii_alphanumeric() {
                name.push(c.to_ascii_lowercase());
            } else if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
        }
        format!("{}.schedule", name.trim_end_matches('-')).into()
    }
}

impl FromStr for Stored {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut stored = Self {
            scenario: String::new(),
            mutant: String::new(),
            schedule: Schedule::default(),
        };
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let here = || format!("line {} ({line:?})", at + 1);
                stored.take(line).with_context(here)?;
            }
        }
        ensure!(
            !stored.scenario.is_empty(),
            "there is no line `scenario NAME`, with which a stored schedule begins"
        );
        Ok(stored)
    }
}

impl Stored {
    /// Takes in one line.
    fn take(&mut self, line: &str) -> anyhow::Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "scenario" => set(&mut self.scenario, word, rest),
            "mutant" => set(&mut self.mutant, word, rest),
            "turns" => {
                ensure!(
                    self.schedule.turns.is_empty(),
                    "there is a line `turns` already"
                );
                for turn in rest.chars() {
                    match turn {
                        'A' | 'B' => self.schedule.turns.push(turn == 'B'),
                        _ => bail!("turns are written with A and B"),
                    }
                }
                Ok(())
            }
            _ => {
                let Ok(point) = word.parse() else {
                    bail!(
                        "a line is `scenario NAME`, `mutant NAME`, `turns` with As and Bs, or a \
                         point's number and its fault, such as `12 crash-after`"
                    );
                };
                if let Some(last) = self.schedule.choices.last() {
                    ensure!(
                        last.point < point,
                        "points stand in order, each once, and {} is before this",
                        last.point
                    );
                }
                let fault = rest.parse()?;
                self.schedule.choices.push(Choice { point, fault });
                Ok(())
            }
        }
    }
}

fn set(field: &mut String, word: &str, value: &str) -> anyhow::Result<()> {
    ensure!(field.is_empty(), "there is a line `{word}` already");
    ensure!(!value.is_empty(), "`{word}` wants a name after it");
    value.clone_into(field);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str =
        "scenario aws/vpc/alone\nmutant no intent\nturns ABBA\n3 fail\n12 crash-after\n";

    fn refusal(text: &str) -> String {
        format!("{:#}", text.parse::<Stored>().unwrap_err())
    }

    #[test]
    fn what_is_stored_reads_back() {
        let stored: Stored = WHOLE.parse().unwrap();
        assert_eq!(stored.to_string(), WHOLE);
        let remarks = format!("# found on a Sunday\n\n{}", WHOLE.replace('\n', "  \n"));
        assert_eq!(remarks.parse::<Stored>().unwrap(), stored);
    }

    #[test]
    fn files_have_plain_names() {
        let mut stored: Stored = WHOLE.parse().unwrap();
        assert_eq!(
            stored.file(),
            PathBuf::from("no-intent-aws-vpc-alone.schedule")
        );
        stored.mutant = "remove a guest's rule, ../really".to_owned();
        assert_eq!(
            stored.file(),
            PathBuf::from("remove-a-guest-s-rule-really-aws-vpc-alone.schedule")
        );
        stored.mutant.clear();
        assert_eq!(stored.file(), PathBuf::from("aws-vpc-alone.schedule"));
    }

    #[test]
    fn what_is_wrong_is_said_by_line() {
        assert!(refusal("").contains("no line `scenario NAME`"));
        assert_eq!(
            refusal("scenario a\nscenario b"),
            "line 2 (\"scenario b\"): there is a line `scenario` already"
        );
        assert!(refusal("mutant a\nmutant b").contains("there is a line `mutant` already"));
        assert!(refusal("turns A\nturns B").contains("there is a line `turns` already"));
        assert!(refusal("scenario").contains("wants a name after it"));
        assert!(refusal("turns AC").contains("with A and B"));
        let said = refusal("hello world");
        assert!(
            said.starts_with("line 1 (\"hello world\"): a line is `scenario NAME`"),
            "{said}"
        );
        let said = refusal("12 explode");
        assert!(
            said.contains("\"explode\" is no fault; the faults are crash-before, "),
            "{said}"
        );
        assert!(refusal("3 fail\n3 fail").contains("points stand in order"));
    }
}
