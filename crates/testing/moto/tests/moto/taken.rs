//! What is taken already.

use crate::lab::sides;

#[tokio::test]
async fn second_gateway() {
    for side in sides().await {
        let vpc = side.vpc().await;
        side.gateway(&vpc).await;
        let other = side
            .make("CreateInternetGateway", &[], "internetGatewayId")
            .await;
        let params = [("InternetGatewayId", other.as_str()), ("VpcId", &vpc)];
        let said = side.ec2("AttachInternetGateway", &params).await;
        side.refused(&said, "InvalidParameterValue");
    }
}

#[tokio::test]
async fn second_association() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let associate = async |table: &str| {
            let params = [("RouteTableId", table), ("SubnetId", &subnet)];
            side.ec2("AssociateRouteTable", &params).await
        };
        let params = [("VpcId", vpc.as_str())];
        let one = side.make("CreateRouteTable", &params, "routeTableId").await;
        let two = side.make("CreateRouteTable", &params, "routeTableId").await;
        let first = associate(&one).await.value("associationId").to_owned();
        // To say it again is nothing.
        assert_eq!(associate(&one).await.value("associationId"), first);
        let said = associate(&two).await;
        side.refused(&said, "Resource.AlreadyAssociated");
    }
}

#[tokio::test]
async fn group_in_no_vpc() {
    for side in sides().await {
        let params = [
            ("VpcId", "vpc-0123456789abcdef0"),
            ("GroupName", "one"),
            ("GroupDescription", "of a test"),
        ];
        let said = side.ec2("CreateSecurityGroup", &params).await;
        side.refused(&said, "InvalidVpcID.NotFound");
    }
}
