//! The cases of Cluster API on AWS: one suite for every cloud and every API server.
//!
//! ```text
//! case ──► Lab ──► API server: the embedded one, or a real control plane
//!            ├───► the controller's own reconciler, one pass at a time, on a virtual clock
//!            └───► a cloud: the simulated AWS, or moto; by hand, and to look at it
//! ```
//!
//! A case asserts on what is in the cloud and in the API server, not on what the controller says of
//! it. Add a case to [`mod@cases`] and to the list in [`cases!`]: every place that runs the suite runs it.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a case fails by panicking, in its helpers too"
)]

pub mod cases;
mod lab;

pub use lab::{Lab, Plain, TWO_ZONES, definitions, install, network};

/// One test a case, each in a laboratory of its own that `$lab` makes from the case's name; `None`
/// where the laboratory cannot be had.
#[macro_export]
macro_rules! cases {
    ($lab:path) => {
        $crate::cases! { $lab:
            life::two_zones_from_nothing_to_ready_to_gone
            life::two_zones_behind_a_network_load_balancer
            life::three_zones_from_nothing_to_ready_to_gone
            life::three_zones_behind_a_network_load_balancer
            life::a_zone_less_and_a_zone_more
            life::a_zone_more_behind_a_network_load_balancer
            life::an_object_that_has_forgotten_everything_leaves_nothing
            life::a_network_whose_recorded_vpc_id_is_empty_is_no_orphan
            life::a_record_that_was_lost_changes_nothing
            life::a_claim_whose_annotation_was_taken_off_changes_nothing
            life::the_same_name_in_two_namespaces_is_two_networks
            brought::a_vpc_and_its_subnets_are_used_and_given_back
            brought::a_vpc_that_was_deleted_by_hand_is_told_and_not_made_again
            brought::a_vpc_that_is_deleted_under_a_cluster_is_not_made_again
            brought::a_vpc_without_its_subnets_is_refused
            ids::recorded_ids_that_were_taken_out_are_written_again
            ids::what_we_recorded_and_is_gone_is_made_again
            ids::a_persons_vpc_written_over_ours_stays_theirs
            ids::ids_copied_from_another_cluster_are_no_ownership
            ids::without_a_record_marks_say_whose_an_id_is
            repair::every_part_that_somebody_took_out_is_put_back
            repair::every_part_of_a_network_load_balancer_is_put_back
            repair::what_somebody_changed_is_put_right
            repair::a_target_group_that_somebody_changed_is_put_right
            repair::tags_follow_the_object
            repair::what_stands_in_the_way_of_the_end_is_named
            faults::a_record_that_fails_after_a_create_loses_nothing
            faults::what_was_never_recorded_ends
            faults::a_rollback_that_fails_is_tried_again
            faults::deletions_that_fail_are_tried_again
            faults::a_mark_that_fails_is_tried_again
            faults::an_operator_that_dies_in_creates_makes_nothing_twice
            people::an_object_waits_for_its_owner
            people::a_pause_stops_creation_and_deletion
            people::what_another_controller_manages_is_left_to_it
            people::fields_that_are_not_served_are_named_and_make_nothing
            people::a_mistake_is_told_by_its_field_before_anything_is_made
            identities::an_identity_that_allows_the_namespace_is_used
            identities::an_identity_that_allows_others_is_refused
            identities::an_identity_with_a_wrong_key_is_told
            identities::a_role_is_taken_on_and_never_with_more_than_was_meant
            identities::an_identity_that_is_missing_is_told
        }
    };
    ($lab:path: $($module:ident::$case:ident)*) => {$(
        #[tokio::test]
        async fn $case() {
            if let Some(mut lab) = $lab(stringify!($case)).await {
                $crate::cases::$module::$case(&mut lab).await;
            }
        }
    )*};
}
