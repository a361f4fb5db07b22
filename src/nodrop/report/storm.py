"""The effect of one NIC that never stops pausing, for every port to a host: as facts and as text."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from nodrop.analyses.buffer_cycles import deadlock_check_of
from nodrop.engine.vocabulary.admission import group_pause_bytes, lossless_ports_per_memory_part
from nodrop.model import effects
from nodrop.model.fabric import End, Interface
from nodrop.model.index import Index
from nodrop.model.qos import PfcWatchdog, QosProfile
from nodrop.model.states import Unknown, UnknownFact
from nodrop.model.subject import subject_text as subject_text
from nodrop.proofs.storm import PauseSpreadGraph, PauseStorm, StoppedPort, count_stopped_ports
from nodrop.proofs.storm_hosts import FillTime
from nodrop.report.document_text import render_lines
from nodrop.report.names import format_count

FactsByKey = dict[str, Any]
FORMAT_VERSION = 1
WATCHDOG_BOUND_SENTENCE = "A watchdog bounds the length of a freeze, not its reach."
_SHOWN_STORMS = 10
_FREEZE_ENDING_ACTIONS = ("drop", "forward")
"""The actions of a watchdog that free what waits for the port."""


def pause_storm_facts(index: Index) -> FactsByKey:
    """Return what `nodrop prove --claim storm` prints as JSON (schemas/storm.schema.json), the farthest reach first."""
    check = deadlock_check_of(index)
    timer = _FillTimeCalculator(index)
    merged: dict[str, FactsByKey] = {}
    model = PauseSpreadGraph(check.traffic, timer.fill_time, lambda end: _far_watchdog_detection_ms(index, end))
    for storm in model.storms():
        freezes: dict[str, tuple[FactsByKey, list[End]]] = {}
        for port in storm.like:
            freeze = _watchdog_action_facts(index, port)
            freezes.setdefault(repr(freeze), (freeze, []))[1].append(port)
        for freeze, ports in freezes.values():
            facts = _facts_of_storm(index, storm, freeze)
            merged.setdefault(_equal_storm_key(facts), {"ports": [], **facts})["ports"] += [
                list(port) for port in ports
            ]
    rows = sorted(merged.values(), key=lambda row: (-row["gpus"], -row["hosts"], -row["host_ports"], row["ports"]))
    return {
        "version": FORMAT_VERSION,
        "claim": "storm",
        "fabric": index.fabric.name,
        "missing": [{"part": subject_text(fact.subject), "fact": fact.what} for fact in check.missing],
        "storms": rows,
    }


def _equal_storm_key(facts: FactsByKey) -> str:
    """Return what two ports have in common whose NICs stop as much: all but the ports that are named."""
    steps = [{**step, "example": None, "over": step["over"] is not None} for step in facts["steps"]]
    following = facts["next_watchdog"]
    return repr({**facts, "steps": steps, "next_watchdog": None if following is None else following["least_ms"]})


class _FillTimeCalculator:
    """Computes how long buffers take to fill, once for ports that are alike."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._sharers = {device.name: lossless_ports_per_memory_part(device) for device in index.fabric.devices}
        self._known: dict[tuple[object, ...], FillTime | None] = {}

    def fill_time(self, end: End, group: int) -> FillTime | None:
        """Return how long a port's priority group takes until it pauses, at line rate; None where that is not known."""
        interface = self._index.interface(*end)
        if interface is None or not isinstance(interface.qos, QosProfile):
            return None
        key = (end.node, interface.qos, interface.speed_mbps, group)
        if key not in self._known:
            self._known[key] = self._compute_fill_time(end, interface, group)
        return self._known[key]

    def _compute_fill_time(self, end: End, interface: Interface, group: int) -> FillTime | None:
        device, speed_mbps = self._index.devices[end.node], interface.speed_mbps
        if isinstance(speed_mbps, Unknown) or not speed_mbps or not isinstance(interface.qos, QosProfile):
            return None
        try:
            buffer = effects.buffer_of_priority_group(interface.qos, group)
            if buffer is None:
                return None
            depths = [group_pause_bytes(device, buffer, sharers) for sharers in (self._sharers[end.node], 1)]
        except UnknownFact:
            return None
        least, most = (None if depth is None else depth * 8 / speed_mbps for depth in depths)
        return None if least is None or most is None else FillTime(least, most)


def _watchdog_of(index: Index, port: End) -> PfcWatchdog | None | Unknown:
    interface = index.interface(*port)
    qos = None if interface is None else interface.qos
    return qos.pfc_watchdog if isinstance(qos, QosProfile) else None


def _facts_of_storm(index: Index, storm: PauseStorm, freeze: FactsByKey) -> FactsByKey:
    return {
        "host_ports": count_stopped_ports(storm.host_ports),
        "hosts": storm.hosts,
        "gpus": storm.gpus,
        "fabric_ports": count_stopped_ports(storm.stopped),
        "steps": list(_spread_step_facts(storm)),
        "freeze": freeze,
        "next_watchdog": _first_fabric_watchdog_to_act(index, storm.stopped),
    }


def _spread_step_facts(storm: PauseStorm) -> Iterator[FactsByKey]:
    """Yield the steps of the pause: how many ports it reaches, one of them with the port behind it, and when."""
    by_step: defaultdict[tuple[int, bool], list[StoppedPort]] = defaultdict(list)
    for stopped in storm.stopped:
        by_step[stopped.steps, False].append(stopped)
    for stopped in storm.host_ports:
        by_step[stopped.steps, True].append(stopped)
    for (step, to_hosts), ports in sorted(by_step.items()):
        least, most = [port.least_us for port in ports], [port.most_us for port in ports]
        yield {
            "step": step,
            "to_hosts": to_hosts,
            "ports": count_stopped_ports(ports),
            "example": list(ports[0].port),
            "over": None if ports[0].over is None else list(ports[0].over),
            "least_us": None if None in least else round(min(time for time in least if time is not None), 1),
            "most_us": None if None in most else round(max(time for time in most if time is not None), 1),
        }


def _watchdog_action_facts(index: Index, port: End) -> FactsByKey:
    """Return when the watchdog of a port acts, in milliseconds; `ends` is false if it frees nothing."""
    watchdog, polling = _watchdog_of(index, port), index.devices[port.node].watchdog_polling_ms
    if watchdog is None:
        return {"ends": False, "least_ms": None, "most_ms": None, "action": None}
    if not isinstance(watchdog, PfcWatchdog):
        return {"ends": None, "least_ms": None, "most_ms": None, "action": None}
    action, detection = watchdog.taken_action, watchdog.detection_ms
    if isinstance(polling, Unknown) or isinstance(action, Unknown):
        return {"ends": None, "least_ms": None, "most_ms": None, "action": None}
    if isinstance(detection, Unknown) or detection is None or polling is None:
        return {"ends": None, "least_ms": None, "most_ms": None, "action": action}
    ends = action in _FREEZE_ENDING_ACTIONS
    return {
        "ends": ends,
        "least_ms": detection if ends else None,
        "most_ms": detection + 2 * polling if ends else None,
        "action": action,
    }


def _first_fabric_watchdog_to_act(index: Index, stopped: Sequence[StoppedPort]) -> FactsByKey | None:
    """Return the first watchdog between switches that would act: where its port is stopped, plus its detection time."""
    found: list[tuple[float, End]] = []
    for one in stopped:
        sender, detection_ms = index.far_end(*one.port), _far_watchdog_detection_ms(index, one.port)
        if sender is not None and detection_ms is not None:
            found.append(((one.least_us or 0.0) / 1000 + detection_ms, sender))
    if not found:
        return None
    time, port = min(found)
    return {"port": list(port), "least_ms": round(time, 1)}


def _far_watchdog_detection_ms(index: Index, port: End) -> int | None:
    """Return the detection time of the watchdog at the far end of a port, in milliseconds; None without a known one."""
    sender = index.far_end(*port)
    watchdog = None if sender is None else _watchdog_of(index, sender)
    detection_ms = watchdog.detection_ms if isinstance(watchdog, PfcWatchdog) else None
    return detection_ms if isinstance(detection_ms, int) else None


def has_endless_freeze_beyond_host(facts: FactsByKey) -> bool:
    """Whether a freeze of more than the port's own host has no watchdog that ends it."""
    return any(row["freeze"]["ends"] is False and row["host_ports"] for row in facts["storms"])


def render_storms(facts: FactsByKey) -> str:
    """Return the page of `nodrop prove --claim storm`, every line ended."""
    return render_lines(_storm_lines(facts))


def _storm_lines(facts: FactsByKey) -> Iterator[str]:
    storms = facts["storms"]
    reaching = [row for row in storms if row["host_ports"]]
    if not reaching:
        yield f"No NIC stops other hosts, no pause leaves its port: {facts['fabric']}"
        return
    worst = reaching[0]
    yield f"One NIC that pauses for ever stops up to {_format_reach(worst)}: {facts['fabric']}"
    for row in reaching[:_SHOWN_STORMS]:
        yield ""
        like = f" and {format_count(len(row['ports']) - 1, 'port')} like it" if len(row["ports"]) > 1 else ""
        yield f"  {':'.join(row['ports'][0])}{like}: stops {_format_reach(row)}"
        yield from (f"    {line}" for line in _storm_step_lines(row))
    if len(reaching) > _SHOWN_STORMS:
        yield ""
        yield f"  and {len(reaching) - _SHOWN_STORMS} kinds of ports with less reach"
    yield ""
    if facts["missing"]:
        yield f"{format_count(len(facts['missing']), 'fact')} unknown: a pause may reach farther."
    yield WATCHDOG_BOUND_SENTENCE
    yield "Times: from all lossless ports of a switch filling up, to one sender at line rate filling each buffer."


def _format_reach(row: FactsByKey) -> str:
    hosts = f" of {format_count(row['hosts'], 'host')}" if row["hosts"] else ""
    gpus = f" with {format_count(row['gpus'], 'GPU')}" if row["gpus"] else ""
    return f"{format_count(row['host_ports'], 'other host port')}{hosts}{gpus}"


def _storm_step_lines(row: FactsByKey) -> Iterator[str]:
    for step in row["steps"]:
        where = "to hosts" if step["to_hosts"] else "between switches"
        over = "" if step["over"] is None else f", waits for {':'.join(step['over'])}"
        yield (
            f"after {_format_time_span(step)}: {format_count(step['ports'], 'port')} "
            f"{where} ({':'.join(step['example'])}{over})"
        )
    freeze = row["freeze"]
    if freeze["ends"]:
        times = f"{freeze['least_ms']} to {freeze['most_ms']} ms"
        yield f"ends after {times}: the watchdog of the port, action {freeze['action']}"
    elif freeze["ends"] is None:
        yield "ends: unknown, the watchdog of the port or its polling is not known"
    else:
        yield "never ends: the port has no watchdog that drops or forwards packets"
    if row["next_watchdog"] is not None:
        port, least = ":".join(row["next_watchdog"]["port"]), row["next_watchdog"]["least_ms"]
        yield f"next watchdog: {port}, not before {least} ms"


def _format_time_span(step: FactsByKey) -> str:
    if step["least_us"] is None or step["most_us"] is None:
        return "an unknown time"
    return f"{step['least_us']:g} to {step['most_us']:g} µs"
