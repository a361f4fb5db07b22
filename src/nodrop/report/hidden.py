"""Text about findings that are suppressed or in the baseline, when all is shown: a line for each cause."""

from collections.abc import Iterable

from nodrop.engine.finding import Finding
from nodrop.report.block import ReportStyle
from nodrop.report.names import escape_or_quote_name, format_name_list


def format_hidden_findings(findings: Iterable[Finding], report_style: ReportStyle) -> list[str]:
    """Return lines that name the rules and subjects of hidden findings, and why and how they are hidden."""
    causes: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        causes.setdefault((finding.rule, *_how_and_why_hidden(finding)), []).append(finding)
    return [
        report_style.format_note_line("note", f"{how}[{rule}]", f"{_list_subjects(of)}{why}")
        for (rule, how, why), of in causes.items()
    ]


def _how_and_why_hidden(finding: Finding) -> tuple[str, str]:
    suppression = finding.suppressed
    if suppression is None:
        return "baseline", ""
    until = f", until {suppression.until}" if suppression.until else ""
    return "suppressed", f": {suppression.reason} ({suppression.location}{until})"


def _list_subjects(findings: Iterable[Finding]) -> str:
    return format_name_list(dict.fromkeys("/".join(map(escape_or_quote_name, finding.subject)) for finding in findings))
