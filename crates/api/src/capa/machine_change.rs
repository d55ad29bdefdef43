//! What is written to an `AWSMachine`.

use serde_json::{Value, json};

use super::AwsMachine;
use crate::Change;

impl Change<AwsMachine> {
    /// Records the id of its instance; an empty one clears the field.
    pub fn instance(&mut self, id: &str) {
        let id = Some(id).filter(|id| !id.is_empty());
        self.want(&["spec", "instanceID"], json!(id));
    }

    /// Records the image that was chosen.
    pub fn image(&mut self, id: &str) {
        self.want(&["spec", "ami", "id"], json!(id));
    }

    /// Records the subnet that was chosen.
    pub fn subnet(&mut self, id: &str) {
        self.want(&["spec", "subnet", "id"], json!(id));
    }

    /// Publishes its name for Kubernetes.
    pub fn provider_id(&mut self, id: &str) {
        self.want(&["spec", "providerID"], json!(id));
    }

    /// Tells a value in the status; `null` takes it away.
    pub fn tell(&mut self, path: &[&str], value: Value) {
        let path: Vec<&str> = std::iter::once("status")
            .chain(path.iter().copied())
            .collect();
        self.want(&path, value);
    }
}
