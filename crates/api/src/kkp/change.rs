//! What we write to a `Cluster`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::json;

use super::Cluster;
use crate::status::time;
use crate::{Change, Form, Status};

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

/// Where a cluster tells how it is.
pub const STATUS: Status = Status {
    conditions: &["status", "conditions"],
    form: Form::Map {
        version: Some("kubermaticVersion"),
        heartbeat: Some("lastHeartbeatTime"),
    },
    observed_generation: None,
};

impl Change<Cluster> {
    /// Records an id; an empty one clears the field, which the API requires.
    pub fn record(&mut self, id: Id, value: &str) {
        self.want(&["spec", "cloud", "aws", id.field()], json!(value));
    }

    /// Notes a full reconciliation of the cloud's resources.
    pub fn reconciled(&mut self, at: &Time) {
        self.want(&["status", "lastProviderReconciliation"], time(at));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::Condition;

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

    fn ready() -> Condition {
        Condition {
            holds: true,
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
        change.condition(
            &STATUS,
            "Ready",
            &ready(),
            "0.1.0",
            &at("2026-01-01T00:00:00Z"),
        );
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
        same.condition(
            &STATUS,
            "Ready",
            &ready(),
            "0.1.0",
            &at("2026-01-01T00:00:00Z"),
        );
        assert_eq!(same.status_patch(), None);

        let mut worded = change(old);
        let report = Condition {
            message: "still well".to_owned(),
            ..ready()
        };
        worded.condition(
            &STATUS,
            "Ready",
            &report,
            "0.1.0",
            &at("2026-01-01T00:00:00Z"),
        );
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

        worded.condition(
            &STATUS,
            "Ready",
            &ready(),
            "0.1.0",
            &at("2026-01-01T00:00:00Z"),
        );
        assert_eq!(worded.status_patch(), None, "the last word counts");
    }
}
