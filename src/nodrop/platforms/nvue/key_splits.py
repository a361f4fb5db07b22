"""Keys of a file that commands split: `26,34` lists two numbers, and `nv set … dscp 26 …` is about one of them.

NVUE keeps each port and number by itself, and lists those with equal settings in one key where it writes a file.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.platforms.nvue.names import expand_key
from nodrop.syntax import nvset

_MAX_NAMED_SPLITS = 2


class _KeySplit(NamedTuple):
    """A word of a command, and the key of the file that lists some of its names, and others."""

    kind: str
    word: str
    key: str


def explain_key_splits(root: object, lines: Sequence[str]) -> Iterator[str]:
    """Yield which keys of a tree commands split, the first few, and what becomes of the rest of them."""
    commands = nvset.parse_nv_commands(
        "".join(f"{line}\n" for line in lines if line.startswith(("nv set ", "nv unset ")))
    ).commands
    splits = dict.fromkeys(split for command in commands for split in _find_splits(root, command.words, ""))
    named = [f"{split.kind} {split.word} out of `{split.key}`" for split in splits][:_MAX_NAMED_SPLITS]
    if named:
        more = f" and {len(splits) - len(named)} more" if len(splits) > len(named) else ""
        yield f"NVUE takes {', '.join(named)}{more} by itself; all others there keep their settings"


def _find_splits(node: object, words: Sequence[str], parent: str) -> Iterator[_KeySplit]:
    """Yield the splits that a command makes in a part of a tree."""
    if not words or not isinstance(node, Mapping):
        return
    names, rest = {*expand_key(parent, words[0])}, words[1:]
    for key, below in node.items():
        listed = {*expand_key(parent, str(key))}
        if names & listed:
            if listed - names and _is_set(below, rest[:-1], words[0]):
                yield _KeySplit(parent, words[0], str(key))
            yield from _find_splits(below, rest, words[0])


def _is_set(node: object, words: Sequence[str], parent: str) -> bool:
    """Whether a part of a tree has something at a path, so that a command there changes it."""
    if not words:
        return True
    names = {*expand_key(parent, words[0])}
    return isinstance(node, Mapping) and any(
        names & {*expand_key(parent, str(key))} and _is_set(below, words[1:], words[0]) for key, below in node.items()
    )
