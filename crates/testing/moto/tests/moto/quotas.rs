//! Quotas.

use moto_server::proxy::{Proxy, Quotas};

use crate::lab::{Side, sides};

fn limit(side: &Side, quotas: Quotas) {
    if let Some(proxy) = side.proxy.as_ref() {
        Proxy::set_quotas(proxy, quotas);
    }
}

#[tokio::test]
async fn vpc_quota() {
    for side in sides().await {
        let vpcs = 2;
        // With the default one there are two.
        let first = side.vpc().await;
        limit(
            &side,
            Quotas {
                vpcs,
                ..Quotas::default()
            },
        );
        let range = [("CidrBlock", "10.1.0.0/16")];
        let said = side.ec2("CreateVpc", &range).await;
        side.refused(&said, "VpcLimitExceeded");
        side.act("DeleteVpc", &[("VpcId", &first)]).await;
        side.act("CreateVpc", &range).await;
        limit(&side, Quotas::default());
        side.vpc().await;
    }
}

#[tokio::test]
async fn address_quota() {
    for side in sides().await {
        let first = side.address().await;
        let addresses = 1;
        limit(
            &side,
            Quotas {
                addresses,
                ..Quotas::default()
            },
        );
        let said = side.ec2("AllocateAddress", &[("Domain", "vpc")]).await;
        side.refused(&said, "AddressLimitExceeded");
        side.act("ReleaseAddress", &[("AllocationId", &first)])
            .await;
        if side.proxy.is_some() {
            side.address().await;
        }
    }
}
