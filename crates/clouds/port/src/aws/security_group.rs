//! Security groups, with their ingress rules as parts.

use std::collections::BTreeSet;

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::{Code, Service};
pub use super::rule::{Icmp, OtherProtocol, Peer, Ports, Rule, Traffic};
use super::{EC2_SETTLING, Entry, check, vpc};
use crate::sample::{PartSample, Sample};

/// A security group that a claim wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityGroup {
    /// Its name, unique in its VPC.
    pub name: Text,
    /// Its description; it can never be changed.
    pub description: Text,
    /// Its VPC.
    pub vpc: Expr,
    /// Who may reach its members.
    pub rules: Vec<Rule>,
    /// The groups of other slots whose members may reach its members. Two groups can let each other in.
    pub groups: Vec<FromGroup>,
}

/// The members of the group of another slot may come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromGroup {
    /// What may come.
    pub traffic: Traffic,
    /// The group: its id.
    pub group: Expr,
}

impl SecurityGroup {
    /// The slot for it.
    ///
    /// # Errors
    /// The field, and the rule of EC2 that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        check_name(&self.name)?;
        check::text(
            "security group description",
            &self.description,
            LONGEST,
            is_legal,
            ALPHABET,
        )?;
        let mut seen = BTreeSet::new();
        let mut rules = self.rules;
        rules.retain(|rule| seen.insert(rule.clone()));
        check_rules(&rules)?;
        let inner = rules.iter().map(|rule| InnerWish {
            kind: RULE,
            key: Expr::Text(rule.key()),
            value: "".into(),
        });
        let groups = self.groups.into_iter().map(|from| InnerWish {
            kind: RULE,
            key: Expr::join([from.traffic.key_from("").into(), from.group]),
            value: "".into(),
        });
        Ok(Slot {
            props: vec![
                ("vpc", self.vpc),
                ("description", Expr::Text(self.description)),
            ],
            inner: inner.chain(groups).collect(),
            ..Slot::own(slot, &SECURITY_GROUP, self.name)
        })
    }
}

/// The name of the group that every VPC comes with.
pub const DEFAULT_NAME: &str = "default";

const LONGEST: usize = 255;
const ALPHABET: &str = "letters, digits, spaces and . _ - : / ( ) # , @ [ ] + = & ; { } ! $ *";

/// Checks a name against the rules of EC2.
///
/// # Errors
/// The broken rule.
pub fn check_name(name: &str) -> Result<(), InputError> {
    let field = "security group name";
    check::text(field, name, LONGEST, is_legal, ALPHABET)?;
    let rule = if name.starts_with("sg-") {
        "must not begin with 'sg-', which is for ids"
    } else if name == DEFAULT_NAME {
        "is reserved for the group that every VPC comes with"
    } else if name.ends_with(' ') {
        "must not end with a space, which EC2 would cut off"
    } else {
        return Ok(());
    };
    Err(InputError::new(field, name, rule))
}

/// The most rules of one family of addresses that a group can hold, whatever the account's quota: EC2
/// keeps its product with the groups of an interface at this.
const MOST_RULES: usize = 1000;

/// Checks that rules make sense and that one group can hold them all; each is there once.
///
/// # Errors
/// The rule of EC2 that they break.
pub fn check_rules(rules: &[Rule]) -> Result<(), InputError> {
    for rule in rules {
        rule.check()?;
    }
    for v4 in [true, false] {
        // What names no range counts for both families.
        let counts = |rule: &&Rule| match rule.peer {
            Peer::Network(network) => network.is_v4() == v4,
            _ => true,
        };
        let number = rules.iter().filter(counts).count();
        if number > MOST_RULES {
            let family = if v4 { "IPv4" } else { "IPv6" };
            let rule = format!(
                "are too many: EC2 keeps at most {MOST_RULES} rules for {family} in a group"
            );
            return Err(InputError::new(
                "security group rules",
                &number.to_string(),
                rule,
            ));
        }
    }
    Ok(())
}

fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(c)
}

/// Ingress rules. A rule carries tags of its own.
pub const RULE: &str = "rule";

/// The declaration.
pub static SECURITY_GROUP: Kind = Kind {
    name: "aws/security-group",
    noun: "security group",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: true,
    naming: Naming::Within("vpc"),
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
            name: "description",
            change: Change::Irrelevant,
        },
    ],
    inner: &[InnerKind {
        name: RULE,
        noun: "rule",
        proof: InnerProof::OwnMark,
        create: CreateMode::Insert,
        blocks_deletion: false,
        batch: true,
        single: false,
        comes_along: &[],
        born_with: None,
        is_listed: true,
    }],
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Ec2,
    codes: &CODES,
};

static CODES: [Code; 9] = [
    Code::new("InvalidGroup.Duplicate", Class::Exists),
    Code::new("InvalidPermission.Duplicate", Class::Exists),
    Code::new("InvalidGroup.InUse", Class::Blocked(Vec::new())),
    Code::new("InvalidGroup.Reserved", Class::Fatal).advice("choose another name"),
    Code::new("InvalidPermission.Malformed", Class::Fatal),
    // The group that every VPC comes with.
    Code::new("CannotDelete", Class::Fatal),
    Code::new("VPCIdNotSpecified", Class::Fatal)
        .advice("say which VPC: the region has no default VPC"),
    Code::quota(
        "SecurityGroupLimitExceeded",
        "VPC security groups per Region",
    ),
    Code::quota(
        "RulesPerSecurityGroupLimitExceeded",
        "Inbound or outbound rules per security group",
    ),
];

static SAMPLE: Sample = Sample {
    parent: Some(vpc::PARENT),
    props: &[("description", "of the cluster prod")],
    parts: &[PartSample {
        inner: RULE,
        wanted: &[
            ("ingress tcp 22-22 0.0.0.0/0", ""),
            ("ingress icmp all 0.0.0.0/0", ""),
        ],
        others: [
            ("ingress tcp 443-443 0.0.0.0/0", ""),
            ("ingress tcp 8443-8443 0.0.0.0/0", ""),
            ("ingress tcp 4444-4444 192.0.2.0/24", ""),
        ],
    }],
    blocked_by: Some("network interface"),
    ..Sample::of(&SECURITY_GROUP)
};

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, rules: &[&str]) -> Result<Slot, InputError> {
        let group = SecurityGroup {
            name: name.into(),
            description: "nodes of a cluster".into(),
            vpc: Expr::Text("vpc-1".into()),
            rules: rules.iter().map(|rule| rule.parse().unwrap()).collect(),
            groups: Vec::new(),
        };
        group.slot(SlotName::new("security-group").unwrap())
    }

    #[test]
    fn a_slot_has_the_canonical_rules() {
        let slot = group("nodes", &["6 22 10.1.2.3/8", "all self"]).unwrap();
        let keys: Vec<_> = slot.inner.iter().map(|wish| wish.key.clone()).collect();
        let text = |key: &str| Expr::Text(key.into());
        assert_eq!(
            keys,
            [
                text("ingress tcp 22-22 10.0.0.0/8"),
                text("ingress all all self")
            ]
        );
        assert_eq!(&*slot.label, "nodes");
        ownership::Blueprint::new(vec![slot]).unwrap();
    }

    #[test]
    fn two_spellings_of_one_rule_are_one_wish() {
        let slot = group(
            "nodes",
            &["tcp 22 10.0.0.0/8", "udp 53 self", "6 22-22 10.9.9.9/8"],
        );
        assert_eq!(slot.unwrap().inner.len(), 2);
    }

    fn ranges(number: u32, spell: fn(u32) -> String) -> Result<Slot, InputError> {
        let rules: Vec<String> = (0..number)
            .map(|n| format!("tcp 22 {}", spell(n)))
            .collect();
        group(
            "nodes",
            &rules.iter().map(String::as_str).collect::<Vec<_>>(),
        )
    }

    fn v4(n: u32) -> String {
        format!("10.{}.{}.0/24", n >> 8, n & 255)
    }

    #[test]
    fn a_group_holds_a_thousand_rules_of_a_family() {
        assert!(ranges(1000, v4).is_ok());
        assert_eq!(
            ranges(1001, v4).unwrap_err().to_string(),
            "security group rules: \"1001\" are too many: EC2 keeps at most 1000 rules for IPv4 in \
             a group"
        );
        let mixed = |n| {
            if n < 1000 {
                v4(n)
            } else {
                format!("2001:db8:{n:x}::/48")
            }
        };
        assert!(ranges(2000, mixed).is_ok());
        assert!(ranges(2001, mixed).unwrap_err().rule.contains("IPv6"));
        // Comparing each with all before it would take minutes.
        assert_eq!(ranges(20_000, |n| v4(n % 500)).unwrap().inner.len(), 500);
        assert!(ranges(20_000, v4).is_err());
    }

    #[test]
    fn ping_speaks_the_language_of_its_range() {
        let rule =
            |rule: &str| group("nodes", &[rule]).map_or_else(|e| e.to_string(), |_| String::new());
        assert_eq!(
            rule("icmp 8 ::/0"),
            "rule: \"ingress icmp 8/all ::/0\" must have icmpv6 for a range of IPv6 addresses"
        );
        assert_eq!(
            rule("icmpv6 10.0.0.0/8"),
            "rule: \"ingress icmpv6 all 10.0.0.0/8\" must have icmp for a range of IPv4 addresses"
        );
        for right in [
            "icmp 10.0.0.0/8",
            "icmpv6 ::/0",
            "icmpv6 self",
            "tcp 22 ::/0",
        ] {
            assert_eq!(rule(right), "", "{right}");
        }
    }

    #[test]
    fn two_groups_can_let_each_other_in() {
        let name = |name: &str| SlotName::new(name).unwrap();
        let group = |own: &str, other: &str| {
            let group = SecurityGroup {
                name: own.into(),
                description: "of a cluster".into(),
                vpc: Expr::Text("vpc-1".into()),
                rules: Vec::new(),
                groups: vec![FromGroup {
                    traffic: Traffic::Tcp(Ports::one(443)),
                    group: Expr::Slot(name(other)),
                }],
            };
            group.slot(name(own)).unwrap()
        };
        let slots = vec![group("nodes", "masters"), group("masters", "nodes")];
        assert_eq!(
            slots[0].inner[0].key.to_string(),
            "ingress tcp 443-443 <masters>"
        );
        ownership::Blueprint::new(slots).unwrap();
        // What it comes to is the spelling of such a rule.
        let id = "sg-0123456789abcdef0";
        let rule: Rule = format!("tcp 443 {id}").parse().unwrap();
        assert_eq!(rule.traffic.key_from(id), rule.key());
    }

    #[test]
    fn names_obey_ec2() {
        let rule = |name: &str| group(name, &[]).unwrap_err().to_string();
        assert!(rule("sg-nodes").contains("must not begin with 'sg-'"));
        assert!(rule("default").contains("reserved"));
        assert!(rule("nodes ").contains("must not end with a space"));
        assert!(rule("").contains("must not be empty"));
        assert!(rule("knöten").contains("must consist of letters"));
        assert!(rule(&"x".repeat(256)).contains("at most 255 characters"));
        assert!(group(&"x".repeat(255), &[]).is_ok());
        assert!(group("a b._-:/()#,@[]+=&;{}!$*", &[]).is_ok());
    }
}
