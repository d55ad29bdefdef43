//! Views as kinds of an API server.

/// Makes a view one of an API's kinds: its kind, group, version, plural and scope. `kind` and
/// `api_version` are for views that come without.
macro_rules! kind {
    ($view:ident, $kind:literal, $group:expr, $version:expr, $plural:literal, $scope:ty) => {
        fn api_version() -> String {
            <$view as kube::Resource>::api_version(&()).into_owned()
        }

        fn kind() -> String {
            <$view as kube::Resource>::kind(&()).into_owned()
        }

        impl kube::Resource for $view {
            type DynamicType = ();
            type Scope = $scope;

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                $kind.into()
            }
            fn group((): &()) -> std::borrow::Cow<'_, str> {
                $group.into()
            }
            fn version((): &()) -> std::borrow::Cow<'_, str> {
                $version.into()
            }
            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }
            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }
            fn meta_mut(
                &mut self,
            ) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
