"""Options that several commands have, and the choices that they make."""

import functools
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import click

from nodrop.cli import completing
from nodrop.cli.choices import CheckFlags, OutputFormats, take_rule_settings

REPORT_FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")
"""What `--format` takes: each is a module of `nodrop.report`."""
FAIL_ON_CHOICES = ("error", "warning", "note", "unknown", "never")


def unknown_word_message(kind: str, word: str, known_words: Iterable[str], *, listed_by: str = "") -> str:
    """Return a message that names the unknown word and the nearest known word, or the command that lists all."""
    from nodrop.model.types import known_word_hint

    return f"no {kind} {word!r} ({known_word_hint(word, known_words, listed_by=listed_by)})"


def make_formats_parser(
    format_names: tuple[str, ...],
) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], OutputFormats]:
    """Return what reads the values of --format for a command that knows these; the first is the default."""

    def formats(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> OutputFormats:
        result = []
        for value in values or format_names[:1]:
            name, _, file = value.partition("=")
            if name not in format_names:
                raise click.BadParameter(unknown_word_message("format", name, format_names))
            result.append((name, file or None))
        _require_distinct_targets([file for _, file in result])
        return tuple(result)

    return formats


def _require_distinct_targets(targets: list[str | None]) -> None:
    """Reject two formats for one file, by any names, or for standard output."""
    seen: dict[object, str] = {}
    for target in targets:
        shown = "standard output" if target is None else target
        before = seen.setdefault(_file_identity(target), shown)
        if before != shown or targets.count(target) > 1:
            to = shown if before == shown else f"{before} and {shown}, which are one"
            raise click.BadParameter(f"two formats for {to}; give each a separate file: --format json=FILE")


def _file_identity(target: str | None) -> object:
    """Return a value that is equal for two names of one file; standard output is the file or pipe behind it."""
    import os
    import stat
    import sys

    try:
        status = os.fstat(sys.stdout.fileno()) if target is None else os.stat(target)  # noqa: PTH116 -- is it a path?
        if not stat.S_ISCHR(status.st_mode):
            return status.st_dev, status.st_ino
    except (OSError, ValueError, AttributeError):
        pass
    try:
        return target and os.path.realpath(target)
    except ValueError:  # no name that a file can have
        return target


class WordChoice(click.Choice[str]):
    """One of a few words; another is refused with the nearest. `aliases` map former words, which help does not list."""

    def __init__(self, words: Sequence[str], *, aliases: Mapping[str, str] | None = None) -> None:
        super().__init__(words)
        self._aliases = aliases or {}

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word."""
        value = self._aliases.get(value, value)
        if value not in self.choices:
            self.fail(unknown_word_message("value", str(value), self.choices), param, ctx)
        return str(value)

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        """Return the words to choose from, for a missing argument."""
        words = textwrap.wrap(", ".join(self.choices), 80, initial_indent="  ", subsequent_indent="  ")
        return "\n".join(("Choose one of:", *words))


_R = TypeVar("_R")
_Command = TypeVar("_Command", bound=Callable[..., object])


class OptionDecorator(Protocol):
    """Adds options to the function of a command."""

    def __call__(self, function: _Command, /) -> _Command:
        """Return the function with its options."""
        ...


def grouped_option(group: str, *names: str, **attrs: Any) -> OptionDecorator:
    """Add an option to a command, in a group of its help."""
    return click.option(*names, cls=GroupedOption, group=group, **attrs)


class GroupedOption(click.Option):
    """An option that help lists in a group with others."""

    def __init__(self, *args: Any, group: str, described: Callable[[], str] | None = None, **attrs: Any) -> None:
        """Take all that click's option takes; `described` makes the text of the help when that is printed."""
        super().__init__(*args, **attrs)
        self.group, self._described = group, described

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option as help lists it."""
        if self._described is not None:
            self.help = self._described()
        return super().get_help_record(ctx)


class SectionedHelpCommand(click.Command):
    """A command whose help has its options in groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group, in the order of their first options."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(param, "group", "Other options"), []).append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)


INPUT, RULES, OUTPUT, RUNNING = "Input", "Rules", "Output", "Running"
_SITE_OPTIONS = (
    grouped_option(
        RULES,
        "--rules",
        multiple=True,
        metavar="DIR",
        type=click.Path(),
        help="Also load custom rules from DIR (repeatable).",
    ),
    grouped_option(
        RULES,
        "-c",
        "--config",
        "config_file",
        metavar="FILE",
        type=click.Path(),
        help="Configuration file.  [default: the nearest nodrop.yaml, or pyproject.toml with [tool.nodrop]]",
    ),
    grouped_option(RULES, "--no-config", is_flag=True, help="Ignore configuration files."),
)
"""What a site says of its rules."""

_SELECTION_OPTIONS = (
    grouped_option(
        RULES,
        "--select",
        multiple=True,
        metavar="RULE,AREA",
        shell_complete=completing.complete_rules_and_areas,
        help="Run only these rules or areas (repeatable).",
    ),
    grouped_option(
        RULES,
        "--ignore",
        multiple=True,
        metavar="RULE,AREA",
        shell_complete=completing.complete_rules_and_areas,
        help="Skip these rules or areas (repeatable).",
    ),
    grouped_option(
        RULES,
        "--strictness",
        type=WordChoice(["regular", "pedantic", "auditor"]),
        help="regular: faults; pedantic: also findings that may be harmless, and good practice; auditor: also"
        " informational."
        "  [default: regular]",
    ),
    *_SITE_OPTIONS,
)
"""What says by which rules is judged, and how."""

_OPTIONS_BEFORE_FORMAT = (
    *_SELECTION_OPTIONS,
    grouped_option(
        RULES,
        "--baseline",
        metavar="FILE",
        type=click.Path(),
        help="Report only findings that are not in this baseline.  [default: `baseline` of nodrop.yaml]",
    ),
    grouped_option(
        RULES, "--no-suppressions", is_flag=True, help="Also report suppressed findings and those in the baseline."
    ),
    grouped_option(
        RULES,
        "--fail-on",
        type=WordChoice(FAIL_ON_CHOICES),
        help="Exit 1 if a finding has at least this severity; unknown: like warning, and also if a rule could not be"
        " decided or a file was not read.  [default: warning]",
    ),
)
color_option = grouped_option(
    OUTPUT,
    "--color",
    type=WordChoice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Color the text; auto follows the terminal, NO_COLOR and FORCE_COLOR.",
)
"""The option of commands that print text."""
_OPTIONS_AFTER_FORMAT = (
    color_option,
    grouped_option(OUTPUT, "--statistics", is_flag=True, help="Show the number of findings and the time of each rule."),
    grouped_option(OUTPUT, "-v", "--verbose", is_flag=True, help="List every finding and note instead of groups."),
    grouped_option(OUTPUT, "-q", "--quiet", is_flag=True, help="Print only findings and errors."),
    grouped_option(
        RUNNING,
        "-j",
        "--jobs",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Worker processes, used from 100 devices up.  [default: one per processor]",
    ),
)

no_cache_option = grouped_option(
    RUNNING,
    "--no-cache",
    is_flag=True,
    envvar="NODROP_NO_CACHE",
    show_envvar=True,
    help="Do not read or write the cache.",
)
"""The option of commands that keep what they work out."""


def add_judging_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a command that checks; it gets their values as `choices`."""
    return add_check_report_options(REPORT_FORMATS)(function)


def add_check_report_options(
    formats: tuple[str, ...], *, late: bool = False
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Add the options of a command that checks and reports in these formats; the first is the default.

    A command that has to find its configuration `late` gets `flags`, which make `choices` with a configuration.
    """

    def with_options(function: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(function)
        def command(**given: object) -> int:
            flags = CheckFlags.of(given, _input_paths(given))
            arguments = {"flags": flags} if late else {"choices": flags.choices(flags.config())}
            return function(**arguments, **given)

        for add in reversed((*_OPTIONS_BEFORE_FORMAT, report_format_option(formats), *_OPTIONS_AFTER_FORMAT)):
            command = add(command)
        return command

    return with_options


def report_format_option(names: tuple[str, ...]) -> OptionDecorator:
    """Add --format to a command that reports in several forms; the first is the default."""
    return grouped_option(
        OUTPUT,
        "--format",
        "formats",
        multiple=True,
        callback=make_formats_parser(names),
        shell_complete=completing.complete_formats,
        metavar="NAME[=FILE]",
        help=f"{', '.join(names[:-1])} or {names[-1]}, to FILE or standard output (repeatable).  [default: text]",
    )


def _input_paths(options: dict[str, Any]) -> tuple[str, ...]:
    """Take the paths of a command, standard input under the name that it is given."""
    beside = options.pop("stdin_name", None)
    paths = options.get("paths") or options.get("intents") or ()
    return tuple(beside if beside and path == "-" else path for path in paths)


def add_rule_options(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add the options that choose rules to a command; it gets their values as `settings`."""
    return _add_settings_options(function, _SELECTION_OPTIONS)


def add_site_options(function: Callable[..., _R]) -> Callable[..., _R]:
    """Add the options for a site's rules and configuration; the command gets them as `settings`.

    If the command reads a place, the last of its words is a path; the search for a configuration begins there.
    """
    return _add_settings_options(function, _SITE_OPTIONS)


def _add_settings_options(function: Callable[..., _R], options: Iterable[OptionDecorator]) -> Callable[..., _R]:
    @functools.wraps(function)
    def command(**given: Any) -> _R:
        inputs = given["words"][-1:] if given.get("at") else _input_paths(given)
        return function(settings=take_rule_settings(given, inputs), **given)

    for add in reversed(tuple(options)):
        command = add(command)
    return command


def folder_option(*names: str, group: str = OUTPUT, **attrs: object) -> OptionDecorator:
    """Add an option that names a folder to write; the command gets it without slashes at its end."""
    return grouped_option(group, *names, metavar="DIR", type=click.Path(), callback=_parse_folder, **attrs)


def _parse_folder(_ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value == "":
        raise click.UsageError(f"{max(param.opts, key=len)} is empty; expected a folder")
    return None if value is None else value.rstrip("/") or "/"


output_folder_option = folder_option(
    "-o", "--output", required=True, help="Folder to write; replaced as a whole, or not at all."
)
"""The option of commands that make a folder."""


def single_format_option(*names: str) -> OptionDecorator:
    """Add --format to a command that prints one thing."""
    return click.option(
        "--format", "form", type=WordChoice(names), default="text", show_default=True, help="Output format."
    )
