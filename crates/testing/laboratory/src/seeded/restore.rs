//! Objects that are lost, restored, copied and put back.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::Seeded;
use super::objects::beside;
use super::switches::{LASTING_COPIES, RESTORED_COPIES};
use super::world::World;

impl<S: Seeded> World<S> {
    /// An object is lost, and restored from a backup; what was on its way has arrived.
    pub(super) async fn restore_one(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        let name = self.live[at].name;
        self.operators.crash();
        sleep(Duration::from_mins(3)).await;
        let backup = self.backup(name).await;
        self.person.lose(name).await;
        sleep(self.random.span(Duration::from_mins(10))).await;
        self.person.create(backup).await;
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
    pub(super) async fn restore_all(&mut self) {
        if RESTORED_COPIES && self.copy.is_none() && self.random.chance(70) {
            self.apply_copy().await;
            sleep(self.random.span(Duration::from_mins(5))).await;
        }
        self.seen.insert("a restore");
        self.operators.crash();
        sleep(Duration::from_mins(3)).await;
        let mut backups: Vec<Value> = Vec::new();
        let live = self.live.iter().map(|live| live.name.to_owned());
        let names: Vec<_> = live.chain(self.copy.clone()).collect();
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
            self.person.create(backup).await;
        }
        self.operators.start();
        if self.copy.is_some() && (!LASTING_COPIES || self.random.chance(50)) {
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
    pub(super) async fn make_copy(&mut self) {
        if self.copy.is_some() {
            return self.end_copy().await;
        }
        self.apply_copy().await;
        sleep(self.random.span(Duration::from_mins(5))).await;
        if self.copy.is_some() && (!LASTING_COPIES || self.random.chance(50)) {
            self.end_copy().await;
        }
    }

    async fn apply_copy(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        let original = self.live[at].name;
        let mut copy = self.backup(original).await;
        copy["metadata"]["name"] = json!("copy");
        self.person.create(copy).await;
        self.copy = Some(beside(original, "copy"));
    }

    pub(super) async fn end_copy(&mut self) {
        if let Some(copy) = self.copy.take() {
            self.person.delete(&copy).await;
            self.wait_until_gone(&copy).await;
        }
    }

    /// Takes note of an object as it is.
    pub(super) async fn remember(&mut self) {
        let Some(at) = self.pick() else {
            return;
        };
        let snapshot = self.person.snapshot(self.live[at].name).await;
        self.history.extend(snapshot);
    }

    /// While no operator runs, an object is put back to what it was once.
    pub(super) async fn set_back(&mut self) {
        let Some(to) = self.random.pick(&self.history) else {
            return;
        };
        let live = self.live.iter_mut().find(|live| live.name == to.name);
        let Some(live) = live else {
            return;
        };
        self.operators.crash();
        sleep(self.random.span(Duration::from_mins(2))).await;
        self.cluster.faults().clear();
        if self.person.set_back(to).await {
            self.seen.insert("a set-back");
            self.own.set_back(&mut live.wish, &to.object);
        }
        let name = to.name;
        self.operators.start();
        // Nothing could tell whose it is if it were lost before it is claimed again.
        for _ in 0..1_000 {
            if self.person.is_pinned(name).await {
                return;
            }
            sleep(Duration::from_secs(5)).await;
            S::put_right(self).await;
        }
        let said = self.person.ready(name).await;
        panic!("{name} is not claimed again: {said:?}");
    }
}
