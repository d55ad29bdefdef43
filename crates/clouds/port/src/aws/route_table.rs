//! Route tables.

use ownership::blueprint::Expr;
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName};

use super::errors::{Code, Service};
use super::{EC2_SETTLING, EC2_TOKEN, Entry, vpc};
use crate::sample::Sample;

/// A slot for the main route table of a VPC, which is only used; a recorded id comes before it.
pub fn find_main(slot: SlotName, vpc: Expr) -> Slot {
    let by = vec![("vpc", vpc), ("main", Expr::Text("true".into()))];
    Slot::find(slot, &ROUTE_TABLE, by)
}

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
    ids: Ids::Unique,
    has_creation_time: false,
    lists_marks: true,
    valuable: false,
    settling: EC2_SETTLING,
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
    inner: &[],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 1] = [Code::new("RouteTableLimitExceeded", Class::Fatal)
    .advice("delete a route table of the VPC that nobody needs, or ask AWS for more")];

static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    ..Sample::of(&ROUTE_TABLE)
};

#[cfg(test)]
mod tests {
    use super::*;

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
