"""Options of commands that read configurations and intents, of any kind: how to read them, and the stated facts."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from nodrop.cli import completing
from nodrop.cli.options import INPUT, RULES, grouped_option, unknown_word_message

if TYPE_CHECKING:
    from nodrop.inputs import FabricInputs
    from nodrop.judging import CheckSettings
    from nodrop.model.declared import DeclaredFacts
    from nodrop.model.fabric import Mode, TrafficClass
    from nodrop.model.reading import Reading


def _profile_help() -> str:
    return f"Check thresholds, timers and shares against a profile: {', '.join(completing.profile_names())}, or a file."


_READING_OPTIONS = (
    grouped_option(
        INPUT,
        "--platform",
        metavar="NAME",
        shell_complete=completing.complete_platforms,
        help="Read every file as a configuration of this platform.  [default: detected]",
    ),
    grouped_option(
        INPUT,
        "--stdin-filename",
        "stdin_name",
        metavar="FILE",
        type=click.Path(),
        help="Treat standard input as the content of this file (need not exist).",
    ),
    grouped_option(
        INPUT,
        "--assume",
        multiple=True,
        metavar="KEY=VALUE",
        shell_complete=completing.complete_assumptions,
        help="State a fact that no file has: mode=lossless, lossy, pfc-only, trim (packet trimming) or uec (Ultra"
        " Ethernet); rdma=DSCP (repeatable).",
    ),
    grouped_option(
        RULES,
        "--profile",
        metavar="NAME|FILE",
        shell_complete=completing.complete_profiles,
        described=_profile_help,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """The options of the command line about the files that it names."""

    platform: str | None
    stdin_name: str | None
    assume: tuple[str, ...]
    profile: str | None

    def with_stated_facts(self, settings: "CheckSettings") -> "CheckSettings":
        """Return the settings for checks, with the stated facts; raise a UsageError if they are impossible."""
        from nodrop.outcome_cache import check_rule_names_in_settings

        _require_known_platform(self.platform)
        settings = replace(settings, declared=_parse_stated_facts(self.assume, self.profile))
        check_rule_names_in_settings(settings)
        return settings

    def inputs(self, paths: tuple[str, ...], settings: "CheckSettings") -> "FabricInputs":
        """Return what lies at the paths."""
        from nodrop.inputs import find_inputs

        named_paths, stdin_texts = _resolve_stdin_name(paths, self.stdin_name)
        return find_inputs(named_paths, self.platform, exclude=settings.config.excludes, held=stdin_texts)

    def fabric(self, paths: tuple[str, ...], settings: "CheckSettings") -> "Reading":
        """Return the one fabric that lies at the paths, or that an intent means; InputProblems where there is none."""
        from nodrop.fabric_readings import require_one_fabric_reading

        return require_one_fabric_reading(self.inputs(paths, settings), settings, " ".join(paths))

    def read_fabric_or_report(self, paths: tuple[str, ...], settings: "CheckSettings") -> "Reading | None":
        """Return the one fabric at the paths; None if a part cannot be read, with the problem reported."""
        from nodrop.cli.output import write_error_line

        reading = self.fabric(paths, self.with_stated_facts(settings))
        for problem in reading.problems:
            write_error_line(f"error: {problem}")
        return None if reading.problems else reading


def add_reading_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a command that reads files; it gets their values as `stated`."""

    @functools.wraps(function)
    def command(**given: Any) -> int:
        stated = ReadingOptions(
            platform=given.pop("platform"),
            stdin_name=given["stdin_name"],
            assume=given.pop("assume"),
            profile=given.pop("profile"),
        )
        return function(stated=stated, **given)

    for add in reversed(_READING_OPTIONS):
        command = add(command)
    return command


def _resolve_stdin_name(paths: tuple[str, ...], stdin_name: str | None) -> tuple[list[str], dict[str, bytes]]:
    """Return the paths with a name for standard input, if it was given one, and its text under that name."""
    from nodrop.inputs import STDIN_ARGUMENT, read_standard_input

    if stdin_name is None:
        return list(paths), {}
    if STDIN_ARGUMENT not in paths or not stdin_name:
        raise click.UsageError("--stdin-filename names what `-` reads; expected `-` among the paths, and a name")
    return [stdin_name if path == STDIN_ARGUMENT else path for path in paths], {stdin_name: read_standard_input()}


def _require_known_platform(platform: str | None) -> None:
    from nodrop import platforms

    if platform is not None and platform not in platforms.platform_names():
        raise click.UsageError(unknown_word_message("platform", platform, platforms.platform_names()))


def _parse_stated_facts(assume: tuple[str, ...], profile: str | None) -> "DeclaredFacts":
    """Return what --assume states, and the profile; the last of several values for one key counts."""
    from nodrop.context.profile import load_profile
    from nodrop.model.declared import DeclaredFacts

    stated = {}
    for text in assume:
        key, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"{text!r} assumes nothing; expected KEY=VALUE: mode=lossless, rdma=26")
        if key not in ("mode", "rdma"):
            raise click.UsageError(unknown_word_message("assumption", key, ("mode", "rdma")))
        stated[key] = value
    mode = _parse_mode(stated["mode"]) if "mode" in stated else None
    return DeclaredFacts(
        mode=mode,
        classes=(_parse_rdma_class(stated["rdma"], mode),) if "rdma" in stated else None,
        profile=None if profile is None else load_profile(profile),
    )


def _parse_mode(word: str) -> "Mode":
    from nodrop.model.fabric import MODES

    for mode in MODES:
        if mode == word:
            return mode
    raise click.UsageError(unknown_word_message("mode", word, MODES))


def _parse_rdma_class(dscp: str, mode: "Mode | None") -> "TrafficClass":
    from nodrop.model.fabric import TrafficClass
    from nodrop.model.modes import PFC_MODES
    from nodrop.model.states import UNKNOWN

    if not re.fullmatch(r"[0-9]{1,2}", dscp) or int(dscp) > 63:
        raise click.UsageError(f"{dscp!r} is no DSCP; expected rdma=0 to rdma=63")
    lossless = mode is None or mode in PFC_MODES
    return TrafficClass(name="rdma", purpose="rdma", dscp=(int(dscp),), tc=UNKNOWN, lossless=lossless)
