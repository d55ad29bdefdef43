//! Bad times: faults on both sides, people who do as they please, processes that come and go.

use std::ops::Range;
use std::time::Duration;

use embedded_kube::{Fault, FaultKind};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::oracle;
use crate::switches::{
    CO_MARKS, CORRECTIONS, EDITS, LASTING_COPIES, LOST_LEASES, NEIGHBOURS, RESTORED_COPIES,
    RESTORES, SET_BACKS, SPARES_GUESTS,
};
use crate::wish::Wish;
use crate::world::{Live, World};

/// How many events there are.
pub(crate) const EVENTS: u64 = 20;

impl World {
    /// Lives through these events; without them, through any.
    pub(crate) async fn bad_times(&mut self, events: Option<Range<u64>>) {
        self.create("one").await;
        if NEIGHBOURS && self.random.chance(20) {
            self.create("two").await;
            self.create("four").await;
        }
        let random = self.random.clone();
        let any = || {
            (0..random.below(14))
                .map(|_| random.below(EVENTS))
                .collect()
        };
        let events: Vec<u64> = events.map_or_else(any, Range::collect);
        for event in events {
            self.plan_fault();
            sleep(self.random.span(Duration::from_mins(3))).await;
            self.remember().await;
            self.happen(event).await;
            self.person.weather.assert_blameless();
            let account = self.person.weather.account().lock();
            oracle::no_theft(&account, self.person.weather.claims());
        }
        if self.has_copy {
            self.end_copy().await;
        }
    }

    async fn happen(&mut self, event: u64) {
        let names: Vec<_> = self.live.iter().map(|live| live.name).collect();
        let note = format!("event {event} for {names:?}, copy: {}", self.has_copy);
        self.person.weather.note(&note);
        match event {
            0 | 1 => self.operators.restart(),
            2 if LOST_LEASES => {
                self.seen.lost_lease = true;
                self.operators.lose_lease().await;
            }
            3 => self.restore_one().await,
            4 if RESTORES => self.restore_all().await,
            5 => self.copy().await,
            6 if SET_BACKS => self.set_back().await,
            7 | 8 if EDITS => self.edit().await,
            9 => self.create("two").await,
            10 if NEIGHBOURS => self.create("four").await,
            11 => self.create("three").await,
            12 if CORRECTIONS => self.create("five").await,
            13 => self.end_one().await,
            14 if NEIGHBOURS => self.end_neighbour().await,
            15 => self.cluster.compact(),
            16 if SPARES_GUESTS => {
                if let Some(at) = self.pick() {
                    let live = &mut self.live[at];
                    live.guests.change(&self.person, live.name);
                }
            }
            _ => {
                if let Some(at) = self.pick() {
                    let live = &self.live[at];
                    let shares = live.wish.shares_group;
                    self.person.meddle(live.name, shares).await;
                }
            }
        }
    }

    /// Any of the clusters.
    fn pick(&self) -> Option<usize> {
        let all = u64::try_from(self.live.len()).unwrap();
        let at = (all > 0).then(|| self.random.below(all))?;
        Some(usize::try_from(at).unwrap())
    }

    /// The cluster of this name is made, unless it is there; its maker may have been mistaken.
    async fn create(&mut self, name: &'static str) {
        if self.live.iter().any(|live| live.name == name) {
            return;
        }
        let (shared, second) = (self.shared.id.as_str(), self.second_vpc.id.as_str());
        let by_name = |family: &str| Wish {
            shares_group: matches!(name, "two" | "four"),
            iam: name != "three",
            ..Wish::new(family)
        };
        let wish = by_name(if name == "two" { "IPv4+IPv6" } else { "IPv4" });
        let (mut first, mut then) = (json!({}), None);
        if !wish.iam {
            first["disableIAMReconciling"] = json!(true);
        }
        if wish.shares_group {
            if CORRECTIONS && self.random.chance(20) {
                then = Some(json!({"securityGroupID": shared}));
            } else {
                first["securityGroupID"] = json!(shared);
            }
        }
        if name == "five" {
            first["vpcID"] = json!(second);
            // Whoever corrects the VPC corrects what was recorded of the wrong one.
            then = Some(json!({"vpcID": "", "routeTableID": "", "securityGroupID": ""}));
        }
        self.person.create(name, &first, &wish.family).await;
        let corrected = then.is_some();
        if let Some(aws) = then {
            self.seen.edit = true;
            sleep(self.random.span(Duration::from_secs(20))).await;
            let patch = json!({"spec": {"cloud": {"aws": aws}}});
            self.person.insist(name, &patch).await;
        }
        self.live.push(Live {
            name,
            wish,
            corrected,
            guests: crate::guests::Guests::default(),
        });
        let users = self.live.iter().filter(|live| live.wish.shares_group);
        self.seen.shared_group |= users.count() > 1;
    }

    /// Somebody wants something else of a cluster.
    async fn edit(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        self.seen.edit = true;
        let live = &mut self.live[at];
        live.wish.change(&self.random);
        self.person.insist(live.name, &live.wish.patch()).await;
    }

    async fn end_one(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        let mut live = self.live.remove(at);
        live.guests.leave(&self.person, live.name);
        self.person.delete(live.name).await;
        self.wait_until_gone(live.name).await;
    }

    /// Of two clusters on one group, both ready, one ends: the other must not notice.
    async fn end_neighbour(&mut self) {
        let all = self.live.iter().enumerate();
        let users = all.filter(|(_, live)| live.wish.shares_group);
        let users: Vec<usize> = users.map(|(at, _)| at).collect();
        let &[one, other] = &users[..] else {
            return;
        };
        // A quiet hour lets everybody come to rest.
        self.person.weather.calm(true);
        self.cluster.faults().clear();
        sleep(Duration::from_hours(1)).await;
        self.person.weather.calm(false);
        let (ends, stays) = if self.random.chance(50) {
            (one, other)
        } else {
            (other, one)
        };
        let stays = &self.live[stays];
        if CO_MARKS && self.person.ready(stays.name).await.is_ok() {
            self.watched = stays.wish.rules();
        }
        let live = self.live.remove(ends);
        self.person.delete(live.name).await;
        self.wait_until_gone(live.name).await;
        self.watched.clear();
    }

    /// A cluster's object is lost, and restored from a backup; what was on its way has arrived.
    async fn restore_one(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        let name = self.live[at].name;
        self.operators.crash();
        sleep(Duration::from_mins(3)).await;
        let backup = self.backup(name).await;
        self.person.lose(name).await;
        sleep(self.random.span(Duration::from_mins(10))).await;
        self.person.restore(backup).await;
        let ends_at_once = self.random.chance(30);
        if ends_at_once {
            self.person.delete(name).await;
        }
        self.operators.start();
        if ends_at_once {
            self.live.remove(at);
            self.wait_until_gone(name).await;
        }
    }

    /// The management cluster is lost, and restored from a backup, in any order, with a copy of a
    /// manifest among the objects.
    async fn restore_all(&mut self) {
        if RESTORED_COPIES && !self.has_copy && self.random.chance(70) {
            self.apply_copy().await;
            sleep(self.random.span(Duration::from_mins(5))).await;
        }
        self.seen.restore = true;
        self.operators.crash();
        sleep(Duration::from_mins(3)).await;
        let mut backups: Vec<Value> = Vec::new();
        let copy = self.has_copy.then_some("copy");
        let names: Vec<_> = self.live.iter().map(|live| live.name).chain(copy).collect();
        for name in &names {
            let at = usize::try_from(self.random.below(1 + u64::try_from(backups.len()).unwrap()))
                .unwrap();
            backups.insert(at, self.backup(name).await);
        }
        for name in &names {
            self.person.lose(name).await;
        }
        sleep(self.random.span(Duration::from_mins(10))).await;
        let watched = self.random.chance(50);
        if watched {
            self.operators.start();
        }
        for backup in backups {
            sleep(self.random.span(Duration::from_secs(20))).await;
            self.person.restore(backup).await;
        }
        self.operators.start();
        if self.has_copy && (!LASTING_COPIES || self.random.chance(50)) {
            sleep(self.random.span(Duration::from_mins(5))).await;
            self.end_copy().await;
        }
    }

    /// A backup that is not older than what was written before it.
    async fn backup(&self, name: &str) -> Value {
        self.cluster.faults().clear();
        self.person.backup(name).await
    }

    /// Somebody applies a copy of a manifest under another name, and removes it later.
    async fn copy(&mut self) {
        if self.has_copy {
            return self.end_copy().await;
        }
        self.apply_copy().await;
        sleep(self.random.span(Duration::from_mins(5))).await;
        if self.has_copy && (!LASTING_COPIES || self.random.chance(50)) {
            self.end_copy().await;
        }
    }

    async fn apply_copy(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        let mut copy = self.backup(self.live[at].name).await;
        copy["metadata"]["name"] = json!("copy");
        self.person.restore(copy).await;
        self.has_copy = true;
    }

    async fn end_copy(&mut self) {
        self.has_copy = false;
        self.person.delete("copy").await;
        self.wait_until_gone("copy").await;
    }

    /// Takes note of an object as it is.
    async fn remember(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        let snapshot = self.person.snapshot(self.live[at].name).await;
        self.history.extend(snapshot);
    }

    /// While no operator runs, an object is put back to what it was once.
    async fn set_back(&mut self) {
        let all = u64::try_from(self.history.len()).unwrap();
        if all == 0 {
            return;
        }
        let to = &self.history[usize::try_from(self.random.below(all)).unwrap()];
        let live = self.live.iter_mut().find(|live| live.name == to.name);
        let Some(live) = live else {
            return;
        };
        self.operators.crash();
        sleep(self.random.span(Duration::from_mins(2))).await;
        self.cluster.faults().clear();
        if self.person.set_back(to).await {
            self.seen.set_back = true;
            live.wish = Wish::of(&to.object, self.shared.id.as_str());
        }
        let name = to.name;
        self.operators.start();
        // Nothing could tell whose it is if it were lost before it is claimed again.
        for _ in 0..1_000 {
            if self.person.is_pinned(name).await {
                return;
            }
            sleep(Duration::from_secs(5)).await;
        }
        let said = self.person.ready(name).await;
        panic!("{name} is not claimed again: {said:?}");
    }

    /// The same name may come again, so its end is waited for; operators may crash meanwhile.
    async fn wait_until_gone(&mut self, name: &str) {
        for _ in 0..400 {
            // Whatever runs in a cluster goes with it, and takes what it added along.
            crate::guests::Guests::default().leave(&self.person, name);
            let object = self.person.clusters().get_opt(name).await;
            oracle::has(
                &self.person.weather.account().lock(),
                &self.shared,
                &self.watched,
            );
            if let Ok(None) = object {
                return;
            }
            sleep(Duration::from_secs(30)).await;
            if self.random.chance(3) {
                self.operators.restart();
            }
        }
        self.person.weather.assert_blameless();
        let said = self.person.ready(name).await;
        panic!("{name} does not end: {said:?}");
    }

    fn plan_fault(&self) {
        let kind = match self.random.below(7) {
            0 => FaultKind::Conflict,
            1 => FaultKind::LostAnswer,
            2 => FaultKind::TooManyRequests { retry_after: 1 },
            3 => FaultKind::InternalError,
            4 => FaultKind::WatchCut,
            5 => FaultKind::StaleRead {
                by: usize::try_from(1 + self.random.below(3)).unwrap(),
            },
            _ => FaultKind::UnobservedEvent,
        };
        let skip = u32::try_from(self.random.below(10)).unwrap();
        let times = u32::try_from(1 + self.random.below(2)).unwrap();
        self.cluster.faults().add(
            Fault::new(kind)
                .resource("clusters")
                .after(skip)
                .times(times),
        );
    }
}
