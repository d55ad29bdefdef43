//! Route tables.

use aws_sdk_ec2::types::{Filter, ResourceType, RouteTable, RouteTableAssociationStateCode};
use cloud_port::aws::route_table::{ASSOCIATION, ROUTE, ROUTE_TABLE};
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Query, Target};

use super::{Filters, blockers, route, tags, truth};
use crate::blocked::explain;
use crate::client_set::ClientSet;
use crate::handler::{Parts, handler, parts};
use crate::permissions::Operations;
use crate::resource::{answer, everything, inside, one_part, required, resource, unanswered};

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
    owns: &[
        "ec2:CreateRouteTable",
        "ec2:DeleteRoute",
        "ec2:DeleteRouteTable",
        "ec2:DisassociateRouteTable",
    ],
    adds: &[
        (ROUTE, &["ec2:CreateRoute", "ec2:ReplaceRoute"]),
        (ASSOCIATION, &["ec2:AssociateRouteTable"]),
    ],
};

handler!(RouteTables: ROUTE_TABLE {
    fn parts(&self) -> &'static [(&'static str, &'static dyn Parts)] {
        &[(ROUTE, &route::Routes), (ASSOCIATION, &Associations)]
    }
});

parts!(Associations: associations, associate, disassociate {});

/// A read of a table shows its routes and associations.
pub(super) async fn find(set: &ClientSet, query: &Query) -> Result<Answer, CloudError> {
    let found = list(set, FILTERS.of(query)).await?;
    let meant = found.iter().filter_map(|table| {
        let read = read(table)?;
        query.means(&read).then(|| (inner(table, &read), read))
    });
    let (inner, tables): (Vec<_>, Vec<_>) = meant.unzip();
    Ok(Answer {
        inner: inner.into_iter().flatten().collect(),
        ..answer(query, tables)
    })
}

async fn survey(set: &ClientSet) -> Result<Answer, CloudError> {
    let found = list(set, None).await?;
    let found = found.iter().filter_map(|table| {
        let read = read(table)?;
        Some((inner(table, &read), read))
    });
    let (inner, tables): (Vec<_>, Vec<_>) = found.unzip();
    Ok(everything(tables, inner.into_iter().flatten().collect()))
}

async fn list(
    set: &ClientSet,
    filters: Option<Vec<Filter>>,
) -> Result<Vec<RouteTable>, CloudError> {
    set.ec2
        .describe_route_tables()
        .set_filters(filters)
        .max_results(PAGE)
        .into_paginator()
        .items()
        .send()
        .collect::<Result<Vec<_>, _>>()
        .await
        .map_err(set.ec2_failure("DescribeRouteTables"))
}

/// What is inside a table.
fn inner(table: &RouteTable, read: &Resource) -> [InnerAnswer; 2] {
    let told = |inner, mut parts: Vec<InnerPart>| {
        parts.sort_by(|a, b| a.key.cmp(&b.key));
        let of = read.target();
        InnerAnswer { of, inner, parts }
    };
    let associations = table.associations().iter().filter_map(|found| {
        let state = found.association_state().and_then(|state| state.state());
        let gone = RouteTableAssociationStateCode::Disassociated;
        let there = (state != Some(&gone)).then_some(found.subnet_id()?)?;
        Some(InnerPart {
            id: found.route_table_association_id().map(Into::into),
            ..InnerPart::new(there, "", Tags::new())
        })
    });
    [
        told(ROUTE, route::parts(table)),
        told(ASSOCIATION, associations.collect()),
    ]
}

async fn associations(set: &ClientSet, of: &Target) -> Result<Answer, CloudError> {
    let read = find(set, &Query::Id(of.clone())).await?;
    Ok(inside(read, of, ASSOCIATION))
}

async fn associate(set: &ClientSet, table: &Target, parts: &[InnerPart]) -> Result<(), CloudError> {
    set.ec2
        .associate_route_table()
        .route_table_id(table.id.as_str())
        .subnet_id(&*one_part(parts, ASSOCIATION)?.key)
        .send()
        .await
        .map_err(set.ec2_failure("AssociateRouteTable"))?;
    Ok(())
}

/// By the id of the association: a call that is late then meets no later one with the same subnet.
async fn disassociate(
    set: &ClientSet,
    table: &Target,
    parts: &[InnerPart],
) -> Result<(), CloudError> {
    let part = one_part(parts, ASSOCIATION)?;
    let missing = || {
        let message = format!("{table} has no association with {}", part.key);
        CloudError::new(Class::NotFound, "InvalidAssociationID.NotFound", message)
    };
    let id = if let Some(id) = &part.id {
        id.clone()
    } else {
        let told = associations(set, table).await?;
        let mut there = told.inner.into_iter().flat_map(|inner| inner.parts);
        let found = there.find(|found| found.key == part.key);
        found.and_then(|found| found.id).ok_or_else(missing)?
    };
    let call = set.ec2.disassociate_route_table().association_id(&*id);
    let operation = "DisassociateRouteTable";
    call.send().await.map_err(set.ec2_failure(operation))?;
    Ok(())
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
