//! Route tables.

use ownership::blueprint::{Expr, InnerWish};
use ownership::error::Counts;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::network::Network;
use super::{EC2_SETTLING, EC2_TOKEN, Entry, vpc};
use crate::sample::{PartSample, Sample};

/// A slot for the main route table of a VPC, which is only used; a recorded id comes before it.
pub fn find_main(slot: SlotName, vpc: Expr) -> Slot {
    let by = vec![("vpc", vpc), ("main", Expr::Text("true".into()))];
    Slot::find(slot, &ROUTE_TABLE, by)
}

/// A route table that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteTable {
    /// Its VPC.
    pub vpc: Expr,
    /// Where it leads besides the VPC itself.
    pub routes: Vec<Route>,
    /// The subnets that go by it, by id.
    pub subnets: Vec<Expr>,
}

/// Where a route table leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// To which addresses.
    pub destination: Network,
    /// Through what, by its id: an internet gateway, a NAT gateway, a peering, …
    pub through: Expr,
}

impl RouteTable {
    /// The slot for it.
    pub fn slot(self, slot: SlotName) -> Slot {
        let routes = self.routes.into_iter().map(|route| InnerWish {
            kind: ROUTE,
            key: Expr::Text(route.destination.to_string().into()),
            value: route.through,
        });
        let associations = self.subnets.into_iter().map(|subnet| InnerWish {
            kind: ASSOCIATION,
            key: subnet,
            value: "".into(),
        });
        Slot {
            props: vec![("vpc", self.vpc)],
            inner: routes.chain(associations).collect(),
            ..Slot::own(slot, &ROUTE_TABLE, "")
        }
    }
}

/// A route: the key is its destination, the value is the id of what it leads through. Routes carry no
/// tags. Those that the cloud keeps itself (within the VPC, or by propagation) are not parts.
pub const ROUTE: &str = "route";

/// The association with a subnet: the key is the subnet's id. A subnet has at most one; without one it
/// goes by the main table.
pub const ASSOCIATION: &str = "association";

/// The declaration.
pub static ROUTE_TABLE: Kind = Kind {
    name: "aws/route-table",
    noun: "route table",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: Some(EC2_TOKEN),
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Free,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: false,
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: EC2_SETTLING,
    course: Course::PLAIN,
    props: &[
        PropRule {
            name: "vpc",
            change: Change::Never,
        },
        PropRule {
            name: "main",
            change: Change::Never,
        },
    ],
    inner: &[
        InnerKind {
            name: ROUTE,
            noun: "route",
            proof: InnerProof::ParentMark,
            // `ReplaceRoute`, where there is one to that destination: nothing is cut off in between.
            create: CreateMode::Upsert,
            blocks_deletion: false,
            batch: false,
            single: false,
            comes_along: &[],
            born_with: None,
            is_listed: true,
        },
        InnerKind {
            name: ASSOCIATION,
            noun: "association",
            proof: InnerProof::ParentMark,
            create: CreateMode::Insert,
            blocks_deletion: true,
            batch: false,
            single: false,
            comes_along: &[],
            born_with: None,
            is_listed: true,
        },
    ],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 7] = [
    Code::quota("RouteTableLimitExceeded", "Route tables per VPC").counting(Counts::Within("vpc")),
    Code::quota("RouteLimitExceeded", "Routes per route table"),
    Code::new("RouteAlreadyExists", Class::Exists),
    // What the route leads through is not there, or not yet.
    Code::new("InvalidGatewayID.NotFound", Class::NotFound),
    Code::new("InvalidNatGatewayID.NotFound", Class::NotFound),
    // The subnet goes by another table. It may be the very one that we wanted, by a call whose answer was
    // lost: look again.
    Code::new("Resource.AlreadyAssociated", Class::Exists).to("AssociateRouteTable"),
    Code::new("InvalidParameterValue", Class::Fatal)
        .to("CreateRoute")
        .advice("check that the gateway is attached to the VPC of the route table"),
];

/// The routes lead through what is not of our Kinds. An association is with another resource: the
/// explorer walks it with a blueprint.
static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    parts: &[PartSample {
        inner: ROUTE,
        wanted: &[
            ("192.0.2.0/24", "tgw-0123456789abcdef0"),
            ("198.51.100.0/24", "tgw-0123456789abcdef0"),
        ],
        others: [
            ("203.0.113.0/24", "tgw-0123456789abcdef0"),
            ("203.0.113.0/25", "tgw-0123456789abcdef0"),
            ("203.0.113.128/25", "tgw-0123456789abcdef0"),
        ],
    }],
    refers: &[ASSOCIATION],
    ..Sample::of(&ROUTE_TABLE)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_waits_for_its_vpc_and_its_parts_for_what_they_lead_to() {
        let name = |name| SlotName::new(name).unwrap();
        let table = RouteTable {
            vpc: Expr::Slot(name("vpc")),
            routes: vec![Route {
                destination: Network::parse("destination", "0.0.0.0/0").unwrap(),
                through: Expr::Slot(name("gateway")),
            }],
            subnets: vec![Expr::Slot(name("subnet-a"))],
        };
        let slot = table.slot(name("public"));
        let needs: Vec<_> = slot.dependencies().map(SlotName::as_str).collect();
        assert_eq!(needs, ["vpc"]);
        let parts: Vec<_> = slot.inner_dependencies().map(SlotName::as_str).collect();
        assert_eq!(parts, ["gateway", "subnet-a"]);
    }

    #[test]
    fn it_is_looked_for_in_the_vpc_that_was_found() {
        let name = |name| SlotName::new(name).unwrap();
        let found = find_main(name("route-table"), Expr::Slot(name("vpc")));
        assert!(!found.is_own());
        let blueprint =
            ownership::Blueprint::new(vec![found, vpc::find_default(name("vpc"))]).unwrap();
        let order: Vec<_> = blueprint
            .slots()
            .iter()
            .map(|slot| slot.name.as_str())
            .collect();
        assert_eq!(order, ["vpc", "route-table"]);
    }
}
