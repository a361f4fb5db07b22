"""Edits that make a new document of an old one, setting by setting, regardless of the model."""

from collections.abc import Iterator, Mapping, Sequence

from nodrop.model.change import EditResult
from nodrop.platforms import main_config_file
from nodrop.platforms.kit.editing import sources_of_files
from nodrop.platforms.nvue.edit_draft import PendingSettingChanges
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE, SetOrUnsetOperation, combine_operations
from nodrop.platforms.nvue.edit_steps import format_operations, split_into_steps
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.reader import read_device
from nodrop.platforms.nvue.schema import SchemaNode as Known
from nodrop.platforms.nvue.schema import node_below, schema_root
from nodrop.platforms.nvue.schema_types import SettingLeaf
from nodrop.platforms.nvue.tree import Node, NvueFileTree, Path
from nodrop.syntax.shapes import mapping_at, value_at

_BREAKOUT_PATH = ("link", "breakout")


def edit_between_file_versions(
    old_files: Mapping[str, bytes], new_files: Mapping[str, bytes], *, name: str = ""
) -> EditResult | None:
    """Return the edit that makes a device's new document of its old one, with all of its settings.

    Where ports are broken out, it has two revisions: NVUE takes QoS of parts only once there are any. None where ports
    that were broken out get another breakout or none, and where there is not one document on both sides. Raises
    InputProblems where one of them cannot be read.
    """
    file = main_config_file("nvue", old_files)
    if not (file in old_files and file in new_files):
        return None
    trees = NvueFileTree(old_files[file], file), NvueFileTree(new_files[file], file)
    before, after = (expand_ranges(tree.root, "") for tree in trees)
    breakouts_before, breakouts_after = _breakouts_by_port(before), _breakouts_by_port(after)
    if any(breakouts_after.get(port) != breakout for port, breakout in breakouts_before.items()):
        return None
    broken_out = tuple(f"{port}s" for port in breakouts_after.keys() - breakouts_before.keys())
    gone = dict.fromkeys(_removed_paths(before, after, (), schema_root()))
    values = dict(_find_new_values(before, after, (), gone))
    later = {path: value for path, value in values.items() if broken_out and _is_qos_of_parts(path, broken_out)}
    first = {path: value for path, value in values.items() if path not in later}
    revisions = [[*combine_operations(gone), *combine_operations(first)], combine_operations(later)]
    new_operations = [operation for revision in revisions for operation in revision]
    if not new_operations:
        return EditResult()
    reading = read_device(name, sources_of_files(old_files))
    release = PendingSettingChanges(trees[0], reading).release
    return EditResult(
        files={file: new_files[file]},
        steps=tuple(split_into_steps(new_operations, trees[0].root, reading.device, release)),
        forms=format_operations(new_operations) if not later else _format_revisions(revisions),
    )


def _is_qos_of_parts(path: Path, broken_out: tuple[str, ...]) -> bool:
    """Whether a setting is about QoS of a part of a port; `broken_out` is what the names of such parts begin with."""
    return path[0] == "interface" and path[2:3] == ("qos",) and path[1].startswith(broken_out)


def _format_revisions(revisions: Sequence[Sequence[SetOrUnsetOperation]]) -> dict[str, str]:
    """Return operations in the forms that `nv` takes, a file for each revision: `changes-1.nv`."""
    forms: dict[str, str] = {}
    for number, operations in enumerate(revisions, 1):
        for form, text in format_operations(operations).items():
            stem, _, ending = form.partition(".")
            forms[f"{stem}-{number}.{ending}"] = text
    return forms


def expand_ranges(node: Node, parent: str) -> Node:
    """Return a tree with lists and ranges expanded to single keys; a name in several gets the settings of all."""
    expanded_node: Node = {}
    _merge_expanded_keys(expanded_node, node, parent)
    return expanded_node


def _merge_expanded_keys(found_node: Node, node: Node, parent: str) -> None:
    for key, value in node.items():
        for single_key in expand_key(parent, key):
            if not isinstance(value, dict):
                found_node[single_key] = value if value is None else str(value)
                continue
            inside = found_node.get(single_key)
            if not isinstance(inside, dict):
                inside = found_node[single_key] = {}
            _merge_expanded_keys(inside, value, single_key)


def _breakouts_by_port(root: Node) -> Mapping[str, object]:
    """Return the breakout of each port; none of ports without one."""
    breakouts: dict[str, object] = {}
    for port, node in mapping_at(root, "interface").items():
        if (broken := value_at(node, *_BREAKOUT_PATH)) is not None:
            breakouts[port] = broken
    return breakouts


def _removed_paths(before: Node, after: Node, at: Path, place: Known | None) -> Iterator[Path]:
    """Yield the paths to remove, with all below them; a word that another one replaces disappears by itself."""
    if isinstance(place, SettingLeaf) and after:
        return
    for key, value in before.items():
        key_path = (*at, key)
        if key not in after:
            yield key_path
            continue
        after_value = after[key]
        if isinstance(value, dict) and isinstance(after_value, dict):
            yield from _removed_paths(value, after_value, key_path, node_below(place, key))
        elif isinstance(value, dict) or isinstance(after_value, dict):
            yield key_path


def _find_new_values(
    node_before: Node, node_after: Node, statement_path: Path, gone: Mapping[Path, None]
) -> Iterator[tuple[Path, str]]:
    """Yield the settings to make, with their values."""
    for key, value in node_after.items():
        key_path = (*statement_path, key)
        was = node_before.get(key) if key_path not in gone else None
        if isinstance(value, dict) and value:
            yield from _find_new_values(was if isinstance(was, dict) else {}, value, key_path, gone)
        elif isinstance(value, dict) or value is None:
            if was != value or key not in node_before or key_path in gone:
                yield key_path, PRESENT_WITHOUT_VALUE
        elif was != value:
            yield key_path, str(value)
