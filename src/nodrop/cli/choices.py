"""From the words of a command line and a configuration to how a command checks and reports."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from nodrop.config import Config
    from nodrop.judging import CheckSettings

OutputFormats = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChoices:
    """How to judge and how to report; `formats` are names, each with a file or None for standard output."""

    settings: "CheckSettings"
    fail_on: str
    formats: OutputFormats
    color: str
    verbose: bool
    quiet: bool
    jobs: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFlags:
    """The options of a command line for checks and reports, before a configuration completes them."""

    inputs: tuple[str, ...]
    given: dict[str, Any]
    """The values of its options, by name."""

    @classmethod
    def of(cls, options: dict[str, Any], inputs: tuple[str, ...]) -> Self:
        """Take the options out of the arguments of a command."""
        return cls(inputs=inputs, given={name: options.pop(name) for name in (*_SELECTION_OPTIONS, *_REPORT_OPTIONS)})

    @property
    def names_or_refuses_config(self) -> bool:
        """Whether the command line names a configuration, or wants none."""
        return self.given["config_file"] is not None or self.given["no_config"]

    def config(self) -> "Config":
        """Return the configuration that the command line names, or the nearest one above its inputs."""
        return _load_config(self.given["config_file"], self.inputs, none=self.given["no_config"])

    def choices(self, config: "Config") -> CheckChoices:
        """Return the choices; flags win over the configuration.

        Raise InputProblems if its baseline cannot be read.
        """
        from pathlib import Path

        options = self.given
        settings = _settings_from_options(options, config)
        suppressing, baseline = not options["no_suppressions"], options["baseline"]
        config = settings.config
        if baseline is not None:
            path = Path(baseline)
            texts_by_path = {named_path: texts for named_path, texts in config.held.items() if named_path != path}
            config = replace(config, baseline=path, held=texts_by_path)
        if suppressing and config.baseline is not None:
            _require_readable_baseline(config)
        settings = replace(
            settings,
            config=config,
            suppressing=suppressing,
            statistics=options["statistics"],
            whole=options["verbose"] or any(name not in GROUPED_FORMATS for name, _ in options["formats"]),
        )
        return CheckChoices(
            settings=settings,
            fail_on=options["fail_on"] or config.fail_on or "warning",
            formats=options["formats"],
            color=options["color"],
            verbose=options["verbose"],
            quiet=options["quiet"],
            jobs=options["jobs"],
        )


GROUPED_FORMATS = ("text", "github")
"""Formats that show one finding of each cause."""
_SELECTION_OPTIONS = ("select", "ignore", "strictness", "rules", "config_file", "no_config")
_REPORT_OPTIONS = (
    "baseline",
    "no_suppressions",
    "fail_on",
    "formats",
    "color",
    "statistics",
    "verbose",
    "quiet",
    "jobs",
)


def take_rule_settings(options: dict[str, Any], inputs: tuple[str, ...]) -> "CheckSettings":
    """Take the options that choose rules from the arguments; flags win over the configuration above the inputs."""
    config = _load_config(options.pop("config_file"), inputs, none=options.pop("no_config"))
    return _settings_from_options(
        {name: options.pop(name, None) for name in ("select", "ignore", "strictness", "rules")}, config
    )


def _settings_from_options(options: dict[str, Any], config: "Config") -> "CheckSettings":
    from pathlib import Path

    from nodrop.judging import CheckSettings

    own_paths = tuple(map(Path, options["rules"]))
    texts_by_path = {path: texts for path, texts in config.held.items() if path not in own_paths}
    return CheckSettings(
        select=options["select"] or (),
        ignore=options["ignore"] or (),
        strictness=options["strictness"] or config.strictness or "regular",
        config=replace(config, rules=(*config.rules, *own_paths), held=texts_by_path),
    )


def _require_readable_baseline(config: "Config") -> None:
    """Read a baseline before anything else, to report its faults only once."""
    import os

    from nodrop.accepted_findings import load_configured_baseline
    from nodrop.errors import InputProblems, Problem

    path = config.baseline
    if path is not None and path not in config.held and not os.path.exists(path):  # noqa: PTH110 -- Path's own raises
        hint = "`nodrop baseline PATH` writes one"
        raise InputProblems([Problem(path=str(path), found="no such file", expected="a baseline", hint=hint)])
    load_configured_baseline(config)


def _load_config(named_text: str | None, inputs: tuple[str, ...], *, none: bool) -> "Config":
    """Return the configuration in the named file, or in the nearest file found."""
    from pathlib import Path

    from nodrop.config import Config, find_config_file, load
    from nodrop.errors import InputProblems
    from nodrop.paths import find_path_fault

    if named_text is not None and none:
        raise click.UsageError("--config and --no-config contradict each other")
    if named_text is not None and (wrong := find_path_fault(named_text)) is not None:
        raise InputProblems([wrong])
    path = None if none else find_config_file(inputs) if named_text is None else Path(named_text)
    return Config() if path is None else load(path)
