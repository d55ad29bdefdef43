//! Load balancers: one of a name, one listener of a port, and an interface in each subnet.

use std::collections::BTreeSet;
use std::io;

use bytes::Bytes;
use http::Response;

use super::call::Api;
use super::refusal::Refusal;
use super::rules::Visit;
use super::upstream::Reply;
use super::xml::Element;

/// What a call is answered with that says again what is there; or the refusal of one that says
/// something else under the same name.
pub(crate) async fn already(visit: &Visit<'_>) -> io::Result<Option<Response<Bytes>>> {
    match (visit.call.api, visit.call.operation.as_str()) {
        (Api::ElbV2, "CreateLoadBalancer") => of_name(visit).await,
        (Api::ElbV2, "CreateListener") => of_port(visit).await,
        _ => Ok(None),
    }
}

/// What a read answers, as if it were the answer to the create.
fn created(found: Reply, noun: &str) -> Response<Bytes> {
    let (head, body) = found.answer.into_parts();
    let (read, create) = (format!("Describe{noun}sRe"), format!("Create{noun}Re"));
    // "…Response" and "…Result".
    let body = String::from_utf8_lossy(&body).replace(&read, &create);
    let mut answer = Response::from_parts(head, Bytes::from(body));
    answer.headers_mut().remove(http::header::CONTENT_LENGTH);
    answer
}

async fn of_name(visit: &Visit<'_>) -> io::Result<Option<Response<Bytes>>> {
    let name = visit.param("Name");
    let params = [("Names.member.1", name)];
    let operation = "DescribeLoadBalancers";
    let found = visit.moto.ask(Api::ElbV2, operation, &params).await?;
    let Some(there) = found.xml.items("LoadBalancers").first() else {
        return Ok(None);
    };
    if says_the_same(visit, there) && tags(visit, there).await? == riding(visit) {
        return Ok(Some(created(found, "LoadBalancer")));
    }
    let message =
        format!("A load balancer with the same name '{name}' exists, but with different settings");
    let refusal = Refusal::bad("DuplicateLoadBalancerName", &message);
    Ok(Some(refusal.answer(Api::ElbV2)))
}

fn says_the_same(visit: &Visit<'_>, there: &Element) -> bool {
    let call = visit.call;
    let said = |name, otherwise| call.param(name).unwrap_or(otherwise).to_owned();
    let is = |name, otherwise: &str| match there.get(name) {
        "" => otherwise.to_owned(),
        is => is.to_owned(),
    };
    let mut subnets = call.list("Subnets", None);
    subnets.extend(call.list("SubnetMappings", Some("SubnetId")));
    let groups = call.list("SecurityGroups", None);
    [
        ("Type", "application"),
        ("Scheme", "internet-facing"),
        ("IpAddressType", "ipv4"),
    ]
    .iter()
    .all(|(name, otherwise)| said(name, otherwise) == is(name, otherwise))
        && set(subnets) == set(subnets_of(there))
        // An application load balancer has the default group where none is said.
        && (groups.is_empty() || set(groups) == set(groups_of(there)))
}

fn set<'a>(values: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    values.into_iter().collect()
}

type Tags = BTreeSet<(String, String)>;

fn riding(visit: &Visit<'_>) -> Tags {
    let field = |field| {
        visit
            .call
            .list("Tags", Some(field))
            .into_iter()
            .map(str::to_owned)
    };
    field("Key").zip(field("Value")).collect()
}

async fn tags(visit: &Visit<'_>, there: &Element) -> io::Result<Tags> {
    let params = [("ResourceArns.member.1", there.get("LoadBalancerArn"))];
    let found = visit
        .moto
        .found(Api::ElbV2, "DescribeTags", &params, "Tags")
        .await?;
    let pair = |tag: &Element| (tag.get("Key").to_owned(), tag.get("Value").to_owned());
    Ok(found.iter().map(pair).collect())
}

async fn of_port(visit: &Visit<'_>) -> io::Result<Option<Response<Bytes>>> {
    let port = visit.param("Port");
    let params = [("LoadBalancerArn", visit.param("LoadBalancerArn"))];
    let operation = "DescribeListeners";
    let found = visit
        .moto
        .found(Api::ElbV2, operation, &params, "Listeners")
        .await?;
    let Some(there) = found.iter().find(|listener| listener.get("Port") == port) else {
        return Ok(None);
    };
    let targets = visit.call.list("DefaultActions", Some("TargetGroupArn"));
    let forwards = there.items("DefaultActions").iter();
    let forwards = forwards.map(|action| action.get("TargetGroupArn"));
    if there.get("Protocol") == visit.param("Protocol") && set(targets) == set(forwards) {
        let params = [("ListenerArns.member.1", there.get("ListenerArn"))];
        let found = visit.moto.ask(Api::ElbV2, operation, &params).await?;
        return Ok(Some(created(found, "Listener")));
    }
    let message = format!("A listener already exists on port {port} for this load balancer");
    let refusal = Refusal::bad("DuplicateListener", &message);
    Ok(Some(refusal.answer(Api::ElbV2)))
}

/// The calls after which a load balancer may be in other subnets, or have other groups.
const MOVES: [(Api, &str); 9] = [
    (Api::Elb, "ApplySecurityGroupsToLoadBalancer"),
    (Api::Elb, "AttachLoadBalancerToSubnets"),
    (Api::Elb, "CreateLoadBalancer"),
    (Api::Elb, "DeleteLoadBalancer"),
    (Api::Elb, "DetachLoadBalancerFromSubnets"),
    (Api::ElbV2, "CreateLoadBalancer"),
    (Api::ElbV2, "DeleteLoadBalancer"),
    (Api::ElbV2, "SetSecurityGroups"),
    (Api::ElbV2, "SetSubnets"),
];

pub(crate) async fn after(visit: &Visit<'_>) -> io::Result<()> {
    let call = visit.call;
    if !MOVES.contains(&(call.api, call.operation.as_str())) {
        return Ok(());
    }
    let (by, list, value) = match (call.api, call.param("LoadBalancerArn")) {
        (Api::Elb, _) => (
            "LoadBalancerNames.member.1",
            "LoadBalancerDescriptions",
            "LoadBalancerName",
        ),
        (_, Some(_)) => (
            "LoadBalancerArns.member.1",
            "LoadBalancers",
            "LoadBalancerArn",
        ),
        (_, None) => ("Names.member.1", "LoadBalancers", "Name"),
    };
    let params = [(by, visit.param(value))];
    let found = visit
        .moto
        .found(call.api, "DescribeLoadBalancers", &params, list)
        .await?;
    let there = found.first();
    let description = match (call.api, there) {
        (Api::Elb, _) => format!("ELB {}", visit.param("LoadBalancerName")),
        (_, Some(there)) => of_arn(there.get("LoadBalancerArn")),
        (_, None) => of_arn(visit.param("LoadBalancerArn")),
    };
    place(visit, &description, there).await
}

/// By an interface's description AWS says whose it is. In moto's ARNs every load balancer is an
/// application load balancer; here there are network load balancers only.
fn of_arn(arn: &str) -> String {
    let tail = arn
        .rsplit_once(":loadbalancer/")
        .map_or(arn, |(_, tail)| tail);
    let name_and_id = tail
        .split_once('/')
        .map_or(tail, |(_, name_and_id)| name_and_id);
    format!("ELB net/{name_and_id}")
}

fn subnets_of(there: &Element) -> Vec<&str> {
    let zones = there.items("AvailabilityZones").iter();
    let subnets = zones.map(|zone| zone.get("SubnetId"));
    let classic = there.items("Subnets").iter().map(Element::text);
    subnets
        .chain(classic)
        .filter(|subnet| !subnet.is_empty())
        .collect()
}

fn groups_of(there: &Element) -> Vec<&str> {
    there
        .items("SecurityGroups")
        .iter()
        .map(Element::text)
        .collect()
}

/// Gives it an interface in each of its subnets, with its groups, and nowhere else.
async fn place(visit: &Visit<'_>, description: &str, there: Option<&Element>) -> io::Result<()> {
    let mut wanted = there
        .map(|there| set(subnets_of(there)))
        .unwrap_or_default();
    let groups = there.map(groups_of).unwrap_or_default();
    let interfaces = visit.moto.interfaces("description", description).await?;
    for interface in &interfaces {
        let has = interface
            .items("groupSet")
            .iter()
            .map(|group| group.get("groupId"));
        let same = groups.is_empty() || set(has) == set(groups.iter().copied());
        if same && wanted.remove(interface.get("subnetId")) {
            continue;
        }
        let params = [("NetworkInterfaceId", interface.get("networkInterfaceId"))];
        visit.moto.act("DeleteNetworkInterface", &params).await?;
    }
    let keys: Vec<_> = (1..=groups.len())
        .map(|n| format!("SecurityGroupId.{n}"))
        .collect();
    for subnet in wanted {
        let mut params = vec![("SubnetId", subnet), ("Description", description)];
        params.extend(keys.iter().map(String::as_str).zip(groups.iter().copied()));
        visit.moto.act("CreateNetworkInterface", &params).await?;
    }
    Ok(())
}
