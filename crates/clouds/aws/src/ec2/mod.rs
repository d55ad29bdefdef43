//! EC2: the network of a cluster, and its machines.

mod blockers;
mod elastic_ip;
pub(crate) mod image;
mod instance;
mod internet_gateway;
mod nat_gateway;
mod route;
mod route_table;
mod rule;
mod security_group;
mod subnet;
pub(crate) mod tags;
mod vpc;

use aws_sdk_ec2::types::Filter;
use cloud_port::aws::network::Network;
use ownership::{Query, Text};

use crate::handler::Handler;

/// The handlers of the Kinds of EC2.
pub(crate) const HANDLERS: &[&dyn Handler] = &[
    &vpc::Vpcs,
    &route_table::RouteTables,
    &subnet::Subnets,
    &internet_gateway::InternetGateways,
    &elastic_ip::ElasticIps,
    &nat_gateway::NatGateways,
    &security_group::SecurityGroups,
    &instance::Instances,
];

/// How many items a page holds, where EC2 does not allow fewer only.
const PAGE: i32 = 1000;

/// What the filters of one Kind are called.
struct Filters {
    id: &'static str,
    name: Option<&'static str>,
    /// Properties that EC2 can filter by; the others are looked at here.
    props: &'static [(&'static str, &'static str)],
}

impl Filters {
    /// The filters that a query comes to. All of them go by filter: to ask for an id that is not
    /// there would be an error.
    fn of(&self, query: &Query) -> Option<Vec<Filter>> {
        let mut filters = Vec::new();
        let mut add = |name: &str, value: &str| filters.push(filter(name, [value]));
        let by = |prop: &str| self.props.iter().find(|(known, _)| *known == prop);
        match query {
            Query::Id(target) => add(self.id, target.id.as_str()),
            Query::Name { name, within, .. } => {
                if let Some(filter) = self.name {
                    add(filter, name);
                }
                if let Some((prop, parent)) = within
                    && let Some((_, filter)) = by(prop)
                {
                    add(filter, parent);
                }
            }
            // Values of one filter are alternatives.
            Query::Marks { keys, .. } => {
                filters.push(filter("tag-key", keys.iter().map(|key| &**key)));
            }
            Query::Match { name, props, .. } => {
                if let (Some(filter), false) = (self.name, name.is_empty()) {
                    add(filter, name);
                }
                for (prop, value) in props.iter() {
                    if let Some((_, filter)) = by(prop) {
                        add(filter, value);
                    }
                }
            }
            Query::Inner { .. } | Query::Operation { .. } => {}
        }
        // EC2 refuses an empty list of filters.
        (!filters.is_empty()).then_some(filters)
    }
}

/// A filter for one of these values, whose wildcards are meant as they are written.
fn filter<'a>(name: &str, values: impl IntoIterator<Item = &'a str>) -> Filter {
    let plain = values.into_iter().map(|value| {
        let mut plain = String::with_capacity(value.len());
        for c in value.chars() {
            if matches!(c, '*' | '?' | '\\') {
                plain.push('\\');
            }
            plain.push(c);
        }
        plain
    });
    let filter = Filter::builder().name(name);
    filter.set_values(Some(plain.collect())).build()
}

/// An address range as the port spells it.
fn network(text: Option<&str>) -> Text {
    let text = text.unwrap_or_default();
    match Network::parse("cidr", text) {
        Ok(network) => network.to_string().into(),
        // Not for us to judge: the resource is there, and has what AWS says.
        Err(_) => text.into(),
    }
}

fn truth(value: bool) -> Text {
    if value { "true" } else { "false" }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_are_meant_as_they_are_written() {
        let filter = filter("group-name", [r"a*b?c\d"]);
        assert_eq!(filter.values(), [r"a\*b\?c\\d"]);
    }

    #[test]
    fn ranges_are_spelled_as_the_port_spells_them() {
        assert_eq!(&*network(Some("10.1.2.3/16")), "10.1.0.0/16");
        assert_eq!(&*network(Some("new notation")), "new notation");
    }
}
