"""The interfaces of a switch: cabled ones with their QoS, the others shut."""

from dataclasses import dataclass
from typing import Literal

from nodrop.design.addressing import Plan, dotted
from nodrop.design.buffers import Buffers
from nodrop.design.classes import Classes, scheduler, wred
from nodrop.design.layout import Cabling, HostCable, Layout, Node
from nodrop.design.watchdog import Timers
from nodrop.fabric.fabric import Interface, Port, Side
from nodrop.fabric.qos import PfcWatchdog, QosProfile, Queue
from nodrop.hardware.naming import port_name
from nodrop.intent.schema import Intent

RS_FEC_FROM_LANE_MBPS = 50_000
"""RS-FEC is mandatory on PAM4 lanes (IEEE 802.3cd, 802.3ck); below, SONiC's own port maps state none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """A cable seen from one of a switch's ports."""

    port: Port
    side: Side
    cabling: Cabling
    address: str
    far: str
    """The far end, as a description: `spine1:Ethernet0`, `gpu3:nic1`."""


def wires(layout: Layout, plan: Plan) -> dict[str, dict[Port, Wire]]:
    """Return every switch's cables by port."""
    result: dict[str, dict[Port, Wire]] = {node.name: {} for node in layout.nodes}
    for cable in layout.fabric_cables:
        low = plan.link(cable)
        for near, far, address in ((0, 1, low), (1, 0, low + 1)):
            ends = ((cable.lower, cable.lower_port), (cable.upper, cable.upper_port))
            (node, port), (peer, peer_port) = ends[near], ends[far]
            result[node.name][port] = Wire(
                port=port,
                side="fabric",
                cabling=cable.cabling,
                address=f"{dotted(address)}/31",
                far=f"{peer.name}:{name_of(peer, peer_port)}",
            )
    for host_cable in layout.host_cables:
        result[host_cable.leaf.name][host_cable.leaf_port] = Wire(
            port=host_cable.leaf_port,
            side="host",
            cabling=host_cable.cabling,
            address=f"{dotted(plan.endpoint(host_cable))}/31",
            far=f"{host_cable.host}:{host_port_name(host_cable)}",
        )
    return result


def host_port_name(cable: HostCable) -> str:
    """Return how the fabric names a host's port."""
    return f"nic{cable.host_port}"


def name_of(node: Node, port: Port) -> str:
    """Return the platform's name of an unsplit port."""
    return port_name(node.tier.platform, node.model.name, port)


class Profiles:
    """Makes each distinct QoS profile of a switch once."""

    def __init__(self, intent: Intent, classes: Classes, timers: Timers, buffers: Buffers) -> None:
        self._intent, self._classes, self._timers, self._buffers = intent, classes, timers, buffers
        self._made: dict[tuple[Side, int], QosProfile] = {}

    def of(self, side: Side, speed_mbps: int) -> QosProfile:
        """Return the profile of a port towards `side` at that speed."""
        key = (side, speed_mbps)
        if key not in self._made:
            self._made[key] = self._make(self._timers.hosts if side == "host" else self._timers.fabric, speed_mbps)
        return self._made[key]

    def _make(self, watchdog: PfcWatchdog | None, speed_mbps: int) -> QosProfile:
        classes, buffers = self._classes, self._buffers
        queues = tuple(
            Queue(
                index=wanted.priority,
                scheduler=scheduler(wanted, speed_mbps),
                wred=wred(wanted),
                buffer=buffers.queue(wanted.lossless),
            )
            for wanted in sorted(self._intent.classes.values(), key=lambda wanted: wanted.priority)
        )
        return QosProfile(
            trust="dscp",
            dscp_to_tc=classes.dscp_to_tc,
            tc_to_queue=classes.tc_to_queue,
            tc_to_priority_group=classes.tc_to_priority_group,
            pfc_to_queue=classes.pfc_to_queue,
            pfc_to_priority_group=classes.pfc_to_priority_group,
            pfc_rx_priorities=classes.lossless,
            pfc_tx_priorities=classes.lossless,
            pfc_watchdog=watchdog,
            priority_groups=buffers.groups(classes.lossless),
            queues=queues,
            ingress_buffers=buffers.ingress,
            egress_buffers=buffers.egress,
        )


def interfaces(intent: Intent, node: Node, cables: dict[Port, Wire], profiles: Profiles) -> tuple[Interface, ...]:
    """Return all ports of a switch, in the order of its panel."""
    return tuple(
        _interface(intent, node, group_lanes, max_speed, Port(panel), cables, profiles)
        for group_lanes, max_speed, panel in (
            (group.lanes, group.speeds[0], panel) for group in node.model.ports for panel in group.panels
        )
    )


def _interface(
    intent: Intent,
    node: Node,
    lanes: int,
    max_speed_mbps: int,
    port: Port,
    cables: dict[Port, Wire],
    profiles: Profiles,
) -> Interface:
    wire = cables.get(port)
    speed = wire.cabling.speed_mbps if wire else max_speed_mbps
    fec = fec_of(speed // lanes)
    name = name_of(node, port)
    if wire is None:
        return Interface(
            name=name, port=port, enabled=False, speed_mbps=speed, lanes=lanes, fec=fec, mtu_bytes=intent.mtu, side=None
        )
    return Interface(
        name=name,
        port=port,
        enabled=True,
        speed_mbps=speed,
        lanes=lanes,
        fec=fec,
        autoneg=True if wire.cabling.media.passive else None,
        mtu_bytes=intent.mtu,
        addresses=(wire.address,),
        description=wire.far,
        cable_length_m=wire.cabling.length_m,
        qos=profiles.of(wire.side, speed),
        side=wire.side,
    )


def fec_of(lane_mbps: int) -> Literal["rs"] | None:
    """Return the FEC of a port by its lane rate; None states none (a 25G service port)."""
    return "rs" if lane_mbps >= RS_FEC_FROM_LANE_MBPS else None
