"""From the intent's classes to maps, schedulers, marking and PFC: one number for traffic class, queue, priority group
and PFC priority of a lossless class, as the watchdog and SONiC's tools assume.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nodrop.intent.schema import Intent
from nodrop.intent.schema import TrafficClass as Wanted
from nodrop.model.fabric import PURPOSES, Purpose, TrafficClass
from nodrop.model.qos import COLORS, NumberMap, Scheduler, WredColor, WredProfile
from nodrop.model.states import UNKNOWN

DSCPS, PRIORITIES, TRAFFIC_CLASSES = 64, 8, 16
LOSSY_GROUP = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassesAndQosMaps:
    """The fabric's classes and the maps that all ports share; maps are total where the field expects it."""

    declared: tuple[TrafficClass, ...]
    wanted: tuple[tuple[Wanted, Purpose], ...]
    """What the intent says of each, and what it is for, by priority."""
    lossless: tuple[int, ...]
    """Lossless priorities, sorted."""
    dscp_to_tc: NumberMap
    tc_to_queue: NumberMap
    tc_to_priority_group: NumberMap
    pfc_to_queue: NumberMap
    pfc_to_priority_group: NumberMap
    control_dscp: int | None


def purpose_of(name: str, wanted_traffic_class: Wanted) -> Purpose:
    """Return the purpose of a class: the stated one, else its name if that is a purpose."""
    return wanted_traffic_class.purpose or (name if name in PURPOSES else "unknown")


def lossless_priorities(classes: Mapping[str, Wanted]) -> tuple[int, ...]:
    """Return the priorities of the lossless classes, sorted."""
    return tuple(
        sorted(
            wanted_traffic_class.priority for wanted_traffic_class in classes.values() if wanted_traffic_class.lossless
        )
    )


def rdma_or_lowest_lossless_class(classes: Mapping[str, Wanted]) -> str | None:
    """Return the lossless class of RDMA, else the one of the lowest priority; None without a lossless class."""
    lossless = [name for name, traffic_class in classes.items() if traffic_class.lossless]

    def order(name: str) -> tuple[bool, int]:
        return purpose_of(name, classes[name]) != "rdma", classes[name].priority

    return min(lossless, key=order, default=None)


def keep_one_lossless_class(intent: Intent) -> Intent | None:
    """Return an intent with its first lossless class as the only one; None where it has no other."""
    class_name = rdma_or_lowest_lossless_class(intent.classes)
    if class_name is None or sum(traffic_class.lossless for traffic_class in intent.classes.values()) == 1:
        return None
    lossy = {"lossless": False, "purpose": "storage"}
    classes = {
        name: traffic_class.model_copy(update=lossy) if traffic_class.lossless and name != class_name else traffic_class
        for name, traffic_class in intent.classes.items()
    }
    hosts = intent.hosts.model_copy(update={"pfc": (intent.classes[class_name].priority,)})
    return intent.with_values(classes=classes, hosts=hosts)


def dscps_without_class(classes: Mapping[str, Wanted]) -> tuple[int, ...]:
    """Return the DSCPs that no class names."""
    named_dscps = {
        dscp
        for wanted_traffic_class in classes.values()
        if wanted_traffic_class.dscp != "rest"
        for dscp in wanted_traffic_class.dscp
    }
    return tuple(dscp for dscp in range(DSCPS) if dscp not in named_dscps)


def resolve_classes(classes: Mapping[str, Wanted]) -> ClassesAndQosMaps:
    """Return the classes of an intent without contradictions, every DSCP given out."""
    unclaimed_dscps = dscps_without_class(classes)
    declared = [
        TrafficClass(
            name=name,
            purpose=purpose_of(name, wanted_traffic_class),
            dscp=unclaimed_dscps if wanted_traffic_class.dscp == "rest" else wanted_traffic_class.dscp,
            tc=wanted_traffic_class.priority,
            lossless=wanted_traffic_class.lossless,
            share_percent=UNKNOWN
            if wanted_traffic_class.strict or wanted_traffic_class.share is None
            else wanted_traffic_class.share,
        )
        for name, wanted_traffic_class in sorted(classes.items())
    ]
    tc_of = {
        dscp: traffic_class.tc
        for traffic_class in declared
        for dscp in traffic_class.dscp
        if isinstance(traffic_class.tc, int)
    }
    lossless = lossless_priorities(classes)
    unused = (None,) * (TRAFFIC_CLASSES - PRIORITIES)
    return ClassesAndQosMaps(
        declared=tuple(declared),
        wanted=tuple(
            (wanted_traffic_class, purpose_of(name, wanted_traffic_class))
            for name, wanted_traffic_class in sorted(classes.items(), key=lambda item: item[1].priority)
        ),
        lossless=lossless,
        dscp_to_tc=tuple(tc_of.get(dscp) for dscp in range(DSCPS)),
        tc_to_queue=tuple(range(PRIORITIES)) + unused,
        tc_to_priority_group=tuple(tc if tc in lossless else LOSSY_GROUP for tc in range(PRIORITIES)) + unused,
        pfc_to_queue=tuple(range(PRIORITIES)),
        pfc_to_priority_group=tuple(tc if tc in lossless else None for tc in range(PRIORITIES)),
        control_dscp=next(
            (
                traffic_class.dscp[0]
                for traffic_class in declared
                if traffic_class.purpose == "control" and traffic_class.dscp
            ),
            None,
        ),
    )


def without_lossless(classes: ClassesAndQosMaps) -> ClassesAndQosMaps:
    """Return the classes as a port has them where none is lossless: each in its queue, all in one priority group."""
    groups = tuple(None if tc is None else LOSSY_GROUP for tc in classes.tc_to_priority_group)
    return replace(
        classes, lossless=(), tc_to_priority_group=groups, pfc_to_priority_group=(None,) * len(classes.pfc_to_queue)
    )


def build_scheduler(wanted_traffic_class: Wanted, speed_mbps: int, *, guaranteed: bool) -> Scheduler:
    """Return a class's scheduler on a port: a weight for its share, or strict priority with its cap in bytes/s.

    With `guaranteed`, the platform takes a cap only together with a guaranteed rate, which is then the cap. A strict
    queue needs none: it is served before all queues with a share.
    """
    if not wanted_traffic_class.strict:
        return Scheduler(type="dwrr", weight=wanted_traffic_class.share)
    if wanted_traffic_class.max_rate is None:
        return Scheduler(type="strict")
    rate = speed_mbps * 1_000_000 // 8 * wanted_traffic_class.max_rate // 100
    return Scheduler(type="strict", guaranteed_bytes_per_s=rate if guaranteed else None, peak_bytes_per_s=rate)


def class_wred_profile(wanted_traffic_class: Wanted) -> WredProfile | None:
    """Return a class's marking: ECN-capable packets of every color are marked, others dropped, at one threshold."""
    if wanted_traffic_class.ecn is None:
        return None
    color = WredColor(
        min_bytes=wanted_traffic_class.ecn.min,
        max_bytes=wanted_traffic_class.ecn.max,
        probability_percent=wanted_traffic_class.ecn.probability,
        enabled=True,
    )
    return WredProfile(ecn_colors=COLORS, green=color, yellow=color, red=color)
