"""From the intent's classes to maps, schedulers, marking and PFC: one number for traffic class, queue, priority group
and PFC priority of a lossless class, which is what the watchdog and SONiC's tools take for granted."""

from dataclasses import dataclass

from nodrop.errors import Problem
from nodrop.fabric.fabric import PURPOSES, TrafficClass
from nodrop.fabric.qos import COLORS, Map, Scheduler, WredColor, WredProfile
from nodrop.intent.schema import Intent
from nodrop.intent.schema import TrafficClass as Wanted
from nodrop.units import show_ids

PRIORITIES = 8
LOSSY_GROUP = 0
_DSCP_OF_TOS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """The fabric's classes and the maps that all ports share; maps are total where the field expects it."""

    declared: tuple[TrafficClass, ...]
    lossless: tuple[int, ...]
    """Lossless priorities, sorted."""
    dscp_to_tc: Map
    tc_to_queue: Map
    tc_to_priority_group: Map
    pfc_to_queue: Map
    pfc_to_priority_group: Map
    control_dscp: int | None


def resolve_classes(intent: Intent, problems: list[Problem]) -> Classes:
    """Return the classes with every DSCP given out; contradictions are problems."""
    _check(intent, problems)
    rest = _rest(intent, problems)
    dscp_to_tc: list[int | None] = [None] * 64
    declared = []
    for name, wanted in intent.classes.items():
        dscps = rest if wanted.dscp == "rest" else wanted.dscp
        for dscp in dscps:
            dscp_to_tc[dscp] = wanted.priority
        purpose = wanted.purpose or (name if name in PURPOSES else "unknown")
        declared.append(
            TrafficClass(name=name, purpose=purpose, dscp=dscps, tc=wanted.priority, lossless=wanted.lossless)
        )
    lossless = tuple(sorted(wanted.priority for wanted in intent.classes.values() if wanted.lossless))
    control = next((c.dscp for c in declared if c.purpose == "control" and c.dscp), None)
    identity = tuple(range(PRIORITIES)) + (None,) * (16 - PRIORITIES)
    return Classes(
        declared=tuple(sorted(declared, key=lambda c: c.name)),
        lossless=lossless,
        dscp_to_tc=tuple(dscp_to_tc),
        tc_to_queue=identity,
        tc_to_priority_group=tuple(
            (tc if tc in lossless else LOSSY_GROUP) if tc < PRIORITIES else None for tc in range(16)
        ),
        pfc_to_queue=tuple(range(PRIORITIES)),
        pfc_to_priority_group=tuple(tc if tc in lossless else None for tc in range(PRIORITIES)),
        control_dscp=control[0] if control else None,
    )


def _rest(intent: Intent, problems: list[Problem]) -> tuple[int, ...]:
    """Return the DSCPs that no class names; two claims to one DSCP are a problem."""
    owner: dict[int, str] = {}
    takers = [name for name, wanted in intent.classes.items() if wanted.dscp == "rest"]
    for name, wanted in intent.classes.items():
        if wanted.dscp == "rest":
            continue
        for dscp in wanted.dscp:
            other = owner.setdefault(dscp, name)
            if other != name:
                keys = ("classes", name, "dscp")
                problems.append(intent.problem(keys, f"DSCP {dscp} already belongs to {other}"))
    left = tuple(dscp for dscp in range(64) if dscp not in owner)
    if len(takers) != 1 and (left or takers):
        found = f"{len(takers)} classes take the rest of the DSCPs" if takers else f"DSCP {show_ids(left)} has no class"
        hint = "an unmapped DSCP lands wherever the platform likes"
        problems.append(intent.problem(("classes",), found, "one class with dscp: rest", hint))
    return left


def _check(intent: Intent, problems: list[Problem]) -> None:
    classes = intent.classes
    seen: dict[int, str] = {}
    for name, wanted in classes.items():
        other = seen.setdefault(wanted.priority, name)
        if other != name:
            problems.append(
                intent.problem(("classes", name, "priority"), f"{wanted.priority} already belongs to {other}")
            )
        _check_class(intent, name, wanted, problems)
    rdma = [name for name, wanted in classes.items() if (wanted.purpose or name) == "rdma"]
    if not rdma:
        problems.append(intent.problem(("classes",), "no RDMA class", "a class named rdma, or with purpose: rdma"))
    for name in rdma:
        if not classes[name].lossless:
            problems.append(
                intent.problem(("classes", name), "a lossy RDMA class in a lossless fabric", "lossless: true")
            )
        if classes[name].ecn is None:
            found = "no ecn"
            hint = "in mode lossless the RDMA class marks before it pauses"
            problems.append(intent.problem(("classes", name), found, "ecn: {min, max, probability}", hint))
    shares = sum(wanted.share or 0 for wanted in classes.values())
    if shares != 100:
        problems.append(intent.problem(("classes",), f"shares add up to {shares}%", "100%"))
    _check_hosts(intent, rdma, problems)


def _check_class(intent: Intent, name: str, wanted: Wanted, problems: list[Problem]) -> None:
    keys = ("classes", name)
    if wanted.strict == (wanted.share is not None):
        found = "both strict and a share" if wanted.strict else "neither strict nor a share"
        problems.append(intent.problem(keys, found, "strict: true, or share: N%"))
    if wanted.share == 0:
        problems.append(intent.problem((*keys, "share"), "0%", "a share from 1%"))
    if wanted.max_rate is not None and (not wanted.strict or wanted.lossless or wanted.max_rate == 0):
        problems.append(
            intent.problem((*keys, "max_rate"), "a cap", hint="only a strict, lossy class has one, from 1%")
        )
    if wanted.lossless and wanted.strict:
        problems.append(intent.problem(keys, "lossless and strict", hint="it would starve CNPs and control traffic"))
    if wanted.ecn and not wanted.ecn.min < wanted.ecn.max:
        problems.append(
            intent.problem((*keys, "ecn", "max"), f"{wanted.ecn.max} bytes", f"more than min, {wanted.ecn.min}")
        )
    if wanted.ecn and wanted.ecn.probability == 0:
        problems.append(intent.problem((*keys, "ecn", "probability"), "0%", "at least 1%", "it would never mark"))


def _check_hosts(intent: Intent, rdma: list[str], problems: list[Problem]) -> None:
    classes, hosts = intent.classes, intent.hosts
    dscp = hosts.tos // _DSCP_OF_TOS
    if rdma and all(classes[name].dscp == "rest" or dscp not in classes[name].dscp for name in rdma):
        expected = " or ".join(
            str(d * _DSCP_OF_TOS + 2) for name in rdma if classes[name].dscp != "rest" for d in classes[name].dscp
        )
        found = f"ToS {hosts.tos} is DSCP {dscp}, which is not of the RDMA class"
        problems.append(intent.problem(("hosts", "tos"), found, expected))
    cnp = [name for name, wanted in classes.items() if (wanted.purpose or name) == "cnp"]
    if cnp and all(classes[name].dscp == "rest" or hosts.cnp_dscp not in classes[name].dscp for name in cnp):
        problems.append(intent.problem(("hosts", "cnp_dscp"), str(hosts.cnp_dscp), f"a DSCP of class {cnp[0]}"))
    lossless = tuple(sorted(wanted.priority for wanted in classes.values() if wanted.lossless))
    if hosts.pfc != lossless:
        found = f"NICs with PFC on {show_ids(hosts.pfc) or 'nothing'}"
        problems.append(intent.problem(("hosts", "pfc"), found, f"[{show_ids(lossless)}], the lossless priorities"))
    if hosts.rdma_mtu + 100 > intent.mtu:
        found = f"RoCE MTU {hosts.rdma_mtu} and its headers do not fit MTU {intent.mtu}"
        problems.append(intent.problem(("hosts", "rdma_mtu"), found))


def scheduler(wanted: Wanted, speed_mbps: int) -> Scheduler:
    """Return a class's scheduler on a port: a weight for its share, or strict priority with its cap in bytes/s.

    SONiC takes a peak rate only beside a guaranteed one (YANG `must`), so a capped queue is guaranteed its cap.
    """
    if not wanted.strict:
        return Scheduler(type="dwrr", weight=wanted.share)
    if wanted.max_rate is None:
        return Scheduler(type="strict")
    rate = speed_mbps * 1_000_000 // 8 * wanted.max_rate // 100
    return Scheduler(type="strict", guaranteed_bytes_per_s=rate, peak_bytes_per_s=rate)


def wred(wanted: Wanted) -> WredProfile | None:
    """Return a class's marking: ECN-capable packets of every color are marked, others dropped, at one threshold."""
    if wanted.ecn is None:
        return None
    color = WredColor(
        min_bytes=wanted.ecn.min,
        max_bytes=wanted.ecn.max,
        probability_percent=wanted.ecn.probability,
        enabled=True,
    )
    return WredProfile(ecn_colors=COLORS, green=color, yellow=color, red=color)
