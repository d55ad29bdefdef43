//! Access: as whom AWS is called, and where. Every system translates its own credentials into it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use ownership::{Class, CloudError};

use super::AwsPlace;
use crate::Inventory;

/// Where the accounts are: the real AWS, or a simulated one.
pub trait Accounts: Send + Sync + 'static {
    /// One account and region.
    type Cloud: AwsPlace;

    /// Signs in. Whoever signs in to the same place gets the same inventory.
    ///
    /// # Errors
    /// Fatal, if the credentials or the region are wrong; else it is worth another try.
    fn open(
        &self,
        access: &Access,
    ) -> impl Future<Output = Result<Arc<Inventory<Self::Cloud>>, CloudError>> + Send;
}

/// As whom AWS is called, and in which region: what a client set is made for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// Whose credentials.
    pub credentials: Credentials,
    /// The role to take on with them.
    pub assume: Option<AssumeRole>,
    /// The region.
    pub region: String,
}

/// Whose credentials are used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Credentials {
    /// Those that the SDK finds: environment, profile, web identity, container, instance.
    Default,
    /// An access key.
    Keys {
        /// Its id.
        id: String,
        /// Its secret.
        secret: Secret,
    },
}

/// A role to take on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssumeRole {
    /// Its ARN.
    pub arn: String,
    /// What its trust policy may ask for, so that nobody is talked into taking it on.
    pub external_id: Option<String>,
}

/// A secret: it can be compared and used, and is never printed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret itself, for whoever has to send it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl Access {
    /// What the SDK would only find out by asking servers that do not exist.
    ///
    /// # Errors
    /// What cannot be, with the cure.
    pub fn check(&self) -> Result<(), CloudError> {
        if !is_region(&self.region) {
            let message = format!(
                "'{}' is not the name of a region; use one such as eu-central-1",
                self.region
            );
            return Err(CloudError::new(Class::Fatal, "InvalidRegion", message));
        }
        if let Credentials::Keys { id, secret } = &self.credentials
            && (id.is_empty() || secret.reveal().is_empty())
        {
            let message = "the access key has no id or no secret; give both, or neither to use \
                           the credentials of the environment";
            return Err(CloudError::new(Class::Fatal, "InvalidAccessKey", message));
        }
        if let Some(role) = &self.assume
            && !is_role_arn(&role.arn)
        {
            let message = format!(
                "'{}' is not the ARN of a role; use one such as arn:aws:iam::123456789012:role/NAME",
                role.arn
            );
            return Err(CloudError::new(Class::Fatal, "InvalidRoleArn", message));
        }
        Ok(())
    }
}

/// Words of letters and a number at the end, with hyphens between: `eu-central-1`.
fn is_region(text: &str) -> bool {
    let Some((words, number)) = text.rsplit_once('-') else {
        return false;
    };
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number && words.contains('-') && words.split('-').all(is_word)
}

fn is_role_arn(text: &str) -> bool {
    let fields: Vec<_> = text.splitn(6, ':').collect();
    let ["arn", _, "iam", "", account, resource] = fields[..] else {
        return false;
    };
    let is_account = account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit());
    is_account
        && resource
            .strip_prefix("role/")
            .is_some_and(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(region: &str) -> Access {
        Access {
            credentials: Credentials::Default,
            assume: None,
            region: region.to_owned(),
        }
    }

    #[test]
    fn what_cannot_be_a_region_is_refused_with_the_cure() {
        for region in ["eu-central-1", "us-gov-west-1", "eusc-de-east-1"] {
            assert_eq!(access(region).check(), Ok(()), "{region}");
        }
        for region in [
            "",
            "nowhere-1",
            "eu-central-1a",
            "eu-central",
            "EU-CENTRAL-1",
            "eu--1",
        ] {
            let error = access(region).check().unwrap_err();
            assert_eq!(error.class, Class::Fatal);
            assert!(
                error.message.contains("use one such as eu-central-1"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_cannot_be_a_role_or_a_key_is_refused_with_the_cure() {
        let mut wrong = access("eu-central-1");
        let role = |arn: &str| {
            let (arn, external_id) = (arn.to_owned(), None);
            Some(AssumeRole { arn, external_id })
        };
        wrong.assume = role("arn:aws:iam::123456789012:role/team/freehold");
        assert_eq!(wrong.check(), Ok(()));
        for arn in [
            "freehold",
            "arn:aws:iam::12:role/x",
            "arn:aws:iam::123456789012:user/x",
        ] {
            wrong.assume = role(arn);
            assert_eq!(&*wrong.check().unwrap_err().code, "InvalidRoleArn", "{arn}");
        }
        wrong.assume = None;
        wrong.credentials = Credentials::Keys {
            id: "AKIA".to_owned(),
            secret: Secret::new(""),
        };
        let error = wrong.check().unwrap_err();
        assert!(error.message.contains("give both"), "{error}");
    }

    #[test]
    fn a_secret_is_never_printed() {
        let keys = Credentials::Keys {
            id: "AKIA".to_owned(),
            secret: Secret::new("hush"),
        };
        assert!(!format!("{keys:?}").contains("hush"));
    }
}
