//! Classic load balancers.

use cloud_port::aws::classic_load_balancer::{
    CLASSIC_LOAD_BALANCER, Forward, HEALTH_CHECK, INSTANCE, LISTENER, LISTENERS,
};
use ownership::error::Blocker;
use ownership::input::InputError;
use ownership::mark::Tags;
use ownership::part::{InnerPart, Props};
use ownership::{CloudError, ResourceId, Target};

use super::load_balancer::ATTACHED;
use super::{ELB, OTHER, OTHER_PART, instance, load_balancer};
use crate::account::Account;
use crate::provenance::Actor;
use crate::provider::{InnerRow, Model, Row, Told};
use crate::record::State;
use crate::write::create::Order;
use crate::write::inner::Spot;

/// As many as the service shows at once.
const PAGE: usize = 400;
/// Of whose tags one call tells.
const TAGS_PAGE: usize = 20;

pub(crate) static ROW: Row = Row {
    model: &ClassicLoadBalancer,
    service: &ELB,
    prefix: "",
    unique: "elb-",
    not_found: "LoadBalancerNotFound",
    duplicate: "DuplicateLoadBalancerName",
    over_quota: "TooManyLoadBalancers",
    blocked: "ResourceInUse",
    tags_full: "TooManyTags",
    get: ELB.reads("DescribeLoadBalancers"),
    list: ELB.lists("DescribeLoadBalancers", PAGE),
    create: ELB.writes("CreateLoadBalancer"),
    update: ELB.writes("ConfigureHealthCheck"),
    delete: ELB.writes("DeleteLoadBalancer"),
    tag: ELB.writes("AddTags"),
    untag: ELB.writes("RemoveTags"),
    shows_tags: Some(ELB.lists("DescribeTags", TAGS_PAGE)),
    forgives: true,
    quota: 20,
    inner: &[
        InnerRow {
            list: ELB.reads("DescribeLoadBalancers"),
            add: ELB.writes("AttachLoadBalancerToSubnets"),
            remove: ELB.writes("DetachLoadBalancerFromSubnets"),
            ..ATTACHED
        },
        InnerRow {
            list: ELB.reads("DescribeLoadBalancers"),
            add: ELB.writes("ApplySecurityGroupsToLoadBalancer"),
            remove: ELB.writes("ApplySecurityGroupsToLoadBalancer"),
            ..ATTACHED
        },
        InnerRow {
            list: ELB.reads("DescribeLoadBalancers"),
            add: ELB.writes("CreateLoadBalancerListeners"),
            remove: ELB.writes("DeleteLoadBalancerListeners"),
            duplicate: "DuplicateListener",
            not_found: "ListenerNotFound",
            quota: 100,
            full: "TooManyListeners",
            told: Told::Always,
            ..OTHER_PART
        },
        InnerRow {
            list: ELB.reads("DescribeLoadBalancers"),
            add: ELB.writes("RegisterInstancesWithLoadBalancer"),
            remove: ELB.writes("DeregisterInstancesFromLoadBalancer"),
            ..ATTACHED
        },
    ],
    ..OTHER
};

/// Where the listeners stand in the declaration.
const LISTENER_PARTS: usize = 2;

#[derive(Debug)]
struct ClassicLoadBalancer;

impl Model for ClassicLoadBalancer {
    fn prepare(
        &self,
        account: &Account,
        order: &Order<'_>,
        props: &mut Props,
    ) -> Result<(), CloudError> {
        load_balancer::prepare(account, &ROW, order, props)?;
        let listeners = account.required(order, props, LISTENERS)?;
        let forwards: Result<Vec<Forward>, InputError> =
            listeners.split(',').map(str::parse).collect();
        let forwards = forwards.map_err(|error| ROW.invalid_create(error))?;
        // The call takes no health check: a new one asks for the first port.
        let (protocol, port) = match forwards.first() {
            Some(first) => (&first.to_protocol, first.to_port),
            None => (&"tcp".into(), 80),
        };
        let check = format!("{protocol} {port} every 30 timeout 5 healthy 10 unhealthy 2");
        load_balancer::without(props, &[LISTENERS]);
        props.set(HEALTH_CHECK, check.into());
        Ok(())
    }

    fn is_ready_at_once(&self) -> bool {
        true
    }

    fn is_born(&self, account: &mut Account, actor: Actor, id: &ResourceId, order: &Order<'_>) {
        let made = Target::new(&CLASSIC_LOAD_BALANCER, id.clone());
        load_balancer::attach(account, actor, &made, order);
        let listeners = order.props.get(LISTENERS).cloned();
        let listeners = listeners.unwrap_or_else(|| "".into());
        let parts = listeners.split(',').filter(|key| !key.is_empty());
        let parts: Vec<InnerPart> = parts
            .map(|key| InnerPart::new(key, "", Tags::new()))
            .collect();
        account.put_parts(actor, &made, LISTENER_PARTS, &parts);
    }

    fn users(&self, _: &Account, _: &State, _: &mut Vec<Blocker>) {}

    fn overlooks_missing_parts(&self, _: &Account, _: &State) -> bool {
        true
    }

    /// A port has one listener.
    fn check_part(
        &self,
        account: &Account,
        spot: Spot,
        on: &Target,
        part: &InnerPart,
    ) -> Result<(), CloudError> {
        if spot.declared.name == INSTANCE {
            return instance::check_registered(account, spot, part, "InvalidInstance");
        }
        if spot.declared.name != LISTENER {
            return load_balancer::check_attachment(account, &ROW, spot, part);
        }
        let op = spot.inner.add;
        let forward = part.key.parse::<Forward>();
        let forward =
            forward.map_err(|error| spot.refuse(op, ROW.service.invalid, error.to_string()))?;
        let mut others = account.parts(on, LISTENER).iter();
        let taken = others.find(|other| {
            let its = other.key.parse::<Forward>();
            other.key != part.key && its.is_ok_and(|its| its.port == forward.port)
        });
        match taken {
            None => Ok(()),
            Some(other) => {
                let message = format!("the port has the listener '{}'", other.key);
                Err(spot.refuse(op, "DuplicateListener", message))
            }
        }
    }
}
