//! Policies, as the tests turn them on, and changes that they judge.

use std::pin::Pin;

use api::manifests::{self, Served};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::Value;

use crate::claims::{GATES, install_gates};
use crate::{embedded, embedded_operator};

/// A policy, and the binding that turns it on.
pub(crate) struct Policy {
    policy: ValidatingAdmissionPolicy,
    binding: ValidatingAdmissionPolicyBinding,
}

/// What people and the operator try.
type Checks = for<'a> fn(&'a Client, &'a Client) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl Policy {
    fn of(texts: &[impl AsRef<str>]) -> Self {
        let [policy, binding] = texts else {
            panic!("a policy and its binding")
        };
        Self {
            policy: serde_saphyr::from_str(policy.as_ref()).unwrap(),
            binding: serde_saphyr::from_str(binding.as_ref()).unwrap(),
        }
    }

    /// How many rules it has.
    pub(crate) fn rules(&self) -> usize {
        let spec = self.policy.spec.as_ref().unwrap();
        spec.validations.as_ref().unwrap().len()
    }

    /// The same without one of its rules.
    pub(crate) fn without_rule(mut self, rule: usize) -> Self {
        let spec = self.policy.spec.as_mut().unwrap();
        spec.validations.as_mut().unwrap().remove(rule);
        self
    }

    /// The same, for one kind less.
    pub(crate) fn without_kind(mut self, plural: &str) -> Self {
        let spec = self.policy.spec.as_mut().unwrap();
        let matches = spec.match_constraints.as_mut().unwrap();
        let rules = matches.resource_rules.as_mut().unwrap();
        let before = rules.len();
        rules.retain(|rule| rule.resources != Some(vec![plural.to_owned()]));
        assert_eq!(rules.len() + 1, before);
        self
    }

    /// Whether checks pass on an embedded API server that has only this policy.
    pub(crate) async fn passes(self, checks: Checks) -> bool {
        let checked = tokio::spawn(async move {
            let cluster = embedded();
            let client = cluster.client();
            manifests::install(client.clone()).await.unwrap();
            install_gates(&client).await;
            turn_on(&client, &[self]).await;
            checks(&client, &embedded_operator(&cluster)).await;
        });
        checked.await.is_ok()
    }
}

/// The generated policy, for KKP's clusters and for gates.
pub(crate) fn generated() -> Policy {
    let clusters = Served {
        plural: "clusters",
        singular: "cluster",
        group: "kubermatic.k8c.io",
        version: "v1",
    };
    Policy::of(&manifests::protection(&[clusters, GATES]))
}

/// KKP's own policy.
pub(crate) fn kkp() -> Policy {
    Policy::of(&manifests::KKP_POLICIES)
}

pub(crate) async fn turn_on(client: &Client, policies: &[Policy]) {
    let post = PostParams::default();
    let api: Api<ValidatingAdmissionPolicy> = Api::all(client.clone());
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(client.clone());
    for Policy { policy, binding } in policies {
        api.create(&post, policy).await.unwrap();
        bindings.create(&post, binding).await.unwrap();
    }
}

/// Tries a change of an object; the refusal's message, if it was refused.
pub(crate) async fn attempt(
    api: &Api<DynamicObject>,
    name: &str,
    patch: Value,
) -> Result<(), String> {
    let sent = Patch::Merge(patch);
    match api.patch(name, &PatchParams::default(), &sent).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 422 || status.code == 403 => {
            Err(status.message.clone())
        }
        Err(error) => panic!("{error}"),
    }
}
