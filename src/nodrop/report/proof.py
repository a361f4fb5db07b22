"""A proof about deadlock as facts and as text; the first line is the verdict."""

from collections.abc import Iterator
from typing import Any

from nodrop.analyses.buffer_cycles import describe_packets
from nodrop.model.subject import subject_text as subject_text
from nodrop.proofs.certificate import assumptions_of
from nodrop.proofs.changes import LeastDeadlockRemedy
from nodrop.proofs.deadlock import BufferInCircle, DependencyGraphNames
from nodrop.proofs.failures import FailureSearchResult
from nodrop.proofs.invariants import ProofObstacle
from nodrop.proofs.proving import DeadlockProof
from nodrop.report.claims import SEARCH_CUT_TEXT
from nodrop.report.document_text import render_lines
from nodrop.report.names import format_count, format_name_list
from nodrop.routing import ControlPlane
from nodrop.routing.stand_ins import is_stand_in

FactsByKey = dict[str, Any]
FORMAT_VERSION = 1
_SHOWN_OBSTACLES = 5
_SHOWN_MISSING = 5
_SHOWN_TURNS = 8


def proof_facts(proof: DeadlockProof) -> FactsByKey:
    """Return what `nodrop prove` prints as JSON (schemas/proof.schema.json)."""
    check, decisive = proof.check, proof.decisive_check
    forwarding = check.traffic.forwarding
    plane, names = forwarding.plane, DependencyGraphNames(decisive.traffic)
    positions = check.positions or {}
    return {
        "version": FORMAT_VERSION,
        "claim": "deadlock",
        "fabric": plane.index.fabric.name,
        "verdict": proof.verdict,
        "any_failures": proof.verdict in ("free", "unknown") and proof.invariants.hold,
        "missing": [{"part": subject_text(fact.subject), "fact": fact.what} for fact in check.missing],
        "assumptions": list(assumptions_of(forwarding)),
        "switches": sum(not is_stand_in(device) for device in plane.index.fabric.devices),
        "dscps": list(check.traffic.kinds),
        "buffers": len(positions) or check.buffers_on_circles,
        "steps": max(positions.values()) + 1 if positions else 0,
        "session_kinds": len(proof.invariants.kinds),
        "obstacles": [_describe_obstacle(plane, obstacle) for obstacle in proof.invariants.obstacles],
        "search": None if proof.search is None else _failure_search_facts(proof.search),
        "circles": len(decisive.circles),
        "buffers_on_circles": decisive.buffers_on_circles,
        "circle": [_circle_buffer_facts(names, turn) for turn in decisive.circles[0]] if decisive.circles else [],
        "change": None if proof.change is None else _least_change_facts(proof.change),
    }


def _failure_search_facts(search: FailureSearchResult) -> FactsByKey:
    return {
        "most": search.most,
        "states": search.states,
        "complete": search.complete,
        "single": search.single,
        "classes": search.classes,
        "failed": [failure.name for failure in search.failures],
    }


def _circle_buffer_facts(names: DependencyGraphNames, turn: BufferInCircle) -> FactsByKey:
    port = names.port_of_buffer(turn.buffer)
    source, receiver = names.sender_and_receiver(turn)
    return {
        "switch": port.node,
        "port": port.port,
        "group": turn.buffer.group,
        "dscp": turn.dscp,
        "destination": names.first_prefix_of_destination(turn.destination),
        "source": source,
        "receiver": receiver,
        "packets": describe_packets(names, turn),
    }


def _least_change_facts(change: LeastDeadlockRemedy) -> FactsByKey:
    return {
        "shared_asn": list(change.shared_asn),
        "vlans": [{"switch": one.device, "vlan": one.vlan} for one in change.vlans],
        "turns": [{"switch": turn.device, "from": turn.before, "to": turn.after} for turn in change.turns],
        "classes": change.classes,
    }


def _describe_obstacle(plane: ControlPlane, obstacle: ProofObstacle) -> str:
    """Return why the conditions for any failures do not hold at a router."""

    def name(number: int | None) -> str:
        return "" if number is None else plane.routers[number].name

    def asn(number: int | None) -> str:
        bgp = None if number is None else plane.routers[number].bgp
        return "" if bgp is None else f" (AS {bgp.asn})"

    router, to, other = name(obstacle.router), name(obstacle.to), name(obstacle.heard_from)
    return {
        "passes": f"{router} can announce to {to}{asn(obstacle.to)} routes of {other}{asn(obstacle.heard_from)}",
        "level": f"{router} and {to} have hosts at the same distance",
        "no-level": f"{router} has no session that leads to hosts",
        "outer": f"{router} announces to {to} a prefix that has other switches' prefixes inside",
        "default": f"{router} announces a default route to {to}",
        "static": f"{router} has static routes to other switches",
        "tunnel": f"{router} sends up again through a tunnel what came down to it",
        "flood": f"{router} floods packets in a VLAN that other switches are in",
        "inside": f"{router} has sessions inside its AS or over several hops",
    }[obstacle.reason]


def render_proof(facts: FactsByKey) -> str:
    """Return the page of `nodrop prove`, every line ended."""
    return render_lines(_proof_lines(facts))


def _proof_lines(facts: FactsByKey) -> Iterator[str]:
    yield f"{_verdict_text(facts)}: {facts['fabric']}"
    basis = list(_basis_lines(facts))
    if basis or facts["circle"]:
        yield ""
    yield from basis
    if facts["circle"]:
        yield from _circle_lines(facts)
    if facts["change"] is not None:
        yield from _least_change_lines(facts["change"])
    if facts["missing"]:
        yield ""
        yield "Unknown facts that decide it:"
        for fact in facts["missing"][:_SHOWN_MISSING]:
            yield f"  {fact['part']}: {fact['fact']}"
        if len(facts["missing"]) > _SHOWN_MISSING:
            yield f"  and {len(facts['missing']) - _SHOWN_MISSING} more"
    yield ""
    yield "Assumed:"
    yield from (f"  {text}" for text in facts["assumptions"])


def _verdict_text(facts: FactsByKey) -> str:
    if facts["verdict"] == "possible":
        return "Deadlock possible"
    if facts["verdict"] == "possible-after-failures":
        failed = facts["search"]["failed"]
        return f"Deadlock possible if {' and '.join(failed)} fail{'s' if len(failed) == 1 else ''}"
    if facts["verdict"] == "unknown":
        unknown = (
            f"{format_count(len(facts['missing']), 'fact')} {'is' if len(facts['missing']) == 1 else 'are'} unknown"
        )
        return f"Not proved, no circle of buffers found, but {unknown}"
    if not facts["buffers"]:
        return "No deadlock possible, no lossless buffer between switches waits"
    if facts["any_failures"]:
        return "No deadlock possible, whatever fails"
    search = facts["search"]
    if search is not None and search["complete"]:
        return f"No deadlock possible with up to {format_count(search['most'], 'failure')}"
    return "No deadlock possible as cabled"


def _basis_lines(facts: FactsByKey) -> Iterator[str]:
    """Yield the facts of the verdict."""
    if facts["verdict"] != "possible" and facts["buffers"]:
        buffers, steps = format_count(facts["buffers"], "lossless buffer"), format_count(facts["steps"], "step")
        yield f"  As cabled: {buffers} on {format_count(facts['switches'], 'switch')}, in an order of {steps}."
    if facts["any_failures"] and facts["buffers"]:
        kinds = format_count(facts["session_kinds"], "distinct policy pair")
        yield f"  After failures: no switch announces upward what it hears from above ({kinds} checked)."
    elif facts["obstacles"] and facts["verdict"] != "possible":
        yield "  Not proved for all failures:"
        yield from (f"    {text}" for text in facts["obstacles"][:_SHOWN_OBSTACLES])
        if len(facts["obstacles"]) > _SHOWN_OBSTACLES:
            yield f"    and {len(facts['obstacles']) - _SHOWN_OBSTACLES} more"
    search = facts["search"]
    if search is None:
        if facts["verdict"] in ("free", "unknown") and not facts["any_failures"] and facts["buffers"]:
            yield "  --failures K checks failures one by one."
        return
    yield (
        f"  Failures: {format_count(search['states'], 'state')} checked, up to "
        f"{search['most']} cables or switches failed."
    )
    if search["classes"] < search["single"]:
        singles = format_count(search["single"], "single failure")
        yield f"  {singles} in {format_count(search['classes'], 'class')} of the same effect but for names."
    if not search["complete"]:
        yield f"  {SEARCH_CUT_TEXT[0].upper()}{SEARCH_CUT_TEXT[1:]}."


def _circle_lines(facts: FactsByKey) -> Iterator[str]:
    circle = facts["circle"]
    yield (
        f"  {format_count(facts['buffers_on_circles'], 'buffer')} on circles, in "
        f"{format_count(facts['circles'], 'separate set')}."
    )
    yield (
        f"  The shortest circle has {format_count(len(circle), 'buffer')}; each "
        "waits for the next, the last for the first:"
    )
    for hop in circle:
        yield f"    {hop['switch']}:{hop['port']}, priority group {hop['group']}: {hop['packets']}"


def _least_change_lines(change: FactsByKey) -> Iterator[str]:
    yield ""
    yield "Least change that breaks it:"
    if change["shared_asn"]:
        yield f"  Give {format_name_list(change['shared_asn'])} one AS number."
    is_other = bool(change["shared_asn"])
    if change["vlans"]:
        switches: dict[int, list[str]] = {}
        for one in change["vlans"]:
            switches.setdefault(one["vlan"], []).append(one["switch"])
        vlans = [f"VLAN {vlan} from the ports of {format_name_list(names)}" for vlan, names in sorted(switches.items())]
        yield f"  {'Or remove' if is_other else 'Remove'} {' and '.join(vlans)} to other switches."
        is_other = True
    turns = change["turns"]
    if turns:
        yield f"  {'Or stop' if is_other else 'Stop'} {format_count(len(turns), 'turn')}:"
    for turn in turns[:_SHOWN_TURNS]:
        yield f"    at {turn['switch']}, packets from {turn['from']} to {turn['to']}"
    if len(turns) > _SHOWN_TURNS:
        yield f"    and {len(turns) - _SHOWN_TURNS} more"
    if change["classes"] is not None:
        yield f"  Or {change['classes']} lossless classes: packets change to the next one at these turns."
    if not turns and not is_other:
        yield "  None found."
