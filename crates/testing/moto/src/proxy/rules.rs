//! What AWS does and moto does not.
//!
//! # Expected flow
//! 1. Writes to one account and region go one after the other, so that what a rule has seen is
//!    still so when moto does the call.
//! 2. A call may be answered as one before it was, by its token; refused; or answered with what is
//!    there already.
//! 3. moto does it.
//! 4. What AWS does besides, the proxy has moto do: an address that a deleted NAT gateway had is
//!    free again, for example.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use tokio::time::Instant;

use super::Shared;
use super::call::{Api, Call};
use super::record::Entry;
use super::refusal::Refusal;
use super::upstream::Asker;
use super::{balancers, in_use, instances, nat_gateways, quotas, taken};

/// An account and a region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) account: String,
    pub(crate) region: String,
}

/// A write that has its turn.
pub(crate) struct Visit<'a> {
    pub(crate) call: &'a Call,
    pub(crate) place: Place,
    pub(crate) moto: Asker<'a>,
}

impl Visit<'_> {
    /// Whether an instance is terminated, or on its way there.
    pub(crate) async fn is_ending(&self, instance: &str) -> io::Result<bool> {
        let params = [("InstanceId.1", instance)];
        let (operation, list) = ("DescribeInstances", "instancesSet");
        let found = self.moto.found(Api::Ec2, operation, &params, list).await?;
        let state = found.first().and_then(|found| found.find("instanceState"));
        Ok(state.is_some_and(|s| matches!(s.get("name"), "terminated" | "shutting-down")))
    }

    /// A parameter that the operation cannot do without; empty, where moto will say that it is
    /// missing.
    pub(crate) fn param(&self, name: &str) -> &str {
        self.call.param(name).unwrap_or_default()
    }
}

/// Who is on.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    places: Mutex<BTreeMap<Place, Arc<Turn<()>>>>,
    /// The accounts of access keys: one that was handed out stays in its account.
    accounts: Mutex<BTreeMap<String, String>>,
}

impl Turns {
    async fn take(&self, place: &Place) -> OwnedMutexGuard<()> {
        let turn = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(places.entry(place.clone()).or_default())
        };
        turn.lock_owned().await
    }

    async fn account(&self, asker: &Asker<'_>) -> io::Result<String> {
        let key = &asker.signer.access_key;
        let accounts = || self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts().get(key) {
            return Ok(account.clone());
        }
        let account = asker.account().await?;
        accounts().insert(key.clone(), account.clone());
        Ok(account)
    }
}

/// Serves a request as AWS would.
///
/// # Errors
/// moto is not there, or did what it never does.
pub(crate) async fn serve(
    shared: &Shared,
    call: Option<&Call>,
    request: Request<Bytes>,
    entry: &Entry<'_>,
) -> io::Result<Response<Bytes>> {
    let pass = |request: Request<Bytes>| async {
        let sent = Instant::now();
        let answer = shared.upstream.send(request).await?;
        entry.done(sent.elapsed());
        Ok(answer)
    };
    let ruled =
        |call: &&Call| call.writes() && matches!(call.api, Api::Ec2 | Api::Elb | Api::ElbV2);
    let call = call.filter(ruled);
    let Some((call, signer)) = call.and_then(|call| Some((call, call.signer.as_ref()?))) else {
        return pass(request).await;
    };
    let moto = Asker {
        upstream: &shared.upstream,
        headers: request.headers(),
        signer,
    };
    let place = Place {
        account: shared.turns.account(&moto).await?,
        region: signer.region.clone(),
    };
    let _turn = shared.turns.take(&place).await;
    let visit = Visit { call, place, moto };
    if let Some(answer) = shared.tokens.recall(&visit).await? {
        return Ok(answer);
    }
    if let Some(refusal) = refused(shared, &visit).await? {
        return Ok(refusal.answer(call.api));
    }
    if let Some(answer) = balancers::already(&visit).await? {
        return Ok(answer);
    }
    let answer = pass(request.clone()).await?;
    if answer.status().is_success() {
        shared.tokens.remember(&visit, &answer);
        nat_gateways::after(&visit, &answer).await?;
        instances::after(&visit).await?;
        balancers::after(&visit).await?;
    }
    Ok(answer)
}

async fn refused(shared: &Shared, visit: &Visit<'_>) -> io::Result<Option<Refusal>> {
    if let Some(refusal) = quotas::refused(shared.quotas(), visit).await? {
        return Ok(Some(refusal));
    }
    if let Some(refusal) = in_use::refused(visit).await? {
        return Ok(Some(refusal));
    }
    if let Some(refusal) = taken::refused(visit).await? {
        return Ok(Some(refusal));
    }
    if let Some(refusal) = nat_gateways::refused(visit).await? {
        return Ok(Some(refusal));
    }
    instances::refused(visit).await
}
