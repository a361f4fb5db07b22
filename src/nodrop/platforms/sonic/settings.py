"""Tables of a device as settings by path, all of them: also those that the model does not hold (contract 9.6)."""

import json
from collections.abc import Mapping

from nodrop.platforms.frr.files import FRR_FILE
from nodrop.platforms.kit.settings import Path, SettingsTree
from nodrop.platforms.sonic import config
from nodrop.platforms.sonic.document import (
    CONFIG_DB_FILE,
    CONFIG_FILES,
    TablesDocument,
    group_dump_by_table,
    merge_documents,
)
from nodrop.platforms.sonic.schema import release_of_database_version, schema_of_release
from nodrop.platforms.sonic.secret_fields import are_keys_secret, is_secret_field
from nodrop.syntax.json import parse_json_text
from nodrop.syntax.shapes import mapping_at

HEAD = 1
"""How many words of a path name a table."""
_UNSTATED_YANG_DEFAULTS = {("PORT", "pfc_asym"): "off"}
"""Defaults that YANG models describe and do not state (sonic-port.yang)."""


def read_settings_tree(name: str, file_content: bytes) -> SettingsTree | None:
    """Return the tables of a file; None where it is no JSON. Raises InputProblems where it cannot be read.

    A table without rows is none, as a switch has it.
    """
    if not name.endswith(".json"):
        return None
    tables = parse_json_text(file_content, name)
    if not isinstance(tables, dict):
        return None
    return {table: rows for table, rows in group_dump_by_table(tables).items() if rows != {}}


def render_file(_raw: bytes, tree: SettingsTree) -> bytes:
    """Return a file with other settings."""
    return json.dumps(tree).encode()


def is_secret_word(path: Path, at: int) -> bool:
    """Whether a word of a path is a secret itself."""
    return at == 1 and are_keys_secret(path[0])


def is_secret_shown_masked(path: Path) -> bool:
    """Whether the value at a path is a secret, which a switch shows in another form than it was given."""
    return len(path) == len(("table", "row", "field")) and (are_keys_secret(path[0]) or is_secret_field(*path))


def merge_files(config_files: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, SettingsTree]]:
    """Return a device's files with all tables merged into one, and these as the database holds them.

    FRR's configuration among the tables is a separate file. Raises InputProblems if a file cannot be read.
    """
    documents = [TablesDocument(name, raw, name) for name, raw in config_files.items() if name in CONFIG_FILES]
    files = {name: raw for name, raw in config_files.items() if name not in CONFIG_FILES}
    running_frrs = [document.running_frr for document in documents if document.running_frr is not None]
    if running_frrs:
        files = {FRR_FILE: running_frrs[0].encode()}
    if not documents:
        return files, {}
    tables: SettingsTree = {
        table: _stringify_values(rows) for table, rows in merge_documents(documents).items() if rows != {}
    }
    return {CONFIG_DB_FILE: render_file(b"", tables), **files}, {CONFIG_DB_FILE: tables}


def _stringify_values(value: object) -> object:
    """Return rows as the database holds them: every value is a text, or a list of texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: inside if type(inside) is str else _stringify_values(inside) for key, inside in value.items()}
    return [str(member) for member in value] if isinstance(value, list) else str(value)


def states_that_path_is_unset(tree: SettingsTree, path: Path) -> bool:
    """Whether a file that sets a tree, and nothing at a path, states that nothing is set there."""
    return config.is_conclusive_about_table(tree, path[0])


def interface_of_path(path: Path) -> str:
    """Return the name that the key of a row begins with, which is a port's in tables of ports; empty for a table."""
    return path[1].partition("|")[0] if len(path) > 1 else ""


def states_default(tree: SettingsTree, path: Path) -> bool:
    """Whether a field has the documented default of its YANG model in the release that the tables are of."""
    if len(path) != len(("table", "row", "field")):
        return False
    table, key, field = path
    version = mapping_at(mapping_at(tree, "VERSIONS"), "DATABASE").get("VERSION")
    compiled = schema_of_release(release_of_database_version(version)).table(table)
    row = compiled.row_schema_of_key(key) if compiled is not None else None
    stated = mapping_at(mapping_at(tree, table), key).get(field)
    default = _UNSTATED_YANG_DEFAULTS.get((table, field)) or (row.defaults.get(field) if row is not None else None)
    return stated is not None and stated == default
