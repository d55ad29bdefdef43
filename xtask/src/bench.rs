//! `cargo xtask bench`: runs benchmarks and gathers their figures.
//!
//! A benchmark is a program that prints its figures on standard output, one a line: `name value
//! unit`, where the name begins with the benchmark's. What else it prints is passed on. It is built
//! as the tests are, with their checks: what it measures is never better than what is shipped, and a
//! machine that has run the tests has nothing to build.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{ExitCode, Stdio};

use anyhow::{Context as _, bail};
use serde_json::{Number, json};

use crate::cargo::{self, CHECKED, Workspace};
use crate::table::{self, row};

/// A program that measures something.
struct Benchmark {
    name: &'static str,
    about: &'static str,
    /// How cargo finds it.
    program: &'static [&'static str],
    args: &'static [&'static str],
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "ownership",
        about: "decisions and schedules a second, size of a claim",
        program: &["-p", "explorer"],
        args: &["bench"],
    },
    Benchmark {
        name: "kkp",
        about: "what KKP clusters on AWS cost in cloud calls: at first, at rest, at their end",
        program: &["-p", "controllers", "--example", "bench_kkp"],
        args: &[],
    },
    Benchmark {
        name: "awscluster",
        about: "what clusters of Cluster API on AWS cost in cloud calls, and in time until they are Ready",
        program: &["-p", "controllers", "--example", "bench_awscluster"],
        args: &[],
    },
    Benchmark {
        name: "kube",
        about: "embedded-kube beside a real kube-apiserver, and what an idle cluster costs",
        program: &["-p", "embedded-kube", "--example", "bench_kube"],
        args: &[],
    },
];

/// One measured value.
#[derive(Debug, PartialEq)]
struct Figure {
    name: String,
    value: Number,
    unit: String,
}

/// The benchmarks, for `--help`.
pub(crate) fn help() -> String {
    let rows: Vec<_> = BENCHMARKS
        .iter()
        .map(|bench| row([&format!("  {}", bench.name), bench.about]))
        .collect();
    format!("Benchmarks:\n{}", table::render(&rows, &[]))
}

/// Runs the named benchmarks, or all, and prints one table.
pub(crate) fn run(
    workspace: &Workspace,
    names: &[String],
    json: Option<&Path>,
) -> anyhow::Result<ExitCode> {
    let mut figures = Vec::new();
    for bench in select(names)? {
        figures.extend(measure(workspace, bench)?);
    }
    let mut rows = vec![row(["figure", "value", "unit"])];
    rows.extend(
        figures
            .iter()
            .map(|f| row([&f.name, &f.value.to_string(), &f.unit])),
    );
    say::text(format_args!("{}", table::render(&rows, &[1])))?;
    if let Some(file) = json {
        let text = format!("{:#}\n", to_json(&figures));
        std::fs::write(file, text).with_context(|| format!("--json {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn select(names: &[String]) -> anyhow::Result<Vec<&'static Benchmark>> {
    if names.is_empty() {
        return Ok(BENCHMARKS.iter().collect());
    }
    let find = |name: &String| {
        BENCHMARKS
            .iter()
            .find(|bench| bench.name == name)
            .with_context(|| {
                let known: Vec<_> = BENCHMARKS.iter().map(|bench| bench.name).collect();
                format!(
                    "no benchmark is called {name:?}; there is: {}",
                    known.join(", ")
                )
            })
    };
    names.iter().map(find).collect()
}

fn measure(workspace: &Workspace, bench: &Benchmark) -> anyhow::Result<Vec<Figure>> {
    let mut command = workspace.cargo(["run", "--quiet", "--profile", CHECKED]);
    command.args(bench.program).arg("--").args(bench.args);
    command.stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| cargo::line(&command))?;
    let output = child
        .stdout
        .take()
        .context("the benchmark's output was not piped")?;
    let mut figures = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line.with_context(|| cargo::line(&command))?;
        match parse(bench.name, &line) {
            Some(figure) => figures.push(figure),
            None => say::line!("{line}")?,
        }
    }
    let status = child.wait().with_context(|| cargo::line(&command))?;
    if !status.success() {
        bail!(
            "benchmark {}: `{}` failed ({status})",
            bench.name,
            cargo::line(&command)
        );
    }
    if figures.is_empty() {
        bail!("benchmark {}: printed no figure", bench.name);
    }
    Ok(figures)
}

/// A figure of that benchmark; `None` for any other line.
fn parse(bench: &str, line: &str) -> Option<Figure> {
    let [name, value, unit] = line
        .split_whitespace()
        .collect::<Vec<_>>()
        .try_into()
        .ok()?;
    name.strip_prefix(bench)?.strip_prefix('.')?;
    Some(Figure {
        name: name.into(),
        value: value.parse().ok()?,
        unit: unit.into(),
    })
}

fn to_json(figures: &[Figure]) -> serde_json::Value {
    let figure = |f: &Figure| json!({"name": f.name, "value": f.value, "unit": f.unit});
    json!({"figures": figures.iter().map(figure).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_a_line_of_name_value_and_unit() {
        let figure = parse("ownership", "ownership.claim.bytes 61 bytes").unwrap();
        assert_eq!(figure.name, "ownership.claim.bytes");
        assert_eq!(
            to_json(&[figure]).to_string(),
            r#"{"figures":[{"name":"ownership.claim.bytes","unit":"bytes","value":61}]}"#
        );
        assert_eq!(
            parse("kkp", "kkp.rest.ratio 1.5 x").unwrap().value.as_f64(),
            Some(1.5)
        );
    }

    #[test]
    fn any_other_line_is_no_figure() {
        let others = [
            "warming up",
            "other.figure 1 x",
            "ownership.a many calls",
            "ownership.a 1",
            "",
        ];
        for line in others {
            assert_eq!(parse("ownership", line), None, "{line}");
        }
    }

    #[test]
    fn an_unknown_benchmark_is_refused_with_the_known_ones() {
        let error = select(&["speed".to_owned()]).err().unwrap().to_string();
        assert!(
            error.contains("\"speed\"") && error.contains("ownership"),
            "{error}"
        );
        assert_eq!(select(&[]).unwrap().len(), BENCHMARKS.len());
    }
}
