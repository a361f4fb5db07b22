"""Switches without links among them, such as rails without spines or a single switch, as a topology of one tier."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from nodrop.importing.parts import Found, Keys, Tree
from nodrop.importing.tier_view import KEYS, LEAF, SPINE, Cables, TierView
from nodrop.model.routing import Bgp

_GROUP: Keys = ("topology", "groups", LEAF)
_LEAVES: Keys = ("topology", KEYS[LEAF])
_OF_LINKS: frozenset[Keys] = frozenset(
    {
        ("topology", KEYS[SPINE]), ("topology", "uplinks"), (*_LEAVES, "ports", "uplinks"),
        ("routing", "asn", KEYS[SPINE]), ("addressing", "links"),
    }
)  # fmt: skip
"""Keys about links between switches."""

_T = TypeVar("_T")


def has_one_tier(tier_view: TierView) -> bool:
    """Whether it is known that the switches have no sessions, and no links among them."""
    processes = [box.device.bgp for box in tier_view.boxes]
    alone = all(isinstance(process, Bgp) and process.neighbors == () for process in processes)
    return bool(tier_view.leaves) and not tier_view.spines and alone and not Cables(tier_view).switch_link_ends


def as_one_tier(draft: Found) -> Found:
    """Return a draft of leaves without spines as one of the only group of a topology."""
    keys = dict(draft.keys)
    topology = {key: value for key, value in keys["topology"].items() if ("topology", key) not in _OF_LINKS}
    leaves: Tree = topology.pop(KEYS[LEAF])
    keys["topology"] = topology | {"kind": "tiers", "groups": {LEAF: {"tier": 1, **leaves}}}
    if asn := keys.get("routing", {}).get("asn"):
        keys["routing"] = keys["routing"] | {"asn": {LEAF: asn[KEYS[LEAF]]} if KEYS[LEAF] in asn else {}}
    if watchdog := keys.get("pfc", {}).get("watchdog"):
        kept = {key: value for key, value in watchdog.items() if key != "fabric"}
        keys["pfc"] = keys["pfc"] | {"watchdog": kept}
    return replace(draft, keys=keys, guessed=_moved(draft.guessed), lacking=_moved(draft.lacking))


def _moved(by_keys: Mapping[Keys, _T]) -> dict[Keys, _T]:
    """Return values by the keys of a group, without those about links between switches."""
    return {_move(at): value for at, value in by_keys.items() if at not in _OF_LINKS}


def _move(at: Keys) -> Keys:
    if at[: len(_LEAVES)] == _LEAVES:
        return (*_GROUP, *at[len(_LEAVES) :])
    return (*at[:-1], LEAF) if at == ("routing", "asn", KEYS[LEAF]) else at
