//! A small second system, which exists only here: its objects live in namespaces, wait for an owner,
//! need a Secret, tell conditions in a list and ids in their status.

use api::{Change, Status};
use cloud_port::Places;
use cloud_port::aws::network::Network;
use cloud_port::aws::security_group::{Peer, Ports, Rule, SECURITY_GROUP, SecurityGroup, Traffic};
use cloud_port::aws::{self, Access, Accounts, AwsPlace as _, Credentials, vpc};
use controllers::reconcile::{Ask, Sources, System, Told, Trouble, Unserved, Wants, Watches};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;
use ownership::blueprint::Expr;
use ownership::decide::Evidence;
use ownership::input::InputError;
use ownership::mark::Dialect;
use ownership::{Blueprint, CloudError, Kind, Slot, SlotName};
use serde_json::json;

use crate::object::{Gate, Yard};

/// Gates on AWS: a security group each.
pub(crate) struct Gates<A> {
    pub(crate) accounts: A,
}

/// What must be known of a gate besides itself.
#[derive(Hash)]
pub(crate) struct Facts {
    access: Access,
    /// From where people come.
    from: String,
}

static OWNED: [&Kind; 1] = [&SECURITY_GROUP];

impl<A: Accounts> System for Gates<A> {
    type Object = Gate;
    type Facts = Facts;
    type Cloud = A::Cloud;

    const CLAIM_KIND: &'static str = "Gate.second.freehold.dev";
    const FINALIZER: &'static str = "second.freehold.dev/gate";
    const STATUS: Status = Status {
        observed_generation: Some(&["status", "observedGeneration"]),
        ..Status::LIST
    };
    const UNSERVED: &'static [Unserved] = &[
        Unserved::new(&["spec", "bell"]),
        Unserved {
            default: Some("left"),
            ..Unserved::new(&["spec", "hinge"])
        },
    ];

    fn owns(&self) -> &'static [&'static Kind] {
        &OWNED
    }

    fn kinds(&self) -> &'static [&'static Kind] {
        &aws::KINDS
    }

    fn wants(gate: &Gate, facts: &Facts) -> Result<Wants, InputError> {
        let from = Network::parse("spec.from of the yard", &facts.from)?;
        let rule = |port: &u16| Rule {
            traffic: Traffic::Tcp(Ports::one(*port)),
            peer: Peer::Network(from),
        };
        let group = SecurityGroup {
            name: format!(
                "{}-{}",
                gate.namespace().unwrap_or_default(),
                gate.name_any()
            )
            .into(),
            description: "A gate".into(),
            vpc: Expr::Slot(slot("vpc")),
            rules: gate.spec.ports.iter().map(rule).collect(),
            groups: Vec::new(),
        };
        let vpc = Slot {
            cluster_mark: true,
            ..vpc::find_default(slot("vpc"))
        };
        let slots = vec![vpc, group.slot(slot("group"))?];
        let cluster = gate.name_any().as_str().into();
        Ok(Wants {
            blueprint: Blueprint::new(slots).unwrap(),
            dialect: Dialect::Capa { cluster },
            evidence: Evidence::default(),
        })
    }

    fn place(cloud: &A::Cloud) -> String {
        cloud.place()
    }

    fn misplaced(gate: &Gate, was: &str, is: &str) -> InputError {
        let rule = format!("leads to {is}, but its group is in {was}");
        InputError::new("spec.yard", &gate.spec.yard, rule)
    }

    fn status(change: &mut Change<Gate>, _: &Gate, told: &Told<'_>, _: jiff::Timestamp) {
        let Some(report) = told.report else { return };
        let filled = |name| {
            report
                .filled
                .iter()
                .find(|filled| filled.slot == slot(name))
        };
        let id = filled("group").map(|group| group.target.id.as_str());
        change.want(&["status", "securityGroupID"], json!(id));
        let range = filled("vpc").and_then(|vpc| vpc.props.get("cidr"));
        change.want(&["status", "network"], json!(range.map(|range| &**range)));
    }
}

impl<A: Accounts> Sources for Gates<A> {
    fn watches(watches: Watches<Self>) -> Watches<Self> {
        watches.on_hosts::<Yard>().on_hosts::<Secret>()
    }

    async fn facts(&self, ask: &Ask<'_>, gate: &Gate) -> Result<Facts, Trouble> {
        let namespace = gate.namespace();
        let yard: Option<Yard> = ask.host(namespace.as_deref(), &gate.spec.yard).await?;
        let Some(yard) = yard else {
            return Err(Trouble::Waits(format!("the yard {}", gate.spec.yard)));
        };
        if yard.spec.paused {
            return Err(Trouble::Paused("the yard is paused".to_owned()));
        }
        let key = &gate.spec.key.name;
        let secret: Option<Secret> = ask.host(namespace.as_deref(), key).await?;
        let data = secret.and_then(|secret| secret.data).unwrap_or_default();
        let text = |name: &str| {
            let value = data.get(name).map(|bytes| bytes.0.clone());
            value.and_then(|bytes| String::from_utf8(bytes).ok())
        };
        let (Some(id), Some(secret)) = (text("id"), text("secret")) else {
            let rule = "must name a Secret with id and secret";
            return Err(InputError::new("spec.key.name", key, rule).into());
        };
        let secret = aws::Secret::new(secret);
        Ok(Facts {
            access: Access {
                credentials: Credentials::Keys { id, secret },
                assume: None,
                region: yard.spec.region,
            },
            from: yard.spec.from,
        })
    }

    async fn open(&self, facts: &Facts) -> Result<Places<A::Cloud>, CloudError> {
        Ok(self.accounts.open(&facts.access).await?.into())
    }
}

fn slot(name: &str) -> SlotName {
    SlotName::new(name).unwrap()
}
