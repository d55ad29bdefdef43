//! The laboratory of KKP: what people do to an account of AWS, and the manifests of clusters.

use std::ops::{Deref, DerefMut};

use api::kkp::Cluster;
use cloud_port::aws::AwsPlace;
use cloud_sim::{Account, Actor, SharedAccount, VirtualClock};
use controllers::kkp::Kkp;
use kube::Client;
use kube::api::PostParams;
use laboratory::{During, One, Sample, merge};
use serde_json::{Value, json};

use crate::hands::Hands;

/// The system, as the laboratory has it.
type System<C> = Kkp<One<During<C>>>;

/// The laboratory without what is KKP's own.
pub type Plain<C> = laboratory::Lab<System<C>, C>;

/// A laboratory.
pub struct Lab<C: AwsPlace + Clone + 'static> {
    /// What people do to the account, and what they see there.
    pub hands: Hands<C>,
    /// Whether the cloud keeps a group that another group's rule names, as AWS does.
    pub keeps_referenced: bool,
    plain: Plain<C>,
}

impl<C: AwsPlace + Clone + 'static> Deref for Lab<C> {
    type Target = Plain<C>;

    fn deref(&self) -> &Self::Target {
        &self.plain
    }
}

impl<C: AwsPlace + Clone + 'static> DerefMut for Lab<C> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.plain
    }
}

impl<C: AwsPlace + Clone + 'static> Lab<C> {
    /// A laboratory around an account: `cloud` is what the controller talks to, `hands` what people
    /// do. The served kinds must be installed.
    pub fn new(client: Client, cloud: C, hands: C, clock: VirtualClock, case: &str) -> Self {
        let make = |during| Kkp {
            accounts: One::new(during),
        };
        let hands = Hands::new(hands, clock.clone());
        Self {
            hands,
            keeps_referenced: true,
            plain: laboratory::Lab::new(client, cloud, clock, case, sample(), make),
        }
    }

    /// The account and the region.
    pub fn place(&self) -> (&str, &str) {
        let cloud = self.plain.cloud();
        (cloud.account(), cloud.region())
    }

    /// Creates the cluster with these fields in `spec.cloud.aws` and these in `spec`.
    pub async fn create(&self, aws: Value, spec: Value) {
        self.create_as(&self.name, aws, spec, json!({})).await;
    }

    /// Creates a cluster of this name, with this metadata.
    pub async fn create_as(&self, name: &str, aws: Value, spec: Value, metadata: Value) {
        let cluster = manifest(name, aws, spec, metadata);
        let created = self.api().create(&PostParams::default(), &cluster).await;
        created.unwrap();
    }

    /// The cluster, as the API server has it.
    pub async fn cluster(&self) -> Cluster {
        self.plain.object().await
    }

    /// The laboratory without what is KKP's own.
    pub fn plain(self) -> Plain<C> {
        self.plain
    }
}

impl Lab<SharedAccount> {
    /// A laboratory around a simulated account.
    pub fn simulated(client: Client, settings: cloud_sim::Settings, case: &str) -> Self {
        let clock = VirtualClock::new();
        let account = Account::new(settings, clock.clone());
        let cloud = SharedAccount::new(account, Actor::Engine(0));
        let hands = cloud.as_actor(Actor::Stranger);
        Self::new(client, cloud, hands, clock, case)
    }

    /// The same credentials lead to another account from now on; people still see the first one.
    pub fn lead_elsewhere(&mut self, settings: cloud_sim::Settings) -> SharedAccount {
        let another = self.plain.another(settings);
        self.plain.lead_to(another)
    }
}

/// A cluster that leaves everything to us.
fn sample() -> Sample {
    let cluster = manifest("sample", json!({}), json!({}), json!({}));
    let mut manifest = serde_json::to_value(cluster).unwrap();
    manifest["metadata"]["name"] = Value::Null;
    Sample {
        manifest,
        owns: 4,
        lacks: &[],
        edit: json!({"spec": {"cloud": {"aws": {"nodePortsAllowedIPRange": "10.0.0.0/8"}}}}),
    }
}

/// A cluster of this name, with these fields in `spec.cloud.aws`, in `spec` and in its metadata.
pub(crate) fn manifest(name: &str, aws: Value, spec: Value, metadata: Value) -> Cluster {
    let mut object = json!({
        "apiVersion": "kubermatic.k8c.io/v1",
        "kind": "Cluster",
        "metadata": {"name": name, "annotations": {"kubermatic.io/aws-region": "eu-central-1"}},
        "spec": {
            "humanReadableName": name,
            "version": "1.33.0",
            "exposeStrategy": "NodePort",
            "clusterNetwork": {
                "dnsDomain": "cluster.local",
                "proxyMode": "ipvs",
                "pods": {"cidrBlocks": ["10.0.0.0/16"]},
                "services": {"cidrBlocks": ["10.1.0.0/16"]},
            },
            "cloud": {
                "dc": "frankfurt",
                "providerName": "aws",
                "aws": {
                    "vpcID": "", "routeTableID": "", "securityGroupID": "", "roleARN": "",
                    "instanceProfileName": "",
                },
            },
        },
    });
    merge(&mut object["spec"]["cloud"]["aws"], aws);
    merge(&mut object["spec"], spec);
    merge(&mut object["metadata"], metadata);
    serde_json::from_value(object).unwrap()
}
