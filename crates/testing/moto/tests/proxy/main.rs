//! The proxy before a server that says what a test wants: what is passed on, client tokens, faults.

mod upstream;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use moto_server::proxy::{Caller, Fault, Proxy, Refusal, Settings, When};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use upstream::Upstream;

/// Long enough that nothing waits for it in a test that passes.
const LONG: Duration = Duration::from_hours(1);
const HERE: &str = "eu-central-1";
const TABLE: &[(&str, &str)] = &[("VpcId", "vpc-1"), ("ClientToken", "one")];

async fn before(upstream: &Upstream) -> (Proxy, Caller) {
    let proxy = Proxy::start(&upstream.url, Settings::default()).await;
    let proxy = proxy.expect("it starts");
    let caller = Caller::with_key(proxy.url(), "AKIAONE", HERE).expect("an address");
    (proxy, caller)
}

/// Waits for a condition.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(30), wait).await;
    assert!(waited.is_ok(), "it never came: {what}");
}

/// Sends this to the proxy, and reads what comes back.
async fn raw(proxy: &Proxy, text: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(proxy.url().trim_start_matches("http://")).await?;
    stream.write_all(text.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn what_it_does_not_understand_is_passed_on_as_it_is() {
    let upstream = Upstream::start().await;
    let (proxy, _) = before(&upstream).await;
    let request = "PUT /a%2Fb?c=%20d HTTP/1.1\r\nHost: bucket.example\r\nX-Odd-CASE: x\r\n\
                   Content-Length: 4\r\nConnection: close\r\n\r\n\0\r\n&";
    let answer = raw(&proxy, request).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("X-Moto: yes\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n<Done>1</Done>"), "{answer}");
    let seen = upstream.requests().remove(0);
    assert!(seen.starts_with("PUT /a%2Fb?c=%20d HTTP/1.1\r\n"), "{seen}");
    for header in ["Host: bucket.example\r\n", "X-Odd-CASE: x\r\n"] {
        assert!(seen.contains(header), "{seen}");
    }
    assert!(seen.ends_with("\r\n\r\n\0\r\n&"), "{seen}");
    assert_eq!(proxy.calls().of("PUT /a%2Fb"), 1);
}

#[tokio::test]
async fn a_connection_serves_several_requests() {
    let upstream = Upstream::start().await;
    let (proxy, _) = before(&upstream).await;
    let one = "GET /one HTTP/1.1\r\nHost: x\r\n\r\n";
    let two = "GET /two HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answers = raw(&proxy, &format!("{one}{two}")).await.expect("answers");
    assert_eq!(answers.matches("HTTP/1.1 200").count(), 2, "{answers}");
    assert_eq!(upstream.requests().len(), 2);
}

#[tokio::test]
async fn a_repeated_token_is_answered_as_the_first_time() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    let first = caller.ec2("CreateRouteTable", TABLE).await.expect("made");
    let again = caller.ec2("CreateRouteTable", TABLE).await.expect("told");
    assert_eq!((first.status, &first.body), (again.status, &again.body));
    assert_eq!(upstream.calls("CreateRouteTable"), 1);
    assert_eq!(proxy.calls().of("CreateRouteTable"), 2);
}

#[tokio::test]
async fn a_token_with_other_parameters_is_a_mismatch() {
    let upstream = Upstream::start().await;
    let (_proxy, caller) = before(&upstream).await;
    caller.ec2("CreateRouteTable", TABLE).await.expect("made");
    let other = [("VpcId", "vpc-2"), ("ClientToken", "one")];
    let said = caller.ec2("CreateRouteTable", &other).await.expect("told");
    assert_eq!(
        (said.status, said.code()),
        (400, "IdempotentParameterMismatch")
    );
    assert_eq!(upstream.calls("CreateRouteTable"), 1);
}

#[tokio::test]
async fn a_token_holds_for_an_operation_an_account_and_a_region() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    let elsewhere = Caller::with_key(proxy.url(), "AKIAONE", "eu-west-1").expect("an address");
    let other = Caller::with_key(proxy.url(), "AKIATWO", HERE).expect("an address");
    // The fake account of a key is its last letter.
    let same = Caller::with_key(proxy.url(), "XE", HERE).expect("an address");
    let mut bodies = Vec::new();
    for caller in [&caller, &elsewhere, &other, &same] {
        let said = caller.ec2("CreateRouteTable", TABLE).await.expect("made");
        bodies.push(said.body);
    }
    assert_eq!(upstream.calls("CreateRouteTable"), 3, "{bodies:?}");
    assert_eq!(bodies[0], bodies[3], "another key of the same account");
    // Not one of the operations whose tokens moto ignores.
    for _ in 0..2 {
        caller.ec2("CreateVolume", TABLE).await.expect("made");
    }
    assert_eq!(upstream.calls("CreateVolume"), 2);
    let without = [("VpcId", "vpc-1")];
    for _ in 0..2 {
        caller
            .ec2("CreateRouteTable", &without)
            .await
            .expect("made");
    }
    assert_eq!(upstream.calls("CreateRouteTable"), 5);
}

#[tokio::test]
async fn a_token_is_forgotten_after_its_time() {
    let upstream = Upstream::start().await;
    let settings = Settings {
        token_lifetime: Duration::ZERO,
        ..Settings::default()
    };
    let proxy = Proxy::start(&upstream.url, settings).await.expect("starts");
    let caller = Caller::with_key(proxy.url(), "AKIAONE", HERE).expect("an address");
    for _ in 0..2 {
        caller.ec2("CreateRouteTable", TABLE).await.expect("made");
    }
    assert_eq!(upstream.calls("CreateRouteTable"), 2);
}

#[tokio::test]
async fn a_refused_call_leaves_its_token_free() {
    let upstream = Upstream::start().await;
    let (_proxy, caller) = before(&upstream).await;
    upstream.refuse("CreateRouteTable", true);
    let said = caller.ec2("CreateRouteTable", TABLE).await.expect("told");
    assert_eq!(said.status, 400);
    upstream.refuse("CreateRouteTable", false);
    let said = caller.ec2("CreateRouteTable", TABLE).await.expect("made");
    assert_eq!(said.status, 200);
    assert_eq!(upstream.calls("CreateRouteTable"), 2);
}

#[tokio::test]
async fn equal_calls_at_once_are_one() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    upstream.hold("CreateRouteTable");
    let both = async {
        tokio::join!(
            caller.ec2("CreateRouteTable", TABLE),
            caller.ec2("CreateRouteTable", TABLE),
        )
    };
    let release = async {
        until("both calls", || proxy.calls().under_way() == 2).await;
        until("the first", || upstream.calls("CreateRouteTable") == 1).await;
        upstream.release();
    };
    let ((one, two), ()) = tokio::join!(both, release);
    assert_eq!(one.expect("made").body, two.expect("told").body);
    assert_eq!(upstream.calls("CreateRouteTable"), 1);
}

#[tokio::test]
async fn what_has_come_in_is_done_and_remembered_when_the_client_is_gone() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    let caller = Arc::new(caller);
    upstream.hold("CreateRouteTable");
    let dying = Arc::clone(&caller);
    let client = tokio::spawn(async move { dying.ec2("CreateRouteTable", TABLE).await });
    until("the call", || upstream.calls("CreateRouteTable") == 1).await;
    assert_eq!(proxy.writes_under_way(), 1);
    client.abort();
    assert!(client.await.is_err_and(|error| error.is_cancelled()));
    upstream.release();
    let again = caller.ec2("CreateRouteTable", TABLE).await.expect("told");
    assert_eq!(again.status, 200);
    assert_eq!(upstream.calls("CreateRouteTable"), 1);
    until("the end of both", || proxy.writes_under_way() == 0).await;
}

#[tokio::test]
async fn a_refused_or_cut_call_does_not_reach_moto() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    let when = || When::operation("CreateVpc");
    for refusal in [Refusal::throttled(), Refusal::internal_error()] {
        let planned = proxy.faults().next(when(), Fault::Refuse(refusal.clone()));
        let said = caller.ec2("CreateVpc", &[]).await.expect("told");
        assert_eq!((said.status, said.code()), (refusal.status, &*refusal.code));
        assert_eq!(planned.times(), 1);
    }
    proxy.faults().next(when(), Fault::Cut);
    assert!(caller.ec2("CreateVpc", &[]).await.is_err());
    assert_eq!(upstream.calls("CreateVpc"), 0);
    assert_eq!(
        caller.ec2("CreateVpc", &[]).await.expect("made").status,
        200
    );
    assert_eq!(upstream.calls("CreateVpc"), 1);
    let calls = proxy.calls();
    let faults: Vec<_> = calls.all.iter().map(|seen| seen.fault).collect();
    assert_eq!(
        faults,
        [Some("refused"), Some("refused"), Some("cut"), None]
    );
    let moto: Vec<_> = calls.all.iter().map(|seen| seen.moto.is_some()).collect();
    assert_eq!(moto, [false, false, false, true]);
    assert_eq!(proxy.trouble(), [] as [String; 0]);
}

#[tokio::test]
async fn a_lost_answer_is_that_of_a_call_that_was_done() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    let when = When::operation("CreateRouteTable");
    proxy.faults().next(when, Fault::LoseAnswer);
    assert!(caller.ec2("CreateRouteTable", TABLE).await.is_err());
    assert_eq!(upstream.calls("CreateRouteTable"), 1);
    let again = caller.ec2("CreateRouteTable", TABLE).await.expect("told");
    assert_eq!(again.status, 200);
    assert_eq!(upstream.calls("CreateRouteTable"), 1);
}

#[tokio::test]
async fn a_delayed_request_has_no_effect_yet_and_a_delayed_answer_has() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    let caller = Arc::new(caller);
    for (fault, effect) in [
        (Fault::DelayRequest(LONG), 0),
        (Fault::DelayAnswer(LONG), 1),
    ] {
        let when = When::operation("CreateVpc");
        let mut planned = proxy.faults().next(when, fault.clone());
        let waiting = Arc::clone(&caller);
        let client = tokio::spawn(async move { waiting.ec2("CreateVpc", &[]).await });
        planned.struck().await;
        // A write after it is not kept waiting, and tells that the first would have been done.
        let other = caller.ec2("CreateSubnet", &[]).await.expect("made");
        assert_eq!(other.status, 200);
        until("the effect", || upstream.calls("CreateVpc") == effect).await;
        assert!(!client.is_finished(), "{fault:?}");
        client.abort();
    }
}

#[tokio::test]
async fn the_record_says_what_was_called_and_how_long_it_took() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    for operation in ["DescribeVpcs", "CreateVpc", "DescribeVpcs"] {
        caller.ec2(operation, &[]).await.expect("an answer");
    }
    upstream.refuse("DeleteVpc", true);
    caller.ec2("DeleteVpc", &[]).await.expect("an answer");
    let calls = proxy.calls();
    let counts: Vec<_> = calls
        .by_operation()
        .into_iter()
        .map(|(operation, count)| (operation, count.calls, count.writes))
        .collect();
    let expected = [
        ("CreateVpc", 1, true),
        ("DeleteVpc", 1, true),
        ("DescribeVpcs", 2, false),
    ];
    assert_eq!(counts, expected);
    assert_eq!((calls.writes(), calls.under_way()), (2, 0));
    let statuses: Vec<_> = calls.all.iter().map(|seen| seen.status).collect();
    assert_eq!(statuses, [Some(200), Some(200), Some(200), Some(400)]);
    assert!(calls.slowest_answer() > Duration::ZERO);
    assert!(calls.slowest_effect() >= calls.slowest_answer());
}

#[tokio::test]
async fn who_finds_no_moto_is_told_nothing_and_the_test_is() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    drop(upstream);
    assert!(caller.ec2("CreateVpc", &[]).await.is_err());
    assert_eq!(proxy.trouble().len(), 1);
}

#[tokio::test]
async fn a_dropped_proxy_listens_no_more() {
    let upstream = Upstream::start().await;
    let (proxy, caller) = before(&upstream).await;
    caller.ec2("DescribeVpcs", &[]).await.expect("an answer");
    let address = proxy.url().trim_start_matches("http://").to_owned();
    drop(proxy);
    let closed = || std::net::TcpStream::connect(&address).is_err();
    until("the end", closed).await;
}
