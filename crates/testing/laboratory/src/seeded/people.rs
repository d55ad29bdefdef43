//! What people do to resources by hand.

use std::marker::PhantomData;

use cloud_sim::Actor;
use kube::Client;
use ownership::mark::Tags;
use ownership::part::InnerPart;
use ownership::{Kind, Target};

use super::random::Random;
use super::weather::Weather;

/// A person with access to both sides.
pub struct Person<S> {
    /// The API server.
    pub client: Client,
    /// The cloud.
    pub weather: Weather,
    /// The choices of the run.
    pub random: Random,
    pub(super) system: PhantomData<fn() -> S>,
}

impl<S> Person<S> {
    /// The resource of this name, if it is there.
    pub fn find(&self, kind: &'static Kind, name: &str) -> Option<Target> {
        let account = self.weather.account().lock();
        let found = account
            .alive(kind)
            .find(|resource| *resource.name == *name)?;
        Some(Target::new(found.kind, found.id.clone()))
    }

    /// Adds a part to the resource of this name, if it is there.
    pub fn add(&self, kind: &'static Kind, name: &str, inner: &'static str, part: InnerPart) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.add_parts(Actor::Stranger, &target, inner, &[part]);
        }
    }

    /// Removes a part of the resource of this name, if it is there.
    pub fn remove(&self, kind: &'static Kind, name: &str, inner: &'static str, key: &str) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.remove_parts(Actor::Stranger, &target, inner, &[key.into()]);
        }
    }

    /// Deletes the resource of this name, if it is there and nothing holds it.
    pub fn delete_resource(&self, kind: &'static Kind, name: &str) {
        if let Some(target) = self.find(kind, name) {
            let mut account = self.weather.account().lock();
            let _ = account.delete(Actor::Stranger, &target);
        }
    }
}

/// A part without value and tags.
pub fn part(key: &str) -> InnerPart {
    InnerPart::new(key, "", Tags::new())
}
