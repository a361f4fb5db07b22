"""A check as a document: the changes fabric by fabric, findings that come and go, routing changes, and the verdict."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from nodrop.engine.finding import SEVERITIES, Finding
from nodrop.plan.model import worst_risk
from nodrop.report.claims import describe_claim_changes
from nodrop.report.document import FindingList, Node, Paragraph, ReportDocument, Section, VerdictLine, list_lines
from nodrop.report.finding_items import describe_finding
from nodrop.report.names import escape_or_quote_name, format_count, format_name_list
from nodrop.report.plan_document import RISK_LABELS, build_plan_document, summarize_plan
from nodrop.results.checked import (
    ChangedFabric,
    ChangeReach,
    CheckedChange,
    OutdatedBuild,
    RoutingChanges,
    RoutingDifference,
)
from nodrop.results.rulings import DEVICE_NOT_CHECKED, POLICY_CHANGED, RISK_OF_CHANGE
from nodrop.routing.observation import DifferingFlow

_MAX_SHOWN_FLOWS = 5
"""Packets that are listed one by one."""
_VERB_BY_SESSION_STATE = {"up": "comes up", "down": "goes down"}


def build_document(checked: CheckedChange, *, verbose: bool = False, quiet: bool = False) -> ReportDocument:
    """Return a check as a document; `quiet` leaves the new findings and the problems."""
    summed = len(_changed_fabrics(checked)) > 1
    fabrics = (_build_fabric_document(change, verbose=verbose, summed=summed) for change in checked.fabrics)
    notes = (f"note: {', '.join(filter(None, (note.file, note.message)))}" for note in checked.notes)
    return ReportDocument(
        body=(
            *(() if quiet else fabrics),
            list_lines(f"before: {problem}" for problem in checked.base_problems),
            list_lines(() if quiet else notes),
        ),
        urgent=(
            list_lines(map(format_outdated_build, checked.outdated_builds), tone="error"),
            Section(items=tuple(map(describe_finding, _select_check_findings(checked)))),
            FindingList(outcome=checked.outcome, which="new "),
            Section(items=tuple(map(describe_finding, _select_check_findings(checked, notes=True)))),
        ),
        verdict=None if quiet else _build_verdict(checked),
    )


def _build_verdict(checked: CheckedChange) -> VerdictLine:
    return VerdictLine(
        text=_format_check_verdict(checked),
        decision=checked.blocked_by,
        base=checked.base,
        unchanged=tuple(_format_unchanged_fabrics(checked)),
    )


def _build_fabric_document(change: ChangedFabric, *, verbose: bool, summed: bool) -> ReportDocument:
    routing, findings, reach = change.routing, change.findings, format_reach(change.reach)
    body: list[Node] = (
        [] if change.plan.is_empty else [build_plan_document(change.plan, verbose=verbose, summed=summed)]
    )
    body.append(list_lines(_format_other_reroutes(routing), "routing", folded=True))
    if routing.wanted and routing.not_computed:
        body.append(Paragraph(f"routing was not computed: {routing.not_computed}"))
    if change.claims is not None:
        body.append(list_lines(describe_claim_changes(*change.claims), "proofs"))
    body.append(list_lines(_format_findings_by_rule(findings.fixed), "fixed", folded=True))
    body.append(list_lines(_format_findings_by_rule(findings.suppressed), "suppressed now", folded=True))
    return ReportDocument(
        heading=_format_fabric_heading(change),
        lead=(Paragraph(reach),) if reach else (),
        body=tuple(body),
        urgent=(list_lines(_format_routing_losses(routing), "routing losses", tone="error"),),
    )


def _format_check_verdict(checked: CheckedChange) -> str:
    """Return the verdict of a check, the worst first."""
    changed, problems = _changed_fabrics(checked), len(checked.outcome.problems)
    phrases = [f"{format_count(problems, 'problem')}, so not all of it was checked"] if problems else []
    if checked.fabrics or checked.unchanged_fabrics or not problems:
        phrases.append(_format_finding_counts(checked))
    if checked.outdated_builds:
        phrases.append(f"{format_count(len(checked.outdated_builds), 'build')} not as the intent has it")
    if any(stop.rule == RISK_OF_CHANGE.name for stop in checked.blockers):
        phrases.append("more risk than --fail-on-risk lets through")
    of_policy = _select_check_findings(checked)
    if hiding := sum(finding.rule == POLICY_CHANGED.name for finding in of_policy):
        phrases.append(f"{format_count(hiding, 'change')} of policy would let faults pass")
    if gone := sum(finding.rule == DEVICE_NOT_CHECKED.name for finding in of_policy):
        phrases.append(f"{format_count(gone, 'configuration')} no longer checked")
    if losing := sum(_is_loss(change) for fabric in checked.fabrics for change in fabric.routing.changes):
        phrases.append(f"routing: {format_count(losing, 'loss')}")
    if len(changed) == 1:
        phrases.append(summarize_plan(changed[0].plan))
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


def _changed_fabrics(checked: CheckedChange) -> Sequence[ChangedFabric]:
    """Return the fabrics that change."""
    return [fabric for fabric in checked.fabrics if not fabric.plan.is_empty]


def _format_unchanged_fabrics(checked: CheckedChange) -> Iterator[str]:
    """Yield how many fabrics are as before, if any are."""
    if checked.unchanged_fabrics:
        yield f"{format_count(len(checked.unchanged_fabrics), 'fabric')} as before"


def _format_finding_counts(checked: CheckedChange) -> str:
    """Return how many findings have come, gone and stayed."""
    new = Counter(finding.severity for finding in checked.outcome.findings)
    every = [fabric.findings for fabric in checked.fabrics]
    phrases = [format_count(new[severity], f"new {severity}") for severity in SEVERITIES if new[severity]]
    phrases = phrases or ["no new finding"]
    for number, words in (
        (sum(len(fabric_findings.fixed) for fabric_findings in every), "fixed"),
        (sum(len(fabric_findings.suppressed) for fabric_findings in every), "suppressed now"),
        (sum(fabric_findings.unchanged or 0 for fabric_findings in every), "as before"),
    ):
        phrases += [f"{number} {words}"] if number else []
    return ", ".join(phrases)


def _format_findings_by_rule(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for findings of each rule: on which switches, how many."""
    rules: dict[tuple[int, str], list[Finding]] = {}
    for finding in findings:
        rules.setdefault((SEVERITIES.index(finding.severity), finding.rule), []).append(finding)
    for (rank, rule), own_findings in sorted(rules.items(), key=lambda item: item[0]):
        devices = format_name_list(
            escape_or_quote_name(device) for device in dict.fromkeys(hit.device for hit in own_findings if hit.device)
        )
        where = f" on {devices}" if devices else ""
        yield f"{SEVERITIES[rank]}[{rule}]: {format_count(len(own_findings), 'finding')}{where}"


def _format_routing_losses(routing_change: RoutingChanges) -> Iterator[str]:
    """Yield what worked and does not any more."""
    yield from _format_similar_changes([change for change in routing_change.changes if _is_loss(change)])


def _format_other_reroutes(routing_change: RoutingChanges) -> Iterator[str]:
    """Yield what else becomes of routing."""
    yield from _format_similar_changes([change for change in routing_change.changes if not _is_loss(change)])
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
                escape_or_quote_name(device) for device in dict.fromkeys(change.item[0] for change in alike)
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
            return _format_path_change(_paths_or_empty(old), _paths_or_empty(new))
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


def _format_path_change(old_paths: frozenset[str], new: frozenset[str]) -> str:
    if not old_paths or not new:
        paths = format_count(len(old_paths or new), "path")
        return f"gone, over {paths} before" if old_paths else f"new, over {paths}"
    if len(old_paths) == len(new):
        return f"over other ports, {format_count(len(new), 'path')} as before"
    return f"over {format_count(len(new), 'path')}, {len(old_paths)} before"


def _paths_or_empty(value: Hashable) -> frozenset[str]:
    return value if isinstance(value, frozenset) else frozenset()


def _path_count(value: Hashable) -> int | None:
    return len(value) if isinstance(value, frozenset) else None


def _is_loss(change: RoutingDifference) -> bool:
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


def _select_check_findings(checked: CheckedChange, *, notes: bool = False) -> list[Finding]:
    """Return the verdicts on the checked files, or the notes: changes of policy, and switches no longer checked."""
    return [
        stop
        for stop in checked.blockers
        if stop.rule in (POLICY_CHANGED.name, DEVICE_NOT_CHECKED.name) and (stop.severity == "note") == notes
    ]


def format_outdated_build(build: OutdatedBuild) -> str:
    """Return that files are not as the intent has them, and on which switches."""
    reasons = [
        f"{format_name_list(map(escape_or_quote_name, devices))} {words}"
        for devices, words in ((build.missing, "missing"), (build.extra, "too much"), (build.differing, "different"))
        if devices
    ]
    return f"{build.build} is out of date with {build.intent}: {'; '.join(reasons)}; run `nodrop build`"


def _format_fabric_heading(fabric: ChangedFabric) -> str:
    was = f", {fabric.former_name} before" if fabric.former_name not in (None, fabric.name) else ""
    kind = "; gone" if fabric.removed else "; new" if fabric.former_name is None else ""
    up_to_date = f"; its build in {', '.join(fabric.matching_builds)} is up to date" if fabric.matching_builds else ""
    return f"{fabric.name}{was}{kind}{up_to_date}"
