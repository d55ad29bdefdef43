//! Secrets and config maps: what they hold.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::set_default;
use crate::deep;
use crate::json;
use crate::names;
use crate::status::FieldError;

/// How many bytes a secret or config map may hold.
const MAX_DATA: usize = 1024 * 1024;

/// What the writer of a certificate is told.
pub(super) fn certificate_warnings(value: &Value) -> Vec<String> {
    let certificate = value["data"]["tls.crt"].as_str().unwrap_or_default();
    let text = STANDARD.decode(certificate).unwrap_or_default();
    let readable = String::from_utf8_lossy(&text).contains("-----BEGIN ");
    if value["type"] == "kubernetes.io/tls" && !readable {
        return vec!["tls: failed to find any PEM data in certificate input".to_owned()];
    }
    Vec::new()
}

/// `stringData` is written into `data`.
pub(super) fn merge_string_data(value: &mut Value) {
    let Some(Value::Object(texts)) = value.as_object_mut().and_then(|m| m.remove("stringData"))
    else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    set_default(value, "data", json!({}));
    for (key, text) in texts {
        value["data"][key] = json!(STANDARD.encode(text.as_str().unwrap_or_default()));
    }
}

fn decoded_len(value: &Value) -> usize {
    STANDARD
        .decode(value.as_str().unwrap_or_default())
        .map_or(0, |bytes| bytes.len())
}

fn key_errors(map: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for key in map.as_object().into_iter().flat_map(serde_json::Map::keys) {
        for complaint in names::config_key(key) {
            errors.push(FieldError::invalid(
                format!("{path}[{key}]"),
                key.as_str(),
                complaint,
            ));
        }
    }
}

/// The complaints about the data of a secret.
pub(super) fn validate_secret(value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let data = &value["data"];
    key_errors(data, "data", &mut errors);
    let size: usize = data
        .as_object()
        .into_iter()
        .flat_map(|m| m.values())
        .map(decoded_len)
        .sum();
    if size > MAX_DATA {
        errors.push(FieldError::too_long("data", 1_048_576));
    }
    let mut require = |key: &str| {
        if data.get(key).is_none() {
            errors.push(FieldError::required(format!("data[{key}]"), ""));
        }
    };
    match value["type"].as_str().unwrap_or_default() {
        "kubernetes.io/service-account-token" => {
            let key = "kubernetes.io/service-account.name";
            if value["metadata"]["annotations"][key]
                .as_str()
                .unwrap_or_default()
                .is_empty()
            {
                errors.push(FieldError::required(
                    format!("metadata.annotations[{key}]"),
                    "",
                ));
            }
        }
        "kubernetes.io/dockercfg" => errors.extend(registries(data, ".dockercfg")),
        "kubernetes.io/dockerconfigjson" => errors.extend(registries(data, ".dockerconfigjson")),
        "kubernetes.io/basic-auth"
            if data.get("username").is_none() && data.get("password").is_none() =>
        {
            require("username");
            require("password");
        }
        "kubernetes.io/ssh-auth" if text(data, "ssh-privatekey").is_empty() => {
            errors.push(FieldError::required("data[ssh-privatekey]", ""));
        }
        "kubernetes.io/tls" => {
            require("tls.crt");
            require("tls.key");
        }
        _ => {}
    }
    errors
}

fn text<'a>(map: &'a Value, key: &str) -> &'a str {
    map[key].as_str().unwrap_or_default()
}

/// The complaint about what should be a JSON object with the logins of registries.
fn registries(data: &Value, key: &str) -> Option<FieldError> {
    let place = format!("data[{key}]");
    if data.get(key).is_none() {
        return Some(FieldError::required(place, ""));
    }
    let content = STANDARD.decode(text(data, key)).unwrap_or_default();
    // It is as deep as its writer likes, whatever is around it.
    let found = deep::with_room(deep::of(&content), || {
        let value = json::parse(&content)?.value;
        let is_map = matches!(value, Value::Object(_) | Value::Null);
        Ok((is_map, crate::api::type_name(&value)))
    });
    let wrong = match found {
        Ok((true, _)) => return None,
        Ok((false, found)) => {
            format!(
                "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            )
        }
        Err(message) => message,
    };
    let hidden = "<secret contents redacted>";
    Some(FieldError::invalid(place, hidden, wrong))
}

/// The complaints about the data of a config map.
pub(super) fn validate_config_map(value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (data, binary) = (&value["data"], &value["binaryData"]);
    key_errors(data, "data", &mut errors);
    let mut size = 0;
    for (key, text) in data.as_object().into_iter().flatten() {
        if binary.get(key).is_some() {
            let detail = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(
                format!("data[{key}]"),
                key.as_str(),
                detail,
            ));
        }
        size += text.as_str().unwrap_or_default().len();
    }
    key_errors(binary, "binaryData", &mut errors);
    size += binary
        .as_object()
        .into_iter()
        .flat_map(|m| m.values())
        .map(decoded_len)
        .sum::<usize>();
    if size > MAX_DATA {
        errors.push(FieldError::too_long("[]", 1_048_576));
    }
    errors
}

/// What an immutable secret or config map refuses.
pub(super) fn immutable_data(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if old["immutable"] != true {
        return errors;
    }
    let detail = "field is immutable when `immutable` is set";
    if new["immutable"] != true {
        errors.push(FieldError::forbidden("immutable", detail));
    }
    for key in ["data", "binaryData"] {
        if new[key] != old[key] {
            errors.push(FieldError::forbidden(key, detail));
        }
    }
    errors
}
