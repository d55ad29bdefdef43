//! Client tokens: a call that is repeated with its token is answered as it was the first time.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use tokio::time::Instant;

use super::call::{Api, Call};
use super::refusal::Refusal;
use super::rules::{Place, Visit};
use super::upstream::Reply;

/// How long EC2 remembers a client token, at least. An instance's it remembers that long after the
/// instance's end; here it is that long after its launch.
pub const TOKEN_LIFETIME: Duration = Duration::from_hours(24);

/// The operations whose tokens moto ignores.
const OPERATIONS: [&str; 3] = ["CreateNatGateway", "CreateRouteTable", "RunInstances"];
const TOKEN: &str = "ClientToken";

/// The tokens that were used.
#[derive(Debug)]
pub(crate) struct Tokens {
    lifetime: Duration,
    used: Mutex<BTreeMap<Key, Used>>,
}

type Key = (Place, String, String);

#[derive(Debug)]
struct Used {
    at: Instant,
    params: BTreeMap<String, String>,
    answer: Response<Bytes>,
}

impl Tokens {
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            used: Mutex::default(),
        }
    }

    /// What a call that was made before is answered with.
    pub(crate) async fn recall(&self, visit: &Visit<'_>) -> io::Result<Option<Response<Bytes>>> {
        let Some(key) = key(visit) else {
            return Ok(None);
        };
        let answer = {
            let mut used = self.used();
            used.retain(|_, used| used.at.elapsed() <= self.lifetime);
            let Some(first) = used.get(&key) else {
                return Ok(None);
            };
            if first.params != visit.call.params {
                let refusal = Refusal::bad(
                    "IdempotentParameterMismatch",
                    "Arguments on this idempotent request are inconsistent with arguments used \
                     in previous request(s).",
                );
                return Ok(Some(refusal.answer(Api::Ec2)));
            }
            first.answer.clone()
        };
        if visit.call.operation == "RunInstances" && terminated(visit, &answer).await? {
            let refusal = Refusal::bad(
                "IdempotentInstanceTerminated",
                "The request to launch an instance uses the same client token as a previous \
                 request for which the instance has been terminated.",
            );
            return Ok(Some(refusal.answer(Api::Ec2)));
        }
        Ok(Some(answer))
    }

    /// A call was done. One that was refused may be made again with its token.
    pub(crate) fn remember(&self, visit: &Visit<'_>, answer: &Response<Bytes>) {
        if let Some(key) = key(visit) {
            let used = Used {
                at: Instant::now(),
                params: visit.call.params.clone(),
                answer: answer.clone(),
            };
            self.used().insert(key, used);
        }
    }

    fn used(&self) -> MutexGuard<'_, BTreeMap<Key, Used>> {
        // Nothing here panics half way.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(visit: &Visit<'_>) -> Option<Key> {
    let Call { operation, api, .. } = visit.call;
    let ours = *api == Api::Ec2 && OPERATIONS.contains(&operation.as_str());
    let token = visit
        .call
        .param(TOKEN)
        .filter(|token| ours && !token.is_empty())?;
    Some((visit.place.clone(), operation.clone(), token.to_owned()))
}

/// Whether an instance that was launched has been terminated since.
async fn terminated(visit: &Visit<'_>, launched: &Response<Bytes>) -> io::Result<bool> {
    let launched = Reply::new(launched.clone())?;
    for instance in launched.xml.items("instancesSet") {
        if visit.is_ending(instance.get("instanceId")).await? {
            return Ok(true);
        }
    }
    Ok(false)
}
