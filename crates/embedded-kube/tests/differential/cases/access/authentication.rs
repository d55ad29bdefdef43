//! Tokens, and who has none.

use crate::harness::run_guarded as run;

#[test]
fn tokens() {
    run(async |s| {
        let good = format!("Bearer {}", control_plane::USER_TOKEN);
        let lower = format!("bearer {}", control_plane::USER_TOKEN);
        for header in [
            good.as_str(),
            lower.as_str(),
            "Bearer nonsense",
            "Bearer",
            "Basic YTpi",
            "",
        ] {
            let headers = [("authorization", header)];
            s.stranger("GET", "configmaps/a", &headers, None).await;
        }
        s.stranger("GET", "configmaps/a", &[], None).await;
        s.stranger(
            "GET",
            "/version",
            &[("authorization", "Bearer nonsense")],
            None,
        )
        .await;
    });
}

#[test]
fn users_may_not_be_others() {
    run(async |s| {
        let bearer = format!("Bearer {}", control_plane::USER_TOKEN);
        for (name, value) in [
            ("impersonate-user", "bob"),
            ("impersonate-user", "system:serviceaccount:ns:robot"),
        ] {
            let headers = [("authorization", bearer.as_str()), (name, value)];
            s.stranger("GET", "configmaps/a", &headers, None).await;
        }
        let headers = [
            ("authorization", bearer.as_str()),
            ("impersonate-user", "alice"),
            ("impersonate-group", "system:masters"),
        ];
        s.stranger("GET", "configmaps/a", &headers, None).await;
    });
}
