"""Parts of a device that config_db cannot express: refused before anything is written, with their model path."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from nodrop.hardware import switch, switches
from nodrop.hardware.ports import PortSplit
from nodrop.hardware.schema import SwitchModel
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import HASH_FIELDS, Device, Interface, Port
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.expressible import (
    UNKNOWN_FACT_REASON,
    ScalarCheck,
    check_distinct,
    check_row_names_and_order,
    check_server_addresses,
    check_without_unwritten_parts,
    json_string_fault,
    reason_unwritable_text,
    unsupported_error,
)
from nodrop.platforms.sonic.limits_bridging import check_bridging, check_vrf
from nodrop.platforms.sonic.naming import port_name
from nodrop.platforms.sonic.release_limits import require_features_in_release
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE
from nodrop.platforms.sonic.streams import require_expressible_streams
from nodrop.platforms.sonic.tables import (
    ALL_PRIORITIES,
    DEVICE_TYPE_BY_ROLE,
    ECN_WORD_BY_COLORS,
    HASH_SEED_BY_DEVICE_TYPE,
    TABLE_BY_MAP_ATTRIBUTE,
)
from nodrop.platforms.sonic.traits import TRAITS

DEVICE_NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_LONGEST_CABLE_M = 999_999
_LARGEST_TCP_PORT = 65_535
_SCALAR_CHECK_OF_DEVICE = ScalarCheck(
    "bgp", "vrf_bgp", "static_routes", "shut_by_daemon", "link_pause", "side", "port", "extra", "extra_lines",
    "headroom_table", "mac_ageing_s", "arp_reachable_s", "nd_reachable_s",
    description=json_string_fault, snmp_location=reason_unwritable_text, snmp_contact=reason_unwritable_text,
)  # fmt: skip
"""Routing is for frr.conf to say, the far end of a cable for no file; ports and additions have their own checks."""


def check_expressible(device: Device) -> SwitchModel:
    """Return the facts of the device's model; UnsupportedByPlatform if there is no table or field for something."""
    _SCALAR_CHECK_OF_DEVICE.check(device)
    facts = _check_device(device)
    pools = require_fact(device.buffer_pools)
    _check_pools(device, pools)
    require_features_in_release(device)
    names = {pool.name for pool in pools}
    check_row_names_and_order(device.interfaces, "interfaces", order=lambda port: natural_sort_key(port.name))
    checked: set[QosProfile] = set()
    for interface in device.interfaces:
        _check_port(facts, interface)
        qos = interface.qos
        if isinstance(qos, QosProfile) and qos not in checked:
            checked.add(qos)
            path = ("interfaces", interface.name, "qos")
            _check_maps(qos, path)
            if qos.dscp_to_tc is None and device.switch_dscp_to_tc is not None:
                raise unsupported_error((*path, "dscp_to_tc"), "is left open where the switch has a map for all ports")
            _check_buffers(device, qos, names, path)
    _check_split_lanes(facts, device.interfaces)
    return facts


def _check_device(device: Device) -> SwitchModel:
    model, role = str(device.model), str(device.role)
    if device.platform != "sonic":
        raise unsupported_error(["platform"], f"{device.platform} is not sonic")
    if not DEVICE_NAME_PATTERN.fullmatch(device.name):
        raise unsupported_error(["name"], f"{device.name} is no hostname")
    if model not in switches():
        raise unsupported_error(["model"], f"{model} is not in the catalogue, so the names of its ports are unknown")
    sku, facts = require_fact(device.hwsku), switch(model).sonic
    if sku is not None and (sku == facts.hwsku or sku not in facts.hwskus):
        other_skus = ", ".join(hwsku for hwsku in facts.hwskus if hwsku != facts.hwsku) or "none"
        raise unsupported_error(["hwsku"], f"{sku} is none of the other SKUs of {model}: {other_skus}")
    if role not in DEVICE_TYPE_BY_ROLE:
        raise unsupported_error(
            ["role"], f"{role} has no DEVICE_METADATA.type; known: {', '.join(DEVICE_TYPE_BY_ROLE)}"
        )
    seed = HASH_SEED_BY_DEVICE_TYPE[DEVICE_TYPE_BY_ROLE[role]]
    if device.hash_seed != seed:
        raise unsupported_error(["hash_seed"], f"{DEVICE_TYPE_BY_ROLE[role]} has seed {seed}")
    if device.version not in DATABASE_VERSION_BY_RELEASE:
        raise unsupported_error(["version"], f"is not written; what is: {', '.join(DATABASE_VERSION_BY_RELEASE)}")
    check_without_unwritten_parts(device)
    _check_no_adaptive_routing(device, "adaptive_routing", "weighs_utilization")
    if device.buffer_model is None:
        raise unsupported_error(["buffer_model"], "a switch has one: without a field it is traditional")
    if not device.interfaces:
        raise unsupported_error(["interfaces"], "a configuration without ports is taken for a part of one")
    for name in ("bgp", "vrf_bgp", "static_routes", "shut_by_daemon"):
        if isinstance(getattr(device, name), Unknown):
            raise unsupported_error([name], UNKNOWN_FACT_REASON)
        if device.bgp is None and getattr(device, name):
            raise unsupported_error([name], "are written into frr.conf, which a device without BGP does not have")
    if isinstance(device.routing_tables, Unknown):
        raise unsupported_error(["routing_tables"], UNKNOWN_FACT_REASON)
    if require_fact(device.qos_style) is not None:
        raise unsupported_error(["qos_style"], "SONiC has one way to state QoS")
    if (trimming := require_fact(device.trimming)) is not None and trimming.queue is None:
        raise unsupported_error(["trimming", "queue"], "trimming needs a queue")
    if (dscps := require_fact(device.switch_dscp_to_tc)) is not None:
        _check_map_size("dscp_to_tc", dscps, ("switch_dscp_to_tc",))
    _check_services(device)
    return switch(model)


def _check_services(device: Device) -> None:
    if (management := require_fact(device.management)) is not None:
        if not management.addresses:
            raise unsupported_error(["management", "addresses"], "the management port has no row without an address")
        check_distinct(management.addresses, "management", "addresses")
    loopbacks = require_fact(device.loopbacks)
    check_row_names_and_order(loopbacks, "loopbacks")
    for loopback in loopbacks:
        check_vrf(loopback.vrf, "loopbacks", loopback.name, "vrf")
        check_distinct(loopback.addresses, "loopbacks", loopback.name, "addresses")
    check_bridging(device)
    check_row_names_and_order(require_fact(device.counters), "counters")
    check_row_names_and_order(require_fact(device.ntp_servers), "ntp_servers")
    check_row_names_and_order(require_fact(device.syslog_servers), "syslog_servers")
    check_row_names_and_order(require_fact(device.dns_servers), "dns_servers")
    check_server_addresses(require_fact(device.dns_servers), "dns_servers")
    if len(require_fact(device.dns_servers)) > TRAITS.most_dns_servers:
        raise unsupported_error(["dns_servers"], f"are more than {TRAITS.most_dns_servers}")
    _check_hash_field_order(require_fact(device.hash_fields))
    if (port := require_fact(device.gnmi_port)) is not None and not 1 <= port <= _LARGEST_TCP_PORT:
        raise unsupported_error(["gnmi_port"], f"is not from 1 to {_LARGEST_TCP_PORT}")
    require_expressible_streams(require_fact(device.high_frequency))
    if require_fact(device.watchdog_conditions) is not None:
        raise unsupported_error(["watchdog_conditions"], TRAITS.reasons["@watchdog_conditions"])
    if require_fact(device.otlp_collectors):
        raise unsupported_error(
            ["otlp_collectors"], "SONiC sends nothing by OTLP by itself; collectors subscribe by gNMI"
        )


def _check_hash_field_order(fields: tuple[str, ...] | None) -> None:
    if fields is not None and (
        not fields or list(fields) != [hash_field for hash_field in HASH_FIELDS if hash_field in fields]
    ):
        raise unsupported_error(
            ["hash_fields"], "are not fields of the hash in the order in which they would be read back"
        )


def _check_pools(device: Device, pools: tuple[BufferPool, ...]) -> None:
    dynamic = device.buffer_model == "dynamic"
    check_row_names_and_order(pools, "buffer_pools")
    for pool in pools:
        path = ("buffer_pools", pool.name)
        if pool.computed and not dynamic:
            raise unsupported_error(path, "only the dynamic buffer model computes a pool's size")
        if dynamic and not pool.computed and pool.size_bytes is None:
            raise unsupported_error(
                (*path, "size_bytes"), "the dynamic buffer model computes a size that is not stated"
            )


def _check_no_adaptive_routing(model_part: Device | Interface, *names: str, path: tuple[str, ...] = ()) -> None:
    for name in names:
        value = getattr(model_part, name)
        if value is not None and value is not False:  # a threshold of 0 is one
            raise unsupported_error((*path, name), "SONiC has no adaptive routing")


def _check_port(facts: SwitchModel, interface: Interface) -> None:
    path = ("interfaces", interface.name)
    _check_no_adaptive_routing(interface, "adaptive_routing", "utilization_threshold_percent", path=path)
    if require_fact(interface.macsec):
        raise unsupported_error((*path, "macsec"), "a profile of MACsec holds keys, which are not written")
    port = interface.port
    if isinstance(port, Unknown):
        raise unsupported_error((*path, "port"), UNKNOWN_FACT_REASON)
    splits = [] if port is None else breakouts_of_panel(facts, port.panel)
    if port is None or not any(port.split < breakout.into for breakout in splits):
        raise unsupported_error((*path, "port"), f"{facts.name} has no such port in SONiC")
    split = breakout_of_port(facts, interface)
    if split is None:
        lanes = ", ".join(str(breakout.lanes) for breakout in splits if port.split < breakout.into)
        raise unsupported_error((*path, "lanes"), f"that port of {facts.name} can have {lanes}; others are not written")
    if interface.name != port_name(facts.name, port, split.into):
        raise unsupported_error((*path, "name"), f"port {port.panel} of {facts.name} has another name in SONiC")
    if interface.mtu_bytes is None:
        raise unsupported_error((*path, "mtu_bytes"), "a port has one: without a field it is the switch's default")
    speeds = require_fact(interface.advertised_speeds_mbps)
    if speeds is not None and (not speeds or list(speeds) != sorted(set(speeds)) or speeds[0] < 1):
        raise unsupported_error(
            (*path, "advertised_speeds_mbps"), "are not one or more speeds, the slowest first, each once"
        )
    check_vrf(require_fact(interface.vrf), *path, "vrf")
    if not 0 <= (require_fact(interface.cable_length_m) or 0) <= _LONGEST_CABLE_M:
        raise unsupported_error((*path, "cable_length_m"), "is no length of a cable")
    check_distinct(require_fact(interface.addresses), *path, "addresses")


def breakouts_of_panel(facts: SwitchModel, panel: int) -> list[PortSplit]:
    """Return the ways to use a panel port that platform.json allows; none if the model has no such port."""
    return _sonic_breakouts(facts.name, panel)


def breakout_of_port(facts: SwitchModel, interface: Interface, *, alone: bool = False) -> PortSplit | None:
    """Return how the panel port of a port is used: with its lanes, and if there are several such ways its speed.

    `alone` states that the panel port has no other port: with fewer lanes than all, it is then a way with few lanes.
    """
    port = require_fact(interface.port)
    assert port is not None
    group = facts.group(port.panel)
    narrow = [split for split in group.narrow if split.lanes == interface.lanes] if group and not port.split else []
    if alone and (fitting := [split for split in narrow if interface.speed_mbps in split.speeds]):
        return fitting[0]
    splits = [
        breakout
        for breakout in breakouts_of_panel(facts, port.panel)
        if breakout.lanes == interface.lanes and port.split < breakout.into
    ]
    found_splits = splits or narrow
    return next(
        (way for way in found_splits if interface.speed_mbps in way.speeds), found_splits[0] if found_splits else None
    )


@lru_cache(maxsize=4096)
def _sonic_breakouts(model: str, panel: int) -> list[PortSplit]:
    group = switch(model).group(panel)
    return (
        [split for split in group.breakout_options if not split.platforms or "sonic" in split.platforms]
        if group
        else []
    )


def _check_split_lanes(facts: SwitchModel, interfaces: Iterable[Interface]) -> None:
    """Refuse parts of one panel port that differ in lanes: no breakout mode has them, and they may overlap."""
    lanes: dict[int, Any] = {}
    for interface in interfaces:
        assert isinstance(interface.port, Port)
        if lanes.setdefault(interface.port.panel, interface.lanes) != interface.lanes:
            other_lanes = f"{lanes[interface.port.panel]} lanes"
            raise unsupported_error(
                ["interfaces", interface.name, "lanes"], f"another part of the same port has {other_lanes}"
            )


def _check_maps(qos: QosProfile, path: tuple[str, ...]) -> None:
    for attribute in TABLE_BY_MAP_ATTRIBUTE:
        value = getattr(qos, attribute)
        if value is not None:
            _check_map_size(attribute, value, (*path, attribute))
    if qos.trust != derive_trust_mode(qos):
        raise unsupported_error((*path, "trust"), f"a SONiC port with these maps trusts {derive_trust_mode(qos)}")
    for name in ("pfc_rx_priorities", "pfc_tx_priorities"):
        _check_priorities(getattr(qos, name), (*path, name))
    if qos.pfc_rx_priorities not in (qos.pfc_tx_priorities, ALL_PRIORITIES):
        raise unsupported_error((*path, "pfc_rx_priorities"), "PFC is symmetric, or receives on all eight priorities")
    watchdog = require_fact(qos.pfc_watchdog)
    if watchdog is not None:
        _check_priorities(require_fact(watchdog.priorities), (*path, "pfc_watchdog", "priorities"))


def _check_map_size(attribute: str, value: tuple[object, ...], path: tuple[str, ...]) -> None:
    size = TABLE_BY_MAP_ATTRIBUTE[attribute][2]
    if len(value) != size:
        raise unsupported_error(path, f"has {len(value)} entries; SONiC's map has {size}")


def _check_priorities(priorities: tuple[int, ...], path: tuple[str, ...]) -> None:
    if list(priorities) != sorted(set(priorities) & set(ALL_PRIORITIES)):
        raise unsupported_error(path, "are not priorities from 0 to 7 in order")


def _check_buffers(device: Device, qos: QosProfile, pools: set[str], path: tuple[str, ...]) -> None:
    groups, queues = require_fact(qos.priority_groups), require_fact(qos.queues)
    _check_indexes([group.index for group in groups], 7, (*path, "priority_groups"))
    _check_indexes([queue.index for queue in queues], 9, (*path, "queues"))
    for group in groups:
        where = (*path, "priority_groups", str(group.index))
        buffer = require_fact(group.buffer)
        if buffer is None:
            raise unsupported_error(where, "a priority group without a buffer is no row")
        _check_buffer_pool(buffer, pools, (*where, "buffer"))
        if _has_computed_headroom(buffer):
            _check_computed_headroom(device, buffer, (*where, "buffer"))
    for queue in queues:
        where = (*path, "queues", str(queue.index))
        if queue.scheduler is None and queue.wred is None and queue.buffer is None:
            raise unsupported_error(where, "a queue without scheduler, WRED and buffer is no row")
        if (wred := require_fact(queue.wred)) is not None and wred.ecn_colors not in ECN_WORD_BY_COLORS:
            raise unsupported_error((*where, "wred", "ecn_colors"), "are not colors in the order green, yellow, red")
        if wred is not None and any(
            percent is not None
            for color in (wred.green, wred.yellow, wred.red)
            for percent in (color.min_percent, color.max_percent)
        ):
            raise unsupported_error((*where, "wred"), "SONiC's thresholds of marking are bytes")
        if (buffer := require_fact(queue.buffer)) is not None:
            _check_static_buffer(buffer, pools, (*where, "buffer"))
    for name in ("ingress_buffers", "egress_buffers"):
        for position, buffer in enumerate(getattr(qos, name)):
            _check_static_buffer(buffer, pools, (*path, name, str(position)))


def _check_indexes(indexes: list[int], most: int, path: tuple[str, ...]) -> None:
    if indexes != sorted({index for index in indexes if 0 <= index <= most}):
        raise unsupported_error(path, f"are not numbered from 0 to {most} in order, each once")


def _check_buffer_pool(buffer: BufferProfile, pools: Iterable[str], path: tuple[str, ...]) -> None:
    if buffer.pool is not None and buffer.pool not in pools:
        raise unsupported_error((*path, "pool"), f"the switch has no pool {buffer.pool}")


def _check_static_buffer(buffer: BufferProfile, pools: Iterable[str], path: tuple[str, ...]) -> None:
    _check_buffer_pool(buffer, pools, path)
    if _has_computed_headroom(buffer):
        raise unsupported_error((*path, "headroom", "computed"), "only the headroom of a priority group is computed")


def _check_computed_headroom(device: Device, buffer: BufferProfile, path: tuple[str, ...]) -> None:
    dynamic = require_fact(device.dynamic_buffers)
    if device.buffer_model != "dynamic" or dynamic is None:
        raise unsupported_error((*path, "headroom", "computed"), "only the dynamic buffer model computes headroom")
    if buffer != computed_profile(dynamic, buffer):
        raise unsupported_error(path, "a computed headroom takes pool and threshold from the switch's default")


def _has_computed_headroom(buffer: BufferProfile) -> bool:
    return isinstance(buffer.headroom, Headroom) and buffer.headroom.computed


def computed_profile(dynamic: DynamicBuffers, buffer: BufferProfile) -> BufferProfile:
    """Return the profile that the switch makes for a computed headroom, with the sizes of `buffer`."""
    return BufferProfile(
        pool="ingress_lossless",
        size_bytes=buffer.size_bytes,
        dynamic_th=dynamic.dynamic_th,
        headroom=buffer.headroom,
    )


def derive_trust_mode(qos: QosProfile) -> str | None:
    """Return the trust mode of a SONiC port: the kind of its map."""
    by_dscp, by_pcp = qos.dscp_to_tc is not None, qos.pcp_to_tc is not None
    return "both" if by_dscp and by_pcp else "dscp" if by_dscp else "pcp" if by_pcp else None
