//! Where an `IBMPowerVSCluster` tells how it is, and what we write to it.

use serde_json::{Value, json};

use super::{Endpoint, IbmPowerVsCluster};
use crate::{Change, Status};

/// Where a cluster tells how it is: conditions in a list, as Cluster API has them.
pub const STATUS: Status = Status::LIST;

impl Change<IbmPowerVsCluster> {
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
