//! One run: bad times, then good times, then the end of everything.

use std::sync::Arc;
use std::time::Duration;

use api::kkp::Cluster as Object;
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};
use cloud_port::driver::{Clock as _, Term};
use cloud_sim::{Account, Actor, Lag, SharedAccount, VirtualClock};
use controllers::kkp::Kkp;
use controllers::reconcile::{self, Reconciler, Settings, TokioClock};
use embedded_kube::{Cluster, Fault, FaultKind, Options};
use kube::ResourceExt as _;
use kube::api::ListParams;
use ownership::part::InnerPart;
use ownership::step::Create;
use ownership::time::Millis;
use ownership::{Freehold, Holder, SlotName, Step, Target, Text};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::oracle;
use crate::people::{GUEST, Person};
use crate::random::Random;
use crate::weather::{SignedIn, Weather};

const RESYNC: Duration = Duration::from_mins(10);
/// Long enough for every wait of the engine and a few resyncs.
const PEACE: Duration = Duration::from_hours(2);

/// Lives through a run; returns the calls to the cloud, in order.
pub(crate) fn live(seed: u64) -> Vec<String> {
    pinned_random::run(seed, move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async move { World::new(seed).run().await })
    })
}

struct World {
    cluster: Cluster,
    clock: TokioClock,
    random: Random,
    person: Person,
    operator: JoinHandle<()>,
    /// The names of the clusters that are to live.
    live: Vec<&'static str>,
}

impl World {
    fn new(seed: u64) -> Self {
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
        let account = Account::new(settings, virtual_clock.clone());
        let account = SharedAccount::new(account, Actor::Engine(0));
        let weather = Weather::new(account, virtual_clock, clock, random.clone());
        let person = Person {
            client: cluster.client(),
            weather,
            random: random.clone(),
        };
        let operator = operate(&cluster, &person.weather, clock);
        Self {
            cluster,
            clock,
            random,
            person,
            operator,
            live: Vec::new(),
        }
    }

    async fn run(mut self) -> Vec<String> {
        api::manifests::install(self.person.client.clone())
            .await
            .unwrap();
        let shared = self.shared_group();
        self.bad_times(&shared).await;
        self.person.weather.calm();
        self.cluster.faults().clear();
        self.restart();
        sleep(PEACE).await;
        self.assert_rest(&shared).await;
        self.assert_silent().await;
        for name in std::mem::take(&mut self.live) {
            self.person.delete(name).await;
        }
        sleep(PEACE).await;
        self.assert_end(&shared).await;
        self.operator.abort();
        self.person.weather.calls()
    }

    /// Somebody's group, with a rule of its own, that one cluster uses.
    fn shared_group(&self) -> Target {
        let mut account = self.person.weather.account().lock();
        let vpc = account.alive("aws/vpc").next().unwrap().id.text();
        let create = Create {
            slot: SlotName::new("shared").unwrap(),
            kind: &SECURITY_GROUP,
            attempt: 1,
            name: "shared".into(),
            props: [("vpc", vpc), ("description", "theirs".into())]
                .into_iter()
                .collect(),
            tags: [(Text::from("team"), Text::from("network"))]
                .into_iter()
                .collect(),
            token: None,
        };
        let made = account
            .perform(Actor::Stranger, &Step::Create(create))
            .unwrap();
        let target = Target::new(SECURITY_GROUP.name, made.born.unwrap().id.clone());
        let rule = InnerPart {
            key: GUEST.into(),
            value: "".into(),
            tags: std::iter::empty::<(Text, Text)>().collect(),
        };
        account
            .add_parts(Actor::Stranger, &target, RULE, &[rule])
            .unwrap();
        target
    }

    async fn bad_times(&mut self, shared: &Target) {
        let group = json!({"securityGroupID": shared.id.as_str()});
        self.person.create("one", json!({}), "IPv4").await;
        self.live.push("one");
        for _ in 0..self.random.below(12) {
            self.plan_fault();
            sleep(self.random.span(Duration::from_mins(3))).await;
            match self.random.below(10) {
                0 => self.restart(),
                8 => self.restore().await,
                9 => self.copy().await,
                1 if !self.live.contains(&"two") => {
                    self.person.create("two", group.clone(), "IPv4+IPv6").await;
                    self.live.push("two");
                }
                2 if !self.live.contains(&"three") => {
                    let aws = json!({"disableIAMReconciling": true});
                    self.person.create("three", aws, "IPv4").await;
                    self.live.push("three");
                }
                3 => {
                    let at = usize::try_from(self.random.below(3)).unwrap();
                    if at < self.live.len() {
                        let name = self.live.remove(at);
                        self.person.delete(name).await;
                        self.wait_until_gone(name).await;
                    }
                }
                4 => self.cluster.compact(),
                _ => {
                    if let Some(name) = self.live.first() {
                        self.person.meddle(name).await;
                    }
                }
            }
            oracle::no_theft(&self.person.weather.account().lock());
        }
    }

    /// The management cluster is lost, and restored from a backup; what was on its way has arrived.
    async fn restore(&mut self) {
        let Some(name) = self.live.first().copied() else {
            return;
        };
        self.operator.abort();
        sleep(Duration::from_mins(3)).await;
        let backup = self.backup(name).await;
        self.person.lose(name).await;
        sleep(self.random.span(Duration::from_mins(10))).await;
        self.person.restore(backup).await;
        let ends_at_once = self.random.chance(30);
        if ends_at_once {
            self.person.delete(name).await;
        }
        self.restart();
        if ends_at_once {
            self.live.remove(0);
            self.wait_until_gone(name).await;
        }
    }

    /// A backup that is not older than what was written before it.
    async fn backup(&self, name: &str) -> serde_json::Value {
        self.cluster.faults().clear();
        self.person.backup(name).await
    }

    /// Somebody applies a copy of a manifest under another name, and removes it later.
    async fn copy(&mut self) {
        let Some(name) = self.live.first().copied() else {
            return;
        };
        let mut copy = self.backup(name).await;
        copy["metadata"]["name"] = json!("copy");
        self.person.restore(copy).await;
        sleep(self.random.span(Duration::from_mins(5))).await;
        self.person.delete("copy").await;
        self.wait_until_gone("copy").await;
    }

    /// The same name may come again, so its end is waited for; the operator may crash meanwhile.
    async fn wait_until_gone(&mut self, name: &str) {
        for _ in 0..400 {
            if let Ok(None) = self.person.clusters().get_opt(name).await {
                return;
            }
            sleep(Duration::from_secs(30)).await;
            if self.random.chance(3) {
                self.restart();
            }
        }
        let object = self.person.clusters().get_opt(name).await;
        panic!("{name} does not end: {object:#?}");
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

    /// The operator crashes, wherever it is, and starts again.
    fn restart(&mut self) {
        self.operator.abort();
        self.operator = operate(&self.cluster, &self.person.weather, self.clock);
    }

    async fn assert_rest(&self, shared: &Target) {
        for name in &self.live {
            let cluster = self.person.clusters().get(name).await.unwrap();
            let conditions = cluster.status.clone().unwrap_or_default().conditions;
            let ready = conditions.get("Ready").map(|ready| ready.status.as_str());
            assert_eq!(ready, Some("True"), "{name} comes to rest: {conditions:#?}");
        }
        let account = self.person.weather.account().lock();
        oracle::no_theft(&account);
        let mut wanted = Vec::new();
        for name in &self.live {
            let ours = format!("kubernetes-{name}");
            if *name != "two" {
                wanted.push(format!("aws/security-group {ours}"));
            }
            if *name != "three" {
                wanted.push(format!("aws/iam-role {ours}-control-plane"));
                wanted.push(format!("aws/iam-role {ours}-worker"));
                wanted.push(format!("aws/instance-profile {ours}"));
            }
        }
        oracle::exactly(&account, &wanted);
        let rules = account.parts(shared, RULE).len();
        let expected = if self.live.contains(&"two") { 10 } else { 1 };
        assert_eq!(rules, expected, "the shared group's rules");
    }

    /// Law 8: hours pass, and nothing is written anywhere.
    async fn assert_silent(&self) {
        let versions = async || {
            let all = self
                .person
                .clusters()
                .list(&ListParams::default())
                .await
                .unwrap();
            let version = |object: &Object| (object.name_any(), object.resource_version());
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

    async fn assert_end(&self, shared: &Target) {
        let left = self
            .person
            .clusters()
            .list(&ListParams::default())
            .await
            .unwrap();
        assert!(left.items.is_empty(), "they do not end: {:#?}", left.items);
        let account = self.person.weather.account().lock();
        oracle::no_theft(&account);
        oracle::nothing_left(&account);
        let rules = account.parts(shared, RULE);
        assert!(matches!(rules, [only] if *only.key == *GUEST), "{rules:?}");
    }
}

fn operate(cluster: &Cluster, weather: &Weather, clock: TokioClock) -> JoinHandle<()> {
    let settings = Settings {
        holder: Holder::of_cluster("here"),
        taken_over: std::collections::BTreeMap::new(),
        resync: RESYNC,
        retry: Duration::from_secs(1),
        rules: Freehold,
    };
    // What an earlier process has sent may still take effect.
    let term = Term {
        began: Some(clock.now()),
        ends: None,
    };
    let kkp = Kkp {
        accounts: SignedIn::new(weather),
    };
    let reconciler = Reconciler::new(
        kkp,
        cluster.client(),
        clock,
        settings,
        Arc::new(move || term),
    );
    tokio::spawn(reconcile::run(Arc::new(reconciler), std::future::pending()))
}
