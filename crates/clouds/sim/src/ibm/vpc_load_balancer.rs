//! Load balancers.

use cloud_port::ibm::RESOURCE_GROUP;
use cloud_port::ibm::vpc_load_balancer::{GROUPS, HOSTNAME, LISTENER, POOL, PUBLIC, SUBNETS};
use cloud_port::ibm::vpc_security_group::VPC_SECURITY_GROUP;
use cloud_port::ibm::vpc_subnet::VPC_SUBNET;
use ownership::error::Blocker;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, Kind, ResourceId, Target};

use super::crn::Where;
use super::{OTHER, OTHER_PART, PAGE, VPC};
use crate::account::Account;
use crate::provider::{InnerRow, Model, Row};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

pub(crate) static ROW: Row = Row {
    model: &LoadBalancer,
    not_found: "load_balancer_not_found",
    duplicate: "load_balancer_duplicate_name",
    over_quota: "load_balancer_over_quota",
    get: VPC.reads("GetLoadBalancer"),
    list: VPC.lists("ListLoadBalancers", PAGE),
    create: VPC.writes("CreateLoadBalancer"),
    update: VPC.writes("UpdateLoadBalancer"),
    delete: VPC.writes("DeleteLoadBalancer"),
    quota: 50,
    inner: &[
        InnerRow {
            list: VPC.reads("ListLoadBalancerPools"),
            add: VPC.writes("CreateLoadBalancerPool"),
            remove: VPC.writes("DeleteLoadBalancerPool"),
            duplicate: "pool_duplicate_name",
            not_found: "pool_not_found",
            full: "pool_over_quota",
            quota: 10,
            ..OTHER_PART
        },
        InnerRow {
            list: VPC.reads("ListLoadBalancerListeners"),
            add: VPC.writes("CreateLoadBalancerListener"),
            remove: VPC.writes("DeleteLoadBalancerListener"),
            duplicate: "listener_duplicate_port",
            not_found: "listener_not_found",
            full: "listener_over_quota",
            quota: 10,
            ..OTHER_PART
        },
    ],
    ..OTHER
};

#[derive(Debug)]
struct LoadBalancer;

impl Model for LoadBalancer {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        account.require(order, props, &[PUBLIC, RESOURCE_GROUP, SUBNETS])?;
        let named = [(SUBNETS, &VPC_SUBNET), (GROUPS, &VPC_SECURITY_GROUP)];
        for (prop, kind) in named {
            let kind: &'static Kind = kind;
            let ids = props.get(prop).cloned().unwrap_or_else(|| "".into());
            for id in ids.split(',').filter(|id| !id.is_empty()) {
                account.beside_by_id(order, kind, ResourceId::new(id))?;
            }
        }
        Ok(())
    }

    fn gives(&self, account: &Account, id: &ResourceId, order: &Order<'_>, props: &mut Props) {
        let region = account.vpc_region();
        let place = Where {
            service: "is",
            location: region,
            instance: "",
            sort: "load-balancer",
        };
        place.tell(account, id, order, props);
        let hostname = format!("{id}-{region}.lb.appdomain.cloud");
        props.set(HOSTNAME, hostname.into());
    }

    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    /// A port has one listener, and a listener has a pool that is there.
    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        on: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        if spot.declared.name != LISTENER {
            return Ok(());
        }
        let op = spot.inner.add;
        let port = |part: &InnerPart| part.key.rsplit(' ').next().map(ToOwned::to_owned);
        let mut others = account.parts(on, LISTENER).iter();
        if others.any(|other| other.key != part.key && port(other) == port(part)) {
            let message = format!("another listener has the port of '{}'", part.key);
            return Err(spot.refuse(op, "listener_duplicate_port", message));
        }
        let mut pools = account.parts(on, POOL).iter();
        if pools.any(|pool| pool.key == part.value) {
            return Ok(());
        }
        let message = format!("there is no pool '{}' in {on}", part.value);
        Err(spot.refuse(op, "pool_not_found", message))
    }
}
