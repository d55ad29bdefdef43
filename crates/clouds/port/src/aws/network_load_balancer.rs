//! Network load balancers, with their subnets, security groups and listeners as parts.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::{Code, Service};
pub use super::load_balancer::{DNS_NAME, GROUP, GROUPS, SUBNET, SUBNETS, Scheme, VPC, fit_name};
use super::load_balancer::{GROUP_PART, NAMES, SUBNET_PART, attachments, check_name, some};
use super::{ELB_SETTLING, Entry, subnet};
use crate::sample::{Parent, PartSample, Sample};

/// A network load balancer that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkLoadBalancer {
    /// Its name, unique in the account and region among network and application load balancers;
    /// [`fit_name`] makes one of what is derived.
    pub name: Text,
    /// Who can reach it.
    pub scheme: Scheme,
    /// The subnets that it is in, by id: at most one of each zone.
    pub subnets: Vec<Expr>,
    /// Its security groups, by id. One that was created without any can never get one.
    pub security_groups: Vec<Expr>,
    /// What it forwards, and where to.
    pub listeners: Vec<Listener>,
}

/// A listener of a network load balancer, for TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its port.
    pub port: u16,
    /// The target group that it forwards to, by its id.
    pub target_group: Expr,
}

impl NetworkLoadBalancer {
    /// The slot for it.
    ///
    /// # Errors
    /// The field, and the rule of Elastic Load Balancing that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        check_name("load balancer name", &self.name)?;
        some("load balancer subnets", &self.subnets)?;
        let (subnets, mut inner) = attachments(SUBNET, &self.subnets);
        let (groups, parts) = attachments(GROUP, &self.security_groups);
        inner.extend(parts);
        inner.extend(self.listeners.into_iter().map(|listener| InnerWish {
            kind: LISTENER,
            key: Expr::Text(format!("tcp {}", listener.port).into()),
            value: listener.target_group,
        }));
        let mut props = vec![("scheme", self.scheme.as_str().into()), (SUBNETS, subnets)];
        if !self.security_groups.is_empty() {
            props.push((GROUPS, groups));
        }
        Ok(Slot {
            props,
            inner,
            ..Slot::own(slot, &NETWORK_LOAD_BALANCER, self.name)
        })
    }
}

/// A listener: the key is its protocol and port (`tcp 6443`), the value is the id of the target group. It
/// carries tags of its own, and goes with the load balancer.
pub const LISTENER: &str = "listener";

/// The declaration. Its id is its ARN.
pub static NETWORK_LOAD_BALANCER: Kind = Kind {
    name: "aws/network-load-balancer",
    noun: "network load balancer",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: false,
    naming: Naming::Account,
    names: NAMES,
    ids: Ids::Unique,
    has_creation_time: true,
    recorded: true,
    lists_marks: true,
    valuable: false,
    settling: ELB_SETTLING,
    course: Course::PLAIN,
    props: &[
        PropRule {
            name: "scheme",
            change: Change::Never,
        },
        PropRule {
            name: SUBNETS,
            change: Change::Irrelevant,
        },
        PropRule {
            name: GROUPS,
            change: Change::Irrelevant,
        },
        PropRule {
            name: DNS_NAME,
            change: Change::Given,
        },
        PropRule {
            name: VPC,
            change: Change::Given,
        },
    ],
    inner: &[
        SUBNET_PART,
        GROUP_PART,
        InnerKind {
            name: LISTENER,
            noun: "listener",
            proof: InnerProof::OwnMark,
            // Two claims may want one on a load balancer of somebody's: neither takes the other's place.
            create: CreateMode::Insert,
            blocks_deletion: false,
            batch: false,
            single: false,
            comes_along: &[],
            born_with: None,
            // `DescribeListeners` wants to know of which load balancer.
            is_listed: false,
        },
    ],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Elbv2,
    codes: &CODES,
};

static CODES: [Code; 7] = [
    Code::new("DuplicateLoadBalancerName", Class::Exists),
    Code::quota("TooManyLoadBalancers", "Network Load Balancers per Region"),
    Code::quota("TooManyListeners", "Listeners per Network Load Balancer"),
    Code::new("DuplicateListener", Class::Exists),
    Code::new("ListenerNotFound", Class::NotFound),
    // Whoever set the protection against deletion means it.
    Code::new("OperationNotPermitted", Class::Fatal)
        .to("DeleteLoadBalancer")
        .advice("switch off the load balancer's deletion protection"),
    Code::new("InvalidScheme", Class::Fatal),
];

/// The listeners forward to what is in another account: those cannot be looked up from here.
static SAMPLE: Sample = Sample {
    parent: Some(Parent {
        prop: SUBNETS,
        part: Some(SUBNET),
        ..subnet::PARENT
    }),
    props: &[("scheme", "internal")],
    parts: &[PartSample {
        inner: LISTENER,
        wanted: &[
            ("tcp 6443", "arn:of-another:targetgroup/a"),
            ("tcp 22", "arn:of-another:targetgroup/b"),
        ],
        others: [
            ("tcp 80", "arn:of-another:targetgroup/c"),
            ("tcp 443", "arn:of-another:targetgroup/d"),
            ("tcp 4444", "arn:of-another:targetgroup/e"),
        ],
    }],
    refers: &[SUBNET, GROUP],
    ..Sample::of(&NETWORK_LOAD_BALANCER)
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::health_check::HealthCheck;
    use crate::aws::target_group::{TargetGroup, Targets};

    #[test]
    fn a_load_balancer_and_its_target_group_make_a_blueprint() {
        let name = |name| SlotName::new(name).unwrap();
        let group = TargetGroup {
            name: fit_name("prod-apiserver"),
            vpc: "vpc-1".into(),
            port: 6443,
            targets: Targets::Instances,
            health_check: HealthCheck::tcp(6443),
        };
        let balancer = NetworkLoadBalancer {
            name: fit_name("prod-apiserver"),
            scheme: Scheme::Internal,
            subnets: vec!["subnet-1".into()],
            security_groups: Vec::new(),
            listeners: vec![Listener {
                port: 6443,
                target_group: Expr::Slot(name("targets")),
            }],
        };
        let slots = vec![
            balancer.slot(name("load-balancer")).unwrap(),
            group.slot(name("targets")).unwrap(),
        ];
        // None without a group: AWS would take an empty list for one.
        assert!(slots[0].props.iter().all(|(prop, _)| *prop != GROUPS));
        let blueprint = ownership::Blueprint::new(slots).unwrap();
        let order: Vec<_> = blueprint
            .slots()
            .iter()
            .map(|slot| slot.name.as_str())
            .collect();
        assert_eq!(order, ["targets", "load-balancer"]);
    }
}
