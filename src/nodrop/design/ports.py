"""The interfaces of a switch: cabled ones with their QoS, the others shut."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from nodrop.design.addressing import AddressPlan, LinkAddresses
from nodrop.design.balancing import has_adaptive_routing
from nodrop.design.boxes import PlannedSwitch
from nodrop.design.buffers import TierBuffers
from nodrop.design.cabling import CableProperties, HostCable
from nodrop.design.classes import ClassesAndQosMaps, build_scheduler, class_wred_profile, without_lossless
from nodrop.design.layout import FabricLayout
from nodrop.design.reserves import RESERVED_PURPOSES
from nodrop.design.splits import SplitPort, blocked_panels, split_ports
from nodrop.design.watchdog import FabricWatchdogTimers
from nodrop.hardware import switch
from nodrop.hardware.lanes import pluggable_lanes_of_switch_ports
from nodrop.hardware.ports import PortSplit
from nodrop.intent.network import Routing
from nodrop.model.fabric import Interface, Port, PortSide
from nodrop.model.qos import PriorityGroup, QosProfile, Queue
from nodrop.platforms import port_name
from nodrop.platforms.kit.traits import PlatformTraits, traits_of_platform

RS_FEC_FROM_LANE_MBPS = 50_000
"""RS-FEC is mandatory on PAM4 lanes (IEEE 802.3cd, 802.3ck); below, SONiC's own port maps state none."""


@dataclass(frozen=True, slots=True)
class Bond:
    """The port channel of a host's ports on a switch: its name, its addresses with prefix lengths, and the host."""

    name: str
    addresses: tuple[str, ...]
    host: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PortCable:
    """A cable seen from one of a switch's ports: its addresses, IPv4 first, and its far end."""

    port: Port
    splits: int
    """Into how many ports the panel port is split."""
    side: PortSide | None
    """None where a neighbor outside the fabric is."""
    cabling: CableProperties
    addresses: tuple[str, ...]
    """Of the port, with their prefix lengths; none where BGP goes by the interface, in a VLAN, and in a bond."""
    far: str
    """The far end, as a description: `spine1:Ethernet0`, `gpu3:nic1`."""
    far_addresses: tuple[str, ...] = ()
    """Of a switch at the far end, without prefix lengths."""
    peer: tuple[PlannedSwitch, SplitPort] | None = None
    """The switch at the far end and its port; None where a host is there."""
    group: str = ""
    """The group of the host at the far end; empty where a switch is there."""
    mtu_bytes: int | None = None
    """Of the port, where it is not that of the fabric."""
    external: str = ""
    """The neighbor outside the fabric at the far end, as the intent names it."""
    bond: Bond | None = None
    """The bond that the port is a member of."""


PortCables = Mapping[Port, PortCable]


def cables_by_port(layout: FabricLayout, address_plan: AddressPlan) -> dict[str, dict[Port, PortCable]]:
    """Return every switch's cables by port."""
    result: dict[str, dict[Port, PortCable]] = {node.name: {} for node in layout.switches.all}
    for cable in layout.fabric_cables:
        pairs = address_plan.link(cable)
        lower, upper = [pair.lower for pair in pairs], [pair.far for pair in pairs]
        ends = ((cable.lower, cable.lower_port, lower), (cable.upper, cable.upper_port, upper))
        for (node, jack, own_addresses), (peer, peer_port, peer_addresses) in (ends, ends[::-1]):
            result[node.name][jack.port] = PortCable(
                port=jack.port,
                splits=jack.splits,
                side="fabric",
                cabling=cable.cabling,
                addresses=_append_prefix_lengths(own_addresses, pairs),
                far_addresses=tuple(peer_addresses),
                far=f"{peer.name}:{platform_port_name(peer, peer_port)}",
                peer=(peer, peer_port),
            )
    for host_cable in layout.host_cables:
        pairs = address_plan.endpoint(host_cable)
        jack = host_cable.switch_port
        addresses = _append_prefix_lengths([pair.lower for pair in pairs], pairs)
        bond = _bond_of_cable(host_cable, addresses)
        result[host_cable.switch.name][jack.port] = PortCable(
            port=jack.port,
            splits=jack.splits,
            side="host",
            cabling=host_cable.cabling,
            addresses=() if bond else addresses,
            group=host_cable.group,
            bond=bond,
            far=f"{host_cable.host}:{host_port_name(host_cable)}",
        )
    for external_cable in layout.external_cables:
        jack = external_cable.switch_port
        result[external_cable.switch.name][jack.port] = PortCable(
            port=jack.port,
            splits=jack.splits,
            side=None,
            cabling=external_cable.cabling,
            addresses=external_cable.addresses,
            far_addresses=external_cable.far_addresses,
            far=f"{external_cable.neighbor} (external)",
            external=external_cable.neighbor,
            mtu_bytes=external_cable.mtu_bytes,
        )
    return result


def _append_prefix_lengths(addresses: list[str], pairs: tuple[LinkAddresses, ...]) -> tuple[str, ...]:
    return tuple(f"{address}/{pair.length}" for address, pair in zip(addresses, pairs, strict=True))


def _bond_of_cable(cable: HostCable, addresses: tuple[str, ...]) -> Bond | None:
    """Return the port channel that a cable is part of."""
    return Bond(port_channel_name(cable, cable.bond), addresses, cable.host) if cable.bond else None


def port_channel_name(cable: HostCable, first_jack: SplitPort) -> str:
    """Return the name of a cable's port channel: derived from its first port, to keep its name stable."""
    name = traits_of_platform(cable.switch.declaration.platform, cable.switch.declaration.version).port_channel
    number = (first_jack.port.panel - 1) * cable.switch.model.max_split + first_jack.port.split + 1
    return name.format(number)


def host_port_name(cable: HostCable) -> str:
    """Return how the fabric names a host's port."""
    return f"nic{cable.host_port}"


def platform_port_name(node: PlannedSwitch, port: SplitPort) -> str:
    """Return the platform's name of a port."""
    return _port_name_of(node.declaration.platform, node.model.name, port)


@lru_cache(maxsize=65536)
def _port_name_of(platform: str, model: str, jack: SplitPort) -> str:
    return port_name(platform, model, jack.port, jack.splits)


PriorityGroups = tuple[PriorityGroup, ...]


class QosProfileCache:
    """Makes each distinct QoS profile of a tier once."""

    def __init__(
        self,
        classes: ClassesAndQosMaps,
        timers: FabricWatchdogTimers | None,
        buffers: TierBuffers,
        *,
        history: bool,
        held: PlatformTraits,
        trims: bool,
    ) -> None:
        """`history` states whether the switches estimate the history of pauses, `held` the traits of their platform,
        `trims` whether they trim packets.
        """
        self._history, self._held, self._trims = history, held, trims
        self._classes, self._timers, self._buffers = classes, timers, buffers
        self._made: dict[tuple[PortSide | None, int, PriorityGroups], QosProfile] = {}
        self._of: dict[tuple[PortSide | None, int, int], QosProfile] = {}

    def profile_for_side_speed_and_cable(self, side: PortSide | None, speed_mbps: int, length_m: int) -> QosProfile:
        """Return the profile of a port towards `side` at that speed, with a cable of that length.

        A side of None is a neighbor outside the fabric, where no class is lossless.
        """
        key = (side, speed_mbps, length_m)
        if key not in self._of:
            lossless = () if side is None else self._classes.lossless
            groups = self._buffers.priority_groups_of_port(lossless, speed_mbps, length_m)
            same = (side, speed_mbps, groups)
            if same not in self._made:
                self._made[same] = self._make_qos_profile(side, speed_mbps, groups)
            self._of[key] = self._made[same]
        return self._of[key]

    def configured_cable_m(self, speed_mbps: int, length_m: int) -> int:
        """Return the length of a cable in the switch's configuration."""
        return self._buffers.configured_cable_m(speed_mbps, length_m)

    def _make_qos_profile(self, side: PortSide | None, speed_mbps: int, groups: PriorityGroups) -> QosProfile:
        classes, buffers = (self._classes if side else without_lossless(self._classes)), self._buffers
        timers = self._timers and side and (self._timers.hosts if side == "host" else self._timers.fabric)
        queues = tuple(
            Queue(
                index=wanted_traffic_class.priority,
                scheduler=build_scheduler(wanted_traffic_class, speed_mbps, guaranteed=self._held.strict_guarantees),
                wred=class_wred_profile(wanted_traffic_class),
                buffer=buffers.egress_queue_buffer(
                    wanted_traffic_class.priority in classes.lossless,
                    trimmed=purpose == "rdma" and self._trims,
                    reserved=purpose in RESERVED_PURPOSES,
                ),
            )
            for wanted_traffic_class, purpose in self._classes.wanted
        )
        # libyang 1, with which SONiC reads files up to 202511, refuses a map without a row, and the whole file with it
        groups_map = buffers.maps_pause_to_groups and bool(classes.lossless)
        return QosProfile(
            trust="dscp",
            dscp_to_tc=classes.dscp_to_tc,
            tc_to_queue=classes.tc_to_queue,
            tc_to_priority_group=classes.tc_to_priority_group,
            pfc_to_queue=classes.pfc_to_queue,
            pfc_to_priority_group=classes.pfc_to_priority_group if groups_map else None,
            pfc_rx_priorities=classes.lossless,
            pfc_tx_priorities=classes.lossless,
            pfc_watchdog=timers.watchdog(classes.lossless, history=self._history) if timers else None,
            priority_groups=groups,
            queues=queues,
            ingress_buffers=buffers.ingress,
            egress_buffers=buffers.egress,
        )


def design_interfaces(
    mtu_bytes: int,
    routing: Routing,
    node: PlannedSwitch,
    cables: PortCables,
    profiles: QosProfileCache,
    shipped_splits: Mapping[int, int],
) -> tuple[Interface, ...]:
    """Return all ports of a switch, in the order of its panel.

    A panel port is split where a cable needs it to be; one that has no cable is as `shipped_splits` has it, else whole.
    """
    into = {**shipped_splits, **{wire.port.panel: wire.splits for wire in cables.values()}}
    splits = frozenset((panel, split_count) for panel, split_count in into.items() if split_count > 1)
    used = frozenset(
        (cable.port.panel, cable.cabling.port_lanes) for cable in cables.values() if cable.cabling.port_lanes
    )
    return tuple(
        _make_cabled_port(mtu_bytes, routing, node.model.name, platform_port_name(node, jack), breakout, wire, profiles)
        if (wire := cables.get(port))
        else _make_shut_port(node, platform_port_name(node, jack), breakout, port)
        for breakout, jack, port in _ports_with_splits(node.model.name, splits, used)
    )


@lru_cache(maxsize=1024)
def _ports_with_splits(
    model: str, splits: frozenset[tuple[int, int]], used: frozenset[tuple[int, int]]
) -> tuple[tuple[PortSplit, SplitPort, Port], ...]:
    """Return all ports of a model with some panel ports split, or with so many of their lanes in use."""
    facts, into, lanes = switch(model), dict(splits), dict(used)
    lost = blocked_panels(facts, into)
    return tuple(
        (breakout, jack, jack.port)
        for group in facts.ports
        for panel in group.panels
        if panel not in lost and (breakout := group.find_split_with_lanes(into.get(panel, 1), lanes.get(panel)))
        for jack in split_ports((panel,), breakout.into)
    )


def _make_shut_port(node: PlannedSwitch, name: str, breakout: PortSplit, port: Port) -> Interface:
    """Return a port without a cable: of a file that states its state, and what every port has to state."""
    spare = traits_of_platform(node.declaration.platform, node.declaration.version).spare
    facts = {"speed_mbps": breakout.speeds[0], **spare}
    return Interface(name=name, port=port, enabled=False, lanes=breakout.lanes, side=None, **facts)


def _make_cabled_port(
    mtu_bytes: int,
    routing: Routing,
    model: str,
    name: str,
    breakout: PortSplit,
    wire: PortCable,
    profiles: QosProfileCache,
) -> Interface:
    speed = wire.cabling.speed_mbps
    return Interface(
        name=name,
        port=wire.port,
        enabled=True,
        speed_mbps=speed,
        lanes=breakout.lanes,
        fec=wire.cabling.fec_required_by_standard(
            pluggable_lanes_of_switch_ports(model, (wire.port.panel,), breakout.lanes, speed)
        ),
        autoneg=True if wire.cabling.media.passive else None,
        advertised_speeds_mbps=(speed,) if wire.cabling.media.passive else None,
        mtu_bytes=wire.mtu_bytes or mtu_bytes,
        addresses=wire.addresses,
        link_local=not wire.addresses and wire.side == "fabric",
        description=wire.far,
        cable_length_m=profiles.configured_cable_m(speed, wire.cabling.length_m),
        adaptive_routing=has_adaptive_routing(routing, wire.side),
        qos=profiles.profile_for_side_speed_and_cable(wire.side, speed, wire.cabling.length_m),
        side=wire.side,
    )


def fec_for_lane_rate(lane_mbps: int) -> Literal["rs"] | None:
    """Return the FEC of a port by its lane rate; None states none (a 25G service port)."""
    return "rs" if lane_mbps >= RS_FEC_FROM_LANE_MBPS else None
