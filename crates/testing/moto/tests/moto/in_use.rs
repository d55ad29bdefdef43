//! What is in use stays.

use crate::lab::{Side, sides};

const VIOLATION: &str = "DependencyViolation";

/// Deletes something that AWS keeps.
async fn kept(side: &Side, operation: &str, params: &[(&str, &str)]) {
    let said = side.ec2(operation, params).await;
    side.refused(&said, VIOLATION);
}

#[tokio::test]
async fn subnet_in_use() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let delete =
            async |subnet: &str| kept(&side, "DeleteSubnet", &[("SubnetId", subnet)]).await;
        let free = async |subnet: &str| {
            if side.proxy.is_some() {
                side.act("DeleteSubnet", &[("SubnetId", subnet)]).await;
            }
        };

        let subnet = side.subnet(&vpc, 1).await;
        let instance = side.instance(&subnet, &[]).await;
        delete(&subnet).await;
        side.terminate(&instance).await;
        free(&subnet).await;

        let subnet = side.subnet(&vpc, 2).await;
        let address = side.address().await;
        let gateway = side.nat_gateway(&subnet, &address).await;
        delete(&subnet).await;
        side.act("DeleteNatGateway", &[("NatGatewayId", &gateway)])
            .await;
        free(&subnet).await;

        let subnet = side.subnet(&vpc, 3).await;
        let params = [("SubnetId", subnet.as_str())];
        let interface = side
            .make("CreateNetworkInterface", &params, "networkInterfaceId")
            .await;
        delete(&subnet).await;
        let params = [("NetworkInterfaceId", interface.as_str())];
        side.act("DeleteNetworkInterface", &params).await;
        free(&subnet).await;

        let subnet = side.subnet(&vpc, 4).await;
        let balancer = side.balancer("net", &subnet, &[]).await;
        delete(&subnet).await;
        side.elb_v2("DeleteLoadBalancer", &[("LoadBalancerArn", &balancer)])
            .await;
        free(&subnet).await;

        let subnet = side.subnet(&vpc, 5).await;
        side.classic("classic", &subnet, &[]).await;
        delete(&subnet).await;
        side.elb("DeleteLoadBalancer", &[("LoadBalancerName", "classic")])
            .await;
        free(&subnet).await;
    }
}

#[tokio::test]
async fn group_in_use() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let delete =
            async |group: &str| kept(&side, "DeleteSecurityGroup", &[("GroupId", group)]).await;
        let free = async |group: &str| {
            if side.proxy.is_some() {
                side.act("DeleteSecurityGroup", &[("GroupId", group)]).await;
            }
        };

        let group = side.group(&vpc, "of an instance").await;
        let instance = side.instance(&subnet, &[&group]).await;
        delete(&group).await;
        side.terminate(&instance).await;
        free(&group).await;

        let group = side.group(&vpc, "of an interface").await;
        let params = [("SubnetId", subnet.as_str()), ("SecurityGroupId.1", &group)];
        let interface = side
            .make("CreateNetworkInterface", &params, "networkInterfaceId")
            .await;
        delete(&group).await;
        let params = [("NetworkInterfaceId", interface.as_str())];
        side.act("DeleteNetworkInterface", &params).await;
        free(&group).await;

        let group = side.group(&vpc, "of a network load balancer").await;
        let groups = [("SecurityGroups.member.1", group.as_str())];
        let balancer = side.balancer("net", &subnet, &groups).await;
        delete(&group).await;
        side.elb_v2("DeleteLoadBalancer", &[("LoadBalancerArn", &balancer)])
            .await;
        free(&group).await;

        let group = side.group(&vpc, "of a classic one").await;
        let groups = [("SecurityGroups.member.1", group.as_str())];
        side.classic("classic", &subnet, &groups).await;
        delete(&group).await;
        side.elb("DeleteLoadBalancer", &[("LoadBalancerName", "classic")])
            .await;
        free(&group).await;
    }
}

#[tokio::test]
async fn group_references() {
    for side in sides().await {
        let vpc = side.vpc().await;
        for direction in ["Ingress", "Egress"] {
            let group = side.group(&vpc, &format!("named by {direction}")).await;
            let other = side.group(&vpc, &format!("names for {direction}")).await;
            let rule = |of: &'static str| format!("IpPermissions.1.{of}");
            let authorize = async |group: &str, names: &str| {
                let params = [
                    ("GroupId", group),
                    (&rule("IpProtocol"), "tcp"),
                    (&rule("FromPort"), "22"),
                    (&rule("ToPort"), "22"),
                    (&rule("Groups.1.GroupId"), names),
                ];
                let operation = format!("AuthorizeSecurityGroup{direction}");
                side.act(&operation, &params).await;
            };
            authorize(&other, &group).await;
            // Its own rule does not keep it.
            authorize(&group, &group).await;
            kept(&side, "DeleteSecurityGroup", &[("GroupId", &group)]).await;
            if side.proxy.is_some() {
                side.act("DeleteSecurityGroup", &[("GroupId", &other)])
                    .await;
                side.act("DeleteSecurityGroup", &[("GroupId", &group)])
                    .await;
            }
        }
    }
}

#[tokio::test]
async fn default_group() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let groups = side
            .filtered("DescribeSecurityGroups", "vpc-id", &vpc)
            .await;
        let params = [("GroupId", groups.value("groupId"))];
        let said = side.ec2("DeleteSecurityGroup", &params).await;
        side.refused(&said, "CannotDelete");
    }
}

#[tokio::test]
async fn main_route_table() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let tables = side.filtered("DescribeRouteTables", "vpc-id", &vpc).await;
        let params = [("RouteTableId", tables.value("routeTableId"))];
        kept(&side, "DeleteRouteTable", &params).await;
        let params = [("VpcId", vpc.as_str())];
        let other = side.make("CreateRouteTable", &params, "routeTableId").await;
        side.act("DeleteRouteTable", &[("RouteTableId", &other)])
            .await;
    }
}

#[tokio::test]
async fn vpc_in_use() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let gateway = side.gateway(&vpc).await;
        kept(&side, "DeleteVpc", &[("VpcId", &vpc)]).await;
        if side.proxy.is_some() {
            let params = [("InternetGatewayId", gateway.as_str()), ("VpcId", &vpc)];
            side.act("DetachInternetGateway", &params).await;
            side.act("DeleteVpc", &[("VpcId", &vpc)]).await;
        }
        let vpc = side.vpc().await;
        let group = side.group(&vpc, "left").await;
        kept(&side, "DeleteVpc", &[("VpcId", &vpc)]).await;
        if side.proxy.is_some() {
            side.act("DeleteSecurityGroup", &[("GroupId", &group)])
                .await;
            side.act("DeleteVpc", &[("VpcId", &vpc)]).await;
        }
    }
}

#[tokio::test]
async fn mapped_address() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let gateway = side.gateway(&vpc).await;
        let subnet = side.subnet(&vpc, 0).await;
        let params = [("InternetGatewayId", gateway.as_str()), ("VpcId", &vpc)];
        // moto does it: then it is attached again.
        let detach = async || {
            kept(&side, "DetachInternetGateway", &params).await;
            if side.proxy.is_none() {
                side.act("AttachInternetGateway", &params).await;
            }
        };

        let address = side.address().await;
        let nat = side.nat_gateway(&subnet, &address).await;
        detach().await;
        side.act("DeleteNatGateway", &[("NatGatewayId", &nat)])
            .await;

        let address = side.address().await;
        let instance = side.instance(&subnet, &[]).await;
        let associate = [
            ("AllocationId", address.as_str()),
            ("InstanceId", &instance),
        ];
        side.act("AssociateAddress", &associate).await;
        detach().await;
        side.terminate(&instance).await;

        let public = [("Scheme", "internet-facing")];
        side.classic("classic", &subnet, &public).await;
        detach().await;
        side.elb("DeleteLoadBalancer", &[("LoadBalancerName", "classic")])
            .await;

        // An internal one has no public address.
        side.classic("internal", &subnet, &[("Scheme", "internal")])
            .await;
        side.act("DetachInternetGateway", &params).await;
    }
}

#[tokio::test]
async fn address_in_use() {
    for side in sides().await {
        let vpc = side.vpc().await;
        side.gateway(&vpc).await;
        let subnet = side.subnet(&vpc, 0).await;
        let release = async |address: &str| {
            let said = side
                .ec2("ReleaseAddress", &[("AllocationId", address)])
                .await;
            side.refused(&said, "InvalidIPAddress.InUse");
        };

        let address = side.address().await;
        let nat = side.nat_gateway(&subnet, &address).await;
        release(&address).await;
        side.act("DeleteNatGateway", &[("NatGatewayId", &nat)])
            .await;
        if side.proxy.is_some() {
            side.act("ReleaseAddress", &[("AllocationId", &address)])
                .await;
        }

        let address = side.address().await;
        let instance = side.instance(&subnet, &[]).await;
        let associate = [
            ("AllocationId", address.as_str()),
            ("InstanceId", &instance),
        ];
        side.act("AssociateAddress", &associate).await;
        release(&address).await;
        side.terminate(&instance).await;
        if side.proxy.is_some() {
            side.act("ReleaseAddress", &[("AllocationId", &address)])
                .await;
        }
    }
}
