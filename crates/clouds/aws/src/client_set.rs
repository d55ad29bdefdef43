//! A client set: the clients for one account, role and region, behind the port.

use std::sync::Arc;

use aws_config::SdkConfig;
use cloud_port::aws::errors::Service;
use cloud_port::{Cloud, Deadline, Effect, Survey};
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Text};
use tokio::sync::OnceCell;

use crate::observe::{self, Calls, Observer};
use crate::trust::Trust;
use crate::{handler, iam};
use cloud_port::aws::Access;

/// The clients for one account, role and region.
#[derive(Debug)]
pub struct ClientSet {
    access: Access,
    pub(crate) ec2: aws_sdk_ec2::Client,
    pub(crate) elb: aws_sdk_elasticloadbalancing::Client,
    pub(crate) elbv2: aws_sdk_elasticloadbalancingv2::Client,
    pub(crate) iam: aws_sdk_iam::Client,
    sts: aws_sdk_sts::Client,
    /// Account and partition.
    identity: OnceCell<(Text, Text)>,
    calls: Calls,
    trust: Arc<Trust>,
    pub(crate) role_paths: iam::role::Paths,
}

impl ClientSet {
    pub(crate) fn new(access: Access, config: &SdkConfig, trust: Arc<Trust>) -> Self {
        let calls = Calls::default();
        let observer = Observer(calls.clone());
        let ec2 = aws_sdk_ec2::config::Builder::from(config).interceptor(observer.clone());
        let elb = aws_sdk_elasticloadbalancing::config::Builder::from(config);
        let elb = elb.interceptor(observer.clone());
        let elbv2 = aws_sdk_elasticloadbalancingv2::config::Builder::from(config);
        let elbv2 = elbv2.interceptor(observer.clone());
        let iam = aws_sdk_iam::config::Builder::from(config).interceptor(observer.clone());
        let sts = aws_sdk_sts::config::Builder::from(config).interceptor(observer);
        Self {
            access,
            ec2: aws_sdk_ec2::Client::from_conf(ec2.build()),
            elb: aws_sdk_elasticloadbalancing::Client::from_conf(elb.build()),
            elbv2: aws_sdk_elasticloadbalancingv2::Client::from_conf(elbv2.build()),
            iam: aws_sdk_iam::Client::from_conf(iam.build()),
            sts: aws_sdk_sts::Client::from_conf(sts.build()),
            identity: OnceCell::new(),
            calls,
            trust,
            role_paths: iam::role::Paths::default(),
        }
    }

    /// As whom it calls, and where.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// What it has called so far.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The id of the account. AWS is asked once.
    ///
    /// # Errors
    /// The question failed; it is asked again the next time.
    pub async fn account(&self) -> Result<&Text, CloudError> {
        self.identity().await.map(|(account, _)| account)
    }

    /// The account's id and its partition, which is the second word of every ARN.
    pub(crate) async fn identity(&self) -> Result<&(Text, Text), CloudError> {
        let ask = || async {
            let operation = "GetCallerIdentity";
            let answer = self.sts.get_caller_identity().send().await;
            let answer = answer.map_err(|error| self.failure(Service::Sts, operation, error))?;
            let partition = answer.arn().and_then(|arn| arn.split(':').nth(1));
            match answer.account() {
                Some(account) => Ok((account.into(), partition.unwrap_or("aws").into())),
                None => Err(CloudError::new(
                    Class::Retryable,
                    "NoAccount",
                    "STS answered without an account",
                )),
            }
        };
        self.identity.get_or_try_init(ask).await
    }

    /// The region's zones in which subnets can be made: no local ones, and only those that the account
    /// has opted in to.
    pub(crate) async fn zones(&self) -> Result<Vec<Text>, CloudError> {
        let operation = "DescribeAvailabilityZones";
        let filter = |name: &str, values: &[&str]| {
            let values = values.iter().map(|&value| value.to_owned()).collect();
            let filter = aws_sdk_ec2::types::Filter::builder().name(name);
            filter.set_values(Some(values)).build()
        };
        let asked = self.ec2.describe_availability_zones();
        let asked = asked
            .filters(filter("state", &["available"]))
            .filters(filter("zone-type", &["availability-zone"]))
            .filters(filter(
                "opt-in-status",
                &["opt-in-not-required", "opted-in"],
            ));
        let answer = Box::pin(asked.send()).await;
        let answer = answer.map_err(|error| self.failure(Service::Ec2, operation, error))?;
        let zones = answer.availability_zones().iter();
        Ok(zones
            .filter_map(|zone| zone.zone_name())
            .map(Text::from)
            .collect())
    }

    pub(crate) fn trust_complaint(&self) -> Option<&str> {
        self.trust.complaint.as_deref()
    }

    async fn look(&self, query: &Query) -> Result<Answer, CloudError> {
        let handler = handler::of(query.kind())?;
        match query {
            Query::Inner { of, inner } => handler.inside(inner)?.list(self, of).await,
            // AWS names no operations: what is coming shows.
            Query::Operation { .. } => Ok(Answer::default()),
            query => handler.find(self, query).await,
        }
    }

    async fn send(&self, step: &Step) -> Result<Effect, CloudError> {
        let handler = handler::of(step.kind().ok_or_else(nothing)?)?;
        match step {
            Step::Create(create) => {
                let born = handler.create(self, create).await?;
                return Ok(Effect {
                    born: Some(Arc::new(born)),
                    ..Effect::default()
                });
            }
            Step::Mark { targets, tags, .. } => handler.tag(self, targets, tags).await?,
            Step::Unmark { targets, tags, .. } => handler.untag(self, targets, tags).await?,
            Step::AddInner {
                target,
                inner,
                parts,
            } => handler.inside(inner)?.add(self, target, parts).await?,
            Step::MarkInner(tags) => {
                let parts = handler.inside(tags.inner)?.taggable(tags)?;
                handler.tag(self, &parts, &tags.tags).await?;
            }
            Step::UnmarkInner(tags) => {
                let parts = handler.inside(tags.inner)?.taggable(tags)?;
                handler.untag(self, &parts, &tags.tags).await?;
            }
            Step::RemoveInner(removal) => {
                let (target, parts) = (removal.target(), removal.parts());
                let inside = handler.inside(removal.inner())?;
                inside.remove(self, target, parts).await?;
            }
            Step::Update(update) => {
                let target = update.owned().target();
                handler.update(self, target, update.props()).await?;
            }
            Step::Delete(deletion) => handler.delete(self, deletion.target()).await?,
        }
        Ok(Effect::default())
    }
}

impl Cloud for ClientSet {
    async fn read(&self, query: &Query) -> Result<Answer, CloudError> {
        // The futures of the SDK are large, and a driver holds one for each claim it works on.
        let (answer, date) = observe::dated(Box::pin(self.look(query))).await;
        answer.map(|answer| Answer { date, ..answer })
    }

    async fn perform(&self, step: &Step, by: Deadline<'_>) -> Result<Effect, CloudError> {
        observe::in_time(by, Box::pin(self.send(step))).await
    }
}

impl Survey for ClientSet {
    async fn survey(&self, kind: &'static Kind) -> Result<Answer, CloudError> {
        let (answer, date) = observe::dated(handler::of(kind)?.survey(self)).await;
        answer.map(|answer| Answer { date, ..answer })
    }
}

/// The refusal of a Step that names no resource.
fn nothing() -> CloudError {
    let message = "the call names no resource";
    CloudError::new(Class::Fatal, "MissingParameter", message)
}
