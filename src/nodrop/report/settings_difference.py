"""Two versions of a switch's files, setting by setting: short where a writer groups ports differently after a change.

The file that a platform's own tool changes is taken as settings, lists and ranges of ports written out, any other file
as lines. A profile that only has another name is named once, and settings that differ in numbers alone are shown once,
with their count.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from pathlib import PurePath

from nodrop import platforms
from nodrop.errors import InputProblems

_NUMBER_PATTERN = re.compile(r"\d+")
_MAX_LINE_CHARACTERS = 160
"""How much of a line is shown."""
_ValueTextByPath = dict[str, str]


def diff_settings(before: Mapping[str, str], after: Mapping[str, str], platform: str) -> list[str]:
    """Return what differs between files of a platform: the name of each file, and the settings that go and come."""
    lines: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            lines += [f"@@ {name}", "+ the whole file" if name in after else "- the whole file"]
        elif changed := [*_changed_lines_of_file(name, before[name], after[name], platform)]:
            lines += [
                f"@@ {name}",
                *(f"{line[:_MAX_LINE_CHARACTERS]} …" if len(line) > _MAX_LINE_CHARACTERS else line for line in changed),
            ]
    return lines


def _changed_lines_of_file(name: str, old: str, new: str, platform: str) -> Iterator[str]:
    try:
        old_tree, new_tree = _read_tree(name, old, platform), _read_tree(name, new, platform)
    except (ValueError, InputProblems):  # as the fault may be
        changed_lines = unified_diff(old.splitlines(), new.splitlines(), n=0, lineterm="")
        yield from _fold_similar_changes(
            (line[0] + " " + line[1:].strip(),) for line in changed_lines if _is_nonblank_diff_change(line)
        )
        return
    renamed = dict(_renamed_and_referenced_keys(old_tree, new_tree))
    yield from (f"  ({old_name} has the name {new_name})" for old_name, new_name in renamed.items())
    old_settings, new_settings = (
        dict(_flatten_settings(_rename_keys_and_values(old_tree, renamed))),
        dict(_flatten_settings(new_tree)),
    )
    yield from _fold_similar_changes(
        _minus_and_plus_line(path, old_settings, new_settings)
        for path in dict.fromkeys((*old_settings, *new_settings))
        if old_settings.get(path) != new_settings.get(path)
    )


def _is_nonblank_diff_change(line: str) -> bool:
    return line.startswith(("-", "+")) and not line.startswith(("---", "+++")) and bool(line[1:].strip())


def _minus_and_plus_line(path: str, old: _ValueTextByPath, new: _ValueTextByPath) -> tuple[str, ...]:
    return tuple(
        f"{sign} {path}: {settings[path]}".rstrip(": ")
        for sign, settings in (("-", old), ("+", new))
        if path in settings
    )


def _fold_similar_changes(changes: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of changes; of those that differ in numbers alone the first, and how many follow it."""
    alike: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for change in changes:
        alike.setdefault(tuple(_NUMBER_PATTERN.sub("#", line) for line in change), []).append(change)
    for first, *others in alike.values():
        yield from first
        if others:
            yield f"  (and {len(others)} more that differ in numbers)"


def _read_tree(name: str, text: str, platform: str) -> object:
    """Return the settings of a file as a tree; ValueError or InputProblems where it has none."""
    files = {PurePath(name).name: text.encode()}
    file, reading = platforms.main_config_file(platform, files), platforms.find_settings_reader(platform)
    tree = reading.read_settings_tree(file, files[file]) if reading is not None and file in files else None
    if tree is None:
        raise ValueError(name)
    return tree


def _flatten_settings(node: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from _flatten_settings(value, f"{path} {key}".strip())
    elif isinstance(node, list):
        yield path, ", ".join(map(str, node))
    else:
        yield path, "" if node == {} else str(node)


def _renamed_and_referenced_keys(old: object, new: object) -> Iterator[tuple[str, str]]:
    """Yield names that one mapping lost and another gained with the same settings, and that settings refer to."""
    referred = {value for _, value in _flatten_settings(old)}
    yield from ((was, now) for was, now in _keys_with_same_settings(old, new) if was in referred)


def _keys_with_same_settings(old: object, new: object) -> Iterator[tuple[str, str]]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    for key, value in old.items():
        if key in new:
            yield from _keys_with_same_settings(value, new[key])
        elif isinstance(value, dict) and value:
            yield from ((key, other) for other, there in new.items() if other not in old and there == value)


def _rename_keys_and_values(node: object, renamed: Mapping[str, str]) -> object:
    if isinstance(node, dict):
        return {renamed.get(key, key): _rename_keys_and_values(value, renamed) for key, value in node.items()}
    if isinstance(node, list):
        return [_rename_keys_and_values(item, renamed) for item in node]
    return renamed.get(node, node) if isinstance(node, str) else node
