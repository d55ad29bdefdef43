//! The second system's half of the seeded runs.

use std::collections::BTreeSet;
use std::time::Duration;

use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_sim::{Account, Actor};
use kube::Client;
use laboratory::seeded::{
    self, Check, Event, Live, Random, Runs, Seeded, SignedIn, TERM, oracle, part,
};
use ownership::mark::Tags;
use ownership::part::Props;
use ownership::{Target, Text};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::object::{create_namespace, gate, install};
use crate::system::Gates;
use crate::yards::Place;

/// Sets of open ports.
const PORTS: [&[u16]; 4] = [&[443], &[443, 80], &[22, 443], &[]];
/// What somebody adds to a gate's group.
const GUEST: &str = "ingress tcp 8443-8443 198.51.100.0/24";

/// What one run of gates knows.
pub(crate) struct World {
    /// Namespaces with gates of the same name.
    places: [Place; 2],
    /// Somebody's group that has the name of a gate's.
    namesake: Option<Target>,
}

/// What happens only to gates.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Own {
    /// The yard comes or goes.
    Yard,
    /// The yard is deleted while gates that need it live.
    EndYard,
    /// The yard is paused, or goes on.
    Pause,
    /// The yard says something else.
    From,
    /// The key is replaced.
    Rotate,
    /// Somebody makes a group that has the name of a gate's, or removes it.
    Namesake,
}

/// The ports that people want to be open.
#[derive(Debug)]
pub(crate) struct Wish(Vec<u16>);

impl seeded::Wish for Wish {
    fn change(&mut self, random: &Random) {
        self.0 = random.pick(&PORTS).unwrap().to_vec();
    }

    fn patch(&self) -> Value {
        json!({"spec": {"ports": self.0}})
    }
}

impl Seeded for World {
    type System = Gates<SignedIn>;
    type Wish = Wish;
    type Own = Own;

    const TEST: &'static str = "second_seeded";
    const RUNS: Runs = Runs {
        few: 20,
        tier: 500,
        full: 5_000,
        missing: 50,
    };
    const EVENTS: &'static [Event<Own>] = &[
        Event::Restart,
        Event::LoseLease,
        Event::RestoreOne,
        Event::RestoreAll,
        Event::Copy,
        Event::SetBack,
        Event::Edit,
        Event::Edit,
        Event::Create("north/two"),
        Event::Create("south/one"),
        Event::End,
        Event::Compact,
        Event::Own(Own::Yard),
        Event::Own(Own::Yard),
        Event::Own(Own::EndYard),
        Event::Own(Own::Pause),
        Event::Own(Own::From),
        Event::Own(Own::Rotate),
        Event::Own(Own::Rotate),
        Event::Own(Own::Namesake),
        Event::Meddle,
        Event::Meddle,
        Event::Meddle,
    ];
    const SWEEPS: bool = false;
    // What the others are for KKP's runs and suite show; a guest is pinned with its hosts in any case.
    const CHECKS: &'static [Check] = &[TERM];

    fn begin(_: &mut Account) -> Self {
        Self {
            places: ["north", "south"].map(Place::new),
            namesake: None,
        }
    }

    fn system(accounts: SignedIn) -> Gates<SignedIn> {
        Gates { accounts }
    }

    async fn install(client: &Client) {
        install(client).await;
        for namespace in ["north", "south"] {
            create_namespace(client, namespace).await;
        }
    }

    /// The yard and the key come before the first gate, or after it.
    async fn start(world: &mut seeded::World<Self>) {
        for place in &mut world.own.places {
            if world.random.chance(50) {
                place.put_right(&world.person.client).await;
            }
        }
        world.create("north/one").await;
    }

    async fn create(world: &mut seeded::World<Self>, name: &'static str) -> Wish {
        let wish = Wish(world.random.pick(&PORTS).unwrap().to_vec());
        let (namespace, name) = name.split_once('/').unwrap();
        let mut object = gate(namespace, &wish.0);
        object["metadata"]["name"] = json!(name);
        world.person.create(object).await;
        wish
    }

    fn set_back(&self, wish: &mut Wish, object: &Value) {
        wish.0 = serde_json::from_value(object["spec"]["ports"].clone()).unwrap();
    }

    async fn meddle(world: &mut seeded::World<Self>, at: usize) {
        meddle(world, at).await;
    }

    async fn happen(world: &mut seeded::World<Self>, event: Own) {
        let (client, random) = (world.person.client.clone(), world.random.clone());
        let at = usize::from(random.chance(30));
        let place = &mut world.own.places[at];
        match event {
            Own::Yard => {
                world.seen.insert("a yard that comes or goes");
                place.toggle_yard(&client, &random).await;
            }
            Own::EndYard => end_yard(world, at).await,
            Own::Pause => place.toggle_pause(&client).await,
            Own::From => place.change_from(&client, &random).await,
            Own::Rotate => {
                world.seen.insert("a rotated key");
                place.rotate(&client, &world.person.weather, &random).await;
            }
            Own::Namesake => toggle_namesake(world),
        }
    }

    fn faulty(random: &Random) -> &'static str {
        random
            .pick(&["gates", "gates", "yards", "secrets"])
            .unwrap()
    }

    async fn put_right(world: &mut seeded::World<Self>) {
        if world.own.namesake.is_some() {
            toggle_namesake(world);
        }
        for place in &mut world.own.places {
            place.put_right(&world.person.client).await;
        }
    }

    /// Without its yard and its key a gate waits for its end; people notice sooner or later.
    async fn while_it_ends(world: &mut seeded::World<Self>, _: &str) {
        if world.random.chance(20) {
            Self::put_right(world).await;
        }
    }

    fn resources(live: &Live<Self>) -> (Vec<String>, Vec<String>) {
        let group = format!("aws/security-group {}", group(live.name));
        (vec![group], Vec::new())
    }

    fn assert_rest(world: &seeded::World<Self>) {
        for live in &world.live {
            let target = world.person.find(&SECURITY_GROUP, &group(live.name));
            let account = world.person.weather.account().lock();
            let rules = rules(world, live);
            oracle::has_no_other(&account, &target.unwrap(), RULE, &rules);
        }
        assert_marked(world);
    }

    async fn assert_end(world: &seeded::World<Self>) {
        for place in &world.own.places {
            place.assert_let_go(&world.person.client).await;
        }
    }
}

/// The name of a gate's group.
fn group(gate: &str) -> String {
    gate.replace('/', "-")
}

/// The rules that a gate's group must have.
fn rules(world: &seeded::World<World>, live: &Live<World>) -> BTreeSet<String> {
    let place = world.own.places.iter();
    let place = place.filter(|place| live.name.starts_with(place.namespace));
    let from = place.map(|place| place.from).next().unwrap();
    let ports = live.wish.0.iter();
    ports
        .map(|port| format!("ingress tcp {port}-{port} {from}"))
        .collect()
}

/// Law 7: the network carries the cluster mark of each name that a live gate has, and no other; but
/// where a memory was lost, it stays.
fn assert_marked(world: &seeded::World<World>) {
    let account = world.person.weather.account().lock();
    let vpc = account.default_vpc().unwrap();
    let life = account.life(&Target::new(vpc.kind, vpc.id.clone()));
    let marks = life.unwrap().tags.iter().map(|tag| tag.key.to_string());
    let marks = marks.filter(|key| key.starts_with("kubernetes.io/cluster/"));
    let names = world
        .live
        .iter()
        .filter_map(|live| live.name.split('/').nth(1));
    let wanted = names.map(|name| format!("kubernetes.io/cluster/{name}"));
    let (marks, wanted): (BTreeSet<_>, BTreeSet<_>) = (marks.collect(), wanted.collect());
    let is_right = marks == wanted || world.forgot() && marks.is_superset(&wanted);
    assert!(is_right, "law 7: {marks:?} instead of {wanted:?}");
}

/// The yard of a gate that is ready is deleted, and waits for it whatever goes wrong meanwhile.
async fn end_yard(world: &mut seeded::World<World>, at: usize) {
    world.quiet_hour().await;
    let client = world.person.client.clone();
    let mut is_needed = false;
    for live in &world.live {
        let is_here = live.name.starts_with(world.own.places[at].namespace);
        is_needed |= is_here && world.person.ready(live.name).await.is_ok();
    }
    if !is_needed || !world.own.places[at].has_yard() {
        return;
    }
    world.seen.insert("a yard that waits for its gates");
    world.own.places[at].end_yard(&client).await;
    for _ in 0..5 {
        world.plan_fault();
        sleep(world.random.span(Duration::from_mins(2))).await;
        if world.random.chance(20) {
            world.operators.restart();
        }
        let seen = world.own.places[at].sees_yard(&client).await;
        assert_ne!(seen, Some(false), "the yard has gone before its gates");
    }
}

/// Something that a person does to a live gate or to its group, and that the controller must put
/// right.
async fn meddle(world: &seeded::World<World>, at: usize) {
    let (person, live) = (&world.person, &world.live[at]);
    let ours = group(live.name);
    let rules: Vec<String> = rules(world, live).into_iter().collect();
    match world.random.below(8) {
        0 => {
            if let Some(rule) = world.random.pick(&rules) {
                person.remove(&SECURITY_GROUP, &ours, RULE, rule);
            }
        }
        1 => person.add(&SECURITY_GROUP, &ours, RULE, part(GUEST)),
        2 => {
            if let Some(rule) = world.random.pick(&rules) {
                person.add(&SECURITY_GROUP, &ours, RULE, part(rule));
            }
        }
        3 => person.delete_resource(&SECURITY_GROUP, &ours),
        4 => unmark_in_part(world, live.name),
        5 => person.forget_claim(live.name).await,
        6 => {
            let none = json!({"status": null});
            person.patch_status(live.name, none).await;
        }
        _ => {
            let wrong = json!({"status": {"securityGroupID": "sg-0123456789abcdef0"}});
            person.patch_status(live.name, wrong).await;
        }
    }
}

/// Somebody removes the tag of a gate's group that is not Freehold's: what is left of the mark is enough.
fn unmark_in_part(world: &seeded::World<World>, gate: &str) {
    if let Some(target) = world.person.find(&SECURITY_GROUP, &group(gate)) {
        let name = gate.rsplit('/').next().unwrap();
        let key = Text::from(format!("kubernetes.io/cluster/{name}"));
        let mut account = world.person.weather.account().lock();
        let _ = account.untag(Actor::Stranger, &[target], &[(key, Text::from("owned"))]);
    }
}

/// Somebody makes a group that has the name of a gate's, if no gate has it; or removes it.
fn toggle_namesake(world: &mut seeded::World<World>) {
    let mut account = world.person.weather.account().lock();
    if let Some(namesake) = world.own.namesake.take() {
        // Whoever deletes a gate's group by its name may have met this one.
        let _ = account.delete(Actor::Stranger, &namesake);
        return;
    }
    let name = world.random.pick(&["north-one", "north-two", "south-one"]);
    let vpc = account.default_vpc().unwrap().id.text();
    let props = [("vpc", vpc), ("description", Text::from("theirs"))];
    let props: Props = props.into_iter().collect();
    let group = account.plant(
        Actor::Stranger,
        &SECURITY_GROUP,
        name.unwrap(),
        &props,
        &Tags::new(),
    );
    if let Ok(group) = group {
        world.seen.insert("a namesake");
        world.own.namesake = Some(group);
    }
}
