"""Findings for a person at a terminal: each cause once, with the line that shows it, and the totals last."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from nodrop.engine.fact_words import describe_fact
from nodrop.engine.finding import SEVERITIES, Finding, UnknownVerdict
from nodrop.engine.unknowns import format_owner_statement
from nodrop.inputs.contents import UNREAD_NOTE_KINDS
from nodrop.model.modes import UNDECIDED_MODE
from nodrop.model.reading import (
    DECLARED_HARMLESS_LINE_NOTE_KIND,
    ROUTES_NOT_COMPUTED_NOTE_KIND,
    UNKNOWN_LINE_NOTE_KIND,
    Assumption,
    Note,
)
from nodrop.report.agreement import render_validator_comparison as text_of
from nodrop.report.block import ReportStyle, format_finding_block
from nodrop.report.hidden import format_hidden_findings
from nodrop.report.links import TerminalLinks
from nodrop.report.names import escape_or_quote_name, format_count, format_name_list
from nodrop.report.statistics import format_statistics_table
from nodrop.report.unread import (
    ignored_file_lines_by_reason,
    summarize_unread_files_and_skipped_rules,
    unread_file_lines_by_reason,
)
from nodrop.results.outcome import (
    MAX_SHOWN_FINDING_GROUPS,
    FabricOutcome,
    FindingGroups,
    count_outcome,
    group_findings,
    select_shown_groups,
    separate_explained_groups,
)

_MAX_SHOWN_NOTES_PER_KIND = 5
_MAX_NAMED_MISSING_FACTS = 3
_STATING_FILE_TEXT_START = "a file that states "
"""Missing facts that a short report names."""
_EXPLAIN_HINT = "`nodrop explain RULE --at ID PATH` shows the values behind a finding; ID follows ^^^ or the first =."
_TOTALS_NOTE_KINDS = frozenset(
    {UNKNOWN_LINE_NOTE_KIND, DECLARED_HARMLESS_LINE_NOTE_KIND, ROUTES_NOT_COMPUTED_NOTE_KIND}
)
"""Kinds of notes that the totals count, and that are listed only where the report is verbose."""


def render(
    outcome: FabricOutcome,
    *,
    color: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    width: int = 100,
    links: TerminalLinks | None = None,
) -> str:
    """Write an outcome as text.

    If there are more than `SHOWN_GROUPS` groups, the foremost are shown, and all are counted by rule. `verbose` adds
    every
    group, every finding of a group, hidden findings and every note, each with its place; `quiet` leaves only findings,
    problems and files that were not read.
    Quoted lines and fixes are fitted into `width` columns. Only ASCII is added to the words of the findings, and no
    colors unless `color` is set.
    """
    page = ReportStyle(color=color, verbose=verbose, width=width, line=outcome.line, links=links)
    every = group_findings(outcome.findings)
    causes, under = separate_explained_groups(every)
    shown = every if verbose else select_shown_groups(causes)
    findings = [
        *(format_finding_block(group, page, under.get(group[0].group, ())) for group in shown),
        _format_counts_by_rule(every, page) if len(shown) < len(causes) else [],
    ]
    problems = [line for problem in outcome.problems for line in page.format_problem(problem)]
    other_notes = [
        note
        for note in outcome.notes
        if note.kind not in UNREAD_NOTE_KINDS and (verbose or note.kind not in _TOTALS_NOTE_KINDS)
    ]
    besides = [
        _undecided_lines(outcome.unknown, page),
        [page.format_note_line("note", "note", text) for text in _note_lines(other_notes, page)],
    ]
    unread = unread_file_lines_by_reason(outcome.unread_notes, page)
    besides.append(ignored_file_lines_by_reason(outcome, page) if verbose else [])
    besides.append(format_hidden_findings(outcome.hidden, page) if verbose else [])
    seen = [[*text_of(validation)] for validation in outcome.validations]
    cost = [page.escape_and_style("", line) for line in format_statistics_table(outcome, verbose=verbose)]
    summed = [
        page.escape_and_style("strong", line)
        for line in (summarize_unread_files_and_skipped_rules(outcome), format_outcome_totals(outcome))
        if line
    ]
    if outcome.findings:
        summed.insert(0, page.escape_and_style("", _EXPLAIN_HINT))
    paragraphs = (
        [*findings, unread, problems, *seen, cost]
        if quiet
        else [
            _assumption_lines(outcome.assumed, page),
            *findings,
            *besides,
            unread,
            problems,
            *seen,
            cost,
            summed,
        ]
    )
    text = "\n\n".join("\n".join(lines) for lines in paragraphs if lines)
    return text + "\n" if text else ""


def format_outcome_totals(outcome: FabricOutcome) -> str:
    """Return the last line: the checked parts, the findings, and the parts that these leave out."""
    total = count_outcome(outcome)
    looked_at = [
        format_count(total.devices, "device"),
        format_count(total.interfaces, "interface"),
        format_count(total.rules, "rule"),
    ]
    if not total.devices and outcome.hosts:
        looked_at = [f"files of {format_count(outcome.hosts, 'host')}", format_count(total.rules, "rule")]
    nothing = "no findings in " if total.rules else "nothing checked in "
    if outcome.lacks_devices and total.rules:
        nothing = f"incomplete: {nothing}"
    besides = (
        (total.unknown, "unknown"),
        (total.suppressed, "suppressed"),
        (total.baseline, "in the baseline"),
        (
            total.declared_harmless,
            "line declared harmless" if total.declared_harmless == 1 else "lines declared harmless",
        ),
        (len(outcome.problems), "problem" if len(outcome.problems) == 1 else "problems"),
    )
    counts = [format_count(getattr(total, severity), severity) for severity in SEVERITIES] if outcome.findings else []
    counts += [f"{number} {words}" for number, words in besides if number]
    opening = (
        ("" if outcome.findings else nothing) + ", ".join(looked_at)
        if total.devices or outcome.hosts
        else "nothing checked"
    )
    new_total = f"{opening}: {', '.join(counts)}" if counts else opening
    if total.evpn_not_computed:
        new_total += f"; EVPN routes of {format_count(total.evpn_not_computed, 'device')} not computed"
    if total.leaks_not_computed:
        new_total += f"; routes leaked between VRFs of {format_count(total.leaks_not_computed, 'device')} not computed"
    return new_total


def _assumption_lines(assumptions: Sequence[Assumption], page: ReportStyle) -> list[str]:
    assumption_texts = (
        (
            assumption.value
            if assumption.fact == "mode" and assumption.value != UNDECIDED_MODE
            else f"{assumption.fact} = {assumption.value}"
        )
        + f" ({assumption.reason})"
        for assumption in assumptions
    )
    return [page.format_note_line("strong", "assumed", ", ".join(assumption_texts))] if assumptions else []


def _format_counts_by_rule(every: FindingGroups, page: ReportStyle) -> list[str]:
    """How often each rule was broken, the worst and then the commonest first."""
    of_rule: dict[tuple[int, str], list[Finding]] = {}
    numbers: Counter[tuple[int, str]] = Counter()
    for group in every:
        rule = (SEVERITIES.index(group[0].severity), group[0].rule)
        of_rule.setdefault(rule, []).extend(group)
        numbers[rule] += 1
    lines = [f"{MAX_SHOWN_FINDING_GROUPS} of {len(every)} different findings are shown; -v lists all. By rule:"]
    for rule, findings in sorted(of_rule.items(), key=lambda item: (item[0][0], -len(item[1]), item[0][1])):
        devices = len({(finding.within, finding.device) for finding in findings if finding.device is not None})
        where = f" on {format_count(devices, 'device')}" if devices else ""
        kinds = f", {numbers[rule]} different" if numbers[rule] > 1 else ""
        head = page.format_rule_heading(SEVERITIES[rule[0]], SEVERITIES[rule[0]], rule[1])
        lines.append(f"  {head}: {format_count(len(findings), 'finding')}{where}{kinds}")
    return lines


def _undecided_lines(verdicts: Sequence[UnknownVerdict], page: ReportStyle) -> list[str]:
    """Return what could not be decided: a line for each thing that the owner can state, and one for all other facts.

    Where all is shown, every rule and missing fact is.
    """
    if page.verbose:
        return [_format_unknown_verdicts(alike, page) for alike in _group_verdicts_by_missing_fact(verdicts)]
    by_supply: dict[str, list[UnknownVerdict]] = {}
    lines = []
    for verdict in verdicts:
        if verdict.places:
            lines.append(_format_unknown_config_lines(verdict, page))
            continue
        statement = format_owner_statement(verdict)
        by_supply.setdefault(statement[0] if statement else "", []).append(verdict)
    return [*(_format_needed_statement(alike, page) for alike in by_supply.values()), *lines]


def _format_needed_statement(verdicts: Sequence[UnknownVerdict], page: ReportStyle) -> str:
    """Return one line for verdicts that lack the same thing, with the line of fabric.yaml that states it."""
    if len(verdicts) == 1 and not format_owner_statement(verdicts[0]):
        return _format_unknown_verdicts(verdicts, page)
    rules = list(dict.fromkeys(verdict.rule for verdict in verdicts))
    devices = dict.fromkeys(escape_or_quote_name(device) for verdict in verdicts for device in verdict.devices)
    where = f" on {format_name_list(devices)}" if devices else ""
    statement = format_owner_statement(verdicts[0])
    if statement is None:
        lacking = _format_missing_facts(verdicts, len(devices))
        text = f"{format_count(len(rules), 'rule')} undecided{where}: no file states {lacking}; -v lists them"
    else:
        text = (
            f"{format_count(len(rules), 'rule')} undecided{where} without {statement[0]}; "
            f"state in fabric.yaml: {statement[1]}"
        )
    return page.format_note_line("unknown", "unknown", text)


def _format_missing_facts(verdicts: Sequence[UnknownVerdict], devices_count: int) -> str:
    """Return the facts that verdicts lack, the first few; each with its devices where some of all have it."""
    lacking: dict[str, dict[str, None]] = {}
    for verdict in verdicts:
        lacking.setdefault(_fact_for_file_to_state(verdict), {}).update(
            dict.fromkeys(map(escape_or_quote_name, verdict.devices))
        )
    shown = [
        f"{fact} ({format_name_list(devices)})" if 0 < len(devices) < devices_count else fact
        for fact, devices in list(lacking.items())[:_MAX_NAMED_MISSING_FACTS]
    ]
    left = len(lacking) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left > 0 else "")


def _fact_for_file_to_state(verdict: UnknownVerdict) -> str:
    """Return the fact that a file has to state."""
    _, stated, fact = verdict.resolved_by.partition(_STATING_FILE_TEXT_START)
    return fact if stated else describe_fact(verdict.missing)


def _group_verdicts_by_missing_fact(verdicts: Sequence[UnknownVerdict]) -> Iterable[list[UnknownVerdict]]:
    """Rules that could not be decided for the same want, together."""
    causes: dict[tuple[str, int, tuple[str, ...], str], list[UnknownVerdict]] = {}
    for verdict in verdicts:
        causes.setdefault((verdict.missing, verdict.subjects_count, verdict.devices, verdict.resolved_by), []).append(
            verdict
        )
    return causes.values()


def _format_unknown_verdicts(alike: Sequence[UnknownVerdict], page: ReportStyle) -> str:
    verdict = alike[0]
    if verdict.places:
        return _format_unknown_config_lines(verdict, page)
    subjects = format_count(verdict.subjects_count, "subject")
    names = format_name_list(map(escape_or_quote_name, verdict.devices))
    devices = f" on {format_count(len(verdict.devices), 'device')} ({names})"
    text = f"{subjects}{devices if verdict.devices else ''}: {verdict.reason}"
    head = page.format_rule_heading("unknown", "unknown", *(unknown_verdict.rule for unknown_verdict in alike))
    return f"{head}: {page.escape_and_style('', text)}"


def _format_unknown_config_lines(verdict: UnknownVerdict, page: ReportStyle) -> str:
    """Return one line for all lines of a kind: the place of the first, and how many there are."""
    place = verdict.places[0].describe(column=False)
    lines = len(verdict.places)
    extent = f" ({lines} lines on {format_name_list(map(escape_or_quote_name, verdict.devices))})" if lines > 1 else ""
    head = page.format_rule_heading("unknown", "unknown", verdict.rule)
    return f"{head}: {page.escape_and_style('', f'{place}: {verdict.text_about_line_of_unknown_effect}{extent}')}"


def _note_lines(notes: Sequence[Note], page: ReportStyle) -> list[str]:
    """Every note with its place; unless verbose, equal ones once, and of each kind only the first few."""
    if page.verbose:
        return [_format_notes([note]) for note in notes]
    lines = []
    for kind, of_kind in groupby(notes, key=lambda note: note.kind):
        alike: dict[str, list[Note]] = {}
        for note in of_kind:
            alike.setdefault(note.message, []).append(note)
        shown = list(alike.values())[:_MAX_SHOWN_NOTES_PER_KIND]
        excess = len(alike) - len(shown)
        lines += [_format_notes(same) for same in shown] + (
            [f"{excess} more about {kind}; -v lists them"] if excess else []
        )
    return lines


def _format_notes(same: Sequence[Note]) -> str:
    first_note = same[0]
    if len(same) > 1:
        devices = {note.device for note in same if note.device is not None}
        where = f" on {format_name_list(map(escape_or_quote_name, devices))}" if devices else ""
        return f"{first_note.message} ({len(same)} times{where})"
    file = first_note.file if first_note.line is None else f"{first_note.file}:{first_note.line}"
    place = file if first_note.file else first_note.device
    return f"{place}: {first_note.message}" if place else first_note.message
