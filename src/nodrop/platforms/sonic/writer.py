"""From a device to config_db.json, frr.conf and apply/; SONiC's unsupported parts are refused, nothing is repaired."""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from nodrop.hardware.dynamic import (
    fill_in_computed_buffer_sizes,
    omit_computed_shared_headroom,
    speed_for_headroom_mbps,
)
from nodrop.hardware.ports import NarrowSplit, PortSplit
from nodrop.hardware.schema import SwitchModel
from nodrop.model.buffers import BufferPool, BufferProfile
from nodrop.model.compare import differences
from nodrop.model.fabric import Device, End, Interface, Port
from nodrop.model.index import Index
from nodrop.model.qos import COLORS, PriorityGroup, QosProfile
from nodrop.model.states import require_fact
from nodrop.model.values import replace_fields
from nodrop.platforms import frr
from nodrop.platforms.kit.artifact import Artifact
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.kit.rendering import drop_trailing_commas, load_template
from nodrop.platforms.kit.session_groups import group_name_by_far_end
from nodrop.platforms.sonic import additions, routing_tables
from nodrop.platforms.sonic.config import required_empty_table
from nodrop.platforms.sonic.delivery import apply_script, routing_mode
from nodrop.platforms.sonic.limits import breakout_of_port, check_expressible
from nodrop.platforms.sonic.naming import port_name
from nodrop.platforms.sonic.read_bridging import DEFAULT_MTU_BYTES
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE, has_feature
from nodrop.platforms.sonic.spelling import (
    QosObjectNames,
    format_ranges,
    lossless_profile_name,
    sonic_pool_name,
    vlan_name,
)
from nodrop.platforms.sonic.streams import TelemetryGroupRow, telemetry_rows_of_stream
from nodrop.platforms.sonic.tables import (
    COMPUTED_PROFILE_WORD,
    DEVICE_TYPE_BY_ROLE,
    ECN_WORD_BY_COLORS,
    TABLE_BY_MAP_ATTRIBUTE,
)

_T = TypeVar("_T")

_MAX_CACHED_RENDERINGS = 128


def write(device: Device, index: Index) -> tuple[Artifact, ...]:
    """Return the device's files; UnsupportedByPlatform names the model path that SONiC cannot express."""
    facts = check_expressible(device)
    device = _omit_settings_switch_recomputes(device)
    far = _far_ends(device, index)
    splits = _panel_split_by_port(facts, device)
    ports = [_port_row(facts, interface, splits[interface.name]) for interface in device.interfaces]
    tables = (
        _render_template(
            "device",
            device=device,
            sonic=facts.sonic,
            waits=_suppresses_fib_pending(device),
            **_bgp_container_settings(device),
        ),
        _render_channels_vlans_vrfs(device),
        _render_template(
            "ports",
            device=device,
            ports=ports,
            far=far,
            breakouts=list(_breakout_modes(facts, device, splits)),
            default_mtu=DEFAULT_MTU_BYTES,
        ),
        _render_qos(device, facts),
        _render_template("services", device=device, vrf=_services_vrf(device), groups=list(_telemetry_groups(device))),
        _render_template(
            "switch",
            device=device,
            hashed=list(_hash_field_words(device)),
            database=DATABASE_VERSION_BY_RELEASE[str(device.version)],
        ),
        _render_routing_config_tables(device),
    )
    text = additions.add_to_config_db("{\n" + "".join(tables).removesuffix(",\n") + "\n}\n", device)
    config = Artifact(device=device.name, path="config_db.json", text=text)
    if device.bgp is None:
        return (config,)
    in_tables = require_fact(device.routing_tables)
    script = apply_script(str(device.version), tables=in_tables)
    apply = Artifact(device=device.name, path="apply/apply.sh", text=script)
    if in_tables:
        return (config, apply)
    text = additions.add_to_frr_conf(frr.render_frr_conf(device, group_name_by_far_end(device, index)), device)
    routing = Artifact(device=device.name, path="frr.conf", text=text)
    return (config, routing, apply)


def _render_template(name: str, **names: object) -> str:
    return drop_trailing_commas(load_template(f"sonic/{name}.json.j2").render(**names))


def _render_channels_vlans_vrfs(device: Device) -> str:
    """Return port channels, VLANs and VRFs, with the addresses that the switch has in them; mostly there are none.

    Port channels without any member have an empty table of these: without it, a file is a part of a configuration.
    """
    channels, vlans = require_fact(device.port_channels), require_fact(device.vlans)
    holders: tuple[Any, ...] = (*device.interfaces, *require_fact(device.loopbacks), *channels, *vlans)
    vrfs = {row.vrf for row in holders} - {None}
    if not (channels or vlans or vrfs):
        return ""
    addresses = {
        "PORTCHANNEL_INTERFACE": [(row.name, row) for row in channels],
        "VLAN_INTERFACE": [(vlan_name(row.id), row) for row in vlans],
    }
    tables = (_render_template("addresses", table=table, rows=rows) for table, rows in addresses.items())
    text = _render_template("bridging", device=device, vrfs=sorted(vrfs), vlan_name=vlan_name) + "".join(tables)
    is_without_members = channels and not any(channel.members for channel in channels)
    return f'{text}    "PORTCHANNEL_MEMBER": {{}},\n' if is_without_members else text


def _bgp_container_settings(device: Device) -> dict[str, object]:
    """Return the settings that the bgp container needs: its mode, and whether the management framework runs.

    The framework alone reads tables of BGP, and it alone starts bfdd. frrcfgd then runs in place of bgpcfgd. Without
    tables it does not change frr.conf (sonic-buildimage dockers/docker-fpm-frr/frr/supervisord, the same in every
    release).
    """
    tables = require_fact(device.routing_tables)
    with_bfd = isinstance(device.neighbors, tuple) and any(neighbor.bfd for neighbor in device.neighbors)
    kind = DEVICE_TYPE_BY_ROLE[require_fact(device.role)]
    return {"kind": kind, "mode": routing_mode(tables=tables), "framework": tables or with_bfd}


def _render_routing_config_tables(device: Device) -> str:
    """Return the tables of BGP and static routes, if that is where they are."""
    tables = routing_tables.build_config_tables_of_routing(device) if require_fact(device.routing_tables) else {}
    return "".join(f"{additions.spell_table(name, rows)},\n" for name, rows in tables.items())


def _suppresses_fib_pending(device: Device) -> bool:
    """Whether fpmsyncd has to answer zebra only once orchagent has a route in the hardware."""
    running = (require_fact(device.bgp), *require_fact(device.vrf_bgp))
    return any(bgp is not None and bgp.suppress_fib_pending is True for bgp in running)


def _hash_field_words(device: Device) -> Iterator[str]:
    """Yield the fields of the hash in SONiC's words."""
    for field in require_fact(device.hash_fields) or ():
        yield field.upper().replace("-", "_")


def _telemetry_groups(device: Device) -> Iterator[TelemetryGroupRow]:
    """Yield the rows of groups of high-frequency telemetry, sorted by key."""
    yield from sorted(
        group for stream in require_fact(device.high_frequency) for group in telemetry_rows_of_stream(stream)
    )


def _services_vrf(device: Device) -> str:
    management = require_fact(device.management)
    return "mgmt" if management is not None and management.own_vrf else "default"


_STATED_POOLS_CACHE: OrderedDict[object, tuple[BufferPool, ...]] = OrderedDict()


def _omit_settings_switch_recomputes(device: Device) -> Device:
    """Return the device as its tables state it, the rest left to the switch, which must result in the same device.

    This is computed once for all devices that have the same ports, profiles and pools.
    """
    if device.buffer_model != "dynamic":
        return device
    ports = device.interfaces
    of_ports = tuple(
        (p.qos, p.enabled, speed_for_headroom_mbps(device, p), p.lanes, p.mtu_bytes, p.cable_length_m) for p in ports
    )
    key = (device.model, device.version, of_ports, device.buffer_pools, device.dynamic_buffers)
    if key not in _STATED_POOLS_CACHE:
        _cache_value(_STATED_POOLS_CACHE, key, _omit_recomputable_shared_headroom(device))
    return replace_fields(device, buffer_pools=_STATED_POOLS_CACHE[key])


def _cache_value(memory: OrderedDict[object, _T], key: object, value: _T) -> None:
    memory[key] = value
    if len(memory) > _MAX_CACHED_RENDERINGS:
        memory.popitem(last=False)


def _omit_recomputable_shared_headroom(device: Device) -> tuple[BufferPool, ...]:
    """Return the pools, with shared headroom only if the switch would not compute exactly that size."""
    bare = omit_computed_shared_headroom(device)
    for stated in (bare, device):
        if _have_same_buffers(fill_in_computed_buffer_sizes(stated), device):
            return require_fact(stated.buffer_pools)
    difference = next(differences(fill_in_computed_buffer_sizes(bare), device))
    raise unsupported_error(difference.path, f"the switch computes {difference.a}")


def _have_same_buffers(device: Device, other_device: Device) -> bool:
    pairs = {
        (a.qos, b.qos) for a, b in zip(device.interfaces, other_device.interfaces, strict=True) if a.qos is not b.qos
    }
    return device.buffer_pools == other_device.buffer_pools and all(a == b for a, b in pairs)


def _far_ends(device: Device, index: Index) -> list[tuple[str, End]]:
    """Return (port, far end) of the device's links, in the order of its ports."""
    far = index.far_ends.get(device.name, {})
    return [(port.name, far[port.name]) for port in device.interfaces if port.name in far]


class _PortRow(NamedTuple):
    """A row of PORT, and the port's addresses."""

    name: str
    alias: str
    front_index: int
    lanes: str
    speed: int | None
    enabled: bool
    mtu: int | None
    fec: str | None
    autoneg: str | None
    advertised_speeds: str
    link_training: str | None
    subport: int
    description: str | None
    asymmetric: bool
    addresses: tuple[str, ...]
    link_local: bool
    vrf: str | None


def _port_row(facts: SwitchModel, interface: Interface, breakout: PortSplit) -> _PortRow:
    """Return a port's row: alias, index and lanes are the SKU's own; a part of a port has a letter and a number."""
    port, lanes, qos = require_fact(interface.port), require_fact(interface.lanes), interface.qos
    advertised = require_fact(interface.advertised_speeds_mbps)
    assert port is not None
    assert lanes is not None
    known_port = facts.sonic_ports[port.panel]
    split = breakout.into > 1
    first_lane = port.split * len(known_port.lanes) // breakout.into
    return _PortRow(
        name=interface.name,
        alias=known_port.alias_of(port.panel, first_lane, port.split if split else None),
        front_index=known_port.front_index,
        lanes=",".join(map(str, known_port.lanes[first_lane : first_lane + lanes])),
        speed=require_fact(interface.speed_mbps),
        enabled=require_fact(interface.enabled),
        mtu=require_fact(interface.mtu_bytes),
        fec=require_fact(interface.fec),
        autoneg=format_on_off(require_fact(interface.autoneg)),
        advertised_speeds=",".join(map(str, advertised or ())),
        link_training=format_on_off(require_fact(interface.link_training)),
        subport=port.split + 1 if split else 0,
        description=require_fact(interface.description),
        asymmetric=isinstance(qos, QosProfile) and qos.pfc_rx_priorities != qos.pfc_tx_priorities,
        addresses=require_fact(interface.addresses),
        link_local=require_fact(interface.link_local),
        vrf=require_fact(interface.vrf),
    )


def _panel_split_by_port(facts: SwitchModel, device: Device) -> dict[str, PortSplit]:
    """Return how the panel port of each port is used, by the name of the port."""
    counts = Counter(port.panel for iface in device.interfaces if (port := require_fact(iface.port)) is not None)
    splits: dict[str, PortSplit] = {}
    for interface in device.interfaces:
        port = require_fact(interface.port)
        assert port is not None
        split = breakout_of_port(facts, interface, alone=counts[port.panel] == 1)
        assert split is not None
        splits[interface.name] = split
    return splits


def _breakout_modes(facts: SwitchModel, device: Device, splits: Mapping[str, PortSplit]) -> Iterator[tuple[str, str]]:
    """Yield (first port, breakout mode) of every panel port in the words of platform.json, unless all are whole."""
    used = {
        port.panel: (splits[interface.name], require_fact(interface.speed_mbps))
        for interface in device.interfaces
        if (port := require_fact(interface.port)) is not None
    }
    if all(split.into == 1 and not isinstance(split, NarrowSplit) for split, _ in used.values()):
        return
    for panel, (breakout, speed) in used.items():
        yield port_name(facts.name, Port(panel), 1), breakout.sonic_breakout_mode(speed)


def format_on_off(value: bool | None) -> str | None:
    """Spell a switch of a port; None is not written."""
    return None if value is None else "on" if value else "off"


_RENDERED_CONFIG_CACHE: OrderedDict[object, tuple[object, QosObjectNames, str]] = OrderedDict()
_TABLE_LINE = re.compile(r'^    "([A-Z_]+)": \{$', re.MULTILINE)


def _render_qos(device: Device, facts: SwitchModel) -> str:
    """Return all QoS tables: rendered once for all devices that have the same ports, profiles and buffers."""
    ports = [port for port in device.interfaces if port.qos is not None]
    cables = tuple((port.name, port.cable_length_m) for port in device.interfaces if port.cable_length_m is not None)
    key = (
        tuple((port.name, port.qos, port.speed_mbps) for port in ports),
        cables,
        device.switch_dscp_to_tc,
        device.watchdog_polling_ms,
        device.buffer_pools,
        device.dynamic_buffers,
        has_feature(str(device.version), "PFC without priorities"),
    )
    if key not in _RENDERED_CONFIG_CACHE:
        spelling = QosObjectNames(device, ports)
        names = {
            "device": device,
            "ports": ports,
            "cables": cables,
            "spelling": spelling,
            "say": _QosTemplateWords(spelling, none=key[-1]),
        }
        kept_profiles = [port.qos for port in ports]  # holds the profiles, so that their ids stay theirs
        text = "".join(_render_template(name, **names) for name in ("maps", "port_qos", "buffers"))
        if (table := required_empty_table(_TABLE_LINE.findall(text))) is not None:
            text += f'    "{table}": {{}},\n'
        _cache_value(_RENDERED_CONFIG_CACHE, key, (kept_profiles, spelling, text))
    _, spelling, text = _RENDERED_CONFIG_CACHE[key]
    if device.buffer_model == "traditional":
        for port in ports:
            _refuse_added_lossless_groups(port, facts, require_fact(device.hwsku), spelling)
    return text


def _refuse_added_lossless_groups(
    port: Interface, facts: SwitchModel, hwsku: str | None, spelling: QosObjectNames
) -> None:
    """Refuse a port on which buffermgrd would lay other lossless priority groups over those of the model."""
    row = facts.sonic.headroom_row(require_fact(port.speed_mbps), require_fact(port.cable_length_m), hwsku)
    if row is None or not port.enabled or not isinstance(port.qos, QosProfile):
        return
    names = {
        group.index: spelling.profile_name_of_group(port, group) for group in require_fact(port.qos.priority_groups)
    }
    for priority in require_fact(port.qos.pfc_tx_priorities):
        if names.get(priority) != lossless_profile_name(port):
            path = ["interfaces", port.name, "qos", "priority_groups", *([priority] if priority in names else [])]
            raise unsupported_error(
                path, f"buffermgrd gives priority group {priority} the SKU's {lossless_profile_name(port)}"
            )


class _QosTemplateWords:
    """The words that the QoS templates ask for."""

    colors = COLORS
    maps = TABLE_BY_MAP_ATTRIBUTE
    ecn = ECN_WORD_BY_COLORS
    computed = COMPUTED_PROFILE_WORD

    def __init__(self, spelling: QosObjectNames, *, none: bool) -> None:
        """`none` states that the release takes a list without priorities, so it need not be left out."""
        self._names, self._none = spelling, none

    def pause_and_watchdog_masks(self, port: Interface) -> Iterator[tuple[str, str]]:
        """Yield (field of PORT_QOS_MAP, priorities such as `3,4`) for pause and the watchdog of a port.

        Paused priorities are in the mask of a missing watchdog, too: it starts and ends with its row of PFC_WD, which
        shuts no port.
        """
        assert isinstance(port.qos, QosProfile)
        watchdog, paused = require_fact(port.qos.pfc_watchdog), require_fact(port.qos.pfc_tx_priorities)
        watched = paused if watchdog is None else require_fact(watchdog.priorities)
        for field, numbers in (("pfc_enable", paused), ("pfcwd_sw_enable", watched)):
            if numbers or self._none:
                yield field, ",".join(map(str, numbers))

    def bound_map_names(self, port: Interface) -> Iterator[tuple[str, str]]:
        """Yield (field of PORT_QOS_MAP, name of the map) for a port."""
        for attribute, (_, field, _) in TABLE_BY_MAP_ATTRIBUTE.items():
            if (value := getattr(port.qos, attribute)) is not None:
                yield field, self._names.map_name(attribute, value)

    def pool_name(self, name: str) -> str:
        """Spell a pool."""
        return sonic_pool_name(name)

    def buffer_profile_name(self, buffer: BufferProfile) -> str:
        """Spell a buffer profile."""
        return self._names.buffer_profile_name(buffer)

    def buffer_profile_names(self, buffers: tuple[BufferProfile, ...]) -> str:
        """Spell a port's list of profiles."""
        return ",".join(map(self.buffer_profile_name, buffers))

    def priority_group_ranges(self, port: Interface) -> Iterator[tuple[str, str]]:
        """Yield (range of priority groups, profile) for a port."""
        assert isinstance(port.qos, QosProfile)
        groups: tuple[PriorityGroup, ...] = require_fact(port.qos.priority_groups)
        yield from self._profiles_by_range(
            (group.index, self._names.profile_name_of_group(port, group)) for group in groups
        )

    def queue_buffer_ranges(self, port: Interface) -> Iterator[tuple[str, str]]:
        """Yield (range of queues, profile) for a port."""
        assert isinstance(port.qos, QosProfile)
        buffers = ((queue.index, require_fact(queue.buffer)) for queue in require_fact(port.qos.queues))
        yield from self._profiles_by_range(
            (index, self.buffer_profile_name(buffer)) for index, buffer in buffers if buffer is not None
        )

    @staticmethod
    def _profiles_by_range(rows: Iterator[tuple[int, str]]) -> Iterator[tuple[str, str]]:
        by_profile: dict[str, list[int]] = {}
        for index, profile in rows:
            by_profile.setdefault(profile, []).append(index)
        for profile, indexes in by_profile.items():
            for span in format_ranges(indexes):
                yield span, profile
