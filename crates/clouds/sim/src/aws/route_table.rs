//! Route tables.

use ownership::error::Blocker;
use ownership::part::Props;
use ownership::{CloudError, ResourceId};

use super::{EC2, OTHER};
use crate::account::Account;
use crate::provider::{Model, Row};
use crate::record::State;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &RouteTable,
    prefix: "rtb-",
    not_found: "InvalidRouteTableID.NotFound",
    over_quota: "RouteTableLimitExceeded",
    get: EC2.lists("DescribeRouteTables", 100),
    list: EC2.lists("DescribeRouteTables", 100),
    create: EC2.writes("CreateRouteTable"),
    delete: EC2.writes("DeleteRouteTable"),
    quota: 200,
    quota_within: Some("vpc"),
    tag: EC2.writes("CreateTags"),
    untag: EC2.writes("DeleteTags"),
    ..OTHER
};

#[derive(Debug)]
struct RouteTable;

impl Model for RouteTable {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.required_vpc(order, props)?;
        props.set("main", "false".into());
        Ok(())
    }

    fn users(&self, _: &Account, state: &State, blockers: &mut Vec<Blocker>) {
        let vpc = state.resource.props.get("vpc");
        if let Some(vpc) = vpc.filter(|_| is_main(state)) {
            blockers.push(Blocker {
                noun: "VPC whose main route table it is".into(),
                id: ResourceId::new(vpc.clone()),
            });
        }
    }

    fn came_with_parent(&self, state: &State) -> bool {
        is_main(state)
    }
}

fn is_main(state: &State) -> bool {
    let main = state.resource.props.get("main");
    main.is_some_and(|main| **main == *"true")
}
