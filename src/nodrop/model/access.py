"""Access lists: the packets that a switch drops, marks or redirects where they enter it, leave it or are for itself."""

from typing import Literal, NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.values import model_dataclass

AccessListStage = Literal[
    "ingress", "egress", "transit", "transit-out", "control-plane", "control-plane-out", "services"
]
"""Where a list acts: on what enters by an interface, on what leaves by it, on what enters or leaves there on its way to
others, on what enters there for the switch itself, on what the switch itself sends there, or on what enters for the
switch but for BGP, which is accepted before."""
ENTERING_STAGES: frozenset[AccessListStage] = frozenset({"ingress", "transit", "control-plane", "services"})
FORWARDING_STAGES: frozenset[AccessListStage] = frozenset({"ingress", "egress", "transit", "transit-out"})
"""Stages at which lists act on what is on its way to others."""
SWITCH_ITSELF_STAGES: frozenset[AccessListStage] = frozenset(
    {"ingress", "egress", "control-plane", "control-plane-out", "services"}
)
"""Stages at which lists act on what is for the switch itself, or from it."""
EntryAction = Literal["permit", "deny", "next"]
"""What becomes of a packet that matches; after `next` later entries decide, as after one that only mirrors."""
AccessEntryFamily = Literal["ipv4", "ipv6", "other"]
"""The packets that an entry is for: those of a family, or none of IP."""


class PortRange(NamedTuple):
    """TCP or UDP ports from `first` to `last`."""

    first: int
    last: int


class Bits(NamedTuple):
    """A number whose bits count only where `mask` has them."""

    number: int
    mask: int


@model_dataclass
class AccessEntry:
    """One entry of an access list: a packet matches it if all conditions hold; an empty condition always does.

    An entry that the switch refuses to install matches nothing, and `refused` gives the reason.
    """

    name: str
    action: EntryAction = "permit"
    priority: int | None = None
    """The platform's number by which entries are ordered, where it is not the name."""
    family: AccessEntryFamily | None = None
    protocol: int | None = None
    """The IP protocol, or next header."""
    sources: tuple[str, ...] = ()
    destinations: tuple[str, ...] = ()
    source_ports: tuple[PortRange, ...] = ()
    destination_ports: tuple[PortRange, ...] = ()
    dscps: tuple[int, ...] = ()
    ecns: tuple[int, ...] = ()
    """Values of the ECN bits, 0 to 3."""
    opcode: Bits | None = None
    """The opcode of RoCE's base transport header, 8 bits."""
    tcp_flags: Bits | None = None
    interfaces: tuple[str, ...] = ()
    """The ports by which packets come or go, where the entry names some of those that the list is bound to."""
    far_interfaces: tuple[str, ...] = ()
    """The ports on the other side of the switch: where packets leave that are filtered where they come, or came."""
    others: tuple[str, ...] = ()
    """Conditions that the model does not have, in the words of the file: the entry may match less."""
    dscp: int | None = None
    """The DSCP that it sets."""
    traffic_class: int | None = None
    """The traffic class that it sets."""
    redirects: str | None = None
    """Where it sends packets instead of where the route leads, in the words of the file."""
    polices: bool = False
    """Whether what is above a rate is dropped."""
    mirrors: bool = False
    refused: str | None = None


@model_dataclass
class Binding:
    """An interface, port channel or VLAN at which a list acts; None is every port of the switch."""

    interface: str | None
    stage: AccessListStage

    @property
    def key(self) -> str:
        """The binding's name in a subject: stage and interface."""
        return self.stage if self.interface is None else f"{self.stage} {self.interface}"


@model_dataclass
class AccessList:
    """An access list: the first entry that matches decides, and `otherwise` where none does.

    An entry of a list for one `family` may match packets of the other, unless it has a condition of the family. UNKNOWN
    entries are those of a kind of list that is not read.
    """

    name: str
    entries: tuple[AccessEntry, ...] | Unknown = ()
    family: AddressFamily | None = None
    otherwise: Literal["permit", "deny"] | Unknown = "permit"
    own_packets: bool | Unknown = UNKNOWN
    """Whether the list also filters packets that the switch itself sends, such as those of BGP."""
    bindings: tuple[Binding, ...] = ()
