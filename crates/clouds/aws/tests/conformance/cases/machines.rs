//! Instances, and what load balancers send to them.

use cloud_port::Cloud;
use cloud_port::aws::classic_load_balancer;
use cloud_port::aws::instance::{GROUP, GROUPS, IMAGE, INSTANCE, TYPE};
use cloud_port::aws::target_group;
use ownership::step::Create;

use super::balancers::{Ground, classic_one, ground, target_group};
use crate::steps::*;
use crate::transcript::Transcript;

const MARK: (&str, &str) = ("freehold.dev/a", "slot_1_h");
/// One that both clouds know.
pub(crate) const AMI: &str = "ami-0123456789abcdef0";

pub(crate) fn instance(ground: &Ground) -> Create {
    let with = [
        (IMAGE, AMI),
        (TYPE, "t3.large"),
        ("subnet", ground.subnets[0].as_str()),
        (GROUPS, ground.groups[0].as_str()),
    ];
    create(&INSTANCE, "", &with, &[MARK, ("owner", "")])
}

pub(crate) async fn an_instance_lives<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let ground = ground(cloud).await;
    let kind = &INSTANCE;
    let machine = cloud.create(instance(&ground)).await;
    let machine = machine.expect("created");
    cloud.ask(by_id(&machine)).await;
    cloud.ask(by_mark(kind, "freehold.dev/a")).await;
    cloud
        .ask(by_props(kind, &[("subnet", &ground.subnets[0])]))
        .await;
    let second = [part(&ground.groups[1], "", &[])];
    for _ in 0..2 {
        cloud.act(add(&machine, GROUP, &second)).await;
    }
    cloud.ask(inside(&machine, GROUP)).await;
    cloud.act(remove(&machine, GROUP, &second)).await;
    cloud.ask(inside(&machine, GROUP)).await;
    cloud.act(mark(&[&machine], &[("team", "blue")])).await;
    let tags = [("team", "green"), ("owner", "")];
    cloud.act(unmark(&[&machine], &tags)).await;
    cloud.ask(by_mark(kind, "team")).await;
    cloud.act(delete(kind, &machine)).await;
    cloud.ask(by_id(&machine)).await;
    cloud.act(delete(kind, &machine)).await;
}

pub(crate) async fn a_repeated_run_answers_with_the_first_instance<C: Cloud>(
    cloud: &mut Transcript<'_, C>,
) {
    let ground = ground(cloud).await;
    let token = "8f2a4f7e-3f4c-5a57-9d2b-0c55d6f5c001";
    for _ in 0..2 {
        let one = Create {
            token: Some(token.parse().expect("a token")),
            ..instance(&ground)
        };
        cloud.create(one).await.expect("answered");
    }
    cloud.ask(by_mark(&INSTANCE, "freehold.dev/a")).await;
}

pub(crate) async fn load_balancers_know_instances<C: Cloud>(cloud: &mut Transcript<'_, C>) {
    let ground = ground(cloud).await;
    let machine = cloud.create(instance(&ground)).await;
    let machine = machine.expect("created");
    let classic = cloud.create(classic_one(&ground, "prod")).await;
    let group = cloud.create(target_group(&ground, "prod")).await;
    for (at, inner) in [
        (classic.expect("created"), classic_load_balancer::INSTANCE),
        (group.expect("created"), target_group::TARGET),
    ] {
        let registered = [part(machine.id.as_str(), "", &[])];
        for _ in 0..2 {
            cloud.act(add(&at, inner, &registered)).await;
        }
        cloud.ask(inside(&at, inner)).await;
        cloud.act(remove(&at, inner, &registered)).await;
        cloud.ask(inside(&at, inner)).await;
    }
}
