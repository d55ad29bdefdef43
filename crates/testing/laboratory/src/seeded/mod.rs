//! Seeded runs: the whole controller on an embedded API server and a simulated cloud, under faults on
//! both sides, with processes that crash, lose their Leases and lead two at a time, and with people
//! who edit, delete, restore and copy.
//!
//! ```text
//! seed ──► World ──► people, operators, weather ──► the system's own reconciler
//!             └────► oracle: hidden provenance, and what the API server has
//! ```
//!
//! Each claim is an actor of its own, and judged by what it did to the others. What is one system's
//! own it says in [`Seeded`]; a test calls [`runs`](fn@runs) with it.

mod claims;
mod events;
mod objects;
mod operators;
pub mod oracle;
mod people;
mod random;
mod rest;
mod restore;
mod runs;
mod switches;
mod times;
mod weather;
mod world;

use std::fmt;
use std::future::Future;

use cloud_sim::Account;
use controllers::reconcile::Sources;
use kube::Client;
use serde_json::Value;

pub use events::Event;
pub use operators::Operators;
pub use people::{Person, part};
pub use random::Random;
pub use runs::{COMPARE_AND_SWAP, Check, PIN, TERM, runs};
pub use switches::SPARES_GUESTS;
pub use weather::{SignedIn, Weather};
pub use world::{Live, World};

/// What one system has of its own in seeded runs. A value of it is what one run knows.
///
/// Objects are called by their names, `namespace/name` where they are in namespaces.
///
/// # Assumptions
/// - Everything random is drawn from the run's [`Random`], and nothing else decides what happens.
/// - A test binary has one test that calls [`runs`](fn@runs), and no other: what libraries draw once
///   for the whole process would be drawn from whichever run comes first.
pub trait Seeded: Sized + 'static {
    /// The system.
    type System: Sources;
    /// What people want of one object.
    type Wish: Wish;
    /// What happens only to this system.
    type Own: Copy + fmt::Debug;

    /// The name of the test binary, for the command that repeats a run.
    const TEST: &'static str;
    /// How many runs there are.
    const RUNS: Runs;
    /// What happens in bad times, each as likely as the others.
    const EVENTS: &'static [Event<Self::Own>];
    /// Checks around the engine: without any of these, some run breaks a law.
    const CHECKS: &'static [Check];

    /// Whether the end takes cluster marks off everything, whoever remembers that they are ours.
    const SWEEPS: bool;

    /// What others have in the account before anything begins.
    fn begin(account: &mut Account) -> Self;

    /// The system of one process that has signed in.
    fn system(accounts: SignedIn) -> Self::System;

    /// Installs what the API server must serve.
    fn install(client: &Client) -> impl Future<Output = ()>;

    /// The first objects are made.
    fn start(world: &mut World<Self>) -> impl Future<Output = ()>;

    /// Somebody makes the object of this name, which is not there; he may be mistaken at first.
    fn create(world: &mut World<Self>, name: &'static str) -> impl Future<Output = Self::Wish>;

    /// An object was put back to what it was once: its wish is what it says.
    fn set_back(&self, wish: &mut Self::Wish, object: &Value);

    /// Somebody does something to a live object or to its resources, and the controller must put it
    /// right; `at` is its place among those that live.
    fn meddle(world: &mut World<Self>, at: usize) -> impl Future<Output = ()>;

    /// Something happens that is this system's own.
    fn happen(world: &mut World<Self>, event: Self::Own) -> impl Future<Output = ()>;

    /// The kind of objects, as a plural, that the API server's next fault is about.
    fn faulty(random: &Random) -> &'static str;

    /// Bad times are over, or an object must be worked on: people put right what only they can.
    fn put_right(_: &mut World<Self>) -> impl Future<Output = ()> {
        async {}
    }

    /// All is calm: whoever else works on an object's resources has brought about what he wants.
    fn tend(_: &World<Self>) {}

    /// An object is to end: whoever else works on its resources leaves.
    fn leave(_: &Person<Self::System>, _: &mut Live<Self>) {}

    /// Somebody waits for the end of the object of this name; called again and again.
    fn while_it_ends(_: &mut World<Self>, _name: &str) -> impl Future<Output = ()> {
        async {}
    }

    /// What must hold at any time; asked while objects end.
    fn assert_always(_: &World<Self>) {}

    /// Whether an object may say this at rest instead of being ready.
    fn excuses(&self, _: &Live<Self>, _conditions: &str) -> bool {
        false
    }

    /// The resources that an object must have at rest, by kind and name; and those that it may have.
    fn resources(live: &Live<Self>) -> (Vec<String>, Vec<String>);

    /// What else must hold at rest.
    fn assert_rest(_: &World<Self>) {}

    /// What else must hold after the end of all objects.
    fn assert_end(_: &World<Self>) -> impl Future<Output = ()> {
        async {}
    }
}

/// What people want of one object, and what else a run must know of it.
pub trait Wish: fmt::Debug {
    /// Wants something else from now on.
    fn change(&mut self, random: &Random);

    /// What [`Wish::change`] may change, as a merge patch of the object.
    fn patch(&self) -> Value;
}

/// How many runs there are, which the machine's cores share.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// Beside all other tests.
    pub few: u64,
    /// In the tier of embedded tests.
    pub tier: u64,
    /// In it with `--full`.
    pub full: u64,
    /// How many of them at most must miss a check that is taken away.
    pub missing: u64,
}
