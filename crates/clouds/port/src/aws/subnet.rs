//! Subnets.

use ownership::blueprint::{Expr, Source};
use ownership::error::Counts;
use ownership::input::InputError;
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::{Code, Service};
use super::network::Network;
use super::{EC2_SETTLING, Entry, check, vpc};
use crate::sample::{Parent, Sample};

/// A slot for all subnets of a VPC, which are only used.
pub fn find_all(slot: SlotName, vpc: Expr) -> Slot {
    let by = vec![("vpc", vpc)];
    let source = Source::Find {
        by,
        tags: Vec::new(),
        all: true,
    };
    Slot {
        source,
        ..Slot::find(slot, &SUBNET, Vec::new())
    }
}

/// A subnet that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subnet {
    /// Its VPC.
    pub vpc: Expr,
    /// Its address range, within that of the VPC.
    pub cidr: Network,
    /// Its zone, such as `eu-central-1a`.
    pub zone: Text,
    /// Whether machines in it get public addresses.
    pub public_ips: bool,
}

impl Subnet {
    /// The slot for it.
    ///
    /// # Errors
    /// A range that EC2 does not accept for a subnet, or no zone.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        if !self.cidr.is_v4() || !(16..=28).contains(&self.cidr.prefix()) {
            let rule = "must be an IPv4 range between /16 and /28";
            return Err(InputError::new("subnet cidr", &self.cidr.to_string(), rule));
        }
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let alphabet = "letters, digits and -";
        check::text("subnet zone", &self.zone, LONGEST_ZONE, legal, alphabet)?;
        let public_ips = if self.public_ips { "true" } else { "false" };
        Ok(Slot {
            props: vec![
                ("vpc", self.vpc),
                ("cidr", Expr::Text(self.cidr.to_string().into())),
                ("zone", Expr::Text(self.zone)),
                (PUBLIC_IPS, public_ips.into()),
            ],
            ..Slot::own(slot, &SUBNET, "")
        })
    }
}

/// The property that says whether machines in a subnet get public addresses: `true` or `false`. A new
/// one does not give them.
pub const PUBLIC_IPS: &str = "public-ips";

/// No name of a zone is nearly as long.
const LONGEST_ZONE: usize = 64;

/// The declaration.
pub static SUBNET: Kind = Kind {
    name: "aws/subnet",
    noun: "subnet",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
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
            name: "cidr",
            change: Change::Never,
        },
        PropRule {
            name: "zone",
            change: Change::Never,
        },
        PropRule {
            name: PUBLIC_IPS,
            change: Change::InPlace,
        },
    ],
    inner: &[],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 5] = [
    Code::new("InvalidSubnet.Range", Class::Fatal).advice("choose a range within that of the VPC"),
    Code::new("InvalidSubnet.Conflict", Class::Fatal)
        .advice("choose a range that no other subnet of the VPC has"),
    Code::new("InvalidZone.NotFound", Class::Fatal).advice("choose a zone of the region"),
    Code::new("InvalidAvailabilityZone", Class::Fatal).advice("choose a zone of the region"),
    Code::quota("SubnetLimitExceeded", "Subnets per VPC").counting(Counts::Within("vpc")),
];

/// Its ranges are in the default VPC, beside the subnets there.
static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    props: &[("cidr", "172.31.128.0/24"), ("zone", "zone-a")],
    beside: &[("cidr", "172.31.129.0/24")],
    moved: &[("cidr", "10.1.1.0/24")],
    changed: &[(PUBLIC_IPS, "true")],
    blocked_by: Some("network interface"),
    ..Sample::of(&SUBNET)
};

/// For the samples of what lies in a subnet.
pub(super) const PARENT: Parent = Parent {
    prop: "subnet",
    part: None,
    sample: &SAMPLE,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_has_a_range_that_ec2_accepts() {
        let slot = |cidr: &str, zone: &str| {
            let subnet = Subnet {
                vpc: Expr::Text("vpc-1".into()),
                cidr: Network::parse("subnet cidr", cidr)?,
                zone: zone.into(),
                public_ips: true,
            };
            subnet.slot(SlotName::new("subnet-a")?)
        };
        let props = slot("10.1.2.3/20", "eu-central-1a").unwrap().props;
        assert_eq!(props[1], ("cidr", Expr::Text("10.1.0.0/20".into())));
        assert_eq!(props[3], (PUBLIC_IPS, "true".into()));
        for bad in ["10.0.0.0/15", "10.0.0.0/29", "2001:db8::/64"] {
            let error = slot(bad, "eu-central-1a").unwrap_err().to_string();
            assert!(error.contains("between /16 and /28"), "{error}");
        }
        let error = slot("10.1.0.0/20", "").unwrap_err().to_string();
        assert!(error.contains("must not be empty"), "{error}");
    }

    #[test]
    fn it_is_looked_for_in_the_vpc_that_was_found() {
        let name = |name| SlotName::new(name).unwrap();
        let found = find_all(name("subnets"), Expr::Slot(name("vpc")));
        assert!(!found.is_own());
        let blueprint =
            ownership::Blueprint::new(vec![found, vpc::find_default(name("vpc"))]).unwrap();
        let order: Vec<_> = blueprint
            .slots()
            .iter()
            .map(|slot| slot.name.as_str())
            .collect();
        assert_eq!(order, ["vpc", "subnets"]);
    }
}
