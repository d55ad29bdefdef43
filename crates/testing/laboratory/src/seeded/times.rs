//! Bad times: faults on both sides, people who do as they please, processes that come and go.

use std::time::Duration;

use tokio::time::sleep;

use super::events::Event;
use super::world::{Live, World};
use super::{Seeded, oracle};

impl<S: Seeded> World<S> {
    /// Lives through all events, once; or through any.
    pub(super) async fn bad_times(&mut self, all: bool) {
        S::start(self).await;
        let random = self.random.clone();
        let any = || {
            let count = random.below(14);
            (0..count)
                .map(|_| *random.pick(S::EVENTS).unwrap())
                .collect()
        };
        let events: Vec<Event<S::Own>> = if all { S::EVENTS.to_vec() } else { any() };
        for event in events {
            self.plan_fault();
            sleep(self.random.span(Duration::from_mins(3))).await;
            self.remember().await;
            self.happen(event).await;
            self.person.weather.assert_blameless();
            let account = self.person.weather.account().lock();
            oracle::no_theft(&account, self.person.weather.claims());
        }
        S::put_right(self).await;
        self.end_copy().await;
    }

    /// The place of any of the objects.
    pub fn pick(&self) -> Option<usize> {
        let all: Vec<usize> = (0..self.live.len()).collect();
        self.random.pick(&all).copied()
    }

    /// The object of this name is made, unless it is there.
    pub async fn create(&mut self, name: &'static str) {
        if self.live.iter().all(|live| live.name != name) {
            let wish = S::create(self, name).await;
            self.live.push(Live { name, wish });
        }
    }

    /// An object ends.
    pub(super) async fn end(&mut self, at: usize) {
        let mut live = self.live.remove(at);
        S::leave(&self.person, &mut live);
        self.person.delete(live.name).await;
        self.wait_until_gone(live.name).await;
    }

    /// A quiet hour lets everybody come to rest.
    pub async fn quiet_hour(&self) {
        self.person.weather.calm(true);
        self.cluster.faults().clear();
        sleep(Duration::from_hours(1)).await;
        self.person.weather.calm(false);
    }

    /// The same name may come again, so its end is waited for; operators may crash meanwhile.
    pub async fn wait_until_gone(&mut self, name: &str) {
        for _ in 0..400 {
            S::while_it_ends(self, name).await;
            let object = self.person.get(name).await;
            S::assert_always(self);
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
}
