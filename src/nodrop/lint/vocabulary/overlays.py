"""Words about tunnels and pairs of switches: whether what is carried there keeps its class and pauses nobody."""

from nodrop.fabric.fabric import Device
from nodrop.fabric.overlays import Tunnel
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import Unknown, known, surely_off, those_known
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
    ports = _ports(device, pair.peer_link)
    paused: set[int] = set()
    for interface in device.interfaces:
        if interface.name in ports and isinstance(qos := known(interface.qos, "interface.qos"), QosProfile):
            paused.update(known(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities"))
    return tuple(sorted(paused))


@word("function", rests_on=("cables",))
def flooded_across(device: Device) -> str:
    """How a VLAN with lossless ports goes on to another switch: `VLAN 100 goes on to another switch by …`.

    The ports between two switches that form port channels with each other are left to the rule for them.
    """
    pair = device.multi_chassis
    peer = None if isinstance(pair, Unknown) or pair is None else pair.peer_link
    for vlan in those_known(device.vlans):
        ports = [name for one in vlan.members if one.interface != peer for name in _ports(device, one.interface)]
        if len(ports) > 1 and (found := _flooded(device, frozenset(ports))):
            return f"VLAN {vlan.id} goes on to another switch by {found[0]}, in priority {found[1]} as on {found[2]}"
    return ""


def _ports(device: Device, name: str) -> tuple[str, ...]:
    """The ports of a port channel, else the port itself."""
    channels = those_known(device.port_channels)
    return next((channel.members for channel in channels if channel.name == name), (name,))


def _flooded(device: Device, names: frozenset[str]) -> tuple[str, int, str] | None:
    """A port to another switch, a priority that it pauses, and another port that does."""
    paused: dict[int, list[str]] = {}
    onward: list[tuple[str, tuple[int, ...]]] = []
    for port in device.interfaces:
        if port.name not in names or surely_off(port.enabled) or not isinstance(port.qos, QosProfile):
            continue
        priorities = () if isinstance(port.qos.pfc_tx_priorities, Unknown) else port.qos.pfc_tx_priorities
        for priority in priorities:
            paused.setdefault(priority, []).append(port.name)
        if not isinstance(port.side, Unknown) and port.side == "fabric":
            onward.append((port.name, priorities))
    for name, priorities in onward:
        for priority in priorities:
            if other := next((one for one in paused[priority] if one != name), None):
                return name, priority, other
    return None
