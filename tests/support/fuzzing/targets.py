"""The list of fuzz targets, and what counts as a crash: the yardstick of the fuzzer.

A crash is one of these, for any input at all:

traceback   an exception other than `NodropError` from a public verb, or exit 70 of a command
rule        a shipped rule that fails on what was read (`FabricVerdict.problems`), which a command ends with exit 70 for
hang        no answer within `HANG_S` seconds of processor time, or no sign of life for `SILENCE_S` seconds
memory      a MemoryError under `MEMORY_BYTES` of address space beyond what the process begins with
death       the process ends by a signal
exit        an exit code that is none of 0, 1, 2, 3 and 70

An input counts as *accepted* once it is past syntax and schema: the product made its own object from it. What that is,
each target says. Inputs that are refused before are tried and counted apart; they may not crash either.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import nodrop
from nodrop import cache, config, context, inputs, outcome_cache
from nodrop.context.profile import load_profile
from nodrop.engine.baseline import load as load_baseline
from nodrop.engine.rules import load_rules, select_lint_rules, select_validate_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.intent.load import loads as load_intent
from nodrop.model.reading import Reading
from nodrop.model.routing import Bgp
from nodrop.publish.tree import MANIFEST_FILE, Manifest

HANG_S = 10.0
"""How long a command may take for one input, in seconds of processor time: other work on the machine does not count."""
SILENCE_S = 120.0
"""After how many seconds of wall time a worker counts as stuck that uses no time, or never returns to Python."""
MEMORY_BYTES = 2_000_000_000
"""How much memory one input may take."""
CODES = (0, 1, 2, 3)
"""How a command may end; 70 is the exit code of a crash."""

Command = tuple[str, ...]
"""Words of a command line: `{new}` is the input, `{old}` what it was mutated from, `{out}` a new path."""

_QUIET = ("--no-config",)
_LINT: tuple[Command, ...] = (
    *(
        ("lint", "{new}", *_QUIET, "--format", name)
        for name in ("text", "concise", "json", "sarif", "junit", "github", "gitlab")
    ),
    ("lint", "{new}", *_QUIET, "-v", "--strictness", "auditor", "--statistics"),
    ("lint", "{new}", *_QUIET, "--strictness", "pedantic", "--profile", "nvidia", "--assume", "mode=lossless"),
    ("lint", "{new}", *_QUIET, "--profile", "sonic", "--assume", "rdma=26", "-v"),
)
_ALL: tuple[Command, ...] = (
    *_LINT,
    ("import", "{new}", *_QUIET, "-o", "{out}"),
    ("import", "{new}", *_QUIET, "--model", "SN4700"),
    ("fix", "{new}", *_QUIET, "--unsafe", "--diff"),
    ("fix", "{new}", *_QUIET, "--unsafe", "--patch", "{out}"),
    ("fix", "{new}", *_QUIET, "--unsafe", "--strictness", "auditor"),
    ("validate", "{new}", *_QUIET, "-v", "--strictness", "auditor"),
    ("plan", "{old}", "{new}", *_QUIET, "--patch", "{out}"),
    ("plan", "{new}", "{old}", *_QUIET, "--patch", "{out}"),
    ("drift", "{new}", "{old}", *_QUIET, "--patch", "{out}"),
    ("drift", "{old}", "{new}", *_QUIET, "--patch", "{out}"),
    ("check", "--base", "../old", ".", *_QUIET, "--routing", "-v"),
    ("check", "--base", "../new", "../old", *_QUIET, "--format", "markdown"),
    ("explain", "--at", "leaf1/Ethernet0", "{new}", *_QUIET),
    ("explain", "too-many-lossless-classes", "--at", "leaf1", "{new}", *_QUIET),
    ("baseline", "{new}", *_QUIET, "--routing", "-o", "{out}"),
    ("path", "leaf1", "leaf2", "{new}"),
    ("export", "batfish", "{new}", *_QUIET, "-o", "{out}"),
    ("export", "containerlab", "{new}", *_QUIET, "-o", "{out}"),
)


@dataclass(frozen=True)
class Target:
    """A format: which files of an input are mutated and how they are written, and what is done with each input."""

    name: str
    goal: int
    """How many accepted inputs a campaign tries."""
    syntax: Mapping[str, str]
    """By the end of a file's name, how it is written: `json`, `yaml`, `toml`, `lines` or `bytes`."""
    accepted: Callable[[Path], object]
    """Reads and checks the input below a folder as the product does; what is false is not past syntax and schema."""
    commands: tuple[Command, ...]
    """Commands of which some inputs are given one, and those that reach new code more."""
    named: str = ""
    """The file that `{new}` and `{old}` name; the whole folder where there is none."""
    platform: str | None = None
    """The platform that files are read as, where their names do not tell."""
    judge: Callable[[Any], None] | None = None
    """Gives what was accepted to every rule, of the inputs that this is done with."""

    @property
    def share(self) -> float:
        """How many of the accepted inputs are given a command."""
        return 0.01 if self.goal == CONFIGURATION else 0.2

    @property
    def gentle(self) -> float:
        """How many inputs are edited so that a strict schema is likely to take them."""
        return 0.5 if self.goal == CONFIGURATION else 0.85


def _read(platform: str | None = None, named: str = "") -> Callable[[Path], Reading | None]:
    """Return what reads configurations: accepted is what made a device or a NIC."""

    def accepted(folder: Path) -> Reading | None:
        reading = nodrop.read([str(folder / named) if named else str(folder)], platform=platform)
        return reading if says_something(reading) else None

    return accepted


def _judge(reading: Reading) -> None:
    """Judge a reading by every rule."""
    for rules in (select_lint_rules(shipped_rules()), select_validate_rules(shipped_rules())):
        require_whole(judge(reading, rules, strictness="auditor").problems)


def _reader(
    name: str,
    syntax: Mapping[str, str],
    *,
    platform: str | None = None,
    named: str = "",
) -> Target:
    """Return the target of a format of configurations."""
    return Target(name, CONFIGURATION, syntax, _read(platform, named), _ALL, named, platform, _judge)


def says_something(reading: Reading) -> bool:
    """Whether a reading has a switch with a port or BGP, or a host with a NIC."""
    switches = any(device.interfaces or isinstance(device.bgp, Bgp) for device in reading.fabric.devices)
    return switches or bool(reading.fabric.nics)


class RuleFailed(Exception):
    """A shipped rule failed on what was read."""


def require_whole(problems: tuple[object, ...]) -> None:
    """Raise RuleFailed where a rule did."""
    if problems:
        raise RuleFailed(str(problems[0]))


def _intent(folder: Path) -> bool:
    path = folder / "intent.yaml"
    load_intent(path.read_bytes(), str(path))
    return True


def _rule(folder: Path) -> bool:
    load_rules([folder / "rules"])
    return True


def _config(name: str) -> Callable[[Path], bool]:
    def accepted(folder: Path) -> bool:
        found = config.find_config_file([str(folder)])
        if found is None or found.name != name:
            return False
        config.load(found).check_severity_and_options(shipped_rules())
        return True

    return accepted


def _profile(folder: Path) -> bool:
    load_profile(str(folder / "profile.yaml"))
    return True


def _stated(folder: Path) -> bool:
    path = folder / context.FABRIC_FILE
    context.loads(path.read_bytes(), str(path))
    return True


def _baseline(folder: Path) -> bool:
    load_baseline(folder / "base.yaml")
    return True


def _manifest(folder: Path) -> bool:
    try:
        Manifest.from_bytes((folder / "build" / MANIFEST_FILE).read_bytes())
    except ValueError:
        return False
    return True


def _entry(folder: Path) -> bool:
    """Give the bytes of an entry, past its seal, to what recalls outcomes, then readings; one of them takes it."""
    held, asked, dropped = (folder / "entry.bin").read_bytes(), [], []

    def get(_: object, key: str) -> bytes:
        asked.append(key)
        return held

    with (
        mock.patch.object(cache.Store, "get", get),
        mock.patch.object(cache.Store, "put", return_value=None),
        mock.patch.object(cache.Store, "prune", return_value=None),
        mock.patch.object(cache.Store, "has", return_value=True),
        mock.patch.object(cache.Store, "drop", lambda _, key: dropped.append(key)),
    ):
        store = cache.Store(folder, b"", b"")
        settings = outcome_cache.judging.CheckSettings(store=store)
        what = inputs.find_inputs([str(folder / "leaf1")]).require_single_fabric()
        outcome_cache.check_or_recall_outcome(what, settings)
    return len(dropped) < len(asked)


def _revision(folder: Path) -> bool:
    """Accepted is what git may be asked: a word of a possible length without a NUL."""
    raw = (folder / "revision.txt").read_bytes()
    return bool(raw) and b"\0" not in raw and len(raw) < os.pathconf("/", "PC_PATH_MAX")


_WITH_CONFIG = (
    ("lint", "leaf1"),
    ("lint", "leaf1", "--format", "json", "-v"),
    ("lint", "leaf1", "--format", "sarif", "--strictness", "auditor"),
    ("rules",),
    ("rules", "--format", "json"),
    ("fix", "leaf1", "--unsafe", "--diff"),
    ("validate", "leaf1"),
    ("import", "leaf1"),
    ("baseline", "leaf1", "-o", "{out}"),
    ("check", "--base", "../old", "."),
    ("explain", "pfc-one-sided"),
)
_WITH_INTENT = (
    ("lint", "{new}", *_QUIET),
    ("show", "{new}"),
    ("show", "{new}", "--headroom", "--format", "json"),
    ("build", "{new}", "-o", "{out}", *_QUIET),
    ("build", "{new}", "-o", "{out}", *_QUIET, "--write-anyway", "--strictness", "auditor"),
    ("validate", "{new}", *_QUIET),
    ("plan", "{old}", "{new}", *_QUIET, "--patch", "{out}"),
    ("fix", "{new}", *_QUIET, "--unsafe", "--diff"),
    ("check", "--base", "../old", ".", *_QUIET),
    ("export", "batfish", "{new}", *_QUIET, "-o", "{out}"),
    ("export", "containerlab", "{new}", *_QUIET, "-o", "{out}"),
    ("explain", "--at", "leaf1/Ethernet0", "{new}", *_QUIET),
    ("path", "leaf1", "leaf2", "{new}"),
    ("lint", "{new}", *_QUIET, "--format", "json", "--strictness", "auditor"),
)
CONFIGURATION, OTHER = 50_000, 10_000
"""The goals of a campaign: accepted inputs of each reader of configurations, and of each other format."""

TARGETS = (
    _reader("sonic", {"config_db.json": "json"}),
    _reader("sonic-frr", {"config_db.json": "json", "frr.conf": "lines"}),
    _reader("nvue", {"startup.yaml": "yaml"}),
    _reader("nvue-set", {"leaf1.nv": "lines"}, platform="nvue", named="leaf1.nv"),
    _reader("frr", {"frr.conf": "lines"}),
    _reader("onyx", {"leaf1.txt": "lines"}, platform="onyx", named="leaf1.txt"),
    _reader("cumulus", dict.fromkeys(("interfaces", ".conf", "hostname", ".rules"), "lines"), platform="cumulus"),
    _reader("nclu", {"leaf1.txt": "lines"}, platform="nclu", named="leaf1.txt"),
    _reader("hosts", {".yaml": "yaml", ".json": "json", "": "lines"}),
    Target("intent", OTHER, {"intent.yaml": "yaml"}, _intent, _WITH_INTENT, "intent.yaml"),
    Target(
        "rule",
        OTHER,
        {".yaml": "yaml"},
        _rule,
        (
            ("test-rules", "rules"),
            ("lint", "leaf1", "--rules", "rules", *_QUIET, "--strictness", "auditor"),
            ("lint", "leaf1", "--rules", "rules", *_QUIET, "--format", "sarif"),
            ("rules", "--rules", "rules", *_QUIET, "--format", "markdown"),
            ("explain", "own-rule", "--rules", "rules", *_QUIET),
            ("fix", "leaf1", "--rules", "rules", *_QUIET, "--unsafe", "--diff"),
            ("check", "--base", "../old", "leaf1", "--rules", "rules", *_QUIET),
        ),
    ),
    Target("config", OTHER, {"nodrop.yaml": "yaml"}, _config("nodrop.yaml"), _WITH_CONFIG),
    Target("pyproject", OTHER, {"pyproject.toml": "toml"}, _config("pyproject.toml"), _WITH_CONFIG),
    Target(
        "profile",
        OTHER,
        {"profile.yaml": "yaml"},
        _profile,
        (
            ("lint", "leaf1", "--profile", "profile.yaml", *_QUIET, "--strictness", "auditor"),
            ("lint", "leaf1", "--profile", "profile.yaml", *_QUIET, "--format", "json"),
            ("fix", "leaf1", "--profile", "profile.yaml", *_QUIET, "--unsafe", "--diff"),
            ("import", "leaf1", "--profile", "profile.yaml", *_QUIET),
        ),
    ),
    Target("stated", OTHER, {context.FABRIC_FILE: "yaml"}, _stated, _ALL),
    Target(
        "baseline",
        OTHER,
        {"base.yaml": "yaml"},
        _baseline,
        (
            ("lint", "leaf1", "--baseline", "base.yaml", *_QUIET),
            ("lint", "leaf1", "--baseline", "base.yaml", *_QUIET, "--no-suppressions", "--format", "json"),
            ("fix", "leaf1", "--baseline", "base.yaml", *_QUIET, "--unsafe", "--diff"),
            ("baseline", "leaf1", "-o", "base.yaml", *_QUIET),
            ("baseline", "leaf1", "-o", "base.yaml", "--prune", *_QUIET),
        ),
    ),
    Target(
        "manifest",
        OTHER,
        {MANIFEST_FILE: "json"},
        _manifest,
        (
            ("lint", "build", *_QUIET),
            ("build", "intent.yaml", "-o", "build", *_QUIET),
            ("build", "intent.yaml", "-o", "build", "--check", *_QUIET),
            ("fix", "build", *_QUIET, "--unsafe", "--diff"),
            ("check", "--base", "../old", ".", *_QUIET),
        ),
    ),
    Target("cache", OTHER, {"entry.bin": "bytes"}, _entry, ()),
    Target(
        "revision",
        OTHER,
        {"revision.txt": "lines"},
        _revision,
        (("check", "--base", "{revision}", "."), ("check", "--base", "{revision}", "--exact", ".")),
    ),
)
