"""A fabric as facts: what there is to show of it, as plain data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from nodrop import platforms
from nodrop.hardware import switch, switches
from nodrop.model import effects
from nodrop.model.fabric import Device, Fabric, Interface, Port
from nodrop.model.index import Index
from nodrop.model.qos import PfcWatchdog, QosProfile, Queue
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown
from nodrop.platforms.kit.artifact import FirstApplyDisruption
from nodrop.proofs.claims import prove_claims
from nodrop.report.bandwidth import FabricBandwidth
from nodrop.report.buffering import (
    ecn_facts,
    headroom_facts,
    known_or_none,
    marking_and_pause_facts,
    pool_facts,
    representative_port_per_profile,
)
from nodrop.report.lossless_memory import memory_of_further_lossless_classes
from nodrop.report.outside import outside_session_facts
from nodrop.report.streams import stream_facts
from nodrop.units import show_speed

FactsByKey = dict[str, Any]
_MAX_DEVICES_FOR_PROOF = 500
"""Up to how many switches claims are proved for a page; `nodrop prove` has no limit."""


def fabric_facts(
    fabric: Fabric,
    defaults: Sequence[tuple[str, str, str]],
    adapted: Iterable[tuple[str, str, str, str]] = (),
    alone: Fabric | None = None,
    groups: Mapping[str, str] | None = None,
) -> FactsByKey:
    """Return the facts to show of a fabric, as plain data; rates in Mb/s, sizes in bytes, times in ms.

    `defaults` are (key, value, source), `adapted` (path, the intended value, the platform's value instead, the reason).
    `alone` is the fabric with its first lossless class only, if it has several. `groups` has the group of each switch
    of an intent; without it, links and oversubscription name the roles of switches.
    """
    capacity = FabricBandwidth(fabric)
    return {
        "version": 2,
        "fabric": fabric.name,
        "mode": fabric.mode,
        "devices": [_device_facts(device) for device in fabric.devices],
        "endpoints": capacity.host_group_facts(),
        "bandwidth": _bandwidth_facts(fabric, capacity, groups or {}),
        "pods": _pod_facts(fabric, capacity),
        "claims": asdict(prove_claims(Index(fabric))) if len(fabric.devices) <= _MAX_DEVICES_FOR_PROOF else None,
        "links": _link_facts(fabric, capacity, groups or {}),
        "outside": outside_session_facts(fabric),
        "classes": _traffic_class_facts(fabric),
        "watchdogs": list(_distinct_watchdogs(fabric)),
        "headroom": headroom_facts(fabric),
        "marking": list(marking_and_pause_facts(fabric)),
        "pools": list(pool_facts(fabric)),
        "further_lossless": list(memory_of_further_lossless_classes(fabric, alone)) if alone else [],
        "streams": list(stream_facts(fabric)),
        "first_apply": list(_disruptive_first_apply_effects(fabric)),
        "deviations": [dict(zip(("path", "intended", "actual", "reason"), row, strict=True)) for row in adapted],
        "defaults": [{"key": key, "value": value, "source": source} for key, value, source in defaults],
    }


def _device_facts(device: Device) -> FactsByKey:
    model = device.model if isinstance(device.model, str) else None
    up = [interface for interface in device.interfaces if interface.enabled is True]
    panels = {interface.port.panel if isinstance(interface.port, Port) else interface.name for interface in up}
    bgp = device.bgp if isinstance(device.bgp, Bgp) else None
    return {
        "name": device.name,
        "role": known_or_none(device.role),
        "model": model,
        "platform": device.platform,
        "version": known_or_none(device.version),
        "asn": bgp.asn if bgp else None,
        "drained": bgp.graceful_shutdown if bgp else False,
        "loopback": [a for lo in device.loopbacks for a in lo.addresses] if isinstance(device.loopbacks, tuple) else [],
        "management": list(device.management.addresses)
        if device.management and not isinstance(device.management, Unknown)
        else [],
        "ports_used": len(panels),
        "ports": len(switch(model).panels) if model in switches() else len(device.interfaces),
        "interfaces_used": len(up),
    }


def _disruptive_first_apply_effects(fabric: Fabric) -> Iterator[FactsByKey]:
    """Yield what restarts services or brings all ports down at the first apply, with its switches by release."""
    names_of: dict[tuple[str, str, FirstApplyDisruption], list[str]] = {}
    for device in fabric.devices:
        for effect in platforms.first_apply_disruptions(device):
            names_of.setdefault((device.platform, str(known_or_none(device.version)), effect), []).append(device.name)
    for (platform, version, effect), names in names_of.items():
        yield {"devices": names, "platform": platform, "version": version, **effect._asdict()}


def _bandwidth_facts(fabric: Fabric, capacity: FabricBandwidth, switch_groups: Mapping[str, str]) -> FactsByKey:
    return {
        "hosts": len(fabric.hosts),
        "gpus": sum(host.gpus for host in fabric.hosts),
        "injection_mbps": capacity.injection_mbps(),
        "tiers": capacity.tier_capacity_facts(switch_groups),
        "bisection_mbps": capacity.bisection_mbps(),
        **capacity.parts_facts(),
    }


def _pod_facts(fabric: Fabric, capacity: FabricBandwidth) -> list[FactsByKey]:
    """Return the pods, each with the panel ports in use of its fullest switch."""
    devices = {device.name: device for device in fabric.devices}
    rows = []
    for pod in capacity.pod_capacity_facts():
        uses = [_device_facts(devices[name]) for name in pod["switches"]]
        fullest = max(uses, key=lambda use: use["ports_used"] / max(use["ports"], 1))
        rows.append({**pod, "fullest": {key: fullest[key] for key in ("name", "ports_used", "ports")}})
    return rows


def _link_facts(fabric: Fabric, capacity: FabricBandwidth, switch_groups: Mapping[str, str]) -> list[FactsByKey]:
    roles: dict[str, str] = {device.name: str(device.role) for device in fabric.devices} | dict(switch_groups)
    roles |= {host.name: host.group for host in fabric.hosts} | {
        outside.name: outside.name for outside in fabric.external
    }
    groups: Counter[tuple[Any, ...]] = Counter()
    for link in fabric.links:
        ends = sorted((link.a.node, link.b.node), key=lambda node: (capacity.level.get(node, 0), roles.get(node, "")))
        lower, upper = (roles.get(node, "unknown") for node in ends)
        level = capacity.level.get(ends[0], 0)
        groups[
            level, lower, upper, capacity.speed_mbps(link), known_or_none(link.media), known_or_none(link.length_m)
        ] += 1
    return [
        {"lower": a, "upper": b, "count": count, "speed_mbps": speed, "media": media, "length_m": length}
        for (_, a, b, speed, media, length), count in sorted(groups.items(), key=str)
    ]


def _traffic_class_facts(fabric: Fabric) -> list[FactsByKey]:
    _, interface, qos = next(representative_port_per_profile(fabric), (None, None, None))
    result = []
    for traffic_class in sorted(
        fabric.classes, key=lambda row: (not isinstance(row.tc, int), row.tc if isinstance(row.tc, int) else 0)
    ):
        tc = traffic_class.tc if isinstance(traffic_class.tc, int) else None
        queue = effects.find_queue(qos, effects.queue_of_tc(qos, tc)) if qos is not None and tc is not None else None
        result.append(
            {
                "name": traffic_class.name,
                "purpose": traffic_class.purpose,
                "dscp": list(traffic_class.dscp),
                "tc": tc,
                "lossless": known_or_none(traffic_class.lossless),
                "scheduling": _format_scheduling(queue, interface),
                "ecn": ecn_facts(queue),
            }
        )
    return result


def _format_scheduling(queue: Queue | None, interface: Interface | None) -> str:
    scheduler = queue.scheduler if queue else None
    if scheduler is None or isinstance(scheduler, Unknown):
        return "not stated"
    if scheduler.type != "strict":
        return f"weight {scheduler.weight}"
    if scheduler.peak_bytes_per_s is None or interface is None or not isinstance(interface.speed_mbps, int):
        return "strict"
    peak_mbps = scheduler.peak_bytes_per_s * 8 // 1_000_000
    return f"strict, at most {show_speed(peak_mbps)} of {show_speed(interface.speed_mbps)}"


def _distinct_watchdogs(fabric: Fabric) -> Iterator[FactsByKey]:
    """Yield each distinct watchdog of ports with PFC, by role, platform and side; None where nothing watches."""
    seen: set[tuple[Any, ...]] = set()
    yielded: list[FactsByKey] = []
    for device in fabric.devices:
        for port in device.interfaces:
            qos = port.qos
            if port.enabled is not True or not isinstance(qos, QosProfile) or not qos.pfc_rx_priorities:
                continue
            key = (device.role, device.platform, port.side, device.watchdog_polling_ms, qos)
            if key in seen:
                continue
            seen.add(key)
            row = {
                "role": known_or_none(device.role),
                "platform": device.platform,
                "side": known_or_none(port.side),
                "polling_ms": known_or_none(device.watchdog_polling_ms),
                "watchdog": _watchdog_timer_facts(qos.pfc_watchdog),
            }
            if row not in yielded:
                yielded.append(row)
                yield row


def _watchdog_timer_facts(watchdog: PfcWatchdog | None | Unknown) -> FactsByKey | None:
    if watchdog is None or isinstance(watchdog, Unknown):
        return None
    return {
        "priorities": list(watchdog.priorities) if isinstance(watchdog.priorities, tuple) else None,
        "detection_ms": known_or_none(watchdog.detection_ms),
        "restoration_ms": known_or_none(watchdog.restoration_ms),
        "action": known_or_none(watchdog.taken_action),
    }
