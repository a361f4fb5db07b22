"""The values that an intent left out, their defaults, and the reasons: printed by `nodrop show`."""

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

import netaddr

from nodrop.design.addressing import model_with_most_slots, power_of_two_port_slots
from nodrop.design.boxes import switches_of, traits_by_group, traits_of
from nodrop.design.buffers import DEFAULT_PATTERN_MTU_BYTES, pattern_mtu_for_headroom
from nodrop.design.classes import dscps_without_class, purpose_of, resolve_classes
from nodrop.design.delivery import can_keep_bgp_in_config_tables
from nodrop.design.host_settings import (
    NO_DCQCN_REASON_BY_MODE,
    host_cnp_dscp,
    host_pfc_priorities,
    host_tos,
    hosts_use_dcqcn,
)
from nodrop.design.modes import has_pfc, trimming_of
from nodrop.design.reserves import RESERVED_PURPOSES, lossy_queue_reserve
from nodrop.design.routing import GRACEFUL_RESTART_S
from nodrop.design.static_buffers import has_static_headroom
from nodrop.design.styles import qos_style
from nodrop.design.topology import Topology, model_of, topology_of
from nodrop.design.watchdog import (
    BASE_DETECTION_MS,
    FABRIC_DETECTION_FACTOR,
    FabricWatchdogTimers,
    SideWatchdogTimers,
    derive_watchdog_timers,
    watchdog_timer_scale,
)
from nodrop.intent.hosts import HostNicSettings
from nodrop.intent.schema import EndpointGroup, Intent, TrafficClass, TrimmedPackets, WatchdogTimers
from nodrop.model.fabric import Mode
from nodrop.model.timeouts import QP_RETRANSMIT_TIMEOUT_MS
from nodrop.platforms.kit.traits import PlatformTraits


class AppliedDefault(NamedTuple):
    """A key of the intent that was left out, the value that holds, and where the value comes from."""

    key: str
    value: str
    source: str


def applied_defaults(intent: Intent) -> tuple[AppliedDefault, ...]:
    """Return every default that holds for an intent that builds."""
    nics = (
        *_nic_class_defaults(intent.classes, intent.mode, intent.hosts),
        *_dcqcn_and_trimming_defaults(intent.mode, intent.hosts, trimming_of(intent)),
    )
    return (
        *_list_constant_defaults(intent),
        *nics,
        *_endpoint_defaults(intent.endpoints),
        *_watchdog_defaults(intent),
        *_list_derived_defaults(intent),
    )


_CONSTANT_DEFAULTS = (
    ("mode", "", "lossless (PFC and ECN) is what most RoCEv2 fabrics run"),
    ("mtu", "", "the largest MTU of SONiC and NVUE ports"),
    ("topology.max_oversubscription", "", "training traffic fills what it has: 1:1"),
    ("buffers.alpha", "", "SONiC's default_dynamic_th 0 (buffers_config.j2)"),
    ("buffers.lossless_pool", "%", "lossy classes need little where RDMA is the load"),
    ("buffers.shared_headroom", "", "own headroom for every port needs no estimate of simultaneous pauses"),
    ("hosts.trust", "", "PCP does not survive routing (Guo et al., SIGCOMM 2016)"),
    ("hosts.rdma_mtu", "", "the largest RoCE MTU"),
    ("routing.protocol", "", "RFC 7938, use of BGP for routing in large-scale data centers"),
    ("routing.sessions", "", "every platform and release has them; each link takes addresses of its pool"),
    ("routing.bfd", "", "a link that goes down ends its session at once, without BFD's timers to tune"),
    ("routing.balancing", "", "ECMP is what every platform has"),
    ("routing.delivery", "", "every release of SONiC takes it, and it can express all of a design"),
)
"""Keys with a default of their own, its unit, and its source."""

_LOSSLESS_ONLY_KEYS = ("buffers.alpha", "buffers.lossless_pool", "buffers.shared_headroom")
"""Those that mean something only where something is lossless."""


def _list_constant_defaults(intent: Intent) -> Iterator[AppliedDefault]:
    for path, unit, source in _CONSTANT_DEFAULTS:
        *sections, key = path.split(".")
        section: Any = reduce(getattr, sections, intent)
        if key not in section.model_fields_set and _is_key_applicable(topology_of(intent), intent.mode, path):
            yield AppliedDefault(path, _format_value(getattr(section, key)) + unit, source)


def _is_key_applicable(topology: Topology, mode: Mode, path: str) -> bool:
    """Return whether a key has a meaning for an intent."""
    if path == "routing.delivery":
        return any(can_keep_bgp_in_config_tables(group.wanted) for group in topology.groups)
    return has_pfc(mode) or path not in _LOSSLESS_ONLY_KEYS


def _nic_class_defaults(
    classes: Mapping[str, TrafficClass], mode: Mode, hosts: HostNicSettings
) -> Iterator[AppliedDefault]:
    """Yield how NICs are set for the classes."""
    if hosts.tos is None:
        tos = host_tos(classes, hosts)
        yield AppliedDefault(
            "hosts.tos", str(tos), f"DSCP {tos >> 2} of {_class_of_dscp(classes, tos >> 2)}, ECN-capable"
        )
    if hosts.cnp_dscp is None:
        dscp = host_cnp_dscp(classes, hosts)
        cnp = any(purpose_of(name, wanted_traffic_class) == "cnp" for name, wanted_traffic_class in classes.items())
        source = f"DSCP of {_class_of_dscp(classes, dscp)}" if cnp else "NVIDIA NICs send CNPs with DSCP 48"
        yield AppliedDefault("hosts.cnp_dscp", str(dscp), source)
    if hosts.pfc is None:
        lossless = " and ".join(name for name, wanted_traffic_class in classes.items() if wanted_traffic_class.lossless)
        source = f"priorities of {lossless}" if has_pfc(mode) else f"mode {mode} has no PFC"
        yield AppliedDefault("hosts.pfc", _format_value(host_pfc_priorities(classes, mode, hosts)), source)


def _class_of_dscp(classes: Mapping[str, TrafficClass], dscp: int) -> str:
    """Return the class that has a DSCP."""
    unclaimed_dscps = dscps_without_class(classes)
    owned = (
        (name, unclaimed_dscps if wanted_traffic_class.dscp == "rest" else wanted_traffic_class.dscp)
        for name, wanted_traffic_class in classes.items()
    )
    return next(name for name, dscps in owned if dscp in dscps)


def _dcqcn_and_trimming_defaults(
    mode: Mode, hosts: HostNicSettings, trimming: TrimmedPackets | None
) -> Iterator[AppliedDefault]:
    """Yield what follows from the mode."""
    if "dcqcn" not in hosts.model_fields_set:
        marked = hosts_use_dcqcn(mode, hosts)
        source = "the switches mark, so the NICs must listen" if marked else NO_DCQCN_REASON_BY_MODE[mode]
        yield AppliedDefault("hosts.dcqcn", _format_value(marked), source)
    if trimming is not None:
        stated_fields = trimming.model_fields_set
        if "size" not in stated_fields:
            yield AppliedDefault("trimming.size", f"{trimming.size}B", "NVUE's least; the headers and some payload")
        if "into" not in stated_fields:
            yield AppliedDefault("trimming.into", trimming.into, "the class's name")


def _format_value(value: object) -> str:
    """Spell a value as an intent does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return str(list(value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _endpoint_defaults(endpoints: Mapping[str, EndpointGroup]) -> Iterator[AppliedDefault]:
    for name, group in endpoints.items():
        if "ports" not in group.model_fields_set:
            yield AppliedDefault(f"endpoints.{name}.ports", str(group.ports), "one network port of each host")
        if "spread" not in group.model_fields_set and group.ports > 1:
            source = "a switch may fail without cutting a host off"
            yield AppliedDefault(f"endpoints.{name}.spread", group.spread, source)


_DETECTION_LIMIT_REASON = (
    f"the longest by which a watchdog acts before queue pairs time out ({QP_RETRANSMIT_TIMEOUT_MS} ms)"
)
"""Why a derived detection is no longer than it is."""


def _watchdog_defaults(intent: Intent) -> Iterator[AppliedDefault]:
    topology = topology_of(intent)
    ports = switches_of(intent).max_ports_of_switch
    timers, wanted_watchdog = (
        derive_watchdog_timers(topology, intent.mode, intent.pfc, ports),
        intent.pfc.watchdog,
    )
    if timers is None:
        return
    first_source = (
        f"{BASE_DETECTION_MS} ms × {watchdog_timer_scale(ports)} for {ports} "
        "ports (sonic-utilities pfcwd start_default)"
    )
    if timers.hosts.detection_ms < BASE_DETECTION_MS * watchdog_timer_scale(ports):
        first_source = f"{_DETECTION_LIMIT_REASON}, for {first_source} is longer"
    yield from _watchdog_side_defaults("hosts", timers.hosts, wanted_watchdog.hosts, first_source)
    if topology.joins and wanted_watchdog.fabric != "off":
        yield from _fabric_watchdog_defaults(timers, wanted_watchdog.fabric)
    if wanted_watchdog.polling is None:
        polling_ms = timers.polling_ms
        value = f"{timers.wanted_polling_ms}ms"
        if set(polling_ms.values()) != {timers.wanted_polling_ms}:
            value = ", ".join(f"{group.label} {polling}ms" for group, polling in polling_ms.items())
        yield AppliedDefault("pfc.watchdog.polling", value, "half the smallest detection")


def _fabric_watchdog_defaults(timers: FabricWatchdogTimers, wanted_timers: WatchdogTimers) -> Iterator[AppliedDefault]:
    """Yield the defaults of the watchdogs of links between switches."""
    if timers.fabric is None:
        source = (
            f"none is later than the hosts' side and acts before queue pairs time out ({QP_RETRANSMIT_TIMEOUT_MS} ms)"
        )
        yield AppliedDefault("pfc.watchdog.fabric", "off", source)
        return
    source = f"{FABRIC_DETECTION_FACTOR} × hosts, so that the nearest hop acts first"
    if timers.fabric.detection_ms < FABRIC_DETECTION_FACTOR * timers.hosts.detection_ms:
        source = f"{_DETECTION_LIMIT_REASON}, for {FABRIC_DETECTION_FACTOR} × hosts is longer"
    yield from _watchdog_side_defaults("fabric", timers.fabric, wanted_timers, source)


def _watchdog_side_defaults(
    name: str, side: SideWatchdogTimers, wanted_watchdog_timers: WatchdogTimers, source: str
) -> Iterator[AppliedDefault]:
    if wanted_watchdog_timers.detection is None:
        yield AppliedDefault(f"pfc.watchdog.{name}.detection", f"{side.detection_ms}ms", source)
    if wanted_watchdog_timers.restoration is None:
        yield AppliedDefault(
            f"pfc.watchdog.{name}.restoration", f"{side.restoration_ms}ms", "2 × detection (pfcwd start)"
        )
    if "action" not in wanted_watchdog_timers.model_fields_set:
        yield AppliedDefault(
            f"pfc.watchdog.{name}.action", side.action, "what is stuck is lost anyway (pfcwd start_default)"
        )


def _list_derived_defaults(intent: Intent) -> Iterator[AppliedDefault]:
    topology = topology_of(intent)
    if intent.buffers.pattern_mtu is None and has_pfc(intent.mode):
        mtu_by_group = {
            group.label: str(pattern_mtu_for_headroom(intent, group, model_of(group)))
            for group in topology.groups
            if not has_static_headroom(model_of(group))
        }
        same = set(mtu_by_group.values())
        value = ", ".join(same if len(same) == 1 else (f"{name} {mtu}" for name, mtu in mtu_by_group.items()))
        source = f"{DEFAULT_PATTERN_MTU_BYTES} (SONiC) or the RoCE MTU, whichever needs more headroom"
        if mtu_by_group:
            yield AppliedDefault("buffers.pattern_mtu", value, source)
    if intent.topology.slots_per_device is None:
        model = model_with_most_slots(topology)
        source = f"the least power of two that holds the ports × splits of {model.name}"
        yield AppliedDefault("topology.slots_per_device", str(power_of_two_port_slots(model)), source)
    for join in topology.joins:
        if join.split > 1 and join.stated_upper_split is None:
            key = ".".join((*join.keys, join.words.upper_split))
            yield AppliedDefault(key, str(join.split), "as split, for the same links")
    yield from _qos_style_defaults(topology, intent.classes)
    yield from _queue_reserve_defaults(topology, intent.classes)
    yield from _bgp_defaults(topology)
    gateway = str(netaddr.IPNetwork(intent.addressing.oob)[-2])
    yield AppliedDefault("addressing.oob gateway", gateway, "the last usable address")


def _qos_style_defaults(topology: Topology, classes: Mapping[str, TrafficClass]) -> Iterator[AppliedDefault]:
    """Yield the style of QoS of tiers whose platform has several."""
    lossless = resolve_classes(classes).lossless
    for group in topology.groups:
        tier = group.wanted
        if tier.style is None and (style := qos_style(tier, lossless)) is not None:
            count = len(lossless)
            source = f"{count or 'no'} lossless class{'' if count == 1 else 'es'}; both styles make the same fabric"
            yield AppliedDefault(".".join((*group.keys, "style")), style, source)


def _queue_reserve_defaults(topology: Topology, classes: Mapping[str, TrafficClass]) -> Iterator[AppliedDefault]:
    """Yield the reserve of the queues of CNPs and control, by tier, where its network OS has one."""
    names = [
        name
        for name, wanted_traffic_class in classes.items()
        if purpose_of(name, wanted_traffic_class) in RESERVED_PURPOSES
    ]
    for group in topology.groups:
        if names and traits_of(group).queue_reserves:
            model = model_of(group)
            reserve = lossy_queue_reserve(model, static=has_static_headroom(model))
            source = f"for {' and '.join(sorted(names))}: {reserve.source}"
            yield AppliedDefault(f"queue reserve at {group.label}", f"{reserve.size_bytes}B", source)


_HARDWARE_WAIT_REASON = "the hardware has a route before packets arrive (SONiC's bgpd.main.conf.j2)"


def _render_install_wait_faults(by_tier: Mapping[str, PlatformTraits]) -> str:
    """Return the faults of releases that wait for the hardware, each with its tiers."""
    tiers_by_fault: dict[str, list[str]] = {}
    for tier, traits in by_tier.items():
        if traits.announces_installed and traits.wait_fault:
            tiers_by_fault.setdefault(traits.wait_fault, []).append(tier)
    return "".join(f"; {' and '.join(tiers)}: {fault}" for fault, tiers in tiers_by_fault.items())


def _bgp_defaults(topology: Topology) -> Iterator[AppliedDefault]:
    """Yield when BGP announces routes, by tier where tiers differ, and how long neighbors wait."""
    by_tier = {group.label: traits for group, traits in traits_by_group(topology).items()}
    waits = {name: traits.announces_installed for name, traits in by_tier.items()}
    for value, on in (("once installed", True), ("at once", False)):
        tiers = [name for name, does_wait in waits.items() if does_wait is on]
        key = "BGP announces routes" if len(tiers) == len(waits) else f"BGP of {' and '.join(tiers)} announces routes"
        source = f"{_HARDWARE_WAIT_REASON}{_render_install_wait_faults(by_tier)}" if on else "the release cannot wait"
        if tiers:
            yield AppliedDefault(key, value, source)
    source = "a switch is the only way to its hosts (SONiC's bgpd.main.conf.j2, ToRRouter)"
    key = " and ".join(group.label for group in topology.host_groups)
    yield AppliedDefault(f"graceful restart of {key}", f"{GRACEFUL_RESTART_S}s", source)
