//! One suite, two clouds: every case runs against the simulated account and against the adapter on
//! moto's server, and what they answer must be the same in canonical form.
//!
//! Where moto does something else than AWS documents, the case says so by the name of a row in
//! `docs/aws.md`; simulation and adapter follow AWS. Besides, what must be in the cloud is asserted
//! on moto by calls of the SDK that do not go through the adapter.
//!
//! Runs only where `FREEHOLD_TIER_AWS=1` says that moto can be had.
#![expect(
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod cases;
mod clouds;
mod kkp;
mod permissions;
mod raw;
mod steps;
mod suite;
mod transcript;

use transcript::Transcript;

macro_rules! conform {
    ($($case:path as $name:ident)*) => {$(
        #[tokio::test]
        async fn $name() {
            let Some(moto) = clouds::moto().await else { return };
            let account = clouds::simulated();
            let mut simulated = Transcript::new(&account, None);
            $case(&mut simulated).await;
            let mut real = Transcript::new(&*moto.set, Some(&moto.raw));
            $case(&mut real).await;
            transcript::compare(&simulated, &real);
        }
    )*};
}

conform! {
    cases::network::what_an_account_comes_with as what_an_account_comes_with
    cases::network::a_vpc_lives as a_vpc_lives
    cases::network::a_subnet_lives as a_subnet_lives
    cases::network::a_route_table_lives as a_route_table_lives
    cases::network::a_gateway_lives as a_gateway_lives
    cases::ways_out::attributes_are_switched as attributes_are_switched
    cases::ways_out::a_nat_gateway_lives as a_nat_gateway_lives
    cases::ways_out::routes_and_associations_live as routes_and_associations_live
    cases::balancers::a_classic_load_balancer_lives as a_classic_load_balancer_lives
    cases::balancers::a_network_load_balancer_lives as a_network_load_balancer_lives
    cases::balancers::a_target_group_lives as a_target_group_lives
    cases::machines::an_instance_lives as an_instance_lives
    cases::machines::a_repeated_run_answers_with_the_first_instance as a_repeated_run_answers_with_the_first_instance
    cases::machines::load_balancers_know_instances as load_balancers_know_instances
    cases::network::absent_resources_are_empty_answers as absent_resources_are_empty_answers
    cases::groups::a_group_lives as a_group_lives
    cases::groups::rules_have_one_spelling as rules_have_one_spelling
    cases::groups::rules_carry_tags_of_their_own as rules_carry_tags_of_their_own
    cases::groups::a_rule_that_is_there_or_not_is_refused as a_rule_that_is_there_or_not_is_refused
    cases::groups::a_group_in_use_names_its_users as a_group_in_use_names_its_users
    cases::tags::marks_find_and_go_by_key_and_value as marks_find_and_go_by_key_and_value
    cases::tags::one_call_marks_several as one_call_marks_several
    cases::tags::fifty_tags_are_all as fifty_tags_are_all
    cases::tags::iam_takes_away_only_the_very_pair as iam_takes_away_only_the_very_pair
    cases::iam::a_role_lives as a_role_lives
    cases::iam::documents_have_one_spelling as documents_have_one_spelling
    cases::iam::policies_are_parts_of_a_role as policies_are_parts_of_a_role
    cases::iam::a_role_in_use_names_its_users as a_role_in_use_names_its_users
    cases::iam::a_profile_lives as a_profile_lives
    cases::iam::all_pages_are_read as all_pages_are_read
    cases::inventory::a_survey_shows_the_network as a_survey_shows_the_network
    cases::inventory::a_survey_shows_groups_with_their_rules as a_survey_shows_groups_with_their_rules
    cases::inventory::a_survey_shows_roles_and_profiles as a_survey_shows_roles_and_profiles
    cases::inventory::a_survey_shows_what_reads_show as a_survey_shows_what_reads_show
}
