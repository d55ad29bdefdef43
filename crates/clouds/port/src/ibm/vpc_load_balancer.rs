//! Load balancers of a VPC of IBM Cloud, with their pools and listeners as parts.

use std::fmt;

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{CreateMode, InnerKind};
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::{
    CRN, Entry, MARKED_LATER, NAME, PART, RESOURCE_GROUP, SLOW, fixed, given, names, of_the_call,
    vpc_subnet,
};
use crate::code::Code;
use crate::sample::{PartSample, Sample};

/// A load balancer that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VpcLoadBalancer {
    /// Its name, unique in the region.
    pub name: Text,
    /// Whether it is reached from the internet.
    pub is_public: bool,
    /// The subnets that it is in, by their ids.
    pub subnets: Vec<Expr>,
    /// Its security groups, by their ids; without any, the default one of its VPC.
    pub security_groups: Vec<Expr>,
    /// The id of its resource group.
    pub resource_group: Expr,
    /// Where it forwards to.
    pub pools: Vec<Pool>,
    /// What it forwards.
    pub listeners: Vec<Listener>,
}

/// Machines that a load balancer forwards to. Who is in it is not said here: machines are put in and taken
/// out by whoever makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name, unique in its load balancer.
    pub name: Text,
    /// The protocol: `tcp`, `udp`, `http` or `https`.
    pub protocol: Text,
    /// How it chooses: `round_robin`, `least_connections` or `weighted_round_robin`.
    pub algorithm: Text,
    /// How it finds out which machines can be used.
    pub health: Health,
}

/// How a pool finds out which machines can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// `tcp`, `http` or `https`.
    pub protocol: Text,
    /// The port; else each machine's own.
    pub port: Option<u16>,
    /// The seconds between two checks: 2 to 60, and more than the timeout.
    pub delay: u8,
    /// The seconds to wait for an answer: 1 to 59.
    pub timeout: u8,
    /// How many failures in a row count: 1 to 10.
    pub retries: u8,
    /// The path, for http and https.
    pub path: Option<Text>,
}

/// What a load balancer listens to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The protocol: `tcp`, `udp`, `http` or `https`.
    pub protocol: Text,
    /// The port.
    pub port: u16,
    /// The pool that it forwards to, by its name.
    pub pool: Text,
}

impl Health {
    /// TCP, as the original checks API servers.
    pub fn tcp() -> Self {
        Self {
            protocol: "tcp".into(),
            port: None,
            delay: 5,
            timeout: 2,
            retries: 2,
            path: None,
        }
    }

    fn check(&self) -> Result<(), InputError> {
        let refuse = |value: &dyn fmt::Display, rule| {
            Err(InputError::new(
                "pool health monitor",
                &value.to_string(),
                rule,
            ))
        };
        if !(2..=60).contains(&self.delay) || self.delay <= self.timeout {
            let rule = "must have a delay of 2 to 60 seconds that is longer than its timeout";
            return refuse(&self.delay, rule);
        }
        if !(1..=59).contains(&self.timeout) {
            return refuse(&self.timeout, "must have a timeout of 1 to 59 seconds");
        }
        if !(1..=10).contains(&self.retries) {
            return refuse(&self.retries, "must have 1 to 10 retries");
        }
        let has_path = ["http", "https"].contains(&&*self.protocol);
        match &self.path {
            Some(path) if !has_path => {
                refuse(path, "must have no path, unless it is http or https")
            }
            Some(path) if path.contains([' ', ',']) => {
                refuse(path, "must have no blanks or commas")
            }
            _ => Ok(()),
        }
    }
}

/// `tcp round_robin check tcp every 5 timeout 2 retries 2`.
impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Health {
            protocol,
            delay,
            timeout,
            retries,
            ..
        } = &self.health;
        write!(
            f,
            "{} {} check {protocol} every {delay} timeout {timeout} retries {retries}",
            self.protocol, self.algorithm
        )?;
        if let Some(port) = self.health.port {
            write!(f, " port {port}")?;
        }
        if let Some(path) = &self.health.path {
            write!(f, " path {path}")?;
        }
        Ok(())
    }
}

impl VpcLoadBalancer {
    /// The slot for it.
    ///
    /// # Errors
    /// The field, and the rule of VPC that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        names::check("load balancer name", &self.name, VPC_LOAD_BALANCER.names)?;
        if self.subnets.is_empty() {
            let rule = "must not be empty: a load balancer is in at least one";
            return Err(InputError::new("load balancer subnets", "", rule));
        }
        let mut inner = Vec::new();
        for pool in &self.pools {
            names::check("pool name", &pool.name, VPC_LOAD_BALANCER.names)?;
            pool.health.check()?;
            inner.push(InnerWish {
                kind: POOL,
                key: Expr::Text(pool.name.clone()),
                value: Expr::Text(pool.to_string().into()),
            });
        }
        for listener in &self.listeners {
            let port = listener.port;
            if port == 0 || (56_500..=56_520).contains(&port) {
                let rule =
                    "must be from 1 to 65535, but not 56500 to 56520, which VPC keeps for itself";
                return Err(InputError::new("listener port", &port.to_string(), rule));
            }
            if self.pools.iter().all(|pool| pool.name != listener.pool) {
                let rule = "must be the name of one of the pools";
                return Err(InputError::new("listener pool", &listener.pool, rule));
            }
            inner.push(InnerWish {
                kind: LISTENER,
                key: Expr::Text(format!("{} {port}", listener.protocol).into()),
                value: Expr::Text(listener.pool.clone()),
            });
        }
        let mut props = vec![
            (PUBLIC, if self.is_public { "true" } else { "false" }.into()),
            (SUBNETS, joined(self.subnets)),
            (RESOURCE_GROUP, self.resource_group),
        ];
        if !self.security_groups.is_empty() {
            props.push((GROUPS, joined(self.security_groups)));
        }
        Ok(Slot {
            props,
            inner,
            ..Slot::own(slot, &VPC_LOAD_BALANCER, self.name)
        })
    }
}

fn joined(ids: Vec<Expr>) -> Expr {
    let mut all = Vec::with_capacity(ids.len() * 2);
    for id in ids {
        if !all.is_empty() {
            all.push(",".into());
        }
        all.push(id);
    }
    Expr::join(all)
}

/// A pool: the key is its name, the value how a [`Pool`] is spelled.
pub const POOL: &str = "pool";
/// A listener: the key is its protocol and port (`tcp 6443`), the value the name of its pool.
pub const LISTENER: &str = "listener";
/// The property that says whether it is reached from the internet.
pub const PUBLIC: &str = "public";
/// The property of the create call with the ids of its subnets, with commas between.
pub const SUBNETS: &str = "subnets";
/// The property of the create call with the ids of its security groups, with commas between.
pub const GROUPS: &str = "security-groups";
/// The property with its name in the DNS.
pub const HOSTNAME: &str = "hostname";

/// The declaration. What it is in is chosen at birth. A change inside it takes about a minute, in which
/// every other one is refused.
pub static VPC_LOAD_BALANCER: Kind = Kind {
    name: "ibm/vpc-load-balancer",
    noun: "VPC load balancer",
    course: SLOW,
    props: &[
        fixed(PUBLIC),
        of_the_call(SUBNETS),
        of_the_call(GROUPS),
        fixed(RESOURCE_GROUP),
        given(HOSTNAME),
        given(CRN),
        given(NAME),
    ],
    // Pools come first: a listener forwards to one.
    inner: &[
        InnerKind {
            name: POOL,
            noun: "pool",
            create: CreateMode::Insert,
            ..PART
        },
        InnerKind {
            name: LISTENER,
            noun: "listener",
            create: CreateMode::Insert,
            ..PART
        },
    ],
    ..MARKED_LATER
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Vpc,
    codes: &CODES,
};

static CODES: [Code; 9] = [
    Code::new("load_balancer_duplicate_name", Class::Exists),
    Code::quota("load_balancer_over_quota", "load balancers per region"),
    Code::quota("listener_over_quota", "listeners per load balancer"),
    Code::quota("pool_over_quota", "pools per load balancer"),
    Code::new("listener_duplicate_port", Class::Exists),
    Code::new("pool_duplicate_name", Class::Exists),
    // Something else is being changed in it.
    Code::new("load_balancer_update_conflict", Class::Retryable),
    Code::new("load_balancer_delete_conflict", Class::Retryable),
    Code::new("load_balancer_insufficient_ips", Class::Fatal)
        .advice("choose a subnet with free addresses"),
];

static SAMPLE: Sample = Sample {
    parent: Some(vpc_subnet::PARENT),
    props: &[(PUBLIC, "true"), (RESOURCE_GROUP, "group-of-the-account")],
    parts: &[
        // Listeners first: what is wanted no more first leads to what is still there.
        PartSample {
            inner: LISTENER,
            wanted: &[("tcp 6443", "api")],
            others: [("tcp 80", "web"), ("tcp 22", "ssh"), ("udp 53", "dns")],
        },
        PartSample {
            inner: POOL,
            // One is enough: each is a call of its own.
            wanted: &[(
                "api",
                "tcp round_robin check tcp every 5 timeout 2 retries 2",
            )],
            others: [
                (
                    "web",
                    "http round_robin check http every 5 timeout 2 retries 2",
                ),
                (
                    "ssh",
                    "tcp round_robin check tcp every 9 timeout 2 retries 2",
                ),
                (
                    "dns",
                    "udp round_robin check tcp every 9 timeout 2 retries 2",
                ),
            ],
        },
    ],
    ..Sample::of(&VPC_LOAD_BALANCER)
};

#[cfg(test)]
mod tests {
    use super::*;

    fn balancer(health: Health) -> Result<Slot, InputError> {
        let pool = Pool {
            name: "prod-pool-6443".into(),
            protocol: "tcp".into(),
            algorithm: "round_robin".into(),
            health,
        };
        let listener = Listener {
            protocol: "tcp".into(),
            port: 6443,
            pool: pool.name.clone(),
        };
        let balancer = VpcLoadBalancer {
            name: "prod-loadbalancer".into(),
            is_public: true,
            subnets: vec!["a".into(), "b".into()],
            security_groups: Vec::new(),
            resource_group: "group".into(),
            pools: vec![pool],
            listeners: vec![listener],
        };
        balancer.slot(SlotName::new("balancer")?)
    }

    #[test]
    fn pools_and_listeners_are_parts() {
        let slot = balancer(Health::tcp()).unwrap();
        let parts: Vec<String> = slot
            .inner
            .iter()
            .map(|wish| format!("{} {}: {}", wish.kind, wish.key, wish.value))
            .collect();
        let settings = "tcp round_robin check tcp every 5 timeout 2 retries 2";
        let expected = [
            format!("pool prod-pool-6443: {settings}"),
            "listener tcp 6443: prod-pool-6443".to_owned(),
        ];
        assert_eq!(parts, expected);
        ownership::Blueprint::new(vec![slot]).unwrap();
    }

    #[test]
    fn a_health_monitor_obeys_the_limits_of_vpc() {
        let rule = |health: Health| balancer(health).unwrap_err().to_string();
        let slow = Health {
            timeout: 5,
            ..Health::tcp()
        };
        assert!(rule(slow).contains("longer than its timeout"));
        let stubborn = Health {
            retries: 11,
            ..Health::tcp()
        };
        assert!(rule(stubborn).contains("1 to 10 retries"));
        let path = Health {
            path: Some("/readyz".into()),
            ..Health::tcp()
        };
        assert!(rule(path).contains("must have no path"));
    }
}
