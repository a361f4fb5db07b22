"""Words about tunnels and pairs of switches: whether the traffic carried there keeps its class and pauses nobody."""

from nodrop.engine.vocabulary import declare_word
from nodrop.model.bridging import Vlan
from nodrop.model.fabric import Device
from nodrop.model.overlays import Tunnel
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, is_known_off, known_rows, require_fact
from nodrop.platforms.kit.traits import newest_traits


@declare_word("function")
def tunnels_into_the_same_priority(tunnels: tuple[Tunnel, ...]) -> tuple[str, ...]:
    """Return the IP-in-IP tunnels whose traffic keeps the priority that it had before."""
    return tuple(tunnel.name for tunnel in tunnels if tunnel.kind == "ip-in-ip" and not tunnel.remapped)


@declare_word("function")
def tunnels_that_hide_the_dscp(tunnels: tuple[Tunnel, ...]) -> tuple[str, ...]:
    """Return the tunnels that neither copy the DSCP inside to the outside nor derive one from the traffic class."""
    return tuple(tunnel.name for tunnel in tunnels if tunnel.hides_dscp)


@declare_word("function")
def tunnels_that_derive_the_dscp(tunnels: tuple[Tunnel, ...]) -> tuple[str, ...]:
    """Return the tunnels that compute a DSCP from the traffic class, and which one: `vxlan (outside)`."""
    return tuple(
        f"{tunnel.name} ({' and '.join(directions)})"
        for tunnel in tunnels
        if (directions := _derived_dscp_directions(tunnel))
    )


def _derived_dscp_directions(tunnel: Tunnel) -> list[str]:
    if tunnel.dscp_mode == "pipe":
        return []
    return [
        *(["outside"] if tunnel.dscp_mode == "derived" else []),
        *(["inside, when unwrapped"] if tunnel.dscp_after == "derived" else []),
    ]


@declare_word("function")
def priorities_paused_on_peer_link(device: Device) -> tuple[int, ...]:
    """Return the PFC priorities of the ports between two switches that form port channels with each other."""
    pair = require_fact(device.multi_chassis, "device.multi_chassis")
    if pair is None or pair.peer_link is None:
        return ()
    ports = _member_ports_of(device, pair.peer_link)
    paused: set[int] = set()
    for interface in device.interfaces:
        if interface.name in ports and isinstance(qos := require_fact(interface.qos, "interface.qos"), QosProfile):
            paused.update(require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities"))
    return tuple(sorted(paused))


@declare_word("function", rests_on=("cables",))
def lossless_vlan_to_another_switch(device: Device) -> str:
    """How a VLAN with lossless ports reaches another switch: `VLAN 100 is bridged over …`.

    The ports between two switches that form port channels with each other are left to the rule for them.
    """
    pair = device.multi_chassis
    peer = None if isinstance(pair, Unknown) or pair is None else pair.peer_link
    for vlan in known_rows(device.vlans):
        ports = [
            name
            for member in vlan.members
            if member.interface != peer
            for name in _member_ports_of(device, member.interface)
        ]
        if len(ports) > 1 and (flood := _find_switch_port_reached_by_flooding(device, frozenset(ports))):
            port, priority, other = flood[:3]
            return f"VLAN {vlan.id} is bridged over {port} to another switch, with PFC {priority} there and on {other}"
    return ""


def _member_ports_of(device: Device, name: str) -> tuple[str, ...]:
    """Return the ports of a port channel, else the port itself."""
    channels = known_rows(device.port_channels)
    return next((channel.members for channel in channels if channel.name == name), (name,))


def _find_switch_port_reached_by_flooding(device: Device, names: frozenset[str]) -> tuple[str, int, str] | None:
    """Return a port to another switch, a priority that it pauses, and another port that does."""
    paused: dict[int, list[str]] = {}
    onward: list[tuple[str, tuple[int, ...]]] = []
    for port in device.interfaces:
        if port.name not in names or is_known_off(port.enabled) or not isinstance(port.qos, QosProfile):
            continue
        priorities = () if isinstance(port.qos.pfc_tx_priorities, Unknown) else port.qos.pfc_tx_priorities
        for priority in priorities:
            paused.setdefault(priority, []).append(port.name)
        if not isinstance(port.side, Unknown) and port.side == "fabric":
            onward.append((port.name, priorities))
    for name, priorities in onward:
        for priority in priorities:
            if other_port := next((port_name for port_name in paused[priority] if port_name != name), None):
                return name, priority, other_port
    return None


@declare_word("function")
def neighbors_outliving_macs(device: Device) -> str:
    """How neighbors are kept longer than MAC addresses, of a VLAN into which lossless traffic is routed; else nothing.

    The default of a time is that of the platform; platforms without such settings are skipped.
    """
    times = (device.mac_ageing_s, device.arp_reachable_s, device.nd_reachable_s)
    mac, arp, nd = (None if isinstance(time, Unknown) else time for time in times)
    traits = newest_traits(device.platform)
    if traits is None or traits.mac_ageing_s is None or traits.reachable_s is None:
        return ""
    if isinstance(device.mac_ageing_s, Unknown):
        return ""
    ageing = traits.mac_ageing_s if mac is None else mac
    for vlan in known_rows(device.vlans):
        families = {":" in address for address in vlan.all_addresses}
        neighbor_s = max(
            (time_s or traits.reachable_s for is_6, time_s in ((False, arp), (True, nd)) if is_6 in families), default=0
        )
        if neighbor_s > ageing and _is_multiport_vlan_with_pfc(device, vlan):
            return f"a neighbor in VLAN {vlan.id} is kept for {neighbor_s} s, and its MAC address for {ageing} s"
    return ""


def _is_multiport_vlan_with_pfc(device: Device, vlan: Vlan) -> bool:
    """Whether a VLAN has several ports, one with PFC at least."""
    names = {name for member in vlan.members for name in _member_ports_of(device, member.interface)}
    paused = (
        port.qos.pfc_tx_priorities
        for port in device.interfaces
        if port.name in names and not is_known_off(port.enabled) and isinstance(port.qos, QosProfile)
    )
    return len(vlan.members) > 1 and any(not isinstance(priorities, Unknown) and priorities for priorities in paused)
