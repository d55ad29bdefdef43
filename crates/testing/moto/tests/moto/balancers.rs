//! Load balancers.

use crate::lab::{Side, sides};

#[tokio::test]
async fn second_balancer() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let mark = |value| {
            [
                ("Tags.member.1.Key", "mark"),
                ("Tags.member.1.Value", value),
            ]
        };
        let first = side.balancer("net", &subnet, &mark("a")).await;
        let again = side.balancer("net", &subnet, &mark("a")).await;
        side.differs(first == again, true, false);
        let there = side.elb_v2("DescribeLoadBalancers", &[]).await;
        side.differs(there.values("LoadBalancerArn").len(), 1, 2);
        let same = [
            ("Name", "net"),
            ("Type", "network"),
            ("Subnets.member.1", subnet.as_str()),
        ];
        let internal = ("Scheme", "internal");
        let other_scheme = [&same[..], &mark("a")].concat();
        let other_mark = [&same[..], &[internal], &mark("b")].concat();
        for params in [other_scheme, other_mark] {
            let said = side.elb_v2("CreateLoadBalancer", &params).await;
            side.refused(&said, "DuplicateLoadBalancerName");
        }
    }
}

#[tokio::test]
async fn second_listener() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let balancer = side.balancer("net", &subnet, &[]).await;
        let mut targets = Vec::new();
        for name in ["one", "two"] {
            let params = [
                ("Name", name),
                ("Protocol", "TCP"),
                ("Port", "6443"),
                ("VpcId", &vpc),
                ("TargetType", "instance"),
            ];
            let said = side.elb_v2("CreateTargetGroup", &params).await;
            targets.push(said.value("TargetGroupArn").to_owned());
        }
        let listen = async |port: &str, target: &str| {
            let params = [
                ("LoadBalancerArn", balancer.as_str()),
                ("Protocol", "TCP"),
                ("Port", port),
                ("DefaultActions.member.1.Type", "forward"),
                ("DefaultActions.member.1.TargetGroupArn", target),
            ];
            side.elb_v2("CreateListener", &params).await
        };
        let first = listen("6443", &targets[0]).await;
        let again = listen("6443", &targets[0]).await;
        assert_eq!((first.code(), again.code()), ("", ""));
        let arn = "ListenerArn";
        side.differs(first.value(arn) == again.value(arn), true, false);
        let said = listen("6443", &targets[1]).await;
        side.refused(&said, "DuplicateListener");
        assert_eq!(listen("22", &targets[1]).await.code(), "");
    }
}

/// The interfaces in these subnets: description and groups.
async fn interfaces(side: &Side, subnets: &[&String]) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for subnet in subnets {
        let said = side.interfaces(subnet).await;
        let description = said.value("description").to_owned();
        let groups = said.values("groupId").into_iter().map(str::to_owned);
        found.push((description, groups.collect()));
    }
    found
}

#[tokio::test]
async fn balancer_interfaces() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnets = [side.subnet(&vpc, 0).await, side.subnet(&vpc, 1).await];
        let subnets: Vec<_> = subnets.iter().collect();
        let groups = [side.group(&vpc, "one").await, side.group(&vpc, "two").await];
        let none = || vec![(String::new(), Vec::new()); 2];
        let with = |description: &str, groups: &[&String]| {
            let groups: Vec<String> = groups.iter().map(|group| (*group).clone()).collect();
            vec![(description.to_owned(), groups); 2]
        };

        let first = [("SecurityGroups.member.1", groups[0].as_str())];
        let arn = side.balancer("net", subnets[0], &first).await;
        let id = arn.rsplit('/').next().expect("an id").to_owned();
        let balancer = ("LoadBalancerArn", arn.as_str());
        let both = [
            balancer,
            ("Subnets.member.1", subnets[0]),
            ("Subnets.member.2", subnets[1]),
        ];
        assert_eq!(side.elb_v2("SetSubnets", &both).await.code(), "");
        let second = [balancer, ("SecurityGroups.member.1", groups[1].as_str())];
        assert_eq!(side.elb_v2("SetSecurityGroups", &second).await.code(), "");
        let description = format!("ELB net/net/{id}");
        let there = interfaces(&side, &subnets).await;
        side.differs(there, with(&description, &[&groups[1]]), none());
        side.elb_v2("DeleteLoadBalancer", &[balancer]).await;
        assert_eq!(interfaces(&side, &subnets).await, none());

        side.classic("classic", subnets[0], &first).await;
        let name = ("LoadBalancerName", "classic");
        let attach = [name, ("Subnets.member.1", subnets[1])];
        side.elb("AttachLoadBalancerToSubnets", &attach).await;
        let there = interfaces(&side, &subnets).await;
        side.differs(there, with("ELB classic", &[&groups[0]]), none());
        side.elb("DeleteLoadBalancer", &[name]).await;
        assert_eq!(interfaces(&side, &subnets).await, none());
    }
}
