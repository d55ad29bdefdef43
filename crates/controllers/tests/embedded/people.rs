//! What people do: to clusters through the API server, to resources by hand.

use std::time::Duration;

use api::kkp::Cluster;
use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use cloud_port::aws::role::{INLINE_POLICY, ROLE};
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_sim::Actor;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use ownership::part::InnerPart;
use ownership::{Kind, ResourceId, Target, Text};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::random::Random;
use crate::weather::Weather;

/// The guest's rule in the group that one cluster shares.
pub(crate) const GUEST: &str = "ingress tcp 443-443 192.0.2.0/24";

/// A person with access to both sides.
pub(crate) struct Person {
    pub(crate) client: Client,
    pub(crate) weather: Weather,
    pub(crate) random: Random,
}

impl Person {
    pub(crate) fn clusters(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }

    /// Asks until the API server has done it.
    pub(crate) async fn create(&self, name: &str, aws: Value, network: &str) {
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

    async fn patch(&self, name: &str, patch: Value) {
        let patch = Patch::Merge(patch);
        let parameters = PatchParams::default();
        // Once: what does not arrive, a person would try again, or not.
        let _ = self.clusters().patch(name, &parameters, &patch).await;
    }

    /// Something that a person does to a live cluster or to its resources, and that the controller
    /// must put right.
    pub(crate) async fn meddle(&self, name: &str) {
        let ours = format!("kubernetes-{name}");
        let rule = part(if self.random.chance(50) {
            GUEST
        } else {
            "ingress tcp 22-22 0.0.0.0/0"
        });
        match self.random.below(10) {
            0 => self.remove(&SECURITY_GROUP, &ours, RULE, "ingress tcp 22-22 0.0.0.0/0"),
            1 => self.add(&SECURITY_GROUP, &ours, RULE, rule),
            2 => self.delete_resource(&SECURITY_GROUP, &ours),
            3 => self.remove(
                &INSTANCE_PROFILE,
                &ours,
                PROFILE_ROLE,
                &format!("{ours}-worker"),
            ),
            4 => self.delete_resource(&INSTANCE_PROFILE, &ours),
            5 => {
                let role = format!("{ours}-control-plane");
                self.remove(&ROLE, &role, INLINE_POLICY, &role);
            }
            6 => self.unmark_route_table(name),
            8 => {
                let none = json!({
                    "freehold.dev/claim-uuid": null, "freehold.dev/claim-pinned-for": null,
                });
                self.patch(name, json!({"metadata": {"annotations": none}}))
                    .await;
            }
            7 => {
                let mut none = json!({"roleARN": "", "instanceProfileName": ""});
                // The id of somebody's group is a wish, which nobody could guess again.
                if name != "two" {
                    none["securityGroupID"] = json!("");
                }
                self.patch(name, json!({"spec": {"cloud": {"aws": none}}}))
                    .await;
            }
            _ => {
                self.patch(name, json!({"spec": {"pause": true}})).await;
                sleep(self.random.span(Duration::from_mins(2))).await;
                loop {
                    let patch = Patch::Merge(json!({"spec": {"pause": false}}));
                    let parameters = PatchParams::default();
                    match self.clusters().patch(name, &parameters, &patch).await {
                        Ok(_) => break,
                        Err(kube::Error::Api(status)) if status.code == 404 => break,
                        Err(_) => sleep(Duration::from_secs(1)).await,
                    }
                }
            }
        }
    }

    fn find(&self, kind: &Kind, name: &str) -> Option<Target> {
        let account = self.weather.account().lock();
        let found = account
            .alive(kind.name)
            .find(|resource| *resource.name == *name)?;
        Some(Target::new(found.kind, found.id.clone()))
    }

    fn add(&self, kind: &Kind, name: &str, inner: &'static str, part: InnerPart) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.add_parts(Actor::Stranger, &target, inner, &[part]);
        }
    }

    fn remove(&self, kind: &Kind, name: &str, inner: &'static str, key: &str) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.remove_parts(Actor::Stranger, &target, inner, &[key.into()]);
        }
    }

    fn delete_resource(&self, kind: &Kind, name: &str) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.delete(Actor::Stranger, &target);
        }
    }

    fn unmark_route_table(&self, name: &str) {
        let mut account = self.weather.account().lock();
        let tables: Vec<ResourceId> = account
            .alive(ROUTE_TABLE.name)
            .map(|table| table.id.clone())
            .collect();
        for id in tables {
            let target = Target::new(ROUTE_TABLE.name, id);
            let tag = (
                Text::from(format!("kubernetes.io/cluster/{name}")),
                Text::from(""),
            );
            let _ = account.untag(Actor::Stranger, &[target], &[tag]);
        }
    }
}

fn part(key: &str) -> InnerPart {
    InnerPart {
        key: key.into(),
        value: "".into(),
        tags: std::iter::empty::<(Text, Text)>().collect(),
    }
}
