"""What makes several switches look like one, and what traffic is carried in: facts that rules about priorities need.

Traffic that goes sideways between two switches, or that leaves a switch in a tunnel, breaks the order of up and down
that keeps lossless fabrics free of deadlock, or loses its class on the way.
"""

from typing import Literal

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
    tunnel's own, or is worked out from the traffic class; None leaves it to the ASIC."""
    dscp_after: Literal["kept", "copied", "derived"] | None | Unknown = None
    """What the DSCP is when a packet comes out: that from inside, that from outside, or one worked out from the traffic
    class; None where the tunnel has no such setting."""
    remapped: bool
    """Whether what goes in and what comes out is mapped to other priorities than what is not tunnelled."""
