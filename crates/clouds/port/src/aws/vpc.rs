//! Virtual private clouds.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::network::Network;
use super::{EC2_SETTLING, Entry};
use crate::sample::{Parent, PartSample, Sample};

/// A slot for the region's default VPC, which is only used; a recorded id comes before it.
pub fn find_default(slot: SlotName) -> Slot {
    Slot::find(slot, &VPC, vec![("default", Expr::Text("true".into()))])
}

/// A VPC that a claim wants for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vpc {
    /// Its address range.
    pub cidr: Network,
    /// Whether the DNS server of AWS answers in it.
    pub dns_support: bool,
    /// Whether machines with public addresses get public host names; needs `dns_support`.
    pub dns_hostnames: bool,
}

impl Vpc {
    /// The slot for it.
    ///
    /// # Errors
    /// A range that EC2 does not accept for a VPC, or host names without DNS.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        if !self.cidr.is_v4() || !(16..=28).contains(&self.cidr.prefix()) {
            let rule = "must be an IPv4 range between /16 and /28";
            return Err(InputError::new("vpc cidr", &self.cidr.to_string(), rule));
        }
        if self.dns_hostnames && !self.dns_support {
            let rule = "needs DNS support: EC2 gives no host names without it";
            return Err(InputError::new("vpc DNS host names", "true", rule));
        }
        let wanted = [
            (DNS_SUPPORT, self.dns_support),
            (DNS_HOSTNAMES, self.dns_hostnames),
        ];
        let on = wanted.into_iter().filter(|(_, on)| *on);
        let attributes = on.map(|(key, _)| InnerWish {
            kind: DNS_ATTRIBUTE,
            key: key.into(),
            value: "".into(),
        });
        Ok(Slot {
            props: vec![("cidr", Expr::Text(self.cidr.to_string().into()))],
            inner: attributes.collect(),
            // What is not wanted is switched off.
            exclusive: vec![DNS_ATTRIBUTE],
            ..Slot::own(slot, &VPC, "")
        })
    }
}

/// A DNS attribute that is switched on. One that is off is not there.
pub const DNS_ATTRIBUTE: &str = "dns-attribute";
/// The DNS server of AWS answers in the VPC. It is on in a new one.
pub const DNS_SUPPORT: &str = "enableDnsSupport";
/// Machines with public addresses get public host names.
pub const DNS_HOSTNAMES: &str = "enableDnsHostnames";

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
            name: "cidr",
            change: Change::Never,
        },
        PropRule {
            name: "default",
            change: Change::Never,
        },
    ],
    inner: &[InnerKind {
        name: DNS_ATTRIBUTE,
        noun: "DNS attribute",
        proof: InnerProof::ParentMark,
        // What is on is switched on again without a word.
        create: CreateMode::Upsert,
        blocks_deletion: false,
        batch: false,
        single: false,
        comes_along: &[DNS_SUPPORT],
        born_with: None,
        // `DescribeVpcs` does not tell them.
        is_listed: false,
    }],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 3] = [
    Code::new("InvalidVpc.Range", Class::Fatal).advice("choose an IPv4 range between /16 and /28"),
    Code::new("DefaultVpcAlreadyExists", Class::Fatal),
    Code::quota("VpcLimitExceeded", "VPCs per Region"),
];

static SAMPLE: Sample = Sample {
    props: &[("cidr", "10.0.0.0/16")],
    beside: &[("cidr", "10.1.0.0/16")],
    // There are no others that somebody else could switch on.
    parts: &[PartSample {
        inner: DNS_ATTRIBUTE,
        wanted: &[(DNS_SUPPORT, ""), (DNS_HOSTNAMES, "")],
        others: [(DNS_HOSTNAMES, ""); 3],
    }],
    blocked_by: Some("network interface"),
    ..Sample::of(&VPC)
};

/// For the samples of what lies in a VPC.
pub(super) const PARENT: Parent = Parent {
    prop: "vpc",
    part: None,
    sample: &SAMPLE,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(cidr: &str) -> Result<Slot, InputError> {
        let cidr = Network::parse("vpc cidr", cidr)?;
        let (dns_support, dns_hostnames) = (true, true);
        let vpc = Vpc {
            cidr,
            dns_support,
            dns_hostnames,
        };
        vpc.slot(SlotName::new("vpc")?)
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
    fn dns_attributes_are_wished_for_and_what_is_not_is_switched_off() {
        let cidr = Network::parse("vpc cidr", "10.0.0.0/16").unwrap();
        let keys = |dns_support, dns_hostnames| {
            let vpc = Vpc {
                cidr,
                dns_support,
                dns_hostnames,
            };
            let slot = vpc.slot(SlotName::new("vpc").unwrap())?;
            assert_eq!(slot.exclusive, [DNS_ATTRIBUTE]);
            let keys = slot.inner.iter().map(|wish| wish.key.to_string());
            Ok::<_, InputError>(keys.collect::<Vec<_>>())
        };
        assert_eq!(keys(true, true).unwrap(), [DNS_SUPPORT, DNS_HOSTNAMES]);
        assert_eq!(keys(true, false).unwrap(), [DNS_SUPPORT]);
        assert!(keys(false, false).unwrap().is_empty());
        let error = keys(false, true).unwrap_err().to_string();
        assert!(error.contains("needs DNS support"), "{error}");
    }

    #[test]
    fn the_default_vpc_is_found_and_never_created() {
        let slot = find_default(SlotName::new("vpc").unwrap());
        assert!(!slot.is_own());
        ownership::Blueprint::new(vec![slot]).unwrap();
    }
}
