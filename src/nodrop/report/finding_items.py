"""Findings as lines of a list: one for each cause, the worst first, for formats without room for quoted lines."""

from collections.abc import Iterator

from nodrop.engine.finding import Finding
from nodrop.report.document import FindingList, ListItem, RuleName
from nodrop.report.names import escape_or_quote_name, finding_message_with_device, format_count, format_name_list
from nodrop.results.outcome import group_findings, location_to_correct, select_shown_groups, separate_explained_groups


def list_problems(findings: FindingList) -> Iterator[ListItem]:
    """Yield the problems of the input."""
    yield from (ListItem((str(problem),), tone="error") for problem in findings.outcome.problems)


def list_finding_causes(findings: FindingList) -> Iterator[ListItem]:
    """Yield a line for each cause of findings, the worst first, and below it what to do, once, and what else ends."""
    every, under = separate_explained_groups(group_findings(findings.outcome.findings))
    shown = select_shown_groups(every)
    remedies = set()
    for group in shown:
        first_finding = group[0]
        details = []
        if first_finding.fix and first_finding.fix.text not in remedies:
            remedies.add(first_finding.fix.text)
            details.append(ListItem(("what to do: ", first_finding.fix.text)))
        if explained := under.get(first_finding.group):
            spans = (
                span
                for number, each in enumerate(explained)
                for span in (", " if number else "also ends: ", RuleName(each[0].rule), f" ({len(each)})")
            )
            details.append(ListItem(tuple(spans)))
        yield describe_finding(
            first_finding,
            f"{finding_message_with_device(first_finding)}{_format_places(group)}",
            findings.which,
            tuple(details),
        )
    if len(shown) < len(every):
        more = format_count(len(every) - len(shown), f"more {findings.which}finding")
        yield ListItem((f"{more}: `--format text` tells all",))


def describe_finding(finding: Finding, text: str = "", which: str = "", details: tuple[ListItem, ...] = ()) -> ListItem:
    """Return a finding as a line: its rule and its message."""
    rule = RuleName(finding.rule, f"{which}{finding.severity}")
    return ListItem((rule, ": ", text or finding_message_with_device(finding)), tone=finding.severity, details=details)


def _format_places(group: tuple[Finding, ...] | list[Finding]) -> str:
    place = location_to_correct(group[0])
    where = "" if place is None else f" ({place.describe(column=False)})"
    if len(group) == 1:
        return where
    devices = list(dict.fromkeys(finding.device for finding in group[1:] if finding.device))
    on = f" on {format_name_list(map(escape_or_quote_name, devices))}" if devices else ""
    return f"{where}; {format_count(len(group) - 1, 'more place')}{on}"
