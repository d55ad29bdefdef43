//! Where an `AWSCluster` tells how it is, and what we write to it.

use serde_json::{Value, json};

use super::{AwsCluster, Endpoint, Subnet};
use crate::{Change, Status};

/// Where a cluster tells how it is: conditions in a list, as Cluster API has them.
pub const STATUS: Status = Status::LIST;

impl Change<AwsCluster> {
    /// Records a value in `spec.network.vpc`; an empty one clears the field.
    pub fn vpc(&mut self, field: &str, value: &str) {
        let value = Some(value).filter(|value| !value.is_empty());
        self.want(&["spec", "network", "vpc", field], json!(value));
    }

    /// Records the subnets, all of them: the list has no other way to be changed.
    pub fn subnets(&mut self, subnets: &[Subnet]) {
        self.want(&["spec", "network", "subnets"], json!(subnets));
    }

    /// Publishes where the cluster's API server is reached.
    pub fn endpoint(&mut self, endpoint: &Endpoint) {
        for (field, value) in [
            ("host", json!(endpoint.host)),
            ("port", json!(endpoint.port)),
        ] {
            self.want(&["spec", "controlPlaneEndpoint", field], value);
        }
    }

    /// Tells a value in the status; `null` takes it away.
    pub fn tell(&mut self, path: &[&str], value: Value) {
        let path: Vec<&str> = std::iter::once("status")
            .chain(path.iter().copied())
            .collect();
        self.want(&path, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change() -> Change<AwsCluster> {
        let object = json!({
            "metadata": {"name": "a", "namespace": "n", "resourceVersion": "7"},
            "spec": {"network": {
                "vpc": {"id": "vpc-1"},
                "subnets": [{"id": "one", "zoneType": "availability-zone"}],
            }},
        });
        Change::new(&serde_json::from_value(object).unwrap()).unwrap()
    }

    #[test]
    fn only_what_differs_is_recorded() {
        let mut change = change();
        change.vpc("id", "vpc-1");
        change.vpc("internetGatewayId", "");
        let same = json!([{"id": "one", "zoneType": "availability-zone"}]);
        change.subnets(&serde_json::from_value::<Vec<Subnet>>(same).unwrap());
        assert_eq!(change.object_patch(), None);
        let one = json!([{"id": "one", "resourceID": "subnet-1", "zoneType": "availability-zone"}]);
        change.subnets(&serde_json::from_value::<Vec<Subnet>>(one.clone()).unwrap());
        change.endpoint(&Endpoint {
            host: "api.example.com".to_owned(),
            port: 6443,
            ..Endpoint::default()
        });
        let spec = json!({
            "network": {"subnets": one},
            "controlPlaneEndpoint": {"host": "api.example.com", "port": 6443},
        });
        let metadata = json!({"resourceVersion": "7"});
        let patch = json!({"metadata": metadata, "spec": spec});
        assert_eq!(change.object_patch(), Some(patch));
        assert_eq!(change.status_patch(), None);
    }
}
