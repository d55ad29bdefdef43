//! The load balancer of the API server.

use cloud_port::aws::classic_load_balancer::{ClassicLoadBalancer, Forward, Scheme, fit_name};
use cloud_port::aws::health_check::{HealthCheck, Probe};
use cloud_port::aws::network_load_balancer::{Listener, NetworkLoadBalancer};
use cloud_port::aws::target_group::{TargetGroup, Targets};
use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::{Slot, Text};

use super::Cluster;
use super::blueprint::{BALANCER, INTERNET_GATEWAY, NETWORK_BALANCER, TARGETS, VPC};
use super::groups::Role;
use super::machine::Registry;
use super::names::{aws_id, set, slot};
use super::subnets::Planned;

/// The port at which API servers listen.
pub(super) const API_SERVER: u16 = 6443;

const KIND: &str = "spec.controlPlaneLoadBalancer.loadBalancerType";
const NAME: &str = "spec.controlPlaneLoadBalancer.name";
const SCHEME: &str = "spec.controlPlaneLoadBalancer.scheme";
const SUBNETS: &str = "spec.controlPlaneLoadBalancer.subnets";
const GROUPS: &str = "spec.controlPlaneLoadBalancer.additionalSecurityGroups";
const PROTOCOL: &str = "spec.controlPlaneLoadBalancer.healthCheckProtocol";
const HEALTH: &str = "spec.controlPlaneLoadBalancer.healthCheck";
const PORT: &str = "spec.clusterNetwork.apiServerPort of the Cluster";
/// What an API server answers that is well.
const READY: &str = "/readyz";

/// Which load balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Balancer {
    Classic,
    Network,
    None,
}

impl Cluster {
    pub(super) fn balancer_kind(&self) -> Result<Balancer, InputError> {
        let text = set(self.balancer.kind.as_ref()).unwrap_or("classic");
        let (kind, other) = match text {
            "classic" => (Balancer::Classic, NETWORK_BALANCER),
            "nlb" => (Balancer::Network, BALANCER),
            "disabled" => return Ok(Balancer::None),
            _ => {
                let rule = "must be classic, nlb or disabled: other types are not served";
                return Err(InputError::new(KIND, text, rule));
            }
        };
        if self.made.contains(other) {
            let rule =
                "must stay what it was: the cluster is reached by the name of its load balancer";
            return Err(InputError::new(KIND, text, rule));
        }
        Ok(kind)
    }

    pub(super) fn is_internal(&self) -> Result<bool, InputError> {
        match set(self.balancer.scheme.as_ref()) {
            None | Some("internet-facing") => Ok(false),
            Some("internal") => Ok(true),
            Some(other) => {
                let rule = "must be internet-facing or internal";
                Err(InputError::new(SCHEME, other, rule))
            }
        }
    }

    /// The port at which the cluster's API is reached.
    ///
    /// # Errors
    /// A port that is none.
    pub fn port(&self) -> Result<u16, InputError> {
        let Some(port) = self.api_server_port else {
            return Ok(API_SERVER);
        };
        u16::try_from(port)
            .ok()
            .filter(|port| *port > 0)
            .ok_or_else(|| {
                InputError::new(PORT, &port.to_string(), "must be a port from 1 to 65535")
            })
    }

    /// The load balancer, with its target group where it has one.
    pub(super) fn balancer(&self, subnets: &[Planned]) -> Result<Vec<Slot>, InputError> {
        let kind = self.balancer_kind()?;
        if kind == Balancer::None {
            return Ok(Vec::new());
        }
        let scheme = if self.is_internal()? {
            Scheme::Internal
        } else {
            Scheme::InternetFacing
        };
        let name = self.balancer_name();
        let homes = self.homes(subnets, scheme)?;
        if homes.is_empty() && self.ends {
            return Ok(Vec::new());
        }
        let health_check = self.health_check(kind)?;
        let mut groups = Vec::new();
        for (at, id) in self.balancer.security_groups.iter().enumerate() {
            aws_id(format!("{GROUPS}[{at}]"), id, "sg-")?;
            groups.push(id.as_str().into());
        }
        groups.push(Expr::Slot(self.group_of(Role::ApiServerLb)));
        let port = self.port()?;
        let named = |error: InputError| match error.field.as_ref() {
            "load balancer name" => InputError::new(NAME, &error.value, error.rule),
            "health check" => InputError::new(HEALTH, &error.value, error.rule),
            _ => error,
        };
        let mut slots = Vec::new();
        if kind == Balancer::Network {
            let label = self.targets_name();
            let targets = TargetGroup {
                name: label.clone(),
                vpc: Expr::Slot(slot(VPC)),
                port: API_SERVER,
                targets: Targets::Instances,
                health_check,
            };
            let targets = targets.slot(slot(TARGETS)).map_err(named)?;
            slots.push(self.ours(targets, "apiserver", &label));
            let balancer = NetworkLoadBalancer {
                name: name.clone(),
                scheme,
                subnets: homes,
                security_groups: groups,
                listeners: vec![Listener {
                    port,
                    target_group: Expr::Slot(slot(TARGETS)),
                }],
            };
            slots.push(balancer.slot(slot(NETWORK_BALANCER)).map_err(named)?);
        } else {
            let balancer = ClassicLoadBalancer {
                name: name.clone(),
                scheme,
                subnets: homes,
                security_groups: groups,
                listeners: vec![Forward::tcp(port, API_SERVER)],
                health_check,
            };
            slots.push(balancer.slot(slot(BALANCER)).map_err(named)?);
        }
        if let Some(balancer) = slots.pop() {
            let mut balancer = self.ours(balancer, "apiserver", &name);
            if scheme == Scheme::InternetFacing && !self.brings_its_vpc() {
                balancer.after.push(slot(INTERNET_GATEWAY));
            }
            balancer.field = Some(NAME.into());
            slots.push(balancer);
        }
        Ok(slots)
    }

    /// Where the machines of the control plane are registered; `None` without a load balancer.
    ///
    /// # Errors
    /// A type that is not served.
    pub fn registry(&self) -> Result<Option<Registry>, InputError> {
        Ok(match self.balancer_kind()? {
            Balancer::Classic => Some(Registry::Classic(self.balancer_name())),
            Balancer::Network => Some(Registry::Targets(self.targets_name())),
            Balancer::None => None,
        })
    }

    /// What the target group of its network load balancer is called.
    fn targets_name(&self) -> Text {
        fit_name(&format!("{}-{}-api", self.namespace, self.name))
    }

    /// Its name. Names are unique in an account and region, and two namespaces can each have a cluster of
    /// one name, so the namespace is in it. A cluster of the original's without it keeps its name: its
    /// endpoint says so.
    fn balancer_name(&self) -> Text {
        if let Some(name) = set(self.balancer.name.as_ref()) {
            return name.into();
        }
        let cluster = self.name.replace('.', "-");
        let originals = format!("{cluster}-apiserver");
        let host = self.endpoint.as_deref().unwrap_or_default();
        let host = host.strip_prefix("internal-").unwrap_or(host);
        let is_originals = host.strip_prefix(&originals);
        if is_originals.is_some_and(|rest| rest.starts_with('-') && rest.contains(".elb.")) {
            return originals.as_str().into();
        }
        // AWS keeps names that begin so for itself.
        let own = if self.namespace.starts_with("internal") {
            "x-"
        } else {
            ""
        };
        fit_name(&format!("{own}{}-{originals}", self.namespace))
    }

    /// The subnets that it is in, one in each zone.
    fn homes(&self, subnets: &[Planned], scheme: Scheme) -> Result<Vec<Expr>, InputError> {
        let given = self.balancer.subnets.iter().enumerate();
        let given = given.map(|(at, id)| {
            aws_id(format!("{SUBNETS}[{at}]"), id, "subnet-")?;
            Ok(id.as_str().into())
        });
        let given = given.collect::<Result<Vec<Expr>, InputError>>()?;
        if !given.is_empty() {
            return Ok(given);
        }
        let public = scheme == Scheme::InternetFacing;
        let mut homes: Vec<&Planned> = Vec::new();
        for subnet in subnets.iter().filter(|subnet| subnet.is_public == public) {
            let zone = &subnet.zone;
            if zone.is_none() || homes.iter().all(|home| home.zone != *zone) {
                homes.push(subnet);
            }
        }
        if homes.is_empty() && !self.ends {
            let scheme = scheme.as_str();
            let (flag, word) = if public {
                ("true", "public")
            } else {
                ("false", "private")
            };
            let rule = format!(
                "must have a {word} subnet (isPublic: {flag}) for the {scheme} load balancer of the API \
                 server"
            );
            return Err(InputError::new("spec.network.subnets", "", rule));
        }
        Ok(homes
            .iter()
            .map(|home| Expr::Slot(home.slot.clone()))
            .collect())
    }

    fn health_check(&self, kind: Balancer) -> Result<HealthCheck, InputError> {
        let classic = kind == Balancer::Classic;
        let default = if classic { "SSL" } else { "TCP" };
        let protocol = set(self.balancer.health_protocol.as_ref()).unwrap_or(default);
        let probe = Probe::of(protocol, READY);
        let probe = probe.filter(|probe| classic || *probe != Probe::Ssl);
        let probe = probe.ok_or_else(|| {
            let rule = if classic {
                "must be TCP, SSL, HTTP or HTTPS for a classic load balancer"
            } else {
                "must be TCP, HTTP or HTTPS for a network load balancer"
            };
            InputError::new(PROTOCOL, protocol, rule)
        })?;
        let default = HealthCheck::tcp(API_SERVER);
        let number = |at: usize, name: &str, default: u16| {
            let Some(number) = self.balancer.health[at] else {
                return Ok(default);
            };
            u16::try_from(number).map_err(|_| {
                let rule = "must be a small number of seconds or checks";
                InputError::new(format!("{HEALTH}.{name}"), &number.to_string(), rule)
            })
        };
        let count = |at, name, default: u8| {
            let number = number(at, name, default.into())?;
            u8::try_from(number).map_err(|_| {
                let field = format!("{HEALTH}.{name}");
                InputError::new(field, &number.to_string(), "must be from 2 to 10")
            })
        };
        Ok(HealthCheck {
            probe,
            interval: number(0, "intervalSeconds", default.interval)?,
            timeout: number(1, "timeoutSeconds", default.timeout)?,
            healthy: count(2, "thresholdCount", default.healthy)?,
            unhealthy: count(3, "unhealthyThresholdCount", default.unhealthy)?,
            ..default
        })
    }
}
