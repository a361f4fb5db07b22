"""The path of a packet as facts and as text: switch by switch, with the effect of each on its class."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from nodrop.model.effects import (
    buffer_of_priority_group,
    find_queue,
    is_lossless,
    map_entry,
    pausing_priorities_of_priority_group,
    priority_group_of_tc,
    queue_of_tc,
    tc_of_dscp,
)
from nodrop.model.fabric import Interface
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, require_fact
from nodrop.report.document_text import render_lines
from nodrop.report.names import format_name_list
from nodrop.routing import ControlPlane
from nodrop.routing.filtering import PacketSet
from nodrop.routing.hop_filters import FilterResult, access_list_results_at_router
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.paths import PathWalk, RouterOnPath
from nodrop.routing.prefixes import Address
from nodrop.routing.roce_opcodes import format_opcodes
from nodrop.routing.roce_packets import roce_packets_of_dscp
from nodrop.units import show_bytes, show_speed

FactsByKey = dict[str, Any]
UNKNOWN_TEXT = "unknown"
_MAX_LISTED_PAIRS = 20
"""How many pairs of ports that do not reach each other are listed."""
_T = TypeVar("_T")


def _read_fact(read: Callable[[], _T]) -> _T | str:
    """Return a fact that a function reads from the model, or the word for facts that no file states."""
    try:
        return read()
    except UnknownFact:
        return UNKNOWN_TEXT


def path_facts(plane: ControlPlane, walk: PathWalk, dscp: int, source: Address | None = None) -> FactsByKey:
    """Return the ways, and every switch on them, in values for JSON; access lists see a RoCE packet of the source."""
    name = [router.name for router in plane.routers]
    carried = {walk.stages[0].router: dscp} if walk.stages else {}
    stages = []
    for stage in walk.stages:
        own_dscp = carried.get(stage.router, dscp)
        packet = roce_packets_of_dscp(plane.index.fabric, source, walk.to, own_dscp)
        stage_facts = _stage_facts(plane, stage, own_dscp, packet)
        stages.append(stage_facts)
        for hop in stage.route.hops if stage.route is not None else ():
            if hop.router is not None:
                carried.setdefault(hop.router, stage_facts["dscp_out"])
    refused = any(acl["action"] == "deny" for stage in stages for acl in stage["filters"])
    return {
        "paths": walk.path_count,
        "delivered": walk.arrives_on_every_path and not refused,
        "traces": [
            {"switches": [name[router] for router in path.routers], "paths": path.paths, "outcome": path.outcome}
            for path in walk.ways
        ],
        "hops": stages,
    }


def _stage_facts(plane: ControlPlane, stage: RouterOnPath, dscp: int, packet: PacketSet) -> FactsByKey:
    router = plane.routers[stage.router]
    ports = _DevicePorts(plane, "" if router.is_stand_in else router.device.name)
    arriving = [interface for leg in stage.arrive for interface in ports.ports_of_leg(router.leg_by_name.get(leg), leg)]
    leaving = [interface for leg in stage.leave for interface in ports.ports_of_leg(router.leg_by_name.get(leg), leg)]
    ingress = _group_ports_by_facts(arriving, lambda port: _ingress_facts(port, dscp))
    tc = ingress[0]["tc"] if ingress else UNKNOWN_TEXT  # what a switch sends itself it queues as it likes
    egress = _group_ports_by_facts(leaving, lambda port: _egress_facts(port, tc))
    sent = [row["dscp"] for row in egress if isinstance(row["dscp"], int)]
    route = stage.route
    return {
        "device": router.name,
        "depth": stage.depth,
        "outside": router.is_stand_in,
        "outcome": stage.outcome,
        "route": None
        if route is None
        else {"prefix": str(route.prefix), "source": route.source, "next_hops": len(route.hops)},
        "dscp_in": dscp,
        "dscp_out": sent[0] if sent else dscp,
        "ingress": ingress,
        "egress": egress,
        "filters": [
            _acl_decision_facts(acl, packet)
            for acl in access_list_results_at_router(plane, stage, packet)
            if acl.entry or acl.action != "permit"
        ],
    }


def _acl_decision_facts(acl: FilterResult, packet: PacketSet) -> FactsByKey:
    """Return the decision of an access list, and the entry that decides; `unknown` if it may do either.

    The `opcodes` are those of RoCE that it is about, None where it is about all of the packets.
    """
    opcodes = acl.decision.packets.opcodes
    return {
        "list": acl.rules.name,
        "entry": None if acl.entry is None else acl.entry.name,
        "interface": acl.interface,
        "stage": acl.stage,
        "action": acl.action,
        "opcodes": None if opcodes == packet.opcodes else format_opcodes(opcodes),
    }


class _DevicePorts:
    """The ports of a device by name."""

    def __init__(self, plane: ControlPlane, device: str) -> None:
        self._index, self._device = plane.index, device

    def ports_of_leg(self, leg: RoutedInterface | None, port: str) -> Iterator[Interface]:
        """Yield the ports of a leg, or else the one of this name; a loopback has none."""
        for name in (port,) if leg is None else leg.ports:
            interface = self._index.interface(self._device, name)
            if interface is not None:
                yield interface


def _group_ports_by_facts(ports: Sequence[Interface], read: Callable[[Interface], FactsByKey]) -> list[FactsByKey]:
    """Return what ports do, once for those that do the same."""
    rows: dict[str, tuple[list[str], FactsByKey]] = {}
    for port in ports:
        port_facts = read(port)
        rows.setdefault(repr(port_facts), ([], port_facts))[0].append(port.name)
    return [{"ports": port_names, **shared_facts} for port_names, shared_facts in rows.values()]


def _require_qos(port: Interface) -> QosProfile | None:
    return require_fact(port.qos, "interface.qos")


def _ingress_facts(port: Interface, dscp: int) -> FactsByKey:
    """Return the effect of a port on a packet that comes in: its class and group, and what keeps it from being lost."""
    tc = _read_fact(lambda: tc_of_dscp(_require_qos(port), dscp) if _classifies_by_dscp(port) else UNKNOWN_TEXT)
    if not isinstance(tc, int):
        return {
            "tc": UNKNOWN_TEXT,
            "priority_group": UNKNOWN_TEXT,
            "lossless": UNKNOWN_TEXT,
            "pauses": UNKNOWN_TEXT,
            "xoff_bytes": UNKNOWN_TEXT,
        }
    group = _read_fact(lambda: priority_group_of_tc(_require_qos(port), tc))
    return {
        "tc": tc,
        "priority_group": group,
        "lossless": _read_fact(lambda: is_lossless(_require_qos(port), tc)),
        "pauses": _read_fact(lambda: _pausing_priorities(_require_qos(port), group)),
        "xoff_bytes": _read_fact(lambda: _xoff_bytes_of_group(_require_qos(port), group)),
    }


def _classifies_by_dscp(port: Interface) -> bool:
    """Whether a port uses the DSCP of a packet."""
    qos = _require_qos(port)
    return qos is None or require_fact(qos.trust, "interface.qos.trust") in ("dscp", "both", None)


def _pausing_priorities(qos: QosProfile | None, group: int | str) -> list[int]:
    return [] if qos is None or isinstance(group, str) else list(pausing_priorities_of_priority_group(qos, group))


def _xoff_bytes_of_group(qos: QosProfile | None, group: int | str) -> int | None:
    buffer = None if qos is None or isinstance(group, str) else buffer_of_priority_group(qos, group)
    headroom = None if buffer is None else require_fact(buffer.headroom, "priority_group.buffer.headroom")
    return None if headroom is None else require_fact(headroom.xoff_bytes, "priority_group.buffer.headroom.xoff_bytes")


def _egress_facts(port: Interface, tc: int | str) -> FactsByKey:
    """Return the effect of a port on a packet that goes out: queue, share, marks, and how a stuck queue is freed."""
    number = tc if isinstance(tc, str) else _read_fact(lambda: queue_of_tc(_require_qos(port), tc))
    wire = {"speed_mbps": _value_or_unknown(port.speed_mbps), "mtu_bytes": _value_or_unknown(port.mtu_bytes)}
    if isinstance(number, str):
        fields = ("queue", "scheduler", "ecn", "obeys_pause", "watchdog_ms", "dscp")
        return {**dict.fromkeys(fields, UNKNOWN_TEXT), **wire}
    return {
        "queue": number,
        "scheduler": _read_fact(lambda: _format_scheduler(_require_qos(port), number)),
        "ecn": _read_fact(lambda: _ecn_facts(_require_qos(port), number)),
        "obeys_pause": _read_fact(lambda: _obeyed_priorities_of_queue(_require_qos(port), number)),
        "watchdog_ms": _read_fact(lambda: _watchdog_detection_ms(_require_qos(port))),
        "dscp": _read_fact(lambda: _dscp_after_rewrite(_require_qos(port), tc)),
        **wire,
    }


def _value_or_unknown(value: int | None | Unknown) -> int | None | str:
    return UNKNOWN_TEXT if isinstance(value, Unknown) else value


def _format_scheduler(qos: QosProfile | None, number: int) -> str | None:
    found_queue = None if qos is None else find_queue(qos, number)
    scheduler = None if found_queue is None else require_fact(found_queue.scheduler, "queue.scheduler")
    if scheduler is None:
        return None
    return scheduler.type if scheduler.weight is None else f"{scheduler.type} {scheduler.weight}"


def _ecn_facts(qos: QosProfile | None, number: int) -> FactsByKey | None:
    found_queue = None if qos is None else find_queue(qos, number)
    wred = None if found_queue is None else require_fact(found_queue.wred, "queue.wred")
    if wred is None or "green" not in wred.ecn_colors:
        return None
    green = wred.green
    return {
        "min_bytes": green.min_bytes,
        "max_bytes": green.max_bytes,
        "probability_percent": green.probability_percent,
    }


def _obeyed_priorities_of_queue(qos: QosProfile | None, number: int) -> list[int]:
    if qos is None:
        return []
    table = require_fact(qos.pfc_to_queue, "interface.qos.pfc_to_queue")
    own_pfc_rx_priorities = require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities")
    return [
        pfc_rx_priority
        for pfc_rx_priority in own_pfc_rx_priorities
        if (pfc_rx_priority if table is None else map_entry(table, pfc_rx_priority)) == number
    ]


def _watchdog_detection_ms(qos: QosProfile | None) -> int | None:
    dog = None if qos is None else require_fact(qos.pfc_watchdog, "interface.qos.pfc_watchdog")
    return None if dog is None else require_fact(dog.detection_ms, "interface.qos.pfc_watchdog.detection_ms")


def _dscp_after_rewrite(qos: QosProfile | None, tc: int | str) -> int | None:
    table = None if qos is None or isinstance(tc, str) else require_fact(qos.tc_to_dscp, "interface.qos.tc_to_dscp")
    return None if table is None or isinstance(tc, str) else map_entry(table, tc)


def format_path_page(shown: FactsByKey) -> str:
    """Return the page of `nodrop path`, every line ended."""
    lines = [shown["title"], ""]
    for path in shown["traces"]:
        end = "" if path["outcome"] == "delivered" else f": {path['outcome']}"
        count = f"{path['paths']} path{'s' if path['paths'] != 1 else ''}"
        lines.append(f"  {' > '.join(path['switches'])}  ({count}){end}")
    lines += _format_port_pairs(shown["pairs"])
    for depth, alike in _group_equal_stages(shown["hops"]):
        lines += ["", f"{depth + 1}  {format_name_list([stage['device'] for stage in alike])}", *_stage_lines(alike[0])]
    return render_lines(lines)


def _format_port_pairs(pairs: Sequence[FactsByKey]) -> Iterator[str]:
    """Yield over how many paths pairs of ports reach each other, and each that does not."""
    if not pairs:
        return
    counts = Counter(pair["paths"] for pair in pairs if pair["delivered"])
    over = ", ".join(f"{times} over {paths} path{'s' if paths != 1 else ''}" for paths, times in sorted(counts.items()))
    yield ""
    yield f"  {counts.total()} of {len(pairs)} pairs of ports reach each other{f': {over}' if over else ''}"
    lost = [pair for pair in pairs if not pair["delivered"]]
    for pair in lost[:_MAX_LISTED_PAIRS]:
        yield (f"  {pair['source']} to {pair['destination']} ({pair['address']}): {pair['outcome']}")
    if len(lost) > _MAX_LISTED_PAIRS:
        yield f"  and {len(lost) - _MAX_LISTED_PAIRS} more"


def _group_equal_stages(stages: Sequence[FactsByKey]) -> Iterator[tuple[int, list[FactsByKey]]]:
    """Yield switches at one place of the way that do the same."""
    rows: dict[str, list[FactsByKey]] = {}
    for stage in stages:
        words = repr((stage["depth"], _stage_lines(stage)))
        rows.setdefault(words, []).append(stage)
    yield from ((alike[0]["depth"], alike) for alike in rows.values())


def _stage_lines(stage: FactsByKey) -> list[str]:
    lines = []
    for row in stage["ingress"]:
        lossless = {True: "lossless", False: "lossy"}.get(row["lossless"], "lossless or not is unknown")
        xoff = f", xoff {show_bytes(row['xoff_bytes'])}" if isinstance(row["xoff_bytes"], int) else ""
        pauses = (
            f", pauses priority {', '.join(map(str, row['pauses']))}" if row["pauses"] not in ([], UNKNOWN_TEXT) else ""
        )
        lines.append(
            f"   in   {format_name_list(row['ports'])}: DSCP {stage['dscp_in']}, traffic class {row['tc']}, "
            f"priority group {row['priority_group']}, {lossless}{pauses}{xoff}"
        )
    lines += [f"   acl  {_format_acl_decision(acl)}" for acl in stage["filters"] if acl["stage"] == "ingress"]
    route = stage["route"]
    if route is None:
        lines.append("   no route")
    else:
        count = route["next_hops"]
        hops = f", {count} next hop{'s' if count != 1 else ''}" if route["source"] == "bgp" else ""
        lines.append(f"   by   {route['prefix']}, {route['source']}{hops}")
    lines += [f"   out  {format_name_list(row['ports'])}: {_format_egress(row)}" for row in stage["egress"]]
    lines += [f"   acl  {_format_acl_decision(acl)}" for acl in stage["filters"] if acl["stage"] == "egress"]
    if stage["outside"] and stage["outcome"] == "delivered":
        lines.append("   outside the fabric")
    if stage["outcome"] not in (None, "delivered"):
        lines.append(f"   {stage['outcome']}")
    return lines


def _format_acl_decision(acl: FactsByKey) -> str:
    """Return the entry of an access list that decides, and its action."""
    entry = "no entry matches" if acl["entry"] is None else f"entry {acl['entry']}"
    does = {"permit": "permits", "deny": "drops", UNKNOWN_TEXT: "may drop"}[acl["action"]]
    part = "" if acl["opcodes"] is None else f" opcode {acl['opcodes']}"
    return f"{acl['interface']}, {acl['stage']}: {acl['list']}, {entry}, {does}{part}"


def _format_egress(row: FactsByKey) -> str:
    words = [f"queue {row['queue']}"]
    if row["scheduler"] not in (None, UNKNOWN_TEXT):
        words.append(str(row["scheduler"]))
    ecn = row["ecn"]
    if isinstance(ecn, dict):
        words.append(
            f"ECN from {_format_bytes(ecn['min_bytes'])} to {_format_bytes(ecn['max_bytes'])} "
            f"at {ecn['probability_percent']} %"
        )
    elif ecn is None:
        words.append("no ECN")
    if row["obeys_pause"] not in ([], UNKNOWN_TEXT):
        words.append(f"obeys pause of priority {', '.join(map(str, row['obeys_pause']))}")
        words += _format_watchdog(row["watchdog_ms"])
    if isinstance(row["dscp"], int):
        words.append(f"sets DSCP {row['dscp']}")
    if isinstance(row["speed_mbps"], int):
        words.append(show_speed(row["speed_mbps"]))
    if isinstance(row["mtu_bytes"], int):
        words.append(f"MTU {row['mtu_bytes']}")
    return ", ".join(words)


def _format_watchdog(watchdog_ms: int | str | None) -> list[str]:
    if watchdog_ms == UNKNOWN_TEXT:
        return []
    return ["no watchdog" if watchdog_ms is None else f"watchdog {watchdog_ms} ms"]


def _format_bytes(count: int | None) -> str:
    return "no limit" if count is None else show_bytes(count)
