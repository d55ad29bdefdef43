//! Security groups.

use aws_sdk_ec2::types::{Filter, ResourceType, SecurityGroup};
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, PAGE, blockers, rule, tags};
use crate::blocked::explain;
use crate::client_set::ClientSet;
use crate::handler::{Parts, handler};
use crate::permissions::Operations;
use crate::resource::{answer, everything, required, resource, unanswered};

const FILTERS: Filters = Filters {
    id: "group-id",
    name: Some("group-name"),
    props: &[("vpc", "vpc-id")],
};

const OPERATIONS: Operations = Operations {
    reads: &[
        "ec2:DescribeSecurityGroupRules",
        "ec2:DescribeSecurityGroups",
    ],
    tags: tags::OPERATIONS,
    owns: &[
        "ec2:CreateSecurityGroup",
        "ec2:DeleteSecurityGroup",
        "ec2:DescribeNetworkInterfaces",
        "ec2:RevokeSecurityGroupIngress",
    ],
    adds: &[(RULE, &["ec2:AuthorizeSecurityGroupIngress"])],
};

handler!(SecurityGroups: SECURITY_GROUP {
    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[(RULE, &rule::Rules)]
    }
});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    Ok(answer(query, list(set, FILTERS.of(query)).await?))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let groups = list(set, None).await?;
    let rules = rule::survey(set, &groups).await?;
    Ok(everything(groups, rules))
}

async fn list(set: &ClientSet, filters: Option<Vec<Filter>>) -> Result<Vec<Resource>, CloudError> {
    let found = set
        .ec2
        .describe_security_groups()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeSecurityGroups"))?;
    Ok(found.iter().filter_map(read).collect())
}

/// EC2 answers with the id alone; the rest is as it was asked for.
async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateSecurityGroup";
    let made = set
        .ec2
        .create_security_group()
        .group_name(&*create.name)
        .description(required(create, "description")?)
        .vpc_id(required(create, "vpc")?)
        .set_tag_specifications(tags::riding(ResourceType::SecurityGroup, &create.tags))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let id = made.group_id();
    let id = id.ok_or_else(|| unanswered(operation, "id of the group"))?;
    Ok(Resource {
        name: create.name.clone(),
        ..resource(
            &SECURITY_GROUP,
            id,
            create.props.clone(),
            create.tags.clone(),
        )
    })
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let id = target.id.as_str();
    let deleted = set.ec2.delete_security_group().group_id(id).send().await;
    match deleted.map_err(set.ec2_failure("DeleteSecurityGroup")) {
        Ok(_) => Ok(()),
        Err(error) => {
            let users = blockers::of_security_group(set, &target.id);
            Err(explain(error, users).await)
        }
    }
}

fn read(group: &SecurityGroup) -> Option<Resource> {
    let props = Props::from_iter([
        ("vpc", group.vpc_id().unwrap_or_default().into()),
        (
            "description",
            group.description().unwrap_or_default().into(),
        ),
    ]);
    let (id, tags) = (group.group_id()?, tags::read(group.tags()));
    Some(Resource {
        name: group.group_name().unwrap_or_default().into(),
        ..resource(&SECURITY_GROUP, id, props, tags)
    })
}
