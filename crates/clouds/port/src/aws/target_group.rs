//! Target groups: where network load balancers forward to.

use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::{Code, Service};
use super::health_check::HealthCheck;
pub use super::load_balancer::{HEALTH_CHECK, fit_name};
use super::load_balancer::{NAMES, check_name};
use super::{ELB_SETTLING, Entry, vpc};
use crate::sample::Sample;

/// A target group for TCP that a claim wants for itself. Whoever has targets registers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetGroup {
    /// Its name, unique in the account and region; [`fit_name`] makes one of what is derived.
    pub name: Text,
    /// The VPC of its targets.
    pub vpc: Expr,
    /// The port of its targets.
    pub port: u16,
    /// What its targets are.
    pub targets: Targets,
    /// How the load balancer finds out which of them can be used.
    pub health_check: HealthCheck,
}

/// What the targets of a group are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Instances, by id.
    Instances,
    /// Addresses.
    Addresses,
}

impl TargetGroup {
    /// The slot for it.
    ///
    /// # Errors
    /// The field, and the rule of Elastic Load Balancing that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        check_name("target group name", &self.name)?;
        self.health_check.check()?;
        if self.health_check.probe.protocol() == "ssl" {
            let text = self.health_check.to_string();
            let rule = "must be by tcp, http or https: target groups know no other";
            return Err(InputError::new("health check", &text, rule));
        }
        let targets = match self.targets {
            Targets::Instances => "instance",
            Targets::Addresses => "ip",
        };
        Ok(Slot {
            props: vec![
                ("vpc", self.vpc),
                ("protocol", "tcp".into()),
                ("port", Expr::Text(self.port.to_string().into())),
                (TARGETS, targets.into()),
                (HEALTH_CHECK, Expr::Text(self.health_check.text())),
            ],
            ..Slot::own(slot, &TARGET_GROUP, self.name)
        })
    }
}

/// The property that says what its targets are: `instance` or `ip`.
pub const TARGETS: &str = "targets";

/// A target: the key is the id of an instance, or an address. Its port is the group's.
pub const TARGET: &str = "target";

/// The declaration. Its id is its ARN.
pub static TARGET_GROUP: Kind = Kind {
    name: "aws/target-group",
    noun: "target group",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: false,
    naming: Naming::Account,
    names: NAMES,
    ids: Ids::Unique,
    has_creation_time: false,
    recorded: true,
    lists_marks: true,
    valuable: false,
    settling: ELB_SETTLING,
    course: Course::PLAIN,
    props: &[
        PropRule {
            name: "vpc",
            change: Change::Never,
        },
        PropRule {
            name: "protocol",
            change: Change::Never,
        },
        PropRule {
            name: "port",
            change: Change::Never,
        },
        PropRule {
            name: TARGETS,
            change: Change::Never,
        },
        PropRule {
            name: HEALTH_CHECK,
            change: Change::InPlace,
        },
    ],
    inner: &[InnerKind {
        name: TARGET,
        noun: "target",
        proof: InnerProof::ParentMark,
        // To register it again is nothing.
        create: CreateMode::Upsert,
        blocks_deletion: false,
        batch: true,
        single: false,
        comes_along: &[],
        born_with: None,
        // `DescribeTargetHealth` wants to know of which group.
        is_listed: false,
    }],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Elbv2,
    codes: &CODES,
};

static CODES: [Code; 5] = [
    Code::new("DuplicateTargetGroupName", Class::Exists),
    Code::quota("TooManyTargetGroups", "Target Groups per Region"),
    Code::new("TargetGroupNotFound", Class::NotFound),
    Code::new("InvalidTarget", Class::Fatal).advice("a target must run, in the VPC of its group"),
    Code::quota("TooManyTargets", "Targets per Target Group per Region"),
];

static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    props: &[
        ("protocol", "tcp"),
        ("port", "6443"),
        (TARGETS, "instance"),
        (
            HEALTH_CHECK,
            "tcp 6443 every 10 timeout 5 healthy 5 unhealthy 3",
        ),
    ],
    changed: &[(
        HEALTH_CHECK,
        "tcp 6443 every 30 timeout 5 healthy 5 unhealthy 3",
    )],
    refers: &[TARGET],
    ..Sample::of(&TARGET_GROUP)
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::health_check::Probe;

    #[test]
    fn a_target_group_knows_no_ssl_check() {
        let group = |probe| TargetGroup {
            name: "prod".into(),
            vpc: "vpc-1".into(),
            port: 6443,
            targets: Targets::Addresses,
            health_check: HealthCheck {
                probe,
                ..HealthCheck::tcp(6443)
            },
        };
        let slot = |probe| group(probe).slot(SlotName::new("targets").unwrap());
        assert_eq!(slot(Probe::Tcp).unwrap().props[3], (TARGETS, "ip".into()));
        let error = slot(Probe::Ssl).unwrap_err().to_string();
        assert!(error.contains("tcp, http or https"), "{error}");
    }
}
