"""Classes that do not stay one class on their way: their DSCPs land elsewhere on the next switch.

Switches sort by the DSCP again at every hop, so the maps of all ports on a way have to agree. Looked at are switches
that cables join, each with the others; a port whose map alone is odd, or wrong for the class by itself, is told by
rules about the port.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.analyses import Hit
from nodrop.fabric import effects
from nodrop.fabric.fabric import Device, Fabric, Interface, TrafficClass
from nodrop.fabric.index import Index
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import Unknown, UnknownFact, known, surely_off
from nodrop.fabric.subject import FABRIC, Subject
from nodrop.units import show_ids

RESTS_ON = frozenset({"cables", "classes", "roles"})

Landing = tuple[int, ...]
"""Where a class lands on a port: its priorities of pause where it is lossless, else its traffic classes."""


class Ports(NamedTuple):
    """Ports of a tier where a class lands alike: the first, and how many they are."""

    device: Device
    port: Interface
    number: int


def find(index: Index, *, lossless: bool) -> Iterator[Hit]:
    """Yield the classes that are meant to be `lossless`, or lossy, and land otherwise on other switches of their way.

    Facts: name, dscps, one and other (where it lands), here and there (the port with the rarer landing, one of the
    others), ports and others (how many have them).
    """
    groups = _groups(index)
    for wanted in index.fabric.classes:
        if wanted.lossless is lossless and wanted.purpose != "unknown":
            for group in groups:
                yield from _torn(index.fabric, group, wanted, lossless)


def _groups(index: Index) -> list[list[Device]]:
    """The switches of the fabric by what cables join, each group of two or more."""
    parent = {name: name for name in index.devices}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    for link in index.fabric.links:
        if link.a.node in parent and link.b.node in parent:
            parent[root(link.a.node)] = root(link.b.node)
    found: dict[str, list[Device]] = {}
    for name, device in index.devices.items():
        found.setdefault(root(name), []).append(device)
    return [group for group in found.values() if len(group) > 1]


def _torn(fabric: Fabric, group: list[Device], wanted: TrafficClass, lossless: bool) -> Iterator[Hit]:
    usual: dict[Landing, Ports] = {}
    for tier in _tiers(group).values():
        landing, ports = _usual(fabric, tier, wanted, lossless)
        if ports is not None:
            before = usual.get(landing)
            usual[landing] = Ports(*(before or ports)[:2], ports.number + (before.number if before else 0))
    if len(usual) < 2:
        return
    odd, *_, most = sorted(usual, key=lambda landing: (usual[landing].number, landing))
    here, there = usual[odd], usual[most]
    if lossless and not _obeyed({*odd, *most}, here, there):
        return
    yield Hit(
        subject=(FABRIC, "classes", wanted.name),
        at=_place(here),
        facts={
            "name": wanted.name,
            "dscps": show_ids(wanted.dscp),
            "one": _words(odd, lossless),
            "other": _words(most, lossless),
            "here": f"{here.device.name} {here.port.name}",
            "there": f"{there.device.name} {there.port.name}",
            "ports": here.number,
            "others": there.number,
        },
        related=((_place(there), "where it lands otherwise"),),
        discriminator=here.device.name,
    )


def _obeyed(priorities: set[int], *ends: Ports) -> bool:
    """Whether all obey pauses of these priorities, so that the maps alone differ; else the cables tell it."""
    return all(isinstance(end.port.qos, QosProfile) and priorities <= set(_obeys(end.port.qos)) for end in ends)


def _obeys(qos: QosProfile) -> tuple[int, ...]:
    return () if isinstance(qos.pfc_rx_priorities, Unknown) else qos.pfc_rx_priorities


def _place(ports: Ports) -> Subject:
    return (ports.device.name, ports.port.name, "qos", "dscp_to_tc")


def _words(landing: Landing, lossless: bool) -> str:
    numbers = " and ".join(map(str, landing))
    if not lossless:
        return f"traffic class {numbers}"
    return f"priority {numbers}" if landing else "no lossless priority"


def _tiers(group: list[Device]) -> Mapping[str, list[Device]]:
    """The switches of one role; each by itself whose role is not known."""
    tiers: dict[str, list[Device]] = {}
    for device in group:
        tiers.setdefault(f"@{device.name}" if isinstance(device.role, Unknown) else device.role, []).append(device)
    return tiers


def _usual(fabric: Fabric, tier: list[Device], wanted: TrafficClass, lossless: bool) -> tuple[Landing, Ports | None]:
    """Where a class lands on most ports of a tier; nothing where no port can say."""
    landings: dict[int, Landing | None] = {}
    counts: Counter[Landing] = Counter()
    first: dict[Landing, Ports] = {}
    for device in tier:
        for port in device.interfaces:
            qos = port.qos
            if not isinstance(qos, QosProfile) or port.side is None or surely_off(port.enabled):
                continue
            if id(qos) not in landings:
                landings[id(qos)] = _landing(fabric, qos, wanted, lossless)
            landing = landings[id(qos)]
            if landing is not None:
                counts[landing] += 1
                first.setdefault(landing, Ports(device, port, 1))
    if not counts:
        return (), None
    best, count = counts.most_common(1)[0]
    return best, Ports(*first[best][:2], count)


def _landing(fabric: Fabric, qos: QosProfile, wanted: TrafficClass, lossless: bool) -> Landing | None:
    """Where a class lands by a profile; None where that is not known, or where a rule tells it of the port."""
    try:
        if known(qos.trust, "interface.qos.trust") == "pcp" or qos.dscp_to_tc is None:
            return None
        if wanted.purpose == "cnp" and effects.cnp_company(fabric, qos):
            return None
        tcs = {effects.tc_of_dscp(qos, dscp) for dscp in wanted.dscp}
        paused = [tc for tc in tcs if effects.is_lossless(qos, tc)]
        if not lossless:
            return None if paused else tuple(sorted(tcs))
        if wanted.purpose == "rdma" and len(paused) < len(tcs):
            return None
        priorities = {each for tc in paused for each in effects.pausing_priorities(qos, effects.group_of_tc(qos, tc))}
        return tuple(sorted(priorities)) if len(paused) == len(tcs) else ()
    except UnknownFact:
        return None
