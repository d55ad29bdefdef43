//! Calls of AWS by hand: what a person, or a test, does to an account without the SDK.

use std::io;

use http::HeaderMap;

use super::call::{Api, Signer};
use super::upstream::{Asker, Upstream};
use super::xml::Element;

/// Calls AWS' query protocol, in an account and region of moto's.
///
/// ```no_run
/// # async fn example(url: &str) -> std::io::Result<()> {
/// use moto_server::proxy::Caller;
///
/// let hands = Caller::new(url, "200000000000", "eu-central-1").await?;
/// let made = hands.ec2("CreateVpc", &[("CidrBlock", "10.0.0.0/16")]).await?;
/// let vpc = made.value("vpcId");
/// let gone = hands.ec2("DeleteVpc", &[("VpcId", vpc)]).await?;
/// assert_eq!((gone.status, gone.code()), (200, ""));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Caller {
    upstream: Upstream,
    signer: Signer,
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct Said {
    /// The status of HTTP.
    pub status: u16,
    /// The body.
    pub body: String,
    xml: Element,
}

impl Said {
    /// The first value of this name, wherever it is; empty, where there is none.
    pub fn value(&self, name: &str) -> &str {
        self.xml.find(name).map_or("", Element::text)
    }

    /// All values of this name, in their order.
    pub fn values(&self, name: &str) -> Vec<&str> {
        self.xml.all(name).into_iter().map(Element::text).collect()
    }

    /// AWS' code, where it refuses; empty, where it does not.
    pub fn code(&self) -> &str {
        if self.status < 300 {
            ""
        } else {
            self.value("Code")
        }
    }
}

impl Caller {
    /// Enters an account by any role of it: moto trusts everybody.
    ///
    /// # Errors
    /// moto is not there.
    pub async fn new(url: &str, account: &str, region: &str) -> io::Result<Self> {
        let anybody = Self::with_key(url, "AKIAIOSFODNN7EXAMPLE", region)?;
        let arn = format!("arn:aws:iam::{account}:role/hands");
        let params = [("RoleArn", arn.as_str()), ("RoleSessionName", "hands")];
        let said = anybody.call(Api::Sts, "AssumeRole", &params).await?;
        Self::with_key(url, said.value("AccessKeyId"), region)
    }

    /// Calls with this access key.
    ///
    /// # Errors
    /// The address is not of the form `http://HOST:PORT`.
    pub fn with_key(url: &str, access_key: &str, region: &str) -> io::Result<Self> {
        Ok(Self {
            upstream: Upstream::new(url)?,
            signer: Signer {
                access_key: access_key.to_owned(),
                region: region.to_owned(),
                service: String::new(),
            },
        })
    }

    /// Calls an operation of EC2. A list is `Name.1`, `Name.2`.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn ec2(&self, operation: &str, params: &[(&str, &str)]) -> io::Result<Said> {
        self.call(Api::Ec2, operation, params).await
    }

    /// Calls an operation on classic load balancers. A list is `Name.member.1`.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn elb(&self, operation: &str, params: &[(&str, &str)]) -> io::Result<Said> {
        self.call(Api::Elb, operation, params).await
    }

    /// Calls an operation on network load balancers. A list is `Name.member.1`.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn elb_v2(&self, operation: &str, params: &[(&str, &str)]) -> io::Result<Said> {
        self.call(Api::ElbV2, operation, params).await
    }

    async fn call(&self, api: Api, operation: &str, params: &[(&str, &str)]) -> io::Result<Said> {
        let asker = Asker {
            upstream: &self.upstream,
            headers: &HeaderMap::new(),
            signer: &self.signer,
        };
        let reply = asker.ask(api, operation, params).await?;
        Ok(Said {
            status: reply.answer.status().as_u16(),
            body: String::from_utf8_lossy(reply.answer.body()).into_owned(),
            xml: reply.xml,
        })
    }
}
