"""A fabric as facts: what there is to show of it, as plain data."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from nodrop.fabric import effects
from nodrop.fabric.fabric import Device, Fabric, Host, Interface
from nodrop.fabric.qos import PfcWatchdog, QosProfile, Queue
from nodrop.fabric.states import Unknown, UnknownFact
from nodrop.hardware import switch, switches
from nodrop.hardware.dynamic import budget
from nodrop.lint.vocabulary.qos import pause_threshold_bytes
from nodrop.units import show_speed

Facts = dict[str, Any]


def facts(fabric: Fabric, defaults: Sequence[tuple[str, str, str]]) -> Facts:
    """Return what there is to show of a fabric, as plain data; rates in Mb/s, sizes in bytes, times in ms."""
    return {
        "version": 1,
        "fabric": fabric.name,
        "mode": fabric.mode,
        "devices": [_device(device) for device in fabric.devices],
        "bandwidth": _bandwidth(fabric),
        "links": _links(fabric),
        "classes": _classes(fabric),
        "watchdogs": _watchdogs(fabric),
        "headroom": list(_headroom(fabric)),
        "marking": list(_marking(fabric)),
        "pools": list(_pools(fabric)),
        "defaults": [{"key": key, "value": value, "source": source} for key, value, source in defaults],
    }


def _device(device: Device) -> Facts:
    model = device.model if isinstance(device.model, str) else None
    used = sum(interface.enabled is True for interface in device.interfaces)
    return {
        "name": device.name,
        "role": device.role,
        "model": model,
        "platform": device.platform,
        "version": device.version,
        "asn": device.bgp.asn if device.bgp and not isinstance(device.bgp, Unknown) else None,
        "loopback": [a for lo in device.loopbacks for a in lo.addresses] if isinstance(device.loopbacks, tuple) else [],
        "management": list(device.management.addresses)
        if device.management and not isinstance(device.management, Unknown)
        else [],
        "ports_used": used,
        "ports": len(switch(model).panels) if model in switches() else len(device.interfaces),
    }


def _bandwidth(fabric: Fabric) -> Facts:
    """Return injection, per GPU, oversubscription and one-way bisection.

    Bisection is that of an even split of the leaves: the smaller of half the injection and half the uplinks (one
    direction), which is how a non-blocking fabric equals half of what its hosts can send.
    """
    names = {device.name for device in fabric.devices}
    down: Counter[str] = Counter()
    up: Counter[str] = Counter()
    speeds = {(d.name, i.name): i.speed_mbps for d in fabric.devices for i in d.interfaces}
    tiers = {device.name: device.role for device in fabric.devices}
    for link in fabric.links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            speed = speeds.get((near.node, near.port))
            if not isinstance(speed, int) or tiers.get(near.node) != "leaf":
                continue
            (up if far.node in names else down)[near.node] += speed
    gpu_hosts = [host for host in fabric.hosts if host.gpus]
    gpus = sum(host.gpus for host in gpu_hosts)
    injection = sum(_host_mbps(host) for host in fabric.hosts)
    uplinks = sum(up.values())
    worst = max((down[leaf] / up[leaf] for leaf in down if up[leaf]), default=None)
    return {
        "hosts": len(fabric.hosts),
        "gpus": gpus,
        "injection_mbps": injection,
        "per_gpu_mbps": sum(map(_host_mbps, gpu_hosts)) // gpus if gpus else None,
        "uplinks_mbps": uplinks,
        "oversubscription": worst,
        "bisection_mbps": min(injection, uplinks) // 2,
    }


def _host_mbps(host: Host) -> int:
    return sum(port.speed_mbps for port in host.ports if isinstance(port.speed_mbps, int))


def _links(fabric: Fabric) -> list[Facts]:
    roles: dict[str, str] = {device.name: str(device.role) for device in fabric.devices}
    roles |= {host.name: host.group for host in fabric.hosts}
    speeds = {(d.name, i.name): i.speed_mbps for d in fabric.devices for i in d.interfaces}
    groups: Counter[tuple[Any, ...]] = Counter()
    for link in fabric.links:
        speed = next((s for end in (link.a, link.b) if isinstance(s := speeds.get((end.node, end.port)), int)), None)
        between = sorted((roles.get(link.a.node, "?"), roles.get(link.b.node, "?")), key=lambda role: role == "spine")
        if between[0] == "leaf" and between[1] != "spine":
            between.reverse()
        groups[(*between, speed, link.media, link.length_m)] += 1
    return [
        {"from": a, "to": b, "count": count, "speed_mbps": speed, "media": _plain(media), "length_m": _plain(length)}
        for (a, b, speed, media, length), count in sorted(groups.items(), key=str)
    ]


def _plain(value: Any) -> Any:
    return None if isinstance(value, Unknown) else value


def _profiles(fabric: Fabric) -> Iterator[tuple[Device, Interface, QosProfile]]:
    """Yield one port for every distinct role, model and profile."""
    seen: set[tuple[object, ...]] = set()
    for device in fabric.devices:
        for interface in device.interfaces:
            key = (str(device.role), device.model if isinstance(device.model, str) else device.name, id(interface.qos))
            if isinstance(interface.qos, QosProfile) and key not in seen:
                seen.add(key)
                yield device, interface, interface.qos


def _classes(fabric: Fabric) -> list[Facts]:
    _, interface, qos = next(_profiles(fabric), (None, None, None))
    result = []
    for one in sorted(
        fabric.classes, key=lambda one: (not isinstance(one.tc, int), one.tc if isinstance(one.tc, int) else 0)
    ):
        tc = one.tc if isinstance(one.tc, int) else None
        queue = effects.queue(qos, effects.queue_of_tc(qos, tc)) if qos is not None and tc is not None else None
        result.append(
            {
                "name": one.name,
                "purpose": one.purpose,
                "dscp": list(one.dscp),
                "tc": tc,
                "lossless": _plain(one.lossless),
                "scheduling": _scheduling(queue, interface),
                "ecn": _ecn(queue),
            }
        )
    return result


def _scheduling(queue: Queue | None, interface: Interface | None) -> str:
    scheduler = queue.scheduler if queue else None
    if scheduler is None or isinstance(scheduler, Unknown):
        return "not stated"
    if scheduler.type != "strict":
        return f"weight {scheduler.weight}"
    if scheduler.peak_bytes_per_s is None or interface is None or not isinstance(interface.speed_mbps, int):
        return "strict"
    peak_mbps = scheduler.peak_bytes_per_s * 8 // 1_000_000
    return f"strict, at most {show_speed(peak_mbps)} of {show_speed(interface.speed_mbps)}"


def _ecn(queue: Queue | None) -> Facts | None:
    wred = queue.wred if queue else None
    if wred is None or isinstance(wred, Unknown):
        return None
    green = wred.green
    return {"min": green.min_bytes, "max": green.max_bytes, "probability_percent": green.probability_percent}


def _watchdogs(fabric: Fabric) -> Facts:
    def timers(watchdog: PfcWatchdog | None | Unknown) -> Facts | None:
        if watchdog is None or isinstance(watchdog, Unknown):
            return None
        return {
            "priorities": list(watchdog.priorities),
            "detection_ms": watchdog.detection_ms,
            "restoration_ms": watchdog.restoration_ms,
            "action": watchdog.action,
        }

    polling = sorted(
        {device.watchdog_polling_ms for device in fabric.devices if isinstance(device.watchdog_polling_ms, int)}
    )
    return {
        "hosts": timers(fabric.policy.host_watchdog),
        "fabric": timers(fabric.policy.fabric_watchdog),
        "polling_ms": polling,
    }


def _headroom(fabric: Fabric) -> Iterator[Facts]:
    """Yield the headroom of every distinct kind of lossless port, with what it is made of."""
    seen: set[tuple[Any, ...]] = set()
    for device, interface, qos in _profiles(fabric):
        key = (device.model, interface.side, interface.speed_mbps, interface.cable_length_m)
        if key in seen or not isinstance(qos.priority_groups, tuple) or not isinstance(interface.cable_length_m, int):
            continue
        seen.add(key)
        for group in qos.priority_groups:
            if not group.lossless:
                continue
            try:
                made = budget(device, interface, length_m=interface.cable_length_m)
            except UnknownFact:
                continue
            ports = sum(
                (other.side, other.speed_mbps, other.cable_length_m) == key[1:]
                for one in fabric.devices
                if one.model == device.model
                for other in one.interfaces
            )
            yield {
                "model": device.model,
                "side": _plain(interface.side),
                "ports": ports,
                "priority_group": group.index,
                "speed_mbps": interface.speed_mbps,
                "length_m": interface.cable_length_m,
                "xoff": made.xoff,
                "xon": made.xon,
                "size": made.size,
                "parts": {
                    "port_mtu": made.mtu,
                    "cable": made.cable,
                    "mac_phy": made.mac_phy,
                    "peer_response": made.peer_response,
                    "tile": made.tile,
                    "pattern_mtu": made.pattern_mtu,
                    "rounding": made.rounding,
                },
                "cell_occupancy": round(made.occupancy, 4),
            }


def _marking(fabric: Fabric) -> Iterator[Facts]:
    """Yield where RDMA queues mark and where their senders are paused."""
    seen: set[tuple[Any, ...]] = set()
    for device, _, qos in _profiles(fabric):
        for index in effects.rdma_queues(fabric, qos):
            ecn = _ecn(effects.queue(qos, index))
            try:
                paused = pause_threshold_bytes(device, qos, index)
            except UnknownFact:
                paused = None
            key = (device.model, device.role, index, str(ecn), paused)
            if key not in seen:
                seen.add(key)
                yield {
                    "role": device.role,
                    "model": device.model,
                    "queue": index,
                    "ecn": ecn,
                    "pause_from": None if paused is None else round(paused),
                }


def _pools(fabric: Fabric) -> Iterator[Facts]:
    seen: set[tuple[Any, ...]] = set()
    for device in fabric.devices:
        for pool in device.buffer_pools if isinstance(device.buffer_pools, tuple) else ():
            key = (device.role, device.model, pool)
            if key not in seen:
                seen.add(key)
                yield {
                    "role": device.role,
                    "model": device.model,
                    "pool": pool.name,
                    "size": _plain(pool.size_bytes),
                    "percentage": pool.percentage,
                    "computed": pool.computed,
                }
