"""What leaves the program: reports, lines on standard error, and the exit code."""

import math
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from nodrop.cli.main import FAILED, FOUND, NOTHING, WRONG
from nodrop.cli.options import Choices
from nodrop.paths import reason
from nodrop.publish.file import replace_file
from nodrop.report.escape import terminal, utf8

if TYPE_CHECKING:
    from nodrop.report.outcome import Outcome

_RANK = {"note": 1, "warning": 2, "error": 3}
_NEEDED = {"error": 3, "warning": 2, "unknown": 2, "note": 1, "never": 4}


def calm_collector() -> None:
    """Let the garbage collector look seldom: a fabric is a million objects without cycles that all stay."""
    import gc

    gc.freeze()
    gc.set_threshold(200_000, 50, 50)


def wants_color(choice: str) -> bool:
    """Whether to color standard output: NO_COLOR and FORCE_COLOR decide for `auto`, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (
        sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    )


_WITHOUT_LINKS = ("", "dumb", "linux")
"""Terminals that would show the sequence of a link, by TERM."""


def wants_links(color: str) -> bool:
    """Whether to link names and places on standard output: on a terminal that can, outside of CI.

    NO_HYPERLINK and FORCE_HYPERLINK (0 is no) decide before that; `--color never` leaves no sequence in the text.
    """
    if color == "never" or os.environ.get("NO_HYPERLINK"):
        return False
    if forced := os.environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    on_terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM", "") not in _WITHOUT_LINKS
    return on_terminal and not os.environ.get("CI")


def say(text: str | bytes) -> None:
    """Write to standard output, in UTF-8 wherever it goes; a reader that has gone away changes nothing else."""
    data = utf8(text).encode() if isinstance(text, str) else text
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    except OSError as error:
        _silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise click.ClickException(f"cannot write standard output: {reason(error)}") from None


def tell(text: str) -> None:
    """Write a line to standard error; a reader that has gone away changes nothing else."""
    try:
        click.echo(terminal(text), err=True)
    except BrokenPipeError:
        _silence(sys.stderr)


_PATIENCE_S, _PAUSE_S = 1.0, 0.1


class Progress:
    """A line on a terminal that says what is being done, and is gone in the end.

    Nothing where there is no terminal, in the first second, and more often than ten times a second.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        seen = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._next = time.monotonic() + _PATIENCE_S if seen and not quiet else math.inf
        self._shown = False

    def __call__(self, text: str) -> None:
        """Say what comes next."""
        now = time.monotonic()
        if now >= self._next:
            self._next, self._shown = now + _PAUSE_S, True
            click.echo(f"\r\x1b[K{terminal(text)}", err=True, nl=False)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)


def _silence(stream: TextIO) -> None:
    """Let what is still to be written go nowhere, or Python fails once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def emit(outcome: "Outcome", choices: Choices) -> None:
    """Write the outcome in every format asked for; a target that cannot be written keeps none of the others from it."""
    failures = []
    for name, file in choices.formats:
        data = _rendered(outcome, name, choices, terminal=file is None)
        try:
            if file is None:
                say(data)
            else:
                save(file, data)
        except click.ClickException as failure:
            failures.append(failure.message)
    if failures:
        raise click.ClickException("; ".join(failures))
    if outcome.crashed:
        tell("a rule failed; this is a bug of nodrop, please report it")


def _rendered(outcome: "Outcome", name: str, choices: Choices, *, terminal: bool) -> bytes:
    """Return a report; the text has colors and links only where it may go to a terminal."""
    if name == "text":
        from nodrop.judging import all_rules
        from nodrop.report.links import Links
        from nodrop.report.text import render as render_text

        text = render_text(
            outcome,
            color=terminal and wants_color(choices.color),
            verbose=choices.verbose,
            quiet=choices.quiet,
            links=Links(all_rules(choices.settings.config)) if terminal and wants_links(choices.color) else None,
        )
        return utf8(text).encode()
    data: bytes = import_module(f"nodrop.report.{name}").render(outcome)
    return data


def save(file: str, data: bytes) -> None:
    """Write a report to a file."""
    try:
        replace_file(Path(file), data)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {file}: {reason(error)}") from None


def reaches(outcome: "Outcome", fail_on: str) -> bool:
    """Whether a finding, or an unknown verdict where that was asked for, reaches the threshold."""
    if fail_on == "unknown" and outcome.unknown:
        return True
    return any(_RANK[finding.severity] >= _NEEDED[fail_on] for finding in outcome.findings)


def exit_code(outcome: "Outcome", fail_on: str) -> int:
    """Return the exit code of contract 9.15: 70 > 2 > 1 > 3 > 0."""
    if outcome.crashed:
        return FAILED
    if outcome.problems:
        return WRONG
    if reaches(outcome, fail_on):
        return FOUND
    return 0 if outcome.devices or outcome.hosts else NOTHING
