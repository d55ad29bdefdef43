//! What must hold when all is calm, and after the end.

use api::kkp::Cluster;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use kube::ResourceExt as _;
use kube::api::ListParams;
use tokio::time::sleep;

use crate::oracle;
use crate::people::GUEST;
use crate::wish;
use crate::world::{Live, PEACE, World};

impl World {
    pub(crate) async fn assert_rest(&self) {
        self.person.weather.assert_blameless();
        for live in &self.live {
            self.assert_ready(live).await;
        }
        let mut wanted = Vec::new();
        let mut may_be = Vec::new();
        for live in &self.live {
            wanted.extend(live.wish.resources(live.name));
            if live.corrected && live.wish.shares_group {
                may_be.push(wish::group(live.name));
            }
        }
        {
            let account = self.person.weather.account().lock();
            oracle::no_theft(&account, self.person.weather.claims());
            oracle::exactly(&account, &wanted, &may_be);
            oracle::rules(&account, &self.shared, &self.wanted_of_shared());
        }
        let own = |live: &&Live| !live.corrected && !live.wish.shares_group;
        for live in self.live.iter().filter(own) {
            let name = format!("kubernetes-{}", live.name);
            let group = self.person.find(&SECURITY_GROUP, &name).unwrap();
            let account = self.person.weather.account().lock();
            oracle::rules(&account, &group, &live.wish.rules());
        }
        for live in &self.live {
            live.guests.assert_content(&self.person, live.name);
        }
    }

    async fn assert_ready(&self, live: &Live) {
        let Err(conditions) = self.person.ready(live.name).await else {
            return;
        };
        // What was made before somebody corrected himself cannot always be moved, but that is told.
        let told = conditions.contains(self.second_vpc.id.as_str());
        assert!(
            live.corrected && told,
            "{} does not come to rest: {conditions}",
            live.name
        );
    }

    /// Law 8: time passes, and nothing is written anywhere.
    pub(crate) async fn assert_silent(&self) {
        let versions = async || {
            let all = self
                .person
                .clusters()
                .list(&ListParams::default())
                .await
                .unwrap();
            let version = |object: &Cluster| (object.name_any(), object.resource_version());
            all.iter().map(version).collect::<Vec<_>>()
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

    pub(crate) async fn assert_end(&self) {
        self.person.weather.assert_blameless();
        for live in &self.live {
            let left = self.person.clusters().get_opt(live.name).await.unwrap();
            let conditions = left.map(|left| left.status.unwrap_or_default().conditions);
            assert!(
                conditions.is_none(),
                "{} does not end: {conditions:#?}",
                live.name
            );
        }
        let account = self.person.weather.account().lock();
        oracle::no_theft(&account, self.person.weather.claims());
        oracle::nothing_left(&account);
        let rules = account.parts(&self.shared, RULE);
        assert!(matches!(rules, [only] if *only.key == *GUEST), "{rules:?}");
    }
}
