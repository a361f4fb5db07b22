"""What holds for all switches and hosts: watchdogs, buffers, trimming, NICs, services, drained switches."""

from collections.abc import Iterable, Iterator
from typing import Any

from nodrop.design.buffers import ALPHA_EXPONENT
from nodrop.design.host_settings import ROCE_OVERHEAD_BYTES, tos_of
from nodrop.hardware.shares import lossless_share_percent
from nodrop.importing.classes import known_classes, size
from nodrop.importing.found import Found, Keys, Lack, Tree, stated
from nodrop.importing.sight import Cables, Sight, usual
from nodrop.model.addresses import address_of
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers
from nodrop.model.fabric import CounterStream, Device, Host, Interface, Side, Trimming
from nodrop.model.modes import WITH_PFC
from nodrop.model.qos import PfcWatchdog, QosProfile, WatchdogConditions
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, UnknownFact, those_known
from nodrop.platforms.traits import known_traits
from nodrop.units import show_us

_ALPHA = {exponent: int(text) if text.isdecimal() else text for text, exponent in ALPHA_EXPONENT.items()}
_RDMA_MTUS = (4096, 2048, 1024, 512, 256)


def fabric(sight: Sight) -> Found:
    """Return the fabric's name, mode and MTU."""
    mtu = usual(_used_ports(sight, "mtu_bytes"))
    mode = sight.fabric.mode
    plain = not any(isinstance(port.qos, QosProfile) for box in sight.boxes for port in box.device.interfaces)
    return Found(
        guessed={("mode",): "no port has QoS, so that nothing pauses"} if plain else {},
        keys=stated(
            nodrop=1,
            fabric=sight.fabric.name,
            mode=None if mode == "lossless" else mode,
            mtu=None if mtu in (None, 9216) else mtu,
        ),
    )


def watchdog(sight: Sight, cables: Cables) -> Found:
    """Return all timers of the watchdogs as they are stated, else as most ports of a side have them."""
    profiles = (port.qos for box in sight.boxes for port in box.device.interfaces)
    if sight.fabric.mode not in WITH_PFC or not any(isinstance(one, QosProfile) for one in profiles):
        return Found()
    policy = sight.fabric.policy
    sides: Tree = {}
    wanted_of: dict[str, tuple[Side, PfcWatchdog | None | Unknown]] = {
        "hosts": ("host", policy.host_watchdog),
        "fabric": ("fabric", policy.fabric_watchdog),
    }
    for key, (side, wanted) in wanted_of.items():
        if isinstance(wanted, Unknown) and not any(_of_side(sight, cables, side)):
            continue
        watched = _of_ports(sight, cables, side) if isinstance(wanted, Unknown) else wanted
        if watched is None:
            sides[key] = "off" if key == "fabric" else {}
            continue
        sides[key] = stated(
            detection=_ms(watched.detection_ms), restoration=_ms(watched.restoration_ms), action=_word(watched.action)
        )
    pollings = {
        one.device.watchdog_polling_ms for one in sight.boxes if isinstance(one.device.watchdog_polling_ms, int)
    }
    polling = f"{min(pollings)}ms" if len(pollings) == 1 else None
    told = usual(one.device.watchdog_conditions for one in sight.boxes)
    keys = stated(**sides, polling=polling, stuck=_stuck(told) if isinstance(told, WatchdogConditions) else None)
    return Found(keys={"pfc": {"watchdog": keys}})


def _of_ports(sight: Sight, cables: Cables, side: Side) -> PfcWatchdog | None:
    """Return the watchdog of most ports of a side, of those that say most."""
    found = [one.pfc_watchdog for one in _of_side(sight, cables, side) if isinstance(one.pfc_watchdog, PfcWatchdog)]
    whole = [one for one in found if isinstance(one.restoration_ms, int) and one.action is not None]
    return usual(whole or found)


def _of_side(sight: Sight, cables: Cables, side: Side) -> Iterator[QosProfile]:
    """Yield what is known of the ports of a side."""
    for tier, usually in ((sight.leaves, "host"), (sight.spines, "fabric")):
        for box in tier:
            beyond = cables.beyond(box.device.name)
            for port in box.device.interfaces:
                if isinstance(port.qos, QosProfile) and _towards(port, beyond, usually) == side:
                    yield port.qos


def _towards(port: Interface, beyond: frozenset[str], usually: str) -> str | None:
    """Return a port's side; where nobody says it, that of sessions with what was not read, else its tier's usual."""
    if not isinstance(port.side, Unknown):
        return port.side
    return "fabric" if port.name in beyond else usually


def _ms(value: object) -> str | None:
    return f"{value}ms" if isinstance(value, int) else None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _stuck(told: WatchdogConditions) -> Tree:
    paused, sent, fill = told.pause_ten_thousandths, told.sent_frames, told.queue_percent
    return stated(
        paused=None if paused is None or paused % 100 else f"{paused // 100}%",
        sent=sent,
        fill=None if fill is None else f"{fill}%",
    )


def buffers(sight: Sight) -> Found:
    """Return the share of the lossless pool, the threshold, whether headroom is shared, and the traffic's pattern."""
    if sight.fabric.mode not in WITH_PFC:
        return Found()
    wanted = sight.fabric.policy.lossless_pool_percent
    pools = [one.device.buffer_pools for one in sight.boxes if isinstance(one.device.buffer_pools, tuple)]
    shares = [share for own in pools if 0 < (share := _share(own)) < 100]
    planned = wanted if isinstance(wanted, int) else max(shares, default=None)
    facts = (one.device.dynamic_buffers for one in sight.boxes)
    dynamic = [one for one in facts if isinstance(one, DynamicBuffers)]
    exponent = usual([*(one.dynamic_th for one in dynamic)] or _thresholds(sight))
    ratio = max((one.over_subscribe_ratio or 0 for one in dynamic), default=0)
    patterns = {
        one.device.dynamic_buffers.pattern_mtu_bytes
        for one in sight.boxes
        if isinstance(one.device.dynamic_buffers, DynamicBuffers) and _has_patterns(one.device.platform)
    }
    keys = stated(
        lossless_pool=None if planned in (None, 90) else f"{planned}%",
        alpha=None if exponent in (None, 0) else _ALPHA.get(exponent),
        shared_headroom=None if not ratio else "on" if ratio == 1 else ratio,
        pattern_mtu=patterns.pop() if len(patterns) == 1 else None,
    )
    return Found(keys={"buffers": keys} if keys else {})


def _share(pools: tuple[BufferPool, ...]) -> int:
    """Return the share of the lossless pool in percent; 0 where sizes are not known."""
    try:
        return lossless_share_percent(pools)
    except UnknownFact:
        return 0


def _has_patterns(platform: str) -> bool:
    """Whether a platform's traffic pattern can be set."""
    held = known_traits(platform)
    return held is not None and held.pattern_mtu_bytes is None


def _used_ports(sight: Sight, name: str) -> Iterator[int]:
    """Yield a number that ports have, for every port that is not shut and is known to have one."""
    for box in sight.boxes:
        for port in box.device.interfaces:
            if port.enabled is not False and isinstance(value := getattr(port, name), int):
                yield value


def _thresholds(sight: Sight) -> Iterator[int]:
    """Yield the thresholds of lossless priority groups."""
    for box in sight.boxes:
        for port in box.device.interfaces:
            if isinstance(port.qos, QosProfile):
                for group in those_known(port.qos.priority_groups):
                    buffer = group.buffer
                    if isinstance(buffer, BufferProfile) and buffer.headroom and buffer.dynamic_th is not None:
                        yield buffer.dynamic_th


def trimming(sight: Sight) -> Found:
    """Return the size to which packets are cut, and the class that cut ones travel in."""
    if sight.fabric.mode not in ("trim", "uec"):
        return Found()
    told = usual(one.device.trimming for one in sight.boxes if isinstance(one.device.trimming, Trimming))
    if told is None:
        return Found()
    into = next((one.name for one in sight.fabric.classes if isinstance(one.tc, int) and one.tc == told.queue), None)
    implied = (None,) if sight.fabric.mode == "uec" else (None, 256)  # in mode uec, the key turns trimming on
    bytes_kept = None if told.size_bytes in implied else size(told.size_bytes)
    keys = stated(size=bytes_kept, into=None if into == "trimmed" else into)
    return Found(keys={"trimming": keys} if keys else {})


def hosts(sight: Sight) -> Found:
    """Return how the NICs are set, as most hosts are stated to be."""
    known = sight.fabric.hosts

    def most(name: str) -> Any:
        found = usual(getattr(host, name) for host in known)
        return None if isinstance(found, Unknown) else found

    if not known:
        mtu = usual(_used_ports(sight, "mtu_bytes")) or 9216
        fits = next((one for one in _RDMA_MTUS if one + ROCE_OVERHEAD_BYTES <= mtu), _RDMA_MTUS[-1])
        keys = {} if fits == _RDMA_MTUS[0] else {"rdma_mtu": fits}
        why = "no file says how NICs are set; as the switches expect it"
        return Found(keys={"hosts": keys} if keys else {}, guessed={("hosts",): why} if keys else {})
    mode = sight.fabric.mode
    pfc, dcqcn, left = most("pfc_priorities"), most("dcqcn"), list(_unlike(known))
    fifo = most("fifo_tos")
    fifo_class = _class_of(sight, fifo) if fifo is not None else None
    if fifo is not None and fifo_class is None:
        left.append(f"control messages of NCCL with ToS {fifo}, which is not the first of a class")
    keys = stated(
        tos=most("tos"),
        cnp_dscp=most("cnp_dscp"),
        fifo_class=fifo_class,
        trust=_unless(most("trust"), "dscp"),
        pfc=None if pfc is None else [*pfc],
        dcqcn=_unless(dcqcn, mode not in ("pfc-only", "uec")),
        rdma_mtu=_unless(most("rdma_mtu_bytes"), 4096),
        queue_pairs=most("queue_pairs"),
        out_of_order=most("out_of_order"),
    )
    return Found(keys={"hosts": keys} if keys else {}, left=tuple(left))


def _class_of(sight: Sight, tos: int) -> str | None:
    """Return the class whose first DSCP makes a ToS byte."""
    classes = (one for one in known_classes(sight)[0] if one.dscp)
    return next((one.name for one in classes if tos_of(min(one.dscp)) == tos), None)


def _unless(value: Any, default: Any) -> Any:
    return None if value == default else value


def _unlike(known: tuple[Host, ...]) -> Iterable[str]:
    once = ("tos", "fifo_tos", "cnp_dscp", "trust", "pfc_priorities", "dcqcn", "rdma_mtu_bytes", "queue_pairs")
    for name in (*once, "out_of_order"):
        values = {str(getattr(host, name)) for host in known}
        if len(values) > 1:
            yield f"hosts have several values of {name}: {', '.join(sorted(values))}; an intent has one"


def services(sight: Sight) -> Found:
    """Return the services, and the switches that are drained."""
    devices = [one.device for one in sight.boxes]

    def every(name: str) -> list[Any]:
        found = (getattr(one, name) for one in devices)
        return [one for one in found if not isinstance(one, Unknown)]

    left: list[str] = []

    def listed(name: str) -> list[str] | None:
        most = usual(every(name)) or ()
        if names := [one for one in most if not address_of(one)]:
            left.append(f"{name}: {', '.join(names)}; an intent has addresses")
        return [one for one in most if address_of(one)] or None

    snmp = stated(location=usual(every("snmp_location")), contact=usual(every("snmp_contact")))
    collectors = usual(one for one in every("otlp_collectors") if one)
    stream = usual(one for one in every("high_frequency") if one)
    telemetry = stated(
        high_frequency=_high_frequency(stream or ()),
        gnmi=True if any(every("gnmi_port")) else None,
        otlp=[one.key for one in collectors] if collectors else None,
    )
    keys = stated(
        ntp=listed("ntp_servers"), syslog=listed("syslog_servers"), dns=listed("dns_servers"),
        snmp=snmp or None, telemetry=telemetry or None,
    )  # fmt: skip
    found: Tree = {"services": keys} if keys else {}
    drained = {one.name: {"drained": True} for one in devices if _drained(one)}
    return Found(keys=found | ({"devices": drained} if drained else {}), left=tuple(left))


def _high_frequency(streams: tuple[CounterStream, ...]) -> Tree | None:
    """Return the key of the only stream of a switch, if it has one that is on and has one kind of objects."""
    if len(streams) != 1 or not streams[0].enabled or len(streams[0].samples) != 1 or not streams[0].interval_us:
        return None
    return {"interval": show_us(streams[0].interval_us), "objects": streams[0].samples[0].kind}


def _drained(device: Device) -> bool:
    return isinstance(device.bgp, Bgp) and device.bgp.graceful_shutdown


def routing(sight: Sight) -> Found:
    """Return AS numbers, how sessions go, and how flows are spread."""
    processes = {box.device.name: box.device.bgp for box in sight.boxes if isinstance(box.device.bgp, Bgp)}
    neighbors = [one for bgp in processes.values() for one in those_known(bgp.neighbors)]
    asn: Tree = {}
    lacking: dict[Keys, Lack] = {}
    guessed: dict[Keys, str] = {}
    for key, boxes in (("spines", sight.spines), ("leaves", sight.leaves)):
        pairs = [(box.id, bgp.asn) for box in boxes if (bgp := processes.get(box.device.name))]
        found = _asn(pairs, shared=key == "spines")
        if found is None:
            beyond = usual(one.remote_asn for one in neighbors if isinstance(one.remote_asn, int))
            example: object = beyond or 4200000000 if key == "spines" else "4200100000+"
            lacking["routing", "asn", key] = Lack("no file says AS numbers", example)
            continue
        asn[key], unlike = found
        if unlike:
            own = ", ".join(f"{key[:-1] if key == 'spines' else 'leaf'}{number}" for number in unlike[:8])
            guessed["routing", "asn", key] = f"most have it, and not {own}"
    fields = usual(box.device.hash_fields for box in sight.boxes if isinstance(box.device.hash_fields, tuple))
    unnumbered = bool(neighbors) and sum(one.interface is not None for one in neighbors) * 2 > len(neighbors)
    keys = stated(
        sessions="unnumbered" if unnumbered else None,
        asn=asn or None,
        delivery="tables" if any(box.device.routing_tables is True for box in sight.boxes) else None,
        balancing="adaptive" if any(box.device.adaptive_routing is True for box in sight.boxes) else None,
        hash=[*fields] if fields else None,
        bfd=True if neighbors and sum(one.bfd for one in neighbors) * 2 > len(neighbors) else None,
    )
    return Found(keys={"routing": keys}, guessed=guessed, lacking=lacking)


def _asn(pairs: list[tuple[int, int]], *, shared: bool) -> tuple[Any, list[int]] | None:
    """Return the rule of a tier's AS numbers, and the switches that have others."""
    if not pairs:
        return None
    base = usual(asn - number for number, asn in pairs)
    same = usual(asn for _, asn in pairs)
    assert base is not None
    assert same is not None
    by_id = sum(asn - number == base for number, asn in pairs)
    alike = sum(asn == same for _, asn in pairs)
    if (shared and alike >= by_id) or base < 1:
        return same, [number for number, asn in pairs if asn != same]
    return f"{base}+", [number for number, asn in pairs if asn - number != base]
