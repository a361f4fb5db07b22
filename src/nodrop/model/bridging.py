"""Ports that work as one, and ports that share a broadcast domain: port channels and VLANs."""

from nodrop.model.states import Unknown
from nodrop.model.values import model_dataclass


@model_dataclass
class PortChannel:
    """Ports bundled into one link by LACP (IEEE 802.1AX), with the settings of the link as a whole.

    `members` are names of interfaces, in order. QoS, PFC and cable lengths stay those of each member.
    """

    name: str
    members: tuple[str, ...] = ()
    enabled: bool | Unknown = True
    min_links: int | None = None
    """How many members must be up for the bundle to be; None is one."""
    fast_rate: bool = False
    """Whether LACP speaks each second instead of every 30 s."""
    fallback: bool = False
    """Whether a member carries traffic while its far end does not speak LACP."""
    mtu_bytes: int | None | Unknown = None
    addresses: tuple[str, ...] = ()
    vrf: str | None = None
    description: str | None = None
    segment: str | None | Unknown = None
    """The Ethernet segment (RFC 7432) under which other switches have parts of the bundle; None where it is none."""


@model_dataclass
class VlanMember:
    """An interface or port channel in a VLAN, and whether its frames there carry a tag."""

    interface: str
    tagged: bool

    @property
    def key(self) -> str:
        """The member's name in a subject."""
        return self.interface


@model_dataclass
class Vlan:
    """A broadcast domain (IEEE 802.1Q) with its members, and the addresses that the switch has in it."""

    id: int
    members: tuple[VlanMember, ...] = ()
    enabled: bool | Unknown = True
    mtu_bytes: int | None | Unknown = None
    addresses: tuple[str, ...] = ()
    virtual_addresses: tuple[str, ...] = ()
    """Addresses that other switches in the VLAN have, too, so that each is the gateway of hosts (VRR, VRRP)."""
    vrf: str | None = None
    description: str | None = None

    @property
    def all_addresses(self) -> tuple[str, ...]:
        """The addresses that the switch alone has, then those that it shares."""
        return (*self.addresses, *self.virtual_addresses)

    @property
    def key(self) -> str:
        """The VLAN's name in a subject: its number."""
        return str(self.id)
