//! Failures from below, in our words: what the client of Kubernetes says is for programmers.

use std::error::Error;
use std::sync::OnceLock;

use http::Uri;
use kube::client::AuthError;
use kube::config::{InferConfigError, KubeconfigError};

/// Where the API server is. A process speaks to one.
static ADDRESS: OnceLock<String> = OnceLock::new();

/// Remembers where the API server is, for messages.
pub(crate) fn speaks_to(address: &Uri) {
    let address = address.to_string();
    // Whoever came first is named.
    let _ = ADDRESS.set(address.trim_end_matches('/').to_owned());
}

/// What an API server said, or why nobody can be heard.
pub(crate) fn of_api_server(error: &kube::Error) -> String {
    let address = ADDRESS.get().map_or("it", String::as_str);
    match error {
        kube::Error::Api(status) if status.code == 401 => {
            format!("{address} does not accept our credentials: renew those of the kubeconfig")
        }
        kube::Error::Api(status) if !status.message.is_empty() => status.message.clone(),
        kube::Error::Api(status) => format!("{address} answered with HTTP {}", status.code),
        kube::Error::Auth(error) => of_credentials(error),
        kube::Error::SerdeError(cause) => {
            format!("{address} answered with something else than Kubernetes does: {cause}")
        }
        other => {
            let words = innermost(other);
            // The TLS library says what is wrong in words only.
            if words.contains("certificate") {
                return format!("{address} is not trusted: {words}");
            }
            format!("{address} cannot be reached: {words}")
        }
    }
}

/// Why there are no credentials to show to the API server.
fn of_credentials(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => {
            let said = String::from_utf8_lossy(&out.stderr);
            format!(
                "the kubeconfig's own command for credentials failed ({}): {}",
                out.status,
                one_line(&said)
            )
        }
        AuthError::AuthExecStart(error) => {
            let words = innermost(error);
            format!("the kubeconfig's own command for credentials cannot be run: {words}")
        }
        AuthError::ReadTokenFile(error, path) => {
            format!(
                "cannot read the token in {}: {}",
                path.display(),
                innermost(error)
            )
        }
        other => format!("there are no credentials for it: {}", innermost(other)),
    }
}

/// Why it is not known where the API server is.
pub(crate) fn of_config(error: &InferConfigError) -> String {
    // A pod has no kubeconfig: what it lacks is only in the whole text.
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return one_line(&error.to_string());
    }
    match cause::<KubeconfigError>(error) {
        Some(error) => of_kubeconfig(error),
        None => one_line(&error.to_string()),
    }
}

/// What is wrong with a kubeconfig.
pub(crate) fn of_kubeconfig(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(error, path) => {
            format!("cannot read {}: {}", path.display(), innermost(error))
        }
        KubeconfigError::LoadContext(name) => {
            format!("the kubeconfig has no context {name:?}")
        }
        KubeconfigError::CurrentContextNotSet => {
            "the kubeconfig names no current context".to_owned()
        }
        KubeconfigError::Parse(error) => {
            let words = error.to_string();
            let first = words.lines().next().unwrap_or_default();
            let first = first.trim_start_matches("error: ");
            format!("the kubeconfig is not YAML: {first}")
        }
        other => one_line(&other.to_string()),
    }
}

/// The last cause: what happened, without who passed it on.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    let words = one_line(&last.to_string());
    match words.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => words,
    }
}

/// The first error of a type in a chain of causes.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
