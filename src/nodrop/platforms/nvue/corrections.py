"""Settings of an NVUE file whose right words or value the schema, or the other ports, determine.

Each function returns what in the file ends a fault that the reader remarks; nothing where only the owner knows it.
"""

from collections.abc import Iterator

from nodrop.model.change import FILE_SETTING_AREA
from nodrop.model.reading import NO_REMEDY, FileCorrection, Remedy
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.schema import SchemaNode, WordsAfterPath, node_below, schema_root
from nodrop.platforms.nvue.schema_types import Release, SettingLeaf
from nodrop.platforms.nvue.tree import Path

MAX_REBOUND_PORTS = 512
"""Ports that one correction binds to another profile."""
_OTHER_DIALECT_STATE_WORDS = {"on": "enabled", "off": "disabled", "enabled": "on", "disabled": "off"}
"""How the dialects say that something is on or off."""


def respelling_remedy(top: ConfigNodeView, path: Path, instead: str, release: Release | None) -> Remedy:
    """Return the corrections that write a setting of the other dialect as `instead` has it, at all of its places.

    `instead` is a path that takes the place of the end of `path`, or such a path and a value.
    """
    words = tuple(instead.split())
    target = _count_kept_keys_of_path(path, words, release)
    if target is None:
        return NO_REMEDY
    kept, leaf_only = target
    corrections: list[FileCorrection] = []
    for old_path, value in find_settings_of_same_kind(top.node, path):
        if leaf_only and len(old_path) > len(path):
            return NO_REMEDY
        new_path = (*old_path[:kept], *words, *old_path[len(path) :])
        new_path = new_path[:-1] if leaf_only and schema_node_of_path(new_path, release) is None else new_path
        new_value = spell_value(schema_node_of_path(new_path, release), value, release)
        if new_value is None:
            return NO_REMEDY
        corrections.append(FileCorrection((FILE_SETTING_AREA, *old_path), value, None))
        corrections.append(FileCorrection((FILE_SETTING_AREA, *new_path), None, new_value))
    return Remedy(corrections=tuple(corrections))


def _count_kept_keys_of_path(path: Path, words: Path, release: Release | None) -> tuple[int, bool] | None:
    """Return how many keys of a path stay before `words`, and whether their last may be a value; None where unknown."""
    for kept in range(len(path) - 1, -1, -1):
        if schema_node_of_path((*path[:kept], *words), release) is not None:
            return kept, False
        if len(words) > 1 and isinstance(schema_node_of_path((*path[:kept], *words[:-1]), release), SettingLeaf):
            return kept, True
    return None


def schema_node_of_path(path: Path, release: Release | None) -> SchemaNode | None:
    """Return the place of the schema that a path leads to in a release; None where it has none."""
    place: SchemaNode | None = schema_root()
    for word in path:
        place = node_below(place, word)
        if place is None or not place.span.has_release(release):
            return None
    return place


def _path_without_chosen_names(path: Path) -> tuple[str | None, ...]:
    """Return a path with None for each key that its author chose."""
    place: SchemaNode | None = schema_root()
    pattern: list[str | None] = []
    for word in path:
        pattern.append(word if isinstance(place, WordsAfterPath) and word in place.words else None)
        place = node_below(place, word)
    return tuple(pattern)


def find_settings_of_same_kind(node: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the paths of single keys, and the values, of all settings below a node that are of the kind of a path."""
    for found_path, value in _settings_matching_pattern(node, _path_without_chosen_names(path), ()):
        if value == PRESENT_WITHOUT_VALUE and isinstance(schema_node_of_path(found_path[:-1], None), SettingLeaf):
            yield found_path[:-1], found_path[-1]
        else:
            yield found_path, value


def _settings_matching_pattern(node: object, pattern: tuple[str | None, ...], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the paths of single keys, and the values, of all settings at a pattern or below it."""
    wanted, rest = (pattern[0], pattern[1:]) if pattern else (None, ())
    if not isinstance(node, dict) or not node:
        if not pattern and path:
            yield path, str(node) if isinstance(node, str | int | float) else PRESENT_WITHOUT_VALUE
        return
    for spelt, inside in node.items():
        for key in expand_key(path[-1] if path else "", str(spelt)):
            if wanted is None or wanted == key:
                yield from _settings_matching_pattern(inside, rest, (*path, key))


def spell_value(place: SchemaNode | None, value: str, release: Release | None) -> str | None:
    """Return a value as a place has it in a release; None where it takes it in no words."""
    if not isinstance(place, SettingLeaf):
        return value if value == PRESENT_WITHOUT_VALUE else None
    for candidate in (value, _OTHER_DIALECT_STATE_WORDS.get(value, value)):
        verdict = place.verdict(candidate)
        if verdict is None or (not isinstance(verdict, str) and any(span.has_release(release) for span in verdict)):
            return candidate
    return None


def is_only_in_other_releases(path: Path, release: Release | None) -> bool:
    """Whether NVUE has a path, and a release does not have it."""
    return schema_node_of_path(path, None) is not None and schema_node_of_path(path, release) is None


class ProfileBindingsOfPorts:
    """The profiles of a kind that ports have; ports bound to none have `unbound`."""

    def __init__(self, top: ConfigNodeView, kind: str, unbound: str) -> None:
        """Read the bindings of all ports once."""
        self._kind = kind
        self._ports: dict[str, list[str]] = {}
        for key, view in top.below("interface").items():
            if key.startswith("swp"):
                profile = view.below("qos", kind).text("profile") or unbound
                self._ports.setdefault(profile, []).extend(expand_key("interface", key))
        self._used = [name for name in self._ports if name == unbound or top.below("qos", kind).has(name)]

    def remedy(self, missing: str) -> Remedy:
        """Return what binds the ports with a missing profile to the one that all others have; at most MAX_REBOUND."""
        wrong = self._ports.get(missing, [])
        if len(self._used) != 1 or len(wrong) > MAX_REBOUND_PORTS:
            return NO_REMEDY
        paths = ((FILE_SETTING_AREA, "interface", port, "qos", self._kind, "profile") for port in wrong)
        return Remedy(corrections=tuple(FileCorrection(path, missing, self._used[0]) for path in paths))
