//! What would stop a replica later, found out before it stands for the Lease: kinds that are not
//! served, rights that it lacks, an account that the admission policy does not trust.

use std::time::Duration;

use api::manifests::{PROTECTION, trusted};
use controllers::reconcile::{Object, api_of};
use controllers::registry::{Entry, Right};
use k8s_openapi::api::admissionregistration::v1::ValidatingAdmissionPolicy;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::time::{Instant, sleep};

use super::health::{Health, Stage};
use super::systems::is_served;
use super::{ASK_AGAIN, RunError, Settings};
use crate::connect;
use crate::install::rights::{Needed, needed};

/// For how long something may be missing that is installed with the operator.
const INSTALLING: Duration = Duration::from_secs(30);

/// Looks for what would stop a replica later. That is told, and looked at again for a while: it may be on
/// its way, from the same file as the operator.
///
/// # Errors
/// What is still missing then.
pub(super) async fn check(
    client: &Client,
    settings: &Settings,
    health: &Health,
) -> Result<(), RunError> {
    let mut since = None;
    loop {
        let words = match faults(client, &settings.systems, &settings.namespace).await {
            Ok(faults) if faults.is_empty() => return Ok(()),
            Ok(faults) => {
                let words = faults.join("; ");
                if since.get_or_insert_with(Instant::now).elapsed() >= INSTALLING {
                    tracing::error!("cannot run: {words}");
                    return Err(RunError::Unfit(words));
                }
                words
            }
            Err(words) => words,
        };
        health.enter(Stage::Waiting(words));
        sleep(ASK_AGAIN).await;
    }
}

/// What keeps an operator in this namespace from serving these systems, in words with the cure.
///
/// # Errors
/// The API server cannot be asked.
async fn faults(
    client: &Client,
    entries: &[&Entry],
    namespace: &str,
) -> Result<Vec<String>, String> {
    let mut faults = definitions(client, entries).await?;
    faults.extend(rights(client, entries, namespace).await?);
    faults.extend(account(client).await?);
    Ok(faults)
}

/// The kinds that are asked for and not served.
async fn definitions(client: &Client, entries: &[&Entry]) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    let rights = entries.iter().flat_map(|entry| entry.rights());
    // Of Kubernetes' own kinds there is nothing to install.
    let installed = rights.filter(|right| right.part.is_none() && !right.is_kubernetes_own());
    for right in installed {
        let Right {
            group,
            version,
            plural,
            ..
        } = right;
        if !is_served(client, group, version, plural).await? {
            faults.push(format!(
                "the kind {plural}.{group} is not installed: freehold crds | kubectl create -f -"
            ));
        }
    }
    Ok(faults)
}

/// The rights that are missing, as one fault.
async fn rights(
    client: &Client,
    entries: &[&Entry],
    namespace: &str,
) -> Result<Option<String>, String> {
    let mut missing = Vec::new();
    let needed = needed(entries, namespace).into_iter();
    for needed in needed.filter(|needed| !needed.right.in_parts) {
        for verb in needed.right.verbs {
            let mut names: Vec<Option<&str>> = needed
                .names
                .iter()
                .map(|name| Some(name.as_str()))
                .collect();
            if names.is_empty() {
                names.push(None);
            }
            for name in names {
                let question = question(&needed, verb, name, namespace);
                match may(client, question).await? {
                    Some(false) => missing.push(words(&needed, verb, name)),
                    Some(true) => {}
                    // Then the API server's refusals must tell.
                    None => return Ok(None),
                }
            }
        }
    }
    if missing.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    Ok(Some(format!(
        "the operator's account may not {}: apply what freehold manifests --systems {} prints",
        missing.join(", "),
        names.join(",")
    )))
}

fn question(
    needed: &Needed,
    verb: &str,
    name: Option<&str>,
    namespace: &str,
) -> ResourceAttributes {
    let right = &needed.right;
    ResourceAttributes {
        group: Some(right.group.to_owned()),
        version: Some(right.version.to_owned()),
        resource: Some(right.plural.to_owned()),
        subresource: right.part.map(str::to_owned),
        verb: Some(verb.to_owned()),
        name: name.map(str::to_owned),
        namespace: needed.own.then(|| namespace.to_owned()),
        ..ResourceAttributes::default()
    }
}

/// `patch clusters/status.kubermatic.k8c.io`.
fn words(needed: &Needed, verb: &str, name: Option<&str>) -> String {
    let mut words = format!("{verb} {}", needed.right.resource());
    if !needed.right.group.is_empty() {
        words = format!("{words}.{}", needed.right.group);
    }
    match name {
        Some(name) => format!("{words} {name}"),
        None => words,
    }
}

/// Whether we may; `None` where nobody answers such questions.
async fn may(client: &Client, question: ResourceAttributes) -> Result<Option<bool>, String> {
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(question),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let answer = review_of(client, &review).await?;
    Ok(answer.and_then(|answer| Some(answer.status?.allowed)))
}

/// That the admission policy trusts somebody else.
async fn account(client: &Client) -> Result<Option<String>, String> {
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    let policy = match policies.get_opt(PROTECTION).await {
        Ok(Some(policy)) => policy,
        Ok(None) => {
            // It is looked for again and again before the first term.
            static WARNED: std::sync::Once = std::sync::Once::new();
            WARNED.call_once(|| {
                tracing::warn!(
                    "the admission policy {PROTECTION} is not installed, so nothing keeps claims from \
                     being changed: freehold crds --no-definitions | kubectl create -f -"
                );
            });
            return Ok(None);
        }
        Err(error) => return unless_refused(&error),
    };
    let Some(trusted) = trusted(&policy) else {
        return Ok(None);
    };
    let me = review_of(client, &SelfSubjectReview::default()).await?;
    let me = me.and_then(|me| me.status?.user_info?.username);
    Ok(me.filter(|me| me != trusted).map(|me| {
        format!(
            "this process is {me}, but the admission policy {PROTECTION} trusts {trusted} and would \
             refuse every write: run it as that account, or generate manifests with --namespace and \
             --service-account"
        )
    }))
}

/// The answer to a question about ourselves; `None` where the API server takes none.
async fn review_of<K: Object>(client: &Client, review: &K) -> Result<Option<K>, String> {
    let api = api_of::<K>(client, None);
    match api.create(&PostParams::default(), review).await {
        Ok(answer) => Ok(Some(answer)),
        Err(error) => unless_refused(&error),
    }
}

/// Where nobody answers such a question, or not to us, the answer is unknown. An API server that
/// fails is asked again.
fn unless_refused<T>(error: &kube::Error) -> Result<Option<T>, String> {
    match error {
        kube::Error::Api(status) if [403, 404, 405].contains(&status.code) => Ok(None),
        error => Err(format!("the API server: {}", connect::words(error))),
    }
}
