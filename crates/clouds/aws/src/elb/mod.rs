//! Elastic Load Balancing: the classic load balancers of its first API; the network load balancers and
//! target groups of its second.

mod classic_load_balancer;
mod listener;
mod network_load_balancer;
mod tags;
mod target_group;

use cloud_port::aws::health_check::{HealthCheck, Probe};
use ownership::{Class, CloudError, Query, Text};

use crate::handler::Handler;
use crate::resource::{keys, replaced, told};

/// The handlers of the Kinds of Elastic Load Balancing.
pub(crate) const HANDLERS: &[&dyn Handler] = &[
    &classic_load_balancer::ClassicLoadBalancers,
    &target_group::TargetGroups,
    &network_load_balancer::NetworkLoadBalancers,
];

/// How many items a page of a listing holds: all that the service allows.
const PAGE: i32 = 400;

/// Of how many resources one call shows the tags.
const TAGS_PAGE: usize = 20;

/// The one name that a query is about.
fn name_in(query: &Query) -> Option<&str> {
    match query {
        Query::Name { name, .. } | Query::Match { name, .. } => Some(&**name),
        Query::Id(_) | Query::Marks { .. } | Query::Inner { .. } | Query::Operation { .. } => None,
    }
    .filter(|name| !name.is_empty())
}

/// A health check that the port spells in a way that it cannot read.
fn bad_check(error: &ownership::input::InputError) -> CloudError {
    CloudError::new(Class::Fatal, "ValidationError", error.to_string())
}

/// A health check in the port's spelling, from what the service tells of it; as it is told, where the
/// port has no words for it.
fn check(
    protocol: &str,
    (port, path): (&str, &str),
    [interval, timeout, healthy, unhealthy]: [i32; 4],
) -> Text {
    let read = || {
        Some(HealthCheck {
            probe: Probe::of(protocol, path)?,
            port: port.parse().ok()?,
            interval: interval.try_into().ok()?,
            timeout: timeout.try_into().ok()?,
            healthy: healthy.try_into().ok()?,
            unhealthy: unhealthy.try_into().ok()?,
        })
    };
    if let Some(check) = read() {
        return check.text();
    }
    let counts = format!("{interval} timeout {timeout} healthy {healthy}");
    format!("{protocol} {port}{path} every {counts} unhealthy {unhealthy}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_spelled_as_the_port_spells_it() {
        let counts = [10, 5, 5, 3];
        let text = check("TCP", ("6443", ""), counts);
        assert_eq!(*text, *HealthCheck::tcp(6443).text());
        let text = check("HTTPS", ("6443", "/readyz"), counts);
        assert!(text.parse::<HealthCheck>().is_ok(), "{text}");
        let text = check("TCP", ("traffic-port", ""), counts);
        assert!(text.starts_with("TCP traffic-port every 10"), "{text}");
    }
}
