//! Security groups, with their ingress rules as parts.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{BirthProof, CreateMode, InnerKind, InnerProof, Marking, Naming, PropRule};
use ownership::mark::Carrier;
use ownership::{Kind, Slot, SlotName, Text};

pub use super::rule::{Icmp, OtherProtocol, Peer, Ports, Rule, Traffic};
use super::{EC2_SETTLING, check};

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
}

impl SecurityGroup {
    /// The slot for it. Rules converge both ways: on a group of ours, others are removed.
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
        let wish = |rule: &Rule| InnerWish {
            kind: RULE,
            key: Expr::Text(rule.key()),
            value: "".into(),
        };
        let mut inner: Vec<InnerWish> = Vec::with_capacity(self.rules.len());
        for wish in self.rules.iter().map(wish) {
            if !inner.contains(&wish) {
                inner.push(wish);
            }
        }
        Ok(Slot {
            props: vec![
                ("vpc", self.vpc),
                ("description", Expr::Text(self.description)),
            ],
            inner,
            exclusive: vec![RULE],
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
    naming: Naming::Within("vpc"),
    has_creation_time: false,
    valuable: false,
    settling: EC2_SETTLING,
    props: &[
        PropRule {
            name: "vpc",
            mutable: false,
        },
        PropRule {
            name: "description",
            mutable: false,
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
    }],
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
        assert_eq!(slot.exclusive, [RULE]);
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
