//! The places of a claim, as one cloud: each question and each Step goes to its own.
//!
//! ```text
//!                      ┌──► home: the inventory of an account and region
//! driver ──► Places ───┼──► "remote": the inventory of another one
//!                      └──► "cluster": the inventory of a Kubernetes API
//! ```

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ownership::step::Effect;
use ownership::time::Tick;
use ownership::{Answer, Class, CloudError, Place, Query, Step};

use crate::cloud::{Cloud, Deadline};
use crate::inventory::{Inventory, Show, Shown, Silent, Survey};

/// The places of a claim. Each has its own inventory and its own slowing-down, shared by all claims that
/// have something there, whatever each of them calls it.
///
/// # Guarantees
/// - Those of [`Cloud`] and [`Show`], if each place gives them.
/// - What a place answers is told as being there.
/// - A question or a Step for a place that is not known here is refused: nothing is sent.
pub struct Places<C> {
    home: Arc<Inventory<C>>,
    others: BTreeMap<Place, Elsewhere>,
}

#[derive(Clone)]
struct Elsewhere {
    what: String,
    land: Arc<dyn Land>,
}

impl<C> Clone for Places<C> {
    fn clone(&self) -> Self {
        Self {
            home: self.home.clone(),
            others: self.others.clone(),
        }
    }
}

impl<C> From<Arc<Inventory<C>>> for Places<C> {
    /// The only place of a claim.
    fn from(home: Arc<Inventory<C>>) -> Self {
        Self {
            home,
            others: BTreeMap::new(),
        }
    }
}

impl<C> Places<C> {
    /// The same, and one more: what claims call it, and what it is, which must stay so as long as a claim
    /// has anything there.
    #[must_use]
    pub fn and<D: Survey + 'static>(
        mut self,
        place: Place,
        what: impl Into<String>,
        land: Arc<Inventory<D>>,
    ) -> Self {
        let what = what.into();
        self.others.insert(place, Elsewhere { what, land });
        self
    }

    /// The first place.
    pub fn home(&self) -> &Arc<Inventory<C>> {
        &self.home
    }

    /// The other places, and what each of them is.
    pub fn others(&self) -> impl Iterator<Item = (&Place, &str)> {
        self.others
            .iter()
            .map(|(place, elsewhere)| (place, elsewhere.what.as_str()))
    }
}

impl<C: Survey + 'static> Places<C> {
    /// Until when nobody should ask at least one of them anything (law 9).
    pub fn slowed(&self, now: Tick) -> Option<Tick> {
        self.lands().filter_map(|land| land.slowed(now)).max()
    }

    /// Those of them that were asked too much are asked nothing for a while.
    pub fn slow_down(&self, now: Tick, first: Duration, longest: Duration) {
        for land in self.lands() {
            if land.was_throttled() {
                land.slow_down(now, first, longest);
            }
        }
    }

    /// All of them answer again.
    pub fn speed_up(&self) {
        self.lands().for_each(Land::speed_up);
    }

    fn lands(&self) -> impl Iterator<Item = &dyn Land> {
        let home: &dyn Land = &*self.home;
        let others = self.others.values().map(|elsewhere| &*elsewhere.land);
        std::iter::once(home).chain(others)
    }

    fn land(&self, place: &Place) -> Result<&dyn Land, CloudError> {
        let elsewhere = self.others.get(place);
        elsewhere.map(|it| &*it.land).ok_or_else(|| {
            let name = place.name().unwrap_or_default();
            let message = format!("nothing leads to the place {name:?} of this object any more");
            CloudError::new(Class::Fatal, "NoSuchPlace", message)
        })
    }
}

impl<C: Survey + 'static> Cloud for Places<C> {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        let place = query.place();
        if *place == Place::HOME {
            return self.home.read(query).await;
        }
        let answer = self.land(place)?.read(query).await?;
        Ok(answer.at(place))
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        let place = step.place();
        if *place == Place::HOME {
            return self.home.perform(step, by).await;
        }
        let effect = self.land(place)?.perform(step, by).await?;
        Ok(effect.at(place))
    }
}

impl<C: Survey + 'static> Show for Places<C> {
    async fn show(&self, query: &Query, now: Tick, since: Option<Tick>) -> Result<Shown, Silent> {
        let place = query.place();
        if *place == Place::HOME {
            return self.home.show(query, now, since).await;
        }
        let land = self.land(place).map_err(Silent::Survey)?;
        let Shown { answer, at } = land.show(query, now, since).await?;
        let answer = answer.at(place);
        Ok(Shown { answer, at })
    }
}

type Waits<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An inventory of whatever cloud.
trait Land: Send + Sync {
    fn read<'a>(&'a self, query: &'a Query) -> Waits<'a, Result<Answer, CloudError>>;
    fn perform<'a>(
        &'a self,
        step: &'a Step,
        by: Deadline<'a>,
    ) -> Waits<'a, Result<Effect, CloudError>>;
    fn show<'a>(
        &'a self,
        query: &'a Query,
        now: Tick,
        since: Option<Tick>,
    ) -> Waits<'a, Result<Shown, Silent>>;
    fn was_throttled(&self) -> bool;
    fn slowed(&self, now: Tick) -> Option<Tick>;
    fn slow_down(&self, now: Tick, first: Duration, longest: Duration);
    fn speed_up(&self);
}

impl<C: Survey> Land for Inventory<C> {
    fn read<'a>(&'a self, query: &'a Query) -> Waits<'a, Result<Answer, CloudError>> {
        Box::pin(Cloud::read(self, query))
    }

    fn perform<'a>(
        &'a self,
        step: &'a Step,
        by: Deadline<'a>,
    ) -> Waits<'a, Result<Effect, CloudError>> {
        Box::pin(Cloud::perform(self, step, by))
    }

    fn show<'a>(
        &'a self,
        query: &'a Query,
        now: Tick,
        since: Option<Tick>,
    ) -> Waits<'a, Result<Shown, Silent>> {
        Box::pin(Show::show(self, query, now, since))
    }

    fn was_throttled(&self) -> bool {
        Self::was_throttled(self)
    }

    fn slowed(&self, now: Tick) -> Option<Tick> {
        Self::slowed(self, now)
    }

    fn slow_down(&self, now: Tick, first: Duration, longest: Duration) {
        Self::slow_down(self, now, first, longest);
    }

    fn speed_up(&self) {
        Self::speed_up(self);
    }
}
