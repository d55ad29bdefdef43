//! Two accounts of moto's: one is entered directly, the other one through the proxy.

use std::io::Write as _;

use moto_server::MotoServer;
use moto_server::proxy::{Caller, Proxy, Said, Settings};
use tokio::sync::OnceCell;

pub(crate) const REGION: &str = "eu-central-1";
/// One that moto knows.
const IMAGE: &str = "ami-12c6146b";

/// What a test needs; `None` if this is not its tier.
pub(crate) async fn moto() -> Option<&'static MotoServer> {
    static SERVER: OnceCell<MotoServer> = OnceCell::const_new();
    if std::env::var_os("FREEHOLD_TIER_AWS").is_none_or(|value| value != "1") {
        // Not `eprintln!`, which the test harness hides.
        let line = "SKIPPED: moto's server (FREEHOLD_TIER_AWS is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return None;
    }
    let start = || async {
        let moto = moto_server::install(|_| ()).expect("moto");
        MotoServer::start(&moto).await.expect("it starts")
    };
    Some(SERVER.get_or_init(start).await)
}

/// An account, and whether the proxy is before it.
pub(crate) struct Side {
    caller: Caller,
    pub(crate) proxy: Option<Proxy>,
}

/// A new account of moto's, and a new one behind a proxy; none, if this is not the tier.
pub(crate) async fn sides() -> Vec<Side> {
    let Some(server) = moto().await else {
        return Vec::new();
    };
    let mut sides = Vec::new();
    for proxied in [false, true] {
        let account = server.new_account();
        let proxy = if proxied {
            let proxy = Proxy::start(server.url(), Settings::default()).await;
            Some(proxy.expect("it starts"))
        } else {
            None
        };
        let url = proxy.as_ref().map_or(server.url(), Proxy::url);
        let caller = Caller::new(url, &account, REGION)
            .await
            .expect("an account");
        sides.push(Side { caller, proxy });
    }
    sides
}

impl Side {
    pub(crate) async fn ec2(&self, operation: &str, params: &[(&str, &str)]) -> Said {
        self.heard(self.caller.ec2(operation, params).await)
    }

    pub(crate) async fn elb(&self, operation: &str, params: &[(&str, &str)]) -> Said {
        self.heard(self.caller.elb(operation, params).await)
    }

    pub(crate) async fn elb_v2(&self, operation: &str, params: &[(&str, &str)]) -> Said {
        self.heard(self.caller.elb_v2(operation, params).await)
    }

    fn heard(&self, said: std::io::Result<Said>) -> Said {
        let trouble = self.proxy.as_ref().map(Proxy::trouble);
        said.unwrap_or_else(|error| panic!("no answer: {error}; {trouble:?}"))
    }

    /// Does something in EC2 that is permitted, and returns this of the answer.
    pub(crate) async fn make(&self, operation: &str, params: &[(&str, &str)], of: &str) -> String {
        let said = self.ec2(operation, params).await;
        assert_eq!(said.code(), "", "{operation} {params:?}: {}", said.body);
        said.value(of).to_owned()
    }

    /// Does something in EC2 that is permitted.
    pub(crate) async fn act(&self, operation: &str, params: &[(&str, &str)]) {
        self.make(operation, params, "").await;
    }

    /// AWS refuses this with a code; moto does it.
    pub(crate) fn refused(&self, said: &Said, code: &str) {
        let expected = if self.proxy.is_some() { code } else { "" };
        assert_eq!(
            said.code(),
            expected,
            "behind a proxy: {}: {}",
            self.proxy.is_some(),
            said.body
        );
    }

    /// AWS has this, moto has that.
    pub(crate) fn differs<T: std::fmt::Debug + PartialEq>(&self, is: T, aws: T, moto: T) {
        assert_ne!(aws, moto);
        let expected = if self.proxy.is_some() { aws } else { moto };
        assert_eq!(is, expected, "behind a proxy: {}", self.proxy.is_some());
    }

    pub(crate) async fn vpc(&self) -> String {
        self.make("CreateVpc", &[("CidrBlock", "10.0.0.0/16")], "vpcId")
            .await
    }

    pub(crate) async fn subnet(&self, vpc: &str, third: u8) -> String {
        let (range, zone) = (
            format!("10.0.{third}.0/24"),
            format!("{REGION}{}", if third == 0 { 'a' } else { 'b' }),
        );
        let params = [
            ("VpcId", vpc),
            ("CidrBlock", &range),
            ("AvailabilityZone", &zone),
        ];
        self.make("CreateSubnet", &params, "subnetId").await
    }

    /// An internet gateway that is attached.
    pub(crate) async fn gateway(&self, vpc: &str) -> String {
        let gateway = self
            .make("CreateInternetGateway", &[], "internetGatewayId")
            .await;
        let params = [("InternetGatewayId", gateway.as_str()), ("VpcId", vpc)];
        self.act("AttachInternetGateway", &params).await;
        gateway
    }

    pub(crate) async fn group(&self, vpc: &str, name: &str) -> String {
        let params = [
            ("VpcId", vpc),
            ("GroupName", name),
            ("GroupDescription", "of a test"),
        ];
        self.make("CreateSecurityGroup", &params, "groupId").await
    }

    pub(crate) async fn address(&self) -> String {
        self.make("AllocateAddress", &[("Domain", "vpc")], "allocationId")
            .await
    }

    pub(crate) async fn nat_gateway(&self, subnet: &str, address: &str) -> String {
        let params = [("SubnetId", subnet), ("AllocationId", address)];
        self.make("CreateNatGateway", &params, "natGatewayId").await
    }

    pub(crate) async fn launch(&self, subnet: &str, more: &[(&str, &str)]) -> Said {
        let params = [
            ("ImageId", IMAGE),
            ("InstanceType", "t3.micro"),
            ("MinCount", "1"),
            ("MaxCount", "1"),
            ("SubnetId", subnet),
        ];
        self.ec2("RunInstances", &[&params, more].concat()).await
    }

    pub(crate) async fn instance(&self, subnet: &str, groups: &[&str]) -> String {
        let keys: Vec<_> = (1..=groups.len())
            .map(|n| format!("SecurityGroupId.{n}"))
            .collect();
        let groups = keys.iter().map(String::as_str).zip(groups.iter().copied());
        let said = self.launch(subnet, &groups.collect::<Vec<_>>()).await;
        assert_eq!(said.code(), "", "{}", said.body);
        said.value("instanceId").to_owned()
    }

    pub(crate) async fn terminate(&self, instance: &str) {
        self.act("TerminateInstances", &[("InstanceId.1", instance)])
            .await;
    }

    /// An internal network load balancer; its ARN.
    pub(crate) async fn balancer(&self, name: &str, subnet: &str, more: &[(&str, &str)]) -> String {
        let params = [
            ("Name", name),
            ("Type", "network"),
            ("Scheme", "internal"),
            ("Subnets.member.1", subnet),
        ];
        let said = self
            .elb_v2("CreateLoadBalancer", &[&params, more].concat())
            .await;
        assert_eq!(said.code(), "", "{}", said.body);
        said.value("LoadBalancerArn").to_owned()
    }

    pub(crate) async fn classic(&self, name: &str, subnet: &str, more: &[(&str, &str)]) {
        let params = [
            ("LoadBalancerName", name),
            ("Subnets.member.1", subnet),
            ("Listeners.member.1.Protocol", "TCP"),
            ("Listeners.member.1.LoadBalancerPort", "6443"),
            ("Listeners.member.1.InstancePort", "6443"),
        ];
        let said = self
            .elb("CreateLoadBalancer", &[&params, more].concat())
            .await;
        assert_eq!(said.code(), "", "{}", said.body);
    }

    /// What a read of EC2 by a filter says.
    pub(crate) async fn filtered(&self, operation: &str, filter: &str, value: &str) -> Said {
        let params = [("Filter.1.Name", filter), ("Filter.1.Value.1", value)];
        self.ec2(operation, &params).await
    }

    /// The network interfaces in a subnet.
    pub(crate) async fn interfaces(&self, subnet: &str) -> Said {
        self.filtered("DescribeNetworkInterfaces", "subnet-id", subnet)
            .await
    }
}
