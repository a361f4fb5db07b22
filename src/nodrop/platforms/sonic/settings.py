"""Tables of a device as settings by path, all of them: also those that the model does not hold (contract 9.6)."""

import json
from typing import Any

from nodrop.formats.json import parse
from nodrop.platforms.settings import Tree
from nodrop.platforms.sonic.read_secrets import COMMUNITIES

HEAD = 1
"""How many words of a path name a table."""


def settings(name: str, raw: bytes) -> Tree | None:
    """Return the tables of a file; None where it is no JSON. Raises InputProblems where it cannot be read.

    A table without rows is none, as a switch has it.
    """
    if not name.endswith(".json"):
        return None
    tables: Any = parse(raw, name)
    return {table: rows for table, rows in tables.items() if rows != {}} if isinstance(tables, dict) else None


def spelt(_raw: bytes, tree: Tree) -> bytes:
    """Return a file with other settings."""
    return json.dumps(tree).encode()


def secret(path: tuple[str, ...], at: int) -> bool:
    """Whether a word of a path is a secret itself."""
    return at == 1 and path[0] == COMMUNITIES
