//! A client set: the clients for one account, role and region, behind the port.

use std::sync::Arc;

use aws_config::SdkConfig;
use cloud_port::aws::errors::Service;
use cloud_port::aws::{instance_profile, role, route_table, security_group, subnet, vpc};
use cloud_port::{Cloud, Deadline, Effect, Survey};
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Target, Text};
use tokio::sync::OnceCell;

use crate::access::Access;
use crate::observe::{self, Calls, Observer};
use crate::trust::Trust;
use crate::{ec2, iam};

/// The clients for one account, role and region.
#[derive(Debug)]
pub struct ClientSet {
    access: Access,
    pub(crate) ec2: aws_sdk_ec2::Client,
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
        let iam = aws_sdk_iam::config::Builder::from(config).interceptor(observer.clone());
        let sts = aws_sdk_sts::config::Builder::from(config).interceptor(observer);
        Self {
            access,
            ec2: aws_sdk_ec2::Client::from_conf(ec2.build()),
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

    pub(crate) fn trust_complaint(&self) -> Option<&str> {
        self.trust.complaint.as_deref()
    }

    async fn look(&self, query: &Query) -> Result<Answer, CloudError> {
        if let Query::Inner { of, inner } = query {
            return self.look_inside(of, inner).await;
        }
        let kind = query.kind();
        if kind == vpc::VPC.name {
            ec2::vpc::find(self, query).await
        } else if kind == subnet::SUBNET.name {
            ec2::subnet::find(self, query).await
        } else if kind == route_table::ROUTE_TABLE.name {
            ec2::route_table::find(self, query).await
        } else if kind == security_group::SECURITY_GROUP.name {
            ec2::security_group::find(self, query).await
        } else if kind == role::ROLE.name {
            iam::role::find(self, query).await
        } else if kind == instance_profile::INSTANCE_PROFILE.name {
            iam::instance_profile::find(self, query).await
        } else {
            Err(unknown(kind))
        }
    }

    async fn list(&self, kind: &str) -> Result<Answer, CloudError> {
        if kind == vpc::VPC.name {
            ec2::vpc::survey(self).await
        } else if kind == subnet::SUBNET.name {
            ec2::subnet::survey(self).await
        } else if kind == route_table::ROUTE_TABLE.name {
            ec2::route_table::survey(self).await
        } else if kind == security_group::SECURITY_GROUP.name {
            ec2::security_group::survey(self).await
        } else if kind == role::ROLE.name {
            iam::role::survey(self).await
        } else if kind == instance_profile::INSTANCE_PROFILE.name {
            iam::instance_profile::survey(self).await
        } else {
            Err(unknown(kind))
        }
    }

    async fn look_inside(&self, of: &Target, inner: &'static str) -> Result<Answer, CloudError> {
        match inner {
            security_group::RULE => ec2::rule::list(self, of).await,
            role::INLINE_POLICY => iam::role::inline(self, of).await,
            role::ATTACHED_POLICY => iam::role::attached(self, of).await,
            instance_profile::PROFILE_ROLE => {
                iam::instance_profile::find(self, &Query::Id(of.clone()))
                    .await
                    .map(|answer| iam::instance_profile::only_role(of, answer))
            }
            _ => Err(unknown(inner)),
        }
    }

    async fn create(&self, create: &Create) -> Result<Effect, CloudError> {
        let kind = create.kind.name;
        let born = if kind == vpc::VPC.name {
            ec2::vpc::create(self, create).await
        } else if kind == subnet::SUBNET.name {
            ec2::subnet::create(self, create).await
        } else if kind == route_table::ROUTE_TABLE.name {
            ec2::route_table::create(self, create).await
        } else if kind == security_group::SECURITY_GROUP.name {
            ec2::security_group::create(self, create).await
        } else if kind == role::ROLE.name {
            iam::role::create(self, create).await
        } else if kind == instance_profile::INSTANCE_PROFILE.name {
            iam::instance_profile::create(self, create).await
        } else {
            Err(unknown(kind))
        };
        Ok(Effect {
            born: Some(Arc::new(born?)),
        })
    }

    async fn mark(&self, targets: &[Target], tags: &[(Text, Text)]) -> Result<(), CloudError> {
        match only(targets) {
            Some(target) if target.kind == role::ROLE.name => {
                iam::role::tag(self, target, tags).await
            }
            Some(target) if target.kind == instance_profile::INSTANCE_PROFILE.name => {
                iam::instance_profile::tag(self, target, tags).await
            }
            _ => ec2::tags::add(self, targets, tags).await,
        }
    }

    async fn unmark(&self, targets: &[Target], tags: &[(Text, Text)]) -> Result<(), CloudError> {
        match only(targets) {
            Some(target) if target.kind == role::ROLE.name => {
                iam::role::untag(self, target, tags).await
            }
            Some(target) if target.kind == instance_profile::INSTANCE_PROFILE.name => {
                iam::instance_profile::untag(self, target, tags).await
            }
            _ => ec2::tags::remove(self, targets, tags).await,
        }
    }

    async fn delete(&self, target: &Target) -> Result<(), CloudError> {
        let kind = target.kind;
        if kind == vpc::VPC.name {
            ec2::vpc::delete(self, target).await
        } else if kind == subnet::SUBNET.name {
            ec2::subnet::delete(self, target).await
        } else if kind == route_table::ROUTE_TABLE.name {
            ec2::route_table::delete(self, target).await
        } else if kind == security_group::SECURITY_GROUP.name {
            ec2::security_group::delete(self, target).await
        } else if kind == role::ROLE.name {
            iam::role::delete(self, target).await
        } else if kind == instance_profile::INSTANCE_PROFILE.name {
            iam::instance_profile::delete(self, target).await
        } else {
            Err(unknown(kind))
        }
    }

    async fn send(&self, step: &Step) -> Result<Effect, CloudError> {
        match step {
            Step::Create(create) => return self.create(create).await,
            Step::Mark { targets, tags, .. } => self.mark(targets, tags).await?,
            Step::Unmark { targets, tags, .. } => self.unmark(targets, tags).await?,
            Step::AddInner {
                target,
                inner,
                parts,
            } => match *inner {
                security_group::RULE => ec2::rule::add(self, target, parts).await?,
                role::INLINE_POLICY => iam::role::put_inline(self, target, parts).await?,
                role::ATTACHED_POLICY => iam::role::attach(self, target, parts).await?,
                instance_profile::PROFILE_ROLE => {
                    iam::instance_profile::add_role(self, target, parts).await?;
                }
                _ => return Err(unknown(inner)),
            },
            Step::MarkInner(tags) => {
                ec2::tags::add(self, &ec2::rule::targets(tags)?, &tags.tags).await?;
            }
            Step::UnmarkInner(tags) => {
                ec2::tags::remove(self, &ec2::rule::targets(tags)?, &tags.tags).await?;
            }
            Step::RemoveInner(removal) => {
                let (target, parts) = (removal.target(), removal.parts());
                match removal.inner() {
                    security_group::RULE => ec2::rule::remove(self, target, parts).await?,
                    role::INLINE_POLICY => iam::role::delete_inline(self, target, parts).await?,
                    role::ATTACHED_POLICY => iam::role::detach(self, target, parts).await?,
                    instance_profile::PROFILE_ROLE => {
                        iam::instance_profile::remove_role(self, target, parts).await?;
                    }
                    inner => return Err(unknown(inner)),
                }
            }
            Step::Update(update) => {
                iam::role::update(self, update.owned().target(), update.props()).await?;
            }
            Step::Delete(deletion) => self.delete(deletion.target()).await?,
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
        let (answer, date) = observe::dated(Box::pin(self.list(kind.name))).await;
        answer.map(|answer| Answer { date, ..answer })
    }
}

/// The only one; `None` if there are several.
pub(crate) fn only<T>(several: &[T]) -> Option<&T> {
    match several {
        [one] => Some(one),
        _ => None,
    }
}

fn unknown(kind: &str) -> CloudError {
    let message = format!("AWS has nothing of the kind {kind}");
    CloudError::new(Class::Fatal, "UnsupportedOperation", message)
}
