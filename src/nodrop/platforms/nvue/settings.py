"""All settings of an NVUE file, by path: also those that the model does not hold (contract 9.6)."""

import json
from collections.abc import Mapping

from nodrop.platforms import main_config_file
from nodrop.platforms.kit.settings import Path, SettingsTree
from nodrop.platforms.nvue.edit_between import expand_ranges
from nodrop.platforms.nvue.read_secrets import SECRET_LABEL_BY_KEY, SECRET_LABELS_BY_SERVICE
from nodrop.platforms.nvue.schema import SchemaNode, node_below, schema_root
from nodrop.platforms.nvue.schema_types import SettingLeaf
from nodrop.platforms.nvue.tree import NvueFileTree as File

HEAD = 2
"""How many words of a path name a part of the configuration."""


def read_settings_tree(name: str, file_content: bytes) -> SettingsTree | None:
    """Return the settings of a file, ranges of names written out. Raises InputProblems if it cannot be read."""
    return expand_ranges(File(file_content, name).root, "")


def render_file(file_content: bytes, tree: SettingsTree) -> bytes:
    """Return a file with other settings, as `nv config show -o json` prints them."""
    return json.dumps([{"header": File(file_content, "").header}, {"set": tree}]).encode()


def is_secret_word(path: Path, at: int) -> bool:
    """Whether a word of a path is a secret itself."""
    above = path[: at - 1] if at else ()
    return at > 0 and any(
        path[at - 1] in words
        for words in (
            SECRET_LABEL_BY_KEY,
            *(SECRET_LABELS_BY_SERVICE[name] for name in above if name in SECRET_LABELS_BY_SERVICE),
        )
    )


def is_secret_shown_masked(path: Path) -> bool:
    """Whether the value at a path is a secret, which a switch shows in another form than it was given."""
    return any(is_secret_word(path, at) for at in range(1, len(path) + 1))


def merge_files(config_files: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, SettingsTree]]:
    """Return a device's files, and their settings as `nv config show` prints them, commands too.

    Raises InputProblems if they cannot be read.
    """
    file = main_config_file("nvue", config_files)
    root = read_settings_tree(file, config_files[file]) if file in config_files else None
    return dict(config_files), {
        file: {key: _collapse_values(child, node_below(schema_root(), key)) for key, child in root.items()}
    } if root else {}


def _collapse_values(value: object, place_node: SchemaNode | None) -> object:
    """Return a setting whose value is the only word below it, as commands write it, with that word as its value."""
    if not isinstance(value, dict):
        return value
    if isinstance(place_node, SettingLeaf) and list(value.values()) == [{}]:
        return next(iter(value))
    return {key: _collapse_values(child, node_below(place_node, key)) for key, child in value.items()}


def states_that_path_is_unset(_tree: SettingsTree, _path: Path) -> bool:
    """Whether a file that sets a tree, and nothing at a path, states that nothing is set there."""
    return True


def interface_of_path(path: Path) -> str:
    """Return the name of the interface that a path belongs to; empty where it belongs to none."""
    return path[1] if path[0] == "interface" and len(path) > 1 else ""


def states_default(_tree: SettingsTree, _path: Path) -> bool:
    """Return False: NVUE's schema has no defaults, and the reader derives those of the model."""
    return False
