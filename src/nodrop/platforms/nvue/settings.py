"""What a file of NVUE sets, by path, all of it: also what the model does not hold (contract 9.6)."""

import json

from nodrop.platforms.nvue.edit_between import single
from nodrop.platforms.nvue.read_secrets import WORDS
from nodrop.platforms.nvue.tree import Tree as File
from nodrop.platforms.settings import Tree

HEAD = 2
"""How many words of a path name a part of the configuration."""


def settings(name: str, raw: bytes) -> Tree | None:
    """Return what a file sets, ranges of names written out. Raises InputProblems where it cannot be read."""
    return single(File(raw, name).root, "")


def spelt(raw: bytes, tree: Tree) -> bytes:
    """Return a file with other settings, as `nv config show -o json` prints them."""
    return json.dumps([{"header": File(raw, "").header}, {"set": tree}]).encode()


def secret(path: tuple[str, ...], at: int) -> bool:
    """Whether a word of a path is a secret itself."""
    return at > 0 and path[at - 1] in WORDS
