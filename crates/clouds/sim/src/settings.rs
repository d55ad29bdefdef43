//! What a simulated account is like.

use ownership::Kind;
use ownership::time::Millis;

use crate::aws::AWS;
use crate::provider::Provider;

/// What a simulated account is like. The default is a fresh AWS account that answers at once and
/// never lags or throttles.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which cloud it is an account of.
    pub provider: &'static Provider,
    /// The account's number.
    pub number: &'static str,
    /// The region that it is seen from first.
    pub region: &'static str,
    /// Decides the ids that resources get.
    pub seed: u64,
    /// Whether there is a default VPC.
    pub default_vpc: bool,
    /// How many zones the region has: the default VPC has a subnet in each.
    pub zones: u8,
    /// How far reads lag behind writes.
    pub lag: Lag,
    /// How long a new resource is not ready; resources of IAM always are.
    pub ready_after: Millis,
    /// Which Kinds take their time, and how much.
    pub paces: Vec<(&'static Kind, Pace)>,
    /// Whether what others refer to can be deleted, as in clouds that do not look.
    pub careless: bool,
    /// How much the account may hold.
    pub quotas: Quotas,
    /// How often the account may be asked, per service.
    pub throttle: Option<Throttle>,
    /// A page size for every listing, in place of each operation's own.
    pub page_size: Option<usize>,
}

/// How the resources of one Kind come and go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// How long a new one is coming.
    pub comes: Millis,
    /// How long a deleted one is going.
    pub goes: Millis,
    /// Whether a new one does not show while it is coming.
    pub hides: bool,
    /// Whether the create's answer names an operation.
    pub names_operations: bool,
    /// Whether the create's answer tells what comes along inside.
    pub tells_inside: bool,
}

impl Settings {
    /// How the resources of a Kind come and go.
    pub(crate) fn pace(&self, kind: &Kind) -> Pace {
        let mut paces = self.paces.iter();
        let set = paces.find(|(known, _)| *known == kind);
        set.map_or_else(
            || Pace {
                comes: self.ready_after,
                ..Pace::default()
            },
            |(_, pace)| *pace,
        )
    }
}

/// How far reads lag behind writes; must stay within the settling time of the Kinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lag {
    /// A read by id.
    pub by_id: Millis,
    /// A read by name, mark or property.
    pub by_filter: Millis,
}

/// How often the account may be asked: a token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    /// How many calls may come at once.
    pub burst: u32,
    /// How many a second in the long run.
    pub per_second: u32,
}

/// How much an account may hold, where that is not what its cloud gives a new account.
#[derive(Clone, Debug, Default)]
pub struct Quotas(Vec<((&'static Kind, &'static str), usize)>);

impl Quotas {
    /// It may hold so many resources of a Kind, in the account and region or in what the cloud counts
    /// them by.
    #[must_use]
    pub fn resources(self, kind: &'static Kind, limit: usize) -> Self {
        self.parts(kind, "", limit)
    }

    /// A resource of a Kind may hold so much of an inner Kind.
    #[must_use]
    pub fn parts(mut self, kind: &'static Kind, inner: &'static str, limit: usize) -> Self {
        self.0.push(((kind, inner), limit));
        self
    }

    /// The limit for a Kind, or for an inner Kind of it.
    pub(crate) fn limit(&self, kind: &Kind, inner: &str) -> Option<usize> {
        let mut last_first = self.0.iter().rev();
        let found = last_first.find(|((known, within), _)| *known == kind && *within == inner);
        found.map(|(_, limit)| *limit)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: &AWS,
            number: "123456789012",
            region: "eu-central-1",
            seed: 0,
            default_vpc: true,
            zones: 3,
            lag: Lag::default(),
            ready_after: Millis(0),
            paces: Vec::new(),
            careless: false,
            quotas: Quotas::default(),
            throttle: None,
            page_size: None,
        }
    }
}
