//! `freehold crds`, `freehold manifests` and `freehold permissions`: what an administrator applies.

pub(crate) mod permissions;
pub mod rights;

use api::manifests::{for_account, stream};
use api::names::{OPERATOR_ACCOUNT, OPERATOR_NAMESPACE};
use clap::ValueEnum as _;
use controllers::registry::{self, ENTRIES, Entry};
use ownership::input;

use crate::connect;
use crate::operator::command::{Meaning, duration};
use crate::operator::systems::{self, Systems};
use rights::Needed;

/// What `freehold crds` is told.
#[derive(clap::Args)]
pub(crate) struct Crds {
    /// Whose: names with commas between; without it, every system's
    #[arg(long, value_parser = systems::parse, value_name = "SYSTEMS")]
    systems: Option<Systems>,
    /// Leave out the definitions of served kinds: the original's are installed
    #[arg(long)]
    no_definitions: bool,
    /// Leave out the admission policies that keep claims and recorded ids from being changed
    #[arg(long)]
    no_policy: bool,
}

/// What `freehold manifests` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[arg(long, value_parser = systems::parse, value_name = "SYSTEMS", help = systems::help())]
    systems: Systems,
    /// The image that the operator is run from; its PATH has freehold
    #[arg(long, value_parser = image)]
    image: String,
    /// The namespace that the operator runs in
    #[arg(long, default_value = OPERATOR_NAMESPACE, value_parser = label)]
    namespace: String,
    /// The account that it runs as, which the admission policies trust
    #[arg(long, default_value = OPERATOR_ACCOUNT, value_parser = label)]
    service_account: String,
    /// Given to freehold run
    #[arg(long, value_enum, value_name = "MEANING")]
    unmarked: Option<Meaning>,
    /// Given to freehold run
    #[arg(long, value_parser = duration_text, value_name = "DURATION")]
    resync: Option<String>,
    #[command(flatten)]
    whom: connect::Whom,
}

/// Reads a time, and keeps it as it was written.
fn duration_text(text: &str) -> Result<String, String> {
    duration(text).map(|_| text.to_owned())
}

impl Options {
    /// What `freehold run` is told besides.
    fn more(&self) -> Vec<String> {
        let unmarked = self
            .unmarked
            .and_then(|meaning| meaning.to_possible_value());
        let unmarked = unmarked.map(|meaning| meaning.get_name().to_owned());
        let options = [
            ("--unmarked", unmarked),
            ("--resync", self.resync.clone()),
            ("--holder", self.whom.holder.clone()),
        ];
        let given = options.into_iter();
        let given = given.filter_map(|(flag, value)| Some([flag.to_owned(), value?]));
        given.flatten().collect()
    }
}

/// Prints definitions and policies.
pub(crate) fn crds(options: &Crds) -> anyhow::Result<()> {
    let entries = options.systems.as_ref().map(Systems::entries);
    let entries = entries.unwrap_or_else(|| ENTRIES.to_vec());
    let mut documents = Vec::new();
    if !options.no_definitions {
        let definitions = entries.iter().flat_map(|entry| entry.definitions);
        documents.extend(definitions.map(|&text| text.to_owned()));
    }
    if !options.no_policy {
        documents.extend(registry::policies(&entries));
    }
    print(&documents)
}

/// Prints everything that the operator is run with.
pub(crate) fn manifests(options: &Options) -> anyhow::Result<()> {
    print(&documents(
        &options.systems,
        &options.image,
        &options.namespace,
        &options.service_account,
        &options.more(),
    ))
}

/// Everything that the operator is run with, but for the definitions: a YAML document each, or more.
/// `more` is what `freehold run` is told besides.
pub fn documents(
    systems: &Systems,
    image: &str,
    namespace: &str,
    account: &str,
    more: &[String],
) -> Vec<String> {
    let entries = systems.entries();
    let policies = registry::policies(&entries);
    let mut all: Vec<String> = policies
        .iter()
        .map(|policy| for_account(policy, namespace, account))
        .collect();
    // The policies first: from the start nobody can interfere.
    let operator = operator(systems, &entries, image, namespace, account);
    let usual = ["--log".to_owned(), "json".to_owned()];
    let more: Vec<String> = more.iter().map(|word| format!("{word:?}")).collect();
    let args = [&usual[..], &more].concat().join(", ");
    all.push(operator.replace("--log, json]", &format!("{args}]")));
    all
}

fn operator(
    systems: &Systems,
    entries: &[&Entry],
    image: &str,
    namespace: &str,
    account: &str,
) -> String {
    let mut needed = rights::needed(entries, namespace);
    if *systems == Systems::Auto {
        needed.extend(rights::to_choose(entries));
    }
    let rules = |own: bool| {
        let rules = needed.iter().filter(|needed| needed.own == own);
        rules.map(Needed::to_string).collect::<Vec<_>>().join("\n")
    };
    include_str!("template.yaml")
        .replace("CLUSTER_RULES", &rules(false))
        .replace("OWN_RULES", &rules(true))
        .replace("NAMESPACE", namespace)
        .replace("ACCOUNT", account)
        .replace("SYSTEMS", &systems.to_string())
        .replace("IMAGE", image)
}

fn print(documents: &[String]) -> anyhow::Result<()> {
    say::text(format_args!("{}", stream(documents)))?;
    Ok(())
}

/// Reads the name of a namespace or of an account.
pub(crate) fn label(text: &str) -> Result<String, String> {
    input::object_name("", text).map_err(|error| error.rule)?;
    match text {
        long if long.len() > 63 => Err("must have at most 63 characters".to_owned()),
        dotted if dotted.contains('.') => Err("must not contain '.'".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Reads an image's name, of which the container runtime knows more.
fn image(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._-/:@+".contains(c);
    if text.is_empty() || !text.chars().all(legal) {
        return Err("must be the name of an image, such as registry.example.com/freehold:1".into());
    }
    Ok(text.to_owned())
}
