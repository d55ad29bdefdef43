//! Misspelt fields. The definition that we ship keeps what it does not know, because it is other
//! people's API; so an API server takes `vpcId` without a word, and the user's VPC would not be used.

use api::kkp::Cluster as Object;
use ownership::input::InputError;
use serde_json::{Map, Value};

/// Where fields are, what is unknown there, and the names that are known.
type Place<'a> = (
    &'static str,
    &'a Map<String, Value>,
    &'static [&'static str],
);

const SPEC: [&str; 4] = ["cloud", "clusterNetwork", "componentsOverride", "pause"];
const CLOUD: [&str; 3] = ["aws", "dc", "providerName"];
const AWS: [&str; 13] = [
    "accessKeyID",
    "assumeRoleARN",
    "assumeRoleExternalID",
    "credentialsReference",
    "disableIAMReconciling",
    "instanceProfileName",
    "nodePortsAllowedIPRange",
    "nodePortsAllowedIPRanges",
    "roleARN",
    "routeTableID",
    "secretAccessKey",
    "securityGroupID",
    "vpcID",
];
const REFERENCE: [&str; 2] = ["name", "namespace"];
const RANGES: [&str; 1] = ["cidrBlocks"];

/// Whether no unknown field is spelled almost like one that we look at.
///
/// # Errors
/// The first one that is, and what is probably meant.
pub(super) fn check(object: &Object) -> Result<(), InputError> {
    let (spec, cloud) = (&object.spec, &object.spec.cloud);
    let mut places: Vec<Place<'_>> = vec![
        ("spec", &spec.rest, &SPEC),
        ("spec.cloud", &cloud.rest, &CLOUD),
    ];
    if let Some(aws) = &cloud.aws {
        places.push(("spec.cloud.aws", &aws.rest, &AWS));
        if let Some(reference) = &aws.credentials_reference {
            let at = "spec.cloud.aws.credentialsReference";
            places.push((at, &reference.rest, &REFERENCE));
        }
        if let Some(ranges) = &aws.node_ports_allowed_ip_ranges {
            let at = "spec.cloud.aws.nodePortsAllowedIPRanges";
            places.push((at, &ranges.rest, &RANGES));
        }
    }
    for (at, unknown, known) in places {
        for (name, value) in unknown {
            if let Some(meant) = meant(name, known) {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                let rule = format!("is not a field: did you mean {meant}?");
                return Err(InputError::new(format!("{at}.{name}"), &value, rule));
            }
        }
    }
    Ok(())
}

/// The known name that a misspelt one stands for: the same but for case and separators, or with one
/// letter wrong.
fn meant(name: &str, known: &'static [&'static str]) -> Option<&'static str> {
    if known.contains(&name) {
        return None;
    }
    let plain = |name: &str| {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<Vec<_>>()
    };
    let (name, mut known) = (plain(name), known.iter().copied());
    // With three letters, one letter away is another word.
    let near = |known: &str| {
        let known = plain(known);
        known == name || (known.len() > 3 && is_one_edit(&known, &name))
    };
    known.find(|known| near(known))
}

/// Whether one letter more, less or otherwise makes one word of the other, or two that have changed
/// places.
fn is_one_edit(one: &[char], other: &[char]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one, other) {
        ([_, rest @ ..], _) if rest == other => true,
        (_, [_, rest @ ..]) if rest == one => true,
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([a, b, one @ ..], [c, d, other @ ..]) => (a, b, one) == (d, c, other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn complaint(spec: Value) -> String {
        let object = json!({"metadata": {"name": "c"}, "spec": spec});
        let object: Object = serde_json::from_value(object).unwrap();
        check(&object).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_misspelt_field_is_named_with_the_one_that_is_meant() {
        for (aws, field, meant) in [
            (json!({"vpcId": "vpc-1"}), "vpcId", "vpcID"),
            (json!({"vpc_id": "vpc-1"}), "vpc_id", "vpcID"),
            (json!({"roleArn": "r"}), "roleArn", "roleARN"),
            (
                json!({"securtyGroupID": "r"}),
                "securtyGroupID",
                "securityGroupID",
            ),
            (json!({"routeTabelID": "r"}), "routeTabelID", "routeTableID"),
            (
                json!({"nodePortsAllowedIPRanges": {"cidrblocks": []}}),
                "nodePortsAllowedIPRanges.cidrblocks",
                "cidrBlocks",
            ),
            (
                json!({"credentialsReference": {"names": "x"}}),
                "credentialsReference.names",
                "name",
            ),
        ] {
            let told = complaint(json!({"cloud": {"dc": "a", "aws": aws}}));
            let expected = format!("spec.cloud.aws.{field}: ");
            assert!(told.starts_with(&expected), "{told}");
            assert!(told.ends_with(&format!("did you mean {meant}?")), "{told}");
        }
        let told = complaint(json!({"paused": true}));
        assert_eq!(
            told,
            "spec.paused: \"true\" is not a field: did you mean pause?"
        );
        assert!(complaint(json!({"cloud": {"AWS": {}}})).starts_with("spec.cloud.AWS: "));
    }

    #[test]
    fn what_is_somebody_elses_is_none_of_our_business() {
        let spec = json!({
            "pauseReason": "x", "version": "1.35", "cniPlugin": {}, "cloud": {
                "dc": "a", "providerName": "aws", "gcp": {}, "edge": {}, "aws": {
                    "vpcID": "", "capacityReservationID": "cr-1", "credentialsReference": {
                        "key": "x", "uid": "x", "kind": "Secret", "fieldPath": "x",
                    },
                },
            },
        });
        assert_eq!(complaint(spec), "");
    }

    /// The names are those of the definition that we ship.
    #[test]
    fn every_field_of_the_definition_is_known_here() {
        let text = api::manifests::DEFINITIONS[0];
        for name in SPEC.iter().chain(&AWS).chain(&REFERENCE).chain(&RANGES) {
            assert!(text.contains(&format!(" {name}:")), "{name}");
        }
    }
}
