//! Route tables.

use ownership::error::Blocker;
use ownership::part::Props;
use ownership::{CloudError, ResourceId, Text};

use super::{Model, OTHER, Row};
use crate::account::Account;
use crate::op::Op;
use crate::record::State;
use crate::settings::Quotas;
use crate::write::create::Order;

pub(crate) static ROW: Row = Row {
    model: &RouteTable,
    prefix: "rtb-",
    not_found: "InvalidRouteTableID.NotFound",
    over_quota: "RouteTableLimitExceeded",
    get: Op::DescribeRouteTables,
    list: Op::DescribeRouteTables,
    create: Op::CreateRouteTable,
    delete: Op::DeleteRouteTable,
    tag: Op::CreateTags,
    untag: Op::DeleteTags,
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

    fn quota<'p>(&self, quotas: &Quotas, props: &'p Props) -> (usize, Option<&'p Text>) {
        (quotas.route_tables_per_vpc, props.get("vpc"))
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

    fn goes_with_vpc(&self, state: &State) -> bool {
        is_main(state)
    }
}

fn is_main(state: &State) -> bool {
    let main = state.resource.props.get("main");
    main.is_some_and(|main| **main == *"true")
}
