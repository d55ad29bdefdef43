//! From a request to an answer.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::header::{CONTENT_TYPE, HeaderValue, VARY};
use http::{HeaderMap, Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};

use super::answer::{Answer, answer, json_answer, not_found, refuse, warn};
use super::body;
use super::discovery;
use super::guard;
use super::negotiate::{self, Format, Output, Shown};
use super::other;
use super::query::Query;
use super::route::{Route, Target, route};
use super::{LostAnswer, ResponseBody, full};
use crate::access::{Attributes, User, identify, reviews};
use crate::admission;
use crate::api::{self, Call, Done, FieldValidation, ListOptions, PatchKind, ScaleChange};
use crate::builtin::{self, Builtin};
use crate::chores;
use crate::deep;
use crate::faults::FaultKind;
use crate::listen::LongQuery;
use crate::resource::{Resource, Sub};
use crate::server::Cluster;
use crate::state::State;
use crate::status::{About, ApiError, ApiResult};
use crate::table::Shape;
use crate::watch::Watch;

/// Answers a request.
pub(super) async fn handle<B>(
    cluster: Cluster,
    trusted: Option<Arc<User>>,
    request: Request<B>,
) -> Result<Answer, LostAnswer>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display + Send,
{
    let disk = cluster.clone();
    let head = request.method() == Method::HEAD;
    let shows_state = !other::is_about_the_process(request.uri().path());
    let answer = respond(cluster, trusted, request).await;
    // Nobody hears of what is not on disk yet, not even by a refusal.
    if shows_state && let Err(error) = disk.settled().await {
        let refusal = refuse(&error);
        let refusal = if head { bodiless(refusal) } else { refusal };
        return answer.map(|_| refusal);
    }
    answer
}

async fn respond<B>(
    cluster: Cluster,
    trusted: Option<Arc<User>>,
    request: Request<B>,
) -> Result<Answer, LostAnswer>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display + Send,
{
    let (parts, incoming) = request.into_parts();
    // An address holds 64 KiB; what is longer comes beside it.
    let long = parts.extensions.get::<LongQuery>();
    let query = long.map_or(parts.uri.query(), |long| Some(&long.0));
    let query = Query::parse(query.unwrap_or_default());
    let route = route(parts.uri.path());
    let user = match guard::admit(&cluster, trusted.as_deref(), &parts, &query, &route) {
        Ok(user) => user,
        Err(refusal) => return Ok(refuse(&refusal)),
    };
    let target = match route {
        Route::Resource(target) => target,
        Route::Discovery(path) => {
            let core = path.first().is_some_and(|first| first == "api");
            if path.len() == 1 && negotiate::aggregated(&parts.headers).is_some() {
                let all = discovery::aggregated(&cluster.lock(), core).to_string();
                return Ok(aggregated_answer(all));
            }
            let found = discovery::document(&cluster.lock(), &path);
            let built_in = path
                .get(1)
                .is_some_and(|group| builtin::RESOURCES.iter().any(|r| *r.group == **group));
            let layered = core || (path.len() == 3 && built_in);
            return Ok(match found {
                Some(found) => match negotiate::document(&parts.headers, layered) {
                    Ok(format) => answer(200, format!("{found}\n").into(), format, &[]),
                    Err(refusal) => refuse(&refusal),
                },
                None if core => refuse(&ApiError::nowhere()),
                None => not_found(),
            });
        }
        Route::Other(path) => return Ok(other::at(&cluster, &parts.headers, &query, &path)),
    };
    let resource = cluster
        .lock()
        .resource(&target.group, &target.version, &target.plural);
    let Some(resource) = resource else {
        let built_in = builtin::RESOURCES.iter().any(|r| *r.group == *target.group);
        return Ok(if built_in {
            refuse(&ApiError::nowhere())
        } else {
            not_found()
        });
    };
    let exchange = Exchange {
        cluster,
        method: parts.method,
        headers: parts.headers,
        query,
        target,
        resource,
        user,
        trusted,
    };
    exchange.run(incoming).await
}

/// An answer to who asks for its head only.
fn bodiless(answer: Answer) -> Answer {
    answer.map(|_| full(Bytes::new()))
}

/// An answer that says that all groups are in it.
fn aggregated_answer(body: String) -> Answer {
    let mut response = json_answer(200, body);
    let media = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

/// A request for a resource.
struct Exchange {
    cluster: Cluster,
    method: Method,
    headers: HeaderMap,
    query: Query,
    target: Target,
    resource: Arc<Resource>,
    /// Who asks, where that is looked at.
    user: Option<User>,
    trusted: Option<Arc<User>>,
}

impl Exchange {
    async fn run<B>(self, incoming: B) -> Result<Answer, LostAnswer>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        if self.resource.builtin() == Some(Builtin::ServiceAccount) && self.target.sub == "token" {
            return Ok(refuse(&self.no_token()));
        }
        let verb = match self.part().and_then(|()| self.verb()) {
            Ok(verb) => verb,
            Err(refusal) if self.method == Method::HEAD => {
                return Ok(bodiless(refuse(&refusal)));
            }
            Err(refusal) => return Ok(refuse(&refusal)),
        };
        if !self.scope_fits(verb) {
            return Ok(if self.resource.custom().is_some() {
                not_found()
            } else if matches!(verb, "create" | "deletecollection") {
                refuse(&ApiError::wrong_method())
            } else {
                refuse(&ApiError::nowhere())
            });
        }
        let name = Some(self.target.name.as_str()).filter(|name| !name.is_empty());
        let fault = self
            .cluster
            .faults()
            .strike(verb, &self.resource.plural, name);
        if let Some(refusal) = self.fault_refusal(fault) {
            return Ok(refuse(&refusal));
        }
        let mut answer = match self.answer(verb, incoming, fault).await {
            Ok(answer) => answer,
            Err(error) => refuse(&error),
        };
        if let Some(warning) = self
            .resource
            .custom()
            .and_then(|custom| custom.warning.as_deref())
        {
            warn(&mut answer, &[warning.to_owned()]);
        }
        if self.method == Method::HEAD {
            answer = bodiless(answer);
        }
        if fault == Some(FaultKind::LostAnswer) {
            Err(LostAnswer)
        } else {
            Ok(answer)
        }
    }

    /// Why nobody gets a token here: there is no such account, or nobody gets one.
    fn no_token(&self) -> ApiError {
        let (resource, name) = (&self.resource, &self.target.name);
        let key = resource.key(&self.target.namespace, name);
        if self.method != Method::POST {
            ApiError::wrong_method()
        } else if !self.has_namespace() {
            let namespaces = About {
                group: "",
                resource: "namespaces",
            };
            ApiError::not_found(namespaces, &self.target.namespace)
        } else if self
            .cluster
            .lock()
            .storage
            .object(&resource.store, &key)
            .is_none()
        {
            ApiError::not_found(resource.about(), name)
        } else {
            ApiError::forbidden(resource.about(), name, "this server gives out no tokens")
        }
    }

    fn has_namespace(&self) -> bool {
        let state = self.cluster.lock();
        let found = state.storage.object("namespaces", &self.target.namespace);
        found.is_some()
    }

    /// Refuses a part that objects of this resource do not have, whatever the method.
    fn part(&self) -> ApiResult<()> {
        match self.sub() {
            Err(_) if self.resource.custom().is_none() => Err(ApiError::nowhere()),
            other => other.map(drop),
        }
    }

    /// What the method means here. Built-in resources have a table of methods for each path,
    /// custom ones take every method and see what is missing.
    fn verb(&self) -> ApiResult<&'static str> {
        let (named, sub) = (!self.target.name.is_empty(), !self.target.sub.is_empty());
        if self.resource.builtin().is_some_and(Builtin::is_review) {
            return match self.method {
                _ if named => Err(ApiError::nowhere()),
                Method::POST => Ok("create"),
                _ => Err(ApiError::wrong_method()),
            };
        }
        let custom = self.resource.custom().is_some();
        if matches!(self.target.name.as_str(), "." | "..") {
            let name = &self.target.name;
            return Err(ApiError::bad_request(if custom {
                format!("invalid resource name \"{name}\": [may not be '{name}']")
            } else {
                format!("Name parameter invalid: \"{name}\": may not be '{name}'")
            }));
        }
        let nameless = || ApiError::bad_request("name must be provided");
        let unsupported = |verb| ApiError::method_not_supported(self.resource.about(), verb);
        match self.method {
            Method::HEAD if !custom => Err(ApiError::wrong_method()),
            Method::GET | Method::PATCH if !custom && self.target.sub == "finalize" => {
                Err(ApiError::wrong_method())
            }
            Method::GET | Method::HEAD if self.target.watch => Ok("watch"),
            Method::GET | Method::HEAD if named => Ok("get"),
            Method::GET | Method::HEAD if self.query.watch() => Ok("watch"),
            Method::GET | Method::HEAD => Ok("list"),
            Method::POST if custom && sub => Err(unsupported("create")),
            Method::POST if custom || !named => Ok("create"),
            Method::PUT if named => Ok("update"),
            Method::PATCH if named => Ok("patch"),
            Method::PUT | Method::PATCH if custom => Err(nameless()),
            Method::DELETE if custom && sub => Err(unsupported("delete")),
            Method::DELETE if named && !sub => Ok("delete"),
            Method::DELETE if !named && self.resource.builtin() != Some(Builtin::Namespace) => {
                Ok("deletecollection")
            }
            // What is no verb has no name.
            _ if custom => Err(unsupported("")),
            _ => Err(ApiError::wrong_method()),
        }
    }

    /// Whether the path has a namespace where the resource has one.
    fn scope_fits(&self, verb: &str) -> bool {
        let namespaced = !self.target.namespace.is_empty();
        if self.resource.namespaced {
            namespaced || matches!(verb, "list" | "watch")
        } else {
            !namespaced
        }
    }

    fn fault_refusal(&self, fault: Option<FaultKind>) -> Option<ApiError> {
        match fault? {
            FaultKind::Conflict => {
                Some(ApiError::modified(self.resource.about(), &self.target.name))
            }
            FaultKind::TooManyRequests { retry_after } => {
                Some(ApiError::too_many_requests(retry_after))
            }
            FaultKind::InternalError => Some(ApiError::internal("a fault was injected")),
            _ => None,
        }
    }

    fn sub(&self) -> ApiResult<Sub> {
        // Of a custom resource nobody looks at what follows.
        let sub = match self.target.sub.split_once('/') {
            Some((first, _)) if self.resource.custom().is_some() => first,
            _ => &self.target.sub,
        };
        let sub = match sub {
            "" => Sub::None,
            "status" => Sub::Status,
            "scale" => Sub::Scale,
            "finalize" => Sub::Finalize,
            _ => {
                return Err(ApiError::not_found(
                    self.resource.about(),
                    &self.target.name,
                ));
            }
        };
        if self.resource.has(sub) {
            Ok(sub)
        } else {
            Err(ApiError::not_found(
                self.resource.about(),
                &self.target.name,
            ))
        }
    }

    async fn answer<B>(
        &self,
        verb: &'static str,
        incoming: B,
        fault: Option<FaultKind>,
    ) -> ApiResult<Answer>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: std::fmt::Display,
    {
        let sub = match self.sub() {
            Ok(sub) => sub,
            Err(_) if self.resource.custom().is_none() => return Err(ApiError::nowhere()),
            Err(error) => return Err(error),
        };
        if verb == "patch" {
            negotiate::patch(&self.headers, &self.resource)?;
        }
        let shown = match verb {
            "list" | "watch" => Shown::List,
            _ => Shown::Object,
        };
        let output = negotiate::output(&self.headers, &self.resource, shown)?;
        if matches!(verb, "get" | "list" | "watch") {
            return self.read(verb, sub, output, fault);
        }
        if verb == "create" {
            negotiate::input(&self.headers, &self.resource)?;
        }
        let bytes = body::read(incoming).await?;
        self.write(verb, sub, output, &bytes)
    }

    fn read(
        &self,
        verb: &str,
        sub: Sub,
        output: Output,
        fault: Option<FaultKind>,
    ) -> ApiResult<Answer> {
        self.cluster
            .step(0, |state| self.look(state, verb, sub, output, fault))
    }

    fn look(
        &self,
        state: &mut State,
        verb: &str,
        sub: Sub,
        output: Output,
        fault: Option<FaultKind>,
    ) -> ApiResult<Answer> {
        let stale_by = match fault {
            Some(FaultKind::StaleRead { by }) => by,
            _ => 0,
        };
        let target = &self.target;
        match verb {
            "get" => {
                let body = self.get(state, sub, stale_by)?;
                let body = self.shaped(state, sub, output, body)?;
                Ok(answer(200, body, output.format, &[]))
            }
            "list" => {
                let mut options = self.query.list(&self.resource)?;
                options.stale_by = stale_by;
                let body = self.list(state, &options)?;
                let body = self.shaped(state, sub, output, body)?;
                Ok(answer(200, body, output.format, &[]))
            }
            _ => {
                let name = Some(target.name.as_str()).filter(|name| !name.is_empty());
                let random = state.ids.next();
                let options = self.query.watch_options(&self.resource, name, random)?;
                let shape = self.shape(output)?;
                negotiate::output(&self.headers, &self.resource, Shown::Stream)?;
                let watch = Watch::start(
                    self.cluster.clone(),
                    state,
                    Arc::clone(&self.resource),
                    &target.namespace,
                    options,
                    shape,
                    fault,
                );
                let mut response = answer(200, Bytes::new(), Format::Json, &[]);
                *response.body_mut() = stream_body(watch);
                Ok(response)
            }
        }
    }

    /// The shape that the answer is to have.
    fn shape(&self, output: Output) -> ApiResult<Shape> {
        let include = self.query.get("includeObject").unwrap_or_default();
        Shape::new(output.form, include)
    }

    /// An object or a list in the form that is asked for.
    fn shaped(&self, state: &State, sub: Sub, output: Output, body: Bytes) -> ApiResult<Bytes> {
        let shape = self.shape(output)?;
        shape.of_bytes(&self.resource, sub, body, state.now())
    }

    fn get(&self, state: &State, sub: Sub, stale_by: usize) -> ApiResult<Bytes> {
        let (resource, name) = (&self.resource, &self.target.name);
        let key = resource.key(&self.target.namespace, name);
        let wanted = api::parse_version(self.query.get("resourceVersion").unwrap_or_default())?;
        let current = state.storage.revision();
        if wanted > current {
            return Err(ApiError::version_too_large(wanted, current));
        }
        let mut found = state.storage.object(&resource.store, &key).cloned();
        if stale_by > 0
            && let Some(collection) = state.storage.get(&resource.store)
        {
            let revision = collection.revision_before(stale_by, current);
            if let Ok(past) = collection.at(revision, &key) {
                found = past.get(key.as_str()).cloned();
            }
        }
        let Some(stored) = found else {
            return Err(ApiError::not_found(resource.about(), name));
        };
        if sub == Sub::Scale {
            return api::get_scale(state, resource, &stored);
        }
        Ok(state.present(resource, &stored))
    }

    fn list(&self, state: &State, options: &ListOptions) -> ApiResult<Bytes> {
        api::list(state, &self.resource, &self.target.namespace, options)
    }

    fn write(&self, verb: &str, sub: Sub, output: Output, bytes: &[u8]) -> ApiResult<Answer> {
        let target = &self.target;
        let kind = match verb {
            "create" => "CreateOptions",
            "update" => "UpdateOptions",
            "patch" => "PatchOptions",
            _ => "DeleteOptions",
        };
        let deleting = matches!(verb, "delete" | "deletecollection");
        let applies =
            verb == "patch" && negotiate::patch(&self.headers, &self.resource)? == PatchKind::Apply;
        let (dry_run, validation) = if deleting {
            (false, FieldValidation::Ignore)
        } else {
            self.query.write_options(kind, applies)?
        };
        let agent = self.headers.get(http::header::USER_AGENT);
        let agent = agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()));
        let manager = self.query.manager(agent.as_deref().unwrap_or_default());
        let (done, warnings) = self.cluster.step(self.depth(bytes), |state| {
            // While the body was on its way, the definition may have changed, or gone.
            let found = state.resource(&target.group, &target.version, &target.plural);
            let Some(resource) = found.filter(|found| found.has(sub)) else {
                return (Err(ApiError::nowhere()), Vec::new());
            };
            let asker = match self.asker(state) {
                Ok(asker) => asker,
                Err(error) => return (Err(error), Vec::new()),
            };
            let mut call = Call {
                resource: &resource,
                sub,
                namespace: &target.namespace,
                name: &target.name,
                dry_run,
                validation,
                manager: &manager,
                forced: applies.then(|| self.query.force()),
                warnings: Vec::new(),
                user: self.user.as_ref(),
                access: self.cluster.access(),
                asker: asker.as_ref(),
            };
            let done = match verb {
                "create" => self.create(state, &mut call, bytes),
                "update" => self.update(state, &mut call, bytes),
                "patch" => self.patch(state, &mut call, bytes),
                _ => self.delete(state, &mut call, verb, bytes),
            };
            let warnings = call.warnings;
            chores::run(state);
            let done = done.and_then(|mut done| {
                done.body = self.shaped(state, sub, output, done.body)?;
                Ok(done)
            });
            (done, warnings)
        });
        Ok(match done {
            Ok(done) => answer(done.code, done.body, output.format, &warnings),
            Err(error) => {
                let mut refusal = refuse(&error);
                warn(&mut refusal, &warnings);
                refusal
            }
        })
    }

    /// Who writes, if an admission policy asks.
    fn asker(&self, state: &State) -> ApiResult<Option<User>> {
        if !admission::is_active(state) || self.user.is_some() {
            return Ok(self.user.clone());
        }
        let anything = Attributes::default();
        let trusted = self.trusted.as_deref();
        // Without access control everybody may be who they like, if they say who.
        identify(state, None, &self.headers, trusted, &anything).map(Some)
    }

    /// How much deeper than what is stored this body can make a document.
    fn depth(&self, bytes: &[u8]) -> usize {
        let is_json = matches!(
            negotiate::input(&self.headers, &self.resource),
            Ok(Format::Json)
        );
        let moves = |bytes: &[u8]| {
            let words: [&[u8]; 3] = [b"copy", b"move", b"\\u"];
            words
                .iter()
                .any(|word| bytes.windows(word.len()).any(|window| window == *word))
        };
        match negotiate::patch(&self.headers, &self.resource) {
            // A patch can copy and move what is deep into what is deep, again and again.
            Ok(PatchKind::Json) if moves(bytes) => deep::MAX_DEPTH,
            Ok(PatchKind::Apply) => deep::of_yaml(bytes),
            Ok(_) => deep::of(bytes),
            Err(_) if is_json => deep::of(bytes),
            Err(_) => deep::MAX_DEPTH,
        }
    }

    fn create(&self, state: &mut State, call: &mut Call<'_>, bytes: &[u8]) -> ApiResult<Done> {
        let document = self.document(bytes)?;
        let value = api::decode_body(state, call, document, bytes)?;
        if call.resource.builtin().is_some_and(Builtin::is_review) {
            return reviews::answer(state, call, value);
        }
        api::create(state, call, value)
    }

    fn update(&self, state: &mut State, call: &mut Call<'_>, bytes: &[u8]) -> ApiResult<Done> {
        let document = self.document(bytes)?;
        if call.sub == Sub::Scale {
            return api::update_scale(state, call, ScaleChange::Replace(document));
        }
        let value = api::decode_body(state, call, document, bytes)?;
        api::replace(state, call, value)
    }

    fn patch(&self, state: &mut State, call: &mut Call<'_>, bytes: &[u8]) -> ApiResult<Done> {
        let kind = negotiate::patch(&self.headers, call.resource)?;
        if kind == PatchKind::Apply {
            let document = body::parse_config(bytes).map_err(|message| {
                ApiError::bad_request(format!("error decoding YAML: {message}"))
            })?;
            if call.sub == Sub::Scale {
                return api::update_scale(state, call, ScaleChange::Apply(document));
            }
            return api::apply(state, call, &document);
        }
        if call.sub == Sub::Scale {
            return api::update_scale(state, call, ScaleChange::Patch(kind, bytes));
        }
        api::patch(state, call, kind, bytes)
    }

    fn delete(
        &self,
        state: &mut State,
        call: &mut Call<'_>,
        verb: &str,
        bytes: &[u8],
    ) -> ApiResult<Done> {
        let list = (verb == "deletecollection")
            .then(|| self.query.list(call.resource))
            .transpose()?;
        let format = if bytes.is_empty() {
            Format::Json
        } else {
            negotiate::input(&self.headers, &self.resource)?
        };
        let (options, dry_run) = self.query.delete(bytes, format)?;
        call.dry_run = dry_run;
        match list {
            Some(list) => api::delete_collection(state, call, &options, &list),
            None => api::delete(state, call, &options),
        }
    }

    fn document(&self, bytes: &[u8]) -> ApiResult<crate::json::Document> {
        let format = negotiate::input(&self.headers, &self.resource)?;
        body::parse(bytes, format).map_err(|message| {
            if self.target.sub == "scale" && self.resource.custom().is_some() {
                return ApiError::bad_request(api::NO_SCALE);
            }
            api::unrecognized(&self.resource.kind, &message, bytes)
        })
    }
}

fn stream_body(watch: Watch) -> ResponseBody {
    let frames = stream::unfold(watch, |mut watch| async move {
        let next = watch.next().await?;
        Some((next.map(Frame::data), watch))
    });
    StreamBody::new(frames).boxed_unsync()
}
