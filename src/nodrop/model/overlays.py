"""What makes several switches look like one, and what traffic is carried in: facts that rules about priorities need.

Traffic that goes sideways between two switches, or that leaves a switch in a tunnel, breaks the order of up and down
that keeps lossless fabrics free of deadlock, or loses its class on the way.
"""

from typing import Literal

from nodrop.model.qos import NumberMap
from nodrop.model.states import Unknown
from nodrop.model.values import model_dataclass


@model_dataclass
class MultiChassis:
    """Another switch with which this one forms port channels (MCLAG, MLAG)."""

    peer_link: str | None
    """The interface or port channel between both, over which traffic goes when one has lost its own way."""
    port_channels: tuple[str, ...] = ()
    """Those that both have, in order."""


@model_dataclass
class Tunnel:
    """A tunnel that ends on the switch."""

    name: str
    kind: Literal["vxlan", "ip-in-ip"]
    dscp_mode: Literal["uniform", "pipe", "derived"] | None | Unknown
    """Whether the DSCP inside is copied to the outside (and back, where no field says that by itself), is one of the
    tunnel's own, or is computed from the traffic class; None leaves it to the ASIC."""
    dscp_after: Literal["kept", "copied", "derived"] | None | Unknown = None
    """What the DSCP is when a packet comes out: that from inside, that from outside, or one computed from the traffic
    class; None where the tunnel has no such setting."""
    near: str | None | Unknown = None
    """Its address on this switch, to which the other end sends."""
    far: str | None | Unknown = None
    """The address of the other end, to which this switch sends; None where packets only come out here."""
    sender: str | None | Unknown = None
    """The only address whose packets come out here; None where those of all do."""
    tc_to_dscp: NumberMap | None | Unknown = None
    """The DSCP outside, by the traffic class of the packet inside."""
    tc_to_queue: NumberMap | None | Unknown = None
    """The queue by which packets in the tunnel leave this switch, by the traffic class of the packet inside."""
    dscp_to_tc: NumberMap | None | Unknown = None
    """The traffic class of packets that come out."""
    tc_to_priority_group: NumberMap | None | Unknown = None
    """The priority group of packets that come out."""

    @property
    def hides_dscp(self) -> bool:
        """Whether the DSCP outside is neither that inside nor one that a map gives to the traffic class inside."""
        return self.dscp_mode == "pipe" and self.tc_to_dscp is None

    @property
    def remapped(self) -> bool:
        """Whether it has maps for packets that go in and for those that come out, apart from the maps of ports."""
        maps = (self.tc_to_dscp, self.tc_to_queue, self.dscp_to_tc, self.tc_to_priority_group)
        return all(table is not None for table in maps)


@model_dataclass
class MuxCable:
    """A port to a server with a second leaf: which of both leaves sends to the server."""

    interface: str
    servers: tuple[str, ...]
    """The prefixes of the server, as they are written."""
    state: Literal["auto", "manual", "detach", "active", "standby"] | Unknown
    """Whether this leaf is the active or the standby one; all others mean that the leaves decide it."""
