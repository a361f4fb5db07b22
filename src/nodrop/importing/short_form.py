"""The short form of a topology, `kind: leaf-spine`: a group in each of two tiers. The inverse is in `design`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from nodrop.design.topology import ROLES
from nodrop.importing.parts import Found, Keys, Tree

_LOWER, _UPPER = ROLES[:2]
_GROUPS: Keys = ("topology", "groups")
_KEY = {_LOWER: "leaves", _UPPER: "spines"}
_LINKS: Keys = (*_GROUPS, _LOWER, "uplinks", _UPPER)
_LINK_KEYS = {"links": "per_spine", "peer_split": "spine_split", "peer_slots": "spine_slots", "slots": "leaf_slots"}
_ONLY_IN_GROUPS = {"offset", "per_pod", "max_oversubscription"}

ORDER: Mapping[Keys, tuple[str, ...]] = {
    ("topology",): (
        "kind",
        "groups",
        "spines",
        "leaves",
        "uplinks",
        "max_oversubscription",
        "slots_per_device",
        "speed",
        "media",
        "length",
        "cables",
    ),
    ("topology", "spines"): ("ids", "model", "platform", "version"),
    ("topology", "leaves"): ("ids", "model", "platform", "version", "ports"),
    ("topology", "leaves", "ports"): ("endpoints", "uplinks", "dead"),
    ("routing", "asn"): ("spines", "leaves"),
}
"""The order of its keys in a text."""

_T = TypeVar("_T")


def shorten(draft: Found) -> Found:
    """Return a draft of groups in tiers in the short form, if it can express two groups; else the draft."""
    if draft.keys["topology"]["kind"] != "tiers":
        return draft
    groups = draft.keys["topology"]["groups"] | {at[2]: {} for at in draft.lacking if at[:2] == _GROUPS}
    links = groups.get(_LOWER, {}).get("uplinks", {})
    plain = groups.keys() == {_LOWER, _UPPER} and not any(_ONLY_IN_GROUPS & group.keys() for group in groups.values())
    if not plain or groups[_LOWER].get("tier", 1) != 1 or any("peer_ports" in each for each in links.values()):
        return draft
    tree: Tree = {}
    topology = draft.keys["topology"]
    _put(tree, ("topology", "kind"), "leaf-spine")
    for at, value in _leaves_of_tree(topology["groups"], _GROUPS):
        if moved := _move(at):
            _put(tree, moved, value)
    others = {key: value for key, value in topology.items() if key not in ("kind", "groups")}
    tree["topology"] |= others
    keys = draft.keys | tree
    if asn := keys.get("routing", {}).get("asn"):
        keys["routing"] = keys["routing"] | {"asn": {_KEY.get(name, name): rule for name, rule in asn.items()}}
    lacking = dict(draft.lacking)
    if no_links := lacking.pop(_LINKS, None):
        lacking |= {(*_LINKS, "ports"): no_links._replace(example=no_links.example["ports"])}
        words = {_LINK_KEYS.get(key, key): value for key, value in no_links.example.items() if key != "ports"}
        lacking |= {_LINKS: no_links._replace(example=words)}
    return replace(draft, keys=keys, guessed=_moved(draft.guessed), lacking=_moved(lacking))


def _moved(by_keys: Mapping[Keys, _T]) -> dict[Keys, _T]:
    """Return values by the keys of the short form."""
    return {moved: value for at, value in by_keys.items() if (moved := _move(at))}


def _move(at: Keys) -> Keys:
    """Return the keys of the short form for those of a group; none for what the short form need not say."""
    if at[:-1] == ("routing", "asn"):
        return (*at[:-1], _KEY.get(at[-1], at[-1]))
    if at[:2] != _GROUPS or len(at) < 3:
        return at
    if at[: len(_LINKS)] == _LINKS:
        rest = at[len(_LINKS) :]
        if rest == ("ports",):
            return ("topology", _KEY[_LOWER], "ports", "uplinks")
        return ("topology", "uplinks", *(_LINK_KEYS.get(key, key) for key in rest))
    return () if at[3:] == ("tier",) else ("topology", _KEY[at[2]], *at[3:])


def _leaves_of_tree(tree: Tree, above: Keys) -> list[tuple[Keys, object]]:
    """Return the values of a tree with their keys."""
    found: list[tuple[Keys, object]] = []
    for key, value in tree.items():
        found += _leaves_of_tree(value, (*above, key)) if isinstance(value, dict) else [((*above, key), value)]
    return found


def _put(tree: Tree, at: Keys, value: object) -> None:
    for key in at[:-1]:
        tree = tree.setdefault(key, {})
    tree[at[-1]] = value
