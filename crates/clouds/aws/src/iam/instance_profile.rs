//! Instance profiles, with the role in each.

use aws_sdk_iam::types::InstanceProfile;
use cloud_port::aws::instance_profile::{INSTANCE_PROFILE, PROFILE_ROLE};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, ResourceId, Target, Text};

use super::{PAGE, name_in, read_tags, write_tags};
use crate::blocked::{Found, blocker, explain};
use crate::by_key::{full, keys_to_remove, optional, tags_alone};
use crate::client_set::ClientSet;
use crate::handler::{Parts, handler, parts};
use crate::observe::time;
use crate::permissions::{Operations, PASS_ROLE};
use crate::resource::{everything, inside, one_part, resource, unanswered};

const OPERATIONS: Operations = Operations {
    reads: &["iam:GetInstanceProfile", "iam:ListInstanceProfiles"],
    tags: &["iam:TagInstanceProfile", "iam:UntagInstanceProfile"],
    owns: &[
        "iam:CreateInstanceProfile",
        "iam:DeleteInstanceProfile",
        "iam:RemoveRoleFromInstanceProfile",
    ],
    // Whoever gives machines a role must be allowed to pass it to them.
    adds: &[(PROFILE_ROLE, &["iam:AddRoleToInstanceProfile", PASS_ROLE])],
};

handler!(InstanceProfiles: INSTANCE_PROFILE {
    tags_alone!();

    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[(PROFILE_ROLE, &ProfileRoles)]
    }
});

parts!(ProfileRoles: role_of, add_role, remove_role {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let name = name_in(query);
    if name.is_empty() {
        return find_among_all(set, query).await;
    }
    let mut answer = Answer::default();
    if let Some(profile) = optional(get(set, name).await)?.flatten() {
        show(query, &profile, &mut answer);
    }
    Ok(answer)
}

/// A listing has no tags, and there is no other that has: each profile is asked for.
async fn find_among_all(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let mut answer = Answer::default();
    for profile in list(set).await? {
        // One that went meanwhile is not there.
        let got = get(set, profile.instance_profile_name()).await;
        if let Some(profile) = optional(got)?.flatten() {
            show(query, &profile, &mut answer);
        }
    }
    Ok(answer)
}

/// Without tags.
async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let listed = list(set).await?;
    let roles = listed.iter().map(role_in).collect();
    let profiles = listed.iter().map(|profile| read(profile, Tags::new()));
    Ok(everything(profiles, roles))
}

async fn list(set: &ClientSet) -> Result<Vec<InstanceProfile>, CloudError> {
    set.iam
        .list_instance_profiles()
        .max_items(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.iam_failure("ListInstanceProfiles"))
}

/// A read of a profile shows its role.
async fn role_of(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let read = find(set, &Query::Id(of.clone())).await?;
    Ok(inside(read, of, PROFILE_ROLE))
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateInstanceProfile";
    let made = set
        .iam
        .create_instance_profile()
        .instance_profile_name(&*create.name)
        .set_tags(Some(write_tags(create.tags.iter())))
        .send()
        .await
        .map_err(set.iam_failure(operation))?;
    let made = made.instance_profile();
    let made = made.ok_or_else(|| unanswered(operation, "instance profile"))?;
    Ok(read(made, create.tags.clone()))
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let call = set.iam.delete_instance_profile();
    let deleted = call.instance_profile_name(target.id.as_str()).send().await;
    match deleted.map_err(set.iam_failure("DeleteInstanceProfile")) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(error, blockers(set, target)).await),
    }
}

async fn blockers(set: &ClientSet, target: &Target) -> Found {
    let profile = get(set, target.id.as_str()).await?;
    let roles = profile.iter().flat_map(InstanceProfile::roles);
    Ok(roles
        .filter_map(|role| blocker("role", Some(role.role_name())))
        .collect())
}

async fn tag(set: &ClientSet, target: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    set.iam
        .tag_instance_profile()
        .instance_profile_name(target.id.as_str())
        .set_tags(Some(write_tags(tags)))
        .send()
        .await
        .map_err(set.iam_failure("TagInstanceProfile"))
        .map_err(|error| full(error, INSTANCE_PROFILE.noun, target))?;
    Ok(())
}

async fn untag(set: &ClientSet, target: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    let held = get(set, target.id.as_str()).await?;
    let held = held.as_ref().map_or(&[][..], InstanceProfile::tags);
    let Some(keys) = keys_to_remove(&read_tags(held), tags) else {
        return Ok(());
    };
    set.iam
        .untag_instance_profile()
        .instance_profile_name(target.id.as_str())
        .set_tag_keys(Some(keys))
        .send()
        .await
        .map_err(set.iam_failure("UntagInstanceProfile"))?;
    Ok(())
}

async fn add_role(set: &ClientSet, target: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    set.iam
        .add_role_to_instance_profile()
        .instance_profile_name(target.id.as_str())
        .role_name(&*one_part(parts, "role")?.key)
        .send()
        .await
        .map_err(set.iam_failure("AddRoleToInstanceProfile"))?;
    Ok(())
}

async fn remove_role(
    set: &ClientSet,
    target: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    set.iam
        .remove_role_from_instance_profile()
        .instance_profile_name(target.id.as_str())
        .role_name(&*one_part(parts, "role")?.key)
        .send()
        .await
        .map_err(set.iam_failure("RemoveRoleFromInstanceProfile"))?;
    Ok(())
}

async fn get(set: &ClientSet, name: &str) -> Result<Option<InstanceProfile>, CloudError> {
    let call = set.iam.get_instance_profile().instance_profile_name(name);
    let found = call.send().await;
    let found = found.map_err(set.iam_failure("GetInstanceProfile"))?;
    Ok(found.instance_profile)
}

fn show(query: &Query, profile: &InstanceProfile, answer: &mut Answer) {
    let read = read(profile, read_tags(profile.tags()));
    if !query.means(&read) {
        return;
    }
    answer.inner.push(role_in(profile));
    answer.resources.push(read.into());
}

fn role_in(profile: &InstanceProfile) -> InnerAnswer {
    let roles = profile.roles().iter();
    let role = roles.map(|role| InnerPart::new(role.role_name(), "", Tags::new()));
    let id = ResourceId::new(profile.instance_profile_name());
    InnerAnswer {
        of: Target::new(&INSTANCE_PROFILE, id),
        inner: PROFILE_ROLE,
        parts: role.collect(),
    }
}

fn read(profile: &InstanceProfile, tags: Tags) -> Resource {
    let name = profile.instance_profile_name();
    Resource {
        name: name.into(),
        unique: Some(profile.instance_profile_id().into()),
        created: time(profile.create_date()),
        ..resource(&INSTANCE_PROFILE, name, Props::new(), tags)
    }
}
