//! Persistent volumes and claims: what their specs must say, and what may change.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::string_list;
use crate::meta;
use crate::names;
use crate::quantity::number as amount;
use crate::status::FieldError;
use crate::text::go_quote;
use crate::typed::seconds;

/// Kinds of volumes whose fields are not looked at.
pub(super) const OTHER_SOURCES: &[&str] = &[
    "glusterfs",
    "rbd",
    "iscsi",
    "cinder",
    "cephfs",
    "fc",
    "flocker",
    "flexVolume",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];
const KNOWN_SOURCES: &[&str] = &[
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "nfs",
    "azureFile",
    "local",
    "csi",
];
const ACCESS_MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];

/// The time of the last change of phase.
pub(super) fn transition(new: &mut Value, old: &Value, now: Timestamp) {
    let key = "lastPhaseTransitionTime";
    let (before, after) = (&old["status"][key], new["status"][key].clone());
    if old["status"]["phase"] == new["status"]["phase"] {
        if after.is_null() && !before.is_null() {
            new["status"][key] = before.clone();
        }
    } else if after.is_null() || after == *before {
        new["status"][key] = json!(seconds(now));
    }
}

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const BETA_OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";

/// Kinds of volumes that nothing mounts any more, and since when.
const OLD_SOURCES: [(&str, &str); 6] = [
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// What the writer of a volume is told.
pub(super) fn warnings(value: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    let annotations = &value["metadata"]["annotations"];
    for (key, instead) in [
        (
            BETA_CLASS,
            "deprecated since v1.8; use \"storageClassName\" attribute instead",
        ),
        (
            BETA_OPTIONS,
            "deprecated since v1.31; use \"mountOptions\" attribute instead",
        ),
    ] {
        if !annotations[key].is_null() {
            warnings.push(format!("metadata.annotations[{key}]: {instead}"));
        }
    }
    let spec = &value["spec"];
    if spec["persistentVolumeReclaimPolicy"] == "Recycle" {
        warnings.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. \
             Instead, the recommended approach is to use dynamic provisioning."
                .to_owned(),
        );
    }
    for (name, since) in OLD_SOURCES {
        if !spec[name].is_null() {
            let shown = if name == "storageos" {
                "storageOS"
            } else {
                name
            };
            warnings.push(format!("spec.{shown}: {since}"));
        }
    }
    warnings
}

/// What the writer of a claim is told.
pub(super) fn claim_warnings(value: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    if !value["metadata"]["annotations"][BETA_CLASS].is_null() {
        warnings.push(format!(
            "metadata.annotations[{BETA_CLASS}]: deprecated since v1.8; use \"storageClassName\" \
             attribute instead"
        ));
    }
    for key in ["requests", "limits"] {
        let size = value["spec"]["resources"][key]["storage"].as_str();
        if let Some(size) = size.filter(|size| amount(size).fract() != 0.0) {
            warnings.push(format!(
                "spec.resources.{key}[storage]: fractional byte value {} is invalid, must be an \
                 integer",
                go_quote(size)
            ));
        }
    }
    warnings
}

fn access_modes(spec: &Value, missing: &str, errors: &mut Vec<FieldError>) {
    let modes = string_list(&spec["accessModes"]);
    if modes.is_empty() {
        errors.push(FieldError::required("spec.accessModes", missing));
    }
    for mode in &modes {
        if !ACCESS_MODES.contains(&mode.as_str()) {
            let path = "spec.accessModes";
            errors.push(FieldError::not_supported(
                path,
                mode.as_str(),
                &ACCESS_MODES,
            ));
        }
    }
    let single = modes.iter().any(|mode| mode == "ReadWriteOncePod");
    if single
        && modes
            .iter()
            .any(|m| m != "ReadWriteOncePod" && ACCESS_MODES.contains(&m.as_str()))
    {
        let detail = "may not use ReadWriteOncePod with other access modes";
        errors.push(FieldError::forbidden("spec.accessModes", detail));
    }
}

fn mode_and_class(spec: &Value, errors: &mut Vec<FieldError>) {
    let mode = spec["volumeMode"].as_str().unwrap_or_default();
    if !spec["volumeMode"].is_null() && !VOLUME_MODES.contains(&mode) {
        errors.push(FieldError::not_supported(
            "spec.volumeMode",
            mode,
            &VOLUME_MODES,
        ));
    }
    let class = spec["storageClassName"].as_str().unwrap_or_default();
    if !class.is_empty() {
        for complaint in names::dns_subdomain(class, false) {
            errors.push(FieldError::invalid(
                "spec.storageClassName",
                class,
                complaint,
            ));
        }
    }
}

/// The complaints about a volume.
pub(super) fn validate(value: &Value) -> Vec<FieldError> {
    let spec = &value["spec"];
    let mut errors = Vec::new();
    access_modes(spec, "", &mut errors);
    let capacity = &spec["capacity"];
    let sizes = capacity.as_object().map_or(0, serde_json::Map::len);
    if sizes == 0 {
        errors.push(FieldError::required("spec.capacity", ""));
    }
    if sizes != 1 || capacity.get("storage").is_none() {
        errors.push(FieldError::not_supported(
            "spec.capacity",
            capacity.clone(),
            &["storage"],
        ));
    }
    for (key, size) in capacity.as_object().into_iter().flatten() {
        let text = size.as_str().unwrap_or_default();
        if amount(text) <= 0.0 {
            let detail = "must be greater than zero";
            errors.push(FieldError::invalid(
                format!("spec.capacity[{key}]"),
                text,
                detail,
            ));
        }
    }
    let policy = spec["persistentVolumeReclaimPolicy"]
        .as_str()
        .unwrap_or_default();
    let policies = ["Delete", "Recycle", "Retain"];
    if !policy.is_empty() && !policies.contains(&policy) {
        let path = "spec.persistentVolumeReclaimPolicy";
        errors.push(FieldError::not_supported(path, policy, &policies));
    }
    let sources: Vec<&str> = KNOWN_SOURCES
        .iter()
        .chain(OTHER_SOURCES)
        .copied()
        .filter(|name| !spec[*name].is_null())
        .collect();
    match sources.as_slice() {
        [] => errors.push(FieldError::required("spec", "must specify a volume type")),
        [first, others @ ..] => {
            validate_source(first, &spec[*first], spec, &mut errors);
            for other in others {
                let detail = "may not specify more than 1 volume type";
                errors.push(FieldError::forbidden(format!("spec.{other}"), detail));
            }
        }
    }
    mode_and_class(spec, &mut errors);
    errors
}

fn validate_source(name: &str, source: &Value, spec: &Value, errors: &mut Vec<FieldError>) {
    let required: &[&str] = match name {
        "nfs" => &["server", "path"],
        "hostPath" | "local" => &["path"],
        "csi" => &["driver", "volumeHandle"],
        "awsElasticBlockStore" => &["volumeID"],
        "gcePersistentDisk" => &["pdName"],
        "azureFile" => &["secretName", "shareName"],
        _ => &[],
    };
    for key in required {
        if source[*key].as_str().unwrap_or_default().is_empty() {
            errors.push(FieldError::required(format!("spec.{name}.{key}"), ""));
        }
    }
    let path = source["path"].as_str().unwrap_or_default();
    if name == "nfs" && !path.is_empty() && !path.starts_with('/') {
        errors.push(FieldError::invalid(
            "spec.nfs.path",
            path,
            "must be an absolute path",
        ));
    }
    if matches!(name, "hostPath" | "local") && path.split('/').any(|part| part == "..") {
        errors.push(FieldError::invalid(
            format!("spec.{name}.path"),
            path,
            "must not contain '..'",
        ));
    }
    if name == "local" && spec["nodeAffinity"].is_null() {
        let detail = "Local volume requires node affinity";
        errors.push(FieldError::required("spec.nodeAffinity", detail));
    }
}

/// The complaints about a change of a volume.
pub(super) fn validate_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let changed = KNOWN_SOURCES
        .iter()
        .chain(OTHER_SOURCES)
        .any(|name| new["spec"][*name] != old["spec"][*name]);
    if changed {
        let detail = "spec.persistentvolumesource is immutable after creation\n";
        errors.push(FieldError::forbidden("spec.persistentvolumesource", detail));
    }
    errors.extend(meta::immutable(
        "volumeMode",
        &new["spec"]["volumeMode"],
        &old["spec"]["volumeMode"],
    ));
    errors
}

/// The complaints about a claim.
pub(super) fn validate_claim(value: &Value) -> Vec<FieldError> {
    let spec = &value["spec"];
    let mut errors = Vec::new();
    access_modes(spec, "at least 1 access mode is required", &mut errors);
    let path = "spec.resources[storage]";
    match spec["resources"]["requests"]["storage"].as_str() {
        None => errors.push(FieldError::required(path, "")),
        Some(size) if amount(size) <= 0.0 => {
            errors.push(FieldError::invalid(path, size, "must be greater than zero"));
        }
        Some(_) => {}
    }
    mode_and_class(spec, &mut errors);
    errors
}

/// The complaints about a change of a claim: only its size may grow, once it is bound.
pub(super) fn validate_claim_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (mut after, before) = (new["spec"].clone(), &old["spec"]);
    let size = |spec: &Value| {
        amount(
            spec["resources"]["requests"]["storage"]
                .as_str()
                .unwrap_or("0"),
        )
    };
    let (new_size, old_size) = (size(&after), size(before));
    if before["volumeName"].is_null() {
        after["volumeName"] = Value::Null;
        if let Some(map) = after.as_object_mut() {
            map.remove("volumeName");
        }
    }
    let bound = old["status"]["phase"] == "Bound";
    if bound {
        after["resources"]["requests"] = before["resources"]["requests"].clone();
    }
    if before["storageClassName"].is_null()
        && let Some(map) = after.as_object_mut()
    {
        map.remove("storageClassName");
    }
    after["volumeAttributesClassName"] = before["volumeAttributesClassName"].clone();
    let mut before = before.clone();
    before["volumeAttributesClassName"] = after["volumeAttributesClassName"].clone();
    if after != before {
        let detail = "spec is immutable after creation except resources.requests and \
                      volumeAttributesClassName for bound claims\n";
        errors.push(FieldError::forbidden("spec", detail));
    }
    if new_size < old_size {
        let path = "spec.resources.requests.storage";
        let status = old["status"]["capacity"]["storage"]
            .as_str()
            .map_or(0.0, amount);
        if new_size <= status {
            let detail = "field can not be less than status.capacity";
            errors.push(FieldError::forbidden(path, detail));
        }
    }
    errors.extend(meta::immutable(
        "volumeMode",
        &new["spec"]["volumeMode"],
        &old["spec"]["volumeMode"],
    ));
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_has_one_source() {
        let mut volume = json!({"spec": {
            "accessModes": ["ReadWriteMany"], "capacity": {"storage": "1Gi"},
            "nfs": {"server": "s", "path": "/"}
        }});
        assert!(validate(&volume).is_empty());
        volume["spec"]["hostPath"] = json!({"path": "/"});
        assert_eq!(
            validate(&volume)[0].to_string(),
            "spec.nfs: Forbidden: may not specify more than 1 volume type"
        );
        assert_eq!(validate(&json!({"spec": {}})).len(), 4);
    }
}
