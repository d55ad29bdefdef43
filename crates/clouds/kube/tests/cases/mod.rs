//! What the port on the Kubernetes API does: the same cases on the embedded API server and on a real one.

pub(crate) mod lab;

use cloud_port::kube as words;
use cloud_port::{Cloud, Deadline, Survey};
use ownership::life::Life;
use ownership::secret::Secret;
use ownership::step::{MarkRight, UnmarkRight};
use ownership::time::Tick;
use ownership::{Class, Query, Step, Text};
use serde_json::{Value, json};

use lab::{ALL, Lab, MOON, SETTINGS, SPACE, VOLUME};

/// The cases, each as a test; `lab` gives a lab for a case, or none where it cannot run.
macro_rules! cases {
    ($lab:path: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            if let Some(lab) = $lab(stringify!($case)).await {
                cases::$case(lab).await;
            }
        })*
    };
}
pub(crate) use cases;

/// Every case.
macro_rules! all_cases {
    ($lab:path) => {
        cases::cases!($lab:
            tables_fit_their_declarations,
            a_create_is_an_insert_with_its_marks,
            what_was_made_is_read_as_it_was_wished_for,
            an_id_means_one_object_and_no_other_of_its_name,
            what_lost_its_mark_since_it_was_read_is_not_deleted,
            a_change_applies_the_wished_fields_alone,
            a_field_that_somebody_else_manages_is_told_and_left,
            a_field_that_the_definition_does_not_know_is_told,
            tags_are_added_and_the_very_ones_are_taken_off,
            what_is_being_deleted_is_going_until_it_has_gone,
            a_survey_shows_what_is_managed,
            a_condition_says_when_an_object_can_be_used,
            an_owner_is_a_wish_like_others,
            what_is_outside_of_namespaces_has_a_name_of_its_own,
            what_cannot_be_made_is_told_by_its_class,
            nothing_is_sent_when_it_is_too_late,
        );
    };
}
pub(crate) use all_cases;

pub(crate) async fn tables_fit_their_declarations(_: Lab) {
    for kind in ALL {
        assert_eq!(kind.check(), Ok(()));
    }
}

pub(crate) async fn a_create_is_an_insert_with_its_marks(lab: Lab) {
    let born = lab.make(&VOLUME, "data", &[("size", "3")]).await;
    let again = Step::Create(lab.create(&VOLUME, "data", &[("size", "4")]));
    let refused = lab.perform(&again).await.unwrap_err();
    assert_eq!(refused.class, Class::Exists, "{refused}");

    let object = lab.object(&VOLUME, "data").await.unwrap();
    let key = lab.identity.key(VOLUME.kind);
    let metadata = &object["metadata"];
    assert_eq!(metadata["labels"]["freehold.dev/managed"], "true");
    assert!(metadata["labels"][&*key].is_string());
    // No label can hold it: the label is there, and empty.
    let remote = "cloud-manager.kyma-project.io/remote-name";
    assert_eq!(metadata["labels"][remote], "");
    assert_eq!(metadata["annotations"][remote], "team-a/volume");

    // All ways lead to it, and its mark says that it is ours.
    for query in [
        Query::Id(born.target()),
        lab.by_name(&VOLUME, "data"),
        lab.by_marks(&VOLUME),
    ] {
        let found = lab.ask(&query).await;
        assert_eq!(found.len(), 1, "{query:?}");
        assert_eq!(found[0].id, born.id);
        assert_eq!(lab.owned(&found[0]).mark().unwrap().slot.as_str(), "data");
    }
    assert!(lab.ask(&lab.by_name(&VOLUME, "other")).await.is_empty());
}

pub(crate) async fn what_was_made_is_read_as_it_was_wished_for(lab: Lab) {
    let zones = r#"["a","b"]"#;
    let wished = [
        ("size", "3"),
        ("class", "fast"),
        ("zones", zones),
        ("team", "blue"),
    ];
    let mut create = lab.create(&VOLUME, "data", &wished);
    create.secrets = [("password", Secret::new("hunter2", "key"))]
        .into_iter()
        .collect();
    let effect = lab
        .objects
        .perform(&Step::Create(create), Deadline::never())
        .await;
    let born = effect.unwrap().born.unwrap();
    let read = lab.read(&born.target()).await.unwrap();
    for resource in [&born, &read] {
        for (name, value) in wished {
            assert_eq!(
                resource.props.get(name).map(|it| &**it),
                Some(value),
                "{name}"
            );
        }
        assert_eq!(resource.props.get("password"), None);
        assert!(resource.created.is_some());
    }
    assert_eq!(born, read);
    let object = lab.object(&VOLUME, "data").await.unwrap();
    assert_eq!(object["spec"]["password"], "hunter2");
    let matching = |size: &str| Query::Match {
        kind: VOLUME.kind,
        place: ownership::Place::HOME,
        name: "".into(),
        props: [
            ("size", Text::from(size)),
            (words::NAMESPACE, lab.namespace.as_str().into()),
        ]
        .into_iter()
        .collect(),
    };
    assert_eq!(lab.ask(&matching("3")).await.len(), 1);
    assert_eq!(lab.ask(&matching("4")).await.len(), 0);
}

pub(crate) async fn an_id_means_one_object_and_no_other_of_its_name(lab: Lab) {
    let ours = lab.make(&SETTINGS, "settings", &[("size", "1")]).await;
    let api = lab.api(&SETTINGS);
    api.delete("settings", &kube::api::DeleteParams::default())
        .await
        .unwrap();
    let other = lab.make(&SETTINGS, "settings", &[("size", "2")]).await;
    assert_ne!(ours.id, other.id);
    assert_eq!(lab.read(&ours.target()).await, None);
    for step in [
        lab.deletion(&ours),
        lab.change(&ours, &[("size", "3")]),
        tag(&ours.target(), &[("team", "blue")]),
    ] {
        let refused = lab.perform(&step).await.unwrap_err();
        assert_eq!(refused.class, Class::NotFound, "{refused}");
    }
    let left = lab.read(&other.target()).await.unwrap();
    assert_eq!(left, other);
    lab.perform(&lab.deletion(&other)).await.unwrap();
    assert_eq!(lab.object(&SETTINGS, "settings").await, None);
}

/// Assumption A2 is not needed: the mark is read once more, and what is sent is for that very version.
pub(crate) async fn what_lost_its_mark_since_it_was_read_is_not_deleted(lab: Lab) {
    let read = lab.make(&SETTINGS, "settings", &[("size", "1")]).await;
    let key = lab.identity.key(SETTINGS.kind);
    lab.patch(
        &SETTINGS,
        "settings",
        json!({"metadata": {"labels": {&*key: null}}}),
    )
    .await;
    for step in [lab.deletion(&read), lab.change(&read, &[("size", "2")])] {
        let refused = lab.perform(&step).await.unwrap_err();
        assert_eq!(refused.class, Class::Retryable, "{refused}");
        assert!(refused.message.contains("has changed since"), "{refused}");
    }
    let left = lab.object(&SETTINGS, "settings").await.unwrap();
    assert_eq!(left["data"]["size"], "1");
}

pub(crate) async fn a_change_applies_the_wished_fields_alone(lab: Lab) {
    let born = lab
        .make(&VOLUME, "data", &[("size", "3"), ("team", "blue")])
        .await;
    lab.apply(&VOLUME, "data", json!({"spec": {"class": "slow"}}))
        .await;
    lab.perform(&lab.change(&born, &[("size", "4")]))
        .await
        .unwrap();
    lab.perform(&lab.change(&born, &[("team", "red")]))
        .await
        .unwrap();
    lab.perform(&lab.change(&born, &[("size", "5")]))
        .await
        .unwrap();

    let object = lab.object(&VOLUME, "data").await.unwrap();
    assert_eq!(object["spec"], json!({"sizeGb": 5, "class": "slow"}));
    assert_eq!(object["metadata"]["labels"]["team"], "red");
    let key = lab.identity.key(VOLUME.kind);
    assert!(
        object["metadata"]["labels"][&*key].is_string(),
        "the mark stays"
    );
    let applied = managed(&object, "freehold", "Apply");
    assert_eq!(applied["f:spec"], json!({"f:sizeGb": {}}));
    assert_eq!(applied["f:metadata"]["f:labels"], json!({"f:team": {}}));
}

pub(crate) async fn a_field_that_somebody_else_manages_is_told_and_left(lab: Lab) {
    let born = lab.make(&VOLUME, "data", &[("size", "3")]).await;
    lab.apply(&VOLUME, "data", json!({"spec": {"sizeGb": 9}}))
        .await;
    let refused = lab.perform(&lab.change(&born, &[("size", "4")])).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.class, Class::Fatal, "{refused}");
    assert_eq!(&*refused.code, "FieldManagerConflict");
    for words in ["somebody", "sizeGb", "give them up"] {
        assert!(refused.message.contains(words), "{refused}");
    }
    let object = lab.object(&VOLUME, "data").await.unwrap();
    assert_eq!(object["spec"]["sizeGb"], 9);
}

/// Else every pass would write it again.
pub(crate) async fn a_field_that_the_definition_does_not_know_is_told(lab: Lab) {
    let born = lab.make(&VOLUME, "data", &[("size", "3")]).await;
    let refused = lab.perform(&lab.change(&born, &[("unknown", "x")])).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.class, Class::Fatal, "{refused}");
    assert!(refused.message.contains("unknown"), "{refused}");
}

pub(crate) async fn tags_are_added_and_the_very_ones_are_taken_off(lab: Lab) {
    let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "theirs", "namespace": lab.namespace,
        "labels": {"team": "green"}, "annotations": {"note": "theirs"},
    }});
    lab.by_hand(&SETTINGS, &theirs).await;
    let found = lab.ask(&lab.by_name(&SETTINGS, "theirs")).await;
    let target = found[0].target();
    let long = ("cloud-manager.kyma-project.io/remote-name", "team-a/volume");
    let ours = [("cost", "blue"), long];
    lab.perform(&tag(&target, &ours)).await.unwrap();
    let tagged = lab.read(&target).await.unwrap();
    for (key, value) in ours {
        assert!(tagged.tags.has(key, value), "{key}");
    }
    let step = Step::Unmark {
        targets: vec![target.clone()],
        tags: pairs(&[("cost", "red"), long, ("team", "green")]),
        right: UnmarkRight::Trace,
    };
    lab.perform(&step).await.unwrap();
    let object = lab.object(&SETTINGS, "theirs").await.unwrap();
    assert_eq!(object["metadata"]["labels"], json!({"cost": "blue"}));
    assert_eq!(object["metadata"]["annotations"], json!({"note": "theirs"}));
}

pub(crate) async fn what_is_being_deleted_is_going_until_it_has_gone(lab: Lab) {
    let born = lab.make(&SETTINGS, "settings", &[("size", "1")]).await;
    let held = json!({"metadata": {"finalizers": ["freehold.test/held"]}});
    lab.patch(&SETTINGS, "settings", held).await;
    lab.perform(&lab.deletion(&born)).await.unwrap();
    let going = lab.read(&born.target()).await.unwrap();
    assert_eq!(going.life, Life::Going);
    let free = json!({"metadata": {"finalizers": null}});
    lab.patch(&SETTINGS, "settings", free).await;
    assert_eq!(lab.read(&born.target()).await, None);
    let refused = lab.perform(&lab.deletion(&born)).await.unwrap_err();
    assert_eq!(refused.class, Class::NotFound);
}

pub(crate) async fn a_survey_shows_what_is_managed(lab: Lab) {
    let ours = lab.make(&VOLUME, "ours", &[("size", "1")]).await;
    let spec = json!({"apiVersion": VOLUME.api_version, "kind": "Volume",
                      "metadata": {"name": "theirs"}, "spec": {"sizeGb": 1}});
    lab.by_hand(&VOLUME, &spec).await;
    let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}});
    lab.by_hand(&SETTINGS, &settings).await;
    let objects = lab.objects.clone().in_namespace(lab.namespace.clone());
    let volumes = objects.survey(VOLUME.kind).await.unwrap().resources;
    let ids: Vec<_> = volumes.iter().map(|volume| &volume.id).collect();
    assert_eq!(ids, [&ours.id]);
    // What it shows is spelled as reads spell it.
    assert_eq!(Some(&volumes[0]), lab.read(&ours.target()).await.as_ref());
    let settings = objects.survey(SETTINGS.kind).await.unwrap().resources;
    assert!(settings.iter().any(|settings| &*settings.name == "theirs"));
}

pub(crate) async fn a_condition_says_when_an_object_can_be_used(lab: Lab) {
    let born = lab.make(&VOLUME, "data", &[("size", "3")]).await;
    assert_eq!(born.life, Life::Coming);
    let told = |status: &str, reason: &str| {
        json!({"handle": "vol-1", "conditions": [
            {"type": "Ready", "status": status, "reason": reason, "message": "so it is"}]})
    };
    lab.status(&VOLUME, "data", told("True", "Made")).await;
    let read = lab.read(&born.target()).await.unwrap();
    assert_eq!(read.life, Life::Ready);
    assert_eq!(read.props.get("handle").map(|it| &**it), Some("vol-1"));
    lab.status(&VOLUME, "data", told("False", "OutOfSpace"))
        .await;
    let read = lab.read(&born.target()).await.unwrap();
    assert_eq!(read.life, Life::Failed("so it is".into()));
}

pub(crate) async fn an_owner_is_a_wish_like_others(lab: Lab) {
    let parent = lab.make(&SETTINGS, "parent", &[]).await;
    let owner = words::owner(&SETTINGS, parent.id.text().into()).to_string();
    let child = lab
        .make(&VOLUME, "child", &[("size", "1"), (words::OWNER, &owner)])
        .await;
    assert_eq!(
        child.props.get(words::OWNER).map(|it| &**it),
        Some(owner.as_str())
    );
    let object = lab.object(&VOLUME, "child").await.unwrap();
    let reference = &object["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&reference["kind"], &reference["name"]),
        (&json!("ConfigMap"), &json!("parent"))
    );
    let wrong = Step::Create(lab.create(&VOLUME, "other", &[(words::OWNER, "parent")]));
    let refused = lab.perform(&wrong).await.unwrap_err();
    assert_eq!(refused.class, Class::Fatal, "{refused}");
}

pub(crate) async fn what_is_outside_of_namespaces_has_a_name_of_its_own(lab: Lab) {
    let name = "outside-of-namespaces";
    let born = lab.make(&SPACE, name, &[]).await;
    let uid = born.props.get(words::UID).unwrap();
    assert_eq!(born.id.as_str(), format!("{name}/{uid}"));
    let found = lab.ask(&lab.by_name(&SPACE, name)).await;
    assert_eq!(found[0].id, born.id);
    lab.perform(&lab.deletion(&born)).await.unwrap();
}

pub(crate) async fn what_cannot_be_made_is_told_by_its_class(lab: Lab) {
    let mut create = lab.create(&SETTINGS, "settings", &[]);
    create.props.set(words::NAMESPACE, "nowhere".into());
    let refused = lab.perform(&Step::Create(create)).await.unwrap_err();
    assert_eq!(refused.class, Class::Retryable, "{refused}");
    let moon = lab
        .perform(&Step::Create(lab.create(&MOON, "moon", &[])))
        .await;
    let moons = lab.answer(&lab.by_marks(&MOON)).await;
    let moon_by_name = lab.answer(&lab.by_name(&MOON, "moon")).await;
    for refused in [
        moon.unwrap_err(),
        moons.unwrap_err(),
        moon_by_name.unwrap_err(),
    ] {
        assert_eq!(refused.class, Class::Fatal, "{refused}");
        assert!(
            refused.message.contains("install its definition"),
            "{refused}"
        );
    }
    for (prop, value) in [("size", "many"), ("handle-of", "x")] {
        let create = Step::Create(lab.create(&VOLUME, "data", &[(prop, value)]));
        let refused = lab.perform(&create).await.unwrap_err();
        assert_eq!(refused.class, Class::Fatal, "{refused}");
        assert!(refused.message.contains(prop), "{refused}");
    }
    let mut create = lab.create(&SETTINGS, "settings", &[]);
    create.name = "Not_a_name".into();
    let refused = lab.perform(&Step::Create(create)).await.unwrap_err();
    assert_eq!(refused.class, Class::Fatal, "{refused}");
}

pub(crate) async fn nothing_is_sent_when_it_is_too_late(lab: Lab) {
    struct Late;
    impl cloud_port::Clock for Late {
        fn now(&self) -> Tick {
            Tick(2)
        }
    }
    let late = Deadline::new(&Late, Tick(1));
    let born = lab.make(&SETTINGS, "settings", &[("size", "1")]).await;
    for step in [
        Step::Create(lab.create(&SETTINGS, "other", &[])),
        lab.deletion(&born),
        lab.change(&born, &[("size", "2")]),
        tag(&born.target(), &[("team", "blue")]),
    ] {
        let refused = lab.objects.perform(&step, late).await.unwrap_err();
        assert_eq!(&*refused.code, "TooLate", "{refused}");
    }
    assert_eq!(lab.read(&born.target()).await, Some(born));
    assert_eq!(lab.object(&SETTINGS, "other").await, None);
}

fn tag(target: &ownership::Target, tags: &[(&str, &str)]) -> Step {
    Step::Mark {
        targets: vec![target.clone()],
        tags: pairs(tags),
        right: MarkRight::Trace,
    }
}

fn pairs(tags: &[(&str, &str)]) -> Vec<(Text, Text)> {
    let pair = |(key, value): &(&str, &str)| ((*key).into(), (*value).into());
    tags.iter().map(pair).collect()
}

/// The fields that a manager has.
fn managed(object: &Value, manager: &str, operation: &str) -> Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let its = |entry: &&Value| entry["manager"] == manager && entry["operation"] == operation;
    entries.iter().find(its).unwrap()["fieldsV1"].clone()
}
