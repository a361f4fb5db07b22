"""Network operating systems, one folder each, found by name: reader and places always, a writer where it is written."""

import importlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

from nodrop.errors import Problem
from nodrop.model.change import Change, EditResult
from nodrop.model.fabric import Device, Extra, Port
from nodrop.model.index import Index
from nodrop.model.reading import DeviceReading, FilePlace, Source
from nodrop.model.subject import Subject
from nodrop.platforms.kit.artifact import Artifact, BatfishTables, FirstApplyDisruption
from nodrop.platforms.kit.editing import RetryBudget
from nodrop.platforms.kit.extras import RoutingLine
from nodrop.platforms.kit.settings import SettingsModule
from nodrop.syntax.comments import CommentSyntax, NodropComment
from nodrop.syntax.comments import find_nodrop_comments as found_comments
from nodrop.syntax.yaml import parse_yaml

_PLATFORMS_FOLDER = Path(__file__).parent
HOSTS_PLATFORM = "hosts"
"""The folder of what is no switch: files that say how NICs are set, which have places like any other."""


class ReaderModule(Protocol):
    """A platform's `reader.py`."""

    CANONICAL_FILES: tuple[str, ...]
    """Canonical file names: in one folder they are one device; any other file is read as the first of its suffix."""
    COMPANION_FILES: tuple[str, ...]
    """Names of files that belong to a device whose canonical files they lie beside, and make none by themselves."""
    SUBFOLDER_ENDINGS: tuple[tuple[str, str], ...]
    """Folders below that of a device, and how names of files end there that belong to it; the first with any counts."""
    USUAL_SUFFIXES: tuple[str, ...]
    """How the names of other files usually end: a link of such a name that leads out of the root is a problem."""

    def detect(self, name: str, head: bytes) -> bool:
        """Whether a file of that name that begins so is of this platform."""

    def read_device(self, name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
        """Read a device from its files; `name` is used where they state no hostname."""


class WriterModule(Protocol):
    """A platform's `writer.py`."""

    def write(self, device: Device, index: Index) -> tuple[Artifact, ...]:
        """Return a device's files, by the indexed fabric; UnsupportedByPlatform where they cannot express it."""


class EditorModule(Protocol):
    """A platform's `edit.py`."""

    def edit(
        self,
        bundle: Mapping[str, bytes],
        changes: Iterable[Change],
        *,
        name: str = "",
        budget: RetryBudget | None = None,
    ) -> EditResult:
        """Change a device's files, given by canonical name, only as the changes require.

        Edits that share a budget together try no more than that; changes not tried are left to be made by hand.
        """


class FileDiffEditor(Protocol):
    """Of a platform's `edit.py`, where there is one."""

    def __call__(self, old: Mapping[str, bytes], new: Mapping[str, bytes], *, name: str = "") -> EditResult | None:
        """Return the edit that takes a device's old files to new ones; None where no patch changes a difference."""


@cache
def platform_names() -> tuple[str, ...]:
    """Return the platforms there are, sorted."""
    return tuple(sorted(path.parent.name for path in _PLATFORMS_FOLDER.glob("*/reader.py")))


@cache
def writable_platforms() -> tuple[str, ...]:
    """Return the platforms that nodrop writes, sorted."""
    return tuple(sorted(path.parent.name for path in _PLATFORMS_FOLDER.glob("*/writer.py")))


@cache
def default_platform() -> str:
    """Return the platform that is used where none is named: the one whose `__init__.py` has `DEFAULT`."""
    return next(name for name in writable_platforms() if getattr(_import_package(name), "DEFAULT", False))


@cache
def platforms_default_first() -> tuple[str, ...]:
    """Return the platforms that nodrop writes: the default one, then the others, sorted."""
    return default_platform(), *(name for name in writable_platforms() if name != default_platform())


@cache
def written_file_patterns() -> tuple[str, ...]:
    """Return the names that writers give to files of a device, as patterns."""
    return tuple(
        dict.fromkeys(name for writable_name in writable_platforms() for name in _import_package(writable_name).WRITES)
    )


@cache
def writable_platform_for(platform: str) -> str:
    """Return the platform to write for switches that run one: itself, or another that its switches can run.

    A reader of a platform that is not written states this as `WRITTEN_AS`. Raises KeyError for an unknown platform.
    """
    return platform if platform in writable_platforms() else cast("str", reader(platform).WRITTEN_AS)  # type: ignore[attr-defined]


@cache
def _import_module(platform: str, module_name: str) -> Any:
    if platform not in (*platform_names(), HOSTS_PLATFORM):
        raise KeyError(platform)
    return importlib.import_module(f"nodrop.platforms.{platform}.{module_name}")


def _import_package(platform: str) -> Any:
    return importlib.import_module(f"nodrop.platforms.{platform}")


def reader(platform: str) -> ReaderModule:
    """Return a platform's reader; KeyError where there is no such platform."""
    return cast("ReaderModule", _import_module(platform, "reader"))


def main_config_file(platform: str, config_files: Mapping[str, bytes]) -> str:
    """Return the file of a device that its platform's own tool changes: the first canonical one, else the first there.

    KeyError where there is no such platform.
    """
    usual = reader(platform).CANONICAL_FILES[0]
    return usual if usual in config_files else next(iter(config_files), usual)


def writer_of_platform(platform: str) -> WriterModule:
    """Return a platform's writer; KeyError where there is no such platform."""
    return cast("WriterModule", _import_module(platform, "writer"))


@lru_cache(maxsize=65536)
def port_name(platform: str, model: str, port: Port, splits: int = 1) -> str:
    """Return the name of a port that is one of `splits` parts of its panel port, 1 where that is not broken out.

    KeyError where nodrop does not write the platform or, where names follow the lanes, for an unknown model or a port
    that the model does not have.
    """
    if platform not in writable_platforms():
        raise KeyError(platform)
    return cast("str", _import_module(platform, "naming").port_name(model, port, splits))


def find_port_parser_by_model(platform: str) -> Callable[[str, str, int], Port | None] | None:
    """Return a function that finds a port by model, name and number of parts; None where names are alike on all models.

    It is `model_port` of the platform's `naming.py`. KeyError where nodrop does not write the platform.
    """
    if platform not in writable_platforms():
        raise KeyError(platform)
    port_finder = getattr(_import_module(platform, "naming"), "model_port", None)
    return cast("Callable[[str, str, int], Port | None] | None", port_finder)


class AdditionsModule(Protocol):
    """A platform's `additions.py`: settings that an owner can add, as they are written in files."""

    def read_file_settings(self, bundle: Mapping[str, bytes]) -> Iterator[Extra]:
        """Yield every setting of a device's files, given by canonical name, as it would be added."""

    def routing_daemon_lines(self, bundle: Mapping[str, bytes]) -> tuple[RoutingLine, ...]:
        """Return the lines of the routing daemon's own file; none where the platform has no such additions."""

    def select_lines_beside_model(
        self, bundle: Mapping[str, bytes], lines: Collection[RoutingLine]
    ) -> tuple[RoutingLine, ...]:
        """Return those of a device's lines without which its file says the same of the model."""

    def format_routing_lines(self, lines: Sequence[RoutingLine]) -> tuple[tuple[str, frozenset[RoutingLine]], ...]:
        """Return lines as they can be added behind others, and beside each what of `lines` goes with it."""


def additions_of_platform(platform: str) -> AdditionsModule:
    """Return how a platform's files hold what owners add; KeyError where nodrop does not write it."""
    if platform not in writable_platforms():
        raise KeyError(platform)
    return cast("AdditionsModule", _import_module(platform, "additions"))


@cache
def find_editor(platform: str) -> EditorModule | None:
    """Return what changes a platform's given files; None where all is done by hand. KeyError: no such platform."""
    if platform not in platform_names():
        raise KeyError(platform)
    return (
        cast("EditorModule", _import_module(platform, "edit"))
        if (_PLATFORMS_FOLDER / platform / "edit.py").exists()
        else None
    )


class CommandLinesModule(Protocol):
    """A platform's `command_lines.py`: how changes are typed on a running switch, many ports at once."""

    LANGUAGE_TITLE: str
    """What takes the commands, as reports name it."""
    LINES_BEFORE: tuple[str, ...]
    LINES_AFTER: tuple[str, ...]
    """What is typed before and after all commands."""
    PERSISTENCE_NOTE: str
    """Where the commands do not survive a restart, behind them; nothing where they always do."""
    DISTURBS_AS_PATCH: bool
    """Whether the commands of an edit disturb a switch as the steps of its patch do, because one tool makes both."""

    def fill_ports_into_command(self, command: str, ports: Sequence[str]) -> tuple[str, ...]:
        """Return a command with its slot filled by ports, in as few lines as the platform allows."""

    def commands_of_edit(self, bundle: Mapping[str, bytes], edit: EditResult) -> tuple[str, ...]:
        """Return the commands that make an edit of a device's files, given by canonical name, on the running switch."""


@cache
def command_languages() -> tuple[str, ...]:
    """Return what takes commands: platforms, `frr` and `hosts`, sorted."""
    return tuple(sorted(path.parent.name for path in _PLATFORMS_FOLDER.glob("*/command_lines.py")))


def command_languages_of_device(device: Device) -> tuple[str, ...]:
    """Return what takes commands on a device, the preferred one first: its platform's, and FRR's where that is used."""
    own = getattr(_import_package(device.platform), "command_languages_of_device", None)
    return own(device) if own is not None else (device.platform,)


def load_command_lines_module(language: str) -> CommandLinesModule:
    """Return how commands are typed in a language of `command_languages`."""
    return cast("CommandLinesModule", importlib.import_module(f"nodrop.platforms.{language}.command_lines"))


def omit_already_open_contexts(language: str, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of several blocks, of a language whose lines depend on those before, as one sequence."""
    return cast("tuple[str, ...]", load_command_lines_module(language).drop_openings_of_open_context(lines))  # type: ignore[attr-defined]


def depends_on_context(language: str) -> bool:
    """Whether the effect of a line depends on the lines before it, so that those of a finding stay together."""
    return hasattr(load_command_lines_module(language), "drop_openings_of_open_context")


def would_refuse_commands(
    language: str, commands: Iterable[str], read_files: Callable[[], Mapping[str, bytes]]
) -> bool:
    """Whether a device would refuse commands, one for each port: they name what neither exists nor is made by one."""
    check = getattr(load_command_lines_module(language), "would_refuse_commands", None)
    return check is not None and bool(check(commands, read_files))


def lines_as_typed_on_device(device: Device, language: str, lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return what takes lines of a language on a device, and the lines as they are typed there.

    A platform that leads to another language's shell has `frr_lines_as_vtysh_command(lines, device)`.
    """
    if language == device.platform or device.platform not in command_languages():
        return language, tuple(lines)
    through = getattr(load_command_lines_module(device.platform), "frr_lines_as_vtysh_command", None)
    return (language, tuple(lines)) if through is None else (device.platform, through(lines, device))


def commands_of_port(
    language: str, commands: Sequence[str], port: str, read_files: Callable[[], Mapping[str, bytes]]
) -> tuple[str, ...]:
    """Return the commands of a rule with the names of what a port uses; none if one of them cannot be typed."""
    name_objects = getattr(load_command_lines_module(language), "commands_of_port", None)
    return name_objects(commands, port, read_files) if name_objects is not None else tuple(commands)


def fit_commands(language: str, lines: Sequence[str], read_files: Callable[[], Mapping[str, bytes]]) -> tuple[str, ...]:
    """Return commands in the form that fits the files of a device."""
    fit = getattr(load_command_lines_module(language), "fit_commands", None)
    return fit(lines, read_files) if fit is not None else tuple(lines)


def explain_commands(
    language: str, lines: Sequence[str], read_files: Callable[[], Mapping[str, bytes]]
) -> tuple[str, ...]:
    """Return what commands do to the files of a device and do not show."""
    explain = getattr(load_command_lines_module(language), "explain_commands", None)
    return explain(lines, read_files) if explain is not None else ()


def closing_lines(language: str, file_names: Collection[str]) -> tuple[str, ...]:
    """Return the closing commands of every list for a device with files of these names."""
    module = load_command_lines_module(language)
    lines = getattr(module, "closing_lines", None)
    return lines(file_names) if lines is not None else module.LINES_AFTER


def drain_commands(device: Device, language: str, file_names: Collection[str] = ()) -> tuple[str, ...]:
    """Return the commands that move traffic off a switch and bring it back; none where its language has none.

    `file_names` are those of its files, as far as they are known.
    """
    commands = getattr(load_command_lines_module(language), "drain_commands", None)
    return commands(device, file_names) if commands is not None else ()


def states_during_edit(
    platform: str, config_files: Mapping[str, bytes], edit: EditResult
) -> Iterator[tuple[str, Mapping[str, bytes]]]:
    """Yield the states of a running switch while its own tool makes an edit: the last step done, and its files.

    Yield nothing where all is made at once.
    """
    if (_PLATFORMS_FOLDER / platform / "applying.py").exists():
        yield from _import_module(platform, "applying").states_during_edit(config_files, edit)


def find_file_diff_editor(platform: str) -> FileDiffEditor | None:
    """Return what takes old files of a platform to new ones; None where it has nothing of the kind."""
    return cast("FileDiffEditor | None", getattr(find_editor(platform), "edit_between_file_versions", None))


def peer_group_change_effects(platform: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the effects of BGP sessions joining or leaving peer groups, as reasons; nothing where that is not known."""
    regroup_function = getattr(find_editor(platform), "peer_group_change_effects", None)
    if regroup_function is not None:
        yield from regroup_function(old, new)


def find_settings_reader(platform: str) -> SettingsModule | None:
    """Return how a platform's files are read as settings by path; None where they are lines."""
    return (
        cast("SettingsModule", _import_module(platform, "settings"))
        if (_PLATFORMS_FOLDER / platform / "settings.py").exists()
        else None
    )


def first_apply_disruptions(device: Device) -> Sequence[FirstApplyDisruption]:
    """Return what restarts services or brings all ports of a switch down when its build is applied first."""
    if not (_PLATFORMS_FOLDER / device.platform / "delivery.py").exists():
        return ()
    return tuple(_import_module(device.platform, "delivery").first_apply_disruptions(device))


def make_place_finder(platform: str, config_files: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds a subject's place in a device's files, given by canonical name."""
    return cast(
        "Callable[[Subject], FilePlace | None]", _import_module(platform, "places").place_finder_for_files(config_files)
    )


def paths_of_access_list_part(platform: str, subject: Subject) -> Iterator[tuple[str, ...]]:
    """Yield the paths at which a written platform states part of an access list, the most exact first.

    The part is what follows `@access_lists` in a subject: the name of the list, and a part of it.
    """
    return cast("Iterator[tuple[str, ...]]", _import_module(platform, "read_access").paths_of_access_list_part(subject))


def find_frr_text(
    platform: str, config_files: Mapping[str, bytes]
) -> tuple[str, Callable[[int], FilePlace | None]] | None:
    """Return the FRR configuration of a device as its files have it, and the place of each of its lines in them.

    The files are given by canonical name. None where none of them has it in FRR's words.
    """
    if not (_PLATFORMS_FOLDER / platform / "frr_text.py").exists():
        return None
    module = _import_module(platform, "frr_text")
    return cast("tuple[str, Callable[[int], FilePlace | None]] | None", module.find_frr_source(config_files))


class StagedModule(Protocol):
    """A platform's `staged.py`: files next to a device's state that lead to it, one after the other."""

    STAGE_FILE_SUFFIXES: tuple[str, ...]
    """How the names of these files end, in a folder `apply`."""

    def report_stages_unlike_state(self, state: bytes, display: str, stages: Mapping[str, bytes]) -> list[Problem]:
        """Return why stages, given by path, result in other settings than a state."""

    def find_outdated_stages(
        self, state: bytes, stages: Mapping[str, bytes], command_lines: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the stages, given by path, that agree with a state less once commands changed it."""


@cache
def find_staged_module(platform: str) -> StagedModule | None:
    """Return how a platform's stages are compared with its state; None where it has none."""
    return (
        cast("StagedModule", _import_module(platform, "staged"))
        if (_PLATFORMS_FOLDER / platform / "staged.py").exists()
        else None
    )


def parts_missing_from_startup_file(platform: str, config_files: Mapping[str, bytes]) -> Mapping[tuple[str, str], str]:
    """Return the parts missing from the file that a switch starts with: (file, part), with how a switch gets them.

    The files are given by canonical name. Empty where all files of a platform count alike.
    """
    says = getattr(reader(platform), "tables_not_in_config_db", None)
    return {} if says is None else cast("Mapping[tuple[str, str], str]", says(config_files))


def batfish_tables(
    device: Device, config_files: Mapping[str, bytes], hostname: str, frr_conf: str
) -> BatfishTables | None:
    """Return a device's tables, as far as Batfish reads those of its platform, under a hostname of Batfish's.

    None where it reads none of that platform, or something in the device's files, given by canonical name, or in its
    frr.conf is more than its reader takes.
    """
    if not (_PLATFORMS_FOLDER / device.platform / "batfish.py").exists():
        return None
    device_tables = _import_module(device.platform, "batfish").batfish_tables(device, config_files, hostname, frr_conf)
    return cast("BatfishTables | None", device_tables)


def nodrop_comments(platform: str, name: str, file_content: bytes) -> list[NodropComment]:
    """Return the comments of a device's file that speak to nodrop; `name` is its canonical name."""
    if b"nodrop:" not in file_content:
        return []
    table: Mapping[str, CommentSyntax] = _import_package(platform).COMMENTS
    return found_comments(file_content, next(syntax for ending, syntax in table.items() if name.endswith(ending)))


@cache
def rules_reader_can_find_on_read_only_platform(platform: str) -> frozenset[str]:
    """Return the rules whose faults a platform's reader can show, of a platform that is only read; else none.

    `tests/rules/test_read_platforms.py` computes them from their examples and what the reader supplies.
    """
    path = _PLATFORMS_FOLDER / platform / "rules.txt"
    return frozenset(path.read_text("utf-8").split()) if platform in platform_names() and path.exists() else frozenset()


@cache
def unsupported_paths(platform: str) -> Mapping[str, str]:
    """Return the model paths that a platform's files cannot express, with the reasons; none where it has none."""
    path = _PLATFORMS_FOLDER / platform / "not_carried.yaml"
    if platform not in platform_names() or not path.exists():
        return {}
    return cast("Mapping[str, str]", parse_yaml(path.read_bytes(), path.name).data)
