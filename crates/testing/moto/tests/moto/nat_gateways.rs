//! NAT gateways, and what they have.

use crate::lab::sides;

#[tokio::test]
async fn nat_gateway_interface() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let address = side.address().await;
        let nat = side.nat_gateway(&subnet, &address).await;
        let said = side.interfaces(&subnet).await;
        let expected = format!("Interface for NAT Gateway {nat}");
        side.differs(said.value("description"), &expected, "");
        // One that is refused leaves none behind.
        let params = [("SubnetId", subnet.as_str()), ("AllocationId", &address)];
        let said = side.ec2("CreateNatGateway", &params).await;
        assert_eq!(said.code(), "Resource.AlreadyAssociated");
        let said = side.interfaces(&subnet).await;
        side.differs(said.values("networkInterfaceId").len(), 1, 2);
    }
}

#[tokio::test]
async fn deleted_nat_gateway() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let address = side.address().await;
        let nat = side.nat_gateway(&subnet, &address).await;
        let delete = [("NatGatewayId", nat.as_str())];
        side.act("DeleteNatGateway", &delete).await;
        let said = side.interfaces(&subnet).await;
        side.differs(said.values("networkInterfaceId").len(), 0, 1);
        let params = [("AllocationId.1", address.as_str())];
        let said = side.ec2("DescribeAddresses", &params).await;
        side.differs(said.value("associationId").is_empty(), true, false);
        let said = side.ec2("DeleteNatGateway", &delete).await;
        side.refused(&said, "NatGatewayNotFound");
    }
}
