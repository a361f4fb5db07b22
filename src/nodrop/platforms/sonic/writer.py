"""From a device to config_db.json and frr.conf; what SONiC cannot say is refused, nothing is repaired."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, NamedTuple

from nodrop.errors import Unsupported
from nodrop.fabric.buffers import BufferProfile
from nodrop.fabric.fabric import Device, End, Fabric, Interface
from nodrop.fabric.qos import COLORS, QosProfile
from nodrop.fabric.states import Unknown
from nodrop.hardware import switch, switches
from nodrop.hardware.naming import port_name
from nodrop.hardware.schema import Switch
from nodrop.platforms import frr
from nodrop.platforms.artifact import Artifact
from nodrop.platforms.rendering import template, tidy
from nodrop.platforms.sonic.spelling import Spelling, pool_name, ranges, stated
from nodrop.platforms.sonic.tables import (
    ALL_PRIORITIES,
    COMPUTED,
    ECN_NAME,
    HASH_SEED_OF_TYPE,
    MAPS,
    TYPE_OF_ROLE,
)

_CACHED_DESIGNS = 128


def write(device: Device, fabric: Fabric) -> tuple[Artifact, ...]:
    """Return the device's files; Unsupported names the model path that SONiC cannot express."""
    facts = _model(device)
    _check(device)
    far = _far_ends(device, fabric)
    ports = [_port(device, facts, interface) for interface in device.interfaces]
    kind = TYPE_OF_ROLE[device.role] if isinstance(device.role, str) else ""
    tables = (
        _render("device", device=device, sonic=facts.sonic, kind=kind),
        _render("ports", device=device, ports=ports, far=far),
        _qos(device),
        _render("services", device=device, vrf=_services_vrf(device)),
    )
    text = "{\n" + "".join(tables).removesuffix(",\n") + "\n}\n"
    config = Artifact(device=device.name, path="config_db.json", text=text)
    bgp = stated(device.bgp, "bgp")
    if bgp is None:
        return (config,)
    return (config, Artifact(device=device.name, path="frr.conf", text=frr.write(device)))


def _render(name: str, **names: Any) -> str:
    return tidy(template(f"sonic/{name}.json.j2").render(**names))


def _services_vrf(device: Device) -> str:
    management = stated(device.management, "management")
    return "mgmt" if management is not None and management.own_vrf else "default"


def _model(device: Device) -> Switch:
    model = stated(device.model, "model")
    if model not in switches():
        raise Unsupported("model", f"{model} is not in the catalogue, so its ports cannot be spelt")
    return switch(model)


def _check(device: Device) -> None:
    """Refuse what no table of config_db holds."""
    role = stated(device.role, "role")
    if role not in TYPE_OF_ROLE:
        raise Unsupported("role", f"{role} has no DEVICE_METADATA.type; known: {', '.join(TYPE_OF_ROLE)}")
    seed = stated(device.hash_seed, "hash_seed")
    if seed != HASH_SEED_OF_TYPE[TYPE_OF_ROLE[role]]:
        raise Unsupported("hash_seed", f"{TYPE_OF_ROLE[role]} has seed {HASH_SEED_OF_TYPE[TYPE_OF_ROLE[role]]}")
    if not str(stated(device.version, "version")).isdigit():
        raise Unsupported("version", "VERSIONS names releases by number, such as 202505")
    for pool in stated(device.buffer_pools, "buffer_pools"):
        if pool.computed and device.buffer_model != "dynamic":
            raise Unsupported(f"buffer_pools/{pool.name}", "only the dynamic buffer model computes a pool's size")
    if device.bgp is None and device.static_routes:
        raise Unsupported("static_routes", "are written into frr.conf, which a device without BGP does not have")
    if device.trimming is not None and not isinstance(device.trimming, Unknown) and device.trimming.queue is None:
        raise Unsupported("trimming/queue", "trimming needs a queue")
    checked: set[int] = set()
    for interface in device.interfaces:
        if stated(interface.vrf, f"interfaces/{interface.name}/vrf") is not None:
            raise Unsupported(f"interfaces/{interface.name}/vrf", "VRFs of fabric ports are not written")
        if isinstance(interface.qos, QosProfile) and id(interface.qos) not in checked:
            checked.add(id(interface.qos))
            _check_qos(device, interface, interface.qos)


def _check_qos(device: Device, interface: Interface, qos: QosProfile) -> None:
    path = f"interfaces/{interface.name}/qos"
    if stated(qos.trust, f"{path}/trust") != trust_of(qos):
        raise Unsupported(f"{path}/trust", f"a SONiC port with these maps trusts {trust_of(qos)}")
    if pause_spelling(qos) is None:
        raise Unsupported(f"{path}/pfc_rx_priorities", "PFC is symmetric, or receives on all eight priorities")
    watchdog = stated(qos.pfc_watchdog, f"{path}/pfc_watchdog")
    if watchdog and watchdog == type(watchdog)(priorities=(), detection_ms=None, restoration_ms=None, action=None):
        raise Unsupported(f"{path}/pfc_watchdog", "a watchdog that says nothing is an empty row")
    dynamic = stated(device.dynamic_buffers, "dynamic_buffers")
    for group in stated(qos.priority_groups, f"{path}/priority_groups"):
        buffer = stated(group.buffer, f"{path}/priority_groups/{group.index}/buffer")
        headroom = buffer.headroom if buffer else None
        if (
            headroom is not None
            and headroom.computed
            and (dynamic is None or buffer != computed_profile(dynamic.dynamic_th, buffer))
        ):
            where = f"{path}/priority_groups/{group.index}/buffer"
            raise Unsupported(where, "a computed headroom takes pool and threshold from the switch's default")


def computed_profile(dynamic_th: int, buffer: BufferProfile) -> BufferProfile:
    """Return the profile that the switch makes for a computed headroom, with the sizes of `buffer`."""
    return BufferProfile(
        pool="ingress_lossless", size_bytes=buffer.size_bytes, dynamic_th=dynamic_th, headroom=buffer.headroom
    )


def trust_of(qos: QosProfile) -> str | None:
    """Return what a SONiC port trusts: what it has a map for."""
    by_dscp, by_pcp = qos.dscp_to_tc is not None, qos.pcp_to_tc is not None
    return "both" if by_dscp and by_pcp else "dscp" if by_dscp else "pcp" if by_pcp else None


def pause_spelling(qos: QosProfile) -> tuple[tuple[int, ...], bool] | None:
    """Return (pfc_enable, asymmetric), or None where SONiC cannot pause so.

    `pfc_asym: on` sends on pfc_enable and receives on all priorities (sonic-swss portsorch.cpp setPortPfcAsym).
    """
    received = stated(qos.pfc_rx_priorities, "qos/pfc_rx_priorities")
    sent = stated(qos.pfc_tx_priorities, "qos/pfc_tx_priorities")
    if received == sent:
        return sent, False
    return (sent, True) if received == ALL_PRIORITIES else None


def _far_ends(device: Device, fabric: Fabric) -> list[tuple[str, End]]:
    """Return (port, far end) of the device's links, in the order of its ports."""
    far: dict[str, End] = {}
    for link in fabric_links(fabric).get(device.name, ()):
        near, other = (link.a, link.b) if link.a.node == device.name else (link.b, link.a)
        far[near.port] = other
    return [(interface.name, far[interface.name]) for interface in device.interfaces if interface.name in far]


_LINKS: list[tuple[Fabric, dict[str, list[Any]]]] = []


def fabric_links(fabric: Fabric) -> dict[str, list[Any]]:
    """Return the links of each node; worked out once for the fabric that is being written."""
    if not _LINKS or _LINKS[0][0] is not fabric:
        by_node: dict[str, list[Any]] = {}
        for link in fabric.links:
            for node in {link.a.node, link.b.node}:
                by_node.setdefault(node, []).append(link)
        _LINKS[:] = [(fabric, by_node)]
    return _LINKS[0][1]


class _PortRow(NamedTuple):
    """A row of PORT, and the port's addresses."""

    name: str
    alias: str
    index: int
    lanes: str
    speed: int | None
    enabled: bool
    mtu: int | None
    fec: str | None
    autoneg: str | None
    link_training: str | None
    description: str | None
    asymmetric: bool
    addresses: tuple[str, ...]


def _port(device: Device, facts: Switch, interface: Interface) -> "_PortRow":
    """Return a port's row: alias, index and lanes are the SKU's own."""
    where = f"interfaces/{interface.name}"
    port, lanes = stated(interface.port, f"{where}/port"), stated(interface.lanes, f"{where}/lanes")
    group = facts.group(port.panel) if port else None
    if port is None or group is None or not lanes or group.lanes % lanes:
        raise Unsupported(where, f"{facts.name} has no such port")
    splits = group.lanes // lanes
    if interface.name != port_name("sonic", facts.name, port, splits):
        raise Unsupported(f"{where}/name", f"port {port.panel} of {facts.name} has another name in SONiC")
    if splits > 1:
        raise Unsupported(f"{where}/lanes", "broken-out ports are not written")
    first = (port.panel - 1) * facts.sonic.lane_stride
    qos = interface.qos
    return _PortRow(
        name=interface.name,
        alias=facts.sonic.alias.replace("{panel}", str(port.panel)),
        index=port.panel,
        lanes=",".join(str(lane) for lane in range(first, first + lanes)),
        speed=stated(interface.speed_mbps, f"{where}/speed_mbps"),
        enabled=stated(interface.enabled, f"{where}/enabled"),
        mtu=stated(interface.mtu_bytes, f"{where}/mtu_bytes"),
        fec=stated(interface.fec, f"{where}/fec"),
        autoneg=on_off(stated(interface.autoneg, f"{where}/autoneg")),
        link_training=on_off(stated(interface.link_training, f"{where}/link_training")),
        description=stated(interface.description, f"{where}/description"),
        asymmetric=isinstance(qos, QosProfile) and (pause_spelling(qos) or ((), False))[1],
        addresses=stated(interface.addresses, f"{where}/addresses"),
    )


def on_off(value: bool | None) -> str | None:
    """Spell a switch of a port; None is not written."""
    return None if value is None else "on" if value else "off"


_RENDERED: OrderedDict[Any, tuple[Any, str]] = OrderedDict()


def _qos(device: Device) -> str:
    """Return all QoS tables: rendered once for all devices that have the same ports, profiles and buffers."""
    ports = [port for port in device.interfaces if stated(port.qos, f"interfaces/{port.name}/qos") is not None]
    cables = tuple((port.name, port.cable_length_m) for port in device.interfaces if port.cable_length_m is not None)
    key = (
        tuple((port.name, id(port.qos), port.speed_mbps) for port in ports),
        cables,
        *(
            stated(getattr(device, part), part)
            for part in ("switch_dscp_to_tc", "watchdog_polling_ms", "buffer_pools", "dynamic_buffers", "trimming")
        ),
    )
    if key not in _RENDERED:
        spelling = Spelling(device, ports)
        names = {"device": device, "ports": ports, "cables": cables, "spelling": spelling, "say": _Say(spelling)}
        kept = [port.qos for port in ports]  # holds the profiles, so that their ids stay theirs
        _RENDERED[key] = (kept, "".join(_render(name, **names) for name in ("maps", "bindings", "buffers")))
        if len(_RENDERED) > _CACHED_DESIGNS:
            _RENDERED.popitem(last=False)
    return _RENDERED[key][1]


class _Say:
    """The words that the QoS templates ask for."""

    colors = COLORS
    maps = MAPS
    ecn = ECN_NAME
    computed = COMPUTED

    def __init__(self, spelling: Spelling) -> None:
        self._names = spelling

    def priorities(self, numbers: tuple[int, ...]) -> str:
        """Spell priorities: `3,4`."""
        return ",".join(map(str, numbers))

    def pause(self, port: Interface) -> str:
        """Spell `pfc_enable`."""
        assert isinstance(port.qos, QosProfile)
        return self.priorities((pause_spelling(port.qos) or ((), False))[0])

    def bound(self, port: Interface) -> Iterator[tuple[str, str]]:
        """Yield (field of PORT_QOS_MAP, name of the map) for a port."""
        for attribute, (_, field, _) in MAPS.items():
            value = getattr(port.qos, attribute)
            if value is not None:
                yield field, self._names.map(attribute, value)

    def pool(self, name: str) -> str:
        """Spell a pool."""
        return pool_name(name)

    def profile(self, buffer: BufferProfile) -> str:
        """Spell a buffer profile."""
        return self._names.profiles.by_value[buffer]

    def profile_list(self, buffers: tuple[BufferProfile, ...]) -> str:
        """Spell a port's list of profiles."""
        return ",".join(map(self.profile, buffers))

    def groups(self, port: Interface) -> Iterator[tuple[str, str]]:
        """Yield (range of priority groups, profile) for a port."""
        assert isinstance(port.qos, QosProfile)
        yield from self._ranged(
            (
                group.index,
                COMPUTED if group.buffer.headroom and group.buffer.headroom.computed else self.profile(group.buffer),
            )
            for group in stated(port.qos.priority_groups, "qos/priority_groups")
        )

    def queue_buffers(self, port: Interface) -> Iterator[tuple[str, str]]:
        """Yield (range of queues, profile) for a port."""
        assert isinstance(port.qos, QosProfile)
        yield from self._ranged(
            (queue.index, self.profile(queue.buffer)) for queue in stated(port.qos.queues, "qos/queues") if queue.buffer
        )

    @staticmethod
    def _ranged(rows: Iterator[tuple[int, str]]) -> Iterator[tuple[str, str]]:
        by_profile: dict[str, list[int]] = {}
        for index, profile in rows:
            by_profile.setdefault(profile, []).append(index)
        for profile, indexes in by_profile.items():
            for span in ranges(indexes):
                yield span, profile
