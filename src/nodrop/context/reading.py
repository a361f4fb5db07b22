"""From the text of a fabric.yaml to its statements; every fault names line and column."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeVar

from nodrop.context.schema import (
    MEDIUM_PATTERN,
    ExternalNeighborEntry,
    FabricFile,
    Host,
    OwnerPolicy,
    SideWatchdog,
    TrafficClassEntry,
)
from nodrop.errors import InputProblems, Problem
from nodrop.intent.load import validate_document
from nodrop.model import fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.external import ExternalNeighbor, ExternalPort, sort_addresses
from nodrop.model.fabric import PURPOSES, End, HostPort, Link, Purpose, TrafficClass
from nodrop.model.qos import PfcWatchdog
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.syntax.yaml import DocumentWithPlaces, parse_yaml

MAX_FABRIC_FILE_BYTES = 64_000_000
_CABLE_PATTERN = re.compile(
    r"([^\s:]{1,255}):(\S{1,255})(?:--| -- )([^\s:]{1,255}):(\S{1,255})(?: ([0-9]{1,7})m)?(?: ("
    + MEDIUM_PATTERN
    + "))?"
)
"""Two ends, a length, a medium, which begins with a letter; spaces around the dashes where a name holds two itself."""
_CABLE_EXAMPLE = "leaf1:Ethernet0--spine1:Ethernet8 30m DR4"
_T = TypeVar("_T")
KeyPath = tuple[str | int, ...]


def loads(file_content: bytes, display: str) -> DeclaredFacts:
    """Read the text of a fabric.yaml, which problems name `display`."""
    document = parse_yaml(file_content, display, max_bytes=MAX_FABRIC_FILE_BYTES)
    return parse_declared_facts(document, validate_document(document, FabricFile))


def parse_declared_facts(document: DocumentWithPlaces, stated_values: FabricFile, top: KeyPath = ()) -> DeclaredFacts:
    """Return the facts stated below the keys `top` of a document; InputProblems holds the contradictions."""
    problems: list[Problem] = []
    cables = (
        None if stated_values.cables is None else tuple(_read_cables(document, stated_values.cables, problems, top))
    )
    classes = (
        None if stated_values.classes is None else tuple(_read_classes(document, stated_values.classes, problems, top))
    )
    if problems:
        raise InputProblems(problems)
    return DeclaredFacts(
        name=stated_values.name,
        mode=stated_values.mode,
        classes=classes,
        roles=stated_values.roles,
        models=stated_values.models,
        cables=cables,
        hosts=None
        if stated_values.hosts is None
        else tuple(_convert_host(name, host) for name, host in stated_values.hosts.items()),
        external=None
        if stated_values.external is None
        else tuple(_convert_external(name, stated_values.external[name]) for name in sorted(stated_values.external)),
        policy=None if stated_values.policy is None else _convert_policy(stated_values.policy),
    )


def _read_cables(
    document: DocumentWithPlaces, texts: tuple[str, ...], problems: list[Problem], top: KeyPath
) -> Iterator[Link]:
    """Yield the cables; a port holds one, and no switch is cabled to itself by one port."""
    index_of_end: dict[End, int] = {}
    for index, text in enumerate(texts):
        keys = (*top, "cables", index)
        match = _CABLE_PATTERN.fullmatch(text)
        if match is None:
            problems.append(document.problem(keys, text, _CABLE_EXAMPLE))
            continue
        a, b = sorted((End(match[1], match[2]), End(match[3], match[4])))
        for end in (a, b):
            if end in index_of_end:
                line = document.line_and_column((*top, "cables", index_of_end[end]))[0]
                expected = "one cable in each port"
                problems.append(document.problem(keys, f"a second cable in {end}", expected, f"first at line {line}"))
            index_of_end.setdefault(end, index)
        yield Link(a=a, b=b, length_m=int(match[5]) if match[5] else UNKNOWN, media=match[6] or UNKNOWN)


def _read_classes(
    document: DocumentWithPlaces, classes: Mapping[str, TrafficClassEntry], problems: list[Problem], top: KeyPath
) -> Iterator[TrafficClass]:
    """Yield the classes; a code point belongs to one of them, and `rest` are those that no other names."""
    owners: dict[int | str, str] = {}
    for name, traffic_class in classes.items():
        for point in ("rest",) if traffic_class.dscp == "rest" else traffic_class.dscp:
            if point in owners:
                fault_text = f"{point}, which belongs to {owners[point]}"
                problems.append(document.problem((*top, "classes", name, "dscp"), fault_text, "each code point once"))
            owners.setdefault(point, name)
    remaining_dscps = tuple(point for point in range(64) if point not in owners)
    for name, class_spec in classes.items():
        yield TrafficClass(
            name=name,
            purpose=class_spec.purpose or _purpose_of_name(name),
            dscp=remaining_dscps if class_spec.dscp == "rest" else class_spec.dscp,
            tc=_none_to_unknown(class_spec.tc),
            lossless=_none_to_unknown(class_spec.lossless),
            share_percent=_none_to_unknown(class_spec.share),
        )


def _purpose_of_name(name: str) -> Purpose:
    """Return the purpose of a class by its name, if the name shows it."""
    for word in PURPOSES:
        if word == name:
            return word
    return "unknown"


def _none_to_unknown(value: _T | None) -> _T | Unknown:
    return UNKNOWN if value is None else value


def _convert_external(name: str, neighbor: ExternalNeighborEntry) -> ExternalNeighbor:
    return ExternalNeighbor(
        name=name,
        asn=_none_to_unknown(neighbor.asn),
        ports=tuple(
            ExternalPort(name=port, addresses=sort_addresses(neighbor.addresses[port]))
            for port in sorted(neighbor.addresses, key=natural_sort_key)
        ),
        announces=UNKNOWN if neighbor.announces is None else sort_addresses(map(str, neighbor.announces)),
        receives=UNKNOWN if neighbor.receives is None else sort_addresses(map(str, neighbor.receives)),
    )


def _convert_host(name: str, host: Host) -> fabric.Host:
    return fabric.Host(
        name=name,
        group=host.group,
        gpus=host.gpus,
        nic=_none_to_unknown(host.nic),
        spread=_none_to_unknown(host.spread),
        ports=tuple(
            HostPort(
                name=port,
                speed_mbps=_none_to_unknown(host_port.speed),
                lanes=_none_to_unknown(host_port.lanes),
                addresses=host_port.addresses,
                bond=host_port.bond,
            )
            for port, host_port in host.ports.items()
        ),
        tos=_none_to_unknown(host.tos),
        fifo_tos=_none_to_unknown(host.fifo_tos),
        cnp_dscp=_none_to_unknown(host.cnp_dscp),
        trust=_none_to_unknown(host.trust),
        pfc_priorities=_none_to_unknown(host.pfc),
        dcqcn=_none_to_unknown(host.dcqcn),
        rdma_mtu_bytes=_none_to_unknown(host.rdma_mtu),
        queue_pairs=_none_to_unknown(host.queue_pairs),
        out_of_order=_none_to_unknown(host.out_of_order),
    )


def _convert_policy(policy: OwnerPolicy) -> fabric.Policy:
    return fabric.Policy(
        host_watchdog=_convert_watchdog(policy.watchdog.hosts),
        fabric_watchdog=_convert_watchdog(policy.watchdog.fabric),
        fabric_unwatched_roles=policy.watchdog.unwatched_roles,
        rdma_mtu_bytes=_none_to_unknown(policy.rdma_mtu),
        max_oversubscription=_none_to_unknown(policy.max_oversubscription),
        lossless_pool_percent=_none_to_unknown(policy.lossless_pool),
        rails=_none_to_unknown(policy.rails),
        parts=_none_to_unknown(policy.parts),
        drained=policy.drained,
    )


def _convert_watchdog(side: SideWatchdog | Literal["off"] | None) -> PfcWatchdog | None | Unknown:
    if side is None:
        return UNKNOWN
    if isinstance(side, str):
        return None
    return PfcWatchdog(
        priorities=side.priorities,
        detection_ms=side.detection,
        restoration_ms=side.restoration,
        action=side.action,
    )
