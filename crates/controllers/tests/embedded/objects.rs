//! What people do to objects, through the API server: they insist until it is done.

use std::time::Duration;

use api::kkp::Cluster;
use kube::ResourceExt as _;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::people::Person;

/// An object as it was once.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) name: &'static str,
    uid: String,
    pub(crate) object: Value,
}

impl Person {
    /// Asks until the API server has done it.
    pub(crate) async fn create(&self, name: &str, aws: &Value, network: &str) {
        let mut object = json!({
            "metadata": {"name": name, "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
            "spec": {
                "clusterNetwork": {"ipFamily": network},
                "cloud": {"dc": "frankfurt", "aws": {
                    "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
                    "instanceProfileName": "",
                }},
            },
        });
        let fields = object["spec"]["cloud"]["aws"].as_object_mut().unwrap();
        fields.extend(aws.as_object().unwrap().clone());
        self.restore(object).await;
    }

    /// Creates an object as a backup has it.
    pub(crate) async fn restore(&self, object: Value) {
        let cluster: Cluster = serde_json::from_value(object).unwrap();
        loop {
            match self
                .clusters()
                .create(&PostParams::default(), &cluster)
                .await
            {
                Ok(_) => return,
                Err(kube::Error::Api(status)) if status.is_already_exists() => return,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// An object as a backup keeps it, without its status.
    pub(crate) async fn backup(&self, name: &str) -> Value {
        let cluster = loop {
            match self.clusters().get(name).await {
                Ok(cluster) => break cluster,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        };
        let mut object = serde_json::to_value(cluster).unwrap();
        object.as_object_mut().unwrap().remove("status");
        let metadata = object["metadata"].as_object_mut().unwrap();
        for decided in [
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "generation",
            "managedFields",
        ] {
            metadata.remove(decided);
        }
        object
    }

    /// The object goes as with a lost management cluster: nobody cleans up.
    pub(crate) async fn lose(&self, name: &str) {
        let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        let parameters = PatchParams::default();
        while let Ok(Some(_)) | Err(_) = self.clusters().get_opt(name).await {
            let _ = self.clusters().patch(name, &parameters, &patch).await;
            self.delete(name).await;
        }
    }

    pub(crate) async fn delete(&self, name: &str) {
        while let Err(error) = self.clusters().delete(name, &DeleteParams::default()).await {
            if matches!(&error, kube::Error::Api(status) if status.code == 404) {
                return;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Changes an object, if it is there.
    pub(crate) async fn insist(&self, name: &str, patch: &Value) {
        let parameters = PatchParams::default();
        let patch = Patch::Merge(patch);
        loop {
            match self.clusters().patch(name, &parameters, &patch).await {
                Ok(_) => return,
                Err(kube::Error::Api(status)) if status.code == 404 => return,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// Tries once: what does not arrive, a person would try again, or not.
    pub(crate) async fn patch(&self, name: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        let parameters = PatchParams::default();
        let _ = self.clusters().patch(name, &parameters, &patch).await;
    }

    /// The object as it is now, if that can be seen.
    pub(crate) async fn snapshot(&self, name: &'static str) -> Option<Snapshot> {
        let cluster = self.clusters().get_opt(name).await.ok()??;
        Some(Snapshot {
            name,
            uid: cluster.uid()?,
            object: serde_json::to_value(cluster).unwrap(),
        })
    }

    /// Puts an object back to what it was once, status aside; says whether it is still that object.
    pub(crate) async fn set_back(&self, to: &Snapshot) -> bool {
        loop {
            let Ok(Some(now)) = self.clusters().get_opt(to.name).await else {
                return false;
            };
            if now.uid().as_ref() != Some(&to.uid) {
                return false;
            }
            let mut object = serde_json::to_value(now).unwrap();
            object["spec"] = to.object["spec"].clone();
            for field in ["annotations", "finalizers"] {
                object["metadata"][field] = to.object["metadata"][field].clone();
            }
            let object: Cluster = serde_json::from_value(object).unwrap();
            let parameters = PostParams::default();
            let clusters = self.clusters();
            match clusters.replace(to.name, &parameters, &object).await {
                Ok(_) => return true,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    /// Whether the object has been claimed: nothing of it can be lost with it any more.
    pub(crate) async fn is_pinned(&self, name: &str) -> bool {
        let cluster = self.clusters().get(name).await;
        cluster.is_ok_and(|cluster| cluster.finalizers().len() > 1)
    }

    /// What its conditions say.
    pub(crate) async fn ready(&self, name: &str) -> Result<(), String> {
        let cluster = self.clusters().get(name).await.unwrap();
        let conditions = cluster.status.unwrap_or_default().conditions;
        match conditions.get("Ready") {
            Some(ready) if ready.status == "True" => Ok(()),
            _ => Err(format!("{conditions:#?}")),
        }
    }
}
