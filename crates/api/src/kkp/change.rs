//! What we write to a `Cluster`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::{Value, json};

use super::Cluster;
use crate::Change;

/// The ids that a cluster records in `spec.cloud.aws`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// The VPC.
    Vpc,
    /// The route table.
    RouteTable,
    /// The security group.
    SecurityGroup,
    /// The control plane's role, as an ARN.
    Role,
    /// The workers' instance profile.
    InstanceProfile,
}

impl Id {
    /// All five.
    pub const ALL: [Self; 5] = [
        Self::Vpc,
        Self::RouteTable,
        Self::SecurityGroup,
        Self::Role,
        Self::InstanceProfile,
    ];

    /// The field's name.
    pub fn field(self) -> &'static str {
        match self {
            Self::Vpc => "vpcID",
            Self::RouteTable => "routeTableID",
            Self::SecurityGroup => "securityGroupID",
            Self::Role => "roleARN",
            Self::InstanceProfile => "instanceProfileName",
        }
    }
}

/// What a condition reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `Some` if it is known whether the condition holds.
    pub holds: Option<bool>,
    /// One word for programs.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

impl Change<Cluster> {
    /// Records an id; an empty one clears the field, which the API requires.
    pub fn record(&mut self, id: Id, value: &str) {
        self.want(&["spec", "cloud", "aws", id.field()], json!(value));
    }

    /// Notes a full reconciliation of the cloud's resources.
    pub fn reconciled(&mut self, at: &Time) {
        self.want(&["status", "lastProviderReconciliation"], time(at));
    }

    /// Reports a condition.
    ///
    /// # Guarantees
    /// A condition that says the same already is left as it is, heartbeat and version included
    /// (law 8): both are those of the last change.
    pub fn condition(&mut self, kind: &str, report: &Report, version: &str, now: &Time) {
        let path = |field| ["status", "conditions", kind, field];
        let status = match report.holds {
            Some(true) => "True",
            Some(false) => "False",
            None => "Unknown",
        };
        let said = [
            ("status", status),
            ("reason", &report.reason),
            ("message", &report.message),
        ];
        if said
            .iter()
            .all(|&(field, value)| self.current(&path(field)) == value)
        {
            self.want_nothing_below(&["status", "conditions", kind]);
            return;
        }
        if self.current(&path("status")) != status {
            self.want(&path("lastTransitionTime"), time(now));
        }
        for (field, value) in said {
            self.want(&path(field), json!(value));
        }
        self.want(&path("kubermaticVersion"), json!(version));
        self.want(&path("lastHeartbeatTime"), time(now));
    }
}

fn time(time: &Time) -> Value {
    serde_json::to_value(time).expect("a time is a text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time(text.parse().unwrap())
    }

    fn change(status: Value) -> Change<Cluster> {
        let object = json!({
            "metadata": {"name": "a", "resourceVersion": "7"},
            "spec": {"cloud": {"dc": "frankfurt", "aws": {"vpcID": "vpc-1", "roleARN": ""}}},
            "status": status,
        });
        Change::new(&serde_json::from_value(object).unwrap()).unwrap()
    }

    fn ready() -> Report {
        Report {
            holds: Some(true),
            reason: "Converged".to_owned(),
            message: "everything is as it should be".to_owned(),
        }
    }

    #[test]
    fn only_ids_that_differ_are_recorded() {
        let mut change = change(json!({}));
        change.record(Id::Vpc, "vpc-1");
        change.record(Id::SecurityGroup, "");
        assert_eq!(change.object_patch(), None);
        change.record(Id::Role, "arn:aws:iam::123456789012:role/r");
        assert_eq!(
            change.object_patch(),
            Some(json!({
                "metadata": {"resourceVersion": "7"},
                "spec": {"cloud": {"aws": {"roleARN": "arn:aws:iam::123456789012:role/r"}}},
            }))
        );
        assert_eq!(change.status_patch(), None);
    }

    #[test]
    fn a_new_condition_has_everything_that_the_api_requires() {
        let mut change = change(json!({}));
        change.condition("Ready", &ready(), "0.1.0", &at("2026-01-01T00:00:00Z"));
        change.reconciled(&at("2026-01-01T00:00:00Z"));
        assert_eq!(change.object_patch(), None);
        assert_eq!(
            change.status_patch(),
            Some(json!({
                "metadata": {"resourceVersion": "7"},
                "status": {
                    "lastProviderReconciliation": "2026-01-01T00:00:00Z",
                    "conditions": {"Ready": {
                        "status": "True",
                        "reason": "Converged",
                        "message": "everything is as it should be",
                        "kubermaticVersion": "0.1.0",
                        "lastHeartbeatTime": "2026-01-01T00:00:00Z",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }},
                },
            }))
        );
    }

    #[test]
    fn law_8_a_condition_that_says_the_same_has_no_heartbeat() {
        let old = json!({"conditions": {"Ready": {
            "status": "True", "reason": "Converged", "message": "everything is as it should be",
            "kubermaticVersion": "0.0.9", "lastHeartbeatTime": "2025-01-01T00:00:00Z",
        }}});
        let mut same = change(old.clone());
        same.condition("Ready", &ready(), "0.1.0", &at("2026-01-01T00:00:00Z"));
        assert_eq!(same.status_patch(), None);

        let mut worded = change(old);
        let report = Report {
            message: "still well".to_owned(),
            ..ready()
        };
        worded.condition("Ready", &report, "0.1.0", &at("2026-01-01T00:00:00Z"));
        let patch = worded.status_patch().unwrap();
        assert_eq!(
            patch["status"]["conditions"]["Ready"],
            json!({
                "message": "still well",
                "kubermaticVersion": "0.1.0",
                "lastHeartbeatTime": "2026-01-01T00:00:00Z",
            }),
            "the status is the same, so it is no transition"
        );

        worded.condition("Ready", &ready(), "0.1.0", &at("2026-01-01T00:00:00Z"));
        assert_eq!(worded.status_patch(), None, "the last word counts");
    }
}
