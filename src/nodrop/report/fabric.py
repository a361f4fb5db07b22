"""A fabric as facts and as a page: what `nodrop show` prints."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nodrop.fabric import effects
from nodrop.fabric.fabric import Device, Fabric, Host, Interface, Link
from nodrop.fabric.qos import PfcWatchdog, QosProfile, Queue
from nodrop.fabric.states import Unknown, UnknownFact
from nodrop.hardware import switch, switches
from nodrop.hardware.dynamic import budget
from nodrop.lint.vocabulary.qos import pause_threshold_bytes
from nodrop.report.escape import terminal
from nodrop.units import show_bytes, show_ids, show_speed

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
        "management": list(device.management.addresses) if device.management and not isinstance(device.management, Unknown) else [],
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
    for one in sorted(fabric.classes, key=lambda one: (not isinstance(one.tc, int), one.tc if isinstance(one.tc, int) else 0)):
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
    return f"strict, at most {show_speed(scheduler.peak_bytes_per_s * 8 // 1_000_000)} of {show_speed(interface.speed_mbps)}"


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

    polling = sorted({device.watchdog_polling_ms for device in fabric.devices if isinstance(device.watchdog_polling_ms, int)})
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
    for device, interface, qos in _profiles(fabric):
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


def text(of: Facts) -> str:
    """Return the facts as a page for a terminal, without color, every line ended."""
    return "\n".join(line.rstrip() for line in _page(of)) + "\n"


def _page(of: Facts) -> Iterator[str]:
    wide = of["bandwidth"]
    yield f"{of['fabric']}: {of['mode']} fabric of {len(of['devices'])} switches and {wide['hosts']} hosts"
    yield ""
    yield f"  injection          {show_speed(wide['injection_mbps'])}b/s from {wide['hosts']} hosts"
    if wide["gpus"]:
        yield f"  per GPU            {show_speed(wide['per_gpu_mbps'])}b/s for {wide['gpus']} GPUs"
    if wide["oversubscription"] is not None:
        yield f"  oversubscription   {wide['oversubscription']:g}:1 at the worst leaf"
    yield f"  bisection          {show_speed(wide['bisection_mbps'])}b/s, one way"
    yield from _section("Devices", ("name", "role", "model", "platform", "AS", "loopback", "management", "ports used"), _device_rows(of))
    yield from _section("Links", ("from", "to", "count", "speed", "medium", "length"), _link_rows(of))
    yield from _section("Classes", ("class", "TC", "DSCP", "", "scheduling", "ECN: min, max, probability"), _class_rows(of))
    yield from _section("PFC watchdogs", ("side", "priorities", "detection", "restoration", "action"), _watchdog_rows(of))
    yield from _section(
        "Headroom, as the switch computes it", ("ports", "of", "speed", "cable", "xoff", "xon", "size", "xoff is made of"), _headroom_rows(of)
    )
    yield from _section("Marking before pause", ("role", "queue", "marks from", "all from", "senders paused from"), _marking_rows(of))
    yield from _section("Buffer pools", ("role", "pool", "size", "share"), _pool_rows(of))
    if of["defaults"]:
        rows = [(row["key"], row["value"], row["source"]) for row in of["defaults"]]
        yield from _section("Defaults that hold", ("key", "value", "because"), rows)


def _section(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    table = [[terminal(cell) for cell in row] for row in rows]
    if not table:
        return
    widths = [max(len(row[column]) for row in (head, *table)) for column in range(len(head))]
    yield ""
    yield title
    for row in (head, *table):
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))


def _device_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["devices"]:
        yield (
            row["name"],
            str(row["role"]),
            str(row["model"]),
            f"{row['platform']} {row['version']}",
            str(row["asn"] or ""),
            ", ".join(row["loopback"]),
            ", ".join(row["management"]),
            f"{row['ports_used']} of {row['ports']}",
        )


def _link_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["links"]:
        speed = show_speed(row["speed_mbps"]) if row["speed_mbps"] else "unknown"
        length = "unknown" if row["length_m"] is None else f"{row['length_m']} m"
        yield (row["from"], row["to"], str(row["count"]), speed, row["media"] or "unknown", length)


def _class_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["classes"]:
        ecn = row["ecn"]
        marks = f"{show_bytes(ecn['min'])}, {show_bytes(ecn['max'])}, {ecn['probability_percent']}%" if ecn else ""
        kind = "lossless" if row["lossless"] else "lossy"
        yield (row["name"], str(row["tc"]), show_ids(tuple(row["dscp"])), kind, row["scheduling"], marks)


def _watchdog_rows(of: Facts) -> Iterator[Sequence[str]]:
    for side in ("hosts", "fabric"):
        row = of["watchdogs"][side]
        if row is None:
            yield (side, "off", "", "", "")
        else:
            yield (side, show_ids(tuple(row["priorities"])), f"{row['detection_ms']} ms", f"{row['restoration_ms']} ms", row["action"])
    yield ("polling", "", ", ".join(f"{one} ms" for one in of["watchdogs"]["polling_ms"]), "", "")


def _headroom_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["headroom"]:
        parts = row["parts"]
        made = " + ".join(str(parts[key]) for key in ("port_mtu", "cable", "mac_phy", "peer_response", "tile") if parts[key])
        yield (
            f"{row['ports']} {row['side']} ports",
            str(row["model"]),
            show_speed(row["speed_mbps"]),
            f"{row['length_m']} m",
            str(row["xoff"]),
            str(row["xon"]),
            str(row["size"]),
            f"({made}) × {row['cell_occupancy']} + {parts['pattern_mtu']} + {parts['rounding']}",
        )
    if of["headroom"]:
        yield ("", "", "", "", "", "", "", "(port MTU + cable + MAC/PHY + peer response + tile) × cell occupancy + pattern MTU + rounding")


def _marking_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["marking"]:
        ecn = row["ecn"] or {"min": None, "max": None}
        cells = [show_bytes(value) if value is not None else "never" for value in (ecn["min"], ecn["max"])]
        paused = "unknown" if row["pause_from"] is None else show_bytes(row["pause_from"])
        yield (str(row["role"]), str(row["queue"]), *cells, paused)


def _pool_rows(of: Facts) -> Iterator[Sequence[str]]:
    for row in of["pools"]:
        size = "unknown" if row["size"] is None else f"{show_bytes(row['size'])}{', computed' if row['computed'] else ''}"
        share = "" if row["percentage"] is None else f"{row['percentage']}% of what is left"
        yield (str(row["role"]), row["pool"], size, share)
