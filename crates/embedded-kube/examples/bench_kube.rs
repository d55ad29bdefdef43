//! `cargo xtask bench kube`: the embedded API server and a real one, side by side in one run.
//!
//! Usage: `bench_kube [--embedded-only]`. Rates are objects a second (events a second for watches); a
//! ratio is embedded over real. The idle clusters have the fleet's definitions where
//! `FREEHOLD_UPSTREAM_CRDS` names their folder, and others of their size elsewhere.
#![allow(clippy::print_stdout, reason = "it prints its figures")]

use std::sync::Arc;

use embedded_kube::{Clock, Cluster, TokioClock};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;

const OBJECTS: usize = 10_000;
const LISTS: usize = 5;
const WATCHERS: usize = 100;
const CHANGES: usize = 100;
const IDLE_CLUSTERS: usize = 5_000;
/// Requests in flight: one would measure the real server's latency alone.
const AT_A_TIME: usize = 8;

const COLLECTION: &str = "/apis/bench.freehold.dev/v1/namespaces/default/parts";

type Error = Box<dyn std::error::Error>;

struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
}

fn main() -> Result<(), Error> {
    let mut with_real = true;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--embedded-only" => with_real = false,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for Figure { name, value, unit } in runtime.block_on(measure(with_real))? {
        println!("{name} {value:.1} {unit}");
    }
    Ok(())
}

async fn measure(with_real: bool) -> Result<Vec<Figure>, Error> {
    let mut figures = vec![idle_clusters().await?];
    let embedded = rates(&Cluster::new(clock()?).client()).await?;
    let real = if with_real {
        let binaries = control_plane::tools(|doing| println!("{doing}"))?;
        let plane = control_plane::ControlPlane::start(&binaries).await?;
        Some(rates(&plane.client().await?).await?)
    } else {
        None
    };
    for (index, (name, rate, unit)) in embedded.iter().enumerate() {
        let mut figure = |what: &str, value, unit| {
            figures.push(Figure {
                name: format!("kube.{name}.{what}"),
                value,
                unit,
            });
        };
        figure("embedded", *rate, unit);
        if let Some((_, real, _)) = real.as_ref().and_then(|real| real.get(index)) {
            figure("real", *real, unit);
            figure("ratio", rate / real, "x");
        }
    }
    Ok(figures)
}

fn clock() -> Result<Arc<dyn Clock>, Error> {
    Ok(Arc::new(TokioClock::starting_at(
        "2026-01-01T00:00:00Z".parse()?,
    )))
}

/// What one server does in a second.
async fn rates(client: &kube::Client) -> Result<Vec<(&'static str, f64, &'static str)>, Error> {
    install(client, &definition("parts", "Part", 20)).await?;

    let started = Instant::now();
    each(OBJECTS, |index| {
        send(client, "POST", COLLECTION.to_owned(), Some(object(index)))
    })
    .await?;
    let create = per_second(OBJECTS, started);

    let started = Instant::now();
    each(OBJECTS, |index| {
        send(client, "GET", format!("{COLLECTION}/p{index}"), None)
    })
    .await?;
    let get = per_second(OBJECTS, started);

    let started = Instant::now();
    for _ in 0..LISTS {
        let list: Value =
            serde_json::from_slice(&send(client, "GET", COLLECTION.to_owned(), None).await?)?;
        let found = list["items"].as_array().map_or(0, Vec::len);
        if found != OBJECTS {
            return Err(format!("a list of {found} instead of {OBJECTS}").into());
        }
    }
    let list = per_second(OBJECTS * LISTS, started);
    let watch = watch(client).await?;
    Ok(vec![
        ("create", create, "objects/s"),
        ("get", get, "objects/s"),
        ("list", list, "objects/s"),
        ("watch", watch, "events/s"),
    ])
}

/// Many watchers of a collection, all of which must see every change.
async fn watch(client: &kube::Client) -> Result<f64, Error> {
    let list: Value =
        serde_json::from_slice(&send(client, "GET", format!("{COLLECTION}?limit=1"), None).await?)?;
    let version = list["metadata"]["resourceVersion"]
        .as_str()
        .ok_or("a list has a version")?;
    let path = format!("{COLLECTION}?watch=true&resourceVersion={version}");
    let mut bodies = Vec::new();
    for _ in 0..WATCHERS {
        let request = http::Request::get(&path).body(kube::client::Body::empty())?;
        let response = client.send(request).await?;
        if response.status() != 200 {
            return Err(format!("a watch was answered with {}", response.status()).into());
        }
        bodies.push(response.into_body());
    }
    let started = Instant::now();
    let changes = async {
        for index in 0..CHANGES {
            let patch = json!({"spec": {"field0": format!("changed {index}")}});
            let path = format!("{COLLECTION}/p{index}");
            send(client, "PATCH", path, Some(patch)).await?;
        }
        Ok::<(), Error>(())
    };
    let watchers = futures_util::future::try_join_all(bodies.into_iter().map(see_all));
    let (changes, watchers) = futures_util::join!(changes, watchers);
    changes?;
    watchers?;
    Ok(per_second(WATCHERS * CHANGES, started))
}

async fn see_all(mut body: kube::client::Body) -> Result<(), Error> {
    let mut seen = 0;
    while seen < CHANGES {
        let frame = body.frame().await.ok_or("a watch ended too early")??;
        let data = frame.data_ref().map_or(&[][..], |data| data);
        seen += data.split(|byte| *byte == b'\n').count() - 1;
    }
    Ok(())
}

/// The memory of a cluster that does nothing.
async fn idle_clusters() -> Result<Figure, Error> {
    let definitions = fleet_definitions()?;
    let server = embedded_kube::Server::new(embedded_kube::Options::new(clock()?));
    let before = resident_bytes()?;
    for index in 0..IDLE_CLUSTERS {
        let client = server.cluster(&format!("c{index}")).client();
        for definition in &definitions {
            install(&client, definition).await?;
        }
    }
    let used = resident_bytes()?.saturating_sub(before);
    #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
    let value = used as f64 / IDLE_CLUSTERS as f64;
    println!(
        "{IDLE_CLUSTERS} idle clusters, {} definitions each: {} MB",
        definitions.len(),
        used >> 20
    );
    drop(server);
    Ok(Figure {
        name: "kube.idle.bytes_per_cluster".into(),
        value,
        unit: "bytes",
    })
}

fn resident_bytes() -> Result<usize, Error> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .ok_or("no VmRSS")?;
    let kilobytes: usize = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes << 10)
}

fn fleet_definitions() -> Result<Vec<Value>, Error> {
    let Some(folder) = std::env::var_os("FREEHOLD_UPSTREAM_CRDS") else {
        let kinds = ["IpRange", "AwsNfsVolume", "GcpNfsVolume", "AzureNfsVolume"];
        return Ok(kinds
            .iter()
            .map(|kind| definition(&format!("{}s", kind.to_lowercase()), kind, 60))
            .collect());
    };
    let mut definitions = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        if name.is_some_and(|name| name.starts_with("cloud-resources.kyma-project.io_")) {
            definitions.push(serde_saphyr::from_str(&std::fs::read_to_string(path)?)?);
        }
    }
    Ok(definitions)
}

fn definition(plural: &str, kind: &str, fields: usize) -> Value {
    let properties: serde_json::Map<String, Value> = (0..fields)
        .map(|index| {
            let description =
                "What this field is for, in as many words as such texts usually have.";
            (
                format!("field{index}"),
                json!({"type": "string", "description": description}),
            )
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.bench.freehold.dev")},
        "spec": {
            "group": "bench.freehold.dev", "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": properties},
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                }}}}],
        },
    })
}

fn object(index: usize) -> Value {
    let spec: serde_json::Map<String, Value> = (0..10)
        .map(|field| {
            (
                format!("field{field}"),
                json!(format!("value {field} of object {index}")),
            )
        })
        .collect();
    json!({"apiVersion": "bench.freehold.dev/v1", "kind": "Part",
        "metadata": {"name": format!("p{index}"), "labels": {"app": "bench"}}, "spec": spec})
}

/// Creates a definition and waits until it is served.
async fn install(client: &kube::Client, definition: &Value) -> Result<(), Error> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned();
    send(client, "POST", path, Some(definition.clone())).await?;
    let text = |pointer: &str| {
        definition
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let collection = format!(
        "/apis/{}/{}/{}?limit=1",
        text("/spec/group"),
        text("/spec/versions/0/name"),
        text("/spec/names/plural")
    );
    let served = async {
        while send(client, "GET", collection.clone(), None).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), served).await?;
    Ok(())
}

async fn each<F: Future<Output = Result<bytes::Bytes, Error>>>(
    count: usize,
    request: impl Fn(usize) -> F,
) -> Result<(), Error> {
    stream::iter(0..count)
        .map(request)
        .buffer_unordered(AT_A_TIME)
        .try_for_each(async |_| Ok(()))
        .await
}

async fn send(
    client: &kube::Client,
    method: &str,
    path: String,
    body: Option<Value>,
) -> Result<bytes::Bytes, Error> {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = body
        .map(|body| body.to_string().into_bytes())
        .unwrap_or_default();
    let request = http::Request::builder()
        .method(method)
        .uri(&path)
        .header("content-type", kind)
        .body(kube::client::Body::from(body))?;
    let response = client.send(request).await?;
    let status = response.status();
    let bytes = response.into_body().collect().await?.to_bytes();
    if !status.is_success() {
        let answer = String::from_utf8_lossy(&bytes).into_owned();
        return Err(format!("{method} {path}: {status}: {answer}").into());
    }
    Ok(bytes)
}

#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
fn per_second(count: usize, started: Instant) -> f64 {
    count as f64 / started.elapsed().as_secs_f64()
}
