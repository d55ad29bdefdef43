//! What people do to KKP's resources by hand, and what they see there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use cloud_port::Cloud;
use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use cloud_port::aws::role::{INLINE_POLICY, ROLE};
use cloud_port::aws::route_table::ROUTE_TABLE;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::VirtualClock;
use laboratory::tags;
use ownership::Text;
use ownership::part::{InnerPart, Resource};

/// The trust of every role that is made by hand.
const TRUST: &str = concat!(
    r#"{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","#,
    r#""Principal":{"Service":"ec2.amazonaws.com"}}],"Version":"2012-10-17"}"#
);
/// A policy that is none of ours.
pub(crate) const POLICY: &str = concat!(
    r#"{"Statement":[{"Action":"s3:ListBucket","Effect":"Allow","Resource":"*"}],"#,
    r#""Version":"2012-10-17"}"#
);

/// Somebody with access to the account.
pub struct Hands<C>(laboratory::Hands<C>);

impl<C> Deref for Hands<C> {
    type Target = laboratory::Hands<C>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A security group, as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// The keys of its rules; the group itself is `self`.
    pub rules: BTreeSet<String>,
}

/// A role, as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its inline policies: name and document.
    pub policies: BTreeMap<String, String>,
}

/// An instance profile, as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// The role in it.
    pub roles: BTreeSet<String>,
}

impl<C: Cloud> Hands<C> {
    pub(crate) fn new(cloud: C, clock: VirtualClock) -> Self {
        Self(laboratory::Hands::new(cloud, clock))
    }

    /// Makes a VPC.
    pub async fn make_vpc(&self, cidr: &str) -> String {
        self.make(&VPC, "", &[("cidr", cidr)], &[]).await
    }

    /// Makes a subnet.
    pub async fn make_subnet(&self, vpc: &str, cidr: &str) -> String {
        let zone = self.all(&SUBNET).await[0].props.get("zone").cloned();
        let zone = zone.unwrap();
        let props = [("vpc", vpc), ("cidr", cidr), ("zone", &*zone)];
        self.make(&SUBNET, "", &props, &[]).await
    }

    /// Makes a security group in a VPC.
    pub async fn make_group(&self, name: &str, vpc: &str, tags: &[(&str, &str)]) -> String {
        let props = [("vpc", vpc), ("description", "by hand")];
        self.make(&SECURITY_GROUP, name, &props, tags).await
    }

    /// Makes a role.
    pub async fn make_role(&self, name: &str, tags: &[(&str, &str)]) {
        self.make(&ROLE, name, &[("trust", TRUST)], tags).await;
    }

    /// Makes an instance profile.
    pub async fn make_profile(&self, name: &str, tags: &[(&str, &str)]) {
        self.make(&INSTANCE_PROFILE, name, &[], tags).await;
    }

    /// Adds a rule to a group.
    pub async fn add_rule(&self, group: &str, rule: &str) {
        self.add(&SECURITY_GROUP, group, RULE, rule, "").await;
    }

    /// Adds a rule with tags of its own to a group.
    pub async fn add_marked_rule(&self, group: &str, rule: &str, tags: &BTreeMap<String, String>) {
        let pair = |(key, value): (&String, &String)| (key.as_str().into(), value.as_str().into());
        let tags = tags.iter().map(pair).collect();
        let part = InnerPart::new(rule, "", tags);
        self.add_part(&SECURITY_GROUP, group, RULE, part).await;
    }

    /// Removes a rule of a group.
    pub async fn remove_rule(&self, group: &str, rule: &str) {
        self.remove(&SECURITY_GROUP, group, RULE, rule).await;
    }

    /// Writes an inline policy of a role.
    pub async fn put_policy(&self, role: &str, name: &str) {
        self.add(&ROLE, role, INLINE_POLICY, name, POLICY).await;
    }

    /// Deletes an inline policy of a role.
    pub async fn delete_policy(&self, role: &str, name: &str) {
        self.remove(&ROLE, role, INLINE_POLICY, name).await;
    }

    /// Puts a role into a profile.
    pub async fn put_role(&self, profile: &str, role: &str) {
        self.add(&INSTANCE_PROFILE, profile, PROFILE_ROLE, role, "")
            .await;
    }

    /// Takes a role out of a profile.
    pub async fn take_role(&self, profile: &str, role: &str) {
        self.remove(&INSTANCE_PROFILE, profile, PROFILE_ROLE, role)
            .await;
    }

    /// Deletes a group.
    pub async fn delete_group(&self, id: &str) {
        self.delete(&SECURITY_GROUP, id).await;
    }

    /// Deletes a role with its policies.
    pub async fn delete_role(&self, name: &str) {
        let role = self.role(name).await.unwrap();
        for policy in role.policies.keys() {
            self.delete_policy(name, policy).await;
        }
        self.delete(&ROLE, name).await;
    }

    /// Deletes a profile; its role stays.
    pub async fn delete_profile(&self, name: &str) {
        let profile = self.profile(name).await.unwrap();
        for role in &profile.roles {
            self.take_role(name, role).await;
        }
        self.delete(&INSTANCE_PROFILE, name).await;
    }

    /// The default VPC.
    pub async fn default_vpc(&self) -> String {
        let all = self.all(&VPC).await;
        let default = all
            .iter()
            .find(|vpc| vpc.props.get("default").map(|v| &**v) == Some("true"));
        default.unwrap().id.to_string()
    }

    /// The main route table of a VPC.
    pub async fn main_route_table(&self, vpc: &str) -> String {
        let all = self.all(&ROUTE_TABLE).await;
        let has = |table: &Resource, prop, value: &str| {
            table.props.get(prop).is_some_and(|v: &Text| **v == *value)
        };
        let main = all
            .iter()
            .find(|table| has(table, "vpc", vpc) && has(table, "main", "true"));
        main.unwrap().id.to_string()
    }

    /// The subnets of a VPC.
    pub async fn subnets(&self, vpc: &str) -> Vec<String> {
        let all = self.all(&SUBNET).await;
        let here = all
            .iter()
            .filter(|subnet| subnet.props.get("vpc").is_some_and(|v| **v == *vpc));
        here.map(|subnet| subnet.id.to_string()).collect()
    }

    /// The group of this name.
    pub async fn group(&self, name: &str) -> Option<Group> {
        let all = self.all(&SECURITY_GROUP).await;
        let group = all.iter().find(|group| *group.name == *name)?;
        let id = group.id.to_string();
        let rules = self.inside(&SECURITY_GROUP, &id, RULE).await;
        Some(Group {
            tags: tags(group),
            rules: rules
                .into_keys()
                .map(|key| key.replace(&id, "self"))
                .collect(),
            id,
        })
    }

    /// The role of this name.
    pub async fn role(&self, name: &str) -> Option<Role> {
        let role = self.named(&ROLE, name).await?;
        let policies = self.inside(&ROLE, name, INLINE_POLICY).await;
        Some(Role {
            tags: tags(&role),
            policies,
        })
    }

    /// The instance profile of this name.
    pub async fn profile(&self, name: &str) -> Option<Profile> {
        let profile = self.named(&INSTANCE_PROFILE, name).await?;
        let roles = self.inside(&INSTANCE_PROFILE, name, PROFILE_ROLE).await;
        Some(Profile {
            tags: tags(&profile),
            roles: roles.into_keys().collect(),
        })
    }

    /// Everything in the account that has a tag with this key: its Kind and id.
    pub async fn tagged(&self, key: &str) -> BTreeSet<String> {
        self.0.tagged(&cloud_port::aws::KINDS, key).await
    }

    /// Everything in the account that Freehold has left a mark on, or that has a cluster's name.
    pub async fn traces_of(&self, cluster: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for kind in cloud_port::aws::KINDS {
            for resource in self.all(kind).await {
                let named = resource.name.contains(&format!("kubernetes-{cluster}"));
                let marked = resource.tags.iter().any(|(key, _)| {
                    key.starts_with("freehold.dev/") || key.ends_with(&format!("/{cluster}"))
                });
                if named || marked {
                    found.insert(format!(
                        "{} {} {:?}",
                        resource.kind,
                        resource.name,
                        tags(&resource)
                    ));
                }
            }
        }
        found
    }

    /// How many of all the groups, roles and profiles there are.
    pub async fn census(&self) -> (usize, usize, usize) {
        let groups = self.all(&SECURITY_GROUP).await.len();
        (
            groups,
            self.all(&ROLE).await.len(),
            self.all(&INSTANCE_PROFILE).await.len(),
        )
    }
}
