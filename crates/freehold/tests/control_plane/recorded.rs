//! What a client asks for, written down.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::Response;
use kube::Client;
use kube::client::Body;
use tower_service::Service;

/// A request, as roles speak of it. Of what is no resource, such as discovery, there is only the verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Under whose name it writes.
    pub(crate) manager: String,
    /// Whether it was refused because nobody has the right to it.
    pub(crate) forbidden: bool,
}

impl Request {
    fn of(request: &http::Request<Body>) -> Self {
        let path: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
        let (group, mut rest) = match path[..] {
            ["api", _, ref rest @ ..] => ("", rest),
            ["apis", group, _, ref rest @ ..] => (group, rest),
            _ => ("", &[][..]),
        };
        let mut namespace = "";
        if let ["namespaces", within, inside @ ..] = rest
            && !inside.is_empty()
        {
            (namespace, rest) = (within, inside);
        }
        let (resource, name) = match *rest {
            [plural, name, part] => (format!("{plural}/{part}"), name),
            [plural, name] => (plural.to_owned(), name),
            [plural] => (plural.to_owned(), ""),
            _ => (String::new(), ""),
        };
        let query = request.uri().query().unwrap_or_default();
        let watches = query.contains("watch=true");
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let manager = pairs.find(|(key, _)| *key == "fieldManager");
        let verb = match (request.method().as_str(), name) {
            ("GET", _) if watches => "watch",
            ("GET", "") => "list",
            ("GET", _) => "get",
            ("POST", _) => "create",
            ("PUT", _) => "update",
            ("PATCH", _) => "patch",
            ("DELETE", _) => "delete",
            (other, _) => panic!("{other}"),
        };
        Self {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            manager: manager.map_or_else(String::new, |(_, name)| name.to_owned()),
            forbidden: false,
        }
    }
}

/// Writes down what its clients ask for.
#[derive(Clone, Default)]
pub(crate) struct Recorder {
    asked: Arc<Mutex<Vec<Request>>>,
    hidden: &'static [&'static str],
}

impl Recorder {
    /// One whose clients are told that these groups are not served.
    pub(crate) fn hiding(hidden: &'static [&'static str]) -> Self {
        Self {
            hidden,
            ..Self::default()
        }
    }

    pub(crate) fn client(&self, client: Client) -> Client {
        let recorder = self.clone();
        Client::new(Recorded { client, recorder }, "default")
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

#[derive(Clone)]
struct Recorded {
    client: Client,
    recorder: Recorder,
}

impl Service<http::Request<Body>> for Recorded {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        let Self { client, recorder } = self.clone();
        Box::pin(async move {
            let mut asked = Request::of(&request);
            if recorder.hidden.contains(&asked.group.as_str()) {
                *request.uri_mut() = http::Uri::from_static("/apis/absent.example.com/v1/things");
            }
            let answer = client.send(request).await;
            asked.forbidden = answer.as_ref().is_ok_and(|answer| answer.status() == 403);
            recorder.asked.lock().unwrap().push(asked);
            answer
        })
    }
}
