//! As whom AWS is called for a cluster: its identity, which says which namespaces may use it.

use api::capa::{
    AllowedNamespaces, AwsCluster, ControllerIdentity, IdentityKind, IdentityReference,
    RoleIdentity, SECRETS_NAMESPACE, StaticIdentity, secret_key,
};
use cloud_port::aws::{self, Access, AssumeRole, Credentials};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::ResourceExt as _;
use ownership::input::InputError;

use super::blame::IDENTITY;
use crate::reconcile::{Ask, Trouble};

const KIND: &str = "spec.identityRef.kind";

/// What a role can be narrowed by that we do not send: to leave it out would give more than was meant.
const NARROWS: [&str; 2] = ["inlinePolicy", "policyARNs"];

/// As whom AWS is called, in this region.
pub(super) async fn access(
    ask: &Ask<'_>,
    object: &AwsCluster,
    region: &str,
) -> Result<Access, Trouble> {
    let asker = Asker {
        ask,
        namespace: object.namespace().unwrap_or_default(),
    };
    let default = IdentityReference {
        kind: "AWSClusterControllerIdentity".to_owned(),
        name: IdentityKind::CONTROLLER.to_owned(),
        ..IdentityReference::default()
    };
    let reference = object.spec.identity_ref.as_ref().unwrap_or(&default);
    let (credentials, assume) = match IdentityKind::parse(KIND, &reference.kind)? {
        IdentityKind::Role => asker.role(&reference.name).await?,
        kind => (asker.credentials(kind, &reference.name).await?, None),
    };
    Ok(Access {
        credentials,
        assume,
        region: region.to_owned(),
    })
}

struct Asker<'a> {
    ask: &'a Ask<'a>,
    namespace: String,
}

impl Asker<'_> {
    /// The credentials of an identity that is no role.
    async fn credentials(&self, kind: IdentityKind, name: &str) -> Result<Credentials, Trouble> {
        match kind {
            IdentityKind::Controller => self.controller(name).await,
            IdentityKind::Static => self.fixed(name).await,
            IdentityKind::Role => {
                let rule = "must not name a role that is taken on by way of another one: that is not \
                            served";
                Err(InputError::new(IDENTITY, name, rule).into())
            }
        }
    }

    /// What the operator itself runs with. Where nobody has made the identity, everybody may use it: the
    /// original makes it so.
    async fn controller(&self, name: &str) -> Result<Credentials, Trouble> {
        if name != IdentityKind::CONTROLLER {
            let rule = "must be default: there is one identity of the controller";
            return Err(InputError::new(IDENTITY, name, rule).into());
        }
        let identity: Option<ControllerIdentity> = self.ask.get(None, name).await?;
        if let Some(identity) = identity {
            self.check(name, identity.spec.allowed_namespaces.as_ref())
                .await?;
        }
        Ok(Credentials::Default)
    }

    async fn fixed(&self, name: &str) -> Result<Credentials, Trouble> {
        let identity: Option<StaticIdentity> = self.ask.get(None, name).await?;
        let identity = identity.ok_or_else(|| missing(name, "AWSClusterStaticIdentity"))?;
        self.check(name, identity.spec.allowed_namespaces.as_ref())
            .await?;
        let secret = &identity.spec.secret_ref;
        let found: Option<Secret> = self.ask.peek(Some(SECRETS_NAMESPACE), secret).await?;
        let data = found.and_then(|secret| secret.data).unwrap_or_default();
        let text = |key: &str| {
            let bytes = data.get(key).map(|bytes| bytes.0.clone());
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            text.filter(|text| !text.is_empty())
        };
        if text(secret_key::SESSION_TOKEN).is_some() {
            let rule = format!(
                "names an identity whose Secret {SECRETS_NAMESPACE}/{secret} has a {}: credentials that \
                 expire are not served, use a role",
                secret_key::SESSION_TOKEN
            );
            return Err(InputError::new(IDENTITY, name, rule).into());
        }
        let id = text(secret_key::ACCESS_KEY_ID);
        let (Some(id), Some(key)) = (id, text(secret_key::SECRET_ACCESS_KEY)) else {
            let rule = format!(
                "names an identity whose Secret {SECRETS_NAMESPACE}/{secret} must have {} and {}",
                secret_key::ACCESS_KEY_ID,
                secret_key::SECRET_ACCESS_KEY
            );
            return Err(InputError::new(IDENTITY, name, rule).into());
        };
        let secret = aws::Secret::new(key);
        Ok(Credentials::Keys { id, secret })
    }

    async fn role(&self, name: &str) -> Result<(Credentials, Option<AssumeRole>), Trouble> {
        let identity: Option<RoleIdentity> = self.ask.get(None, name).await?;
        let identity = identity.ok_or_else(|| missing(name, "AWSClusterRoleIdentity"))?;
        let spec = identity.spec;
        self.check(name, spec.allowed_namespaces.as_ref()).await?;
        let is_set = |field: &&&str| {
            let value = spec.rest.get(**field);
            value.is_some_and(|value| {
                !value.is_null() && value.as_str() != Some("") && value.as_array() != Some(&vec![])
            })
        };
        if let Some(field) = NARROWS.iter().find(is_set) {
            let rule =
                format!("names an identity with {field}, which is not served: narrow the role");
            return Err(InputError::new(IDENTITY, name, rule).into());
        }
        let credentials = match &spec.source_identity_ref {
            None => Credentials::Default,
            Some(source) => {
                let kind = IdentityKind::parse(KIND, &source.kind)?;
                Box::pin(self.credentials(kind, &source.name)).await?
            }
        };
        let assume = AssumeRole {
            arn: spec.role_arn,
            external_id: spec.external_id,
        };
        Ok((credentials, Some(assume)))
    }

    /// Whether the cluster's namespace may use an identity.
    async fn check(&self, name: &str, allowed: Option<&AllowedNamespaces>) -> Result<(), Trouble> {
        if let Some(allowed) = allowed {
            if allowed.lists(&self.namespace) {
                return Ok(());
            }
            if allowed.selector.is_some() {
                let namespace: Option<Namespace> = self.ask.peek(None, &self.namespace).await?;
                if namespace.is_some_and(|it| allowed.selects(it.labels())) {
                    return Ok(());
                }
            }
        }
        let rule = format!(
            "must name an identity whose spec.allowedNamespaces allows the namespace {}",
            self.namespace
        );
        Err(InputError::new(IDENTITY, name, rule).into())
    }
}

fn missing(name: &str, kind: &str) -> Trouble {
    let rule = format!("must name an {kind} that is there");
    InputError::new(IDENTITY, name, rule).into()
}
