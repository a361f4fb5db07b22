"""The table of validators side by side: what each saw check by check, and what it could not see."""

from collections.abc import Iterator

from nodrop.report.table import format_table, wrap_text
from nodrop.results.agreement import FabricValidation, ValidatorCheckCounts

CHECK_TITLES: dict[str, str] = {
    "configuration": "configuration taken",
    "links": "neighbors over cables",
    "packets": "full-size packets",
    "sessions": "sessions up",
    "addresses": "addresses with one owner",
    "routes": "equal paths of routes",
    "reach": "destinations reached",
    "failures": "failures survived",
    "recoveries": "as before afterwards",
}


def render_validator_comparison(shown: FabricValidation) -> Iterator[str]:
    """Yield the table, and below it what could not be seen, and why."""
    if not shown.rows:
        return
    names = [validator_column.validator for validator_column in shown.rows[0].columns]
    rows = [
        (CHECK_TITLES[row.check], *map(_format_correct_of_observed, row.columns), row.verdict) for row in shown.rows
    ]
    title = f"validation of {shown.name}" if shown.name else "validation"
    yield from format_table(title, ("check", *names, "verdict"), rows)
    for row in shown.rows:
        for column in row.columns:
            if column.not_observable:
                gap = f"{CHECK_TITLES[row.check]}, {column.not_observable} of {row.items}"
                yield from wrap_text(f"{column.validator} cannot see {gap}: {'; '.join(column.reasons)}", "  ", "    ")
    for words in shown.notes:
        yield from wrap_text(words, "  ", "    ")


def _format_correct_of_observed(column: ValidatorCheckCounts) -> str:
    if not column.observed:
        return "-"
    return f"{column.correct}" if column.correct == column.observed else f"{column.correct} of {column.observed}"
