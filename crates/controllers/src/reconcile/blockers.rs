//! Whose it is that stands in the way of a deletion.

use cloud_port::driver::Report;
use cloud_port::{Cloud as _, Inventory, Survey};
use ownership::error::Blocker;
use ownership::{Finding, Query, Target, mark};

/// Names the owner of each blocker, where it is a resource that a served system has marked. What cannot
/// be read stays as it is.
pub(super) async fn name_owners<C: Survey>(inventory: &Inventory<C>, report: &mut Report) {
    for finding in &mut report.findings {
        let Finding::Blocked { blockers, .. } = finding else {
            continue;
        };
        for blocker in blockers {
            if let Some(owner) = owner(inventory, blocker).await {
                blocker.noun = format!("the {owner}'s {}", blocker.noun).into();
            }
        }
    }
}

async fn owner<C: Survey>(inventory: &Inventory<C>, blocker: &Blocker) -> Option<String> {
    let kind = inventory.kinds().find(|kind| kind.noun == &*blocker.noun)?;
    let query = Query::Id(Target::new(kind, blocker.id.clone()));
    let read = inventory.read(&query).await.ok()?;
    let resource = read.resources.into_iter().next()?;
    let mut named = mark::named(kind.carrier, &resource.tags).into_iter();
    named
        .find(|named| named.owns)
        .map(|named| named.to_string())
}
