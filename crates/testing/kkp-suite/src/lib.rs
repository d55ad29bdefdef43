//! The KKP controller's cases: one suite for every cloud and every API server.
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
mod hands;
mod lab;

pub use hands::{Group, Hands, Profile, Role};
pub use lab::{Lab, Plain};
pub use laboratory::{During, One, RESYNC, WRONG_KEY};

/// One test a case, each in a laboratory of its own that `$lab` makes from the case's name; `None`
/// where the laboratory cannot be had.
#[macro_export]
macro_rules! cases {
    ($lab:path) => {
        $crate::cases! { $lab:
            create::a_cluster_that_leaves_everything_to_us
            create::every_ip_family
            create::without_iam
            create::into_a_vpc_that_the_object_names
            create::the_same_name_twice_over
            create::a_role_and_a_profile_that_are_named_and_absent
            create::what_is_named_ends_although_its_names_were_cleared
            create::a_create_under_a_name_that_was_cleared_since
            create::a_profile_under_a_name_that_was_cleared_since_ends
            adopt::a_group_found_by_name_is_used_and_given_back
            adopt::a_group_named_by_id_is_used_and_given_back
            adopt::a_role_and_a_profile_that_the_object_names_are_used
            adopt::a_group_of_another_cluster_is_a_conflict
            adopt::what_was_adopted_is_not_adopted_again
            repair::lost_ids_are_found_again
            repair::the_same_manifest_again_and_again
            repair::what_is_gone_is_made_again
            repair::rules_edited_by_hand_are_put_right
            repair::exclusive_rules_converge_both_ways
            repair::a_range_that_is_taken_back
            repair::policies_edited_by_hand_are_put_right
            repair::a_plain_role_name_becomes_an_arn
            repair::a_lost_mark_is_told_and_taken_back
            repair::what_lost_its_mark_stays_at_the_end
            repair::a_named_role_that_is_gone_is_made_again
            repair::a_record_that_was_set_back_is_waited_for_again
            identity::a_restored_object_finds_its_resources
            identity::another_management_cluster_waits_for_the_take_over
            identity::after_the_take_over_it_works_on
            identity::a_cluster_that_only_uses_is_taken_over_too
            identity::a_restored_object_can_end_at_once
            identity::an_object_that_lost_its_annotations_ends
            identity::a_copied_record_says_nothing
            identity::a_new_cluster_of_the_same_name_touches_nothing_of_the_old
            identity::a_copied_manifest_is_told_to_be_a_copy
            identity::a_claim_that_another_cluster_keeps_makes_nothing
            identity::an_object_removed_by_force_leaves_nothing_of_its_create
            identity::an_object_replaced_by_force_leaves_nothing_of_its_create
            copies::the_original_is_restored_first
            copies::the_copy_is_restored_first
            copies::an_original_without_its_record
            copies::a_copy_that_was_restored_alone
            copies::an_original_that_only_uses
            copies::an_original_that_ends_as_soon_as_it_is_restored
            copies::two_of_whom_nothing_is_known
            end::everything_goes
            end::half_a_cluster_goes
            end::what_uses_a_group_blocks_its_end
            end::a_cluster_with_mistakes_ends
            end::retained_resources_stay
            migrate::every_finalizer_of_the_original
            migrate::one_finalizer_of_the_original
            migrate::a_cluster_that_ends_before_it_has_migrated
            migrate::a_cluster_without_ids_ends_before_it_has_migrated
            migrate::a_cluster_whose_iam_was_switched_off
            migrate::a_cluster_of_todays_original
            migrate::an_untagged_worker_role_in_the_recorded_profile
            migrate::a_strangers_group_beside_an_old_finalizer
            migrate::a_strangers_worker_role_beside_an_old_finalizer
            older::a_cluster_at_rest
            older::a_cluster_that_settles
            older::a_cluster_that_uses_a_group
            shared::two_clusters_on_one_group
            shared::two_clusters_leave_one_group_together
            shared::a_strangers_role_under_our_name
            shared::a_mistake_makes_nothing
            switches::a_paused_cluster_is_left_alone
            switches::a_restored_cluster_that_is_paused_is_pinned_anew
            switches::an_observed_cluster_is_left_alone
            switches::a_misspelt_switch_stops_everything
            switches::a_cluster_without_its_cloud_says_so
            trouble::a_range_that_is_none
            trouble::the_one_range_that_is_none
            trouble::a_vpc_that_is_not_there
            trouble::an_id_that_is_none
            trouble::a_role_that_is_none
            trouble::a_provider_without_its_settings
            trouble::a_field_that_is_misspelt
            trouble::a_secret_that_is_not_there
            trouble::a_datacenter_that_is_not_there
            trouble::a_region_that_is_not_there
            trouble::credentials_that_are_refused
            trouble::a_uuid_that_is_none
            trouble::a_role_of_another_account
            trouble::a_record_that_is_none
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
