//! Virtual private clouds.

use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::network::Network;
use super::{EC2_SETTLING, Entry};
use crate::sample::{Parent, Sample};

/// A slot for the region's default VPC, which is only used; a recorded id comes before it.
pub fn find_default(slot: SlotName) -> Slot {
    Slot::find(slot, &VPC, vec![("default", Expr::Text("true".into()))])
}

/// A VPC that a claim wants for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vpc {
    /// Its address range.
    pub cidr: Network,
}

impl Vpc {
    /// The slot for it.
    ///
    /// # Errors
    /// A range that EC2 does not accept for a VPC.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        if !self.cidr.is_v4() || !(16..=28).contains(&self.cidr.prefix()) {
            let rule = "must be an IPv4 range between /16 and /28";
            return Err(InputError::new("vpc cidr", &self.cidr.to_string(), rule));
        }
        Ok(Slot {
            props: vec![("cidr", Expr::Text(self.cidr.to_string().into()))],
            ..Slot::own(slot, &VPC, "")
        })
    }
}

/// The declaration.
pub static VPC: Kind = Kind {
    name: "aws/vpc",
    noun: "VPC",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Free,
    ids: Ids::Unique,
    has_creation_time: false,
    lists_marks: true,
    valuable: false,
    settling: EC2_SETTLING,
    props: &[
        PropRule {
            name: "cidr",
            change: Change::Never,
        },
        PropRule {
            name: "default",
            change: Change::Never,
        },
    ],
    inner: &[],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 3] = [
    Code::new("InvalidVpc.Range", Class::Fatal).advice("choose an IPv4 range between /16 and /28"),
    Code::new("DefaultVpcAlreadyExists", Class::Fatal),
    Code::new("VpcLimitExceeded", Class::Fatal)
        .advice("delete a VPC that nobody needs, or ask AWS for more"),
];

static SAMPLE: Sample = Sample {
    props: &[("cidr", "10.0.0.0/16")],
    beside: &[("cidr", "10.1.0.0/16")],
    blocked_by: Some("network interface"),
    ..Sample::of(&VPC)
};

/// For the samples of what lies in a VPC.
pub(super) const PARENT: Parent = Parent {
    prop: "vpc",
    sample: &SAMPLE,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(cidr: &str) -> Result<Slot, InputError> {
        let cidr = Network::parse("vpc cidr", cidr)?;
        Vpc { cidr }.slot(SlotName::new("vpc")?)
    }

    #[test]
    fn a_vpc_has_a_range_that_ec2_accepts() {
        let props = slot("10.1.2.3/16").unwrap().props;
        assert_eq!(props, [("cidr", Expr::Text("10.1.0.0/16".into()))]);
        for bad in ["10.0.0.0/15", "10.0.0.0/29", "2001:db8::/20"] {
            let error = slot(bad).unwrap_err().to_string();
            assert!(error.contains("between /16 and /28"), "{error}");
        }
    }

    #[test]
    fn the_default_vpc_is_found_and_never_created() {
        let slot = find_default(SlotName::new("vpc").unwrap());
        assert!(!slot.is_own());
        ownership::Blueprint::new(vec![slot]).unwrap();
    }
}
