"""Words about tunnels and pairs of switches: whether what is carried there keeps its class and pauses nobody."""

from nodrop.fabric.fabric import Device
from nodrop.fabric.overlays import Tunnel
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import known, those_known
from nodrop.lint.vocabulary import word


@word("function")
def tunnels_into_the_same_priority(tunnels: tuple[Tunnel, ...]) -> tuple[str, ...]:
    """The IP-in-IP tunnels whose traffic keeps the priority that it had before."""
    return tuple(tunnel.name for tunnel in tunnels if tunnel.kind == "ip-in-ip" and not tunnel.remapped)


@word("function")
def tunnels_that_hide_the_dscp(tunnels: tuple[Tunnel, ...]) -> tuple[str, ...]:
    """The tunnels that do not copy the DSCP inside to the outside."""
    return tuple(tunnel.name for tunnel in tunnels if tunnel.dscp_mode == "pipe")


@word("function")
def tunnels_that_derive_the_dscp(tunnels: tuple[Tunnel, ...]) -> tuple[str, ...]:
    """The tunnels that work a DSCP out from the traffic class, and which one: `vxlan (outside)`."""
    return tuple(f"{one.name} ({' and '.join(ways)})" for one in tunnels if (ways := _derived_ways(one)))


def _derived_ways(tunnel: Tunnel) -> list[str]:
    if tunnel.dscp_mode == "pipe":
        return []
    return [
        *(["outside"] if tunnel.dscp_mode == "derived" else []),
        *(["inside, when unwrapped"] if tunnel.dscp_after == "derived" else []),
    ]


@word("function")
def paused_on_the_peer_link(device: Device) -> tuple[int, ...]:
    """The PFC priorities of the ports between two switches that form port channels with each other."""
    pair = known(device.multi_chassis, "device.multi_chassis")
    if pair is None or pair.peer_link is None:
        return ()
    channels = those_known(device.port_channels)
    ports = next((channel.members for channel in channels if channel.name == pair.peer_link), (pair.peer_link,))
    paused: set[int] = set()
    for interface in device.interfaces:
        if interface.name in ports and isinstance(qos := known(interface.qos, "interface.qos"), QosProfile):
            paused.update(known(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities"))
    return tuple(sorted(paused))
