//! IAM roles, with inline and attached policies as parts.

use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{
    BirthProof, Change, CreateMode, Ids, InnerKind, InnerProof, Marking, Naming, PropRule,
};
use ownership::life::Course;
use ownership::mark::Carrier;
use ownership::{Class, Kind, Slot, SlotName, Text, name};

use super::errors::{Code, Service};
use super::{Entry, IAM_SETTLING, check, policy};
use crate::sample::{PartSample, Sample};

/// A role that a claim wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name, unique in the account; [`fit_name`] shortens one that is derived.
    pub name: Text,
    /// Who may assume it: a policy document.
    pub trust: Text,
    /// Its inline policies: name and document.
    pub inline: Vec<(Text, Text)>,
    /// The ARNs of its attached policies.
    pub attached: Vec<Text>,
}

impl Role {
    /// The slot for it, documents in canonical form. Policies that others put on it stay until it
    /// goes.
    ///
    /// # Errors
    /// The field, and the rule of IAM that it breaks.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        check_name(&self.name)?;
        let trust = policy::canonical("trust policy", &self.trust)?;
        check::length("trust policy", &trust, LONGEST_TRUST)?;
        let mut inner = Vec::with_capacity(self.inline.len() + self.attached.len());
        let mut size = 0;
        for (name, document) in &self.inline {
            check_policy_name(name)?;
            let document = policy::canonical("inline policy", document)?;
            size += document.chars().count();
            if size > LONGEST_INLINE {
                let rule = format!("makes the role's inline policies longer than {LONGEST_INLINE}");
                return Err(InputError::new("inline policy", name, rule));
            }
            inner.push(InnerWish {
                kind: INLINE_POLICY,
                key: Expr::Text(name.clone()),
                value: document.into(),
            });
        }
        for arn in &self.attached {
            check_arn(arn)?;
            inner.push(InnerWish {
                kind: ATTACHED_POLICY,
                key: Expr::Text(arn.clone()),
                value: "".into(),
            });
        }
        Ok(Slot {
            props: vec![("trust", Expr::Text(trust))],
            inner,
            ..Slot::own(slot, &ROLE, self.name)
        })
    }
}

const LONGEST: usize = 64;
const LONGEST_POLICY: usize = 128;
/// Quotas of IAM in characters, white space not counted; canonical documents have none.
const LONGEST_TRUST: usize = 2048;
const LONGEST_INLINE: usize = 10_240;

/// Checks a role's name against the rules of IAM.
///
/// # Errors
/// The broken rule.
pub fn check_name(name: &str) -> Result<(), InputError> {
    check::iam_name("role name", name, LONGEST)
}

/// Checks an inline policy's name against the rules of IAM.
///
/// # Errors
/// The broken rule.
pub fn check_policy_name(name: &str) -> Result<(), InputError> {
    check::iam_name("inline policy name", name, LONGEST_POLICY)
}

/// A role's name from one that was derived and may be too long: shortened with a stable hash.
///
/// # Errors
/// Characters that IAM does not accept.
pub fn fit_name(derived: &str) -> Result<Text, InputError> {
    let fitted = name::fit("role name", derived, LONGEST)?;
    check_name(&fitted)?;
    Ok(fitted.into())
}

fn check_arn(arn: &str) -> Result<(), InputError> {
    let mut fields = arn.splitn(6, ':');
    let mut next = || fields.next().unwrap_or_default();
    let (arn_word, _partition, service, _region, _account, resource) =
        (next(), next(), next(), next(), next(), next());
    let legal = arn_word == "arn" && service == "iam" && resource.starts_with("policy/");
    if legal && arn.chars().count() <= 2048 && !arn.contains(char::is_whitespace) {
        return Ok(());
    }
    let rule = "must be the ARN of a policy, such as arn:aws:iam::aws:policy/ReadOnlyAccess";
    Err(InputError::new("attached policy", arn, rule))
}

/// Inline policies: the key is the policy's name, the value its document.
pub const INLINE_POLICY: &str = "inline-policy";

/// Attached policies: the key is the policy's ARN.
pub const ATTACHED_POLICY: &str = "attached-policy";

/// The declaration.
pub static ROLE: Kind = Kind {
    name: "aws/iam-role",
    noun: "IAM role",
    carrier: Carrier::AwsTags,
    birth: BirthProof::Marks,
    token: None,
    create: CreateMode::Insert,
    marking: Marking::Mutable,
    tags_together: false,
    naming: Naming::Account,
    names: ownership::name::NameRule::longest(64),
    ids: Ids::Names(&[super::instance_profile::PROFILE_ROLE]),
    has_creation_time: true,
    lists_marks: true,
    recorded: true,
    valuable: false,
    settling: IAM_SETTLING,
    course: Course::PLAIN,
    props: &[PropRule {
        name: "trust",
        change: Change::InPlace,
    }],
    inner: &[
        InnerKind {
            name: INLINE_POLICY,
            noun: "inline policy",
            proof: InnerProof::ParentMark,
            create: CreateMode::Upsert,
            blocks_deletion: true,
            batch: false,
            single: false,
            comes_along: &[],
            born_with: None,
            is_listed: true,
        },
        InnerKind {
            name: ATTACHED_POLICY,
            noun: "attached policy",
            proof: InnerProof::ParentMark,
            create: CreateMode::Upsert,
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
    service: Service::Iam,
    codes: &CODES,
};

static CODES: [Code; 4] = [
    // The role holds as many tags as it can.
    Code::new("LimitExceeded", Class::Blocked(Vec::new())).to("TagRole"),
    Code::new("MalformedPolicyDocument", Class::Fatal),
    Code::new("PolicyNotAttachable", Class::Fatal).advice("choose another policy"),
    Code::new("UnmodifiableEntity", Class::Fatal)
        .advice("choose another role: only the service that it is linked to can change this one"),
];

static SAMPLE: Sample = Sample {
    props: &[("trust", r#"{"Statement":[]}"#)],
    changed: &[("trust", r#"{"Statement":[],"Version":"2012-10-17"}"#)],
    parts: &[
        PartSample {
            inner: INLINE_POLICY,
            wanted: &[("kubernetes-control-plane", "{}")],
            others: [
                ("somebody-elses", "{}"),
                ("kubernetes-others", "{}"),
                ("a-strangers", "{}"),
            ],
        },
        PartSample {
            inner: ATTACHED_POLICY,
            wanted: &[("arn:aws:iam::aws:policy/ReadOnlyAccess", "")],
            others: [
                ("arn:aws:iam::aws:policy/SecurityAudit", ""),
                ("arn:aws:iam::aws:policy/PowerUserAccess", ""),
                ("arn:aws:iam::aws:policy/ViewOnlyAccess", ""),
            ],
        },
    ],
    ..Sample::of(&ROLE)
};

#[cfg(test)]
mod tests {
    use super::*;

    const TRUST: &str = r#"{"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
        "Principal": {"Service": ["ec2.amazonaws.com"]}, "Action": ["sts:AssumeRole"]}]}"#;
    const POLICY: &str =
        r#"{"Statement": {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}}"#;

    fn role(name: &str, arn: &str) -> Result<Slot, InputError> {
        let role = Role {
            name: name.into(),
            trust: TRUST.into(),
            inline: vec![("worker".into(), POLICY.into())],
            attached: vec![arn.into()],
        };
        role.slot(SlotName::new("worker-role").unwrap())
    }

    #[test]
    fn a_slot_has_canonical_documents() {
        let slot = role("worker", "arn:aws:iam::aws:policy/ReadOnlyAccess").unwrap();
        let trust: Text = concat!(
            r#"{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","#,
            r#""Principal":{"Service":"ec2.amazonaws.com"}}],"Version":"2012-10-17"}"#
        )
        .into();
        assert_eq!(slot.props, [("trust", Expr::Text(trust))]);
        let kinds: Vec<_> = slot.inner.iter().map(|wish| wish.kind).collect();
        assert_eq!(kinds, [INLINE_POLICY, ATTACHED_POLICY]);
        ownership::Blueprint::new(vec![slot]).unwrap();
    }

    #[test]
    fn names_and_arns_obey_iam() {
        let arn = "arn:aws:iam::123456789012:policy/team/nodes";
        assert!(role(&"x".repeat(64), arn).is_ok());
        let rule = |name: &str, arn: &str| role(name, arn).unwrap_err().to_string();
        assert!(rule(&"x".repeat(65), arn).contains("at most 64 characters"));
        assert!(rule("a role", arn).contains("must consist of"));
        assert!(rule("worker", "ReadOnlyAccess").contains("must be the ARN of a policy"));
        assert!(rule("worker", "arn:aws:s3:::bucket").contains("must be the ARN of a policy"));
    }

    #[test]
    fn documents_obey_the_quotas() {
        let long = |size| {
            format!(
                r#"{{"Statement":{{"Effect":"Allow","Sid":"{}"}}}}"#,
                "x".repeat(size)
            )
        };
        let mut wanted = Role {
            name: "worker".into(),
            trust: long(2100).into(),
            inline: Vec::new(),
            attached: Vec::new(),
        };
        let slot = SlotName::new("worker-role").unwrap();
        let error = wanted.clone().slot(slot.clone()).unwrap_err();
        assert!(
            error.to_string().contains("at most 2048 characters"),
            "{error}"
        );
        wanted.trust = TRUST.into();
        wanted.inline = vec![
            ("a".into(), long(6000).into()),
            ("b".into(), long(6000).into()),
        ];
        let error = wanted.slot(slot).unwrap_err();
        assert!(error.to_string().contains("longer than 10240"), "{error}");
    }

    #[test]
    fn long_derived_names_are_shortened_and_stay_apart() {
        let long = format!("kubernetes-{}", "x".repeat(80));
        let (a, b) = (format!("{long}-worker"), format!("{long}-control-plane"));
        let (a, b) = (fit_name(&a).unwrap(), fit_name(&b).unwrap());
        assert_eq!(a.len(), 64);
        assert_ne!(a, b);
        assert_eq!(
            &*fit_name("kubernetes-a-worker").unwrap(),
            "kubernetes-a-worker"
        );
        assert!(fit_name("no spaces").is_err());
    }
}
