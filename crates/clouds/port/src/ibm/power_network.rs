//! Networks of Power Virtual Server, each with the DHCP server that makes it.

use ownership::blueprint::Expr;
use ownership::input::InputError;
use ownership::kind::Naming;
use ownership::life::Course;
use ownership::name::NameRule;
use ownership::time::Millis;
use ownership::{Class, Kind, Slot, SlotName, Text};

use super::errors::Service;
use super::{CRN, Entry, MARKED_LATER, NAME, SLOW, given, of_the_call, workspace};
use crate::code::Code;
use crate::network::Network;
use crate::sample::Sample;

/// A network with a DHCP server that a claim wants for itself.
///
/// Nobody creates the network: who creates a DHCP server gets one, later, and who deletes the server loses
/// it. Only the network can be tagged, so the network is the resource, and the server is what makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerNetwork {
    /// The name of the DHCP server; the network's is made of it.
    pub server: Text,
    /// The workspace that it is in, by its GUID.
    pub workspace: Expr,
    /// Its range; else the service chooses one.
    pub cidr: Option<Network>,
    /// The DNS server that it tells machines of; else the service's own.
    pub dns_server: Option<Text>,
    /// Whether machines in it reach the internet, under an address of the service.
    pub snat: bool,
}

impl PowerNetwork {
    /// The slot for it.
    ///
    /// # Errors
    /// A range or a DNS server that is none of IPv4.
    pub fn slot(self, slot: SlotName) -> Result<Slot, InputError> {
        let mut props = vec![(WORKSPACE, self.workspace)];
        if let Some(cidr) = self.cidr {
            if !cidr.is_v4() || cidr.prefix() > 28 {
                let rule = "must be an IPv4 range of /28 or larger";
                return Err(InputError::new("DHCP server cidr", &cidr.to_string(), rule));
            }
            props.push((CIDR, Expr::Text(cidr.to_string().into())));
        }
        if let Some(server) = self.dns_server {
            if server.parse::<std::net::Ipv4Addr>().is_err() {
                let rule = "must be an IPv4 address";
                return Err(InputError::new("DHCP server dnsServer", &server, rule));
            }
            props.push((DNS_SERVER, Expr::Text(server)));
        }
        props.push((SNAT, if self.snat { "true" } else { "false" }.into()));
        let name = network_name(&self.server);
        Ok(Slot {
            props,
            ..Slot::own(slot, &POWER_NETWORK, name)
        })
    }
}

/// What the network of a DHCP server is called.
pub fn network_name(server: &str) -> Text {
    format!("DHCPSERVER{server}_Private").into()
}

/// The name of the DHCP server that makes a network of this name; `None` if none does.
pub fn server_name(network: &str) -> Option<&str> {
    network.strip_prefix("DHCPSERVER")?.strip_suffix("_Private")
}

/// The property with the workspace, by its GUID.
pub const WORKSPACE: &str = "workspace";
/// The property of the create call with the range.
pub const CIDR: &str = "cidr";
/// The property of the create call with the DNS server.
pub const DNS_SERVER: &str = "dns-server";
/// The property of the create call that says whether machines reach the internet.
pub const SNAT: &str = "snat";
/// The property with the DHCP server, by its id.
pub const SERVER: &str = "dhcp-server";

/// The declaration. Its id arrives minutes after the create was accepted, which names the DHCP server only:
/// that is the operation. Its creation time is what global search tells.
pub static POWER_NETWORK: Kind = Kind {
    name: "ibm/power-network",
    noun: "Power network",
    naming: Naming::Within(WORKSPACE),
    names: NameRule::longest(255),
    course: Course {
        hidden_for: Millis::seconds(20 * 60),
        ..SLOW
    },
    props: &[
        super::fixed(WORKSPACE),
        of_the_call(CIDR),
        of_the_call(DNS_SERVER),
        of_the_call(SNAT),
        given(SERVER),
        given(CRN),
        given(NAME),
    ],
    ..MARKED_LATER
};

pub(super) const ENTRY: Entry = Entry {
    sample: &SAMPLE,
    service: Service::Power,
    codes: &CODES,
};

static CODES: [Code; 1] = [
    // The API answers with no codes of its own: these are the words of its status.
    Code::new("Conflict", Class::Exists).to("CreateDhcp"),
];

static SAMPLE: Sample = Sample {
    parent: Some(workspace::PARENT),
    props: &[(SNAT, "true")],
    ..Sample::of(&POWER_NETWORK)
};

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> PowerNetwork {
        PowerNetwork {
            server: "prod".into(),
            workspace: "guid".into(),
            cidr: None,
            dns_server: None,
            snat: true,
        }
    }

    fn slot(network: PowerNetwork) -> Result<Slot, InputError> {
        network.slot(SlotName::new("network").unwrap())
    }

    #[test]
    fn the_network_is_called_as_its_server_has_it() {
        let slot = slot(network()).unwrap();
        assert_eq!(&*slot.label, "DHCPSERVERprod_Private");
        assert_eq!(server_name(&slot.label), Some("prod"));
        assert_eq!(server_name("public"), None);
        ownership::Blueprint::new(vec![slot]).unwrap();
    }

    #[test]
    fn ranges_and_dns_servers_are_of_ipv4() {
        let range = |cidr: &str| PowerNetwork {
            cidr: Some(Network::parse("cidr", cidr).unwrap()),
            ..network()
        };
        let props = slot(range("192.168.0.1/24")).unwrap().props;
        assert!(props.contains(&(CIDR, "192.168.0.0/24".into())));
        for bad in ["192.168.0.0/29", "2001:db8::/64"] {
            let error = slot(range(bad)).unwrap_err().to_string();
            assert!(error.contains("/28 or larger"), "{error}");
        }
        let named = PowerNetwork {
            dns_server: Some("one.one.one.one".into()),
            ..network()
        };
        assert!(
            slot(named)
                .unwrap_err()
                .to_string()
                .contains("IPv4 address")
        );
    }
}
