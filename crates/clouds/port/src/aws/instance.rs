//! EC2 instances, with their security groups as parts.

use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::kind::{BirthProof, Change, CreateMode, Ids, Marking, Naming, PropRule};
use ownership::life::{Course, Failed, Lost};
use ownership::mark::Carrier;
use ownership::secret::{Secret, Secrets};
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::{Code, Service};
pub use super::load_balancer::{GROUP, GROUPS};
use super::load_balancer::{GROUP_PART, attachments};
use super::root_volume::RootVolume;
use super::{EC2_SETTLING, EC2_TOKEN, Entry, subnet};
use crate::sample::Sample;

/// An instance that a claim wants for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its image, by id.
    pub image: Text,
    /// Its type, such as `t3.large`.
    pub machine: Text,
    /// The subnet that it is in.
    pub subnet: Expr,
    /// Its security groups, by id.
    pub groups: Vec<Expr>,
    /// The name of the SSH key that may log in.
    pub key: Option<Text>,
    /// The name of its instance profile, which hands it a role.
    pub profile: Option<Text>,
    /// Its first volume, where it is not as the image says.
    pub root: Option<RootVolume>,
    /// What it is told at its first start, in base64.
    pub user_data: Option<Secret>,
}

impl Instance {
    /// The slot for it.
    ///
    /// # Errors
    /// The field, and the rule of EC2 that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        for (field, text) in [
            ("instance image", &self.image),
            ("instance type", &self.machine),
        ] {
            if text.is_empty() {
                return Err(InputError::new(field, "", "must be set"));
            }
        }
        if let Some(data) = &self.user_data {
            check_user_data(data)?;
        }
        let mut props = vec![
            (IMAGE, Expr::Text(self.image)),
            (TYPE, Expr::Text(self.machine)),
            ("subnet", self.subnet),
        ];
        let (groups, inner) = attachments(GROUP, &self.groups);
        if !self.groups.is_empty() {
            props.push((GROUPS, groups));
        }
        props.extend(self.key.map(|key| (KEY, Expr::Text(key))));
        props.extend(self.profile.map(|name| (PROFILE, Expr::Text(name))));
        if let Some(root) = self.root {
            root.check()?;
            props.push((ROOT_VOLUME, Expr::Text(root.to_string().into())));
        }
        let data = self.user_data.map(|data| (USER_DATA, data));
        Ok(Slot {
            props,
            inner,
            secrets: data.into_iter().collect::<Secrets>(),
            ..Slot::own(slot, &INSTANCE, "")
        })
    }
}

/// The property with the id of its image.
pub const IMAGE: &str = "image";

/// The property with its type.
pub const TYPE: &str = "type";

/// The property with the name of its SSH key.
pub const KEY: &str = "key-name";

/// The property with the name of its instance profile.
pub const PROFILE: &str = "profile";

/// The property of the create call that says of what sort its first volume is, as [`RootVolume`] is
/// spelled.
pub const ROOT_VOLUME: &str = "root-volume";

/// The secret that it is told at its first start, in base64.
pub const USER_DATA: &str = "user-data";

/// The property with its zone.
pub const ZONE: &str = "zone";

/// The property with its address within its network.
pub const PRIVATE_IP: &str = "private-ip";

/// The property with its name within its network.
pub const PRIVATE_DNS: &str = "private-dns";

/// The property with its public address; empty without one.
pub const PUBLIC_IP: &str = "public-ip";

/// The property with its public name; empty without one.
pub const PUBLIC_DNS: &str = "public-dns";

/// How many bytes of user data EC2 takes, before they are written in base64.
pub const MOST_USER_DATA: usize = 16 * 1024;

/// How many bytes these characters of base64 stand for.
fn bytes_in_base64(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

/// Checks that EC2 takes as much.
fn check_user_data(data: &Secret) -> Result<(), InputError> {
    let bytes = bytes_in_base64(data.reveal());
    if bytes <= MOST_USER_DATA {
        return Ok(());
    }
    let rule = format!("must have at most {MOST_USER_DATA} bytes");
    Err(InputError::new(
        "instance user data",
        &format!("{bytes} bytes"),
        rule,
    ))
}

/// The declaration. It is more than its properties: one that is gone is told and not made again. Its client
/// token keeps a create whose answer was lost from making another one.
pub static INSTANCE: Kind = Kind {
    name: "aws/instance",
    noun: "instance",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: Some(EC2_TOKEN),
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Free,
    names: ownership::name::NameRule::longest(255),
    ids: Ids::Unique,
    has_creation_time: true,
    recorded: true,
    lists_marks: true,
    valuable: false,
    settling: EC2_SETTLING,
    course: Course {
        lingers: true,
        failed: Failed::Reported,
        lost: Lost::Reported,
        ..Course::PLAIN
    },
    props: &[
        fixed(IMAGE, Change::Never),
        fixed(TYPE, Change::Never),
        fixed("subnet", Change::Never),
        fixed(KEY, Change::Never),
        fixed(PROFILE, Change::Never),
        fixed(ROOT_VOLUME, Change::Irrelevant),
        fixed(GROUPS, Change::Irrelevant),
        fixed(USER_DATA, Change::Secret),
        fixed(ZONE, Change::Given),
        fixed(PRIVATE_IP, Change::Given),
        fixed(PRIVATE_DNS, Change::Given),
        fixed(PUBLIC_IP, Change::Given),
        fixed(PUBLIC_DNS, Change::Given),
    ],
    inner: &[GROUP_PART],
};

const fn fixed(name: &'static str, change: Change) -> PropRule {
    PropRule { name, change }
}

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 14] = [
    Code::new("InsufficientInstanceCapacity", Class::Retryable)
        .advice("AWS has no such machine left in the zone: wait, or choose another type or zone"),
    Code::new("InsufficientHostCapacity", Class::Retryable),
    Code::quota("InstanceLimitExceeded", "Running On-Demand instances"),
    Code::quota("VcpuLimitExceeded", "Running On-Demand instances"),
    Code::new("Unsupported", Class::Fatal)
        .to("RunInstances")
        .advice("choose a type that the zone offers, or another zone"),
    Code::new("InvalidAMIID.NotFound", Class::Fatal)
        .to("RunInstances")
        .advice("choose an image of this region that the account may use"),
    Code::new("InvalidAMIID.Unavailable", Class::Fatal)
        .to("RunInstances")
        .advice("choose an image that is available"),
    Code::new("InvalidKeyPair.NotFound", Class::Fatal)
        .to("RunInstances")
        .advice("choose an SSH key of this region"),
    Code::new("InsufficientFreeAddressesInSubnet", Class::Fatal)
        .advice("free an address in the subnet, or choose another subnet"),
    Code::new("UnauthorizedOperation", Class::Fatal)
        .to("RunInstances")
        .advice(
            "give the identity that calls a policy which allows ec2:RunInstances, and iam:PassRole for the \
             role in the instance profile",
        ),
    // Whoever set the protection against termination means it.
    Code::new("OperationNotPermitted", Class::Fatal)
        .to("TerminateInstances")
        .advice("switch off the instance's protection against termination"),
    Code::new("IncorrectInstanceState", Class::Retryable),
    Code::new("InvalidInstanceType", Class::Fatal).advice("choose a type of the region"),
    Code::new("SecurityGroupsPerInterfaceLimitExceeded", Class::Fatal)
        .advice("name fewer security groups"),
];

static SAMPLE: Sample = Sample {
    parent: Some(subnet::PARENT),
    props: &[(IMAGE, "ami-0123456789abcdef0"), (TYPE, "t3.large")],
    refers: &[GROUP],
    ..Sample::of(&INSTANCE)
};

#[cfg(test)]
mod tests {
    use super::*;

    fn instance() -> Instance {
        Instance {
            image: "ami-1".into(),
            machine: "t3.large".into(),
            subnet: "subnet-1".into(),
            groups: vec!["sg-1".into(), "sg-2".into()],
            key: None,
            profile: Some("nodes".into()),
            root: None,
            user_data: Some(Secret::new("aGVsbG8=", "uid")),
        }
    }

    fn slot(instance: Instance) -> Result<Slot, InputError> {
        instance.slot(SlotName::new("instance").unwrap())
    }

    #[test]
    fn groups_ride_on_the_create_call_and_become_parts() {
        let slot = slot(instance()).unwrap();
        let inner: Vec<_> = slot.inner.iter().map(|wish| wish.key.to_string()).collect();
        assert_eq!(inner, ["sg-1", "sg-2"]);
        let names: Vec<_> = slot.props.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, [IMAGE, TYPE, "subnet", GROUPS, PROFILE]);
        assert!(slot.secrets.get(USER_DATA).is_some());
        ownership::Blueprint::new(vec![slot]).unwrap();
    }

    #[test]
    fn user_data_that_ec2_does_not_take_is_refused_with_its_size() {
        let with = |bytes: usize| {
            let text = "A".repeat(bytes.div_ceil(3) * 4);
            slot(Instance {
                user_data: Some(Secret::new(text, "uid")),
                ..instance()
            })
        };
        assert!(with(MOST_USER_DATA - 1).is_ok());
        let error = with(MOST_USER_DATA + 3).unwrap_err().to_string();
        assert!(error.contains("at most 16384 bytes"), "{error}");
        assert_eq!(bytes_in_base64("aGVsbG8="), 5);
    }
}
