//! Ingress rules of security groups: the port's spelling, and EC2's.

use std::collections::BTreeMap;

use aws_sdk_ec2::types::{
    Filter, IpPermission, IpRange, Ipv6Range, PrefixListId, ResourceType, SecurityGroupRule,
    UserIdGroupPair,
};
use cloud_port::aws::security_group::{Icmp, Peer, RULE, Rule, Traffic};
use ownership::part::{InnerPart, Resource};
use ownership::query::InnerAnswer;
use ownership::step::PartTags;
use ownership::{Answer, Class, CloudError, ResourceId, Target, Text};

use super::{PAGE, filter, tags};
use crate::client_set::ClientSet;
use crate::handler::parts;

parts!(Rules: list, add, remove {
    fn taggable(&self, tags: &PartTags) -> Result<Vec<Target>, CloudError> {
        targets(tags)
    }
});

async fn list(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let filters = vec![filter("group-id", [of.id.as_str()])];
    let found = describe(set, Some(filters)).await?;
    Ok(Answer {
        inner: vec![inside(of.clone(), found.iter())],
        ..Answer::default()
    })
}

/// The rules of all these groups.
pub(super) async fn survey(
    set: &ClientSet,
    groups: &[Resource],
) -> Result<Vec<InnerAnswer>, CloudError> {
    let found = describe(set, None).await?;
    let mut by_group: BTreeMap<&str, Vec<&SecurityGroupRule>> = BTreeMap::new();
    for rule in &found {
        let group = rule.group_id().unwrap_or_default();
        by_group.entry(group).or_default().push(rule);
    }
    let rules = |group: &Resource| {
        let rules = by_group.get(group.id.as_str()).into_iter().flatten();
        inside(Target::new(group.kind, group.id.clone()), rules.copied())
    };
    Ok(groups.iter().map(rules).collect())
}

async fn describe(
    set: &ClientSet,
    filters: Option<Vec<Filter>>,
) -> Result<Vec<SecurityGroupRule>, CloudError> {
    set.ec2
        .describe_security_group_rules()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeSecurityGroupRules"))
}

/// The ingress rules of one group.
fn inside<'a>(of: Target, rules: impl Iterator<Item = &'a SecurityGroupRule>) -> InnerAnswer {
    let ingress = rules.filter(|rule| rule.is_egress() != Some(true));
    let mut parts: Vec<_> = ingress
        .map(|rule| InnerPart {
            id: rule.security_group_rule_id().map(Into::into),
            ..InnerPart::new(key(rule), "", tags::read(rule.tags()))
        })
        .collect();
    parts.sort_by(|a, b| a.key.cmp(&b.key));
    InnerAnswer {
        of,
        inner: RULE,
        parts,
    }
}

/// One call, which gives all its rules the same tags.
async fn add(set: &ClientSet, group: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let Some((first, others)) = parts.split_first() else {
        return Ok(());
    };
    if others.iter().any(|other| other.tags != first.tags) {
        let message = "one call gives all its rules the same tags";
        let code = "InvalidParameterCombination";
        return Err(CloudError::new(Class::Fatal, code, message));
    }
    set.ec2
        .authorize_security_group_ingress()
        .group_id(group.id.as_str())
        .set_ip_permissions(Some(permissions(group, parts)?))
        .set_tag_specifications(tags::riding(ResourceType::SecurityGroupRule, &first.tags))
        .send()
        .await
        .map_err(set.ec2_failure("AuthorizeSecurityGroupIngress"))?;
    Ok(())
}

/// By their ids, where these are known: a call that is late then meets no other rule that says the
/// same. A group has no two of these at one time.
async fn remove(set: &ClientSet, group: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    if parts.is_empty() {
        return Ok(());
    }
    let call = set
        .ec2
        .revoke_security_group_ingress()
        .group_id(group.id.as_str());
    let ids: Option<Vec<String>> = parts.iter().map(id).collect();
    let call = match ids {
        Some(ids) => call.set_security_group_rule_ids(Some(ids)),
        None => call.set_ip_permissions(Some(permissions(group, parts)?)),
    };
    call.send()
        .await
        .map_err(set.ec2_failure("RevokeSecurityGroupIngress"))?;
    Ok(())
}

fn id(part: &InnerPart) -> Option<String> {
    part.id.as_ref().map(ToString::to_string)
}

/// Rules as what can be tagged.
///
/// # Errors
/// One that was not read from EC2, and so has no id.
fn targets(tags: &PartTags) -> Result<Vec<Target>, CloudError> {
    let target = |part: &InnerPart| {
        let missing = || {
            let message = format!("the rule {} has no id to tag it by", part.key);
            CloudError::new(Class::Fatal, "MissingParameter", message)
        };
        let id = part.id.clone().ok_or_else(missing)?;
        Ok(Target::new(tags.target.kind, ResourceId::new(id)))
    };
    tags.parts.iter().map(target).collect()
}

fn permissions(group: &Target, parts: &[InnerPart]) -> Result<Vec<IpPermission>, CloudError> {
    let permission = |part: &InnerPart| match part.key.parse::<Rule>() {
        Ok(rule) => Ok(permission(&rule, group)),
        Err(error) => Err(CloudError::new(
            Class::Fatal,
            "InvalidPermission.Malformed",
            error.to_string(),
        )),
    };
    parts.iter().map(permission).collect()
}

/// A rule as EC2 wants it.
fn permission(rule: &Rule, group: &Target) -> IpPermission {
    let number;
    let (protocol, ports) = match rule.traffic {
        Traffic::All => ("-1", None),
        Traffic::Tcp(ports) => ("tcp", Some((ports.first().into(), ports.last().into()))),
        Traffic::Udp(ports) => ("udp", Some((ports.first().into(), ports.last().into()))),
        Traffic::Icmp(icmp) => ("icmp", Some(messages(icmp))),
        Traffic::IcmpV6(icmp) => ("icmpv6", Some(messages(icmp))),
        Traffic::Other(protocol) => {
            number = protocol.number().to_string();
            (number.as_str(), None)
        }
    };
    let permission = IpPermission::builder()
        .ip_protocol(protocol)
        .set_from_port(ports.map(|(from, _)| from))
        .set_to_port(ports.map(|(_, to)| to));
    match &rule.peer {
        Peer::Network(network) if network.is_v4() => {
            let range = IpRange::builder().cidr_ip(network.to_string());
            permission.ip_ranges(range.build())
        }
        Peer::Network(network) => {
            let range = Ipv6Range::builder().cidr_ipv6(network.to_string());
            permission.ipv6_ranges(range.build())
        }
        Peer::Itself => {
            let pair = UserIdGroupPair::builder().group_id(group.id.as_str());
            permission.user_id_group_pairs(pair.build())
        }
        Peer::Group(text) => {
            let (account, id) = match text.split_once('/') {
                Some((account, id)) => (Some(account.to_owned()), id),
                None => (None, &**text),
            };
            let pair = UserIdGroupPair::builder().group_id(id).set_user_id(account);
            permission.user_id_group_pairs(pair.build())
        }
        Peer::PrefixList(id) => {
            let list = PrefixListId::builder().prefix_list_id(&**id);
            permission.prefix_list_ids(list.build())
        }
    }
    .build()
}

/// EC2 writes type and code of ICMP where others have ports; -1 is any.
fn messages(icmp: Icmp) -> (i32, i32) {
    match icmp {
        Icmp::All => (-1, -1),
        Icmp::Type(kind) => (kind.into(), -1),
        Icmp::Code(kind, code) => (kind.into(), code.into()),
    }
}

/// A rule of EC2 in the port's spelling.
fn key(rule: &SecurityGroupRule) -> Text {
    let text = format!(
        "ingress {} {} {}",
        rule.ip_protocol().unwrap_or("-1"),
        ports(rule),
        peer(rule)
    );
    match text.parse::<Rule>() {
        Ok(rule) => rule.key(),
        // A rule that the port has no words for is there all the same.
        Err(_) => text.into(),
    }
}

fn ports(rule: &SecurityGroupRule) -> String {
    let (from, to) = (rule.from_port().unwrap_or(-1), rule.to_port().unwrap_or(-1));
    match rule.ip_protocol().unwrap_or("-1") {
        "icmp" | "icmpv6" | "1" | "58" => match (from, to) {
            (-1, _) => "all".to_owned(),
            (kind, -1) => kind.to_string(),
            (kind, code) => format!("{kind}/{code}"),
        },
        "tcp" | "udp" | "6" | "17" if from >= 0 => format!("{from}-{to}"),
        _ => "all".to_owned(),
    }
}

fn peer(rule: &SecurityGroupRule) -> String {
    if let Some(range) = rule.cidr_ipv4().or(rule.cidr_ipv6()) {
        return range.to_owned();
    }
    if let Some(list) = rule.prefix_list_id() {
        return list.to_owned();
    }
    let Some(group) = rule.referenced_group_info() else {
        return String::new();
    };
    let id = group.group_id().unwrap_or_default();
    if Some(id) == rule.group_id() {
        return "self".to_owned();
    }
    match group.user_id() {
        Some(account) if rule.group_owner_id().is_some_and(|own| own != account) => {
            format!("{account}/{id}")
        }
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_sdk_ec2::types::ReferencedSecurityGroup;
    use cloud_port::aws::security_group::SECURITY_GROUP;

    const GROUP: &str = "sg-0123456789abcdef0";
    const OTHER: &str = "sg-0aaaaaaaaaaaaaaaa";

    fn group() -> Target {
        Target::new(&SECURITY_GROUP, ResourceId::new(GROUP))
    }

    /// What EC2 would show for a permission that was sent to it.
    fn shown(sent: &IpPermission) -> SecurityGroupRule {
        let mut rule = SecurityGroupRule::builder()
            .group_id(GROUP)
            .group_owner_id("111122223333")
            .is_egress(false)
            .set_ip_protocol(sent.ip_protocol().map(str::to_owned))
            .from_port(sent.from_port().unwrap_or(-1))
            .to_port(sent.to_port().unwrap_or(-1));
        for range in sent.ip_ranges() {
            rule = rule.set_cidr_ipv4(range.cidr_ip().map(str::to_owned));
        }
        for range in sent.ipv6_ranges() {
            rule = rule.set_cidr_ipv6(range.cidr_ipv6().map(str::to_owned));
        }
        for list in sent.prefix_list_ids() {
            rule = rule.set_prefix_list_id(list.prefix_list_id().map(str::to_owned));
        }
        for pair in sent.user_id_group_pairs() {
            let referenced = ReferencedSecurityGroup::builder()
                .set_group_id(pair.group_id().map(str::to_owned))
                // EC2 always names the account, also its own.
                .user_id(pair.user_id().unwrap_or("111122223333"));
            rule = rule.referenced_group_info(referenced.build());
        }
        rule.build()
    }

    #[test]
    fn what_is_sent_reads_back_as_what_was_meant() {
        let rules = [
            "tcp 22 0.0.0.0/0",
            "tcp 30000-32767 10.0.0.0/8",
            "udp all ::/0",
            "icmp all 0.0.0.0/0",
            "icmp 8 0.0.0.0/0",
            "icmp 8/0 0.0.0.0/0",
            "icmpv6 all ::/0",
            "all self",
            "50 10.0.0.0/8",
            "tcp 443 pl-01234567",
            &format!("tcp 443 {OTHER}"),
            &format!("tcp 443 999988887777/{OTHER}"),
        ]
        .map(|text| text.parse::<Rule>().unwrap());
        for rule in rules {
            assert_eq!(key(&shown(&permission(&rule, &group()))), rule.key());
        }
    }

    #[test]
    fn rules_of_others_are_read_in_the_same_spelling() {
        let rule = |protocol: &str, from, to| {
            let rule = SecurityGroupRule::builder().ip_protocol(protocol);
            let rule = rule.from_port(from).to_port(to).cidr_ipv4("10.1.2.3/8");
            key(&rule.build()).to_string()
        };
        assert_eq!(rule("6", 22, 22), "ingress tcp 22-22 10.0.0.0/8");
        assert_eq!(rule("tcp", 0, 65535), "ingress tcp 0-65535 10.0.0.0/8");
        assert_eq!(rule("-1", -1, -1), "ingress all all 10.0.0.0/8");
        assert_eq!(rule("icmp", 8, -1), "ingress icmp 8/all 10.0.0.0/8");
        assert_eq!(rule("47", -1, -1), "ingress 47 all 10.0.0.0/8");
    }

    #[test]
    fn a_rule_without_words_is_not_lost() {
        let strange = SecurityGroupRule::builder().ip_protocol("tcp");
        assert_eq!(&*key(&strange.build()), "ingress tcp all ");
    }
}
