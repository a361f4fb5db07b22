"""Options that several commands have."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("text", "json")
THRESHOLDS = ("error", "warning", "note", "unknown", "never")


def _formats(
    _ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[str, str | None], ...]:
    result = []
    for value in values or ("text",):
        name, _, file = value.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(f"{name!r} is no format; expected {' or '.join(FORMATS)}, with =FILE or without")
        result.append((name, file or None))
    if sum(file is None for _, file in result) > 1:
        raise click.BadParameter("two formats for standard output; give one of them a file: --format json=FILE")
    return tuple(result)


def report_options(function: F) -> F:
    """Add --format, --color and -v."""
    for option in (
        click.option("-v", "--verbose", is_flag=True, help="List every finding instead of groups."),
        click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Color the text; auto follows the terminal, NO_COLOR and FORCE_COLOR.",
        ),
        click.option(
            "--format",
            "formats",
            multiple=True,
            callback=_formats,
            metavar="NAME[=FILE]",
            help="text or json, to standard output or a file; may be repeated.  [default: text]",
        ),
    ):
        function = option(function)
    return function


def rule_options(function: F) -> F:
    """Add --fail-on, --select, --ignore and --strictness."""
    for option in (
        click.option(
            "--strictness",
            type=click.Choice(["regular", "pedantic", "auditor"]),
            default="regular",
            show_default=True,
            help="How far to go: pedantic shows what is only possible, too.",
        ),
        click.option("--ignore", multiple=True, metavar="RULE,AREA", help="Leave rules or areas out; may be repeated."),
        click.option(
            "--select", multiple=True, metavar="RULE,AREA", help="Run only these rules or areas; may be repeated."
        ),
        click.option(
            "--fail-on",
            type=click.Choice(THRESHOLDS),
            default="warning",
            show_default=True,
            help="Exit 1 from this severity up; unknown is warning, and verdicts that lack a fact.",
        ),
    ):
        function = option(function)
    return function
