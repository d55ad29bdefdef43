//! Past the adapter: what is really in an account of moto's, by plain calls of the SDK.

use std::collections::BTreeSet;

use aws_config::{BehaviorVersion, Region};
use aws_credential_types::Credentials;
use aws_sdk_ec2::types::{Filter, Tag};
use aws_sdk_iam::types::Role;
use aws_smithy_http_client::Builder;

use crate::clouds::REGION;

/// Clients that the adapter knows nothing of.
pub(crate) struct Raw {
    pub(crate) ec2: aws_sdk_ec2::Client,
    pub(crate) iam: aws_sdk_iam::Client,
}

impl Raw {
    pub(crate) async fn new(url: &str, account: &str) -> Self {
        let config = |credentials| {
            aws_config::defaults(BehaviorVersion::v2026_01_12())
                .http_client(Builder::new().build_http())
                .region(Region::new(REGION))
                .endpoint_url(url)
                .credentials_provider(credentials)
                .load()
        };
        let anybody = Credentials::new("AKIAIOSFODNN7EXAMPLE", "any", None, None, "test");
        let sts = aws_sdk_sts::Client::new(&config(anybody).await);
        let arn = format!("arn:aws:iam::{account}:role/raw");
        let call = sts.assume_role().role_arn(arn).role_session_name("raw");
        let taken = call
            .send()
            .await
            .expect("moto trusts everybody")
            .credentials;
        let taken = taken.expect("credentials");
        let (id, secret) = (taken.access_key_id, taken.secret_access_key);
        let inside = Credentials::new(id, secret, Some(taken.session_token), None, "test");
        let config = config(inside).await;
        Self {
            ec2: aws_sdk_ec2::Client::new(&config),
            iam: aws_sdk_iam::Client::new(&config),
        }
    }

    /// The tags of any resource of EC2, each as `key=value`.
    pub(crate) async fn tags(&self, id: &str) -> BTreeSet<String> {
        let filter = Filter::builder().name("resource-id").values(id).build();
        let found = self.ec2.describe_tags().filters(filter).send().await;
        let found = found.expect("DescribeTags");
        let text = |key: Option<&str>, value: Option<&str>| {
            format!("{}={}", key.unwrap_or_default(), value.unwrap_or_default())
        };
        let tags = found.tags().iter();
        tags.map(|tag| text(tag.key(), tag.value())).collect()
    }

    /// Every resource of EC2 that has a tag with this beginning: `id key`. Not by `DescribeTags`, in
    /// which moto shows the tags of resources that are gone.
    pub(crate) async fn tagged(&self, beginning: &str) -> BTreeSet<String> {
        let mut all: Vec<(String, Vec<Tag>)> = Vec::new();
        let mut note = |id: Option<&str>, tags: &[Tag]| {
            all.push((id.unwrap_or_default().to_owned(), tags.to_vec()));
        };
        let found = self.ec2.describe_vpcs().send().await.expect("DescribeVpcs");
        for vpc in found.vpcs() {
            note(vpc.vpc_id(), vpc.tags());
        }
        let found = self.ec2.describe_subnets().send().await;
        for subnet in found.expect("DescribeSubnets").subnets() {
            note(subnet.subnet_id(), subnet.tags());
        }
        let found = self.ec2.describe_route_tables().send().await;
        for table in found.expect("DescribeRouteTables").route_tables() {
            note(table.route_table_id(), table.tags());
        }
        let found = self.ec2.describe_security_groups().send().await;
        for group in found.expect("DescribeSecurityGroups").security_groups() {
            note(group.group_id(), group.tags());
        }
        let tags = all
            .iter()
            .flat_map(|(id, tags)| tags.iter().map(move |tag| (id, tag)));
        let keys = tags.filter_map(|(id, tag)| Some((id, tag.key()?)));
        let ours = keys.filter(|(_, key)| key.starts_with(beginning));
        ours.map(|(id, key)| format!("{id} {key}")).collect()
    }

    /// The names of all security groups but the default one.
    pub(crate) async fn groups(&self) -> BTreeSet<String> {
        let found = self.ec2.describe_security_groups().send().await;
        let found = found.expect("DescribeSecurityGroups");
        let names = found
            .security_groups()
            .iter()
            .filter_map(|g| g.group_name());
        let names = names.filter(|name| *name != "default");
        names.map(str::to_owned).collect()
    }

    /// The ingress rules of a group as EC2 spells them: protocol, ports, range.
    pub(crate) async fn rules(&self, group: &str) -> BTreeSet<String> {
        let filter = Filter::builder().name("group-id").values(group).build();
        let call = self.ec2.describe_security_group_rules().filters(filter);
        let found = call.send().await.expect("DescribeSecurityGroupRules");
        let rules = found.security_group_rules().iter();
        let ingress = rules.filter(|rule| rule.is_egress() == Some(false));
        ingress
            .map(|rule| {
                let (from, to) = (rule.from_port().unwrap_or(-1), rule.to_port().unwrap_or(-1));
                let group = rule
                    .referenced_group_info()
                    .and_then(|info| info.group_id());
                let peer = rule.cidr_ipv4().or(rule.cidr_ipv6()).or(group);
                let protocol = rule.ip_protocol().unwrap_or_default();
                format!("{protocol} {from} {to} {}", peer.unwrap_or_default())
            })
            .collect()
    }

    /// The tags of the ingress rules of a group.
    pub(crate) async fn rule_tags(&self, group: &str) -> Vec<Vec<Tag>> {
        let filter = Filter::builder().name("group-id").values(group).build();
        let call = self.ec2.describe_security_group_rules().filters(filter);
        let found = call.send().await.expect("DescribeSecurityGroupRules");
        let rules = found.security_group_rules().iter();
        let ingress = rules.filter(|rule| rule.is_egress() == Some(false));
        ingress.map(|rule| rule.tags().to_vec()).collect()
    }

    /// The names of all roles.
    pub(crate) async fn roles(&self) -> BTreeSet<String> {
        let found = self.iam.list_roles().send().await.expect("ListRoles");
        let names = found.roles().iter().map(Role::role_name);
        names.map(str::to_owned).collect()
    }

    /// The inline policies of a role: their names.
    pub(crate) async fn policies(&self, role: &str) -> Vec<String> {
        let found = self.iam.list_role_policies().role_name(role).send().await;
        found.expect("ListRolePolicies").policy_names().to_vec()
    }

    /// The tags of a role, each as `key=value`.
    pub(crate) async fn role_tags(&self, role: &str) -> BTreeSet<String> {
        let found = self.iam.list_role_tags().role_name(role).send().await;
        let found = found.expect("ListRoleTags");
        let tags = found.tags().iter();
        tags.map(|tag| format!("{}={}", tag.key(), tag.value()))
            .collect()
    }

    /// All instance profiles with their roles: `profile role`.
    pub(crate) async fn profiles(&self) -> BTreeSet<String> {
        let found = self.iam.list_instance_profiles().send().await;
        let found = found.expect("ListInstanceProfiles");
        let profiles = found.instance_profiles().iter();
        profiles
            .map(|profile| {
                let roles = profile.roles().iter().map(Role::role_name);
                let roles: Vec<_> = roles.collect();
                format!("{} {}", profile.instance_profile_name(), roles.join(" "))
            })
            .collect()
    }
}
