//! Names within each Kind's limits: left alone where they do, stable and apart where they do not.

use ownership::name::{Alphabet, NONCE, NameRule};
use proptest::prelude::*;

fn rule() -> impl Strategy<Value = NameRule> {
    let alphabet = proptest::sample::select(vec![
        Alphabet::Any,
        Alphabet::Label,
        Alphabet::LowerAlphanumeric,
    ]);
    (24..=255_usize, alphabet).prop_map(|(longest, alphabet)| NameRule { longest, alphabet })
}

proptest! {
    #[test]
    fn a_name_fits_and_is_left_alone_where_it_does(rule in rule(), name in ".{1,300}") {
        let fitted = rule.fit(&name);
        prop_assert!(rule.accepts(&fitted), "{}", fitted);
        prop_assert_eq!(rule.fit(&fitted), fitted.clone());
        prop_assert_eq!(rule.accepts(&name), *fitted == *name);
    }

    #[test]
    fn a_nonce_survives(rule in rule(), name in ".{0,300}", nonce in "[0-9a-f]{16}") {
        let fitted = rule.fit_with_nonce(&name, &nonce);
        prop_assert!(rule.accepts(&fitted), "{}", fitted);
        prop_assert!(fitted.ends_with(&nonce));
    }

    #[test]
    fn two_names_are_two(rule in rule(), one in "[A-Za-z.-]{1,60}", other in "[A-Za-z.-]{1,60}") {
        prop_assume!(one != other);
        prop_assert_ne!(rule.fit(&one), rule.fit(&other));
    }
}

#[test]
fn a_storage_accounts_name_holds_a_nonce() {
    let rule = NameRule {
        longest: 24,
        alphabet: Alphabet::LowerAlphanumeric,
    };
    let nonce = "0123456789abcdef";
    assert_eq!(nonce.len(), NONCE);
    let name = rule.fit_with_nonce("Prod.EU-west-storage", nonce);
    assert_eq!(&*name, "prodeuwe0123456789abcdef");
    assert_eq!(rule.fit("prodstorage"), "prodstorage".into());
    assert_eq!(rule.fit("prod-storage").len(), "prodstorage".len() + 8);
    let role = NameRule::longest(64);
    assert_eq!(
        role.fit_with_nonce("prod", nonce),
        format!("prod-{nonce}").into()
    );
}
