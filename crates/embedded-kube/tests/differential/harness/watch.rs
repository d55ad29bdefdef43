//! A watch's stream, read line by line.

use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use super::Script;

/// How long an event may take that must come.
const PATIENCE: Duration = Duration::from_mins(1);

/// An open watch.
pub(crate) struct Watch {
    path: String,
    body: Option<kube::client::Body>,
    buffer: Vec<u8>,
}

impl Watch {
    pub(crate) fn new(path: &str, body: kube::client::Body) -> Self {
        Self {
            path: path.to_owned(),
            body: Some(body),
            buffer: Vec::new(),
        }
    }

    /// A watch that was refused.
    pub(crate) fn ended(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            body: None,
            buffer: Vec::new(),
        }
    }

    /// Takes this many events into the transcript, fewer if the stream ends or stays silent.
    pub(crate) async fn take(&mut self, script: &mut Script, count: usize) -> Vec<Value> {
        let mut events = Vec::new();
        while events.len() < count {
            match tokio::time::timeout(PATIENCE, self.next()).await {
                Ok(Some(event)) => self.keep(script, &mut events, event),
                Ok(None) => {
                    script.note(&format!("END {}", self.path), Value::Null);
                    break;
                }
                Err(_) => {
                    script.note(&format!("SILENCE {}", self.path), Value::Null);
                    break;
                }
            }
        }
        events
    }

    /// Takes everything up to the first event of the object of this name.
    pub(crate) async fn take_until(&mut self, script: &mut Script, name: &str) {
        loop {
            let events = self.take(script, 1).await;
            let found = events
                .first()
                .map(|event| &event["object"]["metadata"]["name"]);
            if found.is_none_or(|found| found == name) {
                return;
            }
        }
    }

    /// Takes everything until the server ends the stream (`timeoutSeconds` makes it).
    pub(crate) async fn rest(&mut self, script: &mut Script) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            match tokio::time::timeout(PATIENCE, self.next()).await {
                Ok(Some(event)) => self.keep(script, &mut events, event),
                Ok(None) => break,
                Err(_) => {
                    script.note(&format!("NEVER ENDS {}", self.path), Value::Null);
                    break;
                }
            }
        }
        script.note(&format!("END {}", self.path), json!(events.len()));
        events
    }

    fn keep(&self, script: &mut Script, events: &mut Vec<Value>, event: Value) {
        script.note(&format!("EVENT {}", self.path), event.clone());
        events.push(event);
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap_or_else(|error| {
                    json!({"not JSON": error.to_string(),
                        "line": String::from_utf8_lossy(&line)})
                }));
            }
            match self.body.as_mut()?.frame().await {
                Some(Ok(frame)) => {
                    self.buffer
                        .extend_from_slice(frame.data_ref().map_or(&[], |data| data));
                }
                Some(Err(error)) => return Some(json!({"broken": error.to_string()})),
                None => self.body = None,
            }
        }
    }
}
