//! Metrics in the text format of Prometheus: few, and each answers a question.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use controllers::reconcile::{Monitor, Next, Passed};
use jiff::Timestamp;
use tokio::time::Instant;

use crate::accounts::Call;

/// What is counted.
#[derive(Default)]
pub(crate) struct Metrics {
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    leads: bool,
    /// By kind and outcome.
    passes: BTreeMap<(&'static str, String), u64>,
    /// By kind and class.
    errors: BTreeMap<(&'static str, &'static str), u64>,
    /// What was last told of each object, by its kind and name.
    objects: BTreeMap<(&'static str, String), BTreeMap<&'static str, bool>>,
    /// When each object is to be looked at again, if not only when it changes.
    due: BTreeMap<(&'static str, String), Option<Instant>>,
    /// Since when each object is not as it should be.
    unready: BTreeMap<(&'static str, String), Instant>,
    /// How long passes took, by kind.
    took: BTreeMap<&'static str, Durations>,
    /// When an object of a kind was last found to be as it should.
    success: BTreeMap<&'static str, Timestamp>,
}

impl Counts {
    /// For how long the object of each kind that waits longest has not been as it should.
    fn longest(&self, now: Instant) -> BTreeMap<&'static str, Duration> {
        let mut longest = BTreeMap::<_, Duration>::new();
        for (kind, _) in self.objects.keys() {
            longest.entry(*kind).or_default();
        }
        for ((kind, _), since) in &self.unready {
            let longest = longest.entry(*kind).or_default();
            *longest = (*longest).max(now.saturating_duration_since(*since));
        }
        longest
    }

    /// How many objects of each kind are due, and wait.
    fn waiting(&self, now: Instant) -> BTreeMap<&'static str, u64> {
        let mut waiting = BTreeMap::<_, u64>::new();
        for ((kind, _), due) in &self.due {
            *waiting.entry(*kind).or_default() += u64::from(due.is_some_and(|due| due <= now));
        }
        waiting
    }
}

/// How long passes took.
#[derive(Clone, Debug, Default)]
struct Durations {
    /// How many took no longer than each of [`BOUNDS`].
    within: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

/// In milliseconds.
const BOUNDS: [u64; 8] = [50, 100, 250, 500, 1_000, 5_000, 15_000, 60_000];

impl Durations {
    fn add(&mut self, took: Duration) {
        for (within, bound) in self.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(took <= Duration::from_millis(bound));
        }
        self.count += 1;
        self.sum += took;
    }
}

impl Metrics {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        // A count is whole at any time.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This process leads, or does not any more: then it knows nothing of any object.
    pub(crate) fn leads(&self, leads: bool) {
        let mut counts = self.counts();
        counts.leads = leads;
        if !leads {
            counts.objects.clear();
            counts.due.clear();
            counts.unready.clear();
        }
    }

    /// Everything, as Prometheus reads it.
    pub(crate) fn text(&self, calls: &BTreeMap<Call, u64>) -> String {
        let counts = self.counts();
        let now = Instant::now();
        let mut text = Text::default();
        text.family("freehold_leader", "gauge", "Whether this replica leads");
        text.sample("freehold_leader", &[], u64::from(counts.leads));
        text.family(
            "freehold_passes_total",
            "counter",
            "Passes over objects, by how they ended",
        );
        for ((kind, outcome), passes) in &counts.passes {
            let labels = [("kind", *kind), ("outcome", outcome.as_str())];
            text.sample("freehold_passes_total", &labels, *passes);
        }
        text.family(
            "freehold_objects",
            "gauge",
            "Objects, by condition and whether it holds",
        );
        let mut objects = BTreeMap::<_, u64>::new();
        for ((kind, _), told) in &counts.objects {
            for (condition, holds) in told {
                *objects.entry((*kind, *condition, *holds)).or_default() += 1;
            }
        }
        for ((kind, condition, holds), objects) in objects {
            let status = if holds { "True" } else { "False" };
            let labels = [("kind", kind), ("condition", condition), ("status", status)];
            text.sample("freehold_objects", &labels, objects);
        }
        text.family(
            "freehold_pass_duration_seconds",
            "histogram",
            "How long passes took",
        );
        for (kind, took) in &counts.took {
            let name = "freehold_pass_duration_seconds_bucket";
            for (within, bound) in took.within.iter().zip(BOUNDS) {
                let bound = seconds(Duration::from_millis(bound));
                text.sample(name, &[("kind", *kind), ("le", &bound)], within);
            }
            text.sample(name, &[("kind", *kind), ("le", "+Inf")], took.count);
            let labels = [("kind", *kind)];
            let sum = seconds(took.sum);
            text.sample("freehold_pass_duration_seconds_sum", &labels, sum);
            text.sample("freehold_pass_duration_seconds_count", &labels, took.count);
        }
        text.family(
            "freehold_last_success_timestamp_seconds",
            "gauge",
            "When an object of a kind was last found to be as it should",
        );
        for (kind, at) in &counts.success {
            let labels = [("kind", *kind)];
            let at = at.as_second();
            text.sample("freehold_last_success_timestamp_seconds", &labels, at);
        }
        text.family(
            "freehold_longest_without_success_seconds",
            "gauge",
            "For how long the object that waits longest has not been as it should; 0 without one",
        );
        for (kind, longest) in counts.longest(now) {
            let name = "freehold_longest_without_success_seconds";
            text.sample(name, &[("kind", kind)], longest.as_secs());
        }
        text.family(
            "freehold_queue_depth",
            "gauge",
            "Objects whose time to be looked at has come, and that wait for it",
        );
        for (kind, waiting) in counts.waiting(now) {
            text.sample("freehold_queue_depth", &[("kind", kind)], waiting);
        }
        text.family(
            "freehold_cloud_calls_total",
            "counter",
            "Calls to clouds, by how they ended",
        );
        for (call, calls) in calls {
            let labels = [
                ("service", call.service.as_str()),
                ("operation", call.operation.as_str()),
                ("outcome", call.outcome),
            ];
            text.sample("freehold_cloud_calls_total", &labels, *calls);
        }
        text.family(
            "freehold_cloud_errors_total",
            "counter",
            "Passes that an error of a cloud ended, by its class",
        );
        for ((kind, class), errors) in &counts.errors {
            let labels = [("kind", *kind), ("class", *class)];
            text.sample("freehold_cloud_errors_total", &labels, *errors);
        }
        text.0
    }
}

impl Monitor for Metrics {
    fn passed(&self, pass: &Passed<'_>) {
        let mut counts = self.counts();
        let ended = (pass.kind, pass.outcome().to_owned());
        *counts.passes.entry(ended).or_default() += 1;
        counts.took.entry(pass.kind).or_default().add(pass.took);
        let due = match pass.next {
            Next::After(wait) => Instant::now().checked_add(wait),
            Next::OnChange => None,
        };
        counts.due.insert((pass.kind, pass.object.to_owned()), due);
        let Some(told) = pass.told else { return };
        if told.is_ready() {
            counts.success.insert(pass.kind, pass.at);
        }
        if let Some(class) = told.failure {
            *counts.errors.entry((pass.kind, class)).or_default() += 1;
        }
        let conditions = told.by_type.iter();
        let conditions = conditions.map(|(name, condition)| (*name, condition.holds));
        let conditions = conditions.collect();
        let object = (pass.kind, pass.object.to_owned());
        // What nobody may touch is as somebody wants it.
        let left_alone = told.ready().is_some_and(|ready| {
            ["Paused", "Observed", "NotServed"].contains(&ready.reason.as_str())
        });
        if told.is_ready() || left_alone {
            counts.unready.remove(&object);
        } else if told.ready().is_some() {
            let since = counts.unready.entry(object.clone());
            since.or_insert_with(Instant::now);
        }
        counts.objects.insert(object, conditions);
    }

    fn forgotten(&self, kind: &'static str, object: &str) {
        let mut counts = self.counts();
        let object = (kind, object.to_owned());
        counts.objects.remove(&object);
        counts.due.remove(&object);
        counts.unready.remove(&object);
    }
}

/// The text as it grows.
#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<_> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escape(value)))
            .collect();
        let labels = match labels.as_slice() {
            [] => String::new(),
            labels => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// A time as Prometheus counts it.
fn seconds(span: Duration) -> String {
    span.as_secs_f64().to_string()
}

fn escape(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use controllers::reconcile::Conditions;

    use super::*;

    #[test]
    fn the_text_is_as_prometheus_reads_it() {
        let metrics = Metrics::default();
        metrics.leads(true);
        {
            let mut counts = metrics.counts();
            let kind = "Cluster.kubermatic.k8c.io";
            counts.passes.insert((kind, "Converged".to_owned()), 3);
            counts.errors.insert((kind, "throttled"), 1);
            let took = counts.took.entry(kind).or_default();
            took.add(Duration::from_millis(60));
            took.add(Duration::from_secs(2));
            counts
                .success
                .insert(kind, "2026-01-01T00:00:00Z".parse().unwrap());
            counts
                .due
                .insert((kind, "a".to_owned()), Some(Instant::now()));
            counts.due.insert((kind, "b".to_owned()), None);
            for (name, ready) in [("a", true), ("b", false), ("c", true)] {
                let told = BTreeMap::from([("Ready", ready)]);
                counts.objects.insert((kind, name.to_owned()), told);
            }
        }
        let call = Call {
            service: "E\"C\\2\n".to_owned(),
            operation: "DescribeVpcs".to_owned(),
            outcome: "ok",
        };
        let expected = r#"# HELP freehold_leader Whether this replica leads.
# TYPE freehold_leader gauge
freehold_leader 1
# HELP freehold_passes_total Passes over objects, by how they ended.
# TYPE freehold_passes_total counter
freehold_passes_total{kind="Cluster.kubermatic.k8c.io",outcome="Converged"} 3
# HELP freehold_objects Objects, by condition and whether it holds.
# TYPE freehold_objects gauge
freehold_objects{kind="Cluster.kubermatic.k8c.io",condition="Ready",status="False"} 1
freehold_objects{kind="Cluster.kubermatic.k8c.io",condition="Ready",status="True"} 2
# HELP freehold_pass_duration_seconds How long passes took.
# TYPE freehold_pass_duration_seconds histogram
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="0.05"} 0
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="0.1"} 1
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="0.25"} 1
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="0.5"} 1
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="1"} 1
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="5"} 2
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="15"} 2
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="60"} 2
freehold_pass_duration_seconds_bucket{kind="Cluster.kubermatic.k8c.io",le="+Inf"} 2
freehold_pass_duration_seconds_sum{kind="Cluster.kubermatic.k8c.io"} 2.06
freehold_pass_duration_seconds_count{kind="Cluster.kubermatic.k8c.io"} 2
# HELP freehold_last_success_timestamp_seconds When an object of a kind was last found to be as it should.
# TYPE freehold_last_success_timestamp_seconds gauge
freehold_last_success_timestamp_seconds{kind="Cluster.kubermatic.k8c.io"} 1767225600
# HELP freehold_longest_without_success_seconds For how long the object that waits longest has not been as it should; 0 without one.
# TYPE freehold_longest_without_success_seconds gauge
freehold_longest_without_success_seconds{kind="Cluster.kubermatic.k8c.io"} 0
# HELP freehold_queue_depth Objects whose time to be looked at has come, and that wait for it.
# TYPE freehold_queue_depth gauge
freehold_queue_depth{kind="Cluster.kubermatic.k8c.io"} 1
# HELP freehold_cloud_calls_total Calls to clouds, by how they ended.
# TYPE freehold_cloud_calls_total counter
freehold_cloud_calls_total{service="E\"C\\2\n",operation="DescribeVpcs",outcome="ok"} 7
# HELP freehold_cloud_errors_total Passes that an error of a cloud ended, by its class.
# TYPE freehold_cloud_errors_total counter
freehold_cloud_errors_total{kind="Cluster.kubermatic.k8c.io",class="throttled"} 1
"#;
        assert_eq!(metrics.text(&BTreeMap::from([(call, 7)])), expected);
        metrics.leads(false);
        let text = metrics.text(&BTreeMap::new());
        assert!(text.contains("freehold_leader 0"), "{text}");
        assert!(!text.contains("freehold_objects{"), "{text}");
    }

    fn told(ready: bool, reason: &str) -> Conditions {
        let condition = api::Condition {
            holds: ready,
            reason: reason.to_owned(),
            message: String::new(),
        };
        let mut told = Conditions::default();
        told.by_type.insert("Ready", condition);
        told
    }

    #[tokio::test(start_paused = true)]
    async fn a_healthy_object_does_not_hide_one_that_never_succeeded() {
        let metrics = Metrics::default();
        metrics.leads(true);
        let pass = |object: &str, told: &Conditions| {
            metrics.passed(&Passed {
                kind: "Cluster",
                object,
                told: Some(told),
                next: Next::OnChange,
                took: Duration::ZERO,
                at: Timestamp::UNIX_EPOCH,
            });
        };
        let longest = || {
            let text = metrics.text(&BTreeMap::new());
            let name = "freehold_longest_without_success_seconds{kind=\"Cluster\"} ";
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.map(str::to_owned)
        };
        assert_eq!(longest(), None);
        pass("paused", &told(false, "Paused"));
        pass("failing", &told(false, "Retrying"));
        pass("healthy", &told(true, "Converged"));
        tokio::time::advance(Duration::from_mins(20)).await;
        pass("failing", &told(false, "Refused"));
        pass("healthy", &told(true, "Converged"));
        tokio::time::advance(Duration::from_mins(20)).await;
        assert_eq!(longest().as_deref(), Some("2400"));
        pass("failing", &told(true, "Converged"));
        assert_eq!(longest().as_deref(), Some("0"));
        pass("failing", &told(false, "Retrying"));
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(longest().as_deref(), Some("60"));
        metrics.forgotten("Cluster", "failing");
        assert_eq!(longest().as_deref(), Some("0"));
    }

    /// Where no replica answers there is nothing to add up; where nothing ever succeeded, no time of it.
    #[test]
    fn the_alerts_fire_where_a_metric_is_absent() {
        let page = include_str!("../../../../docs/conditions.md");
        let expr = |alert: &str| {
            let (_, rest) = page.split_once(&format!("alert: {alert}\n")).unwrap();
            let (_, rest) = rest.split_once("expr: ").unwrap();
            rest.lines().next().unwrap()
        };
        let leads = expr("FreeholdNobodyLeads");
        assert!(leads.ends_with("or absent(freehold_leader)"), "{leads}");
        let success = expr("FreeholdNoSuccess");
        assert_eq!(success, "freehold_longest_without_success_seconds > 1800");
    }

    #[test]
    fn every_metric_is_in_the_table_and_the_alerts_use_no_other() {
        let text = Metrics::default().text(&BTreeMap::new());
        let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).collect();
        let table = include_str!("../../../../docs/running.md");
        for name in &names {
            assert!(table.contains(&format!("| `{name}` |")), "{name}");
        }
        let page = include_str!("../../../../docs/conditions.md");
        let (_, alerts) = page.split_once("## Alerts").unwrap();
        let words = alerts.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let used = words.filter(|word| word.starts_with("freehold_"));
        let used: Vec<&str> = used.collect();
        assert!(used.len() > 4, "{used:?}");
        for name in used {
            let family = name.trim_end_matches("_bucket").trim_end_matches("_count");
            assert!(names.contains(&family), "{name}");
        }
    }
}
