//! Roles, with their inline and attached policies.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use aws_sdk_iam::types::{AttachedPolicy, EntityType, InstanceProfile, Role, RoleDetail};
use cloud_port::aws::role::{ATTACHED_POLICY, INLINE_POLICY, ROLE};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, ResourceId, Target, Text};

use super::{PAGE, document, name_in, read_tags, write_tags};
use crate::blocked::{Found, blocker, explain};
use crate::by_key::{full, keys_to_remove, optional, tags_alone};
use crate::client_set::ClientSet;
use crate::handler::{Asked, Parts, fixed, handler, parts};
use crate::observe::time;
use crate::permissions::Operations;
use crate::resource::{answer, one_part, required, resource, unanswered};

/// The paths of the roles that have one, as they were last read. A path is no part of a role's name,
/// but of its ARN.
#[derive(Debug, Default)]
pub(crate) struct Paths(Mutex<BTreeMap<String, String>>);

impl Paths {
    fn learn(&self, name: &str, path: &str) {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if path == "/" {
            paths.remove(name);
        } else {
            paths.insert(name.to_owned(), path.to_owned());
        }
    }

    /// The path of a role; `/` unless another was read.
    pub(crate) fn of(&self, name: &str) -> String {
        let paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.get(name).cloned().unwrap_or_else(|| "/".to_owned())
    }
}

const OPERATIONS: Operations = Operations {
    reads: &[
        "iam:GetAccountAuthorizationDetails",
        "iam:GetRole",
        "iam:GetRolePolicy",
        "iam:ListAttachedRolePolicies",
        "iam:ListRolePolicies",
    ],
    tags: &["iam:TagRole", "iam:UntagRole"],
    owns: &[
        "iam:CreateRole",
        "iam:DeleteRole",
        "iam:DeleteRolePolicy",
        "iam:DetachRolePolicy",
        "iam:ListInstanceProfilesForRole",
        "iam:UpdateAssumeRolePolicy",
    ],
    adds: &[
        (INLINE_POLICY, &["iam:PutRolePolicy"]),
        (ATTACHED_POLICY, &["iam:AttachRolePolicy"]),
    ],
};

handler!(Roles: ROLE {
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
            (INLINE_POLICY, &InlinePolicies),
            (ATTACHED_POLICY, &AttachedPolicies),
        ]
    }
});

parts!(InlinePolicies: inline, put_inline, delete_inline {});
parts!(AttachedPolicies: attached, attach, detach {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let name = name_in(query);
    if name.is_empty() {
        return list(set, |role| query.means(role)).await;
    }
    let role = optional(get(set, name).await)?.flatten();
    Ok(answer(query, role))
}

async fn get(set: &ClientSet, name: &str) -> Result<Option<Resource>, CloudError> {
    let found = set.iam.get_role().role_name(name).send().await;
    let found = found.map_err(set.iam_failure("GetRole"))?;
    Ok(found.role().map(|role| {
        set.role_paths.learn(role.role_name(), role.path());
        read(role)
    }))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    list(set, |_| true).await
}

/// `ListRoles` shows no tags. This operation does, and tells the policies too.
async fn list(set: &ClientSet, is_meant: impl Fn(&Resource) -> bool) -> Result<Answer, CloudError> {
    let operation = "GetAccountAuthorizationDetails";
    let mut pages = set
        .iam
        .get_account_authorization_details()
        .filter(EntityType::Role)
        .max_items(PAGE)
        .into_paginator()
        .send();
    let mut all = Answer::default();
    while let Some(page) = pages.next().await {
        let page = page.map_err(set.iam_failure(operation))?;
        for detail in page.role_detail_list() {
            let Some(role) = read_detail(detail) else {
                continue;
            };
            set.role_paths
                .learn(role.id.as_str(), detail.path().unwrap_or("/"));
            if is_meant(&role) {
                all.inner.extend(read_policies(detail, &role.id));
                all.resources.push(role.into());
            }
        }
    }
    Ok(all)
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateRole";
    let made = set
        .iam
        .create_role()
        .role_name(&*create.name)
        .assume_role_policy_document(required(create, "trust")?)
        .set_tags(Some(write_tags(create.tags.iter())))
        .send()
        .await
        .map_err(set.iam_failure(operation))?;
    let made = made.role().ok_or_else(|| unanswered(operation, "role"))?;
    // The answer may leave out what was asked for.
    Ok(Resource {
        props: create.props.clone(),
        tags: create.tags.clone(),
        ..read(made)
    })
}

/// Who may assume it is all that can be changed.
async fn update(set: &ClientSet, target: &Target, props: &Props) -> Result<(), CloudError> {
    let others = props.iter().any(|(name, _)| *name != "trust");
    let (Some(trust), false) = (props.get("trust"), others) else {
        return Err(fixed(target));
    };
    set.iam
        .update_assume_role_policy()
        .role_name(target.id.as_str())
        .policy_document(&**trust)
        .send()
        .await
        .map_err(set.iam_failure("UpdateAssumeRolePolicy"))?;
    Ok(())
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let name = target.id.as_str();
    let deleted = set.iam.delete_role().role_name(name).send().await;
    match deleted.map_err(set.iam_failure("DeleteRole")) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(error, blockers(set, target)).await),
    }
}

async fn blockers(set: &ClientSet, target: &Target) -> Found {
    let mut found = Vec::new();
    for (noun, answer) in [
        ("inline policy", inline_names(set, target).await?),
        ("attached policy", attached_arns(set, target).await?),
    ] {
        found.extend(answer.iter().filter_map(|key| blocker(noun, Some(key))));
    }
    let profiles = set
        .iam
        .list_instance_profiles_for_role()
        .role_name(target.id.as_str())
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.iam_failure("ListInstanceProfilesForRole"))?;
    let names = profiles.iter().map(InstanceProfile::instance_profile_name);
    found.extend(names.filter_map(|name| blocker("instance profile", Some(name))));
    Ok(found)
}

async fn tag(set: &ClientSet, target: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    set.iam
        .tag_role()
        .role_name(target.id.as_str())
        .set_tags(Some(write_tags(tags)))
        .send()
        .await
        .map_err(set.iam_failure("TagRole"))
        .map_err(|error| full(error, ROLE.noun, target))?;
    Ok(())
}

async fn untag(set: &ClientSet, target: &Target, tags: &[(Text, Text)]) -> Result<(), CloudError> {
    let name = target.id.as_str();
    let held = get(set, name)
        .await?
        .map_or_else(Tags::new, |role| role.tags);
    let Some(keys) = keys_to_remove(&held, tags) else {
        return Ok(());
    };
    let call = set
        .iam
        .untag_role()
        .role_name(name)
        .set_tag_keys(Some(keys));
    call.send().await.map_err(set.iam_failure("UntagRole"))?;
    Ok(())
}

async fn inline(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let Some(names) = optional(inline_names(set, of).await)? else {
        return Ok(inside(of, INLINE_POLICY, Vec::new()));
    };
    let mut parts = Vec::with_capacity(names.len());
    for name in names {
        let call = set.iam.get_role_policy();
        let call = call.role_name(of.id.as_str()).policy_name(&name);
        let got = call.send().await.map_err(set.iam_failure("GetRolePolicy"));
        // One that went meanwhile is not there.
        if let Some(policy) = optional(got)? {
            parts.push(part(&name, document(policy.policy_document())));
        }
    }
    Ok(inside(of, INLINE_POLICY, parts))
}

async fn attached(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let arns = optional(attached_arns(set, of).await)?.unwrap_or_default();
    let parts = arns.iter().map(|arn| part(arn, "".into()));
    Ok(inside(of, ATTACHED_POLICY, parts.collect()))
}

async fn inline_names(set: &ClientSet, of: &Target) -> Result<Vec<String>, CloudError> {
    set.iam
        .list_role_policies()
        .role_name(of.id.as_str())
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.iam_failure("ListRolePolicies"))
}

async fn attached_arns(set: &ClientSet, of: &Target) -> Result<Vec<String>, CloudError> {
    let found = set
        .iam
        .list_attached_role_policies()
        .role_name(of.id.as_str())
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.iam_failure("ListAttachedRolePolicies"))?;
    let arns = found.iter().filter_map(AttachedPolicy::policy_arn);
    Ok(arns.map(str::to_owned).collect())
}

async fn put_inline(
    set: &ClientSet,
    target: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    let policy = one_part(parts, "inline policy")?;
    set.iam
        .put_role_policy()
        .role_name(target.id.as_str())
        .policy_name(&*policy.key)
        .policy_document(&*policy.value)
        .send()
        .await
        .map_err(set.iam_failure("PutRolePolicy"))?;
    Ok(())
}

async fn delete_inline(
    set: &ClientSet,
    target: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    let policy = one_part(parts, "inline policy")?;
    set.iam
        .delete_role_policy()
        .role_name(target.id.as_str())
        .policy_name(&*policy.key)
        .send()
        .await
        .map_err(set.iam_failure("DeleteRolePolicy"))?;
    Ok(())
}

async fn attach(set: &ClientSet, target: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let policy = one_part(parts, "attached policy")?;
    set.iam
        .attach_role_policy()
        .role_name(target.id.as_str())
        .policy_arn(&*policy.key)
        .send()
        .await
        .map_err(set.iam_failure("AttachRolePolicy"))?;
    Ok(())
}

async fn detach(set: &ClientSet, target: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    let policy = one_part(parts, "attached policy")?;
    set.iam
        .detach_role_policy()
        .role_name(target.id.as_str())
        .policy_arn(&*policy.key)
        .send()
        .await
        .map_err(set.iam_failure("DetachRolePolicy"))?;
    Ok(())
}

fn read(role: &Role) -> Resource {
    let trust = role.assume_role_policy_document();
    Resource {
        unique: Some(role.role_id().into()),
        created: time(role.create_date()),
        ..named(role.role_name(), trust, read_tags(role.tags()))
    }
}

fn read_detail(detail: &RoleDetail) -> Option<Resource> {
    let trust = detail.assume_role_policy_document();
    Some(Resource {
        unique: detail.role_id().map(Into::into),
        created: detail.create_date().and_then(time),
        ..named(detail.role_name()?, trust, read_tags(detail.tags()))
    })
}

fn named(name: &str, trust: Option<&str>, tags: Tags) -> Resource {
    let props = Props::from_iter([("trust", document(trust.unwrap_or_default()))]);
    Resource {
        name: name.into(),
        ..resource(&ROLE, name, props, tags)
    }
}

fn read_policies(detail: &RoleDetail, id: &ResourceId) -> [InnerAnswer; 2] {
    let of = Target::new(&ROLE, id.clone());
    let inline = detail.role_policy_list().iter().filter_map(|policy| {
        let text = policy.policy_document().unwrap_or_default();
        Some(part(policy.policy_name()?, document(text)))
    });
    let attached = detail.attached_managed_policies().iter();
    let attached = attached.filter_map(|policy| Some(part(policy.policy_arn()?, "".into())));
    [
        all_of(&of, INLINE_POLICY, inline.collect()),
        all_of(&of, ATTACHED_POLICY, attached.collect()),
    ]
}

fn part(key: &str, value: Text) -> InnerPart {
    InnerPart::new(key, value, Tags::new())
}

fn inside(of: &Target, inner: &'static str, parts: Vec<InnerPart>) -> Answer {
    Answer {
        inner: vec![all_of(of, inner, parts)],
        ..Answer::default()
    }
}

fn all_of(of: &Target, inner: &'static str, mut parts: Vec<InnerPart>) -> InnerAnswer {
    parts.sort_by(|a, b| a.key.cmp(&b.key));
    InnerAnswer {
        of: of.clone(),
        inner,
        parts,
    }
}
