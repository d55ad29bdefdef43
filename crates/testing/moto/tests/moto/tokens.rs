//! Client tokens.

use crate::lab::sides;

#[tokio::test]
async fn client_token() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let mut tables = Vec::new();
        let mut instances = Vec::new();
        for _ in 0..2 {
            let params = [("VpcId", vpc.as_str()), ("ClientToken", "one")];
            tables.push(side.make("CreateRouteTable", &params, "routeTableId").await);
            let said = side.launch(&subnet, &[("ClientToken", "one")]).await;
            instances.push(said.value("instanceId").to_owned());
        }
        side.differs(tables[0] == tables[1], true, false);
        side.differs(instances[0] == instances[1], true, false);
        let there = side.filtered("DescribeRouteTables", "vpc-id", &vpc).await;
        // The VPC's main one, which has an association with it, is one of them.
        let count = there.values("routeSet").len();
        side.differs(count, 2, 3);
        let there = side.ec2("DescribeInstances", &[]).await;
        side.differs(there.values("instanceState").len(), 1, 2);
        let other = [
            ("VpcId", vpc.as_str()),
            ("ClientToken", "one"),
            ("DryRun", "false"),
        ];
        let said = side.ec2("CreateRouteTable", &other).await;
        side.refused(&said, "IdempotentParameterMismatch");
    }
}

#[tokio::test]
async fn nat_gateway_token() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let address = side.address().await;
        let params = [
            ("SubnetId", subnet.as_str()),
            ("AllocationId", &address),
            ("ClientToken", "one"),
        ];
        let first = side.make("CreateNatGateway", &params, "natGatewayId").await;
        let again = side.ec2("CreateNatGateway", &params).await;
        side.differs(again.code(), "", "Resource.AlreadyAssociated");
        side.differs(again.value("natGatewayId"), &first, "");
    }
}

#[tokio::test]
async fn terminated_token() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let token = [("ClientToken", "one")];
        let said = side.launch(&subnet, &token).await;
        side.terminate(said.value("instanceId")).await;
        let again = side.launch(&subnet, &token).await;
        side.refused(&again, "IdempotentInstanceTerminated");
    }
}
