"""What access lists do to RoCE, BGP and BFD at the ports that they are bound to."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._flows import (
    DEFAULT_CNP_DSCP,
    AddressClasses,
    HostAddresses,
    PacketFlow,
    leads_to_switch,
    roce_flows,
    session_flows,
)
from nodrop.identity import IdentityKey, IdentityMap
from nodrop.model.access import (
    ENTERING_STAGES,
    FORWARDING_STAGES,
    SWITCH_ITSELF_STAGES,
    AccessEntry,
    AccessList,
    Binding,
)
from nodrop.model.effects import tc_of_dscp
from nodrop.model.fabric import Device, End, TrafficClass
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.routing import TITLE_BY_ADDRESS_FAMILY
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.routing.filtering import FilterDecision, decide_packets
from nodrop.routing.legs import RoutedInterface, routed_interfaces
from nodrop.routing.roce_opcodes import format_opcodes
from nodrop.units import parse_whole_number

RESTS_ON = frozenset({"cables", "hosts"})
RESTS_ON_WITH = {"classes": frozenset({"rdma", "cnp", "roce"})}
LOOKS_AT = frozenset(
    {"access_lists", "addresses", "vrf", "port_channels", "vlans", "loopbacks", "bgp", "vrf_bgp", "enabled", "side"}
)
_INDEX_CACHE_KEY = "access lists"
_CHECK_REPORTING_UNKNOWN_LISTS = ("rdma", "drop")
"""Of what rule it is said that the lists of a switch are not known: of one, for it is one fact."""
_MAX_LISTED_DSCPS = 16
"""How many DSCPs a message lists."""
_MOST_ENTRY = 65535
"""The highest number of an entry that platforms take."""
_SWITCH_PROTOCOLS = ("bgp", "bfd", "nd")


class _ListEffect(NamedTuple):
    """The effect of a list on packets of one kind at a port, if it does anything but let them pass."""

    device: str
    rules: AccessList
    binding: Binding
    flow: PacketFlow
    decision: FilterDecision


def find(index: Index, *, what: str, does: str) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield entries that act on packets of a kind (`rdma`, `cnp`, `roce` for both, `bgp`, `bfd`, `nd`).

    The action (`does`): `drop` packets, `remark` their DSCP, change their `class`, `police` or `redirect` them. If no
    entry of a list matches, the list itself is at fault. If an entry has conditions that the model does not have, or
    it is unknown whether hosts have an address in a prefix, the answer is unknown.
    """
    for device in index.fabric.devices if (what, does) == _CHECK_REPORTING_UNKNOWN_LISTS else ():
        if isinstance(device.access_lists, Unknown) and any(leg.addresses for leg in routed_interfaces(device)):
            yield UndecidedSubject(subject=(device.name,), missing="device.access_lists")
    seens: defaultdict[Subject, list[_ListEffect]] = defaultdict(list)
    doubtful: dict[Subject, str] = {}
    kinds = ("rdma", "cnp") if what == "roce" else (what,)
    seen = [row for row in _cached_list_effects(index) if row.flow.what in kinds]
    if what == "cnp":
        seen = _exclude_reported_cnps(index, seen)
    if what == "nd":
        seen = _exclude_reported_discovery(index, seen)
    refused = {End(row.device, row.flow.port) for row in seen if row.flow.reply and row.decision.action == "deny"}
    for seen_row in seen:
        subject: Subject = (seen_row.device, "@access_lists", seen_row.rules.name)
        if not _is_effect_known(seen_row):
            if does == "drop" and seen_row.decision.action != "permit":
                doubtful.setdefault(subject, _missing_fact_path(seen_row))
        elif (doing := _find_acting_entry(index, seen_row, does)) is not None:
            if seen_row.flow.reply and index.far_end(seen_row.device, seen_row.flow.port) not in refused:
                continue  # the other end opens the session, and this one's answers pass there
            seens[(*subject, "entries", doing.name) if isinstance(doing, AccessEntry) else subject].append(seen_row)
    yield from (_build_hit(at, rows) for at, rows in seens.items())
    decided = {at[:3] for at in seens}
    yield from (UndecidedSubject(subject=at, missing=missing) for at, missing in doubtful.items() if at not in decided)


def _exclude_reported_cnps(index: Index, seen: Sequence[_ListEffect]) -> list[_ListEffect]:
    """Leave out what entries do to packets that may be CNPs where they do it to data, which is reported."""
    with_data = {
        (IdentityKey(row.rules), IdentityKey(row.decision.entry))
        for row in _cached_list_effects(index)
        if row.flow.what == "rdma"
    }
    return [
        row
        for row in seen
        if not (row.flow.assumed and (IdentityKey(row.rules), IdentityKey(row.decision.entry)) in with_data)
    ]


def _exclude_reported_discovery(index: Index, seen: Sequence[_ListEffect]) -> list[_ListEffect]:
    """Leave out neighbor discovery that lists drop together with BGP, which is reported."""
    bgp = {
        (IdentityKey(row.rules), row.flow.port)
        for row in _cached_list_effects(index)
        if row.flow.what == "bgp" and _is_certain_drop(row)
    }
    return [row for row in seen if (IdentityKey(row.rules), row.flow.port) not in bgp]


def _is_certain_drop(row: _ListEffect) -> bool:
    return row.decision.action == "deny" and _is_effect_known(row)


def _is_effect_known(row: _ListEffect) -> bool:
    """Whether the effect of the list is known; for packets of the switch itself, only if the platform states it."""
    if row.flow.assumed and not _drops_every_dscp(row):
        return False
    is_own_packet = row.binding.stage == "egress" and row.flow.what in _SWITCH_PROTOCOLS
    return row.decision.sure and not (
        is_own_packet and (isinstance(row.rules.own_packets, Unknown) or not row.rules.own_packets)
    )


def _drops_every_dscp(row: _ListEffect) -> bool:
    """Whether packets of every DSCP are dropped."""
    return row.decision.action == "deny" and row.decision.packets.dscps == row.flow.packets.dscps


def _missing_fact_path(row: _ListEffect) -> str:
    if row.flow.assumed and row.decision.sure:
        return "classes"
    if row.decision.packets.doubtful:
        return "host.tos" if row.decision.packets.ecns != row.flow.packets.ecns else "device.access_lists"
    return "host_port.addresses" if row.decision.action == "deny" and not row.decision.sure else "device.access_lists"


def _find_acting_entry(index: Index, row: _ListEffect, does: str) -> AccessEntry | AccessList | None:
    """Return the entry that does something to packets, or the list where no entry matches them."""
    decision, marks = row.decision, row.decision.marks
    if does == "drop":
        return (decision.entry or row.rules) if decision.action == "deny" else None
    if decision.action == "deny":
        return None
    if does == "police":
        return marks.polices
    if does == "redirect":
        return marks.redirects
    classes = [
        traffic_class for traffic_class in index.fabric.classes if decision.packets.dscps & set(traffic_class.dscp)
    ]
    if does == "remark":
        class_dscps = {dscp for traffic_class in classes for dscp in traffic_class.dscp}
        return marks.dscp[0] if marks.dscp is not None and marks.dscp[1] not in class_dscps else None
    if marks.traffic_class is None:
        return None
    interface = index.interface(row.device, row.flow.port)
    qos = None if interface is None or isinstance(interface.qos, Unknown) else interface.qos
    return marks.traffic_class[0] if _is_traffic_class_of_none_of(classes, marks.traffic_class[1], qos) else None


def _is_traffic_class_of_none_of(classes: Sequence[TrafficClass], to: int, qos: QosProfile | None) -> bool:
    """Whether a traffic class is that of none of some classes, which is stated, or the one that the port gives them."""
    class_tcs = {traffic_class.tc for traffic_class in classes if not isinstance(traffic_class.tc, Unknown)}
    if qos is not None and not isinstance(qos.dscp_to_tc, Unknown):
        unstated = [traffic_class for traffic_class in classes if isinstance(traffic_class.tc, Unknown)]
        class_tcs |= {tc_of_dscp(qos, dscp) for traffic_class in unstated for dscp in traffic_class.dscp}
    return bool(class_tcs) and to not in class_tcs


def _build_hit(subject: Subject, rows: Sequence[_ListEffect]) -> AnalysisHit:
    first_row = rows[0]
    ports = sorted({row.flow.port for row in rows}, key=natural_sort_key)
    peers = sorted({row.flow.peer for row in rows}, key=natural_sort_key)
    end_names = [f"{ports[0]}{_format_more_count(ports)}", f"{peers[0]}{_format_more_count(peers)}"]
    marks = first_row.decision.marks
    free_numbers = _free_entry_numbers_before(first_row.rules, subject[-1] if subject[-2] == "entries" else "")
    entry = f"entry {subject[-1]} of " if subject[-2] == "entries" else ""
    facts: dict[str, Any] = {
        "entry": f"{entry}access list {first_row.rules.name}",
        "list": first_row.rules.name,
        "number": free_numbers[0],
        "next_number": free_numbers[1],
        "way": "ingress" if first_row.binding.stage in ENTERING_STAGES else "egress",
        "ports": end_names[0],
        "peers": end_names[1],
        "dscps": _format_dscps(rows),
        "part": _format_opcodes_and_ecn(rows),
        "family": _format_families(rows),
        "dscp": marks.dscp[1] if marks.dscp is not None else None,
        "tc": marks.traffic_class[1] if marks.traffic_class is not None else None,
    }
    places = [((row.device, row.flow.port), "an interface with this list") for row in rows if row.flow.port == ports[0]]
    return AnalysisHit(subject=subject, facts=facts, related=tuple(places[:1]))


def _free_entry_numbers_before(rules: AccessList, name: str) -> tuple[str, str]:
    """Return the numbers of two new entries that decide before an entry, or after all where it has no name.

    Where entries have a priority, the highest decides first, else the lowest number. "" stands for none: also in a
    list with priorities and no family, whose kind may not have the conditions of the new entries.
    """
    entries = {entry.name: entry for entry in known_rows(rules.entries)}
    numbers = {
        entry.name: parse_whole_number(entry.name) if entry.priority is None else entry.priority
        for entry in entries.values()
    }
    used = {number for number in numbers.values() if number is not None}
    highest_first = any(entry.priority is not None for entry in entries.values())
    if None in numbers.values() or (highest_first and rules.family is None):
        return "", ""
    if name:
        start, step = numbers[name] or 0, 1 if highest_first else -1
    else:
        start, step = (min(used), -1) if highest_first else (max(used, default=0), 1)
    free = (number for number in range(start + step, _MOST_ENTRY + 1 if step > 0 else 0, step) if number not in used)
    first, second = islice(chain(map(str, free), repeat("")), 2)
    return first, second


def _format_dscps(rows: Sequence[_ListEffect]) -> str:
    dscps = {dscp for row in rows for dscp in row.decision.packets.dscps}
    return "any" if len(dscps) > _MAX_LISTED_DSCPS else ", ".join(map(str, sorted(dscps)))


def _format_opcodes_and_ecn(rows: Sequence[_ListEffect]) -> str:
    """Return opcodes and ECN bits, if the action applies to packets with only some of them; else ""."""
    every = rows[0].flow.packets
    opcodes = frozenset(opcode for row in rows for opcode in row.decision.packets.opcodes)
    ecns = {ecn for row in rows for ecn in row.decision.packets.ecns}
    part = "" if opcodes == every.opcodes else f", opcode {format_opcodes(opcodes)}"
    return part if ecns == every.ecns else f"{part}, ECN {', '.join(map(str, sorted(ecns)))}"


def _format_families(rows: Sequence[_ListEffect]) -> str:
    return " and ".join(
        TITLE_BY_ADDRESS_FAMILY[family] for family in sorted({row.decision.packets.family for row in rows})
    )


def _format_more_count(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _cached_list_effects(index: Index) -> Sequence[_ListEffect]:
    """Return what lists do to the packets that matter, other than to let them pass as they are; found once."""
    return index.compute_once(
        _INDEX_CACHE_KEY,
        lambda: list(_find_list_effects(index)) if any(map(_has_bound_access_lists, index.fabric.devices)) else [],
    )


def _has_bound_access_lists(device: Device) -> bool:
    return any(access_list.bindings for access_list in known_rows(device.access_lists))


def _find_list_effects(index: Index) -> Iterator[_ListEffect]:
    hosts = HostAddresses(index)
    classes = IdentityMap[object, AddressClasses]()
    decided: dict[tuple[object, ...], list[FilterDecision]] = {}
    for device in filter(_has_bound_access_lists, index.fabric.devices):
        own_legs = list(routed_interfaces(device))
        for rules in known_rows(device.access_lists):
            groups = classes.get(rules.entries)
            if groups is None:
                groups = classes[rules.entries] = AddressClasses(hosts, rules)
            by_far_port = any(access_entry.far_interfaces for access_entry in known_rows(rules.entries))
            per_port = any(access_entry.interfaces for access_entry in known_rows(rules.entries))
            for binding in rules.bindings:
                for flow in _flows_at_binding(index, groups, hosts, device, own_legs, binding, by_far_port=by_far_port):
                    at = binding.interface or flow.port
                    key = (groups, rules.family, str(rules.otherwise), at if per_port else "", flow.packets)
                    if key not in decided:
                        every = list(decide_packets(rules, at, flow.packets))
                        if flow.assumed:
                            every = [decision for decision in every if DEFAULT_CNP_DSCP in decision.packets.dscps]
                        passes_nd = flow.what == "nd" and not all(
                            decision.action == "deny" and decision.sure for decision in every
                        )
                        decided[key] = [decision for decision in every if _affects_packets(decision) and not passes_nd]
                    yield from (_ListEffect(device.name, rules, binding, flow, decision) for decision in decided[key])


def _affects_packets(decision: FilterDecision) -> bool:
    return decision.action != "permit" or any(decision.marks)


def _flows_at_binding(
    index: Index,
    classes: AddressClasses,
    hosts: HostAddresses,
    device: Device,
    own_legs: Sequence[RoutedInterface],
    binding: Binding,
    *,
    by_far_port: bool,
) -> Iterator[PacketFlow]:
    """Yield the packets that matter where a list is bound."""
    enters = binding.stage in ENTERING_STAGES
    for port in _ports_of_interface(device, own_legs, binding.interface):
        interface = index.interface(device.name, port)
        if interface is None or is_known_off(interface.enabled) or interface.side is None:
            continue
        at = End(device.name, port)
        if binding.stage in FORWARDING_STAGES:
            yield from roce_flows(index, classes, hosts, at, enters=enters, by_far_port=by_far_port)
        to_switch = leads_to_switch(index, at)
        for leg in own_legs if binding.stage in SWITCH_ITSELF_STAGES else ():
            if port in leg.ports and binding.interface in (None, port, leg.name):
                flows = session_flows(device, port, leg, enters=enters, to_switch=to_switch)
                yield from (flow for flow in flows if flow.what == "bfd" or binding.stage != "services")


def _ports_of_interface(device: Device, own_legs: Sequence[RoutedInterface], name: str | None) -> Sequence[str]:
    """Return the ports of an interface; of no interface, all ports of the switch."""
    if name is None:
        return [port.name for port in device.interfaces]
    members = next((leg.ports for leg in own_legs if leg.name == name), None)
    return (name,) if members is None else members
