//! Misspelt fields. The definition that we ship keeps what it does not know, because it is other
//! people's API; so an API server takes `vpcId` without a word, and the user's VPC would not be used.

use api::kkp::Cluster as Object;
use ownership::input::InputError;
use serde_json::{Map, Value};

use crate::reconcile::spelling::{is_near, meant};

/// The cloud that is served here, as `spec.cloud.providerName` says it.
const SERVED: &str = "aws";
/// What else KKP's API takes there.
const OTHERS: [&str; 22] = [
    "aks",
    "alibaba",
    "anexia",
    "azure",
    "baremetal",
    "bringyourown",
    "digitalocean",
    "edge",
    "eks",
    "equinixmetal",
    "fake",
    "gcp",
    "gke",
    "hetzner",
    "kubeadm",
    "kubeone",
    "kubevirt",
    "nutanix",
    "openstack",
    "packet",
    "vmwareclouddirector",
    "vsphere",
];

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
    misspelt(&places)
}

/// What says of an object that names no cloud at all that it was meant for the one that is served here.
pub(super) fn almost(object: &Object) -> Option<InputError> {
    let (spec, cloud) = (&object.spec, &object.spec.cloud);
    let provider = cloud.rest.get("providerName").and_then(Value::as_str);
    if provider.is_some_and(|name| OTHERS.contains(&name)) {
        return None;
    }
    if let Some(provider) = provider.filter(|name| is_near(name, SERVED)) {
        let rule = "is not a cloud: did you mean aws?";
        return Some(InputError::new("spec.cloud.providerName", provider, rule));
    }
    let places: [Place<'_>; 2] = [
        ("spec", &spec.rest, &["cloud"]),
        ("spec.cloud", &cloud.rest, &["aws", "providerName"]),
    ];
    misspelt(&places).err()
}

/// The first unknown field that is spelled almost like a known one.
fn misspelt(places: &[Place<'_>]) -> Result<(), InputError> {
    for (at, unknown, known) in places {
        for (name, value) in *unknown {
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
    fn a_cluster_that_almost_names_the_served_cloud_is_told_which_is_meant() {
        let almost = |spec: Value| {
            let object = json!({"metadata": {"name": "c"}, "spec": spec});
            let object: Object = serde_json::from_value(object).unwrap();
            almost(&object).map(|error| error.to_string())
        };
        for (spec, told) in [
            (
                json!({"cloud": {"dc": "a", "providerName": "awss"}}),
                "spec.cloud.providerName: \"awss\" is not a cloud: did you mean aws?",
            ),
            (
                json!({"cloud": {"dc": "a", "providername": "aws"}}),
                "spec.cloud.providername: \"aws\" is not a field: did you mean providerName?",
            ),
            (
                json!({"clouds": {"dc": "a"}}),
                "spec.clouds: \"{\\\"dc\\\":\\\"a\\\"}\" is not a field: did you mean cloud?",
            ),
        ] {
            assert_eq!(almost(spec).as_deref(), Some(told));
        }
        for spec in [
            json!({"cloud": {"dc": "a", "providerName": "eks"}}),
            json!({"cloud": {"dc": "a", "providerName": "aks", "AWS": {}}}),
            json!({"cloud": {"dc": "a", "gcp": {}}}),
            json!({"version": "1.35"}),
        ] {
            assert_eq!(almost(spec.clone()), None, "{spec}");
        }
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
