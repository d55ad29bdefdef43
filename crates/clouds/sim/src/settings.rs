//! What a simulated account is like.

use ownership::time::Millis;

/// What a simulated account is like. The default is a fresh AWS account that answers at once and
/// never lags or throttles.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The account's number.
    pub number: &'static str,
    /// Its region.
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
    /// How much the account may hold.
    pub quotas: Quotas,
    /// How often the account may be asked, per service.
    pub throttle: Option<Throttle>,
    /// A page size for every listing, in place of each operation's own.
    pub page_size: Option<usize>,
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

/// How much an account may hold. The default is what AWS gives a new account.
#[derive(Clone, Debug)]
pub struct Quotas {
    /// VPCs in the region.
    pub vpcs: usize,
    /// Subnets in a VPC.
    pub subnets_per_vpc: usize,
    /// Route tables in a VPC.
    pub route_tables_per_vpc: usize,
    /// Security groups in the region.
    pub security_groups: usize,
    /// Ingress rules in a security group.
    pub rules_per_group: usize,
    /// Roles in the account.
    pub roles: usize,
    /// Instance profiles in the account.
    pub instance_profiles: usize,
    /// Policies attached to a role.
    pub attached_policies: usize,
    /// Characters of all inline policies of a role.
    pub inline_policy_size: usize,
    /// Resources of any other Kind.
    pub others: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            number: "123456789012",
            region: "eu-central-1",
            seed: 0,
            default_vpc: true,
            zones: 3,
            lag: Lag::default(),
            ready_after: Millis(0),
            quotas: Quotas::default(),
            throttle: None,
            page_size: None,
        }
    }
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            vpcs: 5,
            subnets_per_vpc: 200,
            route_tables_per_vpc: 200,
            security_groups: 2500,
            rules_per_group: 60,
            roles: 1000,
            instance_profiles: 1000,
            attached_policies: 10,
            inline_policy_size: 10_240,
            others: usize::MAX,
        }
    }
}
