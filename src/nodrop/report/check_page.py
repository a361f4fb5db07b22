"""Common parts of the reports of a check: the verdict, findings that come and go, and the changes of routing."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from nodrop.engine.finding import SEVERITIES, Finding
from nodrop.plan.model import worst_risk
from nodrop.report import plan_page
from nodrop.report.names import format_count, format_name, format_name_list
from nodrop.report.plan_page import RISK_LABELS
from nodrop.results.checked import ChangedFabric, ChangeReach, Checked, OutdatedBuild, RoutingChanges, RoutingDifference
from nodrop.results.rulings import DEVICE_NOT_CHECKED, POLICY_CHANGED, RISK_OF_CHANGE
from nodrop.routing.observation import DifferingFlow

_MAX_SHOWN_FLOWS = 5
"""Packets that are told one by one."""
_VERB_BY_SESSION_STATE = {"up": "comes up", "down": "goes down"}


def summarize_check(check_result: Checked) -> str:
    """Return the verdict of a check in one line, and the base that it was compared with."""
    parts = (format_check_verdict(check_result), *format_unchanged_fabrics(check_result))
    return f"since {check_result.base}: {'; '.join(parts)}"


def format_check_verdict(check_result: Checked) -> str:
    """Return the verdict of a check, the worst first."""
    changed, problems = changed_fabrics(check_result), len(check_result.outcome.problems)
    phrases = [f"{format_count(problems, 'problem')}, so not all of it was checked"] if problems else []
    if check_result.fabrics or check_result.unchanged_fabrics or not problems:
        phrases.append(format_finding_counts(check_result))
    if check_result.outdated_builds:
        phrases.append(f"{format_count(len(check_result.outdated_builds), 'build')} not as the intent has it")
    if any(stop.rule == RISK_OF_CHANGE.name for stop in check_result.blockers):
        phrases.append("more risk than --fail-on-risk lets through")
    of_policy = select_check_findings(check_result)
    if hiding := sum(finding.rule == POLICY_CHANGED.name for finding in of_policy):
        phrases.append(f"{format_count(hiding, 'change')} of policy would let faults pass")
    if gone := sum(finding.rule == DEVICE_NOT_CHECKED.name for finding in of_policy):
        phrases.append(f"{format_count(gone, 'configuration')} no longer checked")
    if losing := sum(is_loss(change) for fabric in check_result.fabrics for change in fabric.routing.changes):
        phrases.append(f"routing: {format_count(losing, 'loss')}")
    if len(changed) == 1:
        phrases.append(plan_page.summarize_plan(changed[0].plan))
    elif changed:
        if hazards := sum(len(delta.plan.rollout.hazards) for delta in changed if delta.plan.rollout):
            phrases.append(f"{format_count(hazards, 'rollout hazard')}")
        switches = sum(len(delta.plan.devices) for delta in changed)
        risk = RISK_LABELS[worst_risk(delta.plan.risk for delta in changed)]
        phrases.append(
            f"{format_count(switches, 'switch')} of {format_count(len(changed), 'fabric')} changed; worst: {risk}"
        )
    elif not problems:
        phrases.append("nothing changes")
    return "; ".join(phrases)


def format_reach(reach: ChangeReach | None) -> str:
    """Return the reach of a change in one line; "" where it reaches nothing, or no cable is known."""
    if reach is None or not reach.ports:
        return ""
    gpus = f" with {format_count(reach.gpus, 'GPU')}" if reach.gpus else ""
    others = [f"{format_count(reach.hosts, 'host')}{gpus}"] if reach.hosts else []
    others += [f"{format_count(reach.links, 'link')} between switches"] if reach.links else []
    return f"reach: {format_count(reach.ports, 'cabled port')}" + (f": {', '.join(others)}" if others else "")


def changed_fabrics(check_result: Checked) -> Sequence[ChangedFabric]:
    """Return the fabrics that change."""
    return [fabric for fabric in check_result.fabrics if not fabric.plan.empty]


def format_unchanged_fabrics(check_result: Checked) -> Iterator[str]:
    """Yield how many fabrics are as before, if any are."""
    if check_result.unchanged_fabrics:
        yield f"{format_count(len(check_result.unchanged_fabrics), 'fabric')} as before"


def format_finding_counts(check_result: Checked) -> str:
    """Return how many findings have come, gone and stayed."""
    new = Counter(finding.severity for finding in check_result.outcome.findings)
    every = [fabric.findings for fabric in check_result.fabrics]
    phrases = [format_count(new[severity], f"new {severity}") for severity in SEVERITIES if new[severity]]
    phrases = phrases or ["no new finding"]
    for number, words in (
        (sum(len(fabric_findings.fixed) for fabric_findings in every), "fixed"),
        (sum(len(fabric_findings.suppressed) for fabric_findings in every), "suppressed now"),
        (sum(fabric_findings.unchanged or 0 for fabric_findings in every), "as before"),
    ):
        phrases += [f"{number} {words}"] if number else []
    return ", ".join(phrases)


def format_findings_by_rule(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for findings of each rule: on which switches, how many."""
    rules: dict[tuple[int, str], list[Finding]] = {}
    for finding in findings:
        rules.setdefault((SEVERITIES.index(finding.severity), finding.rule), []).append(finding)
    for (rank, rule), own_findings in sorted(rules.items(), key=lambda item: item[0]):
        devices = format_name_list(
            format_name(device) for device in dict.fromkeys(hit.device for hit in own_findings if hit.device)
        )
        where = f" on {devices}" if devices else ""
        yield f"{SEVERITIES[rank]}[{rule}]: {format_count(len(own_findings), 'finding')}{where}"


def routing_change_lines(routing_change: RoutingChanges) -> Iterator[str]:
    """Yield the changes of routing, similar changes in one line; nothing if routing was not computed."""
    yield from format_routing_losses(routing_change)
    yield from format_other_reroutes(routing_change)


def format_routing_losses(routing_change: RoutingChanges) -> Iterator[str]:
    """Yield what worked and does not any more."""
    yield from _format_similar_changes([change for change in routing_change.changes if is_loss(change)])


def format_other_reroutes(routing_change: RoutingChanges) -> Iterator[str]:
    """Yield what else becomes of routing."""
    yield from _format_similar_changes([change for change in routing_change.changes if not is_loss(change)])
    yield from (_format_flow(flow) for flow in routing_change.flows[:_MAX_SHOWN_FLOWS])
    if len(routing_change.flows) > _MAX_SHOWN_FLOWS:
        yield (
            f"{format_count(len(routing_change.flows) - _MAX_SHOWN_FLOWS, 'more flow')} "
            "that only one of the two delivers"
        )
    yield from routing_change.notes


def _format_similar_changes(changes: Sequence[RoutingDifference]) -> Iterator[str]:
    together: dict[tuple[str, str], list[RoutingDifference]] = {}
    for change in changes:
        together.setdefault((change.check, _format_change(change)), []).append(change)
    for (check, description), alike in together.items():
        if check in ("routes", "reach"):
            devices = format_name_list(
                format_name(device) for device in dict.fromkeys(change.item[0] for change in alike)
            )
            prefixes = list(dict.fromkeys(change.item[-1] for change in alike))
            to = prefixes[0] if len(prefixes) == 1 else format_count(len(prefixes), "prefix")
            yield f"{'routes' if check == 'routes' else 'packets'} of {devices} to {to}: {description}"
        else:
            items = format_name_list(dict.fromkeys(_name_changed_item(change) for change in alike))
            yield f"{_SINGULAR_BY_CHECK[check]} {items}: {description}"


_SINGULAR_BY_CHECK = {"links": "cable", "sessions": "session", "failures": "failure of"}


def _name_changed_item(change: RoutingDifference) -> str:
    if change.check == "sessions":
        return f"{change.item[0]} with {change.item[-1]}"
    return change.item[-1]


def _format_change(change: RoutingDifference) -> str:
    old, new = change.old, change.new
    match change.check:
        case "routes":
            return _format_paths(_require_paths(old), _require_paths(new))
        case "failures":
            was, size = _path_count(old), _path_count(new)
            return f"loses {format_count(size or 0, 'destination')} of leaves, {was or 0} before"
        case "reach":
            before = "not wanted" if old is None else str(old)
            return f"{'not wanted any more' if new is None else new}, {before} before"
        case _ if new is None:
            return f"is no more, {old} before"
        case _ if old is None:
            return f"is new, and {new}"
        case _:
            return _VERB_BY_SESSION_STATE.get(str(new), str(new))


def _format_paths(old_paths: frozenset[str], new: frozenset[str]) -> str:
    if not old_paths or not new:
        paths = format_count(len(old_paths or new), "path")
        return f"gone, over {paths} before" if old_paths else f"new, over {paths}"
    if len(old_paths) == len(new):
        return f"over other ports, {format_count(len(new), 'path')} as before"
    return f"over {format_count(len(new), 'path')}, {len(old_paths)} before"


def _require_paths(value: Hashable) -> frozenset[str]:
    return value if isinstance(value, frozenset) else frozenset()


def _path_count(value: Hashable) -> int | None:
    return len(value) if isinstance(value, frozenset) else None


def is_loss(change: RoutingDifference) -> bool:
    """Whether something that worked does not any more."""
    match change.check:
        case "reach":
            return change.old == "delivered" and change.new not in ("delivered", None)
        case "sessions" | "links":
            return change.old == "up" and change.new == "down"
        case "failures":
            return (_path_count(change.new) or 0) > (_path_count(change.old) or 0) and change.old is not None
        case _:
            return False


def _format_flow(flow: DifferingFlow) -> str:
    which = "are lost" if flow.lost else "are delivered now"
    return f"packets of {flow.source} to {flow.destination} {which} (Batfish: {flow.old} before, {flow.new} now)"


def select_check_findings(check_result: Checked, *, notes: bool = False) -> list[Finding]:
    """Return the verdicts on the checked files, or the notes: changes of policy, and switches no longer checked."""
    return [
        stop
        for stop in check_result.blockers
        if stop.rule in (POLICY_CHANGED.name, DEVICE_NOT_CHECKED.name) and (stop.severity == "note") == notes
    ]


def format_outdated_build(build: OutdatedBuild) -> str:
    """Return that files are not as the intent has them, and on which switches."""
    reasons = [
        f"{format_name_list(map(format_name, devices))} {words}"
        for devices, words in ((build.missing, "missing"), (build.extra, "too much"), (build.differing, "different"))
        if devices
    ]
    return f"{build.build} is out of date with {build.intent}: {'; '.join(reasons)}; run `nodrop build`"


def fabric_headings(check_result: Checked) -> Sequence[tuple[ChangedFabric, str]]:
    """Return the fabrics with the head of each; a single fabric under its name needs no head."""
    found_heads = []
    for fabric in check_result.fabrics:
        was = f", {fabric.former_name} before" if fabric.former_name not in (None, fabric.name) else ""
        kind = "; gone" if fabric.removed else "; new" if fabric.former_name is None else ""
        told_by = f"; its build in {', '.join(fabric.matching_builds)} is up to date" if fabric.matching_builds else ""
        found_heads.append((fabric, f"{fabric.name}{was}{kind}{told_by}"))
    return found_heads
