//! EC2 instances, and the images that they start from.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use cloud_port::aws::image::ImageQuery;
use cloud_port::aws::instance::{
    GROUPS, IMAGE, INSTANCE, PRIVATE_DNS, PRIVATE_IP, PROFILE, PUBLIC_DNS, PUBLIC_IP, TYPE, ZONE,
};
use cloud_port::aws::instance_profile::INSTANCE_PROFILE;
use cloud_port::aws::load_balancer::ids;
use cloud_port::aws::security_group::{self, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use ownership::error::Blocker;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::{CloudError, ResourceId, Target, Text};

use super::{EC2, OTHER, OTHER_PART, PAGE, load_balancer};
use crate::account::{Account, refuse};
use crate::provenance::Actor;
use crate::provider::{InnerRow, Model, Row, Told};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &Instance,
    prefix: "i-",
    not_found: "InvalidInstanceID.NotFound",
    over_quota: "InstanceLimitExceeded",
    get: EC2.lists("DescribeInstances", PAGE),
    list: EC2.lists("DescribeInstances", PAGE),
    create: EC2.writes("RunInstances"),
    update: EC2.writes("ModifyInstanceAttribute"),
    delete: EC2.writes("TerminateInstances"),
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    // One that has ended shows for an hour: to end it again is nothing.
    forgives: true,
    quota: 10_000,
    inner: &[InnerRow {
        list: EC2.lists("DescribeInstances", PAGE),
        add: EC2.writes("ModifyInstanceAttribute"),
        remove: EC2.writes("ModifyInstanceAttribute"),
        not_found: "InvalidGroup.NotFound",
        id_not_found: "InvalidGroup.NotFound",
        duplicate: "InvalidGroup.Duplicate",
        full: "SecurityGroupsPerInterfaceLimitExceeded",
        quota: 16,
        told: Told::Always,
        ..OTHER_PART
    }],
    ..OTHER
};

/// Where the groups stand in the declaration.
const GROUP_PARTS: usize = 0;

/// How many addresses of a subnet AWS keeps for itself.
const KEPT: u64 = 5;

/// An image that can be used in the region.
#[derive(Clone, Debug)]
struct Image {
    id: Text,
    owner: Text,
    name: Text,
    arm: bool,
}

/// What a region has for machines, besides their Kinds.
#[derive(Clone, Debug)]
pub(crate) struct Machines {
    /// The oldest first.
    images: Vec<Image>,
    /// Types that a zone does not offer.
    missing: BTreeSet<(Text, Text)>,
    /// Profiles whose role the caller may not pass on.
    forbidden: BTreeSet<Text>,
}

impl Default for Machines {
    /// An image of the public ones for each architecture.
    fn default() -> Self {
        let image = |id: &str, arm| Image {
            id: id.into(),
            owner: "819546954734".into(),
            name: "capa-ami-ubuntu-24.04-v1.34.2-1763000000".into(),
            arm,
        };
        Self {
            images: vec![
                image("ami-0123456789abcdef0", false),
                image("ami-0123456789abcdefa", true),
            ],
            missing: BTreeSet::new(),
            forbidden: BTreeSet::new(),
        }
    }
}

impl Account {
    /// Publishes an image that is newer than all others: for machines with ARM processors, or with the
    /// usual ones.
    pub fn publish_image(&mut self, id: &str, owner: &str, name: &str, arm: bool) {
        self.machines.images.push(Image {
            id: id.into(),
            owner: owner.into(),
            name: name.into(),
            arm,
        });
    }

    /// Withdraws an image.
    pub fn withdraw_image(&mut self, id: &str) {
        self.machines.images.retain(|image| *image.id != *id);
    }

    /// A zone has no machines of a type.
    pub fn lack_type(&mut self, machine: &str, zone: &str) {
        self.machines.missing.insert((machine.into(), zone.into()));
    }

    /// Whether the caller may give machines the role in a profile.
    pub fn let_pass(&mut self, profile: &str, may: bool) {
        if may {
            self.machines.forbidden.remove(profile);
        } else {
            self.machines.forbidden.insert(profile.into());
        }
    }

    /// The newest image that a query means.
    pub(super) fn image(&self, query: &ImageQuery) -> Result<Option<Text>, CloudError> {
        let Some((family, _)) = query.machine.split_once('.') else {
            let message = format!("there is no instance type {}", query.machine);
            let op = EC2.reads("DescribeInstanceTypes");
            return Err(refuse(&ROW, op, "InvalidInstanceType", message));
        };
        // As in t4g, m7g and c6gn: the letter after the generation.
        let letters = family.trim_start_matches(|c: char| !c.is_ascii_digit());
        let arm = letters.chars().skip(1).any(|letter| letter == 'g');
        let mut newest_first = self.machines.images.iter().rev();
        let found = newest_first.find(|image| {
            image.owner == query.owner && image.arm == arm && fits(&query.name, &image.name)
        });
        Ok(found.map(|image| image.id.clone()))
    }

    /// How many addresses of a subnet nobody has.
    fn free_addresses(&self, subnet: &Resource) -> u64 {
        let cidr = subnet.props.get("cidr");
        let bits = cidr.and_then(|cidr| cidr.split_once('/')?.1.parse::<u32>().ok());
        let all = 1_u64 << (32 - bits.unwrap_or(32).min(32));
        let id = subnet.id.text();
        let here = |other: &&std::sync::Arc<Resource>| other.props.get("subnet") == Some(&id);
        let taken = self.alive(&INSTANCE).filter(here).count();
        all.saturating_sub(KEPT + u64::try_from(taken).unwrap_or(u64::MAX))
    }

    /// An address in a subnet that no instance has had.
    fn next_address(&self, subnet: &Resource) -> String {
        let ever = self.lives().filter(|life| life.target.kind == &INSTANCE);
        let nth = u32::try_from(ever.count()).unwrap_or(0) + 4;
        let cidr = subnet.props.get("cidr").map_or("", |cidr| &**cidr);
        let first = cidr.split('/').next().and_then(|it| it.parse().ok());
        let first: Ipv4Addr = first.unwrap_or(Ipv4Addr::UNSPECIFIED);
        Ipv4Addr::from(u32::from(first).wrapping_add(nth)).to_string()
    }
}

/// Whether a name fits a pattern: `*` stands for anything, `?` for one character.
fn fits(pattern: &str, name: &str) -> bool {
    let Some(first) = pattern.chars().next() else {
        return name.is_empty();
    };
    let rest = &pattern[first.len_utf8()..];
    let mut left = name.chars();
    match first {
        '*' => name.char_indices().any(|(at, _)| fits(rest, &name[at..])) || fits(rest, ""),
        '?' => left.next().is_some() && fits(rest, left.as_str()),
        c => left.next() == Some(c) && fits(rest, left.as_str()),
    }
}

#[derive(Debug)]
struct Instance;

impl Model for Instance {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        let no = |code: &str, message: String| Err(refuse(&ROW, ROW.create, code, message));
        let image = account.required(order, props, IMAGE)?.clone();
        if !account.machines.images.iter().any(|it| it.id == image) {
            let message = format!("the image id '{image}' does not exist");
            return no("InvalidAMIID.NotFound", message);
        }
        let subnet = account.required_resource(order, props, &SUBNET, "subnet")?;
        let zone = subnet.props.get("zone").cloned();
        let zone = zone.unwrap_or_else(|| "zone-a".into());
        let machine = account.required(order, props, TYPE)?.clone();
        if account
            .machines
            .missing
            .contains(&(machine.clone(), zone.clone()))
        {
            let message = format!("the type {machine} is not supported in the zone {zone}");
            return no("Unsupported", message);
        }
        if let Some(profile) = props.get(PROFILE) {
            if account.machines.forbidden.contains(profile) {
                let message = "you are not authorized to perform this operation".to_owned();
                return no("UnauthorizedOperation", message);
            }
            let there = account
                .alive(&INSTANCE_PROFILE)
                .any(|it| it.name == *profile);
            if !there {
                let message = format!("there is no instance profile of the name {profile}");
                return no(EC2.invalid, message);
            }
        }
        let groups = props.get(GROUPS).cloned().unwrap_or_else(|| "".into());
        for id in ids(&groups) {
            let group = Target::new(&SECURITY_GROUP, ResourceId::new(id));
            account.living(&group, ROW.create)?;
        }
        if account.free_addresses(subnet) == 0 {
            let message = format!("the subnet '{}' has no free addresses", subnet.id);
            return no("InsufficientFreeAddressesInSubnet", message);
        }
        let address = account.next_address(subnet);
        load_balancer::without(props, &[GROUPS]);
        let name = format!(
            "ip-{}.eu-central-1.compute.internal",
            address.replace('.', "-")
        );
        props.set(ZONE, zone);
        props.set(PRIVATE_IP, address.into());
        props.set(PRIVATE_DNS, name.into());
        props.set(PUBLIC_IP, "".into());
        props.set(PUBLIC_DNS, "".into());
        Ok(())
    }

    /// Without a group it gets the default one of its VPC.
    fn is_born(&self, account: &mut Account, actor: Actor, id: &ResourceId, order: &Order<'_>) {
        let made = Target::new(&INSTANCE, id.clone());
        let groups = order.props.get(GROUPS).cloned();
        let groups = groups.unwrap_or_else(|| "".into());
        let part = |id: &str| InnerPart::new(id, "", Tags::new());
        let named: Vec<InnerPart> = ids(&groups).map(part).collect();
        if !named.is_empty() {
            account.put_parts(actor, &made, GROUP_PARTS, &named);
        } else if let Some(group) = order
            .props
            .get("subnet")
            .and_then(|id| default_group(account, id))
        {
            account.put_parts(Actor::Cloud, &made, GROUP_PARTS, &[part(&group)]);
        }
    }

    /// A load balancer that sends traffic to it keeps none.
    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    fn overlooks_missing_parts(&self, _: &Account, _: &State) -> bool {
        true
    }

    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        _: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        let group = Target::new(&SECURITY_GROUP, ResourceId::new(part.key.clone()));
        account.living(&group, spot.inner.add).map(|_| ())
    }
}

fn default_group(account: &Account, subnet: &Text) -> Option<Text> {
    let subnet = account.resource(&Target::new(&SUBNET, ResourceId::new(subnet.clone())))?;
    let vpc = subnet.props.get("vpc")?;
    let mut groups = account.alive(&SECURITY_GROUP);
    let default = groups.find(|group| {
        &*group.name == security_group::DEFAULT_NAME && group.props.get("vpc") == Some(vpc)
    })?;
    Some(default.id.text())
}

/// Instances that have a group.
pub(super) fn with_group(account: &Account, group: &ResourceId, blockers: &mut Vec<Blocker>) {
    let states = account.states(&INSTANCE);
    let having = states.filter(|state| state.part(GROUP_PARTS, group.as_str()).is_some());
    blockers.extend(having.map(|state| Blocker {
        noun: INSTANCE.noun.into(),
        id: state.resource.id.clone(),
    }));
}

/// What is registered with a load balancer must be there.
pub(super) fn check_registered(
    account: &Account,
    spot: Spot,
    part: &InnerPart,
    code: &str,
) -> Result<(), CloudError> {
    let instance = Target::new(&INSTANCE, ResourceId::new(part.key.clone()));
    if account.resource(&instance).is_some() && !account.is_going(&instance) {
        return Ok(());
    }
    let message = format!("the instance '{}' does not run", part.key);
    Err(spot.refuse(spot.inner.add, code, message))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns_of_names_are_those_of_ec2() {
        assert!(fits(
            "capa-ami-ubuntu-24.04-?1.34.2-*",
            "capa-ami-ubuntu-24.04-v1.34.2-17"
        ));
        assert!(!fits(
            "capa-ami-ubuntu-24.04-?1.34.2-*",
            "capa-ami-ubuntu-24.04-1.34.2-17"
        ));
        assert!(fits("*", "") && fits("a*c", "abbc") && !fits("a*c", "abbd"));
    }
}
