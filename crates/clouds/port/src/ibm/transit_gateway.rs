//! Transit gateways, with their connections as parts.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{Change, InnerKind, PropRule};
use ownership::name::NameRule;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::{CRN, Entry, MARKED_LATER, NAME, PART, RESOURCE_GROUP, SLOW, fixed, given};
use crate::code::Code;
use crate::sample::{PartSample, Sample};

/// A transit gateway that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitGateway {
    /// Its name, unique in the account.
    pub name: Text,
    /// The region that it is in.
    pub location: Text,
    /// Whether it connects networks of other regions than its own.
    pub is_global: bool,
    /// The id of its resource group.
    pub resource_group: Expr,
    /// The networks that it connects.
    pub connections: Vec<Connection>,
}

/// A network that a gateway connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// What sort of network.
    pub sort: NetworkSort,
    /// Its CRN: that of a VPC, or of a workspace.
    pub network: Expr,
}

/// The sorts of networks that are connected here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkSort {
    /// A VPC.
    Vpc,
    /// All networks of a workspace.
    PowerVirtualServer,
}

impl NetworkSort {
    /// As the API spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vpc => "vpc",
            Self::PowerVirtualServer => "power_virtual_server",
        }
    }
}

impl Connection {
    /// The wish for it, in a gateway of ours or somebody's.
    pub fn wish(&self) -> InnerWish {
        let sort = format!("{} ", self.sort.as_str());
        InnerWish {
            kind: CONNECTION,
            key: Expr::join([Expr::Text(sort.into()), self.network.clone()]),
            value: "".into(),
        }
    }
}

impl TransitGateway {
    /// The slot for it.
    ///
    /// # Errors
    /// A name that the service does not accept.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        check_name(&self.name)?;
        let is_global = if self.is_global { "true" } else { "false" };
        Ok(Slot {
            props: vec![
                (LOCATION, Expr::Text(self.location)),
                (GLOBAL, is_global.into()),
                (RESOURCE_GROUP, self.resource_group),
            ],
            inner: self.connections.iter().map(Connection::wish).collect(),
            ..Slot::own(slot, &TRANSIT_GATEWAY, self.name)
        })
    }
}

/// Checks the name of a gateway.
///
/// # Errors
/// The broken rule.
pub fn check_name(name: &str) -> Result<(), InputError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let framed = |c: char| c.is_ascii_alphanumeric();
    let is_legal = name.len() <= 63
        && name.chars().all(legal)
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.ends_with(framed);
    if is_legal {
        return Ok(());
    }
    let rule =
        "must have at most 63 letters, digits, - and _, a letter first, a letter or digit last";
    Err(InputError::new("transit gateway name", name, rule))
}

/// A connection: its key is the sort of network and its CRN (`vpc crn:v1:…`), of which a gateway connects
/// each only once. It carries no tags: a mark on the gateway has a hash of the key, since a CRN does not fit
/// into a tag ([decision 16](../../../../../docs/decisions/0016-children-without-marks.md)).
pub const CONNECTION: &str = "connection";
/// The property with the region.
pub const LOCATION: &str = "location";
/// The property that says whether it connects networks of other regions.
pub const GLOBAL: &str = "global";

/// The declaration.
pub static TRANSIT_GATEWAY: Kind = Kind {
    name: "ibm/transit-gateway",
    noun: "transit gateway",
    names: NameRule::longest(63),
    course: SLOW,
    props: &[
        fixed(LOCATION),
        PropRule {
            name: GLOBAL,
            change: Change::InPlace,
        },
        fixed(RESOURCE_GROUP),
        given(CRN),
        given(NAME),
    ],
    inner: &[InnerKind {
        name: CONNECTION,
        noun: "connection",
        blocks_deletion: true,
        // One call lists those of all gateways.
        is_listed: true,
        ..PART
    }],
    ..MARKED_LATER
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::TransitGateway,
    codes: &CODES,
};

static CODES: [Code; 3] = [
    // "A gateway with the same name already exists."
    Code::new("HTTP 409", Class::Exists).to("CreateTransitGateway"),
    // "The requested network is already connected to an existing transit gateway."
    Code::new("HTTP 409", Class::Exists).to("CreateTransitGatewayConnection"),
    Code::new("HTTP 409", Class::Blocked(Vec::new())).to("DeleteTransitGateway"),
];

static SAMPLE: Sample = Sample {
    props: &[
        (LOCATION, "us-south"),
        (GLOBAL, "false"),
        (RESOURCE_GROUP, "group-of-the-account"),
    ],
    changed: &[(GLOBAL, "true")],
    parts: &[PartSample {
        inner: CONNECTION,
        wanted: &[
            ("vpc crn:v1:bluemix:public:is:us-south:a/1::vpc:r006-a", ""),
            (
                "power_virtual_server crn:v1:bluemix:public:power-iaas:dal10:a/1:a::",
                "",
            ),
        ],
        others: [
            ("vpc crn:v1:bluemix:public:is:us-south:a/1::vpc:r006-b", ""),
            ("vpc crn:v1:bluemix:public:is:us-south:a/1::vpc:r006-c", ""),
            ("vpc crn:v1:bluemix:public:is:us-south:a/1::vpc:r006-d", ""),
        ],
    }],
    ..Sample::of(&TRANSIT_GATEWAY)
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_keyed_by_what_they_connect() {
        let vpc = SlotName::new("vpc").unwrap();
        let connection = Connection {
            sort: NetworkSort::Vpc,
            network: Expr::Prop(vpc, CRN),
        };
        assert_eq!(connection.wish().key.to_string(), "vpc <crn of vpc>");
    }

    #[test]
    fn a_name_is_what_the_service_accepts() {
        assert_eq!(check_name("Prod_gateway-1"), Ok(()));
        for bad in ["", "1st", "prod-", "a.b", &"a".repeat(64)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
