"""The areas of rules: the folders below `rules/` that have an `area.json`.

That file has `order`, a number that sorts the areas in the rule book, and `aspects`, the parts of the QoS of a port
that the rules of the area check (`reported_by_other_rules`).
"""

import json
from functools import cache
from typing import NamedTuple

from nodrop.resources import resource_folder


class _RuleArea(NamedTuple):
    order: int
    name: str
    aspects: frozenset[str]


@cache
def _load_areas() -> tuple[_RuleArea, ...]:
    read = ((path.parent.name, json.loads(path.read_bytes())) for path in resource_folder("rules").glob("*/area.json"))
    return tuple(sorted(_RuleArea(about["order"], name, frozenset(about["aspects"])) for name, about in read))


@cache
def rule_area_names() -> tuple[str, ...]:
    """Return the names of all areas, in the order of the rule book."""
    return tuple(area.name for area in _load_areas())


@cache
def areas_checking_aspect(aspect: str) -> frozenset[str]:
    """Return the areas whose rules check an aspect of the QoS of a port; KeyError if there are none."""
    names = frozenset(area.name for area in _load_areas() if aspect in area.aspects)
    if not names:
        raise KeyError(aspect)
    return names
