//! What must hold when all is calm, and after the end.

use controllers::reconcile::System;
use kube::ResourceExt as _;
use kube::api::ListParams;
use tokio::time::sleep;

use super::objects::conditions;
use super::world::{Live, PEACE, World};
use super::{Seeded, oracle};

impl<S: Seeded> World<S> {
    pub(super) async fn assert_rest(&self) {
        self.person.weather.assert_blameless();
        for live in &self.live {
            self.assert_ready(live).await;
        }
        let (mut wanted, mut may_be) = (Vec::new(), Vec::new());
        for live in &self.live {
            let (must, may) = S::resources(live);
            wanted.extend(must);
            may_be.extend(may);
        }
        {
            let account = self.person.weather.account().lock();
            oracle::no_theft(&account, self.person.weather.claims());
            oracle::exactly(&account, &wanted, &may_be);
        }
        S::assert_rest(self);
    }

    async fn assert_ready(&self, live: &Live<S>) {
        if let Err(conditions) = self.person.ready(live.name).await {
            assert!(
                self.own.excuses(live, &conditions),
                "{} does not come to rest: {conditions}",
                live.name
            );
        }
    }

    /// Law 8: time passes, and nothing is written anywhere.
    pub(super) async fn assert_silent(&self) {
        let versions = async || {
            let all = self.person.all().list(&ListParams::default()).await;
            let version = |object| {
                let object: &<S::System as System>::Object = object;
                (
                    object.name_any(),
                    object.namespace(),
                    object.resource_version(),
                )
            };
            all.unwrap().iter().map(version).collect::<Vec<_>>()
        };
        let writes = || {
            let account = self.person.weather.account().lock();
            let writes = account.counters().iter().filter(|(op, _)| !op.is_read());
            writes.map(|(_, n)| n).sum::<u64>()
        };
        let before = (versions().await, writes());
        sleep(PEACE).await;
        assert_eq!(
            (versions().await, writes()),
            before,
            "law 8: rest is silent"
        );
    }

    /// Whether the memory of a cluster mark may be lost, and the mark with it.
    pub fn forgot(&self) -> bool {
        !S::SWEEPS && self.seen.contains("a set-back")
    }

    pub(super) async fn assert_end(&self) {
        self.person.weather.assert_blameless();
        for live in &self.live {
            let left = self.person.get(live.name).await.unwrap();
            let left = left.map(|left| conditions::<S::System>(&left));
            assert_eq!(left, None, "{} does not end", live.name);
        }
        {
            let account = self.person.weather.account().lock();
            oracle::no_theft(&account, self.person.weather.claims());
            oracle::nothing_left(&account, self.forgot());
        }
        S::assert_end(self).await;
    }
}
