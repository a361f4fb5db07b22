"""Traffic classes: as they are stated, else one for each traffic class that ports' maps have."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nodrop.importing.parts import (
    DerivedIntentPart,
    KeyPath,
    KeyTree,
    MissingIntentKey,
    facts_not_none,
    format_number_ranges,
)
from nodrop.importing.tier_view import TierView, most_common_value
from nodrop.model.fabric import PURPOSES, Interface, Mode, Purpose, TrafficClass
from nodrop.model.qos import QosProfile, Queue, Scheduler, WredProfile
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, known_rows

_PURPOSE_ORDER = ("rdma", "trimmed", "cnp", "control", "storage", "inband", "default")
_CNP, _CONTROL = 48, 56
"""Where CNPs of NVIDIA's NICs and network control (CS7) are by convention."""
_CONVENTIONAL_ECN_MARKING: KeyTree = {"min": "150kB", "max": "1500kB", "probability": "100%"}
_CONVENTIONAL_CLASSES: KeyTree = {
    "cnp": {"dscp": _CNP, "priority": 6, "strict": True},
    "control": {"dscp": _CONTROL, "priority": 7, "strict": True},
    "default": {"dscp": "rest", "priority": 0, "share": "40%"},
}
_DSCP_COUNT = 64


class PortTrafficClass(NamedTuple):
    """A traffic class with its queue's settings on a port, and the port's speed."""

    queue: Queue
    speed_mbps: int | None


def stated_or_inferred_classes(tier_view: TierView) -> tuple[list[TrafficClass], str]:
    """Return the classes that are stated, else those that ports' maps result in, and why these are a guess."""
    if stated_ := [traffic_class for traffic_class in tier_view.fabric.classes if isinstance(traffic_class.tc, int)]:
        return stated_, ""
    why = "no file says what traffic is for: names and purposes follow conventions"
    return list(_infer_classes(_ports_with_qos(tier_view), tier_view.fabric.mode, _session_dscp(tier_view))), why


def does_pfc_without_marking(tier_view: TierView) -> bool:
    """Whether ports pause priorities, and no queue of any port marks packets; not where a file leaves that open."""
    profiles = [port.qos for port in _ports_with_qos(tier_view) if isinstance(port.qos, QosProfile)]
    queues = [profile.queues for profile in profiles]
    marking = [queue.wred for own in queues if isinstance(own, tuple) for queue in own]
    return (
        any(known_rows(profile.pfc_rx_priorities) for profile in profiles)
        and all(isinstance(own, tuple) for own in queues)
        and all(wred is None or (isinstance(wred, WredProfile) and wred.ecn_colors == ()) for wred in marking)
    )


def _session_dscp(tier_view: TierView) -> int | None:
    """Return the DSCP that most switches state for packets of BGP; None where none does."""
    processes = (box.device.bgp for box in tier_view.switches_from_lowest_tier)
    return most_common_value(
        bgp.session_dscp for bgp in processes if isinstance(bgp, Bgp) and isinstance(bgp.session_dscp, int)
    )


def _ports_with_qos(tier_view: TierView) -> list[Interface]:
    every = (port for box in tier_view.switches_from_lowest_tier for port in box.device.interfaces)
    return [port for port in every if isinstance(port.qos, QosProfile) and port.enabled is not False]


def derive_classes(tier_view: TierView) -> DerivedIntentPart:
    """Return the classes with their shares, rates and marking, as most ports have them."""
    known_traffic_classes, why = stated_or_inferred_classes(tier_view)
    guessed: dict[KeyPath, str] = {("classes",): why} if why else {}
    if not known_traffic_classes:
        return DerivedIntentPart(
            lacking={("classes",): MissingIntentKey("no port has QoS", _make_example_classes(tier_view.fabric.mode))}
        )
    remainder = max(known_traffic_classes, key=lambda one: (one.purpose == "default", len(one.dscp), one.name)).name
    named_dscps = {dscp for row in known_traffic_classes if row.name != remainder for dscp in row.dscp}
    total = (
        len(named_dscps) + len(next(row for row in known_traffic_classes if row.name == remainder).dscp) == _DSCP_COUNT
    )
    queues = _queues_by_number(_ports_with_qos(tier_view))
    keys: KeyTree = {}
    for traffic_class in sorted(
        known_traffic_classes, key=lambda candidate: (_class_sort_index(candidate), candidate.name)
    ):
        assert isinstance(traffic_class.tc, int)
        own_ports = queues.get(traffic_class.tc, [])
        schedule = most_common_value(seen.queue.scheduler for seen in own_ports)
        strict = isinstance(schedule, Scheduler) and schedule.type == "strict"
        share = traffic_class.share_percent if isinstance(traffic_class.share_percent, int) else None
        if share is None and isinstance(schedule, Scheduler) and not strict:
            share = schedule.weight
        keys[traffic_class.name] = facts_not_none(
            dscp="rest"
            if traffic_class.name == remainder and total
            else format_number_ranges(traffic_class.dscp)
            if traffic_class.dscp
            else [],
            priority=traffic_class.tc,
            purpose=traffic_class.purpose if traffic_class.purpose not in ("unknown", traffic_class.name) else None,
            lossless=True if traffic_class.lossless is True else None,
            share=None if strict or share is None else f"{share}%",
            strict=True if strict else None,
            max_rate=_strict_queue_max_rate(own_ports) if strict else None,
            ecn=_ecn_marking_keys(own_ports),
        )
    normalize_class_shares(keys)
    return DerivedIntentPart(keys={"classes": keys}, guessed=guessed)


def normalize_class_shares(key_tree: KeyTree) -> None:
    """Make shares of all classes that are not strict parts of a hundred, as schedulers take them for weights."""
    shares = {name: int(facts["share"].removesuffix("%")) for name, facts in key_tree.items() if "share" in facts}
    total = sum(shares.values())
    if total in (0, 100) or any("share" not in facts and not facts.get("strict") for facts in key_tree.values()):
        return
    exact = {name: 100 * share / total for name, share in shares.items()}
    percents = {name: max(int(share), 1) for name, share in exact.items()}
    for name in sorted(exact, key=lambda key: percents[key] - exact[key])[: max(100 - sum(percents.values()), 0)]:
        percents[name] += 1
    for name, share in percents.items():
        key_tree[name]["share"] = f"{share}%"


def _make_example_classes(mode: Mode) -> KeyTree:
    """Return classes as they may be in a mode."""
    lossless = True if mode in ("lossless", "pfc-only") else None
    marked = None if mode == "pfc-only" else _CONVENTIONAL_ECN_MARKING
    return {
        "rdma": facts_not_none(dscp=26, priority=3, lossless=lossless, share="60%", ecn=marked),
        **_CONVENTIONAL_CLASSES,
    }


def _class_sort_index(traffic_class: TrafficClass) -> int:
    for word in (traffic_class.name, traffic_class.purpose):
        if word in _PURPOSE_ORDER:
            return _PURPOSE_ORDER.index(word)
    return len(_PURPOSE_ORDER) - 2


def _queues_by_number(ports: Iterable[Interface]) -> dict[int, list[PortTrafficClass]]:
    """Return the queues of all ports by number, those of a profile as often as ports have it."""
    seens: dict[int, list[PortTrafficClass]] = {}
    for port in ports:
        if isinstance(port.qos, QosProfile):
            for queue in known_rows(port.qos.queues):
                speed = port.speed_mbps if isinstance(port.speed_mbps, int) else None
                seens.setdefault(queue.index, []).append(PortTrafficClass(queue, speed))
    return seens


def _strict_queue_max_rate(seen: list[PortTrafficClass]) -> str | None:
    """Return the cap of a strict queue as a share of the ports' speeds, of those that are known."""
    seen = [seen_port for seen_port in seen if seen_port.speed_mbps]
    for percent in range(1, 101):
        if seen and all(_is_capped_at_percent(seen_port, percent) for seen_port in seen):
            return f"{percent}%"
    port = next((candidate for candidate in seen if isinstance(candidate.queue.scheduler, Scheduler)), None)
    if port is None or not isinstance(port.queue.scheduler, Scheduler) or not port.queue.scheduler.peak_bytes_per_s:
        return None
    assert port.speed_mbps is not None
    return f"{min(100, max(1, round(port.queue.scheduler.peak_bytes_per_s * 800 / (port.speed_mbps * 10**6))))}%"


def _is_capped_at_percent(port: PortTrafficClass, percent: int) -> bool:
    schedule = port.queue.scheduler
    assert port.speed_mbps is not None
    rate = port.speed_mbps * 1_000_000 // 8 * percent // 100
    return isinstance(schedule, Scheduler) and schedule.peak_bytes_per_s == rate


def _ecn_marking_keys(seen: list[PortTrafficClass]) -> KeyTree | None:
    wred_profile = most_common_value(port.queue.wred for port in seen if isinstance(port.queue.wred, WredProfile))
    if wred_profile is None or wred_profile.green.min_bytes is None or wred_profile.green.max_bytes is None:
        return None
    green = wred_profile.green
    if not wred_profile.ecn_colors:
        return None
    probability = 100 if green.probability_percent is None else green.probability_percent
    return {
        "min": format_size(green.min_bytes),
        "max": format_size(green.max_bytes),
        "probability": f"{max(probability, 1)}%",
    }


def format_size(count: int | None) -> str:
    """Write bytes as a person does: 150000 is `150kB`, 166912 `163KiB`; any other value is in bytes."""
    assert count is not None
    for unit, factor in (("MB", 10**6), ("MiB", 2**20), ("kB", 10**3), ("KiB", 2**10)):
        if count and count % factor == 0 and count // factor < 10_000 and (unit[-2] != "M" or count >= 10 * factor):
            return f"{count // factor}{unit}"
    return f"{count}B"


def _infer_classes(ports: list[Interface], mode: Mode, session_dscp: int | None) -> Iterator[TrafficClass]:
    """Yield a class for each traffic class that packets land in, called by convention.

    Without marking nobody sends CNPs, so that the class of BGP is that of control.
    """
    of_ports = (port.qos for port in ports if isinstance(port.qos, QosProfile))
    qos = most_common_value(profile for profile in of_ports if isinstance(profile.dscp_to_tc, tuple))
    if not isinstance(qos, QosProfile) or not isinstance(qos.dscp_to_tc, tuple):
        return
    dscps_of: dict[int, list[int]] = {}
    shared = _classes_sharing_queues(qos)
    for dscp, tc in enumerate(qos.dscp_to_tc):
        dscps_of.setdefault(shared.get(tc or 0, tc or 0), []).append(dscp)
    paused = () if isinstance(qos.pfc_rx_priorities, Unknown) else qos.pfc_rx_priorities
    queues = known_rows(qos.queues)
    marked = {queue.index for queue in queues if isinstance(queue.wred, WredProfile) and queue.wred.ecn_colors}
    rdma = next((tc for tc in paused if tc in dscps_of), next((tc for tc in sorted(marked) if tc in dscps_of), None))
    most = max((tc for tc in dscps_of if tc != rdma), key=lambda tc: (len(dscps_of[tc]), -tc), default=None)
    for tc, dscps in sorted(dscps_of.items()):
        name = f"class{tc}"
        if tc == rdma:
            name = "rdma"
        elif tc == most:
            name = "default"
        elif mode == "pfc-only" and session_dscp in dscps:
            name = "control"
        elif _CNP in dscps:
            name = "cnp"
        elif _CONTROL in dscps:
            name = "control"
        lossless = tc in paused and mode in ("lossless", "pfc-only")
        purpose: Purpose = next((candidate for candidate in PURPOSES if candidate == name), "unknown")
        yield TrafficClass(name=name, purpose=purpose, dscp=tuple(dscps), tc=tc, lossless=lossless)


def _classes_sharing_queues(qos: QosProfile) -> dict[int, int]:
    """Return the traffic classes with no queue to themselves and no PFC, by the class whose queue they share."""
    queues = qos.tc_to_queue
    paused = known_rows(qos.pfc_rx_priorities)
    if not isinstance(queues, tuple):
        return {}
    into = {tc: queue for tc, queue in enumerate(queues) if queue is not None and queue != tc and tc not in paused}
    return {tc: queue for tc, queue in into.items() if queue not in into and queue not in paused}
