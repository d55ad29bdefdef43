//! How a definition says that its versions are converted.

use serde_json::Value;

use super::validate::one_of;
use crate::builtin::string_list;
use crate::names;
use crate::status::FieldError;

const PATH: &str = "spec.conversion";

/// The complaints about a conversion.
pub(super) fn errors(conversion: &Value) -> Vec<FieldError> {
    let strategy = conversion["strategy"].as_str().unwrap_or_default();
    let mut errors: Vec<FieldError> =
        one_of(&format!("{PATH}.strategy"), strategy, &["None", "Webhook"])
            .into_iter()
            .collect();
    let (config, versions) = (
        &conversion["webhook"]["clientConfig"],
        string_list(&conversion["webhook"]["conversionReviewVersions"]),
    );
    let (config_path, versions_path) = (
        format!("{PATH}.webhookClientConfig"),
        format!("{PATH}.conversionReviewVersions"),
    );
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if !config.is_null() {
            errors.push(FieldError::forbidden(config_path, detail));
        }
        if !versions.is_empty() {
            errors.push(FieldError::forbidden(versions_path, detail));
        }
        return errors;
    }
    if config.is_null() {
        let detail = "required when strategy is set to Webhook";
        errors.push(FieldError::required(config_path, detail));
    } else {
        errors.extend(client(config, &config_path));
    }
    errors.extend(review_versions(&versions, &versions_path));
    errors
}

fn client(config: &Value, path: &str) -> Vec<FieldError> {
    match (config["url"].as_str(), &config["service"]) {
        (Some(url), Value::Null) => address(url, &format!("{path}.url")),
        (None, service @ Value::Object(_)) => self::service(service, &format!("{path}.service")),
        _ => {
            let detail = "exactly one of url or service is required";
            vec![FieldError::required(path, detail)]
        }
    }
}

fn address(url: &str, path: &str) -> Vec<FieldError> {
    let form = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let host = rest
        .strip_prefix("//")
        .map_or("", |rest| rest.split('/').next().unwrap_or_default());
    let (user, host) = match host.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, host),
    };
    let mut errors = Vec::new();
    let mut refuse = |wrong: bool, shown: &str, detail: String| {
        if wrong {
            errors.push(FieldError::invalid(path, shown, detail));
        }
    };
    refuse(
        scheme != "https",
        scheme,
        format!("'https' is the only allowed URL scheme{form}"),
    );
    refuse(
        host.is_empty(),
        host,
        format!("host must be specified{form}"),
    );
    refuse(
        user.is_some(),
        user.unwrap_or_default(),
        "user information is not permitted in the URL".to_owned(),
    );
    refuse(
        !fragment.is_empty(),
        fragment,
        "fragments are not permitted in the URL".to_owned(),
    );
    refuse(
        !query.is_empty(),
        query,
        "query parameters are not permitted in the URL".to_owned(),
    );
    errors
}

fn service(service: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    // The real server looks for the one where the other is.
    for (key, of) in [("name", "namespace"), ("namespace", "name")] {
        if service[of].as_str().unwrap_or_default().is_empty() {
            errors.push(FieldError::required(format!("{path}.{key}"), ""));
        }
    }
    let port = service["port"].as_i64().unwrap_or(443);
    if !(1..=65_535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(format!("{path}.port"), port, detail));
    }
    let url_path = service["path"].as_str().unwrap_or_default();
    if matches!(url_path, "" | "/") {
        return errors;
    }
    let mut complain = |detail: String| {
        errors.push(FieldError::invalid(
            format!("{path}.path"),
            url_path,
            detail,
        ));
    };
    if !url_path.starts_with('/') {
        complain("must start with a '/'".to_owned());
    }
    let mut rest = url_path.chars();
    rest.next();
    let steps = rest.as_str();
    let steps = steps.strip_suffix('/').unwrap_or(steps);
    for (index, step) in steps.split('/').enumerate() {
        if step.is_empty() {
            complain(format!("segment[{index}] may not be empty"));
            continue;
        }
        for complaint in names::dns_subdomain(step, false) {
            complain(format!("segment[{index}]: {complaint}"));
        }
    }
    errors
}

fn review_versions(versions: &[String], path: &str) -> Vec<FieldError> {
    if versions.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let mut errors = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let place = format!("{path}[{index}]");
        if versions[..index].contains(version) {
            errors.push(FieldError::invalid(
                place,
                version.as_str(),
                "duplicate version",
            ));
            continue;
        }
        for complaint in names::dns1035_label(version) {
            errors.push(FieldError::invalid(&*place, version.as_str(), complaint));
        }
    }
    let accepted = |version: &String| matches!(version.as_str(), "v1" | "v1beta1");
    if !versions.iter().any(accepted) {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(
            path,
            serde_json::json!(versions),
            detail,
        ));
    }
    errors
}
