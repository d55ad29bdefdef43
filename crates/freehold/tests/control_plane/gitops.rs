//! The manifest of docs/gitops.md, applied by somebody else again and again while the operator works.

use std::path::Path;

use freehold::accounts::Countable as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::{Resource as _, ResourceExt as _};
use serde_json::Value;

use super::*;

const IDS: [&str; 5] = [
    "vpcID",
    "routeTableID",
    "securityGroupID",
    "roleARN",
    "instanceProfileName",
];

#[tokio::test(start_paused = true)]
async fn a_manifest_is_applied_again_and_again() {
    let clock = ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let cluster = guarded(clock);
    let admin = cluster.client();
    install(&admin, "kkp").await;
    let operator = cluster.client_as(account());
    applied_again_and_again(&admin, operator, clock).await;
}

/// With KKP's own definition, which requires the ids.
#[tokio::test(start_paused = true)]
async fn a_manifest_is_applied_again_and_again_beside_kkp() {
    let clock = ProcessClock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let cluster = guarded(clock);
    let admin = cluster.client();
    if !install::originals(&admin).await {
        return;
    }
    install(&admin, "kkp").await;
    let operator = cluster.client_as(account());
    applied_again_and_again(&admin, operator, clock).await;
}

#[tokio::test]
async fn a_manifest_is_applied_again_and_again_on_a_real_api_server() {
    if std::env::var_os("FREEHOLD_TIER_CONTROL_PLANE").is_none_or(|value| value != "1") {
        let line = "SKIPPED: GitOps (FREEHOLD_TIER_CONTROL_PLANE is not 1)";
        writeln!(std::io::stderr(), "{line}").expect("standard error");
        return;
    }
    let binaries = control_plane::tools(|_| ()).expect("the programs");
    let plane = ControlPlane::start(&binaries).await.expect("it starts");
    let admin = plane.client().await.unwrap();
    install::originals(&admin).await;
    install::apply(&plane, &admin).await;
    let operator = signed_in(&plane, &admin).await;
    applied_again_and_again(&admin, operator, ProcessClock::real()).await;
}

/// The objects of the page's first example.
fn example() -> Vec<DynamicObject> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gitops.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, example) = page.split_once("```yaml\n").unwrap();
    let (example, _) = example.split_once("```\n").unwrap();
    serde_saphyr::from_multiple(example).unwrap()
}

/// Applies as Argo CD and Flux do: what others wrote to the manifest's fields is overwritten.
async fn apply(admin: &Client, object: &DynamicObject) {
    let kind = GroupVersionKind::try_from(object.types.as_ref().unwrap()).unwrap();
    let kind = ApiResource::from_gvk(&kind);
    let api: Api<DynamicObject> = match object.namespace() {
        Some(namespace) => Api::namespaced_with(admin.clone(), &namespace, &kind),
        None => Api::all_with(admin.clone(), &kind),
    };
    let (parameters, patch) = (PatchParams::apply("gitops").force(), Patch::Apply(object));
    let applied = api.patch(&object.name_any(), &parameters, &patch).await;
    applied.unwrap();
}

/// A condition: its type, whether it holds, and since when.
type Seen = (String, String, Option<Time>);

/// The ids, and what people see of the cluster's state.
fn shown(cluster: &Cluster) -> (Vec<Value>, Vec<Seen>) {
    let spec = serde_json::to_value(&cluster.spec).unwrap();
    let ids = IDS.map(|id| spec["cloud"]["aws"][id].clone());
    let status = cluster.status.clone().unwrap_or_default();
    let conditions = status.conditions.into_iter();
    let conditions = conditions.map(|(kind, it)| (kind, it.status, it.last_transition_time));
    (ids.into(), conditions.collect())
}

async fn applied_again_and_again(admin: &Client, operator: Client, clock: ProcessClock) {
    let example = example();
    for object in &example {
        apply(admin, object).await;
    }
    let recorder = Recorder::default();
    let settings = Settings {
        namespace: NAMESPACE.to_owned(),
        ..Settings::of("a")
    };
    let accounts = Simulated::new(clock);
    let client = recorder.client(operator);
    let replica = Operator::new(client, accounts.clone(), clock, settings);
    let (stop, stopped) = oneshot::channel::<()>();
    let run = tokio::spawn(replica.run(async { stopped.await.unwrap() }));
    let clusters: Api<Cluster> = Api::all(admin.clone());
    let writes = || {
        let requests = recorder.requests();
        let of_clusters = requests
            .iter()
            .filter(|it| it.verb == "patch" && it.resource.starts_with("clusters"));
        of_clusters.count()
    };
    let changes = || {
        let reads = |name: &str| {
            ["Describe", "Get", "List"]
                .iter()
                .any(|it| name.starts_with(it))
        };
        let calls = accounts.calls().into_iter();
        let changes = calls.filter(|(call, _)| !reads(&call.operation));
        changes.map(|(_, number)| number).sum::<u64>()
    };
    // Ready, with its ids recorded, and nothing more to write.
    let converged = async || {
        let (mut last, mut same) = (0, 0);
        eventually("at rest", async || {
            assert!(!run.is_finished(), "it runs");
            let (ids, conditions) = shown(&clusters.get("demo").await.unwrap());
            let mut conditions = conditions.iter();
            let ready = conditions.any(|(kind, status, _)| kind == "Ready" && status == "True");
            let recorded = ids
                .iter()
                .all(|id| id.as_str().is_some_and(|id| !id.is_empty()));
            let now = writes();
            same = if ready && recorded && now == last {
                same + 1
            } else {
                0
            };
            last = now;
            same == 10
        })
        .await;
        clusters.get("demo").await.unwrap()
    };
    let first = converged().await;
    let made = changes();

    // The ids of the manifest are empty: each time they are cleared, and recorded again.
    for _ in 0..5 {
        let before = writes();
        for object in &example {
            apply(admin, object).await;
        }
        assert_eq!(shown(&converged().await), shown(&first));
        // Each id when it is found; what is settled meanwhile; when all was last looked at.
        let after = writes() - before;
        assert!(after <= IDS.len() + 2, "{after} writes for one apply");
    }
    assert_eq!(changes(), made, "nothing happens in the cloud");

    // Without them nothing happens at all. So it is with a tool that leaves them alone.
    let mut without = example;
    let cluster = without.last_mut().unwrap();
    let aws = cluster.data.pointer_mut("/spec/cloud/aws").unwrap();
    aws.as_object_mut()
        .unwrap()
        .retain(|name, _| !IDS.contains(&name.as_str()));
    apply(admin, cluster).await;
    let rests = converged().await;
    assert_eq!(shown(&rests), shown(&first));
    let before = writes();
    for _ in 0..5 {
        for object in &without {
            apply(admin, object).await;
        }
    }
    let after = clusters.get("demo").await.unwrap();
    assert_eq!(
        after.metadata.resource_version,
        rests.metadata.resource_version
    );
    assert_eq!(writes(), before, "rest is silent");

    let managers = after.meta().managed_fields.iter().flatten();
    let managers: BTreeSet<_> = managers.filter_map(|it| it.manager.as_deref()).collect();
    assert_eq!(managers, BTreeSet::from(["freehold", "gitops"]));
    let deleted = clusters.delete("demo", &DeleteParams::default()).await;
    deleted.unwrap();
    eventually("gone", async || {
        clusters.get_opt("demo").await.unwrap().is_none()
    })
    .await;
    stop.send(()).unwrap();
    run.await.unwrap().unwrap();
    own_manager(&recorder.requests());
}

/// Everything that is kept was written under our own name.
pub(crate) fn own_manager(requests: &[Request]) {
    let kept = |request: &&Request| {
        ["create", "update", "patch"].contains(&request.verb.as_str())
            && !FOR_EVERYBODY.contains(&request.group.as_str())
    };
    let writes: Vec<_> = requests.iter().filter(kept).collect();
    assert!(!writes.is_empty());
    for write in writes {
        assert_eq!(write.manager, api::written::FIELD_MANAGER, "{write:?}");
    }
}
