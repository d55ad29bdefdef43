//! KKP's half of the runs.

use std::collections::BTreeSet;

use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_sim::Account;
use controllers::kkp::Kkp;
use kube::Client;
use laboratory::seeded::{
    COMPARE_AND_SWAP, Check, Event, Live, PIN, Person, Random, Runs, Seeded, SignedIn, TERM, World,
    oracle,
};
use ownership::Target;
use serde_json::Value;

use crate::clusters::{create, second_vpc, somebodys_group};
use crate::guests::Guests;
use crate::people::{GUEST, meddle};
use crate::switches::{CO_MARKS, NEIGHBOURS};
use crate::wish::{self, Wish};

/// What one run of clusters knows.
pub(crate) struct Clusters {
    /// Somebody's group, with a rule of its own, that some clusters use.
    pub(crate) shared: Target,
    /// Rules that must be in it at all times: whoever wants them is ready.
    watched: BTreeSet<String>,
    /// A VPC besides the default one.
    pub(crate) second_vpc: Target,
}

/// What happens only to clusters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Own {
    /// Of two clusters on one group one ends.
    EndNeighbour,
    /// The controllers inside a cluster want something else.
    Guests,
}

impl Seeded for Clusters {
    type System = Kkp<SignedIn>;
    type Wish = Wish;
    type Own = Own;

    const TEST: &'static str = "embedded";
    const RUNS: Runs = Runs {
        few: 50,
        tier: 2_000,
        full: 20_000,
        missing: 400,
    };
    const EVENTS: &'static [Event<Own>] = &[
        Event::Restart,
        Event::Restart,
        Event::LoseLease,
        Event::RestoreOne,
        Event::RestoreAll,
        Event::Copy,
        Event::SetBack,
        Event::Edit,
        Event::Edit,
        Event::Create("two"),
        if NEIGHBOURS {
            Event::Create("four")
        } else {
            Event::Meddle
        },
        Event::Create("three"),
        Event::Create("five"),
        Event::End,
        Event::Own(Own::EndNeighbour),
        Event::Compact,
        Event::Own(Own::Guests),
        Event::Meddle,
        Event::Meddle,
        Event::Meddle,
    ];
    const SWEEPS: bool = true;
    // What the others are for the KKP suite shows.
    const CHECKS: &'static [Check] = &[COMPARE_AND_SWAP, PIN, TERM];

    fn begin(account: &mut Account) -> Self {
        Self {
            shared: somebodys_group(account),
            watched: BTreeSet::new(),
            second_vpc: second_vpc(account),
        }
    }

    fn system(accounts: SignedIn) -> Kkp<SignedIn> {
        Kkp { accounts }
    }

    async fn install(client: &Client) {
        api::manifests::install(client.clone()).await.unwrap();
    }

    async fn start(world: &mut World<Self>) {
        world.create("one").await;
        if NEIGHBOURS && world.random.chance(20) {
            world.create("two").await;
            world.create("four").await;
        }
    }

    async fn create(world: &mut World<Self>, name: &'static str) -> Wish {
        create(world, name).await
    }

    fn set_back(&self, wish: &mut Wish, object: &Value) {
        wish.set_back(object, self.shared.id.as_str());
    }

    async fn meddle(world: &mut World<Self>, at: usize) {
        let live = &world.live[at];
        meddle(&world.person, live.name, live.wish.shares_group).await;
    }

    async fn happen(world: &mut World<Self>, event: Own) {
        match event {
            Own::EndNeighbour => end_neighbour(world).await,
            Own::Guests => {
                if let Some(at) = world.pick() {
                    let live = &mut world.live[at];
                    live.wish.guests.change(&world.person, live.name);
                }
            }
        }
    }

    fn faulty(_: &Random) -> &'static str {
        "clusters"
    }

    fn tend(world: &World<Self>) {
        for live in &world.live {
            live.wish.guests.work(&world.person, live.name);
        }
    }

    fn leave(person: &Person<Self::System>, live: &mut Live<Self>) {
        live.wish.guests.leave(person, live.name);
    }

    /// Whatever runs in a cluster goes with it, and takes what it added along.
    async fn while_it_ends(world: &mut World<Self>, name: &str) {
        Guests::default().leave(&world.person, name);
    }

    fn assert_always(world: &World<Self>) {
        let account = world.person.weather.account().lock();
        oracle::has(&account, &world.own.shared, RULE, &world.own.watched);
    }

    /// What was made before somebody corrected himself cannot always be moved, but that is told.
    fn excuses(&self, live: &Live<Self>, conditions: &str) -> bool {
        live.wish.corrected && conditions.contains(self.second_vpc.id.as_str())
    }

    fn resources(live: &Live<Self>) -> (Vec<String>, Vec<String>) {
        let left = live.wish.corrected && live.wish.shares_group;
        let may_be = left.then(|| wish::group(live.name));
        (live.wish.resources(live.name), may_be.into_iter().collect())
    }

    fn assert_rest(world: &World<Self>) {
        {
            let account = world.person.weather.account().lock();
            let users = world.live.iter().filter(|live| live.wish.shares_group);
            let wanted = users.flat_map(|live| live.wish.rules());
            let wanted = wanted.chain([GUEST.to_owned()]).collect();
            oracle::has_no_other(&account, &world.own.shared, RULE, &wanted);
        }
        let own = |live: &&Live<Self>| !live.wish.corrected && !live.wish.shares_group;
        for live in world.live.iter().filter(own) {
            let name = format!("kubernetes-{}", live.name);
            let group = world.person.find(&SECURITY_GROUP, &name).unwrap();
            let account = world.person.weather.account().lock();
            oracle::has_no_other(&account, &group, RULE, &live.wish.rules());
        }
        for live in &world.live {
            live.wish.guests.assert_content(&world.person, live.name);
        }
    }

    async fn assert_end(world: &World<Self>) {
        let account = world.person.weather.account().lock();
        let rules = account.parts(&world.own.shared, RULE);
        assert!(matches!(rules, [only] if *only.key == *GUEST), "{rules:?}");
    }
}

/// Of two clusters on one group, both ready, one ends: the other must not notice.
async fn end_neighbour(world: &mut World<Clusters>) {
    let all = world.live.iter().enumerate();
    let users = all.filter(|(_, live)| live.wish.shares_group);
    let users: Vec<usize> = users.map(|(at, _)| at).collect();
    let &[one, other] = &users[..] else {
        return;
    };
    world.quiet_hour().await;
    let (ends, stays) = if world.random.chance(50) {
        (one, other)
    } else {
        (other, one)
    };
    let stays = &world.live[stays];
    if CO_MARKS && world.person.ready(stays.name).await.is_ok() {
        world.own.watched = stays.wish.rules();
    }
    let live = world.live.remove(ends);
    world.person.delete(live.name).await;
    world.wait_until_gone(live.name).await;
    world.own.watched.clear();
}
