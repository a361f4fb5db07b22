"""Findings and cost of each rule, as a table for a person."""

from nodrop.report.names import format_count
from nodrop.results.outcome import FabricOutcome, RuleStatistic, rule_statistics

MAX_SHOWN_SLOWEST_RULES = 10
"""How many of the slowest rules stand in the table, beside those that found something."""


def format_statistics_table(outcome: FabricOutcome, *, verbose: bool) -> list[str]:
    """Return the lines of a table, the slowest rule first, then a row for those that it leaves out, and one for all.

    Rules without findings that are not among the slowest are left out, unless `verbose`. No lines where nobody asked.
    """
    every = rule_statistics(outcome)
    if not every:
        return []
    shown = [row for place, row in enumerate(every) if verbose or place < MAX_SHOWN_SLOWEST_RULES or row.findings]
    remaining_statistics = [row for row in every if row not in shown]
    rows = [("rule", "findings", "evaluations", "seconds"), *(_statistics_row(row.rule, [row]) for row in shown)]
    rows += (
        [_statistics_row(f"({format_count(len(remaining_statistics), 'more rule')})", remaining_statistics)]
        if remaining_statistics
        else []
    )
    rows.append(_statistics_row(f"({format_count(len(every), 'rule')} together)", list(every)))
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    return [
        "  ".join([name.ljust(first), *(number.rjust(width) for number, width in zip(numbers, widths, strict=True))])
        for name, *numbers in rows
    ]


def _statistics_row(name: str, stats: list[RuleStatistic]) -> tuple[str, str, str, str]:
    findings, evaluations = sum(row.findings for row in stats), sum(row.evaluations for row in stats)
    return name, str(findings), str(evaluations), f"{sum(row.seconds for row in stats):.3f}"
