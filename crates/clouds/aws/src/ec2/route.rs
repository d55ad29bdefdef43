//! Routes: the port's spelling, and EC2's.

use aws_sdk_ec2::types::{Route, RouteOrigin, RouteTable};
use cloud_port::aws::route_table::ROUTE;
use ownership::mark::Tags;
use ownership::part::InnerPart;
use ownership::{Answer, Class, CloudError, Query, Target, Text};

use super::{network, route_table};
use crate::client_set::ClientSet;
use crate::handler::parts;
use crate::resource::{inside, one_part};

parts!(Routes: list, add, remove {});

/// The routes that somebody put into a table: neither those within the VPC nor what is propagated.
pub(super) fn parts(table: &RouteTable) -> Vec<InnerPart> {
    let made = |route: &&Route| route.origin() == Some(&RouteOrigin::CreateRoute);
    let routes = table.routes().iter().filter(made);
    routes
        .map(|route| InnerPart::new(destination(route), through(route), Tags::new()))
        .collect()
}

fn destination(route: &Route) -> Text {
    match route.destination_prefix_list_id() {
        Some(list) => list.into(),
        None => network(
            route
                .destination_cidr_block()
                .or(route.destination_ipv6_cidr_block()),
        ),
    }
}

/// The id of what a route leads through.
fn through(route: &Route) -> Text {
    let id = route
        .nat_gateway_id()
        .or(route.gateway_id())
        .or(route.vpc_peering_connection_id())
        .or(route.transit_gateway_id())
        .or(route.network_interface_id())
        .or(route.egress_only_internet_gateway_id())
        .or(route.instance_id())
        .or(route.carrier_gateway_id())
        .or(route.local_gateway_id());
    id.unwrap_or_default().into()
}

async fn list(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let read = route_table::find(set, &Query::Id(of.clone())).await?;
    Ok(inside(read, of, ROUTE))
}

/// Fills in what both calls take: they are of different types.
macro_rules! route_call {
    ($call:expr, $table:expr, $part:expr) => {{
        let (destination, through) = ($part.key.to_string(), $part.value.to_string());
        let call = $call.route_table_id($table.id.as_str());
        let call = if destination.starts_with("pl-") {
            call.destination_prefix_list_id(destination)
        } else if destination.contains(':') {
            call.destination_ipv6_cidr_block(destination)
        } else {
            call.destination_cidr_block(destination)
        };
        match through.split('-').next().unwrap_or_default() {
            "nat" => call.nat_gateway_id(through),
            "pcx" => call.vpc_peering_connection_id(through),
            "tgw" => call.transit_gateway_id(through),
            "eni" => call.network_interface_id(through),
            "eigw" => call.egress_only_internet_gateway_id(through),
            _ => call.gateway_id(through),
        }
    }};
}

/// Where there is a route to that destination, it is replaced: nothing is cut off in between. Only one
/// of the two calls changes anything.
async fn add(set: &ClientSet, table: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let part = one_part(parts, ROUTE)?;
    let call = route_call!(set.ec2.create_route(), table, part);
    let made = call.send().await;
    match made.map_err(set.ec2_failure("CreateRoute")) {
        Ok(_) => return Ok(()),
        Err(error) if error.class == Class::Exists => {}
        Err(error) => return Err(error),
    }
    let call = route_call!(set.ec2.replace_route(), table, part);
    let replaced = call.send().await;
    replaced.map_err(set.ec2_failure("ReplaceRoute"))?;
    Ok(())
}

async fn remove(set: &ClientSet, table: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let destination = one_part(parts, ROUTE)?.key.to_string();
    let call = set.ec2.delete_route().route_table_id(table.id.as_str());
    let call = if destination.starts_with("pl-") {
        call.destination_prefix_list_id(destination)
    } else if destination.contains(':') {
        call.destination_ipv6_cidr_block(destination)
    } else {
        call.destination_cidr_block(destination)
    };
    call.send().await.map_err(set.ec2_failure("DeleteRoute"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_put_there_is_a_part() {
        let route = |origin, destination: &str| {
            let route = Route::builder().origin(origin).gateway_id("igw-1");
            route.destination_cidr_block(destination).build()
        };
        let table = RouteTable::builder()
            .routes(route(RouteOrigin::CreateRouteTable, "10.0.0.0/16"))
            .routes(route(RouteOrigin::EnableVgwRoutePropagation, "10.9.0.0/16"))
            .routes(route(RouteOrigin::CreateRoute, "0.0.0.0/0"))
            .build();
        let expected = InnerPart::new("0.0.0.0/0", "igw-1", Tags::new());
        assert_eq!(parts(&table), [expected]);
    }
}
