//! The cloud controller inside a cluster: what it adds to what we own is its own, and stays.

use cloud_port::aws::role::{ATTACHED_POLICY, ROLE};
use cloud_port::aws::security_group::{RULE, SECURITY_GROUP};

use controllers::kkp::Kkp;
use laboratory::seeded::{SignedIn, part};

type Person = laboratory::seeded::Person<Kkp<SignedIn>>;

/// The rule of a Service of type `LoadBalancer`.
const SERVICE: &str = "ingress tcp 31080-31080 198.51.100.0/24";
/// The policy that an add-on wants on the workers' role.
const POLICY: &str = "arn:aws:iam::aws:policy/AmazonEBSCSIDriverPolicy";

/// What the controllers inside one cluster want at present.
#[derive(Debug, Default)]
pub(crate) struct Guests {
    has_service: bool,
    has_policy: bool,
}

impl Guests {
    /// They want something else.
    pub(crate) fn change(&mut self, person: &Person, name: &str) {
        if person.random.chance(50) {
            self.has_service ^= true;
        } else {
            self.has_policy ^= true;
        }
        self.work(person, name);
    }

    /// They go, with all that they added.
    pub(crate) fn leave(&mut self, person: &Person, name: &str) {
        *self = Self::default();
        self.work(person, name);
    }

    /// They bring about what they want, if there is something to bring it about in.
    pub(crate) fn work(&self, person: &Person, name: &str) {
        let (group, role) = names(name);
        if self.has_service {
            person.add(&SECURITY_GROUP, &group, RULE, part(SERVICE));
        } else {
            person.remove(&SECURITY_GROUP, &group, RULE, SERVICE);
        }
        if self.has_policy {
            person.add(&ROLE, &role, ATTACHED_POLICY, part(POLICY));
        } else {
            person.remove(&ROLE, &role, ATTACHED_POLICY, POLICY);
        }
    }
}

impl Guests {
    /// What they want is there.
    pub(crate) fn assert_content(&self, person: &Person, name: &str) {
        let (group, role) = names(name);
        let wanted = [
            (self.has_service, &SECURITY_GROUP, group, RULE, SERVICE),
            (self.has_policy, &ROLE, role, ATTACHED_POLICY, POLICY),
        ];
        for (is_wanted, kind, name, inner, key) in wanted {
            let Some(target) = person.find(kind, &name).filter(|_| is_wanted) else {
                continue;
            };
            let account = person.weather.account().lock();
            let there = account.parts(&target, inner);
            let is_there = there.iter().any(|part| *part.key == *key);
            assert!(is_there, "law 1: {target} has lost its guest's {key}");
        }
    }
}

fn names(cluster: &str) -> (String, String) {
    let group = format!("kubernetes-{cluster}");
    let role = format!("{group}-worker");
    (group, role)
}
