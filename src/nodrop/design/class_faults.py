"""What contradicts itself in the intent's classes."""

from collections.abc import Iterator, Mapping

from nodrop.design.classes import LOSSY_GROUP, PRIORITIES, dscps_without_class, purpose_of
from nodrop.design.faults import KeyFault
from nodrop.design.modes import has_pfc
from nodrop.intent.schema import TrafficClass
from nodrop.model.fabric import Mode
from nodrop.model.purposes import RDMA_STORAGE, TCP_STORAGE
from nodrop.units import show_bytes, show_ids


def class_faults(classes: Mapping[str, TrafficClass], mode: Mode) -> Iterator[KeyFault]:
    """Yield every contradiction."""
    yield from _duplicate_claims(classes)
    for name, wanted_traffic_class in classes.items():
        yield from _faults_of_class(mode, name, wanted_traffic_class)
    yield from _unclaimed_dscp_faults(classes)
    yield from _share_faults(classes)
    yield from _rdma_class_faults(classes, mode)
    yield from _storage_class_faults(classes, mode)


def _duplicate_claims(classes: Mapping[str, TrafficClass]) -> Iterator[KeyFault]:
    """Yield priorities and DSCPs that two classes claim."""
    priorities: dict[int, str] = {}
    dscps: dict[int, str] = {}
    for name, wanted_traffic_class in classes.items():
        owner = priorities.setdefault(wanted_traffic_class.priority, name)
        if owner != name:
            free = set(range(PRIORITIES)) - {traffic_class.priority for traffic_class in classes.values()}
            expected = f"one that is free: {show_ids(free)}" if free else "fewer classes"
            keys = ("classes", name, "priority")
            yield KeyFault(keys, f"priority {wanted_traffic_class.priority} already belongs to {owner}", expected)
        doubled: dict[str, list[int]] = {}
        for dscp in () if wanted_traffic_class.dscp == "rest" else wanted_traffic_class.dscp:
            owner = dscps.setdefault(dscp, name)
            if owner != name:
                doubled.setdefault(owner, []).append(dscp)
        for owner, numbers in doubled.items():
            fault = f"DSCP {show_ids(numbers)} already belongs to {owner}"
            yield KeyFault(("classes", name, "dscp"), fault, "each DSCP in one class")


def _faults_of_class(mode: Mode, name: str, wanted_traffic_class: TrafficClass) -> Iterator[KeyFault]:
    keys = ("classes", name)
    if wanted_traffic_class.strict == (wanted_traffic_class.share is not None):
        fault = "both strict and a share" if wanted_traffic_class.strict else "neither strict nor a share"
        yield KeyFault(keys, fault, "strict: true, or share: N%")
    if wanted_traffic_class.max_rate is not None and (wanted_traffic_class.lossless or not wanted_traffic_class.strict):
        kind = "a lossless class" if wanted_traffic_class.lossless else "a class with a share"
        yield KeyFault((*keys, "max_rate"), f"a cap on {kind}", "a cap on a strict, lossy class", "remove it")
    if wanted_traffic_class.lossless and not has_pfc(mode):
        expected = "a lossy class"
        yield KeyFault((*keys, "lossless"), f"true, in mode {mode}", expected, "or mode: lossless")
    if wanted_traffic_class.lossless and wanted_traffic_class.ecn and mode == "pfc-only":
        fault = "marking of a lossless class, in mode pfc-only"
        yield KeyFault((*keys, "ecn"), fault, "no ecn", "or mode: lossless, which has both")
    if wanted_traffic_class.lossless and wanted_traffic_class.strict:
        hint = "strict, it would starve CNPs and control traffic"
        yield KeyFault(keys, "both lossless and strict", "lossless: true and share: N%", hint)
    if wanted_traffic_class.lossless and wanted_traffic_class.priority == LOSSY_GROUP:
        fault = f"a lossless class on priority {LOSSY_GROUP}, whose priority group takes all lossy traffic"
        yield KeyFault((*keys, "priority"), fault, f"a priority from 1 to {PRIORITIES - 1}")
    if wanted_traffic_class.ecn and wanted_traffic_class.ecn.min >= wanted_traffic_class.ecn.max:
        expected = f"more than min, {show_bytes(wanted_traffic_class.ecn.min)}"
        yield KeyFault((*keys, "ecn", "max"), show_bytes(wanted_traffic_class.ecn.max), expected)


def _unclaimed_dscp_faults(classes: Mapping[str, TrafficClass]) -> Iterator[KeyFault]:
    takers = [name for name, wanted_traffic_class in classes.items() if wanted_traffic_class.dscp == "rest"]
    remaining_numbers = dscps_without_class(classes)
    if len(takers) > 1:
        fault = f"the rest, which {takers[0]} takes too"
        yield KeyFault(("classes", takers[1], "dscp"), fault, "one class with dscp: rest")
    elif remaining_numbers and not takers:
        fault = f"DSCP {show_ids(remaining_numbers)} has no class"
        hint = "what has no class lands wherever the platform likes"
        yield KeyFault(("classes",), fault, "one class with dscp: rest", hint)


def _share_faults(classes: Mapping[str, TrafficClass]) -> Iterator[KeyFault]:
    shares = {
        name: wanted_traffic_class.share
        for name, wanted_traffic_class in classes.items()
        if wanted_traffic_class.share is not None
    }
    total = sum(shares.values())
    if total == 100:
        return
    fixes = (
        f"classes.{name}.share: {right}%" for name, share in shares.items() if 0 < (right := share + 100 - total) <= 100
    )
    *_, hint = "", *fixes
    fault = f"shares of {' + '.join(f'{share}%' for share in shares.values()) or 'no class'} add up to {total}%"
    yield KeyFault(("classes",), fault, "100%", hint)


def _rdma_class_faults(classes: Mapping[str, TrafficClass], mode: Mode) -> Iterator[KeyFault]:
    rdma = _classes_of_purpose(classes, "rdma")
    if not rdma:
        yield KeyFault(("classes",), "no RDMA class", "a class named rdma, or with purpose: rdma")
    for name, wanted_traffic_class in rdma.items():
        if not wanted_traffic_class.lossless and has_pfc(mode):
            fault = f"RDMA in a lossy class, in mode {mode}"
            yield KeyFault(("classes", name), fault, "lossless: true")
        if wanted_traffic_class.ecn is None and mode != "pfc-only":
            sooner = "paused" if has_pfc(mode) else "dropped"
            hint = f"in mode {mode}, RDMA is marked before it is {sooner}"
            yield KeyFault(("classes", name), "no ecn", "ecn: {min, max, probability}", hint)
        if wanted_traffic_class.dscp == "rest":
            yield KeyFault(("classes", name, "dscp"), "rest", "DSCPs that only RDMA has, such as 26")


def _storage_class_faults(classes: Mapping[str, TrafficClass], mode: Mode) -> Iterator[KeyFault]:
    """Yield storage over TCP in a lossless class, and storage over RoCE in a lossy one or without a DSCP."""
    for name, wanted_traffic_class in classes.items():
        purpose = purpose_of(name, wanted_traffic_class)
        if purpose in TCP_STORAGE and wanted_traffic_class.lossless:
            hint = "TCP fills a queue until packets are lost; in a lossless class it pauses the fabric instead"
            yield KeyFault(("classes", name, "lossless"), f"true, for {purpose}", "a lossy class", hint)
        if purpose in RDMA_STORAGE and not wanted_traffic_class.lossless and has_pfc(mode):
            fault = f"{purpose}, which is RoCE, in a lossy class, in mode {mode}"
            yield KeyFault(("classes", name), fault, "lossless: true", "or purpose: storage, over TCP")
        if purpose in RDMA_STORAGE and wanted_traffic_class.dscp == "rest":
            yield KeyFault(("classes", name, "dscp"), "rest", f"DSCPs that only {purpose} has, such as 34")


def _classes_of_purpose(classes: Mapping[str, TrafficClass], purpose: str) -> dict[str, TrafficClass]:
    return {
        name: wanted_traffic_class
        for name, wanted_traffic_class in classes.items()
        if purpose_of(name, wanted_traffic_class) == purpose
    }
