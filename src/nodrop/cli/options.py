"""Options that several commands have, and what was chosen by them."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from nodrop.lint.rule import Strictness

Formats = tuple[tuple[str, str | None], ...]
FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")
"""What `--format` takes: each is a module of `nodrop.report`."""
_GROUPED = ("text", "github")
"""Those that show one finding of each cause."""
THRESHOLDS = ("error", "warning", "note", "unknown", "never")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How to judge and how to report; `formats` are names, each with a file or None for standard output."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    strictness: "Strictness"
    fail_on: str
    formats: Formats
    color: str
    verbose: bool
    jobs: int | None

    @property
    def whole(self) -> bool:
        """Whether any report lists every finding with its place."""
        return self.verbose or any(name not in _GROUPED for name, _ in self.formats)


def unknown(kind: str, word: str, known: Iterable[str]) -> str:
    """Say that there is no such thing, and which known word is nearest."""
    from nodrop.fabric.types import nearest

    return f"no {kind} {word!r} ({nearest(word, known)})"


def _formats(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> Formats:
    result = []
    for value in values or ("text",):
        name, _, file = value.partition("=")
        if name not in FORMATS:
            raise click.BadParameter(unknown("format", name, FORMATS))
        result.append((name, file or None))
    targets = [file for _, file in result]
    for target in targets:
        if targets.count(target) > 1:
            to = "standard output" if target is None else target
            raise click.BadParameter(f"two formats for {to}; give each a file of its own: --format json=FILE")
    return tuple(result)


class Word(click.Choice[str]):
    """One of a few words; another is refused with the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        if value not in self.choices:
            self.fail(unknown("value", str(value), self.choices), param, ctx)
        return str(value)


_OPTIONS = (
    click.option(
        "--fail-on",
        type=Word(THRESHOLDS),
        default="warning",
        show_default=True,
        help="Exit 1 from this severity up; unknown: from warning up, and where a rule lacks a fact.",
    ),
    click.option(
        "--select", multiple=True, metavar="RULE,AREA", help="Run only these rules or areas; may be repeated."
    ),
    click.option("--ignore", multiple=True, metavar="RULE,AREA", help="Leave rules or areas out; may be repeated."),
    click.option(
        "--strictness",
        type=Word(["regular", "pedantic", "auditor"]),
        default="regular",
        show_default=True,
        help="How far to go: pedantic adds what is possible or a matter of care, auditor what is worth knowing.",
    ),
    click.option(
        "--format",
        "formats",
        multiple=True,
        callback=_formats,
        metavar="NAME[=FILE]",
        help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}, to standard output or a file; may be repeated."
        "  [default: text]",
    ),
    click.option(
        "--color",
        type=Word(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Color the text; auto follows the terminal, NO_COLOR and FORCE_COLOR.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="List every finding instead of groups."),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Work in N processes from 100 devices on.  [default: one for each processor]",
    ),
)


def judging(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a command that judges; it gets what they say as `choices`."""

    @functools.wraps(function)
    def command(**given: Any) -> int:
        choices = Choices(**{one.name: given.pop(one.name) for one in fields(Choices)})
        return function(**given, choices=choices)

    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def form_option(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --format to a command that prints one thing."""
    return click.option(
        "--format", "form", type=Word(names), default="text", show_default=True, help="How to print it."
    )
