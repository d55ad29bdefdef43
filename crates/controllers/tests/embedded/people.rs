//! What people do to resources by hand, and what the controller must put right.

use std::time::Duration;

use api::kkp::Cluster;
use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use cloud_port::aws::role::{INLINE_POLICY, ROLE};
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_sim::Actor;
use kube::Client;
use kube::api::Api;
use ownership::mark::Tags;
use ownership::part::InnerPart;
use ownership::{Kind, ResourceId, Target, Text};
use serde_json::json;
use tokio::time::sleep;

use crate::random::Random;
use crate::weather::Weather;

/// The guest's rule in the group that some clusters share.
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

    /// Something that a person does to a live cluster or to its resources, and that the controller
    /// must put right.
    pub(crate) async fn meddle(&self, name: &str, shares_group: bool) {
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
                if !shares_group {
                    none["securityGroupID"] = json!("");
                }
                self.patch(name, json!({"spec": {"cloud": {"aws": none}}}))
                    .await;
            }
            _ => {
                self.patch(name, json!({"spec": {"pause": true}})).await;
                sleep(self.random.span(Duration::from_mins(2))).await;
                self.insist(name, &json!({"spec": {"pause": false}})).await;
            }
        }
    }

    pub(crate) fn find(&self, kind: &'static Kind, name: &str) -> Option<Target> {
        let account = self.weather.account().lock();
        let found = account
            .alive(kind)
            .find(|resource| *resource.name == *name)?;
        Some(Target::new(found.kind, found.id.clone()))
    }

    pub(crate) fn add(
        &self,
        kind: &'static Kind,
        name: &str,
        inner: &'static str,
        part: InnerPart,
    ) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.add_parts(Actor::Stranger, &target, inner, &[part]);
        }
    }

    pub(crate) fn remove(&self, kind: &'static Kind, name: &str, inner: &'static str, key: &str) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.remove_parts(Actor::Stranger, &target, inner, &[key.into()]);
        }
    }

    fn delete_resource(&self, kind: &'static Kind, name: &str) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.delete(Actor::Stranger, &target);
        }
    }

    fn unmark_route_table(&self, name: &str) {
        let mut account = self.weather.account().lock();
        let tables: Vec<ResourceId> = account
            .alive(&ROUTE_TABLE)
            .map(|table| table.id.clone())
            .collect();
        for id in tables {
            let target = Target::new(&ROUTE_TABLE, id);
            let tag = (
                Text::from(format!("kubernetes.io/cluster/{name}")),
                Text::from(""),
            );
            let _ = account.untag(Actor::Stranger, &[target], &[tag]);
        }
    }
}

/// A part without value and tags.
pub(crate) fn part(key: &str) -> InnerPart {
    InnerPart::new(key, "", Tags::new())
}
