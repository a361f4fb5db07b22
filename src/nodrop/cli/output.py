"""What leaves the program: reports, lines on standard error, and the exit code."""

import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

import click

from nodrop.cli.choices import CheckChoices, OutputFormats
from nodrop.cli.main import FAILED, FOUND, NOTHING, WRONG
from nodrop.errors import describe_os_failure
from nodrop.publish.file import replace_file
from nodrop.report.escape import escape_lone_surrogates, escape_terminal

if TYPE_CHECKING:
    from nodrop.report.document import ReportDocument
    from nodrop.results.outcome import FabricOutcome


def wants_color(choice: str) -> bool:
    """Whether to color standard output: NO_COLOR and FORCE_COLOR decide for `auto`, then the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (
        sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    )


_TERMINALS_WITHOUT_LINKS = ("", "dumb", "linux")
"""Terminals that would show the sequence of a link, by TERM."""


def wants_links(color: str) -> bool:
    """Whether to link names and places on standard output: on a terminal that can, outside of CI.

    NO_HYPERLINK and FORCE_HYPERLINK (0 is no) decide before that; `--color never` leaves no sequence in the text.
    """
    if color == "never" or os.environ.get("NO_HYPERLINK"):
        return False
    if forced := os.environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    on_terminal = (
        sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM", "") not in _TERMINALS_WITHOUT_LINKS
    )
    return on_terminal and not os.environ.get("CI")


def write_output(text: str | bytes, *, aside: bool = False) -> None:
    """Write to standard output, or `aside` to standard error, in UTF-8 wherever it goes.

    A reader that has gone away changes nothing else.
    """
    data = escape_lone_surrogates(text).encode() if isinstance(text, str) else text
    stream, name = (sys.stderr, "error") if aside else (sys.stdout, "output")
    try:
        if stream is not None:
            stream.flush()
            stream.buffer.write(data)
            stream.buffer.flush()
    except OSError as error:
        _redirect_to_devnull(stream)
        if not isinstance(error, BrokenPipeError):
            raise click.ClickException(f"cannot write standard {name}: {describe_os_failure(error)}") from None


def write_error_line(text: str) -> None:
    """Write a line to standard error; a reader that has gone away changes nothing else."""
    try:
        click.echo(escape_terminal(text), err=True)
    except BrokenPipeError:
        _redirect_to_devnull(sys.stderr)


_PATIENCE_S, _PAUSE_S = 1.0, 0.1


class ProgressLine:
    """A line on a terminal that shows the current work, and is gone in the end.

    Nothing without a terminal, in the first second, and more often than ten times a second.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        seen = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._next = time.monotonic() + _PATIENCE_S if seen and not quiet else math.inf
        self._shown = False

    def __call__(self, text: str) -> None:
        """Say what comes next."""
        now_s = time.monotonic()
        if now_s >= self._next:
            self._next, self._shown = now_s + _PAUSE_S, True
            click.echo(f"\r\x1b[K{escape_terminal(text)}", err=True, nl=False)

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)


def _redirect_to_devnull(stream: TextIO) -> None:
    """Discard the output that is still to come, or Python fails once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


_LINKED_FORMATS = ("sarif", "markdown")
"""Formats that link the name of a rule to its page, on a terminal or elsewhere."""


def emit_outcome(
    outcome: "FabricOutcome",
    choices: CheckChoices,
    *,
    kind: str = "",
    result: object = None,
    own: Sequence[str] = (),
    build_document: "DocumentBuilder | None" = None,
    aside: Sequence[str] = (),
) -> None:
    """Write the outcome in every requested format, as `written` does; in its `own` formats, the command's report.

    Those are the modules `nodrop.report.{kind}_{format}`, for people those of documents if the command has one.
    """

    def render(name: str, *, terminal: bool) -> bytes:
        options = _report_options(name, choices, terminal=terminal)
        if name in own and name != "json" and build_document is not None:
            quiet, verbose = options.pop("quiet", False), options.get("verbose", False)
            return render_document(build_document(verbose=verbose is True, quiet=quiet is True), name, options)
        content, module = (result, f"{kind}_{name}") if name in own else (outcome, name)
        return _render_report(content, module, options)

    write_report(choices.formats, render, aside=aside)
    if outcome.crashed:
        write_error_line("a rule failed; this is a bug of nodrop, please report it")


class ReportRenderer(Protocol):
    """What makes a report in a format; colors and links are only for what may go to a terminal."""

    def __call__(self, name: str, *, terminal: bool) -> bytes:
        """Return the report."""


class DocumentBuilder(Protocol):
    """What makes the document of a command's result."""

    def __call__(self, *, verbose: bool, quiet: bool) -> "ReportDocument":
        """Return the document, with all details or with the least."""


def write_report(formats: OutputFormats, render: ReportRenderer, *, aside: Sequence[str] = ()) -> None:
    """Write a report in every format asked for; a target that cannot be written keeps none of the others from it.

    Where no file is named, formats go to standard output, or to standard error `aside` from something else.
    """
    failures = []
    for name, file in formats:
        data = render(name, terminal=file is None and name not in aside)
        try:
            if file is None:
                write_output(data, aside=name in aside)
            else:
                save_report(file, data)
        except click.ClickException as failure:
            failures.append(failure.message)
    if failures:
        raise click.ClickException("; ".join(failures))


def render_document(document: "ReportDocument", name: str, options: Mapping[str, object]) -> bytes:
    """Return a document in a format, whose module is `nodrop.report.document_{format}`."""
    return _render_report(document, f"document_{name}", options)


def _render_report(content: object, module: str, options: Mapping[str, object]) -> bytes:
    report: bytes | str = import_module(f"nodrop.report.{module}").render(content, **options)
    return report if isinstance(report, bytes) else escape_lone_surrogates(report).encode()


def _report_options(name: str, choices: CheckChoices, *, terminal: bool) -> dict[str, object]:
    """Return what the module of a format takes besides the result."""
    if name in _LINKED_FORMATS:
        from nodrop.report.links import RulePageUrls

        return {"pages": RulePageUrls(choices.settings.config.rule_pages)}
    return _text_options(choices, terminal=terminal) if name == "text" else {}


def _text_options(choices: CheckChoices, *, terminal: bool) -> dict[str, object]:
    """Return how a text report looks, on a terminal or elsewhere."""
    from nodrop.judging import all_rules
    from nodrop.report.links import RulePageUrls, TerminalLinks

    config, linked = choices.settings.config, terminal and wants_links(choices.color)
    rules = all_rules(config, choices.settings.store) if linked else ()
    return {
        "color": terminal and wants_color(choices.color),
        "verbose": choices.verbose,
        "quiet": choices.quiet,
        "links": TerminalLinks(rules, RulePageUrls(config.rule_pages)) if linked else None,
    }


def save_report(file: str, data: bytes) -> None:
    """Write a report to a file."""
    try:
        replace_file(Path(file), data)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"cannot write {file}: {describe_os_failure(error)}") from None


def has_finding_at_threshold(outcome: "FabricOutcome", fail_on: str) -> bool:
    """Whether a finding reaches the threshold; `unknown` has unknown verdicts and files that are not read, too."""
    if fail_on == "unknown" and (outcome.unknown or outcome.unread_notes):
        return True
    from nodrop.engine.finding import reaches_threshold

    return any(reaches_threshold(finding.severity, fail_on) for finding in outcome.findings)


def exit_code(outcome: "FabricOutcome", fail_on: str) -> int:
    """Return the exit code of contract 9.15: 70 > 2 > 1 > 3 > 0."""
    if outcome.crashed:
        return FAILED
    if outcome.problems:
        return WRONG
    if has_finding_at_threshold(outcome, fail_on):
        return FOUND
    return NOTHING if outcome.lacks_devices else 0
