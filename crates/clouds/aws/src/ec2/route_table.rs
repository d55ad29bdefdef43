//! Route tables.

use aws_sdk_ec2::types::{Filter, ResourceType, RouteTable};
use cloud_port::aws::route_table::ROUTE_TABLE;
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::{Answer, CloudError, Query, Target};

use super::{Filters, blockers, tags, truth};
use crate::blocked::explain;
use crate::client_set::ClientSet;
use crate::handler::handler;
use crate::permissions::Operations;
use crate::resource::{answer, everything, required, resource, unanswered};

/// EC2 allows no more here.
const PAGE: i32 = 100;

/// Not by `association.main`: a table without any association would match neither value.
const FILTERS: Filters = Filters {
    id: "route-table-id",
    name: None,
    props: &[("vpc", "vpc-id")],
};

const OPERATIONS: Operations = Operations {
    reads: &["ec2:DescribeRouteTables"],
    tags: tags::OPERATIONS,
    owns: &["ec2:CreateRouteTable", "ec2:DeleteRouteTable"],
    adds: &[],
};

handler!(RouteTables: ROUTE_TABLE {});

async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    Ok(answer(query, list(set, FILTERS.of(query)).await?))
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    Ok(everything(list(set, None).await?, Vec::new()))
}

async fn list(set: &ClientSet, filters: Option<Vec<Filter>>) -> Result<Vec<Resource>, CloudError> {
    let found = set
        .ec2
        .describe_route_tables()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeRouteTables"))?;
    Ok(found.iter().filter_map(read).collect())
}

async fn create(set: &ClientSet, create: &Create) -> Result<Resource, CloudError> {
    let operation = "CreateRouteTable";
    let made = set
        .ec2
        .create_route_table()
        .vpc_id(required(create, "vpc")?)
        .set_client_token(create.token.map(|token| token.to_string()))
        .set_tag_specifications(tags::riding(ResourceType::RouteTable, &create.tags))
        .send()
        .await
        .map_err(set.ec2_failure(operation))?;
    let made = made.route_table().and_then(read);
    made.ok_or_else(|| unanswered(operation, "route table"))
}

async fn delete(set: &ClientSet, target: &Target) -> Result<(), CloudError> {
    let id = target.id.as_str();
    let deleted = set.ec2.delete_route_table().route_table_id(id).send().await;
    match deleted.map_err(set.ec2_failure("DeleteRouteTable")) {
        Ok(_) => Ok(()),
        Err(error) => {
            let users = blockers::of_route_table(set, &target.id);
            Err(explain(error, users).await)
        }
    }
}

pub(super) fn is_main(table: &RouteTable) -> bool {
    let mut associations = table.associations().iter();
    associations.any(|association| association.main() == Some(true))
}

fn read(table: &RouteTable) -> Option<Resource> {
    let props = Props::from_iter([
        ("vpc", table.vpc_id().unwrap_or_default().into()),
        ("main", truth(is_main(table))),
    ]);
    let (id, tags) = (table.route_table_id()?, tags::read(table.tags()));
    Some(resource(&ROUTE_TABLE, id, props, tags))
}
