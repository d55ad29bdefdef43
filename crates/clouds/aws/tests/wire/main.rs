//! The adapter against a server that says what a test wants AWS to say: failures of every sort,
//! pages, and what client sets share.
#![expect(
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod environment;
mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cloud_aws::{ClientSet, ClientSets, Settings};
use cloud_port::aws::errors::{self, Culprit};
use cloud_port::aws::security_group::SECURITY_GROUP;
use cloud_port::aws::vpc::VPC;
use cloud_port::aws::{Access, AssumeRole, Credentials, Secret};
use cloud_port::{Cloud as _, Deadline};
use ownership::life::Life;
use ownership::mark::Dialect;
use ownership::part::{Props, Resource};
use ownership::step::Create;
use ownership::time::{CloudTime, Tick};
use ownership::verdict::{ReadStamp, judge};
use ownership::{
    Claim, Class, CloudError, Freehold, Holder, Identity, Place, Query, ResourceId, Slot, SlotName,
    Step, Text, Verdict,
};

use server::{Reply, Server};

pub(crate) fn access() -> Access {
    Access {
        credentials: Credentials::Keys {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: Secret::new("secret"),
        },
        assume: None,
        region: "eu-central-1".to_owned(),
    }
}

fn sets(url: &str, timeout: Duration) -> ClientSets {
    ClientSets::new(Settings {
        endpoint: Some(url.to_owned()),
        request_timeout: timeout,
        ..Settings::default()
    })
}

async fn client(url: &str) -> Arc<ClientSet> {
    let sets = sets(url, Duration::from_millis(600));
    sets.get(&access()).await.expect("a legal access")
}

pub(crate) fn vpcs() -> Query {
    Query::Match {
        place: Place::HOME,
        kind: &VPC,
        name: "".into(),
        props: Props::new(),
    }
}

fn new_vpc() -> Step {
    Step::Create(Create {
        place: Place::HOME,
        slot: SlotName::new("vpc").expect("legal"),
        kind: &VPC,
        attempt: 1,
        name: "".into(),
        props: Props::from_iter([("cidr", Text::from("10.0.0.0/16"))]),
        secrets: ownership::secret::Secrets::new(),
        tags: ownership::mark::Tags::new(),
        token: None,
    })
}

fn refusal(code: &str) -> String {
    format!(
        "<Response><Errors><Error><Code>{code}</Code><Message>No.</Message></Error></Errors>\
         <RequestID>1</RequestID></Response>"
    )
}

fn page(ids: &[&str], next: &str) -> String {
    let vpc = |id: &&str| {
        format!(
            "<item><vpcId>{id}</vpcId><cidrBlock>10.0.0.0/16</cidrBlock><state>available</state></item>"
        )
    };
    let vpcs: String = ids.iter().map(vpc).collect();
    let next = match next {
        "" => String::new(),
        next => format!("<nextToken>{next}</nextToken>"),
    };
    format!("<DescribeVpcsResponse><vpcSet>{vpcs}</vpcSet>{next}</DescribeVpcsResponse>")
}

async fn failed_create(replies: Vec<Reply>) -> (CloudError, usize) {
    let server = Server::start(replies).await;
    let set = client(&server.url).await;
    let error = set
        .perform(&new_vpc(), Deadline::never())
        .await
        .expect_err("it fails");
    (error, server.seen().len())
}

#[tokio::test]
async fn a_call_without_an_answer_in_time_is_unknown_and_not_repeated() {
    let (error, sent) = failed_create(vec![Reply::Hang]).await;
    assert_eq!(
        (error.class, sent),
        (Class::Unknown, 1),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_connection_that_breaks_is_unknown_and_not_repeated() {
    let (error, sent) = failed_create(vec![Reply::Close]).await;
    assert_eq!(
        (error.class, sent),
        (Class::Unknown, 1),
        "{}",
        error.message
    );
    assert!(
        error.message.contains("may have taken effect"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_unknown() {
    let garbage = Reply::Say(200, "<html>hello".to_owned());
    let (error, _) = failed_create(vec![garbage]).await;
    assert_eq!(error.class, Class::Unknown, "{}", error.message);
    let nothing = Reply::Say(200, "<CreateVpcResponse></CreateVpcResponse>".to_owned());
    let (error, _) = failed_create(vec![nothing]).await;
    assert_eq!(error.class, Class::Unknown, "{}", error.message);
}

#[tokio::test]
async fn a_server_that_fails_leaves_the_outcome_unknown_and_is_not_asked_again() {
    let (error, sent) = failed_create(vec![Reply::Say(500, refusal("InternalError"))]).await;
    assert_eq!((error.class, sent), (Class::Unknown, 1));
    let (error, sent) = failed_create(vec![Reply::Say(502, "<html>".to_owned())]).await;
    assert_eq!(
        (error.class, sent),
        (Class::Unknown, 1),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_throttled_call_is_not_repeated_here() {
    let throttled = Reply::Say(503, refusal("RequestLimitExceeded"));
    let (error, sent) = failed_create(vec![throttled]).await;
    assert_eq!((error.class, sent), (Class::Throttled, 1));
}

#[tokio::test]
async fn a_code_that_nobody_knows_is_retryable_and_says_so() {
    let (error, sent) = failed_create(vec![Reply::Say(400, refusal("Novelty"))]).await;
    assert_eq!((error.class, sent), (Class::Retryable, 1));
    assert!(
        error.message.contains("does not know the code Novelty"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn wrong_credentials_are_fatal_with_the_cure() {
    let (error, _) = failed_create(vec![Reply::Say(401, refusal("AuthFailure"))]).await;
    assert_eq!(error.class, Class::Fatal);
    assert!(
        error.message.contains("check the access key"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn a_connection_that_is_never_made_is_retryable() {
    // A port that was free a moment ago, and that nobody listens on.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let error = client(&url)
        .await
        .perform(&new_vpc(), Deadline::never())
        .await
        .expect_err("nobody is there");
    assert_eq!(error.class, Class::Retryable, "{}", error.message);
    assert_eq!(&*error.code, "NoConnection");
    let words = format!("{url} cannot be reached: Connection refused (CreateVpc)");
    assert_eq!(&*error.message, words);
}

/// An endpoint of somebody's own that does not exist says nothing of the region.
#[tokio::test]
async fn an_endpoint_that_does_not_exist_is_named() {
    let url = "http://aws.invalid:4566";
    let error = client(url).await.read(&vpcs()).await;
    let error = error.expect_err("nobody is there");
    assert_eq!(error.class, Class::Retryable, "{}", error.message);
    let words = format!("{url} cannot be reached: failed to lookup address information: ");
    assert!(error.message.starts_with(&words), "{}", error.message);
}

#[tokio::test]
async fn what_is_not_aws_is_named() {
    let server = Server::start(vec![Reply::Say(404, String::new())]).await;
    let error = client(&server.url).await.read(&vpcs()).await;
    let error = error.expect_err("refused");
    let words = format!(
        "{} answered without a message (Freehold does not know the code HTTP 404)",
        server.url
    );
    assert_eq!(&*error.message, words);
}

#[tokio::test]
async fn a_useless_bundle_is_named_where_a_connection_fails() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let sets = ClientSets::new(Settings {
        endpoint: Some(url),
        ca_bundle: Some("/nowhere/bundle.pem".into()),
        ..Settings::default()
    });
    let set = sets.get(&access()).await.expect("a legal access");
    let error = set.read(&vpcs()).await.expect_err("nobody is there");
    assert_eq!(error.class, Class::Retryable);
    assert!(
        error.message.contains("AWS_CA_BUNDLE: cannot read"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn an_unknown_region_is_fatal_before_anything_is_sent() {
    let wrong = Access {
        region: "eu-centrall".to_owned(),
        ..access()
    };
    let sets = sets("http://127.0.0.1:9", Duration::from_secs(1));
    let error = sets.get(&wrong).await.expect_err("no region");
    assert_eq!(error.class, Class::Fatal);
}

#[tokio::test]
async fn every_page_is_read_and_the_answer_has_the_time_of_the_first() {
    let pages = vec![
        Reply::Say(200, page(&["vpc-1", "vpc-2"], "two")),
        Reply::Say(200, page(&["vpc-3"], "three")),
        Reply::Say(200, page(&["vpc-4"], "")),
    ];
    let server = Server::start(pages).await;
    let set = client(&server.url).await;
    let answer = set.read(&vpcs()).await.expect("an answer");
    let ids: Vec<_> = answer.resources.iter().map(|vpc| vpc.id.as_str()).collect();
    assert_eq!(ids, ["vpc-1", "vpc-2", "vpc-3", "vpc-4"]);
    assert_eq!(answer.date, CloudTime(1_794_744_000_000));
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert!(seen[1].contains("NextToken=two") && seen[2].contains("NextToken=three"));
    assert_eq!(set.calls().by_operation()["DescribeVpcs"], 3);
}

#[tokio::test]
async fn a_page_that_fails_fails_the_read() {
    let pages = vec![
        Reply::Say(200, page(&["vpc-1"], "two")),
        Reply::Say(503, refusal("RequestLimitExceeded")),
    ];
    let server = Server::start(pages).await;
    let error = client(&server.url)
        .await
        .read(&vpcs())
        .await
        .expect_err("half an answer");
    assert_eq!(error.class, Class::Throttled);
}

#[tokio::test]
async fn wildcards_in_a_name_are_not_sent_as_such() {
    let empty =
        "<DescribeSecurityGroupsResponse><securityGroupInfo/></DescribeSecurityGroupsResponse>";
    let server = Server::start(vec![Reply::Say(200, empty.to_owned())]).await;
    let query = Query::Name {
        place: Place::HOME,
        kind: &SECURITY_GROUP,
        name: "a*".into(),
        within: None,
    };
    client(&server.url)
        .await
        .read(&query)
        .await
        .expect("an answer");
    assert!(server.seen()[0].contains("a%5C%2A"), "{}", server.seen()[0]);
}

#[tokio::test]
async fn a_group_that_cannot_go_names_who_uses_it() {
    let list =
        |of: &str, inside: &str| format!("<Describe{of}Response>{inside}</Describe{of}Response>");
    let group = |id: &str| format!("<item><groupId>{id}</groupId></item>");
    let groups = |ids: &[&str]| {
        let groups: String = ids.iter().map(|id| group(id)).collect();
        let groups = format!("<securityGroupInfo>{groups}</securityGroupInfo>");
        list("SecurityGroups", &groups)
    };
    let interface = "<item><networkInterfaceId>eni-1</networkInterfaceId></item>";
    let interfaces = format!("<networkInterfaceSet>{interface}</networkInterfaceSet>");
    let replies = vec![
        Reply::Say(400, refusal("DependencyViolation")),
        Reply::Say(200, groups(&["sg-2", "sg-1"])),
        Reply::Say(200, groups(&["sg-2", "sg-3"])),
        Reply::Say(200, list("NetworkInterfaces", &interfaces)),
    ];
    let server = Server::start(replies).await;
    let set = client(&server.url).await;
    let error = set
        .perform(&delete_group("sg-1"), Deadline::never())
        .await
        .expect_err("in use");
    let Class::Blocked(blockers) = error.class else {
        panic!("{error:?}");
    };
    let blockers: Vec<_> = blockers.iter().map(ToString::to_string).collect();
    assert_eq!(
        blockers,
        [
            "security group sg-2",
            "security group sg-3",
            "network interface eni-1"
        ]
    );
    let seen = server.seen();
    assert!(
        seen[3].contains("Filter.1.Name=group-id&Filter.1.Value.1=sg-1"),
        "{}",
        seen[3]
    );
}

#[tokio::test]
async fn blockers_that_cannot_be_read_leave_the_refusal_as_it_is() {
    let replies = vec![
        Reply::Say(400, refusal("DependencyViolation")),
        Reply::Say(403, refusal("UnauthorizedOperation")),
    ];
    let server = Server::start(replies).await;
    let set = client(&server.url).await;
    let error = set
        .perform(&delete_group("sg-1"), Deadline::never())
        .await
        .expect_err("in use");
    assert_eq!(error.class, Class::Blocked(Vec::new()));
    assert!(
        error
            .message
            .contains("what uses it cannot be read: UnauthorizedOperation")
    );
}

/// A deletion, with a proof that is good enough for a server which only talks.
fn delete_group(id: &str) -> Step {
    let identity = Identity {
        claim: Claim::new(
            "Cluster.kubermatic.k8c.io",
            "",
            "abc",
            "b0b3f3c0-5c7a-4b0e-9a53-3f6f0f3c9c11",
        )
        .expect("legal"),
        holder: Holder::of_cluster("here"),
        taken_over: BTreeMap::new(),
        dialect: Dialect::Kkp {
            cluster: "abc".into(),
        },
    };
    let slot = Slot::own(SlotName::new("group").expect("legal"), &SECURITY_GROUP, "x");
    let marks = identity.ownership_tags(&SECURITY_GROUP, &slot, 1);
    let resource = Resource {
        place: Place::HOME,
        kind: &SECURITY_GROUP,
        id: ResourceId::new(id),
        unique: None,
        name: "x".into(),
        tags: marks.expect("legal").into_iter().collect(),
        props: Props::new(),
        created: None,
        life: Life::Ready,
    };
    let read = ReadStamp {
        at: Tick(0),
        fresh: true,
    };
    match judge(&Freehold, &identity, &SECURITY_GROUP, &resource, read) {
        Verdict::Owned(owned) => Step::delete(owned, Tick(0)).expect("fresh"),
        other => panic!("not owned: {other:?}"),
    }
}

fn caller(account: &str) -> String {
    format!(
        "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>{account}</Account>\
         </GetCallerIdentityResult></GetCallerIdentityResponse>"
    )
}

#[tokio::test]
async fn equal_accesses_share_one_set_which_asks_once_for_its_account() {
    let server = Server::start(vec![Reply::Say(200, caller("123456789012"))]).await;
    let sets = sets(&server.url, Duration::from_secs(5));
    let access = access();
    let (one, two) = tokio::join!(sets.get(&access), sets.get(&access));
    let (one, two) = (one.expect("legal"), two.expect("legal"));
    assert!(Arc::ptr_eq(&one, &two));
    let (a, b) = tokio::join!(one.account(), two.account());
    assert_eq!(
        (&**a.expect("asked"), &**b.expect("asked")),
        ("123456789012", "123456789012")
    );
    assert_eq!(server.seen().len(), 1);

    let mut other = access.clone();
    other.region = "eu-west-1".to_owned();
    let elsewhere = sets.get(&other).await.expect("legal");
    assert!(!Arc::ptr_eq(&one, &elsewhere));
    other.region = access.region;
    other.credentials = Credentials::Keys {
        id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
        secret: Secret::new("another secret"),
    };
    let rotated = sets.get(&other).await.expect("legal");
    assert!(
        !Arc::ptr_eq(&one, &rotated),
        "a corrected secret is another access"
    );
}

#[tokio::test]
async fn a_failed_question_for_the_account_is_asked_again() {
    let replies = vec![
        Reply::Say(403, sts_refusal("InvalidClientTokenId")),
        Reply::Say(200, caller("123456789012")),
    ];
    let server = Server::start(replies).await;
    let set = client(&server.url).await;
    let error = set.account().await.expect_err("refused");
    assert_eq!(error.class, Class::Fatal);
    assert_eq!(&**set.account().await.expect("asked again"), "123456789012");
}

fn sts_refusal(code: &str) -> String {
    format!(
        "<ErrorResponse><Error><Code>{code}</Code><Message>No.</Message></Error></ErrorResponse>"
    )
}

#[tokio::test]
async fn a_role_that_cannot_be_taken_on_is_fatal_and_nothing_else_is_sent() {
    let server = Server::start(vec![Reply::Say(403, sts_refusal("AccessDenied"))]).await;
    let sets = sets(&server.url, Duration::from_secs(5));
    let access = Access {
        assume: Some(AssumeRole {
            arn: "arn:aws:iam::123456789012:role/freehold".to_owned(),
            external_id: Some("tenant-7".to_owned()),
        }),
        ..access()
    };
    let set = sets.get(&access).await.expect("legal");
    let error = set
        .perform(&new_vpc(), Deadline::never())
        .await
        .expect_err("refused");
    assert_eq!(error.class, Class::Fatal, "{}", error.message);
    assert_eq!(errors::culprit(&error), Some(Culprit::Role), "{error}");
    assert!(
        error.message.contains("the role cannot be taken on"),
        "{}",
        error.message
    );
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].contains("Action=AssumeRole") && seen[0].contains("ExternalId=tenant-7"));
}
