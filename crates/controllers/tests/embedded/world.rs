//! One run: bad times, then good times, then the end of everything.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::aws::subnet::SUBNET;
use cloud_port::aws::vpc::VPC;
use cloud_sim::{Account, Actor, Lag, SharedAccount, VirtualClock};
use controllers::reconcile::{Guards, TokioClock};
use embedded_kube::{Cluster, Options};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::time::Millis;
use ownership::{Target, Text};
use tokio::time::{sleep, timeout};

use crate::guests::Guests;
use crate::objects::Snapshot;
use crate::operators::Operators;
use crate::people::{GUEST, Person, part};
use crate::random::Random;
use crate::switches::TWO_OPERATORS;
use crate::times::EVENTS;
use crate::weather::Weather;
use crate::wish::Wish;

/// Long enough for every wait of the engine and a few resyncs.
pub(crate) const PEACE: Duration = Duration::from_hours(1);

/// Longer than any run, even if ends are held up.
const LONGEST: Duration = Duration::from_hours(24 * 30);

/// What came of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The calls to the cloud, in order.
    pub(crate) calls: Vec<String>,
    /// What happened in it.
    pub(crate) seen: Seen,
}

/// What happened in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) two_operators: bool,
    pub(crate) lost_lease: bool,
    pub(crate) shared_group: bool,
    pub(crate) restore: bool,
    pub(crate) set_back: bool,
    pub(crate) edit: bool,
}

/// Lives through a run in which everything happens once.
pub(crate) fn live_through_everything() -> Run {
    begin(1, Some(0..EVENTS), Guards::ALL)
}

/// Lives through a run.
pub(crate) fn live(seed: u64) -> Run {
    begin(seed, None, Guards::ALL)
}

/// Lives through a run with operators that lack a check.
pub(crate) fn live_without(guards: Guards, seed: u64) -> Run {
    begin(seed, None, guards)
}

fn begin(seed: u64, events: Option<Range<u64>>, guards: Guards) -> Run {
    pinned_random::run(seed, move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async move {
            let run = World::new(seed, guards).run(events);
            timeout(LONGEST, run)
                .await
                .expect("the run comes to an end")
        })
    })
}

/// A cluster that is to live.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) name: &'static str,
    pub(crate) wish: Wish,
    /// Somebody named another VPC or group first.
    pub(crate) corrected: bool,
    pub(crate) guests: Guests,
}

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) random: Random,
    pub(crate) person: Person,
    pub(crate) operators: Operators,
    pub(crate) live: Vec<Live>,
    /// Whether there is a copy of a manifest, called so.
    pub(crate) has_copy: bool,
    /// Objects as they were at some time.
    pub(crate) history: Vec<Snapshot>,
    /// Somebody's group, with a rule of its own, that some clusters use.
    pub(crate) shared: Target,
    /// Rules that must be in it at all times: whoever wants them is ready.
    pub(crate) watched: BTreeSet<String>,
    /// A VPC besides the default one.
    pub(crate) second_vpc: Target,
    pub(crate) seen: Seen,
}

impl World {
    fn new(seed: u64, guards: Guards) -> Self {
        let random = Random::new(seed);
        let began = "2026-01-01T00:00:00Z".parse().unwrap();
        let api_clock = embedded_kube::TokioClock::starting_at(began);
        let options = Options {
            seed,
            ..Options::new(Arc::new(api_clock))
        };
        let cluster = Cluster::with_options("faults", &options);
        let clock = TokioClock::starting_at(began);
        let virtual_clock = VirtualClock::new();
        let lag = |most: u64| Millis(random.below(most) * u64::from(random.chance(50)));
        let settings = cloud_sim::Settings {
            seed,
            lag: Lag {
                by_id: lag(10_000),
                by_filter: lag(15_000),
            },
            ..cloud_sim::Settings::default()
        };
        let mut account = Account::new(settings, virtual_clock.clone());
        let shared = somebodys_group(&mut account);
        let second_vpc = second_vpc(&mut account);
        // Every Step is told whose it is.
        let account = SharedAccount::new(account, Actor::Stranger);
        let weather = Weather::new(account, virtual_clock, clock, random.clone());
        let replicas = if TWO_OPERATORS && random.chance(30) {
            2
        } else {
            1
        };
        let operators = Operators::new(&cluster, &weather, clock, &random, replicas, guards);
        let person = Person {
            client: cluster.client(),
            weather,
            random: random.clone(),
        };
        Self {
            cluster,
            random,
            person,
            operators,
            live: Vec::new(),
            has_copy: false,
            history: Vec::new(),
            shared,
            watched: BTreeSet::new(),
            second_vpc,
            seen: Seen {
                two_operators: replicas > 1,
                ..Seen::default()
            },
        }
    }

    async fn run(mut self, events: Option<Range<u64>>) -> Run {
        api::manifests::install(self.person.client.clone())
            .await
            .unwrap();
        self.operators.start();
        self.bad_times(events).await;
        self.person.weather.calm(true);
        self.cluster.faults().clear();
        self.operators.crash();
        self.operators.start();
        // By then there is something that guests can add to, and time enough to take it away again.
        sleep(PEACE / 2).await;
        for live in &self.live {
            live.guests.work(&self.person, live.name);
        }
        sleep(PEACE / 2).await;
        self.assert_rest().await;
        self.assert_silent().await;
        for live in &mut self.live {
            live.guests.leave(&self.person, live.name);
            self.person.delete(live.name).await;
        }
        sleep(PEACE).await;
        self.assert_end().await;
        self.operators.crash();
        Run {
            calls: self.person.weather.calls(),
            seen: self.seen,
        }
    }

    /// All rules that must be in somebody's group.
    pub(crate) fn wanted_of_shared(&self) -> BTreeSet<String> {
        let users = self.live.iter().filter(|live| live.wish.shares_group);
        let wanted = users.flat_map(|live| live.wish.rules());
        wanted.chain([GUEST.to_owned()]).collect()
    }
}

fn somebodys_group(account: &mut Account) -> Target {
    let vpc = account.default_vpc().unwrap().id.text();
    let props = [("vpc", vpc), ("description", Text::from("theirs"))];
    let tags = [(Text::from("team"), Text::from("network"))];
    let (props, tags): (Props, Tags) = (props.into_iter().collect(), tags.into_iter().collect());
    let kind = &SECURITY_GROUP;
    let group = account.plant(Actor::Stranger, kind, "shared", &props, &tags);
    let group = group.unwrap();
    account
        .add_parts(Actor::Stranger, &group, RULE, &[part(GUEST)])
        .unwrap();
    group
}

fn second_vpc(account: &mut Account) -> Target {
    let mut plant = |kind, props: &[(&'static str, &str)]| {
        let props = props.iter().map(|(key, value)| (*key, Text::from(*value)));
        let props: Props = props.collect();
        account.plant(Actor::Stranger, kind, "", &props, &Tags::new())
    };
    let vpc = plant(&VPC, &[("cidr", "10.0.0.0/16")]).unwrap();
    let place = [
        ("vpc", vpc.id.as_str()),
        ("cidr", "10.0.0.0/24"),
        ("zone", "zone-a"),
    ];
    plant(&SUBNET, &place).unwrap();
    vpc
}
