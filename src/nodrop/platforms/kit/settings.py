"""All settings of a device's files, by path, regardless of the model; a platform's `settings.py` reads them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

from nodrop.platforms.kit.secrets import SECRET_WORDS_PATTERN
from nodrop.syntax.shapes import get_or_make_mapping, mapping_at, mapping_or_empty

SettingsTree = dict[str, object]
Path = tuple[str, ...]
SettingChangeKind = Literal["added", "removed", "changed"]
_MAX_WORDS_SHOWN_OF_LINE = 3
"""Words of a line that are shown: what it sets, not to what."""
_IGNORED_LINE_STARTS = ("", "!", "#")
_DIGIT_PATTERN = re.compile(r"[0-9]")


class FileSettingDifference(NamedTuple):
    """A setting that one of two files of a device has alone, with all below it, or to another value."""

    path: Path
    """Begins with the file's name."""
    kind: SettingChangeKind
    line: bool = False
    """Whether it is the beginning of lines of a text, all of which are taken together."""
    harmless: str = ""
    """Why it does not change what the switch does; empty where that is not known."""

    @property
    def path_without_numbered_names(self) -> Path:
        """Return its path without names that have a number: ports, addresses, rows."""
        return self.path[:1] if self.line else tuple("*" if _DIGIT_PATTERN.search(word) else word for word in self.path)


class SettingsModule(Protocol):
    """A platform's `settings.py`."""

    HEAD: int

    def read_settings_tree(self, name: str, raw: bytes) -> SettingsTree | None:
        """Return the settings of a file; None where it consists of lines."""

    def render_file(self, raw: bytes, tree: SettingsTree) -> bytes:
        """Return a file with other settings."""

    def is_secret_word(self, path: Path, at: int) -> bool:
        """Whether a word of a path is a secret itself."""

    def is_secret_shown_masked(self, path: Path) -> bool:
        """Whether the value at a path is a secret that a switch shows in another form than it was given."""

    def merge_files(self, bundle: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, SettingsTree]]:
        """Return a device's files with all settings in one, laid over each other, and the resulting settings.

        The latter are written as the device shows them, all as texts. Raises InputProblems where a file cannot be read.
        """

    def states_that_path_is_unset(self, tree: SettingsTree, path: Path) -> bool:
        """Whether a file that sets a tree, and nothing at a path, states that nothing is set there."""

    def interface_of_path(self, path: Path) -> str:
        """Return the name of the interface that a path belongs to; empty where it belongs to none."""

    def states_default(self, tree: SettingsTree, path: Path) -> bool:
        """Whether the value at a path is the one that the platform's schema documents as its default."""


class DeviceFileSettings:
    """A device's files, as settings where the platform has them so, else as lines."""

    def __init__(
        self, bundle: Mapping[str, bytes], means: SettingsModule | None, trees: Mapping[str, SettingsTree] | None = None
    ) -> None:
        """Take what files set, where that is known. Raise InputProblems where a file cannot be read."""
        self.bundle, self._means = bundle, means
        if trees is None:
            parsed_trees = {
                name: means.read_settings_tree(name, raw) if means else None for name, raw in bundle.items()
            }
            trees = {name: tree for name, tree in parsed_trees.items() if tree is not None}
        self.trees = trees

    def differences(self, new: "DeviceFileSettings") -> Iterator[FileSettingDifference]:
        """Yield the differences, file by file; of a line no more than the words that identify it."""
        for name in sorted(self.bundle.keys() | new.bundle.keys()):
            old_file, new_file = self.bundle.get(name), new.bundle.get(name)
            if old_file == new_file:
                continue
            if name in self.trees and name in new.trees:
                depth = self._means.HEAD if self._means is not None else 0
                yield from _tree_differences(self.trees[name], new.trees[name], (name,), depth)
            else:
                yield from _line_differences(name, _count_lines(old_file), _count_lines(new_file))

    def files_with_settings_from(self, new_settings: "DeviceFileSettings", paths: Iterable[Path]) -> dict[str, bytes]:
        """Return the files with some settings as they are in the new ones; for lines, with all of a file.

        Added settings are written in the order of their path: the same bytes for any order of the paths.
        """
        new_files, ordered = dict(self.bundle), sorted(paths)
        for name in dict.fromkeys(path[0] for path in ordered):
            if name in self.trees and name in new_settings.trees and self._means is not None:
                tree = _copy_tree(self.trees[name])
                for path in ordered:
                    if path[0] == name:
                        _copy_path_between_trees(tree, new_settings.trees[name], path[1:])
                new_files[name] = self._means.render_file(self.bundle[name], tree)
            elif name in new_settings.bundle:
                new_files[name] = new_settings.bundle[name]
            else:
                new_files.pop(name, None)
        return new_files


def _tree_differences(
    old: Mapping[str, object], new: Mapping[str, object], at: Path, depth: int
) -> Iterator[FileSettingDifference]:
    """Yield differences; for parts that come or go above or at `depth`, those right below them."""
    for key in sorted(old.keys() | new.keys()):
        path, was, new_value = (*at, key), old.get(key), new.get(key)
        alone = key not in old or key not in new
        tables = all(isinstance(side[key], dict) for side in (old, new) if key in side)
        if tables and (was or new_value) and (not alone or len(at) <= depth):
            yield from (
                _tree_differences(mapping_or_empty(was), mapping_or_empty(new_value), path, depth)
                if was != new_value
                else ()
            )
        elif alone:
            yield FileSettingDifference(path, "removed" if key in old else "added")
        elif was != new_value:
            yield FileSettingDifference(path, "changed")


def _count_lines(file_content: bytes | None) -> Counter[str]:
    lines = map(str.strip, (file_content or b"").decode(errors="replace").splitlines())
    return Counter(line for line in lines if line[:1] not in _IGNORED_LINE_STARTS)


def _line_differences(name: str, old: Counter[str], new: Counter[str]) -> Iterator[FileSettingDifference]:
    gone, come = (dict.fromkeys(map(_shorten_line, line_counts)) for line_counts in (old - new, new - old))
    for words in {**gone, **come}:
        kind: SettingChangeKind = (
            "changed" if words in gone and words in come else "removed" if words in gone else "added"
        )
        yield FileSettingDifference((name, words), kind, line=True)


def _shorten_line(line: str) -> str:
    """Return the first words of a line, none after one behind which a secret stands."""
    shown: list[str] = []
    for word in line.split()[:_MAX_WORDS_SHOWN_OF_LINE]:
        shown.append(word)
        if SECRET_WORDS_PATTERN.search(word):
            break
    return " ".join(shown)


def _copy_tree(tree: SettingsTree) -> SettingsTree:
    return {key: _copy_tree(inside) if isinstance(inside, dict) else inside for key, inside in tree.items()}


def _copy_path_between_trees(tree: SettingsTree, new_values: Mapping[str, object], path: Path) -> None:
    """Set a path in a tree as another tree has it, or remove it with the parts that are empty then."""
    key, *below = path
    if not below:
        if key in new_values:
            tree[key] = new_values[key]
        else:
            tree.pop(key, None)
        return
    inside = get_or_make_mapping(tree, key)
    _copy_path_between_trees(inside, mapping_at(new_values, key), tuple(below))
    if not inside and key not in new_values:
        del tree[key]
