"""Switches that were checked before and are not any more: deleted, or still there where no file is read.

A file looks like the configuration of a switch where it lies at its path, or has half of its words or more. Only files
that are new or changed are compared: what lay there before, unread, is not where a switch has gone.
"""

import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nodrop.checking.blocking_findings import build_change_finding
from nodrop.checking.policy_changes import files_by_switch
from nodrop.checking.two_states import ComparedFabrics, FabricSourcePair
from nodrop.engine.finding import FileLocation, Finding
from nodrop.errors import InputProblems
from nodrop.inputs import PATCHES_FILE, DiskWithHeldTexts, FabricInputs, FileText
from nodrop.inputs.known import ignored_file_reason, ignored_folder_reason
from nodrop.model.reading import Reading, Source
from nodrop.model.subject import FABRIC_HEAD, natural_sort_key
from nodrop.plan.model import Plan
from nodrop.report.names import escape_or_quote_name, format_name_list
from nodrop.results.rulings import DEVICE_NOT_CHECKED
from nodrop.revisions import FormerTree
from nodrop.revisions.git import submodules_here
from nodrop.syntax.places import Span

_WORD_PATTERN = re.compile(rb"[\w.:/-]+")
_UNICODE_ESCAPE_PATTERN = re.compile(rb"\\u([0-9a-fA-F]{4})")
_MIN_COMMON_WORDS_SHARE = 0.5
"""The share of the words of a configuration that a text has if it may be that one."""
_MAX_COMPARED_BYTES = 16_000_000
_MAX_LISTED_UNCOMPARED_FILES = 5
"""Files that were not compared and are named in the verdict."""
_MAX_COMPARED_FILES = 5_000
"""Files that nothing reads and that are new or changed, of which words are compared."""


@dataclass(slots=True, kw_only=True)
class _MissingSwitch:
    """A switch, or an intent, of before: its files, and how they are read."""

    name: str
    files: list[FileText]
    kind: str
    partly: bool = False
    """Whether other files of it are read."""


def find_no_longer_checked_switches(
    both_states: ComparedFabrics,
    planned: Iterable[tuple[FabricSourcePair, Plan, Reading, Reading]],
    paths: Sequence[str],
    excludes: Callable[[Path], bool] | None,
) -> Iterator[Finding]:
    """Yield a finding on each switch or intent checked before and not now, with the file that still holds it, if any.

    `planned` are the fabrics that change, with their plans, their former and their present states.
    """
    read, of_hosts = _switch_and_host_files(both_states)
    unread = _UnreadFiles(both_states, paths, read, of_hosts, excludes)
    gone = list(_removed_switches(tuple(planned), unread.is_unread_on_disk))
    deleted: list[_MissingSwitch] = []
    for source in gone:
        place = unread.unread_file_of_switch(source)
        if place is None:
            deleted += [] if source.partly or all(unread.is_file_read(text) for text in source.files) else [source]
            continue
        path, why = place
        scope = " in part" if source.partly else ""
        yield build_change_finding(
            DEVICE_NOT_CHECKED,
            f"{source.name} is no longer checked{scope}: {path} holds its {source.kind} and is not read, because {why}",
            (source.name,),
            (source.name,),
            str(path),
            located=FileLocation(file=str(path), span=Span(1, 1, 1, 1)),
        )
    if deleted:
        names = [escape_or_quote_name(deleted_source.name) for deleted_source in deleted]
        are = "is" if len(names) == 1 else "are"
        unseen = unread.not_compared
        beyond = (
            f" and {len(unseen) - _MAX_LISTED_UNCOMPARED_FILES:,} more"
            if len(unseen) > _MAX_LISTED_UNCOMPARED_FILES
            else ""
        )
        suffix = f"; not compared: {', '.join(unseen[:_MAX_LISTED_UNCOMPARED_FILES])}{beyond}" if unseen else ""
        yield build_change_finding(
            DEVICE_NOT_CHECKED,
            f"{format_name_list(names)} {are} no longer checked, "
            f"and nothing that looks like the configuration is left{suffix}",
            (FABRIC_HEAD, "deleted"),
            (FABRIC_HEAD,),
            " ".join(names),
            severity="error" if unseen else "note",
        )


def _switch_and_host_files(sides: ComparedFabrics) -> tuple[set[str], set[str]]:
    """Return the files that are read now as those of switches or intents, and those that are read as files of hosts."""
    of_hosts = {
        os.path.abspath(text.display)  # noqa: PTH100
        for pair in sides.pairs
        if isinstance(pair.new, FabricInputs)
        for host in pair.new.hosts
        for _, text in host.files
    }
    every = {os.path.abspath(file) for pair in sides.pairs for _, files in files_by_switch(pair.new) for file in files}  # noqa: PTH100
    return every - of_hosts, of_hosts


def _removed_switches(
    planned: Sequence[tuple[FabricSourcePair, Plan, Reading, Reading]], is_left: Callable[[FileText], bool]
) -> Iterator[_MissingSwitch]:
    """Yield the switches that fabrics had and that none has now, and those with a file that is read no more.

    A file that `is_left` in its former place is read no more, even if a file of its switch's name is read elsewhere.

    An intent that is gone represents its switches.
    """
    come = {
        device_change.name
        for _, plan, _, _ in planned
        for device_change in plan.devices
        if device_change.kind == "added"
    }
    for pair, plan, before, after in planned:
        if isinstance(pair.old, FileText) and pair.new is None:
            yield _MissingSwitch(name=pair.old.display, files=[pair.old], kind="text")
            continue
        for change in sorted(plan.devices, key=lambda device_change: natural_sort_key(device_change.name)):
            if change.kind == "removed" and change.name not in come:
                sources = () if isinstance(pair.old, FileText) else before.sources.get(change.name, ())
                yield _MissingSwitch(name=change.name, files=_texts_of_sources(sources), kind="configuration")
        reported_names = {
            device_change.name
            for device_change in plan.devices
            if device_change.kind == "removed" and device_change.name not in come
        }
        switches = {former_device.name for former_device in before.fabric.devices}
        for device in sorted(
            before.sources.keys() - reported_names if isinstance(pair.old, FabricInputs) else (), key=natural_sort_key
        ):
            names = {source.name for source in after.sources.get(device, ())}
            by_name = _are_both_from_files(pair) and device in after.sources
            switch = device in switches
            texts = zip(before.sources[device], _texts_of_sources(before.sources[device]), strict=True)
            if lost := [
                text for source, text in texts if (by_name and source.name not in names) or (switch and is_left(text))
            ]:
                yield _MissingSwitch(name=device, files=lost, kind="configuration", partly=True)


def _are_both_from_files(pair: FabricSourcePair) -> bool:
    return isinstance(pair.old, FabricInputs) and isinstance(pair.new, FabricInputs)


def _texts_of_sources(sources: Iterable[Source]) -> list[FileText]:
    return [
        FileText(display=source.display, path=source.path, held=source.held or b"", root=source.root)
        for source in sources
    ]


class _UnreadFiles:
    """The files below the named paths that are not read now, of those that are new or have changed."""

    def __init__(
        self,
        sides: ComparedFabrics,
        paths: Sequence[str],
        read: set[str],
        of_hosts: set[str],
        excludes: Callable[[Path], bool] | None,
    ) -> None:
        self._former, self._paths, self._read, self._excludes = sides.former, paths, read, excludes
        self._of_hosts = of_hosts
        self._before = {
            os.path.abspath(file)  # noqa: PTH100
            for pair in sides.pairs
            for _, files in files_by_switch(pair.old)
            for file in files
        }
        self._words: dict[Path, tuple[Counter[bytes], int]] | None = None
        """The words of files and how many they are: a text with too few words is no switch's."""
        self.not_compared: list[str] = []
        """What may hold a configuration, and is not looked into."""

    def is_file_read(self, source_text: FileText) -> bool:
        """Whether a file is read now, for any switch."""
        return os.path.abspath(source_text.display) in self._read  # noqa: PTH100

    def is_unread_on_disk(self, source_text: FileText) -> bool:
        """Whether a file lies where it did and is not read as that of a switch."""
        return not self.is_file_read(source_text) and self._exists_or_below_link(Path(source_text.display))

    def unread_file_of_switch(self, lost_source: _MissingSwitch) -> tuple[Path, str] | None:
        """Return the file that holds the facts read of a switch before, and why it is not read."""
        for text in lost_source.files:
            path = Path(text.display)
            if not self.is_file_read(text) and self._exists_or_below_link(path):
                link = self._first_symlink_above(path)
                return (link or path), self._reason_path_is_unread(path)
            if (empty := self._describe_empty_submodule(path)) is not None and empty not in self.not_compared:
                self.not_compared.append(empty)
        own_words = sum((_count_words(text) for text in lost_source.files), Counter[bytes]())
        least = _MIN_COMMON_WORDS_SHARE * own_words.total()
        large = ((path, words) for path, (words, total) in self._word_counts_by_path().items() if total >= least)
        alike = [
            (score, path)
            for path, words in large
            if (score := _share_of_common_words(own_words, words)) >= _MIN_COMMON_WORDS_SHARE
        ]
        if not alike:
            return None
        path = max(alike, key=lambda candidate: (candidate[0], str(candidate[1])))[1]
        return path, self._reason_path_is_unread(path)

    def _exists_or_below_link(self, path: Path) -> bool:
        return os.path.lexists(path) or self._first_symlink_above(path) is not None

    def _first_symlink_above(self, path: Path) -> Path | None:
        """Return the first folder on the way to a file that is a link now."""
        for top, folder in self._steps_below_named_paths(path):
            if folder != top and folder.is_symlink():
                return folder
        return None

    def _describe_empty_submodule(self, path: Path) -> str | None:
        """Return the folder of a file, if it is there with nothing in it and is a submodule: git keeps no other."""
        for top, folder in self._steps_below_named_paths(path.parent):
            empty = folder != top and folder.is_dir() and not any(folder.iterdir())
            if empty and self._may_be_submodule(folder):
                return f"{folder}, an empty folder, as of a submodule that is not checked out"
        return None

    def _may_be_submodule(self, folder: Path) -> bool:
        """Whether a folder is a submodule, or below one, or git does not state it."""
        path = Path(os.path.realpath(folder))
        return self._submodule_paths is None or not self._submodule_paths.isdisjoint((path, *path.parents))

    @cached_property
    def _submodule_paths(self) -> frozenset[Path] | None:
        return submodules_here()

    def _steps_below_named_paths(self, path: Path) -> Iterator[tuple[Path, Path]]:
        """Yield the named path that a path lies below with each step from there to it."""
        for text in self._paths:
            top = Path(text)
            try:
                steps = Path(os.path.abspath(path)).relative_to(os.path.abspath(top)).parts  # noqa: PTH100
            except ValueError:
                continue
            at = top
            yield top, at
            for step in steps:
                at = at / step
                yield top, at
            return

    def _reason_path_is_unread(self, path: Path) -> str:
        for top, step in self._steps_below_named_paths(path):
            if step == top:
                continue
            if step.is_symlink():
                return f"{step} is a link, which is not followed" if step != path else f"{step} is a link"
            if (
                why := ignored_file_reason(step.parent.name, step.name)
                if step == path
                else ignored_folder_reason(step.name)
            ):
                return f"{step} is ignored as {why}"
            if step != path and os.path.lexists(step / PATCHES_FILE):
                return f"a folder with {PATCHES_FILE} is not searched ({step})"
            if self._excludes is not None and self._excludes(step):
                return f"`exclude` leaves out {step}"
        if os.path.abspath(path) in self._of_hosts:  # noqa: PTH100
            return "it is read as a file of a host"
        if not any(self._steps_below_named_paths(path)):
            return "it lies below none of the named paths"
        return f"a file called {path.name} with this content is not recognised in a folder"

    def _word_counts_by_path(self) -> dict[Path, tuple[Counter[bytes], int]]:
        if self._words is None:
            self._words = {}
            for path in self._find_changed_paths():
                if len(self._words) >= _MAX_COMPARED_FILES:
                    self.not_compared.append(f"files beyond the first {_MAX_COMPARED_FILES:,}")
                    break
                if _is_large(path):
                    self.not_compared.append(f"{path}, of more than {_MAX_COMPARED_BYTES:,} bytes")
                raw = _strip_utf16_null_bytes(DiskWithHeldTexts().text(path))
                if not _is_utf8(raw):
                    self.not_compared.append(f"{path}, which is no text")
                words = _word_counts_of(raw)
                self._words[path] = words, words.total()
        return self._words

    def _find_changed_paths(self) -> Iterator[Path]:
        """Yield the files that are not read and new or changed, below the named paths and then in the whole tree."""
        seen = set(self._read)
        for top in (*self._paths, os.path.relpath(_top_folder(self._former))):
            for directory, folders, names in os.walk(top):
                if ".git" in (*folders, *names) and directory != top:
                    self.not_compared.append(f"{directory}, a separate repository")
                folders[:] = sorted(folder for folder in folders if folder != ".git")
                for path in (Path(directory, file_name) for file_name in sorted(names)):
                    absolute_path = os.path.abspath(path)  # noqa: PTH100
                    if absolute_path not in seen and not path.is_symlink() and self._is_new_or_changed(path):
                        yield path
                    seen.add(absolute_path)

    def _is_new_or_changed(self, path: Path) -> bool:
        was_read = os.path.abspath(path) in self._before  # noqa: PTH100
        former = self._former
        return was_read or not former.is_file(path) or not former.is_unchanged(former.text(path))


def _top_folder(former: FormerTree) -> Path:
    """Return the folder of the tree."""
    top = Path.cwd()
    while former.path_from_top(top.parent) is not None and top != top.parent:
        top = top.parent
    return top


def _count_words(text: FileText) -> Counter[bytes]:
    """Return the words of a text, nothing where it cannot be read."""
    return _word_counts_of(_strip_utf16_null_bytes(text))


def _strip_utf16_null_bytes(source_text: FileText) -> bytes:
    """Return the bytes of a text without those that UTF-16 and UTF-32 put between them; none if it cannot be read."""
    try:
        raw = source_text.read_bytes(_MAX_COMPARED_BYTES)
    except InputProblems:
        return b""
    return raw.removeprefix(BOM_UTF16_LE).removeprefix(BOM_UTF16_BE).replace(b"\0", b"") if b"\0" in raw else raw


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _word_counts_of(file_content: bytes) -> Counter[bytes]:
    return Counter(_WORD_PATTERN.findall(_UNICODE_ESCAPE_PATTERN.sub(_decode_escape, file_content)))


def _decode_escape(escaped: re.Match[bytes]) -> bytes:
    """Return the character that JSON and YAML escape by its number."""
    return chr(int(escaped[1], 16)).encode("utf-8", "replace")


def _is_large(path: Path) -> bool:
    try:
        return path.stat().st_size > _MAX_COMPARED_BYTES
    except OSError:
        return False


def _share_of_common_words(own_words: Counter[bytes], other_words: Counter[bytes]) -> float:
    """Return the share of a text's words that another text has too; more words there change nothing."""
    return (own_words & other_words).total() / max(1, own_words.total())
