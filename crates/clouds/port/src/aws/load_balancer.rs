//! What classic and network load balancers have in common: names, schemes, and what is inside.

use ownership::Text;
use ownership::blueprint::{Expr, InnerWish};
use ownership::input::InputError;
use ownership::kind::{CreateMode, InnerKind, InnerProof};
use ownership::name::{Alphabet, NameRule};

use super::check;

/// Who can reach a load balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Everybody.
    InternetFacing,
    /// Who is in its network.
    Internal,
}

impl Scheme {
    /// As AWS spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InternetFacing => "internet-facing",
            Self::Internal => "internal",
        }
    }
}

/// A subnet that a load balancer is in: the key is the subnet's id.
pub const SUBNET: &str = "subnet";

/// A security group of a load balancer: the key is the group's id.
pub const GROUP: &str = "security-group";

/// The property of a create call with the ids of its subnets, with commas between: afterwards they are
/// parts.
pub const SUBNETS: &str = "subnets";

/// The property of a create call with the ids of its security groups, with commas between.
pub const GROUPS: &str = "security-groups";

/// The property with its name in the DNS.
pub const DNS_NAME: &str = "dns-name";

/// The property with the VPC that its subnets are in.
pub const VPC: &str = "vpc";

/// The property with its health check, as [`HealthCheck`](super::health_check::HealthCheck) is spelled.
pub const HEALTH_CHECK: &str = "health-check";

pub(super) const SUBNET_PART: InnerKind = attached(SUBNET, "subnet", SUBNETS);
pub(super) const GROUP_PART: InnerKind = attached(GROUP, "security group", GROUPS);

/// What a load balancer is attached to: another resource. It is born with some.
const fn attached(name: &'static str, noun: &'static str, born_with: &'static str) -> InnerKind {
    InnerKind {
        name,
        noun,
        proof: InnerProof::ParentMark,
        // To attach it again is nothing.
        create: CreateMode::Upsert,
        blocks_deletion: false,
        batch: true,
        single: false,
        comes_along: &[],
        born_with: Some(born_with),
        is_listed: true,
    }
}

/// What a create call says of subnets or groups, and the parts that they become.
pub(super) fn attachments(kind: &'static str, ids: &[Expr]) -> (Expr, Vec<InnerWish>) {
    let mut joined = Vec::new();
    for id in ids {
        if !joined.is_empty() {
            joined.push(",".into());
        }
        joined.push(id.clone());
    }
    let part = |id: &Expr| InnerWish {
        kind,
        key: id.clone(),
        value: "".into(),
    };
    (Expr::join(joined), ids.iter().map(part).collect())
}

/// The ids in a property such as [`SUBNETS`].
pub fn ids(joined: &str) -> impl Iterator<Item = &str> {
    joined.split(',').filter(|id| !id.is_empty())
}

const LONGEST: usize = 32;

/// What its names may be; what else is legal says [`check_name`].
pub(super) const NAMES: NameRule = NameRule::longest(LONGEST);

/// Checks the name of a load balancer or a target group.
///
/// # Errors
/// The broken rule.
pub fn check_name(field: &'static str, name: &str) -> Result<(), InputError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-';
    check::text(field, name, LONGEST, legal, "letters, digits and -")?;
    let rule = if name.starts_with('-') || name.ends_with('-') {
        "must not begin or end with -"
    } else if name.starts_with("internal-") {
        "must not begin with internal-, which AWS keeps for itself"
    } else {
        return Ok(());
    };
    Err(InputError::new(field, name, rule))
}

/// A name from one that was derived and may be too long, or have characters that are not legal: written
/// so that it is, the same way every time.
pub fn fit_name(derived: &str) -> Text {
    let alphabet = Alphabet::Label;
    let longest = LONGEST;
    let fitted = NameRule { longest, alphabet }.fit(derived);
    match fitted.strip_prefix("internal-") {
        Some(rest) => format!("x-{rest}").into(),
        None => fitted,
    }
}

/// At least one is needed.
pub(super) fn some(field: &'static str, ids: &[Expr]) -> Result<(), InputError> {
    if ids.is_empty() {
        let rule = "must not be empty: a load balancer is in at least one";
        return Err(InputError::new(field, "", rule));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_obey_elastic_load_balancing() {
        let rule = |name: &str| check_name("name", name).unwrap_err().rule;
        assert!(rule("").contains("must not be empty"));
        assert!(rule(&"x".repeat(33)).contains("at most 32 characters"));
        assert!(rule("a.b").contains("must consist of letters"));
        assert!(rule("-a").contains("begin or end"));
        assert!(rule("internal-a").contains("keeps for itself"));
        assert_eq!(check_name("name", "Prod-apiserver"), Ok(()));
    }

    #[test]
    fn a_derived_name_is_always_legal_and_stays_if_it_is() {
        let long = "x".repeat(60);
        let derived = [
            "prod-apiserver",
            "a.b",
            "0",
            long.as_str(),
            "internal-a",
            "-a-",
        ];
        for name in derived {
            let fitted = fit_name(name);
            assert_eq!(check_name("name", &fitted), Ok(()), "{name}");
        }
        assert_eq!(&*fit_name("prod-apiserver"), "prod-apiserver");
        assert_ne!(fit_name("a.b"), fit_name("a-b"));
    }

    #[test]
    fn subnets_ride_on_the_create_call_and_become_parts() {
        let (joined, parts) = attachments(SUBNET, &["subnet-1".into(), "subnet-2".into()]);
        let joined = joined.resolve(&ownership::blueprint::Empty).unwrap();
        assert_eq!(ids(&joined).collect::<Vec<_>>(), ["subnet-1", "subnet-2"]);
        assert_eq!(parts.len(), 2);
        assert_eq!(ids("").count(), 0);
    }
}
