"""Which key of an intent decides a part of the fabric: the columns `key` and `no_key` of the model's fields.

A key column holds key paths. Of those between two semicolons the first that is stated decides; if none is, the first
of them has its default, provided that a key around it is stated. Otherwise the next ones are checked. One after `!` has
no default. Words in braces are those that `deciding` has for the part: `{link}` is `topology.uplinks` or the group of
endpoints at the other end of the port's cable.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from nodrop.model.fields import nearest_field_with_column
from nodrop.model.subject import Subject

_PATH_BY_PART_KIND: Mapping[str, Subject] = {
    "fabric": (),
    "device": ("devices", "*"),
    "port": ("devices", "*", "interfaces", "*"),
    "nic": ("nics", "*"),
}
"""By the kind of a part, the path to it from the fabric."""


class FabricPart(NamedTuple):
    """A part by its kind (`device`, `port`, `fabric` or `nic`) and its path below that."""

    kind: str
    path: Subject


KeyGroups = tuple[tuple[str, ...], ...]


@lru_cache(maxsize=8192)
def deciding_key_groups(aspect: FabricPart) -> KeyGroups:
    """Return the key paths that decide a part, or the nearest part around it, in groups; none if no key does."""
    row = nearest_field_with_column((*_PATH_BY_PART_KIND[aspect.kind], *aspect.path), "key", "no_key")
    return tuple(tuple(group.split()) for group in row.key.split(";")) if row and row.key else ()


_SECTIONS_BY_PLACEHOLDER: Mapping[str, tuple[str, ...]] = {
    "{link}": ("topology.uplinks", "endpoints.*"), "{panels}": ("topology",),
    "{pool}": ("addressing.links", "addressing.endpoints", "external.*.links"),
}  # fmt: skip


def format_deciding_keys(aspect: FabricPart) -> str:
    """Return the keys that decide a part of an intent, for every switch and port; empty if no key does."""
    fitting = deciding_key_groups(aspect)
    group = next((group for group in fitting if not group[0].startswith("!")), ())
    key_path = next((key_path for key_path in group if not key_path.startswith("external.")), "")
    if not key_path:
        return ""
    head, _, remainder = key_path.partition(".")
    heads = _SECTIONS_BY_PLACEHOLDER.get(head, (head,))
    shown = [f"{section}{f'.{remainder}' if remainder else ''}" for section in heads]
    shown += [outside for outside in group if head == "routing" and outside.startswith("external.")]
    return " or ".join(re.sub(r"\{\w+\}", "*", section) for section in shown)
