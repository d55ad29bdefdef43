//! Instances: their groups and their end.

use crate::lab::sides;

#[tokio::test]
async fn terminated_instance() {
    for side in sides().await {
        let vpc = side.vpc().await;
        side.gateway(&vpc).await;
        let subnet = side.subnet(&vpc, 0).await;
        let group = side.group(&vpc, "one").await;
        let instance = side.instance(&subnet, &[]).await;
        let address = side.address().await;
        let associate = [
            ("AllocationId", address.as_str()),
            ("InstanceId", &instance),
        ];
        side.act("AssociateAddress", &associate).await;
        side.terminate(&instance).await;
        let said = side.interfaces(&subnet).await;
        side.differs(said.values("networkInterfaceId").len(), 0, 1);
        let params = [("AllocationId.1", address.as_str())];
        let said = side.ec2("DescribeAddresses", &params).await;
        side.differs(said.value("associationId").is_empty(), true, false);
        let params = [("InstanceId", instance.as_str()), ("GroupId.1", &group)];
        let said = side.ec2("ModifyInstanceAttribute", &params).await;
        side.refused(&said, "IncorrectInstanceState");
    }
}

#[tokio::test]
async fn changed_groups() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let groups = [side.group(&vpc, "one").await, side.group(&vpc, "two").await];
        let instance = side.instance(&subnet, &[&groups[0]]).await;
        let params = [("InstanceId", instance.as_str()), ("GroupId.1", &groups[1])];
        side.act("ModifyInstanceAttribute", &params).await;
        let of_interface = "DescribeNetworkInterfaces";
        let mut found = Vec::new();
        for group in &groups {
            let said = side.filtered(of_interface, "group-id", group).await;
            found.push(said.values("networkInterfaceId").len());
        }
        side.differs(found, vec![0, 1], vec![1, 0]);
    }
}

#[tokio::test]
async fn no_groups() {
    for side in sides().await {
        let vpc = side.vpc().await;
        let subnet = side.subnet(&vpc, 0).await;
        let instance = side.instance(&subnet, &[]).await;
        let params = [("InstanceId", instance.as_str())];
        let said = side.ec2("ModifyInstanceAttribute", &params).await;
        side.refused(&said, "InvalidParameterCombination");
        // What says something is not meant.
        let params = [
            ("InstanceId", instance.as_str()),
            ("SourceDestCheck.Value", "false"),
        ];
        side.act("ModifyInstanceAttribute", &params).await;
    }
}
