//! EC2 instances.

use aws_sdk_ec2::types::{
    BlockDeviceMapping, EbsBlockDevice, Filter, IamInstanceProfileSpecification, Instance,
    InstanceStateName, InstanceType, ResourceType, TagSpecification, VolumeType,
};
use cloud_port::aws::instance::{
    GROUP, GROUPS, IMAGE, INSTANCE, KEY, PRIVATE_DNS, PRIVATE_IP, PROFILE, PUBLIC_DNS, PUBLIC_IP,
    ROOT_VOLUME, TYPE, USER_DATA, ZONE,
};
use cloud_port::aws::load_balancer::ids;
use cloud_port::aws::root_volume::RootVolume;
use ownership::life::Life;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Query, Target, Text};

use super::{Filters, PAGE, tags};
use crate::client_set::ClientSet;
use crate::handler::{Parts, handler, parts};
use crate::observe;
use crate::permissions::{Operations, PASS_ROLE};
use crate::resource::{answer, everything, inside, replaced, required, resource, told, unanswered};

const FILTERS: Filters = Filters {
    id: "instance-id",
    name: None,
    props: &[
        (IMAGE, "image-id"),
        (TYPE, "instance-type"),
        ("subnet", "subnet-id"),
    ],
};

const OPERATIONS: Operations = Operations {
    reads: &["ec2:DescribeInstances"],
    tags: tags::OPERATIONS,
    owns: &[
        // The device of the first volume is the image's to say.
        "ec2:DescribeImages",
        "ec2:RunInstances",
        "ec2:TerminateInstances",
        PASS_ROLE,
    ],
    adds: &[(GROUP, &["ec2:ModifyInstanceAttribute"])],
};

handler!(Instances: INSTANCE {
    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[(GROUP, &Groups)]
    }
});

parts!(Groups: groups, add_groups, remove_groups {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let found = list(set, FILTERS.of(query)).await?;
    let meant = found.iter().filter(|(read, _)| query.means(read));
    let inner = meant.map(|(_, inner)| inner.clone()).collect();
    Ok(Answer {
        inner,
        ..answer(query, found.into_iter().map(|(read, _)| read))
    })
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let (found, inner) = list(set, None).await?.into_iter().unzip();
    let found: Vec<Resource> = found;
    Ok(everything(found, inner))
}

/// Those that have ended are listed for an hour: they are left out.
async fn list(
    set: &ClientSet,
    filters: Option<Vec<Filter>>,
) -> Result<Vec<(Resource, InnerAnswer)>, CloudError> {
    let found = set
        .ec2
        .describe_instances()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeInstances"))?;
    let instances = found.iter().flat_map(|reservation| reservation.instances());
    let there = instances.filter(|it| state(it) != Some(&InstanceStateName::Terminated));
    Ok(there
        .filter_map(|instance| {
            let read = read(instance)?;
            let inner = inner(instance, &read.target());
            Some((read, inner))
        })
        .collect())
}

/// One call makes it, with its groups, its marks and what it is told at its first start.
async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "RunInstances";
    let image = required(create, IMAGE)?;
    let of = |prop: &str| create.props.get(prop).map(ToString::to_string);
    let groups = of(GROUPS).map(|joined| ids(&joined).map(str::to_owned).collect());
    let profile = of(PROFILE);
    let profile = profile.map(|name| {
        IamInstanceProfileSpecification::builder()
            .name(name)
            .build()
    });
    let root = match create.props.get(ROOT_VOLUME) {
        Some(text) => Some(vec![first_volume(set, image, text).await?]),
        None => None,
    };
    let data = create.secrets.get(USER_DATA);
    let made = set
        .ec2
        .run_instances()
        .image_id(image)
        .instance_type(InstanceType::from(required(create, TYPE)?))
        .subnet_id(required(create, "subnet")?)
        .set_security_group_ids(groups)
        .set_key_name(of(KEY))
        .set_iam_instance_profile(profile)
        .set_block_device_mappings(root)
        .set_user_data(data.map(|data| data.reveal().to_owned()))
        .set_client_token(create.token.map(|token| token.to_string()))
        .set_tag_specifications(riding(&create.tags))
        .min_count(1)
        .max_count(1)
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let made = made.instances().first().and_then(read);
    made.ok_or_else(|| unanswered(operation, "instance"))
}

/// The tags of the instance. Its volumes and interfaces, which go with it, get all but our own marks.
fn riding(all: &Tags) -> Option<Vec<TagSpecification>> {
    let others = all
        .iter()
        .filter(|(key, _)| !key.starts_with("freehold.dev/"));
    let others: Tags = others.cloned().collect();
    let mut specifications = tags::riding(ResourceType::Instance, all)?;
    for kind in [ResourceType::Volume, ResourceType::NetworkInterface] {
        specifications.extend(tags::riding(kind, &others).into_iter().flatten());
    }
    Some(specifications)
}

/// The first volume, under the name that the image has for its device.
async fn first_volume(
    set: &ClientSet,
    image: &str,
    text: &str,
) -> Result<BlockDeviceMapping, CloudError> {
    let operation = "DescribeImages";
    let invalid = |message: String| CloudError::new(Class::Fatal, "InvalidParameterValue", message);
    let wanted = text.parse::<RootVolume>();
    let wanted = wanted.map_err(|error| invalid(error.to_string()))?;
    let found = set.ec2.describe_images().image_ids(image).send().await;
    let found = found.map_err(set.ec2_failure(operation))?;
    let device = found.images().first().and_then(|it| it.root_device_name());
    let device = device
        .ok_or_else(|| invalid(format!("the image {image} says nothing of its root device")))?;
    let number = |number: Option<u32>| number.and_then(|number| i32::try_from(number).ok());
    let volume = EbsBlockDevice::builder()
        .delete_on_termination(true)
        .set_volume_size(number(wanted.size))
        .set_volume_type(wanted.kind.as_deref().map(VolumeType::from))
        .set_iops(number(wanted.iops))
        .set_throughput(number(wanted.throughput))
        .set_encrypted(wanted.encrypted)
        .set_kms_key_id(wanted.key.map(|key| key.to_string()))
        .build();
    Ok(BlockDeviceMapping::builder()
        .device_name(device)
        .ebs(volume)
        .build())
}

/// It is accepted, and takes its time.
async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.ec2.terminate_instances();
    let ended = call.instance_ids(target.id.as_str()).send().await;
    ended.map_err(set.ec2_failure("TerminateInstances"))?;
    Ok(())
}

async fn groups(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    Ok(inside(find(set, &Query::Id(of.clone())).await?, of, GROUP))
}

async fn add_groups(set: &ClientSet, on: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    set_groups(set, on, parts, &[]).await
}

async fn remove_groups(
    set: &ClientSet,
    on: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    set_groups(set, on, &[], parts).await
}

/// The call replaces all groups: those that are there are read just before.
async fn set_groups(
    set: &ClientSet,
    on: &Target,
    with: &[InnerPart],
    without: &[InnerPart],
) -> Result<(), CloudError> {
    let there = groups(set, on).await?.inner.into_iter();
    let there: Vec<InnerPart> = there.flat_map(|told| told.parts).collect();
    let call = set.ec2.modify_instance_attribute();
    let call = call.instance_id(on.id.as_str());
    let call = call.set_groups(Some(replaced(&there, with, without)));
    let operation = "ModifyInstanceAttribute";
    call.send().await.map_err(set.ec2_failure(operation))?;
    Ok(())
}

fn state(instance: &Instance) -> Option<&InstanceStateName> {
    instance.state().and_then(|state| state.name())
}

fn read(instance: &Instance) -> Option<Resource> {
    let text = |text: Option<&str>| Text::from(text.unwrap_or_default());
    let profile = instance.iam_instance_profile().and_then(|it| it.arn());
    let profile = profile.and_then(|arn| arn.rsplit('/').next());
    let zone = instance.placement().and_then(|it| it.availability_zone());
    let machine = instance.instance_type().map(InstanceType::as_str);
    let mut props = Props::from_iter([
        (IMAGE, text(instance.image_id())),
        (TYPE, text(machine)),
        ("subnet", text(instance.subnet_id())),
        (ZONE, text(zone)),
        (PRIVATE_IP, text(instance.private_ip_address())),
        (PRIVATE_DNS, text(instance.private_dns_name())),
        (PUBLIC_IP, text(instance.public_ip_address())),
        (PUBLIC_DNS, text(instance.public_dns_name())),
    ]);
    for (name, value) in [(KEY, instance.key_name()), (PROFILE, profile)] {
        if let Some(value) = value {
            props.set(name, value.into());
        }
    }
    let (id, tags) = (instance.instance_id()?, tags::read(instance.tags()));
    Some(Resource {
        created: instance.launch_time().and_then(observe::time),
        life: life(instance),
        ..resource(&INSTANCE, id, props, tags)
    })
}

fn inner(instance: &Instance, of: &Target) -> InnerAnswer {
    let groups = instance.security_groups().iter();
    told(of, GROUP, groups.filter_map(|group| group.group_id()))
}

/// One that was stopped is there and serves nobody; whoever stopped it can start it again.
fn life(instance: &Instance) -> Life {
    match state(instance) {
        Some(InstanceStateName::Running) => Life::Ready,
        Some(InstanceStateName::ShuttingDown | InstanceStateName::Terminated) => Life::Going,
        Some(InstanceStateName::Stopping | InstanceStateName::Stopped) => {
            let reason = instance.state_reason();
            let code = reason.and_then(|it| it.code()).unwrap_or("stopped");
            let why = reason.and_then(|it| it.message());
            let why = why.unwrap_or("EC2 does not say why");
            Life::Failed(format!("{code}: it was stopped: {why}").into())
        }
        _ => Life::Coming,
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::types::{InstanceState, StateReason};

    use super::*;

    #[test]
    fn its_life_is_what_ec2_tells() {
        let instance = |name| {
            let state = InstanceState::builder().name(name).build();
            Instance::builder().state(state)
        };
        for (name, expected) in [
            (InstanceStateName::Pending, Life::Coming),
            (InstanceStateName::Running, Life::Ready),
            (InstanceStateName::ShuttingDown, Life::Going),
        ] {
            assert_eq!(life(&instance(name).build()), expected);
        }
        let reason = StateReason::builder().code("Client.UserInitiatedShutdown");
        let reason = reason.message("User initiated shutdown").build();
        let stopped = instance(InstanceStateName::Stopped).state_reason(reason);
        let why = "Client.UserInitiatedShutdown: it was stopped: User initiated shutdown";
        assert_eq!(life(&stopped.build()), Life::Failed(why.into()));
    }

    #[test]
    fn volumes_and_interfaces_do_not_carry_our_marks() {
        let tags = [("freehold.dev/a", "instance_1_h"), ("team", "blue")];
        let tags: Tags = tags
            .map(|(k, v)| (k.into(), v.into()))
            .into_iter()
            .collect();
        let all = riding(&tags).expect("some");
        let counts: Vec<usize> = all.iter().map(|it| it.tags().len()).collect();
        assert_eq!(counts, [2, 1, 1]);
    }
}
