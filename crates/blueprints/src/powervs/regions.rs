//! Which region of VPC is next to a zone of Power Virtual Server.

/// Zones of Power, and the region of VPC beside each.
const ZONES: [(&str, &str); 26] = [
    ("che01", "in-che"),
    ("dal10", "us-south"),
    ("dal12", "us-south"),
    ("dal14", "us-south"),
    ("eu-de-1", "eu-de"),
    ("eu-de-2", "eu-de"),
    ("lon04", "eu-gb"),
    ("lon06", "eu-gb"),
    ("mad02", "eu-es"),
    ("mad04", "eu-es"),
    ("mon01", "ca-tor"),
    ("osa21", "jp-osa"),
    ("sao01", "br-sao"),
    ("sao04", "br-sao"),
    ("syd04", "au-syd"),
    ("syd05", "au-syd"),
    ("tok04", "jp-tok"),
    ("tor01", "ca-tor"),
    ("us-east", "us-east"),
    ("us-south", "us-south"),
    ("wdc04", "us-east"),
    ("wdc06", "us-east"),
    ("wdc07", "us-east"),
    ("par01", "eu-fr2"),
    ("fra04", "eu-de"),
    ("fra05", "eu-de"),
];

/// The region of VPC next to a zone of Power Virtual Server; `None` for a zone that nobody knows.
pub fn vpc_region(zone: &str) -> Option<&'static str> {
    let found = ZONES.iter().find(|(known, _)| *known == zone);
    found.map(|(_, region)| *region)
}

/// The zones, for whoever wrote another one.
pub(super) fn zones() -> String {
    let zones: Vec<&str> = ZONES.iter().map(|(zone, _)| *zone).collect();
    zones.join(", ")
}
