//! Zones, and the ranges of subnets that are made where none are given: split from the VPC's, as the
//! original does it.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use cloud_port::aws::network::Network;
use ownership::input::InputError;
use uuid::Uuid;

use super::names::{default_subnet, set};
use super::{Cluster, Subnet};

pub(super) const CIDR: &str = "spec.network.vpc.cidrBlock";
const LIMIT: &str = "spec.network.vpc.availabilityZoneUsageLimit";
const SELECTION: &str = "spec.network.vpc.availabilityZoneSelection";
const SCHEMA: &str = "spec.network.vpc.subnetSchema";
const DEFAULT_CIDR: &str = "10.0.0.0/16";
const DEFAULT_ZONES: usize = 3;

impl Cluster {
    /// The VPC's range.
    pub(super) fn range(&self) -> Result<Network, InputError> {
        let text = set(self.vpc.cidr.as_ref()).unwrap_or(DEFAULT_CIDR);
        let range = Network::parse(CIDR, text)?;
        if !range.is_v4() || !(16..=28).contains(&range.prefix()) {
            let rule = "must be an IPv4 range between /16 and /28";
            return Err(InputError::new(CIDR, text, rule));
        }
        Ok(range)
    }

    /// The zones in which subnets are made: so many at most, and always the same of the same.
    fn chosen_zones(&self) -> Result<Vec<&str>, InputError> {
        let limit = match self.vpc.zone_limit {
            None => DEFAULT_ZONES,
            Some(limit) => usize::try_from(limit)
                .ok()
                .filter(|limit| *limit > 0)
                .ok_or_else(|| InputError::new(LIMIT, &limit.to_string(), "must be at least 1"))?,
        };
        let mut zones: Vec<&str> = self.zones.iter().map(String::as_str).collect();
        zones.sort_unstable();
        zones.dedup();
        // What was chosen stays chosen, also where the object has forgotten it.
        let made: Vec<&str> = self.made_zones().collect();
        if !made.is_empty() {
            return Ok(made);
        }
        match set(self.vpc.zone_selection.as_ref()) {
            None | Some("Ordered") => {}
            // As if drawn, but the same in every pass: by a hash of who asks.
            Some("Random") => zones.sort_by_cached_key(|zone| {
                let seed = format!("{}/{} {zone}", self.namespace, self.name);
                Uuid::new_v5(&Uuid::NAMESPACE_OID, seed.as_bytes())
            }),
            Some(other) => {
                return Err(InputError::new(
                    SELECTION,
                    other,
                    "must be Ordered or Random",
                ));
            }
        }
        zones.truncate(limit);
        zones.sort_unstable();
        Ok(zones)
    }

    /// The zones of subnets that the record knows.
    fn made_zones(&self) -> impl Iterator<Item = &str> {
        let slots = self.made.iter();
        slots.filter_map(|slot| slot.strip_prefix("subnet-private-"))
    }

    /// The subnets that a cluster can have that names none, whichever zones were chosen: at its end.
    pub(super) fn subnets_in_all_zones(&self) -> Vec<Subnet> {
        let zones = self.zones.iter().map(String::as_str);
        let zones: BTreeSet<&str> = zones.chain(self.made_zones()).collect();
        let both = |zone| [(true, zone), (false, zone)];
        let all = zones.into_iter().flat_map(both);
        all.map(|(is_public, zone)| Subnet {
            id: default_subnet(&self.name, is_public, zone),
            zone: Some(zone.to_owned()),
            is_public,
            ..Subnet::default()
        })
        .collect()
    }
}

/// The subnets of a cluster that names none: a public and a private one in each zone. The VPC's range is
/// split in as many parts as there are zones and one more; the first one is split again, for those that
/// need less room.
///
/// # Errors
/// The field that leaves no room.
pub fn default_subnets(cluster: &Cluster) -> Result<Vec<Subnet>, InputError> {
    let prefers_public = match set(cluster.vpc.subnet_schema.as_ref()) {
        None | Some("PreferPrivate") => false,
        Some("PreferPublic") => true,
        Some(other) => {
            let rule = "must be PreferPrivate or PreferPublic";
            return Err(InputError::new(SCHEMA, other, rule));
        }
    };
    let range = cluster.range()?;
    let zones = cluster.chosen_zones()?;
    let too_small = || {
        let rule = format!(
            "is too small for subnets in {} zones: a subnet has at least /28",
            zones.len()
        );
        InputError::new(CIDR, &range.to_string(), rule)
    };
    let large = split(range, zones.len() + 1).ok_or_else(too_small)?;
    let small = match large.first() {
        Some(first) => split(*first, zones.len()).ok_or_else(too_small)?,
        None => Vec::new(),
    };
    let (public, private) = if prefers_public {
        (&large[1..], small.as_slice())
    } else {
        (small.as_slice(), &large[1..])
    };
    let mut subnets = Vec::with_capacity(2 * zones.len());
    for (at, zone) in zones.iter().enumerate() {
        for (is_public, ranges) in [(true, public), (false, private)] {
            subnets.push(Subnet {
                id: default_subnet(&cluster.name, is_public, zone),
                cidr: ranges.get(at).map(ToString::to_string),
                zone: Some((*zone).to_owned()),
                is_public,
                ..Subnet::default()
            });
        }
    }
    Ok(subnets)
}

/// Splits a range of IPv4 addresses in so many equal parts: of the next power of two, the first ones.
/// `None` if a part would be smaller than a subnet may be.
fn split(range: Network, parts: usize) -> Option<Vec<Network>> {
    let bits = u8::try_from(parts.next_power_of_two().trailing_zeros()).ok()?;
    let prefix = range
        .prefix()
        .checked_add(bits)
        .filter(|prefix| *prefix <= 28)?;
    let text = range.to_string();
    let first: Ipv4Addr = text.split('/').next()?.parse().ok()?;
    let part = |at: usize| {
        let offset = u32::try_from(at)
            .ok()?
            .checked_shl(32 - u32::from(prefix))?;
        let address = Ipv4Addr::from(u32::from(first).checked_add(offset)?);
        Network::parse(CIDR, &format!("{address}/{prefix}")).ok()
    };
    (0..parts).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(cidr: &str, parts: usize) -> Option<Vec<String>> {
        let parts = split(Network::parse("cidr", cidr).unwrap(), parts)?;
        Some(parts.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_range_is_split_in_equal_parts() {
        let quarter = [
            "10.0.0.0/18",
            "10.0.64.0/18",
            "10.0.128.0/18",
            "10.0.192.0/18",
        ];
        assert_eq!(ranges("10.0.0.0/16", 4).unwrap(), quarter);
        assert_eq!(ranges("10.0.0.0/16", 3).unwrap(), quarter[..3]);
        assert_eq!(ranges("10.0.0.0/16", 1).unwrap(), ["10.0.0.0/16"]);
        assert_eq!(ranges("10.0.0.0/27", 4), None);
        assert_eq!(ranges("10.0.0.0/28", 1).unwrap(), ["10.0.0.0/28"]);
    }

    fn subnets(zones: &[&str], change: impl Fn(&mut Cluster)) -> Result<Vec<String>, InputError> {
        let mut cluster = Cluster::new("default", "prod", zones);
        change(&mut cluster);
        let subnets = default_subnets(&cluster)?.into_iter();
        Ok(subnets
            .map(|subnet| format!("{} {}", subnet.id, subnet.cidr.unwrap()))
            .collect())
    }

    /// The ranges that the original gives to three zones.
    #[test]
    fn private_subnets_get_the_larger_ranges() {
        let three = subnets(&["c", "a", "b"], |_| {}).unwrap();
        assert_eq!(
            three,
            [
                "prod-subnet-public-a 10.0.0.0/20",
                "prod-subnet-private-a 10.0.64.0/18",
                "prod-subnet-public-b 10.0.16.0/20",
                "prod-subnet-private-b 10.0.128.0/18",
                "prod-subnet-public-c 10.0.32.0/20",
                "prod-subnet-private-c 10.0.192.0/18",
            ]
        );
        let public = subnets(&["a"], |it| {
            it.vpc.subnet_schema = Some("PreferPublic".into());
        });
        assert_eq!(
            public.unwrap(),
            [
                "prod-subnet-public-a 10.0.128.0/17",
                "prod-subnet-private-a 10.0.0.0/17"
            ]
        );
    }

    #[test]
    fn zones_are_chosen_once_and_for_all() {
        let zones = ["a", "b", "c", "d", "e"];
        let count = |change: fn(&mut Cluster)| subnets(&zones, change).unwrap().len();
        assert_eq!(count(|_| {}), 6);
        assert_eq!(count(|it| it.vpc.zone_limit = Some(2)), 4);
        assert_eq!(count(|it| it.vpc.zone_limit = Some(9)), 10);
        let random = |name: &str| {
            let name = name.to_owned();
            subnets(&zones, move |it| {
                it.name.clone_from(&name);
                it.vpc.zone_limit = Some(1);
                it.vpc.zone_selection = Some("Random".into());
            })
            .unwrap()
        };
        assert_eq!(random("prod"), random("prod"));
        let names = ["one", "two", "three", "four", "five"].map(|name| {
            let first = random(name)[0].clone();
            first.rsplit('-').next().unwrap()[..1].to_owned()
        });
        assert!(names.iter().any(|zone| *zone != names[0]), "{names:?}");
    }

    #[test]
    fn what_leaves_no_room_is_refused_with_the_field() {
        let rule = |change: fn(&mut Cluster)| subnets(&["a", "b"], change).unwrap_err().to_string();
        assert!(rule(|it| it.vpc.zone_limit = Some(0)).starts_with(LIMIT));
        assert!(rule(|it| it.vpc.zone_selection = Some("Best".into())).starts_with(SELECTION));
        assert!(rule(|it| it.vpc.subnet_schema = Some("Both".into())).starts_with(SCHEMA));
        let small = rule(|it| it.vpc.cidr = Some("10.0.0.0/27".into()));
        assert!(
            small.contains("too small for subnets in 2 zones"),
            "{small}"
        );
        assert!(rule(|it| it.vpc.cidr = Some("10.0.0.0/8".into())).contains("between /16 and /28"));
    }
}
