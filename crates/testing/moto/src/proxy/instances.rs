//! Instances: their groups, and what is free again when they are gone.

use std::io;

use super::call::Api;
use super::refusal::Refusal;
use super::rules::Visit;

const OF_INTERFACE: &str = "NetworkInterfaceId";

/// What a call says besides what it changes.
const FRAME: [&str; 4] = ["Action", "DryRun", "InstanceId", "Version"];

pub(crate) async fn refused(visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    if visit.call.operation != "ModifyInstanceAttribute" {
        return Ok(None);
    }
    // An empty list leaves no trace in the query protocol.
    let mut said = visit
        .call
        .params
        .keys()
        .filter(|key| !FRAME.contains(&key.as_str()));
    if said.next().is_none() {
        let message = "No attributes specified.";
        return Ok(Some(Refusal::bad("InvalidParameterCombination", message)));
    }
    let id = visit.param("InstanceId");
    if groups(visit).is_empty() || !visit.is_ending(id).await? {
        return Ok(None);
    }
    let message =
        format!("The instance '{id}' is not in a state in which its groups can be changed.");
    Ok(Some(Refusal::bad("IncorrectInstanceState", &message)))
}

fn groups<'a>(visit: &'a Visit<'_>) -> Vec<&'a str> {
    visit.call.list("GroupId", None)
}

pub(crate) async fn after(visit: &Visit<'_>) -> io::Result<()> {
    match visit.call.operation.as_str() {
        "ModifyInstanceAttribute" => regroup(visit).await,
        "TerminateInstances" => {
            for instance in visit.call.list("InstanceId", None) {
                clear(visit, instance).await?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The groups of an instance are those of its first interface; moto keeps the old ones there.
async fn regroup(visit: &Visit<'_>) -> io::Result<()> {
    let groups = groups(visit);
    if groups.is_empty() {
        return Ok(());
    }
    let by = "attachment.instance-id";
    for interface in visit.moto.interfaces(by, visit.param("InstanceId")).await? {
        let attachment = interface.find("attachment");
        if attachment.is_none_or(|attachment| attachment.get("deviceIndex") != "0") {
            continue;
        }
        let keys: Vec<_> = (1..=groups.len())
            .map(|n| format!("SecurityGroupId.{n}"))
            .collect();
        let mut params = vec![(OF_INTERFACE, interface.get("networkInterfaceId"))];
        params.extend(keys.iter().map(String::as_str).zip(groups.iter().copied()));
        visit
            .moto
            .act("ModifyNetworkInterfaceAttribute", &params)
            .await?;
    }
    Ok(())
}

/// Its addresses are free again, and its interfaces are gone.
///
/// # Caveats
/// Those too that it was given; AWS would leave these.
async fn clear(visit: &Visit<'_>, instance: &str) -> io::Result<()> {
    let (operation, list) = ("DescribeAddresses", "addressesSet");
    let addresses = visit.moto.found(Api::Ec2, operation, &[], list).await?;
    for address in addresses
        .iter()
        .filter(|address| address.get("instanceId") == instance)
    {
        let params = [("AssociationId", address.get("associationId"))];
        visit.moto.act("DisassociateAddress", &params).await?;
    }
    for interface in visit
        .moto
        .interfaces("attachment.instance-id", instance)
        .await?
    {
        let params = [(OF_INTERFACE, interface.get("networkInterfaceId"))];
        visit.moto.act("DeleteNetworkInterface", &params).await?;
    }
    Ok(())
}
