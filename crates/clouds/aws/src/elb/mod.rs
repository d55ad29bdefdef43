//! Elastic Load Balancing: the classic load balancers of its first API; the network load balancers and
//! target groups of its second.

mod classic_load_balancer;
mod listener;
mod network_load_balancer;
mod tags;
mod target_group;

use cloud_port::aws::health_check::{HealthCheck, Probe};
use ownership::mark::Tags;
use ownership::part::InnerPart;
use ownership::query::InnerAnswer;
use ownership::{Class, CloudError, Query, Target, Text};

use crate::handler::Handler;

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

/// Parts that are nothing but their keys, in their order.
fn told<'a>(
    of: &Target,
    inner: &'static str,
    keys: impl IntoIterator<Item = &'a str>,
) -> InnerAnswer {
    let mut parts: Vec<_> = keys
        .into_iter()
        .map(|key| InnerPart::new(key, "", Tags::new()))
        .collect();
    parts.sort_by(|a, b| a.key.cmp(&b.key));
    let of = of.clone();
    InnerAnswer { of, inner, parts }
}

/// The keys of parts, for a call.
fn keys(parts: &[InnerPart]) -> Vec<String> {
    parts.iter().map(|part| part.key.to_string()).collect()
}

/// What a list of keys comes to with these and without those, for calls that replace all of them.
fn replaced(there: &[InnerPart], with: &[InnerPart], without: &[InnerPart]) -> Vec<String> {
    let stays = |part: &&InnerPart| !without.iter().any(|gone| gone.key == part.key);
    let mut all = keys(with);
    let others = there.iter().filter(stays).map(|part| part.key.to_string());
    all.extend(others);
    all.sort();
    all.dedup();
    all
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

    #[test]
    fn a_list_is_replaced_by_what_is_there_and_what_is_meant() {
        let parts = |keys: &[&str]| {
            let part = |key: &&str| InnerPart::new(*key, "", Tags::new());
            keys.iter().map(part).collect::<Vec<_>>()
        };
        let there = parts(&["b", "a"]);
        assert_eq!(replaced(&there, &parts(&["c", "a"]), &[]), ["a", "b", "c"]);
        assert_eq!(replaced(&there, &[], &parts(&["b", "x"])), ["a"]);
    }
}
