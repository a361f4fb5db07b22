"""Drift as a document: switches on one side alone, differences, settings that switches wrote, and the verdict."""

from collections import Counter
from collections.abc import Iterator, Mapping

from nodrop.engine.finding import SEVERITIES
from nodrop.plan.model import DeviceChangeKind
from nodrop.report.document import FindingList, ReportDocument, VerdictLine, list_lines
from nodrop.report.names import escape_or_quote_name, format_count, format_name_list
from nodrop.report.plan_document import (
    list_changes,
    list_device_changes,
    list_not_compared,
    list_rollout_hazards,
    list_rollout_order,
    summarize_plan_impact,
)
from nodrop.report.plan_words import DRIFT_WORDING, format_fact_lines
from nodrop.results.drifted import DriftResult

_DEVICE_VERBS: Mapping[DeviceChangeKind, str] = {
    "added": "not collected",
    "removed": "not wanted",
    "replaced": "under another operating system",
    "changed": "not as wanted",
}
KEY_VERBS: Mapping[str, str] = {"removed": "not wanted", "changed": "not as wanted", "added": "missing"}
"""What is said of settings outside the model."""
_MISSING_SIDE_TEXTS = ("absent from the running configuration", "absent from the intended configuration")


def build_document(drifted: DriftResult, *, verbose: bool = False, quiet: bool = False) -> ReportDocument:
    """Return drift as a document; `verbose` folds nothing, `quiet` leaves the differences, findings and problems."""
    plan = drifted.drift.plan
    changes = list_changes(plan, "what differs", DRIFT_WORDING, KEY_VERBS, verbose=verbose)
    unmatched = list_lines(_format_unmatched_switches(drifted), tone="error")
    lead = (unmatched, list_device_changes(plan, _DEVICE_VERBS))
    findings = FindingList(outcome=drifted.outcome)
    if quiet:
        return ReportDocument(lead=lead, body=tuple(changes), urgent=(findings,))
    lines = _format_switch_written_settings(drifted)
    written = list_lines(lines, "written by the switches themselves, so no drift", folded=True, optional=True)
    order = list_rollout_order(plan, "remediation order")
    return ReportDocument(
        lead=lead,
        body=(*changes, list_not_compared(plan, _MISSING_SIDE_TEXTS), order, written),
        urgent=(findings, list_rollout_hazards(plan, "rollout hazards of the remediation")),
        verdict=VerdictLine(text=_summarize_drift(drifted)),
    )


def _format_unmatched_switches(drifted: DriftResult) -> Iterator[str]:
    """Yield which switches are on one side alone."""
    drift = drifted.drift
    if drift.uncollected:
        yield f"no running configuration for: {format_name_list(map(escape_or_quote_name, drift.uncollected))}"
    if drift.foreign:
        yield f"not in {drifted.intended}: {format_name_list(map(escape_or_quote_name, drift.foreign))}"


def _format_switch_written_settings(drifted: DriftResult) -> Iterator[str]:
    """Yield what switches wrote by themselves, each once, with where; tables that are no facts, all of a switch's."""
    where: dict[str, set[str]] = {}
    for block in drifted.drift.automatic:
        for fact in block.facts:
            for line in format_fact_lines(fact, DRIFT_WORDING):
                label = line.rpartition(": ")[0]
                where.setdefault(label, set()).update(block.devices)
    for label, devices in sorted(where.items()):
        yield f"{label}: {format_name_list(map(escape_or_quote_name, sorted(devices)))}"
    devices_by_table: dict[str, set[str]] = {}
    for outside_table in drifted.drift.automatic_outside_model:
        devices_by_table.setdefault(" ".join(outside_table.at[1:]), set()).update(outside_table.devices)
    alike: dict[tuple[str, ...], list[str]] = {}
    for label, devices in sorted(devices_by_table.items()):
        alike.setdefault(tuple(sorted(devices)), []).append(label)
    for names, labels in alike.items():
        yield f"{', '.join(labels)}: {format_name_list(map(escape_or_quote_name, names))}"


def _summarize_drift(drifted: DriftResult) -> str:
    """Return in one line how many switches differ or are on one side alone, the effect of going back, and findings."""
    drift = drifted.drift
    differing = len(drift.plan.devices)
    phrases = [
        f"{format_count(number, noun)} {verb}"
        for number, noun, verb in (
            (differing, "switch", "differs" if differing == 1 else "differ"),
            (len(drift.uncollected), "switch", "not collected"),
            (len(drift.foreign), "switch", "not wanted"),
        )
        if number
    ]
    if not differing and drift.plan.changes:
        phrases.append("cables or NICs differ")
    severity_counts = Counter(finding.severity for finding in drifted.outcome.findings)
    findings = [
        format_count(severity_counts[severity], severity) for severity in SEVERITIES if severity_counts[severity]
    ]
    phrases += [f"{' and '.join(findings)} that {drifted.intended} does not have"] if findings else []
    if drift.is_empty:
        alike = f"{format_count(drifted.switches, 'switch')} as {drifted.intended} has it"
        return "; ".join([f"no drift: {alike}", *phrases])
    back = f"; remediation: {summarize_plan_impact(drift.plan)}" if drift.plan.risk != "none" else ""
    if drift.plan.rollout and drift.plan.rollout.hazards:
        back += f"; {format_count(len(drift.plan.rollout.hazards), 'rollout hazard')}"
    return f"{', '.join(phrases)}{back}"
