//! Metrics in the text format of Prometheus: few, and each answers a question.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use controllers::reconcile::{Monitor, Passed};

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
        }
    }

    /// Everything, as Prometheus reads it.
    pub(crate) fn text(&self, calls: &BTreeMap<Call, u64>) -> String {
        let counts = self.counts();
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
        let outcome = pass.outcome();
        let words = pass.told.and_then(|told| told.ready());
        let words = words.map_or("", |ready| ready.message.as_str());
        if pass.told.is_some_and(|told| !told.is_ready()) {
            tracing::info!(outcome, next = ?pass.next, "{words}");
        } else {
            tracing::debug!(outcome, next = ?pass.next, "{words}");
        }
        let mut counts = self.counts();
        let ended = (pass.kind, outcome.to_owned());
        *counts.passes.entry(ended).or_default() += 1;
        let Some(told) = pass.told else { return };
        if let Some(class) = told.failure {
            *counts.errors.entry((pass.kind, class)).or_default() += 1;
        }
        let conditions = told.by_type.iter();
        let conditions = conditions.map(|(name, condition)| (*name, condition.holds));
        let conditions = conditions.collect();
        let object = (pass.kind, pass.object.to_owned());
        counts.objects.insert(object, conditions);
    }

    fn forgotten(&self, kind: &'static str, object: &str) {
        self.counts().objects.remove(&(kind, object.to_owned()));
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

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
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

fn escape(value: &str) -> String {
    value
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
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
}
