//! Classic load balancers.

use aws_sdk_elasticloadbalancing::types::{
    HealthCheck as Check, Instance, Listener, LoadBalancerDescription,
};
use cloud_port::aws::classic_load_balancer::{
    CLASSIC_LOAD_BALANCER, DNS_NAME, Forward, GROUP, GROUPS, HEALTH_CHECK, INSTANCE, LISTENER,
    LISTENERS, SUBNET, SUBNETS,
};
use cloud_port::aws::health_check::HealthCheck;
use cloud_port::aws::load_balancer::ids;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Query, Target, Text};

use super::{PAGE, bad_check, check, keys, name_in, replaced, tags, told};
use crate::by_key::{optional, tags_alone};
use crate::client_set::ClientSet;
use crate::handler::{Asked, Parts, fixed, handler, parts};
use crate::observe;
use crate::permissions::Operations;
use crate::resource::{answer, everything, inside, required, resource};

const OPERATIONS: Operations = Operations {
    reads: &[
        "elasticloadbalancing:DescribeLoadBalancers",
        "elasticloadbalancing:DescribeTags",
    ],
    tags: tags::OPERATIONS,
    owns: &[
        "elasticloadbalancing:ConfigureHealthCheck",
        "elasticloadbalancing:CreateLoadBalancer",
        "elasticloadbalancing:DeleteLoadBalancer",
        "elasticloadbalancing:DeleteLoadBalancerListeners",
        "elasticloadbalancing:DetachLoadBalancerFromSubnets",
    ],
    adds: &[
        (
            SUBNET,
            &["elasticloadbalancing:AttachLoadBalancerToSubnets"],
        ),
        (
            GROUP,
            &["elasticloadbalancing:ApplySecurityGroupsToLoadBalancer"],
        ),
        (
            LISTENER,
            &["elasticloadbalancing:CreateLoadBalancerListeners"],
        ),
        (
            INSTANCE,
            &[
                "elasticloadbalancing:DeregisterInstancesFromLoadBalancer",
                "elasticloadbalancing:RegisterInstancesWithLoadBalancer",
            ],
        ),
    ],
};

handler!(ClassicLoadBalancers: CLASSIC_LOAD_BALANCER {
    fn update<'a>(
        &self,
        set: &'a ClientSet,
        target: &'a Target,
        props: &'a Props,
    ) -> Asked<'a, ()> {
        Box::pin(update(set, target, props))
    }

    tags_alone!();

    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[
            (SUBNET, &Subnets),
            (GROUP, &Groups),
            (LISTENER, &Listeners),
            (INSTANCE, &Instances),
        ]
    }
});

parts!(Subnets: subnets, attach, detach {});
parts!(Groups: groups, add_groups, remove_groups {});
parts!(Listeners: listeners, listen, unlisten {});
parts!(Instances: instances, register, deregister {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let name = match query {
        Query::Id(target) => Some(target.id.as_str()),
        query => name_in(query),
    };
    let found = list(set, name).await?;
    let meant = found.iter().filter(|(read, _)| query.means(read));
    let inner = meant.flat_map(|(_, inner)| inner.clone()).collect();
    Ok(Answer {
        inner,
        ..answer(query, found.into_iter().map(|(read, _)| read))
    })
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let found = list(set, None).await?;
    let inner = found.iter().flat_map(|(_, inner)| inner.clone()).collect();
    Ok(everything(found.into_iter().map(|(read, _)| read), inner))
}

/// Load balancers with what is inside them; the one of this name, or all.
async fn list(
    set: &ClientSet,
    name: Option<&str>,
) -> Result<Vec<(Resource, Vec<InnerAnswer>)>, CloudError> {
    let operation = "DescribeLoadBalancers";
    let call = set.elb.describe_load_balancers();
    let found = match name {
        Some(name) => {
            let call = call.load_balancer_names(name);
            let found = call.send().await.map_err(set.elb_failure(operation));
            let found = optional(found)?;
            found.and_then(|found| found.load_balancer_descriptions)
        }
        None => Some(
            call.page_size(PAGE)
                .into_paginator()
                .items()
                .send()
                .collect::<Result<Vec<_>, _>>()
                .await
                .map_err(set.elb_failure(operation))?,
        ),
    };
    let found = found.unwrap_or_default();
    let names = found.iter().filter_map(|found| found.load_balancer_name());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let mut tags = tags::of_classic(set, &names).await?;
    let read = found.iter().filter_map(|found| {
        let tags = tags.remove(found.load_balancer_name()?);
        let read = read(found, tags.unwrap_or_default())?;
        let inner = inner(found, &read.target());
        Some((read, inner))
    });
    Ok(read.collect())
}

/// The answer has nothing but the name in the DNS; the rest is as it was asked for. What became parts is
/// no property any more.
async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let of = |prop: &str| create.props.get(prop).cloned().unwrap_or_else(|| "".into());
    let some = |joined: &Text| {
        let ids: Vec<String> = ids(joined).map(str::to_owned).collect();
        (!ids.is_empty()).then_some(ids)
    };
    let wanted = ids(required(create, LISTENERS)?).map(str::parse::<Forward>);
    let wanted: Result<Vec<Forward>, _> = wanted.collect();
    let wanted = wanted.map_err(|error| bad_check(&error))?;
    let made = set
        .elb
        .create_load_balancer()
        .load_balancer_name(&*create.name)
        .set_scheme(internal(&of("scheme")))
        .set_subnets(some(&of(SUBNETS)))
        .set_security_groups(some(&of(GROUPS)))
        .set_listeners(Some(wanted.iter().map(listener).collect()))
        .set_tags(tags::classic(&create.tags))
        .send()
        .await
        .map_err(set.elb_failure("CreateLoadBalancer"))?;
    let dns_name: Text = made.dns_name().unwrap_or_default().into();
    let mut props = Props::from_iter([("scheme", of("scheme"))]);
    if let Some(first) = wanted.first() {
        // The call takes no health check: a new one asks for the first port.
        let (protocol, port) = (&first.to_protocol, first.to_port.to_string());
        props.set(HEALTH_CHECK, check(protocol, (&port, ""), [30, 5, 10, 2]));
    }
    props.set(DNS_NAME, dns_name.clone());
    Ok(Resource {
        name: create.name.clone(),
        unique: Some(dns_name),
        ..resource(
            &CLASSIC_LOAD_BALANCER,
            &create.name,
            props,
            create.tags.clone(),
        )
    })
}

/// That it faces the internet the service takes for granted, and only the other can be asked for.
fn internal(scheme: &str) -> Option<String> {
    (scheme == "internal").then(|| scheme.to_owned())
}

/// A listener as the service wants it.
fn listener(forward: &Forward) -> Listener {
    let listener = Listener::builder()
        .protocol(forward.protocol.to_uppercase())
        .load_balancer_port(forward.port.into())
        .instance_protocol(forward.to_protocol.to_uppercase())
        .instance_port(forward.to_port.into());
    listener.build().expect("all that a listener must have")
}

async fn update(set: &ClientSet, target: &Target, props: &Props) -> Result<(), CloudError> {
    let others = props.iter().any(|(name, _)| *name != HEALTH_CHECK);
    let (Some(text), false) = (props.get(HEALTH_CHECK), others) else {
        return Err(fixed(target));
    };
    let wanted = text.parse::<HealthCheck>();
    let wanted = wanted.map_err(|error| bad_check(&error))?;
    let path = wanted.probe.path().map_or("", |path| path);
    let protocol = wanted.probe.protocol().to_uppercase();
    let check = Check::builder()
        .target(format!("{protocol}:{}{path}", wanted.port))
        .interval(wanted.interval.into())
        .timeout(wanted.timeout.into())
        .healthy_threshold(wanted.healthy.into())
        .unhealthy_threshold(wanted.unhealthy.into())
        .build()
        .expect("all that a health check must have");
    let call = set.elb.configure_health_check().health_check(check);
    let call = call.load_balancer_name(target.id.as_str());
    let operation = "ConfigureHealthCheck";
    call.send().await.map_err(set.elb_failure(operation))?;
    Ok(())
}

/// To delete one that is gone is nothing.
async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.elb.delete_load_balancer();
    let deleted = call.load_balancer_name(target.id.as_str()).send().await;
    deleted.map_err(set.elb_failure("DeleteLoadBalancer"))?;
    Ok(())
}

async fn tag(set: &ClientSet, on: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    tags::add_classic(set, on, tags).await
}

async fn untag(set: &ClientSet, on: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    tags::remove_classic(set, on, tags).await
}

async fn subnets(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    Ok(inside(find(set, &Query::Id(of.clone())).await?, of, SUBNET))
}

async fn groups(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    Ok(inside(find(set, &Query::Id(of.clone())).await?, of, GROUP))
}

async fn listeners(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    Ok(inside(
        find(set, &Query::Id(of.clone())).await?,
        of,
        LISTENER,
    ))
}

async fn attach(set: &ClientSet, to: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elb.attach_load_balancer_to_subnets();
    let call = call.load_balancer_name(to.id.as_str());
    let attached = call.set_subnets(Some(keys(parts))).send().await;
    attached.map_err(set.elb_failure("AttachLoadBalancerToSubnets"))?;
    Ok(())
}

async fn detach(set: &ClientSet, from: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elb.detach_load_balancer_from_subnets();
    let call = call.load_balancer_name(from.id.as_str());
    let detached = call.set_subnets(Some(keys(parts))).send().await;
    detached.map_err(set.elb_failure("DetachLoadBalancerFromSubnets"))?;
    Ok(())
}

async fn add_groups(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    apply_groups(set, on, parts, &[]).await
}

async fn remove_groups(
    set: &ClientSet,
    on: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    apply_groups(set, on, &[], parts).await
}

/// The call replaces all groups: those that are there are read just before.
async fn apply_groups(
    set: &ClientSet,
    on: &Target,
    with: &[InnerPart],
    without: &[InnerPart],
) -> Result<(), CloudError> {
    let there = groups(set, on).await?.inner.into_iter();
    let there: Vec<InnerPart> = there.flat_map(|told| told.parts).collect();
    let call = set.elb.apply_security_groups_to_load_balancer();
    let call = call.load_balancer_name(on.id.as_str());
    let call = call.set_security_groups(Some(replaced(&there, with, without)));
    let operation = "ApplySecurityGroupsToLoadBalancer";
    call.send().await.map_err(set.elb_failure(operation))?;
    Ok(())
}

fn forwards(parts: &[InnerPart]) -> Result<Vec<Forward>, CloudError> {
    let forwards = parts.iter().map(|part| part.key.parse::<Forward>());
    let forwards: Result<Vec<_>, _> = forwards.collect();
    forwards.map_err(|error| CloudError::new(Class::Fatal, "ValidationError", error.to_string()))
}

async fn listen(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elb.create_load_balancer_listeners();
    let call = call.load_balancer_name(on.id.as_str());
    let new = forwards(parts)?.iter().map(listener).collect();
    let operation = "CreateLoadBalancerListeners";
    let made = call.set_listeners(Some(new)).send().await;
    made.map_err(set.elb_failure(operation))?;
    Ok(())
}

async fn unlisten(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elb.delete_load_balancer_listeners();
    let call = call.load_balancer_name(on.id.as_str());
    let ports = forwards(parts)?.iter().map(|it| it.port.into()).collect();
    let operation = "DeleteLoadBalancerListeners";
    let gone = call.set_load_balancer_ports(Some(ports)).send().await;
    gone.map_err(set.elb_failure(operation))?;
    Ok(())
}

async fn instances(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    Ok(inside(
        find(set, &Query::Id(of.clone())).await?,
        of,
        INSTANCE,
    ))
}

async fn register(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elb.register_instances_with_load_balancer();
    let call = call.load_balancer_name(on.id.as_str());
    let registered = call.set_instances(Some(meant(parts))).send().await;
    registered.map_err(set.elb_failure("RegisterInstancesWithLoadBalancer"))?;
    Ok(())
}

async fn deregister(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let call = set.elb.deregister_instances_from_load_balancer();
    let call = call.load_balancer_name(on.id.as_str());
    let gone = call.set_instances(Some(meant(parts))).send().await;
    gone.map_err(set.elb_failure("DeregisterInstancesFromLoadBalancer"))?;
    Ok(())
}

fn meant(parts: &[InnerPart]) -> Vec<Instance> {
    let instance = |part: &InnerPart| Instance::builder().instance_id(&*part.key).build();
    parts.iter().map(instance).collect()
}

fn read(found: &LoadBalancerDescription, tags: Tags) -> Option<Resource> {
    let (name, dns_name) = (
        found.load_balancer_name()?,
        found.dns_name().unwrap_or_default(),
    );
    let mut props = Props::from_iter([
        ("scheme", found.scheme().unwrap_or_default().into()),
        (DNS_NAME, dns_name.into()),
    ]);
    if let Some(found) = found.health_check() {
        props.set(HEALTH_CHECK, health_check(found));
    }
    Some(Resource {
        name: name.into(),
        unique: Some(dns_name.into()),
        created: found.created_time().and_then(observe::time),
        ..resource(&CLASSIC_LOAD_BALANCER, name, props, tags)
    })
}

fn health_check(found: &Check) -> Text {
    let (protocol, at) = found
        .target()
        .split_once(':')
        .unwrap_or((found.target(), ""));
    let at = match at.find('/') {
        Some(slash) => at.split_at(slash),
        None => (at, ""),
    };
    let counts = [
        found.interval(),
        found.timeout(),
        found.healthy_threshold(),
        found.unhealthy_threshold(),
    ];
    check(protocol, at, counts)
}

fn inner(found: &LoadBalancerDescription, of: &Target) -> Vec<InnerAnswer> {
    let listeners = found.listener_descriptions().iter();
    let listeners = listeners.filter_map(|found| found.listener());
    let listeners: Vec<String> = listeners.map(spell).collect();
    vec![
        told(of, SUBNET, found.subnets().iter().map(String::as_str)),
        told(
            of,
            GROUP,
            found.security_groups().iter().map(String::as_str),
        ),
        told(of, LISTENER, listeners.iter().map(String::as_str)),
        told(
            of,
            INSTANCE,
            found.instances().iter().filter_map(|it| it.instance_id()),
        ),
    ]
}

/// A listener in the port's spelling.
fn spell(listener: &Listener) -> String {
    let (protocol, port) = (listener.protocol(), listener.load_balancer_port());
    let to_protocol = listener.instance_protocol().unwrap_or(protocol);
    let to_port = listener.instance_port();
    format!("{protocol} {port} {to_protocol} {to_port}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_reads_back_as_what_was_meant() {
        let forward = Forward::tcp(443, 6443);
        assert_eq!(spell(&listener(&forward)), forward.to_string());
        let told = |target: &str| {
            let told = Check::builder().target(target).interval(10).timeout(5);
            let told = told.healthy_threshold(5).unhealthy_threshold(3);
            health_check(&told.build().unwrap()).to_string()
        };
        assert_eq!(told("TCP:6443"), *HealthCheck::tcp(6443).text());
        assert!(told("HTTPS:6443/readyz").starts_with("https 6443/readyz every 10"));
    }
}
