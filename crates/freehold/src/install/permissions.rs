//! `freehold permissions`: what the operator must be allowed to do in a cloud.

use clap::ValueEnum;

use crate::operator::systems::{self, Systems};

/// What `freehold permissions` is told.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The cloud
    #[arg(value_name = "CLOUD")]
    cloud: Cloud,
    /// What the operator serves: names with commas between; everything without it
    #[arg(long, value_parser = systems::parse, value_name = "SYSTEMS")]
    systems: Option<Systems>,
    /// A role that objects name as the one to act by, and that the operator may take on; may be repeated
    #[arg(long, value_parser = role, value_name = "ARN")]
    assume: Vec<String>,
}

/// A cloud that has permissions.
#[derive(Clone, Copy, ValueEnum)]
enum Cloud {
    Aws,
}

/// Prints the policy.
pub(crate) fn command(options: &Options) -> anyhow::Result<()> {
    let systems = options.systems.as_ref().unwrap_or(&Systems::Auto);
    let policy = match options.cloud {
        Cloud::Aws => aws::policy(&systems.entries(), &options.assume)?,
    };
    say::text(format_args!("{policy}\n"))?;
    Ok(())
}

/// Reads the ARN of a role, or a pattern of several.
fn role(text: &str) -> Result<String, String> {
    let words: Vec<&str> = text.splitn(6, ':').collect();
    match words[..] {
        ["arn", _, "iam", "", _, name] if name.starts_with("role/") => Ok(text.to_owned()),
        _ => Err("must be the ARN of a role, such as arn:aws:iam::123456789012:role/name".into()),
    }
}

#[cfg(feature = "aws")]
mod aws {
    use std::collections::BTreeSet;

    use cloud_aws::{PASS_ROLE, Resources, permissions};
    use controllers::registry::Entry;
    use serde::Serialize;
    use serde_json::{Value, json};

    /// A policy of IAM.
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Policy {
        version: &'static str,
        statement: Vec<Statement>,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Statement {
        sid: &'static str,
        effect: &'static str,
        action: Vec<&'static str>,
        resource: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        condition: Option<Value>,
    }

    impl Statement {
        fn allow(sid: &'static str, action: Vec<&'static str>) -> Self {
            Self {
                sid,
                effect: "Allow",
                action,
                resource: vec!["*".to_owned()],
                condition: None,
            }
        }
    }

    /// The policy for these systems, as JSON. Equal systems give equal text.
    pub(super) fn policy(entries: &[&Entry], assume: &[String]) -> anyhow::Result<String> {
        let mut actions = BTreeSet::new();
        for used in entries.iter().map(|entry| entry.resources) {
            actions.extend(permissions(Resources {
                owns: used.owns,
                uses: used.uses,
                adds: used.adds,
                adds_in: used.adds_in,
            })?);
        }
        let passes = actions.remove(PASS_ROLE);
        let of = |service: &str| {
            let own = actions.iter().copied();
            own.filter(|action| action.starts_with(service)).collect()
        };
        let mut statement = vec![
            Statement::allow("FreeholdEc2", of("ec2:")),
            Statement::allow("FreeholdIam", of("iam:")),
        ];
        if passes {
            // China's machines have a principal of their own.
            let machines = ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"];
            statement.push(Statement {
                condition: Some(json!({"StringEquals": {"iam:PassedToService": machines}})),
                ..Statement::allow("FreeholdPassRole", vec![PASS_ROLE])
            });
        }
        if !assume.is_empty() {
            statement.push(Statement {
                resource: assume.to_vec(),
                ..Statement::allow("FreeholdAssumeRole", vec!["sts:AssumeRole"])
            });
        }
        statement.retain(|statement| !statement.action.is_empty());
        let policy = Policy {
            version: "2012-10-17",
            statement,
        };
        Ok(serde_json::to_string_pretty(&policy)?)
    }
}

#[cfg(not(feature = "aws"))]
mod aws {
    use controllers::registry::Entry;

    /// The table of what is called is part of what a build without AWS leaves out.
    pub(super) fn policy(_: &[&Entry], _: &[String]) -> anyhow::Result<String> {
        anyhow::bail!(crate::accounts::WITHOUT)
    }
}
