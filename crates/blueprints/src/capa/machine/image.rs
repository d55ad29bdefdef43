//! Which image a machine starts from, where nobody has named one.

use cloud_port::aws::image::ImageQuery;
use ownership::Text;
use ownership::input::InputError;

use super::super::names::set;

/// The account that publishes images for Cluster API.
const ORGANISATION: &str = "819546954734";
/// How it names them: the `?` is the `v` of the version.
const FORMAT: &str = "capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*";
const BASE: &str = "ubuntu-24.04";

/// How images are looked up: the machine's fields, and after them the cluster's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    /// `imageLookupFormat`.
    pub format: [Option<String>; 2],
    /// `imageLookupOrg`.
    pub organisation: [Option<String>; 2],
    /// `imageLookupBaseOS`.
    pub base: [Option<String>; 2],
}

fn first<'a>(said: &'a [Option<String>; 2], or: &'a str) -> &'a str {
    let mut said = said.iter();
    said.find_map(|text| set(text.as_ref())).unwrap_or(or)
}

impl Lookup {
    /// The images for a version of Kubernetes and a type of machine.
    ///
    /// # Errors
    /// A machine without a version, or a format that nobody can read.
    pub fn query(&self, version: Option<&str>, machine: &str) -> Result<ImageQuery, InputError> {
        let Some(version) = version.filter(|version| !version.is_empty()) else {
            let rule =
                "must be set, or spec.ami.id of the AWSMachine: it says which image is taken";
            return Err(InputError::new("spec.version of the Machine", "", rule));
        };
        let base = first(&self.base, BASE);
        Ok(ImageQuery {
            owner: first(&self.organisation, ORGANISATION).into(),
            name: pattern(first(&self.format, FORMAT), base, version)?,
            machine: machine.into(),
        })
    }
}

/// What images are called by this format: `{{.BaseOS}}` and `{{.K8sVersion}}`, without its `v`, are put in.
///
/// # Errors
/// Something else in double braces.
pub fn pattern(format: &str, base: &str, version: &str) -> Result<Text, InputError> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let refuse = || {
        let rule = "must have nothing in double braces but {{.BaseOS}} and {{.K8sVersion}}";
        InputError::new("spec.imageLookupFormat", format, rule)
    };
    let mut name = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once("{{") {
        let (word, after) = after.split_once("}}").ok_or_else(refuse)?;
        name.push_str(before);
        name.push_str(match word.trim() {
            ".BaseOS" => base,
            ".K8sVersion" => version,
            _ => return Err(refuse()),
        });
        rest = after;
    }
    name.push_str(rest);
    Ok(name.into())
}
