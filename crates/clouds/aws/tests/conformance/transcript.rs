//! Transcripts: what a cloud was asked and answered, in words that are the same for equal answers.

use std::sync::Arc;

use cloud_port::aws::security_group;
use cloud_port::{Cloud, Deadline, Survey};
use ownership::kind::{Change, PropRule};
use ownership::part::{InnerPart, Resource};
use ownership::query::InnerAnswer;
use ownership::step::Create;
use ownership::{Answer, Class, CloudError, Kind, Query, Step, Target};

use crate::clouds::REGION;
use crate::raw::Raw;

/// A conversation with a cloud.
pub(crate) struct Transcript<'a, C> {
    cloud: &'a C,
    /// For assertions past the adapter; `None` on the simulated account.
    pub(crate) raw: Option<&'a Raw>,
    ids: Vec<String>,
    lines: Vec<Line>,
    differs: Option<&'static str>,
}

/// A question or deed, and what came of it.
struct Line {
    said: String,
    /// The row of `docs/aws.md` that says how moto differs here.
    differs: Option<&'static str>,
}

/// Holds two conversations to each other.
pub(crate) fn compare<A, B>(simulated: &Transcript<'_, A>, real: &Transcript<'_, B>) {
    assert_eq!(simulated.lines.len(), real.lines.len());
    let mut differences = Vec::new();
    for (simulated, real) in simulated.lines.iter().zip(&real.lines) {
        match simulated.differs {
            None if simulated.said == real.said => {}
            None => differences.push(format!(
                "simulated: {}\nmoto:      {}",
                simulated.said, real.said
            )),
            Some(row) if simulated.said == real.said => differences.push(format!(
                "moto does not differ any more: remove {row} from docs/aws.md and from the case"
            )),
            Some(_) => {}
        }
    }
    let differences = differences.join("\n");
    assert!(differences.is_empty(), "the clouds differ\n{differences}");
}

impl<'a, C: Cloud> Transcript<'a, C> {
    pub(crate) fn new(cloud: &'a C, raw: Option<&'a Raw>) -> Self {
        Self {
            cloud,
            raw,
            ids: Vec::new(),
            lines: Vec::new(),
            differs: None,
        }
    }

    /// In the next line moto differs, as this row of `docs/aws.md` says.
    pub(crate) fn moto_differs(&mut self, row: &'static str) {
        let table = include_str!("../../../../../docs/aws.md");
        assert!(table.contains(&format!("| {row} |")), "no row {row}");
        self.differs = Some(row);
    }

    /// Asks.
    pub(crate) async fn ask(&mut self, query: Query) -> Answer {
        let answer = self.cloud.read(&query).await;
        self.hear(&format!("{query:?}"), answer)
    }

    /// Takes down an answer, in an order that is the same on both clouds.
    fn hear(&mut self, question: &str, mut answer: Result<Answer, CloudError>) -> Answer {
        if let Ok(answer) = &mut answer {
            answer.resources.sort_by_key(|r| {
                let prop = |name| r.props.get(name).cloned();
                (r.name.clone(), prop("cidr"), prop("main"))
            });
            let resources = &answer.resources;
            let place = |told: &InnerAnswer| resources.iter().position(|r| r.id == told.of.id);
            answer
                .inner
                .sort_by_key(|told| (place(told), told.of.clone(), told.inner));
            // Parts whose keys are ids, in the order in which those first came.
            for told in &mut answer.inner {
                let came = |part: &InnerPart| self.ids.iter().position(|id| **id == *part.key);
                told.parts
                    .sort_by_key(|part| (came(part), part.key.clone()));
            }
        }
        let told = match &answer {
            Ok(answer) => show_answer(answer),
            Err(error) => show_error(error),
        };
        self.note(&format!("{question}\n  {told}"));
        answer.unwrap_or_default()
    }

    /// Asks, past the record: for answers that hold what differs by account.
    pub(crate) async fn look(&mut self, query: Query) -> Answer {
        self.cloud.read(&query).await.expect("an answer")
    }

    /// Asks, and takes the only resource.
    pub(crate) async fn find(&mut self, query: Query) -> Arc<Resource> {
        let answer = self.ask(query.clone()).await;
        match &answer.resources[..] {
            [one] => one.clone(),
            several => panic!("{query:?} found {} resources", several.len()),
        }
    }

    /// Acts; says whether it succeeded.
    pub(crate) async fn act(&mut self, step: Step) -> bool {
        let result = self.cloud.perform(&step, Deadline::never()).await;
        let told = match &result {
            Ok(_) => "ok".to_owned(),
            Err(error) => show_error(error),
        };
        let on: Vec<_> = step.targets().iter().map(ToString::to_string).collect();
        self.note(&format!("{} {}\n  {told}", step.verb(), on.join(", ")));
        result.is_ok()
    }

    /// Creates; what is born is only looked at where it is the same at once.
    pub(crate) async fn create(&mut self, create: Create) -> Option<Target> {
        let what = format!("create {} {}", create.kind.name, create.name);
        let result = self
            .cloud
            .perform(&Step::Create(create.clone()), Deadline::never())
            .await;
        let born = result.map(|effect| effect.born.expect("a create tells what was born"));
        let told = match &born {
            Ok(born) => show_resource(born, false),
            Err(error) => show_error(error),
        };
        self.note(&format!("{what}\n  {told}"));
        let born = born.ok()?;
        Some(Target::new(create.kind, born.id.clone()))
    }

    fn note(&mut self, said: &str) {
        let said = self.without_ids(said);
        let differs = self.differs.take();
        self.lines.push(Line { said, differs });
    }

    /// ARNs by the order in which they first came, too.
    fn without_arns(&mut self, said: &str) -> String {
        let ends = |c: char| c.is_whitespace() || ",;'\"(){}[]".contains(c);
        let mut plain = String::with_capacity(said.len());
        let mut rest = said;
        while let Some(at) = rest.find("arn:aws:elasticloadbalancing:") {
            let (before, from) = rest.split_at(at);
            let end = from.find(ends).unwrap_or(from.len());
            let known = self.ids.iter().position(|id| id == &from[..end]);
            let nth = known.unwrap_or_else(|| {
                self.ids.push(from[..end].to_owned());
                self.ids.len() - 1
            });
            plain.push_str(before);
            plain.extend(["arn#", &nth.to_string()]);
            rest = &from[end..];
        }
        plain.push_str(rest);
        plain
    }

    /// Ids by the order in which they first came, zones by their letter.
    fn without_ids(&mut self, said: &str) -> String {
        let said = self.without_arns(said).replace(REGION, "zone-");
        let mut plain = String::with_capacity(said.len());
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let mut rest = said.as_str();
        while !rest.is_empty() {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            match word.split_once('-') {
                Some((prefix, digits)) if is_id(prefix, digits) => {
                    let known = self.ids.iter().position(|id| id == word);
                    let at = known.unwrap_or_else(|| {
                        self.ids.push(word.to_owned());
                        self.ids.len() - 1
                    });
                    plain.extend([prefix, "#", &at.to_string()]);
                }
                _ => plain.push_str(word),
            }
            let next = rest[end..].find(is_word).map_or(rest.len(), |at| end + at);
            plain.push_str(&rest[end..next]);
            rest = &rest[next..];
        }
        plain
    }
}

impl<C: Survey> Transcript<'_, C> {
    /// Asks for everything of a Kind; but for groups that every VPC comes with, in which moto differs.
    pub(crate) async fn survey(&mut self, kind: &'static Kind) -> Answer {
        let mut answer = self.cloud.survey(kind).await;
        if let Ok(answer) = &mut answer {
            let is_default = |r: &Arc<Resource>| &*r.name == security_group::DEFAULT_NAME;
            let (default, others): (Vec<_>, Vec<_>) =
                answer.resources.drain(..).partition(is_default);
            answer.resources = others;
            let inside_default = |told: &InnerAnswer| default.iter().any(|r| r.id == told.of.id);
            answer.inner.retain(|told| !inside_default(told));
        }
        self.hear(&format!("survey {}", kind.name), answer)
    }
}

fn is_id(prefix: &str, digits: &str) -> bool {
    let known = [
        "vpc", "subnet", "igw", "rtb", "rtbassoc", "sg", "eni", "eipalloc", "nat", "i",
    ];
    let known = known.contains(&prefix);
    known && digits.len() == 17 && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

fn show_answer(answer: &Answer) -> String {
    let resources = answer.resources.iter().map(|r| show_resource(r, true));
    let inner = answer.inner.iter().map(|told| {
        let parts: Vec<_> = told.parts.iter().map(show_part).collect();
        format!("in {}: {} [{}]", told.of, told.inner, parts.join("; "))
    });
    resources.chain(inner).collect::<Vec<_>>().join("\n  ")
}

/// A new resource may need a moment until it is ready; one that was read has had it.
fn show_resource(resource: &Resource, read: bool) -> String {
    let props: Vec<_> = resource
        .props
        .iter()
        .map(|(name, value)| {
            let mut rules = resource.kind.props.iter();
            let is_given = |rule: &PropRule| rule.name == *name && rule.change == Change::Given;
            // What the cloud gives is its own.
            let value = if rules.any(is_given) { "given" } else { value };
            format!("{name}={value}")
        })
        .collect();
    let tags: Vec<_> = resource
        .tags
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    format!(
        "{} {} '{}' {{{}}} tags {{{}}}{}{}",
        resource.kind,
        resource.id,
        resource.name,
        props.join(", "),
        tags.join(", "),
        // Not every create call tells.
        if read && resource.created.is_some() {
            " dated"
        } else {
            ""
        },
        if read && resource.life != ownership::life::Life::Ready {
            " not ready"
        } else {
            ""
        },
    )
}

fn show_part(part: &InnerPart) -> String {
    let tags: Vec<_> = part.tags.iter().map(|(k, v)| format!("{k}={v}")).collect();
    format!("{} {} {{{}}}", part.key, part.value, tags.join(", "))
}

/// What must be the same: the code and what to do about it, not the words.
fn show_error(error: &CloudError) -> String {
    let class = match &error.class {
        Class::Blocked(blockers) => {
            let mut blockers: Vec<_> = blockers.iter().map(ToString::to_string).collect();
            blockers.sort();
            format!("Blocked by {}", blockers.join(", "))
        }
        other => format!("{other:?}"),
    };
    format!("{}: {class}", error.code)
}
