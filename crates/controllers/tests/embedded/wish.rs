//! What people want of a cluster, and what must be there when it rests.

use std::collections::BTreeSet;

use laboratory::seeded::{self, Random};
use serde_json::{Value, json};

use crate::guests::Guests;

/// The IP families that a cluster can have.
const FAMILIES: [&str; 3] = ["IPv4", "IPv6", "IPv4+IPv6"];
/// Ranges of node ports; the first is what none means.
const PORTS: [&str; 3] = ["30000-32767", "30000-30100", "20000-20100"];

/// What people want of a cluster.
#[derive(Debug)]
pub(crate) struct Wish {
    /// Somebody's group, instead of one of its own.
    pub(crate) shares_group: bool,
    /// Roles and a profile.
    pub(crate) iam: bool,
    pub(crate) family: String,
    pub(crate) ports: String,
    /// Who may reach the node ports; everybody without it.
    pub(crate) allowed: Option<String>,
    /// Somebody named another VPC or group first.
    pub(crate) corrected: bool,
    /// What the controllers inside it want.
    pub(crate) guests: Guests,
}

impl Wish {
    /// What a cluster of this family wants that leaves everything to us.
    pub(crate) fn new(family: &str) -> Self {
        Self {
            shares_group: false,
            iam: true,
            family: family.to_owned(),
            ports: PORTS[0].to_owned(),
            allowed: None,
            corrected: false,
            guests: Guests::default(),
        }
    }

    /// Wants what an object says.
    pub(crate) fn set_back(&mut self, object: &Value, shared: &str) {
        let aws = &object["spec"]["cloud"]["aws"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let server = &object["spec"]["componentsOverride"]["apiserver"];
        self.shares_group = aws["securityGroupID"] == shared;
        self.iam = aws["disableIAMReconciling"] != true;
        self.family = text(&object["spec"]["clusterNetwork"]["ipFamily"]).unwrap();
        self.ports = text(&server["nodePortRange"]).unwrap_or_else(|| PORTS[0].to_owned());
        self.allowed = text(&aws["nodePortsAllowedIPRanges"]["cidrBlocks"][0]);
    }

    /// The rules that must be in the cluster's group.
    pub(crate) fn rules(&self) -> BTreeSet<String> {
        let everybody = [("IPv4", "0.0.0.0/0", "icmp"), ("IPv6", "::/0", "icmpv6")];
        let everybody = everybody.iter().filter(|(v, ..)| self.family.contains(v));
        let mut rules = BTreeSet::from(["ingress all all self".to_owned()]);
        for (_, range, ping) in everybody {
            rules.insert(format!("ingress tcp 22-22 {range}"));
            rules.insert(format!("ingress {ping} all {range}"));
            let allowed = self.allowed.as_deref().unwrap_or(range);
            for protocol in ["tcp", "udp"] {
                rules.insert(format!("ingress {protocol} {} {allowed}", self.ports));
            }
        }
        rules
    }

    /// The resources that a cluster of this name must have, by kind and name.
    pub(crate) fn resources(&self, name: &str) -> Vec<String> {
        let ours = format!("kubernetes-{name}");
        let mut wanted = Vec::new();
        if !self.shares_group {
            wanted.push(group(name));
        }
        if self.iam {
            wanted.push(format!("aws/iam-role {ours}-control-plane"));
            wanted.push(format!("aws/iam-role {ours}-worker"));
            wanted.push(format!("aws/instance-profile {ours}"));
        }
        wanted
    }
}

impl seeded::Wish for Wish {
    fn change(&mut self, random: &Random) {
        let pick = |from: &[&str]| {
            random
                .pick(from)
                .map_or_else(String::new, |one| (*one).to_owned())
        };
        match random.below(3) {
            0 => self.family = pick(&FAMILIES),
            1 => self.ports = pick(&PORTS),
            _ => {
                let some = random.chance(50).then_some("10.0.0.0/8");
                self.allowed = some.map(str::to_owned);
            }
        }
    }

    fn patch(&self) -> Value {
        let allowed = self.allowed.as_ref();
        let allowed = allowed.map(|range| json!({"cidrBlocks": [range]}));
        json!({"spec": {
            "clusterNetwork": {"ipFamily": self.family},
            "componentsOverride": {"apiserver": {"nodePortRange": self.ports}},
            "cloud": {"aws": {"nodePortsAllowedIPRanges": allowed}},
        }})
    }
}

/// The group of a cluster of this name.
pub(crate) fn group(name: &str) -> String {
    format!("aws/security-group kubernetes-{name}")
}
