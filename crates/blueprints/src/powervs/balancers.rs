//! Load balancers of the API server.

use cloud_port::ibm::vpc_load_balancer::{
    Health, Listener, Pool, VPC_LOAD_BALANCER, VpcLoadBalancer,
};
use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::{Slot, SlotName, Text};

use super::Cluster;
use super::blueprint::{group, region};
use super::names::{balancer_slot, set, subnet_slot};

const FIELD: &str = "spec.loadBalancers";

/// `spec.loadBalancers[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadBalancer {
    /// Its id: it is used as it is.
    pub id: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Whether it is reached from the internet; it is, unless it says no.
    pub public: Option<bool>,
    /// The subnets that it is in, each by id or name; without any, all of the cluster.
    pub subnets: Vec<(Option<String>, Option<String>)>,
    /// Its security groups, each by id or name; without any, the default one of the VPC.
    pub groups: Vec<(Option<String>, Option<String>)>,
    /// What it listens to besides the API server's port.
    pub listeners: Vec<PoolListener>,
    /// Where it forwards to besides the API servers.
    pub pools: Vec<BackendPool>,
}

/// `spec.loadBalancers[].additionalListeners[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolListener {
    /// The port.
    pub port: i64,
    /// The protocol; else TCP.
    pub protocol: Option<String>,
    /// The pool; else one of its own.
    pub pool: Option<String>,
}

/// `spec.loadBalancers[].backendPools[]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackendPool {
    /// Its name.
    pub name: Option<String>,
    /// Its protocol.
    pub protocol: String,
    /// How it chooses.
    pub algorithm: String,
    /// How it finds out which machines can be used: protocol, and the port and path where they are given.
    pub health: (String, Option<i64>, Option<String>),
    /// The seconds between two checks and before one has failed, and how many failures count.
    pub limits: [i64; 3],
}

impl Cluster {
    pub(super) fn load_balancers(&self) -> Result<Vec<Slot>, InputError> {
        if self.balancers.is_empty() {
            let one = LoadBalancer::default();
            return Ok(vec![self.load_balancer(0, &one)?]);
        }
        let balancers = self.balancers.iter().enumerate();
        balancers
            .map(|(at, balancer)| self.load_balancer(at, balancer))
            .collect()
    }

    /// The slot of a load balancer that is given.
    pub(super) fn balancer_of(at: usize, balancer: &LoadBalancer) -> SlotName {
        let given = set(balancer.id.as_ref()).or_else(|| set(balancer.name.as_ref()));
        match given {
            Some(key) => balancer_slot(key),
            None if at == 0 => balancer_slot("api"),
            None => balancer_slot(&at.to_string()),
        }
    }

    /// The slot of the load balancer by which the API server is reached: the first public one, else the
    /// first.
    pub fn endpoint_slot(&self) -> SlotName {
        let mut balancers = self.balancers.iter().enumerate();
        let public = balancers.find(|(_, balancer)| balancer.public != Some(false));
        let found = public.or_else(|| self.balancers.iter().enumerate().next());
        found.map_or_else(
            || Self::balancer_of(0, &LoadBalancer::default()),
            |(at, balancer)| Self::balancer_of(at, balancer),
        )
    }

    fn load_balancer(&self, at: usize, given: &LoadBalancer) -> Result<Slot, InputError> {
        let name_of_slot = Self::balancer_of(at, given);
        let field = |name: &str| format!("{FIELD}[{at}].{name}");
        if let Some(id) = set(given.id.as_ref()) {
            let own = Slot {
                field: Some(field("id").into()),
                ..Slot::own(name_of_slot, &VPC_LOAD_BALANCER, id)
            };
            return Ok(own.at(&region()));
        }
        let what = if at == 0 && self.balancers.len() < 2 {
            "loadbalancer".to_owned()
        } else {
            format!("loadbalancer-{at}")
        };
        let name: Text = match set(given.name.as_ref()) {
            Some(name) => name.into(),
            None => VPC_LOAD_BALANCER.names.fit(&self.derived(&what)),
        };
        let (pools, listeners) = self.forwards(&name, at, given)?;
        let balancer = VpcLoadBalancer {
            name,
            is_public: given.public != Some(false),
            subnets: self.homes(at, given)?,
            security_groups: self.guards(at, given)?,
            resource_group: group(self),
            pools,
            listeners,
        };
        let balancer = balancer.slot(name_of_slot).map_err(|error| {
            let name = match error.field.as_ref() {
                "load balancer name" => "name",
                "load balancer subnets" => "subnets",
                "pool name" | "pool health monitor" => "backendPools",
                _ => "additionalListeners",
            };
            InputError::new(field(name), &error.value, error.rule)
        })?;
        let balancer = Slot {
            field: Some(field("name").into()),
            ..balancer
        };
        Ok(balancer.at(&region()))
    }

    /// The pools and listeners: those of the API server, and what is given besides.
    fn forwards(
        &self,
        name: &str,
        at: usize,
        given: &LoadBalancer,
    ) -> Result<(Vec<Pool>, Vec<Listener>), InputError> {
        let port = self.port()?;
        let rule = VPC_LOAD_BALANCER.names;
        let api = rule.fit(&format!("{name}-pool-{port}"));
        let mut pools = vec![plain(api.clone())];
        let mut listeners = vec![Listener {
            protocol: "tcp".into(),
            port,
            pool: api,
        }];
        for (nth, pool) in given.pools.iter().enumerate() {
            pools.push(backend(
                &format!("{FIELD}[{at}].backendPools[{nth}]"),
                pool,
            )?);
        }
        for (nth, listener) in given.listeners.iter().enumerate() {
            let field = |name: &str| format!("{FIELD}[{at}].additionalListeners[{nth}].{name}");
            let number = u16::try_from(listener.port).ok().filter(|port| *port > 0);
            let number = number.ok_or_else(|| {
                let rule = "must be a port from 1 to 65535";
                InputError::new(field("port"), &listener.port.to_string(), rule)
            })?;
            if listeners.iter().any(|other| other.port == number) {
                let rule = "must be a port that nothing else listens to";
                return Err(InputError::new(field("port"), &number.to_string(), rule));
            }
            let protocol = set(listener.protocol.as_ref()).unwrap_or("tcp");
            let pool: Text = match set(listener.pool.as_ref()) {
                Some(name) if pools.iter().any(|pool| *pool.name == *name) => name.into(),
                Some(name) => {
                    let rule = "must be the name of one of the backendPools";
                    return Err(InputError::new(field("defaultPoolName"), name, rule));
                }
                None => {
                    let own = Pool {
                        protocol: protocol.into(),
                        ..plain(format!("additional-pool-{number}").into())
                    };
                    pools.push(own.clone());
                    own.name
                }
            };
            listeners.push(Listener {
                protocol: protocol.into(),
                port: number,
                pool,
            });
        }
        Ok((pools, listeners))
    }

    /// The subnets that it is in.
    fn homes(&self, at: usize, given: &LoadBalancer) -> Result<Vec<Expr>, InputError> {
        let ours = self.subnet_slots();
        if given.subnets.is_empty() {
            return Ok(ours.into_iter().map(Expr::Slot).collect());
        }
        let given = given.subnets.iter().enumerate();
        let homes = given.map(|(nth, (id, name))| {
            let key = set(id.as_ref()).or_else(|| set(name.as_ref()));
            let slot = key.map(subnet_slot).filter(|slot| ours.contains(slot));
            match (slot, set(id.as_ref())) {
                (Some(slot), _) => Ok(Expr::Slot(slot)),
                (None, Some(id)) => Ok(id.into()),
                (None, None) => {
                    let rule = "must be the name of one of spec.vpcSubnets, or have an id";
                    let field = format!("{FIELD}[{at}].subnets[{nth}].name");
                    Err(InputError::new(field, key.unwrap_or_default(), rule))
                }
            }
        });
        homes.collect()
    }

    /// Its security groups.
    fn guards(&self, at: usize, given: &LoadBalancer) -> Result<Vec<Expr>, InputError> {
        let given = given.groups.iter().enumerate();
        let guards = given.map(|(nth, (id, name))| {
            if let Some(id) = set(id.as_ref()) {
                return Ok(id.into());
            }
            let name = set(name.as_ref()).unwrap_or_default();
            self.group_called(name).map(Expr::Slot).ok_or_else(|| {
                let rule = "must be the name of one of spec.vpcSecurityGroups, or have an id";
                let field = format!("{FIELD}[{at}].securityGroups[{nth}].name");
                InputError::new(field, name, rule)
            })
        });
        guards.collect()
    }
}

/// A pool as the original makes it.
fn plain(name: Text) -> Pool {
    Pool {
        name,
        protocol: "tcp".into(),
        algorithm: "round_robin".into(),
        health: Health::tcp(),
    }
}

fn backend(field: &str, given: &BackendPool) -> Result<Pool, InputError> {
    let Some(name) = set(given.name.as_ref()) else {
        let rule = "must have a name, by which listeners find it";
        return Err(InputError::new(format!("{field}.name"), "", rule));
    };
    let small = |name: &str, number: i64| {
        u8::try_from(number).map_err(|_| {
            let field = format!("{field}.healthMonitor.{name}");
            InputError::new(field, &number.to_string(), "must be a small number")
        })
    };
    let [delay, timeout, retries] = given.limits;
    let (protocol, port, path) = &given.health;
    let port = port.map(|port| {
        u16::try_from(port)
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| {
                let field = format!("{field}.healthMonitor.port");
                InputError::new(field, &port.to_string(), "must be a port from 1 to 65535")
            })
    });
    Ok(Pool {
        name: name.into(),
        protocol: given.protocol.as_str().into(),
        algorithm: given.algorithm.as_str().into(),
        health: Health {
            protocol: protocol.as_str().into(),
            port: port.transpose()?,
            delay: small("delay", delay)?,
            timeout: small("timeout", timeout)?,
            retries: small("retries", retries)?,
            path: set(path.as_ref()).map(Text::from),
        },
    })
}
