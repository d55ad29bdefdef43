//! Classic load balancers, with their subnets, security groups and listeners as parts.

use std::fmt;
use std::str::FromStr;

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::{Code, Service};
use super::health_check::HealthCheck;
pub use super::load_balancer::{
    DNS_NAME, GROUP, GROUPS, HEALTH_CHECK, SUBNET, SUBNETS, Scheme, fit_name,
};
use super::load_balancer::{GROUP_PART, NAMES, SUBNET_PART, attachments, check_name, some};
use super::{ELB_SETTLING, Entry, subnet};
use crate::sample::{Parent, PartSample, Sample};

/// A classic load balancer that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicLoadBalancer {
    /// Its name, unique in the account and region; [`fit_name`] makes one of what is derived.
    pub name: Text,
    /// Who can reach it.
    pub scheme: Scheme,
    /// The subnets that it is in, by id: at most one of each zone.
    pub subnets: Vec<Expr>,
    /// Its security groups, by id.
    pub security_groups: Vec<Expr>,
    /// What it forwards.
    pub listeners: Vec<Forward>,
    /// How it finds out which machines can be used.
    pub health_check: HealthCheck,
}

/// What a classic load balancer forwards: from a port of its own to one of the machines.
///
/// As text, and as the key of the part: `tcp 6443 tcp 6443`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Forward {
    /// The protocol that it is spoken to by, in lower case.
    pub protocol: Text,
    /// Its port.
    pub port: u16,
    /// The protocol that the machines are spoken to by.
    pub to_protocol: Text,
    /// The port of the machines.
    pub to_port: u16,
}

impl Forward {
    /// TCP, as it comes.
    pub fn tcp(port: u16, to_port: u16) -> Self {
        Self {
            protocol: "tcp".into(),
            port,
            to_protocol: "tcp".into(),
            to_port,
        }
    }
}

impl fmt::Display for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (protocol, port) = (&self.protocol, self.port);
        write!(f, "{protocol} {port} {} {}", self.to_protocol, self.to_port)
    }
}

impl FromStr for Forward {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let words: Vec<&str> = text.split(' ').collect();
        let read = || {
            let [protocol, port, to_protocol, to_port] = words[..] else {
                return None;
            };
            Some(Self {
                protocol: protocol.to_ascii_lowercase().into(),
                port: port.parse().ok()?,
                to_protocol: to_protocol.to_ascii_lowercase().into(),
                to_port: to_port.parse().ok()?,
            })
        };
        read().ok_or_else(|| {
            let rule = "must have the form tcp 6443 tcp 6443";
            InputError::new("listener", text, rule)
        })
    }
}

impl ClassicLoadBalancer {
    /// The slot for it.
    ///
    /// # Errors
    /// The field, and the rule of Elastic Load Balancing that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        check_name("load balancer name", &self.name)?;
        some("load balancer subnets", &self.subnets)?;
        some("load balancer security groups", &self.security_groups)?;
        self.health_check.check()?;
        if self.listeners.is_empty() {
            let rule = "must not be empty: a load balancer forwards something";
            return Err(InputError::new("load balancer listeners", "", rule));
        }
        let (subnets, mut inner) = attachments(SUBNET, &self.subnets);
        let (groups, parts) = attachments(GROUP, &self.security_groups);
        inner.extend(parts);
        let listeners: Vec<String> = self.listeners.iter().map(ToString::to_string).collect();
        inner.extend(listeners.iter().map(|listener| InnerWish {
            kind: LISTENER,
            key: listener.as_str().into(),
            value: "".into(),
        }));
        Ok(Slot {
            props: vec![
                ("scheme", self.scheme.as_str().into()),
                (SUBNETS, subnets),
                (GROUPS, groups),
                (LISTENERS, Expr::Text(listeners.join(",").into())),
                (HEALTH_CHECK, Expr::Text(self.health_check.text())),
            ],
            inner,
            ..Slot::own(slot, &CLASSIC_LOAD_BALANCER, self.name)
        })
    }
}

/// A listener: the key is its [`Forward`], the port of which no other can have.
pub const LISTENER: &str = "listener";

/// An instance that it sends traffic to: the key is the instance's id.
pub const INSTANCE: &str = "instance";

/// The property of a create call with its listeners, with commas between: afterwards they are parts.
pub const LISTENERS: &str = "listeners";

/// The declaration. It has no id of its own: what tells two of one name apart is the name in the DNS that
/// each gets.
pub static CLASSIC_LOAD_BALANCER: Kind = Kind {
    name: "aws/classic-load-balancer",
    noun: "classic load balancer",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: false,
    naming: Naming::Account,
    names: NAMES,
    ids: Ids::Names,
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
            name: LISTENERS,
            change: Change::Irrelevant,
        },
        PropRule {
            name: HEALTH_CHECK,
            change: Change::InPlace,
        },
        PropRule {
            name: DNS_NAME,
            change: Change::Given,
        },
    ],
    inner: &[
        SUBNET_PART,
        GROUP_PART,
        InnerKind {
            name: LISTENER,
            noun: "listener",
            proof: InnerProof::ParentMark,
            // To add one that says the same is nothing.
            create: CreateMode::Upsert,
            blocks_deletion: false,
            batch: true,
            single: false,
            comes_along: &[],
            born_with: Some(LISTENERS),
            is_listed: true,
        },
        InnerKind {
            name: INSTANCE,
            noun: "instance",
            proof: InnerProof::ParentMark,
            // To register it again is nothing.
            create: CreateMode::Upsert,
            blocks_deletion: false,
            batch: true,
            single: false,
            comes_along: &[],
            born_with: None,
            is_listed: true,
        },
    ],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Elb,
    codes: &CODES,
};

static CODES: [Code; 7] = [
    Code::new("DuplicateLoadBalancerName", Class::Exists),
    Code::quota("TooManyLoadBalancers", "Classic Load Balancers per Region"),
    Code::quota("TooManyListeners", "Listeners per Classic Load Balancer"),
    Code::new("DuplicateListener", Class::Fatal)
        .advice("another listener has the port: remove it, or choose another port"),
    Code::new("ListenerNotFound", Class::NotFound),
    Code::new("InvalidInstance", Class::Fatal)
        .advice("what is registered must be an instance that runs, in the load balancer's VPC"),
    Code::new("InvalidScheme", Class::Fatal).advice(
        "an internet-facing load balancer needs subnets with a route to an internet gateway",
    ),
];

static SAMPLE: Sample = Sample {
    parent: Some(Parent {
        prop: SUBNETS,
        part: Some(SUBNET),
        ..subnet::PARENT
    }),
    props: &[
        ("scheme", "internal"),
        (LISTENERS, "tcp 6443 tcp 6443"),
        (
            HEALTH_CHECK,
            "tcp 6443 every 10 timeout 5 healthy 5 unhealthy 3",
        ),
    ],
    changed: &[(
        HEALTH_CHECK,
        "tcp 6443 every 30 timeout 5 healthy 5 unhealthy 3",
    )],
    parts: &[PartSample {
        inner: LISTENER,
        wanted: &[("tcp 6443 tcp 6443", ""), ("tcp 22 tcp 2222", "")],
        others: [
            ("tcp 80 tcp 8080", ""),
            ("tcp 443 tcp 8443", ""),
            ("tcp 4444 tcp 4444", ""),
        ],
    }],
    refers: &[SUBNET, GROUP, INSTANCE],
    ..Sample::of(&CLASSIC_LOAD_BALANCER)
};

#[cfg(test)]
mod tests {
    use super::*;

    fn balancer() -> ClassicLoadBalancer {
        ClassicLoadBalancer {
            name: fit_name("prod-apiserver"),
            scheme: Scheme::InternetFacing,
            subnets: vec!["subnet-1".into(), "subnet-2".into()],
            security_groups: vec!["sg-1".into()],
            listeners: vec![Forward::tcp(6443, 6443)],
            health_check: HealthCheck::tcp(6443),
        }
    }

    fn slot(balancer: ClassicLoadBalancer) -> Result<Slot, InputError> {
        balancer.slot(SlotName::new("load-balancer").unwrap())
    }

    #[test]
    fn everything_rides_on_the_create_call_and_becomes_parts() {
        let slot = slot(balancer()).unwrap();
        let inner: Vec<_> = slot
            .inner
            .iter()
            .map(|wish| format!("{} {}", wish.kind, wish.key))
            .collect();
        assert_eq!(
            inner,
            [
                "subnet subnet-1",
                "subnet subnet-2",
                "security-group sg-1",
                "listener tcp 6443 tcp 6443",
            ]
        );
        let subnets = &slot.props[1];
        assert_eq!(
            (subnets.0, subnets.1.to_string()),
            (SUBNETS, "subnet-1,subnet-2".into())
        );
        ownership::Blueprint::new(vec![slot]).unwrap();
    }

    #[test]
    fn what_would_be_refused_is_refused_with_the_rule() {
        let rule = |balancer| slot(balancer).unwrap_err().to_string();
        let subnets = Vec::new();
        let nowhere = ClassicLoadBalancer {
            subnets,
            ..balancer()
        };
        assert!(rule(nowhere).contains("at least one"));
        let listeners = Vec::new();
        let idle = ClassicLoadBalancer {
            listeners,
            ..balancer()
        };
        assert!(rule(idle).contains("forwards something"));
        let name = "a_b".into();
        assert!(rule(ClassicLoadBalancer { name, ..balancer() }).contains("must consist of"));
    }

    #[test]
    fn a_listener_reads_back_as_what_was_meant() {
        let forward = Forward::tcp(443, 6443);
        assert_eq!(forward.to_string().parse::<Forward>().unwrap(), forward);
        assert_eq!("TCP 443 TCP 6443".parse::<Forward>().unwrap(), forward);
        assert!("tcp 443".parse::<Forward>().is_err());
    }
}
